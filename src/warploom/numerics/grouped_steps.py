"""Steps of fused sums whose terms are exact sums of 16 products, as Numba intrinsics.

A term is the sum of a group, multiplied by the two block scales of the group. `fused_steps` describes the arguments of
the intrinsics, and `spec.t_fdpa_grouped` defines the result.
"""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportArgumentType=false

from warploom.numerics._numba import cgutils, intrinsic, ir, types
from warploom.numerics.fused_steps import Kind, Strip, Tile, row_of_b, scale_positions, step_intrinsic, toward_zero
from warploom.numerics.vectors import F32_TYPE, I8, I16, I32, I64, Value, Vectors

GROUP = 16
"""Number of products in a group."""
_MOST_GROUPS = 8
"""Number of groups in a step for which there is space."""
_NO_EXPONENT = -(1 << 20)
_FAINT = -100
"""Exponent of a group relative to E, below which all bits of the group are truncated."""
_WIDE = 8
"""Number of f64 numbers in a vector."""


def _emit_add_groups(builder: ir.IRBuilder, kind: Kind, tile: Tile, first: Value, last: Value, column: Value) -> None:
    """Add the groups from K = `first` to `last` to the sums of a tile, for `PART` columns.

    A has masks instead of exponents. The sum of a group is exact in f32, and so is its product with the significands of
    the scales.
    """
    v = Strip(builder, kind.width)
    p = v.parameters(tile.parameters)
    buffer = cgutils.alloca_once(builder, v.f32, size=ir.Constant(I32, _MOST_GROUPS * len(v.rows)))
    tops = [cgutils.alloca_once(builder, v.i32) for _ in v.rows]
    for top in tops:
        builder.store(v.constant(v.i32, _NO_EXPONENT), top)

    def slot(start: Value, r: int) -> Value:
        number = builder.mul(builder.lshr(builder.sub(start, first), v.number(4)), v.number(len(v.rows)))
        return builder.gep(buffer, [builder.add(number, v.number(r))])

    def scale(start: Value) -> tuple[list[Value], list[Value]]:
        """Return the exponents and the significands of the products of the scales of a group, for each row."""
        a, b = scale_positions(v, tile, start)
        b = builder.add(b, column)
        others = builder.sext(v.load(ir.VectorType(I16, v.count), tile.b_scales, b), v.i32)
        factors = v.load(v.f32, tile.b_factors, b)
        exponents: list[Value] = []
        significands: list[Value] = []
        for r in v.rows:
            at = builder.add(a, v.number(r))
            own = builder.sext(v.load(I16, tile.a_scales, at), I32)
            exponents.append(v.add(others, v.splat(own, v.count)))
            significands.append(v.fmul(factors, v.splat(v.load(F32_TYPE, tile.a_factors, at), v.count)))
        return exponents, significands

    def add_products(start: Value) -> None:
        sums = [v.constant(v.f32, 0.0)] * len(v.rows)
        bits = [v.constant(v.i32, 0)] * len(v.rows)
        for i in range(GROUP):
            k = builder.add(start, v.number(i))
            row = builder.add(builder.mul(k, v.number(kind.width)), column)
            shared = None if kind.sparse else v.load(v.f32, tile.b, row)
            for r in v.rows:
                at = builder.add(builder.mul(tile.depth, v.number(r)), k)
                other = shared or v.load(v.f32, tile.b, builder.add(row_of_b(v, tile, at), column))
                factor = v.splat(v.load(F32_TYPE, tile.a, at), v.count)
                sums[r] = v.call("fma", factor, other, sums[r])
                mask = v.splat(v.load(I32, tile.a_exponents, at), v.count)
                bits[r] = v.or_(bits[r], v.and_(builder.bitcast(other, v.i32), mask))
        exponents, significands = scale(start)
        for r in v.rows:
            term = v.fmul(sums[r], significands[r])
            builder.store(term, slot(start, r))
            # A group whose products cancel counts for E, unless all products or a scale are zero.
            has_products = builder.icmp_signed("!=", bits[r], v.constant(v.i32, 0))
            has_scales = builder.fcmp_unordered("!=", significands[r], v.constant(v.f32, 0.0))
            exponent = v.select(builder.and_(has_products, has_scales), exponents[r], _NO_EXPONENT)
            builder.store(v.call("smax", builder.load(tops[r]), exponent), tops[r])

    v.loop(first, last, GROUP, add_products)

    halves = range(0, v.count, min(v.count, _WIDE))
    wide = Strip(builder, kind.width, _WIDE)
    mask, places = (wide.splat(each, wide.count) for each in (p.mask, p.places))
    totals = [[cgutils.alloca_once(builder, wide.f64) for _ in halves] for _ in v.rows]
    at = [builder.add(v.number(r * kind.width), column) for r in v.rows]
    shifts: list[list[Value]] = []
    for r in v.rows:
        addend = v.load(v.f32, tile.sums, at[r])
        field = v.and_(v.lshr(builder.bitcast(addend, v.i32), 23), 255)
        exponent = v.call("smax", v.sub(field, 127), v.constant(v.i32, -126))
        is_zero = builder.fcmp_ordered("==", addend, v.constant(v.f32, 0.0))
        top = v.call("smax", builder.load(tops[r]), v.select(is_zero, _NO_EXPONENT, exponent))
        top = v.call("smax", top, v.narrow(p.emin))
        builder.store(top, tops[r])
        shift = v.sub(v.narrow(p.fraction), top)
        shifts.append([builder.sext(each, wide.i64) for each in _parts(v, shift, wide.count)])
        for total, part, own in zip(totals[r], _parts(v, addend, wide.count), shifts[r], strict=True):
            scaled = wide.fmul(builder.fpext(part, wide.f64), wide.power(own))
            builder.store(wide.fadd(wide.call("trunc", scaled), 0.0), total)  # not -0

    def add_group(start: Value) -> None:
        exponents, _ = scale(start)
        for r in v.rows:
            relative = v.call("smax", v.sub(exponents[r], builder.load(tops[r])), v.constant(v.i32, _FAINT))
            relative = v.call("smin", relative, v.constant(v.i32, 0))  # greater for groups of zeros only
            power = v.shl(v.add(relative, v.narrow(builder.add(p.fraction, v.number(127)))), 23)
            term = v.call("trunc", v.fmul(builder.load(slot(start, r)), builder.bitcast(power, v.f32)))
            for total, part in zip(totals[r], _parts(v, term, wide.count), strict=True):
                builder.store(wide.fadd(builder.load(total), builder.fpext(part, wide.f64)), total)

    v.loop(first, last, GROUP, add_group)
    for r in v.rows:
        for h, total, shift in zip(halves, totals[r], shifts[r], strict=True):
            value = wide.fmul(builder.load(total), wide.power(builder.neg(shift)))
            v.store(toward_zero(wide, value, mask, places), tile.sums, builder.add(at[r], v.number(h)))


def _parts(v: Vectors, value: Value, count: int) -> list[Value]:
    """Divide a vector into vectors of `count` lanes."""
    return [
        v.builder.shuffle_vector(
            value, ir.Constant(value.type, ir.Undefined),
            ir.Constant(ir.VectorType(I32, count), list(range(start, start + count))),
        )
        for start in range(0, value.type.count, count)
    ]  # fmt: skip


add_groups = step_intrinsic(_emit_add_groups)


@intrinsic
def decode_scales(context, codes, table, rows, count, pitch, exponents, factors):
    """Decode the block scales of rows of A or columns of B. All arguments are addresses and numbers.

    `table` is the address of `fused_fast.scale_table`. Results of the next scale along K are `pitch` elements further.

    Shapes: codes (rows, count) of u8; exponents (count, pitch) of i16; factors (count, pitch) of f32.
    """

    def generate(context, builder, signature, arguments):
        v = Vectors(builder)
        codes, table, rows, count, pitch, exponents, factors = arguments

        def decode_row(row: Value) -> None:
            def decode(number: Value) -> None:
                code = builder.zext(v.load(I8, codes, builder.add(builder.mul(row, count), number)), I64)
                target = builder.add(builder.mul(number, pitch), row)
                v.store(builder.fptosi(v.load(F32_TYPE, table, code), I16), exponents, target)
                v.store(v.load(F32_TYPE, table, builder.add(code, v.number(256))), factors, target)

            v.loop(0, count, 1, decode)

        v.loop(0, rows, 1, decode_row)
        return context.get_dummy_value()

    return types.none(*[types.int64] * 7), generate
