"""Copies between registers and arrays, and between arrays, as Numba intrinsics.

The arguments of the intrinsics are addresses and numbers. `words` is an array that gives the type of a word.
"""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportArgumentType=false

from collections.abc import Callable
from typing import Any, NamedTuple

from warploom.numerics._numba import cgutils, intrinsic, ir, types
from warploom.numerics.vectors import F32_TYPE, F64_TYPE, I1, I32, I64, Value, Vectors

DECODED = 16
"""Number of elements that `widen`, `decode_a` and `decode_b` convert at a time."""
GROUP = 4
"""Number of lanes whose words are adjacent in a row of a tile."""
_LANES = 32
_UNROLL = 4


class Registers(NamedTuple):
    """Registers of matrices side by side in an array.

    `file` is the address of register 0 of a warp, and `stride` the distance to register 1. Matrix j has the registers
    with the numbers `numbers[j * period : j * period + size]`. `table` contains the positions of the words of each
    register in a matrix. Matrices start at the addresses `target`, `target` + `step`, …. Units: bytes.

    Shapes: numbers and table are addresses of arrays of i64; table (size, lanes or groups of lanes).
    """

    file: Any
    stride: Any
    numbers: Any
    count: Any
    period: Any
    size: Any
    table: Any
    target: Any
    step: Any


def _copier(group: int, to_registers: bool) -> Any:
    """Return an intrinsic that copies between `Registers` and the array, for groups of `group` lanes."""

    @intrinsic
    def copy(context, words, registers):
        def generate(context, builder, signature, arguments):
            v = Vectors(builder)
            bits = signature.args[0].dtype.bitwidth
            kind = ir.IntType(bits) if group == 1 else ir.VectorType(ir.IntType(bits), group)
            of = Registers(*[builder.extract_value(arguments[1], i) for i in range(len(Registers._fields))])

            def copy_matrix(j: Value) -> None:
                array = builder.add(of.target, builder.mul(of.step, j))
                first = builder.mul(of.period, j)

                def copy_register(r: Value) -> None:
                    number = v.load(I64, of.numbers, builder.add(first, r))
                    register = builder.add(of.file, builder.mul(of.stride, number))
                    row = builder.mul(r, v.number(_LANES // group))

                    def copy_group(i: Value, u: int) -> None:
                        position = v.load(I64, of.table, builder.add(row, builder.add(i, v.number(u))))
                        lane = builder.mul(builder.add(i, v.number(u)), v.number(group))
                        if to_registers:
                            v.store(v.load(kind, array, position), register, lane)
                        else:
                            v.store(v.load(kind, register, lane), array, position)

                    def copy_groups(i: Value) -> None:
                        for u in range(_UNROLL):
                            copy_group(i, u)

                    v.loop(0, _LANES // group, _UNROLL, copy_groups)

                v.loop(0, of.size, 1, copy_register)

            v.loop(0, of.count, 1, copy_matrix)
            return context.get_dummy_value()

        return types.none(words, registers), generate

    return copy


gather = _copier(1, to_registers=False)
gather_groups = _copier(GROUP, to_registers=False)
scatter_groups = _copier(GROUP, to_registers=True)


@intrinsic
def address(context, array):
    """Return the address of the first element of an array, or 0 for None."""

    def generate(context, builder, signature, arguments):
        if signature.args[0] is types.none:
            return ir.Constant(I64, 0)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, I64)

    return types.int64(array), generate


@intrinsic
def number_at(context, place):
    """Return the 64-bit integer at an address."""

    def generate(context, builder, signature, arguments):
        return Vectors(builder).load(I64, arguments[0])

    return types.int64(types.int64), generate


@intrinsic
def transpose(context, words, source, columns, depth, result):
    """Copy words from rows to columns.

    `source` and `result` are addresses. `words` gives the type of a word.

    Shapes: source (columns, depth), result (depth, columns). `depth` is a multiple of 4.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        kind = ir.IntType(signature.args[0].dtype.bitwidth)
        _, source, columns, depth, result = arguments

        def copy_row(n: Value) -> None:
            start = builder.mul(n, depth)

            def copy_words(k: Value) -> None:
                words = v.load(ir.VectorType(kind, 4), source, builder.add(start, k))
                for u in range(4):
                    row = builder.mul(builder.add(k, v.number(u)), columns)
                    v.store(builder.extract_element(words, ir.Constant(I32, u)), result, builder.add(row, n))

            v.loop(0, depth, 4, copy_words)

        v.loop(0, columns, 1, copy_row)
        return context.get_dummy_value()

    return types.none(words, *[types.int64] * 4), generate


_CHUNK = 16
"""Size of a chunk, whose bytes the swizzle keeps together."""
_CHUNK_WORDS = ir.VectorType(I64, 2)


@intrinsic
def copy_chunk(context, source, target):
    """Copy 16 bytes. The arguments are addresses, and multiples of 8."""

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        v.store(v.load(_CHUNK_WORDS, arguments[0]), arguments[1])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


class Chunks(NamedTuple):
    """Part of a swizzled tile in shared memory: `count` chunks of each of `lines` lines.

    `table` is the address of an array of i64 with the distances of the chunks from the shared address `start`, before
    the swizzle. Its lines are `pitch` bytes apart. `mask` and `phase` are fields of `tile_products.Tiles`.
    """

    start: Any
    table: Any
    pitch: Any
    mask: Any
    phase: Any
    lines: Any
    count: Any


def _each_chunk(v: Vectors, of: Chunks, body: Callable[[Value, Value, Value], None]) -> None:
    """Generate a loop over chunks. `body` gets the line, the number and the address of a chunk."""
    b = v.builder

    def line_loop(line: Value) -> None:
        row = b.add(of.table, b.mul(line, of.pitch))

        def chunk_loop(chunk: Value) -> None:
            at = b.add(of.start, v.load(I64, row, chunk))
            bits = b.and_(b.sub(b.lshr(at, v.number(7)), of.phase), of.mask)
            body(line, chunk, b.xor(at, b.shl(bits, v.number(4))))

        v.loop(0, of.count, 1, chunk_loop)

    v.loop(0, of.lines, 1, line_loop)


def _chunks(builder: ir.IRBuilder, value: Value) -> Chunks:
    return Chunks(*[builder.extract_value(value, i) for i in range(len(Chunks._fields))])


@intrinsic
def copy_chunks(context, chunks, origin, target, pitch):
    """Copy chunks to lines from the address `target` on, which are `pitch` bytes apart.

    `origin` is the distance from shared addresses to host addresses.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        given, origin, target, pitch = arguments

        def copy(line: Value, chunk: Value, at: Value) -> None:
            place = builder.add(target, builder.add(builder.mul(line, pitch), builder.shl(chunk, v.number(4))))
            v.store(v.load(_CHUNK_WORDS, builder.add(origin, at)), place)

        _each_chunk(v, _chunks(builder, given), copy)
        return context.get_dummy_value()

    return types.none(chunks, *[types.int64] * 3), generate


@intrinsic
def within(context, chunks, low, high):
    """Return True if all chunks are at shared addresses from `low` on and below `high`."""

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        given, low, high = arguments
        is_inside = cgutils.alloca_once_value(builder, ir.Constant(I1, 1))

        def check(line: Value, chunk: Value, at: Value) -> None:
            above = builder.icmp_signed(">=", at, low)
            below = builder.icmp_signed("<=", builder.add(at, v.number(_CHUNK)), high)
            builder.store(builder.and_(builder.load(is_inside), builder.and_(above, below)), is_inside)

        _each_chunk(v, _chunks(builder, given), check)
        return builder.load(is_inside)

    return types.boolean(chunks, types.int64, types.int64), generate


@intrinsic
def widen(context, values, wide, count):
    """Convert f32 values to f64. The arguments are addresses, and a multiple of `DECODED`."""

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        narrow, wide = ir.VectorType(F32_TYPE, DECODED), ir.VectorType(F64_TYPE, DECODED)

        def convert(i: Value) -> None:
            v.store(builder.fpext(v.load(narrow, arguments[0], i), wide), arguments[1], i)

        v.loop(0, arguments[2], DECODED, convert)
        return context.get_dummy_value()

    return types.none(*[types.int64] * 3), generate
