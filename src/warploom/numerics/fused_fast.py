"""Fused dot products (T-FDPA) of finite numbers with moderate exponents, in CPU vectors.

`fused_exact` computes all other elements of D.
"""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportArgumentType=false
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numpy.typing import NDArray

from warploom.numerics._compile import njit
from warploom.numerics._numba import cgutils, intrinsic, types
from warploom.numerics.formats import E8M13, F16, F32, FORMATS
from warploom.numerics.models import Model, Sum

Words = NDArray[Any]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
Value = Any
"""LLVM value. llvmlite does not annotate the results of its builder."""

ROWS = 4
_UNROLL = 4
_BLOCK = 16
"""Number of terms below 2**27 (F = 25) whose sum fits in 32 bits."""
_ZERO, _SPECIAL, _FAR = -6000, 12000, 4000
"""Codes for the exponents of zero and of special values.

The last value is the bound that separates them from exponent sums.
"""

_I1, _I16, _I32, _I64 = ir.IntType(1), ir.IntType(16), ir.IntType(32), ir.IntType(64)
_F32, _F64 = ir.FloatType(), ir.DoubleType()


class _Lanes:
    """Builder of LLVM vector operations on a strip of `strip` columns.

    A vector of f32 values has `count` lanes: the whole strip, or half of a strip of 32 columns. A vector of 16-bit
    exponents covers the whole strip.
    """

    def __init__(self, builder: ir.IRBuilder, strip: int) -> None:
        self.builder, self.strip, self.count = builder, strip, min(strip, 16)
        self.vectors = range(strip // self.count)
        self.i1, self.i32, self.i64, self.f32, self.f64 = (
            ir.VectorType(kind, self.count) for kind in (_I1, _I32, _I64, _F32, _F64)
        )
        self.exponents = ir.VectorType(_I16, strip)

    def constant(self, kind: ir.VectorType, value: float) -> ir.Constant:
        return ir.Constant(kind, [value] * self.count)

    def splat(self, value: Value, count: int | None = None) -> Value:
        count = count or self.count
        vector = ir.VectorType(value.type, count)
        first = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, count), [0] * count)
        return self.builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)

    def load(self, kind: Any, base: Value, offset: Value, align: int = 0) -> Value:
        """Load a vector or scalar of type `kind` from element `offset` of the array at address `base`."""
        return self.builder.load(self.pointer(kind, base, offset), align=align or _size(_element(kind)))

    def store(self, value: Value, base: Value, offset: Value) -> None:
        pointer = self.pointer(value.type, base, offset)
        self.builder.store(value, pointer, align=_size(_element(value.type)))

    def pointer(self, kind: Any, base: Value, offset: Value) -> Value:
        element = self.builder.inttoptr(base, _element(kind).as_pointer())
        return self.builder.bitcast(self.builder.gep(element, [offset]), kind.as_pointer())

    def joined(self, parts: list[Value]) -> Value:
        """Return one vector for the whole strip, joined from one or two vectors."""
        if len(parts) == 1:
            return parts[0]
        lanes = ir.Constant(ir.VectorType(_I32, self.strip), list(range(self.strip)))
        return self.builder.shuffle_vector(parts[0], parts[1], lanes)

    def part(self, value: Value, h: int) -> Value:
        """Return part number `h` of a vector for the whole strip: the inverse of `joined`."""
        first = h * self.count
        lanes = ir.Constant(ir.VectorType(_I32, self.count), list(range(first, first + self.count)))
        return self.builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), lanes)

    def call(self, name: str, *operands: Value) -> Value:
        kind = operands[0].type
        suffix = f"v{kind.count}{_letter(kind.element)}"
        function = cgutils.get_or_insert_function(
            self.builder.module, ir.FunctionType(kind, [kind] * len(operands)), f"llvm.{name}.{suffix}"
        )
        return self.builder.call(function, operands)


def _element(kind: Any) -> Any:
    return kind.element if isinstance(kind, ir.VectorType) else kind


def _size(kind: Any) -> int:
    return {_F32: 4, _F64: 8}.get(kind) or kind.width // 8


def _letter(kind: Any) -> str:
    return {_F32: "f32", _F64: "f64"}.get(kind) or f"i{kind.width}"


def _exponents(v: _Lanes, value: Value, emin: Value) -> Value:
    """Return the exponents of f32 values, at least `emin`, with codes for zeros and special values."""
    b = v.builder
    bits = b.bitcast(value, v.i32)
    field = b.and_(b.lshr(bits, v.constant(v.i32, 23)), v.constant(v.i32, 255))
    exponent = v.call("smax", b.sub(field, v.constant(v.i32, 127)), emin)
    special = b.icmp_signed("==", field, v.constant(v.i32, 255))
    zero = b.icmp_signed("==", b.shl(bits, v.constant(v.i32, 1)), v.constant(v.i32, 0))
    exponent = b.select(special, v.constant(v.i32, _SPECIAL), exponent)
    return b.select(zero, v.constant(v.i32, 2 * _ZERO), exponent)


def _toward_zero(v: _Lanes, value: Value, mask: Value) -> Value:
    """Truncate f64 values to the bits in `mask`, and convert them to f32."""
    b = v.builder
    return b.fptrunc(b.bitcast(b.and_(b.bitcast(value, v.i64), mask), v.f64), v.f32)


def _to_nearest_half(v: _Lanes, value: Value) -> tuple[Value, Value]:
    """Round f64 values to f16. Return the rounded values as f32, and a mask of the overflows."""
    b = v.builder
    # Adding and subtracting 1.5 * 2**52 quanta of f16 rounds to nearest even.
    power = b.bitcast(b.and_(b.bitcast(value, v.i64), v.constant(v.i64, 0x7FF << 52)), v.f64)
    power = v.call("maxnum", power, v.constant(v.f64, 2.0**-14))
    magic = b.fmul(power, v.constant(v.f64, 1.5 * 2.0**42))
    nearest = b.fsub(b.fadd(value, magic), magic)
    beyond = b.fcmp_ordered(">", v.call("fabs", nearest), v.constant(v.f64, 65504.0))
    return b.fptrunc(nearest, v.f32), beyond


@intrinsic
def _tile(
    context, index, flags, index_at, flags_at, a, ea, b, eb, c, d,
    depth, columns, length, fraction, emin_c, emin, half, mask,
):  # fmt: skip
    """Compute one tile of D with the code that `_emit` generates.

    `index` (None for a dense A) and `flags` only give types to Numba. `index_at` and `flags_at` are the addresses.
    """

    def generate(context, builder, signature, arguments):
        v = _Lanes(builder, signature.args[1].dtype.bitwidth)
        _emit(v, signature.args[0] is not types.none, *arguments[2:])
        return context.get_dummy_value()

    return types.none(index, flags, *[types.int64] * 16), generate


def _emit(
    v: _Lanes, sparse: bool, index, flags, a, ea, b, eb, c, d,
    depth, columns, length, fraction, emin_c, emin, half, mask,
) -> None:  # fmt: skip
    """Generate the code that computes one tile of D.

    `index` to `d` are addresses. `a` and `ea` are the values and exponents of A, with `depth` elements in a row. `b`
    and `eb` are the values and exponents of the strip of B. `columns` is the row length of D. If `half` is not 0, each
    step rounds to f16. Otherwise each step truncates to the bits in `mask`.
    """
    build = v.builder
    # Each step makes two passes over its products. The first finds the largest exponent E for each element of D.
    # The second multiplies exact f32 products by 2**(F - E) and truncates by a conversion to integers.
    # Generated vector instructions do not depend on the automatic vectorisation of LLVM.
    rows = range(ROWS)
    half = build.icmp_signed("!=", half, ir.Constant(_I64, 0))
    mask = v.splat(mask)
    emin_c = v.splat(build.trunc(emin_c, _I32))
    emin = v.splat(build.trunc(emin, _I32))
    fraction32 = v.splat(build.trunc(fraction, _I32))
    row_start = [build.mul(depth, ir.Constant(_I64, r)) for r in rows]
    out_start = [build.mul(columns, ir.Constant(_I64, r)) for r in rows]
    present = build.icmp_signed("!=", c, ir.Constant(_I64, 0))

    vectors = [(r, h) for r in rows for h in v.vectors]
    accumulators = {at: cgutils.alloca_once(build, v.f32) for at in vectors}
    flagged = {at: cgutils.alloca_once_value(build, v.constant(v.i1, 0)) for at in vectors}
    offset = {(r, h): build.add(out_start[r], ir.Constant(_I64, h * v.count)) for r, h in vectors}
    for at in vectors:
        build.store(v.constant(v.f32, 0.0), accumulators[at])
    with build.if_then(present):
        for at in vectors:
            build.store(v.load(v.f32, c, offset[at]), accumulators[at])
    tops = [cgutils.alloca_once(build, v.exponents) for _ in rows]
    sums = {at: cgutils.alloca_once(build, v.i32) for at in vectors}
    wide = {at: cgutils.alloca_once(build, v.f64) for at in vectors}

    def strip(kind: ir.VectorType, base: Value, k: Value, r: int, h: int) -> Value:
        column = k
        if sparse:
            column = build.sext(v.load(_I32, index, build.add(row_start[r], k)), _I64)
        first = build.mul(column, ir.Constant(_I64, v.strip))
        return v.load(kind, base, build.add(first, ir.Constant(_I64, h * v.count)))

    def steps(start: Value, stop: Value, body: Any) -> None:
        with cgutils.for_range_slice(build, start, stop, ir.Constant(_I64, _UNROLL), _I64) as (k, _):
            for u in range(_UNROLL):
                at = build.add(k, ir.Constant(_I64, u))
                shared: dict[Any, Value] = {}
                for r in rows:
                    body(at, r, shared)

    def raise_top(k: Value, r: int, shared: dict[Any, Value]) -> None:
        key = r if sparse else 0
        if key not in shared:
            shared[key] = strip(v.exponents, eb, k, r, 0)
        pair = v.load(_I32, ea, build.add(row_start[r], k))
        exponent = build.bitcast(v.splat(pair, v.strip // 2), v.exponents)
        total = build.add(exponent, shared[key])
        build.store(v.call("smax", build.load(tops[r]), total), tops[r])

    with cgutils.for_range_slice(build, ir.Constant(_I64, 0), depth, length, _I64) as (first, _):
        last = build.add(first, length)
        for r in rows:
            exponents = [_exponents(v, build.load(accumulators[r, h]), emin_c) for h in v.vectors]
            build.store(build.trunc(v.joined(exponents), v.exponents), tops[r])
        steps(first, last, raise_top)
        scales: dict[tuple[int, int], Value] = {}
        for r, h in vectors:
            top = build.sext(v.part(build.load(tops[r]), h), v.i32)
            empty = build.icmp_signed("<", top, v.constant(v.i32, -_FAR))
            top = build.select(empty, v.constant(v.i32, 0), v.call("smax", top, emin))
            # NaN and infinity have exponent codes beyond 100, too.
            far = build.icmp_signed(">", v.call("smax", top, build.neg(top)), v.constant(v.i32, 100))
            build.store(build.or_(build.load(flagged[r, h]), far), flagged[r, h])
            top = build.select(far, v.constant(v.i32, 0), top)
            shift = build.sub(fraction32, top)
            power = build.shl(build.add(shift, v.constant(v.i32, 127)), v.constant(v.i32, 23))
            scales[r, h] = build.bitcast(power, v.f32)
            addend = build.fptosi(build.fmul(build.load(accumulators[r, h]), scales[r, h]), v.i32)
            build.store(build.sitofp(addend, v.f64), wide[r, h])

        def add_product(k: Value, r: int, shared: dict[Any, Value]) -> None:
            factor = v.splat(v.load(_F32, a, build.add(row_start[r], k)))
            for h in v.vectors:
                key = (r if sparse else 0, h)
                if key not in shared:
                    shared[key] = strip(v.f32, b, k, r, h)
                term = build.fmul(build.fmul(shared[key], factor), scales[r, h])
                build.store(build.add(build.load(sums[r, h]), build.fptosi(term, v.i32)), sums[r, h])

        block = ir.Constant(_I64, _BLOCK)
        with cgutils.for_range_slice(build, first, last, block, _I64) as (start, _):
            stop = build.add(start, block)
            stop = build.select(build.icmp_signed("<", stop, last), stop, last)
            for at in vectors:
                build.store(v.constant(v.i32, 0), sums[at])
            steps(start, stop, add_product)
            for at in vectors:
                part = build.sitofp(build.load(sums[at]), v.f64)
                build.store(build.fadd(build.load(wide[at]), part), wide[at])
        for at in vectors:
            # Compute 2**(E - F) from the bits of 2**(F - E).
            power = build.lshr(build.bitcast(scales[at], v.i32), v.constant(v.i32, 23))
            power = build.sub(v.constant(v.i32, 1023 + 127), power)
            power = build.shl(build.zext(power, v.i64), v.constant(v.i64, 52))
            value = build.fmul(build.load(wide[at]), build.bitcast(power, v.f64))
            with build.if_else(half) as (to_nearest, toward_zero):
                with to_nearest:
                    narrow, beyond = _to_nearest_half(v, value)
                    build.store(narrow, accumulators[at])
                    build.store(build.or_(build.load(flagged[at]), beyond), flagged[at])
                with toward_zero:
                    build.store(_toward_zero(v, value, mask), accumulators[at])
    # Flagged elements keep their addend, because d may be the array of c.
    addends = build.select(present, c, d)
    for at in vectors:
        kept = v.load(v.f32, addends, offset[at])
        result = build.select(build.load(flagged[at]), kept, build.load(accumulators[at]))
        v.store(result, d, offset[at])
    for r in rows:
        bits = v.joined([build.load(flagged[r, h]) for h in v.vectors])
        v.store(build.bitcast(bits, ir.IntType(v.strip)), flags, ir.Constant(_I64, r))


@intrinsic
def _as_float(context, bits):

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], _F32)

    return types.float32(types.uint32), generate


@intrinsic
def _as_bits(context, value):

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], _I32)

    return types.uint32(types.float32), generate


# Python passes these fields as an array, because Numba unpacks tuples slowly.
class Layout(NamedTuple):
    """Fields of an element type that `_decode` uses."""

    shift: int
    magnitude_mask: int
    sign: int
    sign_shift: int
    first_special: int
    scale: int
    negate: int
    emin: int


@njit
def _layout_of(fields: Numbers) -> Layout:
    return Layout(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7])


@njit
def _decode(words: Words, values: Floats, fields: Numbers) -> None:
    """Convert words to f32 values. A NaN becomes infinity. `fields` is a `Layout` as an array."""
    layout = _layout_of(fields)
    scale = _as_float(np.uint32(layout.scale))
    for i in range(len(words)):
        word = np.int64(words[i])
        magnitude = word & layout.magnitude_mask
        value = _as_float(np.uint32(magnitude << layout.shift)) * scale
        bits = np.int64(_as_bits(value))
        if magnitude >= layout.first_special:
            bits = 0x7F800000
        bits |= ((word & layout.sign) ^ layout.negate) << layout.sign_shift
        values[i] = _as_float(np.uint32(bits))


@njit
def _exponent_words(values: Floats, exponents: Any, emin: int, factor: int) -> None:
    """Write the exponents of `values` (see `_exponents`), each multiplied by `factor`."""
    for i in range(len(values)):
        bits = np.int32(_as_bits(values[i]) & 0x7FFFFFFF)
        exponent = max(np.int32(np.int32(bits >> 23) - 127), np.int32(emin))
        if bits >= 0x7F800000:
            exponent = np.int32(_SPECIAL)
        if bits == 0:
            exponent = np.int32(_ZERO)
        exponents[i] = (exponent & 0xFFFF) * factor


@njit
def _run(
    a: Any, b: Any, c: Any, d: Any, index: Any, flags: Any, lanes: int, a_layout: Numbers, b_layout: Numbers,
    length: int, fraction: int, emin_c: int, emin: int, half: int, mask: int,
) -> int:  # fmt: skip
    """Compute D tile by tile. Return the number of words in `flags` that are not 0.

    `lanes` is the number of columns of a tile. `flags` receives a set bit for each element that `fused_exact` must
    compute.
    """
    groups, rows, depth = a.shape
    columns, b_depth = b.shape[1], b.shape[2]
    strips = columns // lanes
    a_values = np.empty(rows * depth, np.float32)
    a_exponents = np.empty(rows * depth, np.int32)
    words = np.empty(b_depth * lanes, b.dtype)
    b_values = np.empty(b_depth * lanes, np.float32)
    b_exponents = np.empty(b_depth * lanes, np.int16)
    for g in range(groups):
        _decode(a[g].flat, a_values, a_layout)
        # The factor writes each 16-bit exponent to both halves of a word.
        _exponent_words(a_values, a_exponents, _layout_of(a_layout).emin, 0x10001)
        for s in range(strips):
            for n in range(lanes):
                for k in range(b_depth):
                    words[k * lanes + n] = b[g, s * lanes + n, k]
            _decode(words, b_values, b_layout)
            _exponent_words(b_values, b_exponents, _layout_of(b_layout).emin, 1)
            for m in range(0, rows, ROWS):
                at = 4 * (m * columns + s * lanes)
                _tile(
                    index,
                    flags,
                    0 if index is None else index[g, m].ctypes.data,
                    flags[g, s, m:].ctypes.data,
                    a_values.ctypes.data + 4 * m * depth,
                    a_exponents.ctypes.data + 4 * m * depth,
                    b_values.ctypes.data,
                    b_exponents.ctypes.data,
                    c[g].ctypes.data + at if len(c) else 0,
                    d[g].ctypes.data + at,
                    depth, columns, length, fraction, emin_c, emin, half, mask,
                )  # fmt: skip
    flagged = 0
    for row in flags.flat:
        flagged += row != 0
    return flagged


@njit
def _halve(values: Floats, bits: Any) -> None:
    """Convert f32 values to f16 patterns. Each value is exact in f16 or becomes infinity."""
    for i in range(len(values)):
        word = np.int64(_as_bits(values[i]))
        magnitude = word & 0x7FFFFFFF
        half = (magnitude - (112 << 23)) >> 13
        if magnitude < 113 << 23:
            half = np.int64(np.int32(abs(values[i]) * np.float32(2.0**24)))
        if magnitude >= 143 << 23:
            half = 0x7C00
        bits[i] = half | (word >> 16 & 0x8000)


@njit
def _choose(words: Any, order: Any, chosen: Any) -> None:
    for row in range(len(words)):
        for k in range(len(order)):
            chosen[row, k] = words[row, order[k]]


def chosen(words: NDArray[Any], order: Numbers) -> NDArray[Any]:
    """Return `words[..., order]`. Shapes: words (..., K), C-contiguous; order (count,)."""
    result = np.empty((*words.shape[:-1], len(order)), words.dtype)
    _choose(words.reshape(-1, words.shape[-1]), order, result.reshape(-1, len(order)))
    return result


def widened(halves: NDArray[Any]) -> Floats:
    """Convert f16 patterns to f32 values. A NaN becomes infinity. The array must be C-contiguous."""
    values = np.empty(halves.shape, np.float32)
    _decode(halves.reshape(-1), values.reshape(-1), layout("f16", False))
    return values


def halved(values: Floats) -> NDArray[np.uint16]:
    """Convert f32 values to f16 patterns. The array must be C-contiguous.

    Each value must be exact in f16, or so large that it becomes infinity.
    """
    bits = np.empty(values.shape, np.uint16)
    _halve(values.reshape(-1), bits.reshape(-1))
    return bits


@cache
def layout(name: str, negate: bool, emin: int | None = None) -> Numbers:
    """Return the `Layout` of the element type `name`, as an array.

    `negate` flips the signs of decoded elements. `emin` replaces the least exponent of the type.
    """
    fmt = FORMATS[name]
    stored = fmt.mantissa_bits + fmt.padding
    sign = fmt.sign_bit << fmt.padding
    fields = Layout(
        shift=23 - stored,
        magnitude_mask=fmt.magnitude_mask << fmt.padding,
        sign=sign,
        sign_shift=31 - (fmt.exponent_bits + stored),
        first_special=(fmt.max_code + 1) << fmt.padding,
        scale=int(np.array(2.0 ** (127 - fmt.bias), np.float32).view(np.uint32)),
        negate=sign if negate else 0,
        emin=fmt.min_exponent if emin is None else emin,
    )
    return np.array(fields, np.int64)


@cache
def _strips() -> tuple[int, ...]:
    """Return the strip widths that this host supports, the widest first."""
    return (32, 16, 8) if binding.get_host_cpu_features().get("avx512bw") else (16, 8)


_NONE = np.empty((0, 0, 0), np.float32)
_NOWHERE = np.empty(0, np.int64)


def run(
    a: NDArray[Any], b: NDArray[Any], c: Floats | None, d: Floats, model: Model,
    index: NDArray[np.int32] | None, negate_a: bool, negate_b: bool,
) -> Numbers:  # fmt: skip
    """Compute D in f32. Return the flat indices of the elements that `fused_exact` must compute.

    `d` may be the array `c`. The elements at the returned indices then keep their addends.

    Shapes: a (G, M, K), b (G, N, K), c and d (G, M, N), all C-contiguous. M is a multiple of 4, and N of 8. K is a
    multiple of 4, or of L (`Model.length`) if K exceeds L.
    """
    groups, rows, columns = d.shape
    lanes = next(width for width in _strips() if columns % width == 0)
    flags = np.empty((groups, columns // lanes, rows), f"u{lanes // 8}")
    least = F16.min_exponent if model.sum is Sum.T_FDPA_SPLIT else None
    kept = (E8M13 if model.result == "e8m13" else F32).mantissa_bits
    flagged = _run(
        a, b, _NONE if c is None else c, d, index, flags, lanes,
        layout(model.a_type, negate_a, least), layout(model.b_type, negate_b, least),
        min(model.length, a.shape[2]), model.fraction, FORMATS[model.c_type].min_exponent,
        -(1 << 30) if model.emin is None else model.emin, int(model.d_type == "f16"), -1 << (52 - kept),
    )  # fmt: skip
    if not flagged:
        return _NOWHERE
    bits = np.unpackbits(flags.view(np.uint8), axis=-1, bitorder="little")
    return np.flatnonzero(bits.reshape(groups, columns // lanes, rows, lanes).transpose(0, 2, 1, 3))
