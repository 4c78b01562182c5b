"""Steps of fused dot products (T-FDPA), as Numba intrinsics that generate vector instructions.

A tile of D has the columns of one strip: 8, 16 or 32. It has 8 rows if the strip has 8 columns, and otherwise 4. A step
adds L products to each element of the tile. It makes two passes over its products. `raise_tops` finds the largest
exponent E for each element. Then `add_narrow` or `add_wide` truncates the products to multiples of 2**(E - F), adds
them and rounds the sums, for `PART` columns at a time.

Some arguments of the intrinsics only give types. `strip` is an array whose dtype has one bit for each column of a
strip. `index` is None for a dense A. `scales` is None if A and B have no block scales. `c` and `d` are arrays of
elements of C and D. Each step rounds to f16 if the elements of D have 16 bits. `grouped_steps` has the steps of sums
whose products are first added in groups.
"""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportArgumentType=false
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from warploom.numerics._numba import cgutils, intrinsic, ir, types
from warploom.numerics.copies import DECODED
from warploom.numerics.formats import F16, F32, Format
from warploom.numerics.vectors import F32_TYPE, F64_TYPE, I1, I16, I32, I64, Value, Vectors

PART = 16
"""Greatest number of columns that `add_narrow` and `add_wide` compute together."""
_UNROLL = 2
_BLOCK = 16
"""Number of terms below 2**27 (F = 25) whose sum fits in 32 bits."""
_ZERO, _SPECIAL, _FAR = -6000, 12000, 4000
"""Codes for the exponents of zero and of special values.

The last value is the bound that separates them from exponent sums.
"""
NAN_SCALE = 20000
"""Code for the exponent of a block scale that is NaN."""
_LEAST_NAN_SCALE = 10000
"""Bound that separates sums with `NAN_SCALE` from sums of two exponents of scales."""
MAGNITUDE = 0x7FFFFFFF
"""Bits of an f32 number without the sign."""
_NARROW = 100
"""Largest magnitude of E for which products and their scale factors are f32 numbers."""


class Layout(NamedTuple):
    """Fields of an element type, as `decode_a` and `decode_b` use them.

    The masks apply to stored words. `rebias` is the difference between the exponent biases of f32 and of the type, in
    the position of the f32 exponent. `least` is the least normal number, as the bits of an f32 number. `emin` is the
    exponent of subnormal numbers.
    """

    magnitude_mask: Any
    shift: Any
    rebias: Any
    least: Any
    first_special: Any
    infinity: Any
    sign: Any
    negate: Any
    sign_shift: Any
    emin: Any


def layout(fmt: Format, negate: bool = False, emin: int | None = None) -> Layout:
    """Return the `Layout` of a format.

    `negate` flips the signs. `emin` replaces the least exponent of the format.
    """
    stored = fmt.mantissa_bits + fmt.padding
    sign = fmt.sign_bit << fmt.padding
    return Layout(
        magnitude_mask=fmt.magnitude_mask << fmt.padding,
        shift=23 - stored,
        rebias=(127 - fmt.bias) << 23,
        least=(127 + fmt.min_exponent) << 23,
        first_special=(fmt.max_code + 1) << fmt.padding,
        infinity=fmt.inf_code << fmt.padding,
        sign=sign,
        negate=sign if negate else 0,
        sign_shift=31 - (fmt.exponent_bits + stored),
        emin=fmt.min_exponent if emin is None else emin,
    )


class Parameters(NamedTuple):
    """Parameters of the sums. Compiled code reads them from an array of 64-bit integers.

    `emin_c` and `emin_d` are the least exponents of the addend of the first step and of the other steps. The addend of
    the first step is divided by 2**`divisor`. Unless a step rounds to f16, it truncates normal numbers to the f64 bits
    in `mask`, and subnormal numbers to multiples of 2**-`places`.
    """

    length: Any
    fraction: Any
    emin_c: Any
    emin_d: Any
    emin: Any
    mask: Any
    places: Any
    divisor: Any


LAYOUT_A = len(Parameters._fields)
LAYOUT_B = LAYOUT_A + len(Layout._fields)
"""Positions of the two layouts behind the parameters."""


class Tile(NamedTuple):
    """Operands of one tile: the addresses of arrays, K, and the row length of C and D.

    Shapes: parameters (LAYOUT_B + len(Layout),) of i64; a (rows, K) of f32; a_exponents (rows, K) of pairs of i16; b
    (K, strip) of f32; b_exponents (K, strip) of i16; index (rows, K) of i32; c and d (rows, columns); sums
    (rows, strip) of f32; tops (rows, strip) of i16. a_wide and b_wide are a and b in f64. Block scales of `block`
    elements along K have exponents, a_scales (K/block, a_step) and b_scales (K/block, strip) of i16, and significands,
    a_factors and b_factors, of the same shapes, of f32.
    """

    parameters: Any
    a: Any
    a_wide: Any
    a_exponents: Any
    b: Any
    b_exponents: Any
    b_wide: Any
    index: Any
    c: Any
    d: Any
    sums: Any
    tops: Any
    depth: Any
    columns: Any
    a_scales: Any = 0
    b_scales: Any = 0
    a_factors: Any = 0
    b_factors: Any = 0
    a_step: Any = 0
    block: Any = 1


class Strip(Vectors):
    """Vectors of at most `most` lanes on a strip of `width` columns."""

    def __init__(self, builder: ir.IRBuilder, width: int, most: int = PART) -> None:
        super().__init__(builder)
        self.width, self.count = width, min(width, most)
        self.rows = range(4 if width > 8 else 8)
        self.i32, self.i64, self.f32, self.f64 = (
            ir.VectorType(kind, self.count) for kind in (I32, I64, F32_TYPE, F64_TYPE)
        )
        self.exponents = ir.VectorType(I16, width)

    @property
    def vectors(self) -> list[tuple[int, int]]:
        """Row and first column of each vector in the tile."""
        return [(r, h) for r in self.rows for h in range(0, self.width, self.count)]

    def position(self, row_length: Value, r: int, h: int) -> Value:
        """Return the position of element (r, h) in an array with rows of `row_length` elements."""
        return self.builder.add(self.builder.mul(row_length, self.number(r)), self.number(h))

    def parameters(self, base: Value) -> Parameters:
        """Load the parameters from the array at address `base`."""
        return Parameters(*[self.load(I64, base, i) for i in range(len(Parameters._fields))])

    def power(self, exponent: Value) -> Value:
        """Return 2**exponent in f64 for 64-bit integers."""
        return self.builder.bitcast(self.shl(self.add(exponent, 1023), 52), self.f64)

    def narrow(self, value: Value) -> Value:
        """Return a vector of copies of a 64-bit integer, as 32-bit integers."""
        return self.splat(self.builder.trunc(value, I32), self.count)


class Kind(NamedTuple):
    """Columns of the strip, options of A and B, and bits of an element of C or D."""

    width: int
    sparse: bool
    scaled: bool
    bits: int


def step_intrinsic(emit: Callable[..., Value | None], result: str = "none") -> Any:
    """Return an intrinsic whose code `emit` generates.

    Its arguments are strip, index, scales, an array of C or D, a Tile, and integers. `result` is the name of a type of
    Numba.
    """

    @intrinsic
    def generated(context, strip, index, scales, elements, tile, first, last, column):
        def generate(context, builder, signature, arguments):
            kind = Kind(
                width=signature.args[0].dtype.bitwidth,
                sparse=signature.args[1] is not types.none,
                scaled=signature.args[2] is not types.none,
                bits=signature.args[3].dtype.bitwidth,
            )
            fields = Tile(*[builder.extract_value(arguments[4], i) for i in range(len(Tile._fields))])
            made = emit(builder, kind, fields, *arguments[5:])
            return context.get_dummy_value() if made is None else made

        return getattr(types, result)(strip, index, scales, elements, tile, *[types.int64] * 3), generate

    return generated


# --- elements


def element_exponents(v: Vectors, value: Value, emin: Value) -> Value:
    """Return the exponents of f32 values, at least `emin`, with codes for zeros and special values."""
    bits = v.builder.bitcast(value, emin.type)
    field = v.and_(v.lshr(bits, 23), 255)
    exponent = v.call("smax", v.sub(field, 127), emin)
    exponent = v.select(v.compare("==", field, 255), _SPECIAL, exponent)
    return v.select(v.compare("==", v.shl(bits, 1), 0), _ZERO, exponent)


def element_values(v: Vectors, words: Value, of: Layout) -> Value:
    """Return the f32 values of element patterns. The patterns are 32-bit lanes, zero-extended."""
    b = v.builder
    f32 = ir.VectorType(F32_TYPE, words.type.count)
    magnitude = v.and_(words, of.magnitude_mask)
    bits = v.shl(magnitude, of.shift)
    normal = v.add(bits, of.rebias)
    # CPUs multiply subnormal numbers slowly, but subtract them at full speed.
    subnormal = v.fsub(b.bitcast(v.or_(bits, of.least), f32), b.bitcast(of.least, f32))
    value = v.select(v.compare("<", bits, 1 << 23), b.bitcast(subnormal, words.type), normal)
    special = v.select(v.compare("==", magnitude, of.infinity), v.constant(words.type, 0x7F800000), 0x7FC00000)
    value = v.select(v.compare(">=", magnitude, of.first_special), special, value)
    sign = v.shl(v.xor(v.and_(words, of.sign), of.negate), of.sign_shift)
    return b.bitcast(v.or_(value, sign), f32)


def _decoder(position: int, exponents_as: Literal["pairs", "halves", "masks"]) -> Any:
    """Return an intrinsic that decodes elements whose layout is at `position` in the parameters.

    The intrinsic writes f32 values and exponents. With "pairs", it writes each exponent to both halves of a 32-bit
    word. With "masks", it writes a 32-bit word instead of the exponent: `MAGNITUDE`, or 0 for a zero.
    """

    @intrinsic
    def decode(context, words, words_at, values, exponents, count, parameters):
        def generate(context, builder, signature, arguments):
            v = Vectors(builder)
            stored = ir.VectorType(ir.IntType(signature.args[0].dtype.bitwidth), DECODED)
            i32 = ir.VectorType(I32, DECODED)
            _, words, values, exponents, count, parameters = arguments
            fields = [v.load(I64, parameters, position + i) for i in range(len(Layout._fields))]
            of = Layout(*[v.splat(builder.trunc(field, I32), DECODED) for field in fields])

            def convert(i: Value) -> None:
                found = v.load(stored, words, i)
                value = element_values(v, found if stored == i32 else builder.zext(found, i32), of)
                v.store(value, values, i)
                if exponents_as == "masks":
                    is_zero = builder.fcmp_ordered("==", value, v.constant(value.type, 0.0))
                    v.store(v.select(is_zero, 0, v.constant(i32, MAGNITUDE)), exponents, i)
                    return
                exponent = builder.trunc(element_exponents(v, value, of.emin), ir.VectorType(I16, DECODED))
                if exponents_as == "pairs":
                    wide = builder.zext(exponent, i32)
                    v.store(v.or_(wide, v.shl(wide, 16)), exponents, i)
                else:
                    v.store(exponent, exponents, i)

            v.loop(0, count, DECODED, convert)
            return context.get_dummy_value()

        return types.none(words, *[types.int64] * 5), generate

    return decode


decode_a = _decoder(LAYOUT_A, "pairs")
decode_a_masks = _decoder(LAYOUT_A, "masks")
decode_b = _decoder(LAYOUT_B, "halves")


def _emit_load_addends(builder: ir.IRBuilder, kind: Kind, tile: Tile, *_: Value) -> None:
    """Write the elements of C to `sums`, or zeros if the address of C is 0."""
    width = kind.width
    v = Strip(builder, width)
    f16 = Layout(*[v.constant(v.i32, field) for field in layout(F16)])
    present = builder.icmp_signed("!=", tile.c, v.number(0))
    with builder.if_else(present) as (given, absent):
        with given:
            for r, h in v.vectors:
                words = v.load(ir.VectorType(ir.IntType(kind.bits), v.count), tile.c, v.position(tile.columns, r, h))
                value = element_values(v, builder.zext(words, v.i32), f16) if kind.bits == 16 else words
                v.store(value, tile.sums, r * width + h)
        with absent:
            for r, h in v.vectors:
                v.store(v.constant(v.f32, 0.0), tile.sums, r * width + h)


def _emit_store_results(builder: ir.IRBuilder, kind: Kind, tile: Tile, *_: Value) -> None:
    """Write `sums` to D, with canonical NaNs."""
    width = kind.width
    v = Strip(builder, width)
    for r, h in v.vectors:
        value = v.load(v.f32, tile.sums, r * width + h)
        nan = builder.fcmp_unordered("uno", value, value)
        if kind.bits == 16:
            words = builder.trunc(v.select(nan, F16.nan_code, _half_words(v, value)), ir.VectorType(I16, v.count))
        else:
            words = v.select(nan, F32.nan_code, builder.bitcast(value, v.i32))
        v.store(words, tile.d, v.position(tile.columns, r, h))


def _half_words(v: Strip, value: Value) -> Value:
    """Return f32 values as f16 patterns in 32-bit lanes. Each value is exact in f16, or infinite."""
    b = v.builder
    bits = b.bitcast(value, v.i32)
    magnitude = v.and_(bits, 0x7FFFFFFF)
    normal = v.lshr(v.sub(magnitude, 112 << 23), 13)
    subnormal = b.fptosi(v.fmul(b.bitcast(magnitude, v.f32), 2.0**24), v.i32)
    half = v.select(v.compare("<", magnitude, 113 << 23), subnormal, normal)
    half = v.select(v.compare("==", magnitude, 0x7F800000), F16.inf_code, half)
    return v.or_(half, v.and_(v.lshr(bits, 16), F16.sign_bit))


# --- sums


def _steps(v: Strip, first: Value, last: Value, body: Callable[[Value], None]) -> None:
    def unrolled(k: Value) -> None:
        for u in range(_UNROLL):
            body(v.builder.add(k, v.number(u)))

    v.loop(first, last, _UNROLL, unrolled)


def row_of_b(v: Strip, tile: Tile, position: Value) -> Value:
    """Return the position in B of the row by which an element of a sparse A is multiplied."""
    return v.builder.mul(v.builder.sext(v.load(I32, tile.index, position), I64), v.number(v.width))


def _addend_exponents(v: Strip, addends: list[Value], emin: Value) -> Value:
    """Return the exponents of f32 values, as `element_exponents` does, but as 16-bit integers."""
    b = v.builder
    halves = v.joined([b.bitcast(addend, ir.VectorType(I16, 2 * v.count)) for addend in addends])
    odd = ir.Constant(ir.VectorType(I32, v.width), list(range(1, 2 * v.width, 2)))
    high = b.shuffle_vector(halves, ir.Constant(halves.type, ir.Undefined), odd)
    field = v.and_(v.lshr(high, 7), 255)
    exponent = v.call("smax", v.sub(field, 127), emin)
    exponent = v.select(v.compare("==", field, 255), _SPECIAL, exponent)
    zeros = v.joined([b.fcmp_ordered("==", addend, v.constant(v.f32, 0.0)) for addend in addends])
    return v.select(zeros, 2 * _ZERO, exponent)


def scale_positions(v: Strip, tile: Tile, k: Value) -> tuple[Value, Value]:
    """Return the positions of the scales of element `k` along K: for row 0 of the tile, and for column 0."""
    number = v.builder.sdiv(k, tile.block)
    return v.builder.mul(number, tile.a_step), v.builder.mul(number, v.number(v.width))


def _scales(v: Strip, tile: Tile, kind: ir.VectorType, first: Value, column: Value | int) -> list[Value]:
    """Return the exponents of the products of the block scales at K = `first`, for each row.

    The first lane belongs to the column `column`.
    """
    a, b = scale_positions(v, tile, first)
    part = v.load(ir.VectorType(I16, kind.count), tile.b_scales, v.builder.add(b, v.number(column)))
    own = [v.load(I16, tile.a_scales, v.builder.add(a, v.number(r))) for r in v.rows]
    rows = [v.call("sadd.sat", part, v.splat(each, kind.count)) for each in own]
    return rows if kind == part.type else [v.builder.sext(each, kind) for each in rows]


def _divided(v: Strip, p: Parameters, first: Value) -> Value:
    """Return the binary logarithm of the divisor of the addend of the step at K = `first`."""
    return v.builder.select(v.builder.icmp_signed("==", first, v.number(0)), p.divisor, v.number(0))


def _exceeds(v: Strip, exponents: Value) -> Value:
    """Return a mask of the exponents whose magnitude is greater than `_NARROW`."""
    limit = v.constant(exponents.type, 2 * _NARROW)
    return v.builder.icmp_unsigned(">", v.add(exponents, _NARROW), limit)


def _emit_raise_tops(builder: ir.IRBuilder, kind: Kind, tile: Tile, first: Value, last: Value, _: Value) -> Value:
    """Write the exponent E of each element of the tile to `tops`.

    Return a mask with a bit for each column: 1 if the column needs `add_wide`, 0 if `add_narrow` can add its products.
    E is 0 for a sum of zeros. For a sum with special values, E is greater than `_FAR`.
    """
    width = kind.width
    v = Strip(builder, width)
    p = v.parameters(tile.parameters)
    is_first = builder.icmp_signed("==", first, v.number(0))
    emin_addend = v.splat(builder.trunc(builder.select(is_first, p.emin_c, p.emin_d), I16), width)
    tops = [cgutils.alloca_once(builder, v.exponents) for _ in v.rows]
    scales = _scales(v, tile, v.exponents, first, 0) if kind.scaled else []
    divided = v.splat(builder.trunc(_divided(v, p, first), I16), width)
    for r in v.rows:
        addends = [v.load(v.f32, tile.sums, r * width + h) for h in range(0, width, v.count)]
        exponents = v.sub(_addend_exponents(v, addends, emin_addend), divided)
        builder.store(v.call("ssub.sat", exponents, scales[r]) if kind.scaled else exponents, tops[r])

    def raise_each(k: Value) -> None:
        shared = None if kind.sparse else v.load(v.exponents, tile.b_exponents, builder.mul(k, v.number(width)))
        for r in v.rows:
            at = builder.add(builder.mul(tile.depth, v.number(r)), k)
            exponent = builder.bitcast(v.splat(v.load(I32, tile.a_exponents, at), width // 2), v.exponents)
            other = shared or v.load(v.exponents, tile.b_exponents, row_of_b(v, tile, at))
            builder.store(v.call("smax", builder.load(tops[r]), v.add(exponent, other)), tops[r])

    _steps(v, first, last, raise_each)
    emin = v.splat(builder.trunc(p.emin, I16), width)
    far = v.constant(ir.VectorType(I1, width), 0)
    for r in v.rows:
        top = builder.load(tops[r])
        if kind.scaled:
            top = v.call("sadd.sat", top, scales[r])
        top = v.select(v.compare("<", top, -_FAR), 0, v.call("smax", top, emin))
        far = v.or_(far, _exceeds(v, top))
        if kind.scaled:
            far = v.or_(far, _exceeds(v, v.sub(top, scales[r])))
        v.store(top, tile.tops, r * width)
    return builder.zext(builder.bitcast(far, ir.IntType(width)), I64)


def _emit_add_narrow(builder: ir.IRBuilder, kind: Kind, tile: Tile, first: Value, last: Value, column: Value) -> Value:
    """Add products with f32 multiplications and 32-bit sums, if all |E| are at most `_NARROW`.

    Return True if this has succeeded. If a sum overflows, the function returns False and changes nothing.
    """
    width = kind.width
    v = Strip(builder, width)
    p = v.parameters(tile.parameters)
    fraction, addend_fraction = v.narrow(p.fraction), v.narrow(builder.sub(p.fraction, _divided(v, p, first)))
    at = [builder.add(v.number(r * width), column) for r in v.rows]
    sums = [cgutils.alloca_once(builder, v.i32) for _ in v.rows]
    totals = [cgutils.alloca_once(builder, v.i32) for _ in v.rows]
    overflow = cgutils.alloca_once(builder, v.i32)
    builder.store(v.constant(v.i32, 0), overflow)
    scales: list[Value] = []
    for r in v.rows:
        top = builder.sext(v.load(ir.VectorType(I16, v.count), tile.tops, at[r]), v.i32)
        scales.append(builder.bitcast(v.shl(v.add(v.sub(fraction, top), 127), 23), v.f32))
        addend_scale = builder.bitcast(v.shl(v.add(v.sub(addend_fraction, top), 127), 23), v.f32)
        builder.store(builder.fptosi(v.fmul(v.load(v.f32, tile.sums, at[r]), addend_scale), v.i32), totals[r])
    factors = scales
    if kind.scaled:
        exponents = _scales(v, tile, v.i32, first, column)
        bits = [v.add(builder.bitcast(scales[r], v.i32), v.shl(exponents[r], 23)) for r in v.rows]
        factors = [builder.bitcast(each, v.f32) for each in bits]

    def add_each(k: Value) -> None:
        row = builder.mul(k, v.number(width))
        shared = None if kind.sparse else v.load(v.f32, tile.b, builder.add(row, column))
        for r in v.rows:
            position = builder.add(builder.mul(tile.depth, v.number(r)), k)
            factor = v.splat(v.load(F32_TYPE, tile.a, position), v.count)
            other = shared or v.load(v.f32, tile.b, builder.add(row_of_b(v, tile, position), column))
            term = builder.fptosi(v.fmul(v.fmul(other, factor), factors[r]), v.i32)
            builder.store(v.add(builder.load(sums[r]), term), sums[r])

    def add_block(start: Value) -> None:
        stop = builder.add(start, v.number(_BLOCK))
        stop = builder.select(builder.icmp_signed("<", stop, last), stop, last)
        for r in v.rows:
            builder.store(v.constant(v.i32, 0), sums[r])
        _steps(v, start, stop, add_each)
        for r in v.rows:
            total, part = builder.load(totals[r]), builder.load(sums[r])
            new = v.add(total, part)
            # The sum has overflowed if its sign differs from the signs of both numbers.
            signs = v.and_(v.xor(new, total), v.xor(new, part))
            builder.store(v.or_(builder.load(overflow), signs), overflow)
            builder.store(new, totals[r])

    v.loop(first, last, _BLOCK, add_block)
    overflows = builder.bitcast(v.compare("<", builder.load(overflow), 0), ir.IntType(v.count))
    fits = builder.icmp_unsigned("==", overflows, ir.Constant(overflows.type, 0))
    with builder.if_then(fits, likely=True):
        # The highest bits of a 32-bit number, as many as the significand of the result has.
        mask = v.narrow(builder.ashr(p.mask, v.number(52 - 31)))
        for r in v.rows:
            total = builder.load(totals[r])
            # Compute 2**(E - F) from the bits of 2**(F - E).
            power = builder.bitcast(v.sub(254 << 23, builder.bitcast(scales[r], v.i32)), v.f32)
            if kind.bits == 16:
                value = v.fmul(builder.sitofp(total, v.f64), builder.fpext(power, v.f64))
                v.store(_to_nearest_half(v, value), tile.sums, at[r])
            else:
                v.store(v.fmul(_truncated(v, total, mask), power), tile.sums, at[r])
    return fits


def _truncated(v: Strip, total: Value, mask: Value) -> Value:
    """Return 32-bit integers as f32, truncated to the significant bits in `mask`."""
    magnitude = v.select(v.compare("<", total, 0), v.sub(0, total), total)
    zeros = v.builder.call(v.function("ctlz", total.type, I1), [v.or_(magnitude, 1), ir.Constant(I1, 0)])
    # The conversion takes 2**31 for -2**31, whose sign is replaced as well.
    value = v.builder.sitofp(v.and_(magnitude, v.lshr(mask, zeros)), v.f32)
    bits = v.and_(v.builder.bitcast(value, v.i32), 0x7FFFFFFF)
    return v.builder.bitcast(v.or_(bits, v.and_(total, -1 << 31)), v.f32)


def _emit_add_wide(builder: ir.IRBuilder, kind: Kind, tile: Tile, first: Value, last: Value, column: Value) -> None:
    """Add any products in f64.

    The range of f64 includes all products. Its additions propagate infinities and NaNs.
    """
    width = kind.width
    v = Strip(builder, width, 8)
    p = v.parameters(tile.parameters)
    mask, fraction, places = (v.splat(each, v.count) for each in (p.mask, p.fraction, p.places))
    divided = v.splat(_divided(v, p, first), v.count)
    vectors = range(0, min(width, PART), v.count)
    scale_a, scale_b = scale_positions(v, tile, first) if kind.scaled else (first, first)

    def add_row(r: Value) -> None:
        start = builder.mul(tile.depth, r)
        base = builder.add(builder.mul(r, v.number(width)), column)
        at = {h: builder.add(base, v.number(h)) for h in vectors}
        totals = {h: cgutils.alloca_once(builder, v.f64) for h in vectors}
        shifts: dict[int, Value] = {}
        scales: dict[int, Value] = {}
        row_scale = builder.sext(v.load(I16, tile.a_scales, builder.add(scale_a, r)), I64) if kind.scaled else None
        for h in vectors:
            top = builder.sext(v.load(ir.VectorType(I16, v.count), tile.tops, at[h]), v.i64)
            # Any finite scale keeps infinities and NaNs.
            shifts[h] = v.sub(fraction, v.select(v.compare(">", top, _FAR), 0, top))
            scales[h] = v.power(shifts[h])
            addend = v.fmul(builder.fpext(v.load(v.f32, tile.sums, at[h]), v.f64), v.power(v.sub(shifts[h], divided)))
            builder.store(v.fadd(v.call("trunc", addend), 0.0), totals[h])  # not -0
            if kind.scaled:
                place = builder.add(scale_b, builder.add(column, v.number(h)))
                others = v.load(ir.VectorType(I16, v.count), tile.b_scales, place)
                exponents = v.add(builder.sext(others, v.i64), v.splat(row_scale, v.count))
                is_nan = v.compare(">", exponents, _LEAST_NAN_SCALE)
                scales[h] = v.select(is_nan, v.constant(v.f64, float("nan")), v.power(v.add(shifts[h], exponents)))

        def add_each(k: Value) -> None:
            position = builder.add(start, k)
            factor = v.splat(v.load(F64_TYPE, tile.a_wide, position), v.count)
            row = row_of_b(v, tile, position) if kind.sparse else builder.mul(k, v.number(width))
            for h in vectors:
                other = v.load(v.f64, tile.b_wide, builder.add(builder.add(row, column), v.number(h)))
                term = v.call("trunc", v.fmul(v.fmul(other, factor), scales[h]))
                builder.store(v.fadd(builder.load(totals[h]), term), totals[h])

        _steps(v, first, last, add_each)
        for h in vectors:
            value = v.fmul(builder.load(totals[h]), v.power(builder.neg(shifts[h])))
            value = _to_nearest_half(v, value) if kind.bits == 16 else toward_zero(v, value, mask, places)
            v.store(value, tile.sums, at[h])

    v.loop(0, len(v.rows), 1, add_row)


def toward_zero(v: Strip, value: Value, mask: Value, places: Value) -> Value:
    """Truncate f64 values, and return them as f32. `Parameters` describes `mask` and `places`."""
    steps = v.fadd(v.call("trunc", v.fmul(value, v.power(places))), 0.0)  # not -0
    is_subnormal = v.builder.fcmp_ordered("<", v.call("fabs", value), v.constant(v.f64, 2.0**-126))
    subnormal = v.fmul(steps, v.power(v.builder.neg(places)))
    value = v.select(is_subnormal, subnormal, _masked(v, value, mask))
    return v.builder.fptrunc(value, v.f32)


def _masked(v: Strip, value: Value, mask: Value) -> Value:
    """Truncate f64 values to the bits in `mask`."""
    return v.builder.bitcast(v.and_(v.builder.bitcast(value, v.i64), mask), v.f64)


def _to_nearest_half(v: Strip, value: Value) -> Value:
    """Round f64 values to f16. Return the rounded values as f32."""
    b = v.builder
    # Adding and subtracting 1.5 * 2**52 quanta of f16 rounds to nearest even.
    power = _masked(v, value, v.constant(v.i64, 0x7FF << 52))
    magic = v.fmul(v.call("maxnum", power, v.constant(v.f64, 2.0**-14)), 1.5 * 2.0**42)
    nearest = v.fsub(v.fadd(value, magic), magic)
    is_finite = b.fcmp_ordered("<", v.call("fabs", value), v.constant(v.f64, 2.0**16))
    nearest = v.select(is_finite, nearest, value)
    beyond = b.fcmp_ordered(">", v.call("fabs", nearest), v.constant(v.f64, F16.max_finite))
    infinity = v.call("copysign", v.constant(v.f64, float("inf")), nearest)
    return b.fptrunc(v.select(beyond, infinity, nearest), v.f32)


load_addends = step_intrinsic(_emit_load_addends)
store_results = step_intrinsic(_emit_store_results)
raise_tops = step_intrinsic(_emit_raise_tops, "int64")
add_narrow = step_intrinsic(_emit_add_narrow, "boolean")
add_wide = step_intrinsic(_emit_add_wide)
