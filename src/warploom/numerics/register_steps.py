"""Decoding and sums of matrices that were copied from registers to tiles, as Numba intrinsics.

The arguments of the intrinsics are addresses and numbers. `strip` and `elements` only give types: `strip` is an array
whose dtype has one bit for each column of a tile, and `elements` is an array of matrix elements.
"""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportArgumentType=false

from warploom.numerics._numba import cgutils, intrinsic, ir, types
from warploom.numerics.fused_steps import LAYOUT_B, PART, Layout, element_exponents, element_values
from warploom.numerics.vectors import F64_TYPE, I8, I16, I32, I64, Value, Vectors

_WIDE = 8
"""Number of f64 numbers in a vector."""


@intrinsic
def decode_rows(context, strip, elements, words, values, exponents, rows, parameters):
    """Decode matrix B of a tile. `elements` gives the type of an element.

    A 32-bit word contains adjacent elements of one column.

    Shapes: words (rows, strip); values (K, strip) of f32; exponents (K, strip) of i16.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        width, bits = (signature.args[i].dtype.bitwidth for i in range(2))
        _, _, words, values, exponents, rows, parameters = arguments
        count = min(width, PART)
        i32 = ir.VectorType(I32, count)
        fields = [v.load(I64, parameters, LAYOUT_B + i) for i in range(len(Layout._fields))]
        of = Layout(*[v.splat(builder.trunc(field, I32), count) for field in fields])

        def decode_row(row: Value) -> None:
            for h in range(0, width, count):
                found = v.load(i32, words, builder.add(builder.mul(row, v.number(width)), v.number(h)))
                for e in range(32 // bits):
                    pattern = v.lshr(v.shl(found, 32 - bits * (e + 1)), 32 - bits)
                    value = element_values(v, pattern, of)
                    k = builder.add(builder.mul(row, v.number(32 // bits)), v.number(e))
                    at = builder.add(builder.mul(k, v.number(width)), v.number(h))
                    v.store(value, values, at)
                    exponent = element_exponents(v, value, of.emin)
                    v.store(builder.trunc(exponent, ir.VectorType(I16, count)), exponents, at)

        v.loop(0, rows, 1, decode_row)
        return context.get_dummy_value()

    return types.none(strip, elements, *[types.int64] * 5), generate


@intrinsic
def gather_bytes(context, source, positions, count, target):
    """Copy the bytes at `positions` of the array at `source`. All arguments are addresses and numbers.

    Shapes: positions (count,) of i64; target (count,) of u8.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        source, positions, count, target = arguments
        v.loop(0, count, 1, lambda i: v.store(v.load(I8, source, v.load(I64, positions, i)), target, i))
        return context.get_dummy_value()

    return types.none(*[types.int64] * 4), generate


@intrinsic
def expand_words(context, words, bytes_, count):
    """Convert words of eight 4-bit elements to words of bytes. `count` is a multiple of `PART`.

    Shapes: words (count,) and bytes_ (count, 2) of i32.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        words, bytes_, count = arguments

        def convert(i: Value) -> None:
            halves = v.joined(_bytes(v, v.load(ir.VectorType(I32, PART), words, i)))
            order = [lane for pair in zip(range(PART), range(PART, 2 * PART), strict=True) for lane in pair]
            places = ir.Constant(ir.VectorType(I32, 2 * PART), order)
            mixed = builder.shuffle_vector(halves, ir.Constant(halves.type, ir.Undefined), places)
            v.store(mixed, bytes_, builder.mul(i, v.number(2)))

        v.loop(0, count, PART, convert)
        return context.get_dummy_value()

    return types.none(*[types.int64] * 3), generate


@intrinsic
def expand_rows(context, strip, words, bytes_, rows):
    """Convert words of eight 4-bit elements of one column to words of bytes.

    Shapes: words (rows, strip) and bytes_ (2 * rows, strip) of i32.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        width = signature.args[0].dtype.bitwidth
        _, words, bytes_, rows = arguments
        count = min(width, PART)

        def convert(row: Value) -> None:
            start = builder.mul(row, v.number(width))
            for h in range(0, width, count):
                found = v.load(ir.VectorType(I32, count), words, builder.add(start, v.number(h)))
                for n, half in enumerate(_bytes(v, found)):
                    v.store(half, bytes_, builder.add(builder.mul(start, v.number(2)), v.number(n * width + h)))

        v.loop(0, rows, 1, convert)
        return context.get_dummy_value()

    return types.none(strip, *[types.int64] * 3), generate


def _bytes(v: Vectors, words: Value) -> list[Value]:
    """Return words with the four low and the four high of eight 4-bit elements, each in a byte."""
    found: list[Value] = []
    for half in (v.and_(words, 0xFFFF), v.lshr(words, 16)):
        pairs = v.and_(v.or_(half, v.shl(half, 8)), 0x00FF00FF)
        found.append(v.and_(v.or_(pairs, v.shl(pairs, 4)), 0x0F0F0F0F))
    return found


@intrinsic
def widen_bytes(context, elements, words, pairs, count):
    """Convert 8-bit elements to 16 bits. The dtype of `elements` gives their sign.

    The pairs with the two low elements of all words precede those with the two high elements.

    Shapes: words (count,) and pairs (2, count) of i32. `count` is a multiple of `PART`.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        shift = v.ashr if signature.args[0].dtype.signed else v.lshr
        _, words, pairs, count = arguments

        def convert(i: Value) -> None:
            found = v.load(ir.VectorType(I32, PART), words, i)
            for plane in range(2):
                low = v.lshr(shift(v.shl(found, 24 - 16 * plane), 8), 16)
                high = v.and_(shift(v.shl(found, 16 - 16 * plane), 8), -1 << 16)
                v.store(v.or_(low, high), pairs, builder.add(builder.mul(count, v.number(plane)), i))

        v.loop(0, count, PART, convert)
        return context.get_dummy_value()

    return types.none(elements, *[types.int64] * 3), generate


@intrinsic
def add_pairs(context, strip, a, b, a_size, b_size, row_length, addends, clamp):
    """Add the products of one row of A and matrix B to a row of a tile, in place.

    If `clamp` is not 0, the sums are clamped, else they wrap to 32 bits.

    Shapes: a (2, row_length) and b (2, row_length, strip) of pairs of i16, with `a_size` and `b_size` words from one
    plane to the next; addends (strip,) of i32.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        width = signature.args[0].dtype.bitwidth
        _, a, b, a_size, b_size, row_length, addends, clamp = arguments
        count = min(width, PART)
        i32, i16, wide = ir.VectorType(I32, count), ir.VectorType(I16, 2 * count), ir.VectorType(I32, 2 * count)
        undefined = ir.Constant(wide, ir.Undefined)
        clamps = v.splat(builder.icmp_signed("!=", clamp, v.number(0)), count)
        columns = range(0, width, count)
        sums = {h: cgutils.alloca_once(builder, i32) for h in columns}
        for h in columns:
            builder.store(v.constant(i32, 0), sums[h])

        def add_product(k: Value) -> None:
            for plane in range(2):
                at = builder.add(builder.mul(a_size, v.number(plane)), k)
                factor = builder.bitcast(v.splat(v.load(I32, a, at), count), i16)
                row = builder.add(builder.mul(b_size, v.number(plane)), builder.mul(k, v.number(width)))
                for h in columns:
                    other = builder.bitcast(v.load(i32, b, builder.add(row, v.number(h))), i16)
                    # LLVM finds the instruction that adds the products of adjacent lanes, if the processor has it.
                    products = builder.mul(builder.sext(other, wide), builder.sext(factor, wide))
                    even, odd = (
                        builder.shuffle_vector(products, undefined, ir.Constant(i32, list(range(first, 2 * count, 2))))
                        for first in range(2)
                    )
                    builder.store(v.add(builder.load(sums[h]), v.add(even, odd)), sums[h])

        v.loop(0, row_length, 1, add_product)
        for h in columns:
            total, addend = builder.load(sums[h]), v.load(i32, addends, h)
            v.store(v.select(clamps, v.call("sadd.sat", total, addend), v.add(total, addend)), addends, h)
        return context.get_dummy_value()

    return types.none(strip, *[types.int64] * 7), generate


@intrinsic
def add_chains(context, strip, a, b, depth, addends):
    """Add the products of one row of A and matrix B to a row of a tile by fused multiply-adds.

    The operation is in place. NaN results have the bits that GPUs return.

    Shapes: a (depth,), b (depth, strip), addends (strip,), all f64.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        width = signature.args[0].dtype.bitwidth
        _, a, b, depth, addends = arguments
        kind, bits = ir.VectorType(F64_TYPE, _WIDE), ir.VectorType(I64, _WIDE)
        columns = range(0, width, _WIDE)
        sums = {h: cgutils.alloca_once(builder, kind) for h in columns}

        def is_nan(value: Value) -> Value:
            return builder.fcmp_unordered("uno", value, value)

        def quiet(value: Value) -> Value:
            return builder.bitcast(v.or_(builder.bitcast(value, bits), 1 << 51), kind)

        def add(propagates: bool) -> None:
            for h in columns:
                builder.store(v.load(kind, addends, h), sums[h])

            def add_product(k: Value) -> None:
                x = v.splat(v.load(F64_TYPE, a, k), _WIDE)
                for h in columns:
                    y = v.load(kind, b, builder.add(builder.mul(k, v.number(width)), v.number(h)))
                    before = builder.load(sums[h])
                    result = v.call("fma", x, y, before)
                    if propagates:
                        # GPUs return the first NaN of the element of B, the running sum and the element of A.
                        nan = builder.bitcast(v.constant(bits, 0xFFF8 << 48), kind)
                        for operand in (x, before, y):
                            nan = v.select(is_nan(operand), quiet(operand), nan)
                        result = v.select(is_nan(result), nan, result)
                    builder.store(result, sums[h])

            v.loop(0, depth, 1, add_product)

        add(propagates=False)
        found = [builder.bitcast(is_nan(builder.load(sums[h])), ir.IntType(_WIDE)) for h in columns]
        for other in found[1:]:
            found[0] = builder.or_(found[0], other)
        with builder.if_then(builder.icmp_unsigned("!=", found[0], ir.Constant(found[0].type, 0)), likely=False):
            add(propagates=True)
        for h in columns:
            v.store(builder.load(sums[h]), addends, h)
        return context.get_dummy_value()

    return types.none(strip, *[types.int64] * 4), generate
