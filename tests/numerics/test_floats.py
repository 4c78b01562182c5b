"""f32 and f64 arithmetic against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from exact_rounding import DOUBLE, SINGLE, Grid, columns, rounded, same, sum_of_zeros
from hypothesis import given, settings

from warploom.numerics import floats

MODES = ["rn", "rz", "rm", "rp"]
TYPES = [pytest.param((8, 23), "f4", SINGLE, id="f32"), pytest.param((11, 52), "f8", DOUBLE, id="f64")]
NAN32 = 0x7FFFFFFF
NAN64 = 0xFFF8000000000000
pytestmark = pytest.mark.filterwarnings("error")


def fma_model(a: float, b: float, c: float, grid: Grid, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        with np.errstate(all="ignore"):
            # Only infinities and NaN matter here: signs stand for the finite operands.
            p = np.float64(a) * np.float64(b) if not (math.isfinite(a) and math.isfinite(b)) else np.float64(0)
            return float(p + np.float64(c)) if not (math.isfinite(p) and math.isfinite(c)) else math.nan
    product = math.copysign(1, a) * math.copysign(1, b) * 0.0 if a == 0 or b == 0 else 1.0
    return rounded(Fraction(a) * Fraction(b) + Fraction(c), grid, mode, sum_of_zeros(product, c, mode))


@pytest.mark.parametrize(("fields", "real", "grid"), TYPES)
@pytest.mark.parametrize("mode", MODES)
def test_fma_add_mul_sub_round_the_exact_value_once(fields, real, grid, mode):
    @settings(max_examples=25, deadline=None)
    @given(columns(*fields, 3))
    def check(rows):
        a, b, c = (x.view(real) for x in rows)
        fused, total = floats.fma(a, b, c, mode), floats.add(a, b, mode)
        product, difference = floats.mul(a, b, mode), floats.sub(a, b, mode)
        for i in range(len(a)):
            x, y, z = float(a[i]), float(b[i]), float(c[i])
            assert same(float(fused[i]), fma_model(x, y, z, grid, mode)), (x.hex(), y.hex(), z.hex())
            assert same(float(total[i]), fma_model(x, 1.0, y, grid, mode)), (x.hex(), y.hex())
            assert same(float(difference[i]), fma_model(x, 1.0, -y, grid, mode)), (x.hex(), y.hex())
            minus_zero = math.copysign(0.0, math.copysign(1, x) * math.copysign(1, y))
            assert same(float(product[i]), fma_model(x, y, minus_zero, grid, mode)), (x.hex(), y.hex())

    check()


@pytest.mark.parametrize(("fields", "real", "grid"), TYPES)
@pytest.mark.parametrize("mode", MODES)
def test_fma_cancels_exactly(fields, real, grid, mode):
    """The addend is the rounded product negated: the result is the rounding error itself."""

    @settings(max_examples=25, deadline=None)
    @given(columns(*fields, 2))
    def check(rows):
        a, b = (x.view(real) for x in rows)
        c = floats.mul(-a, b)
        fused = floats.fma(a, b, c, mode)
        for i in range(len(a)):
            x, y, z = float(a[i]), float(b[i]), float(c[i])
            assert same(float(fused[i]), fma_model(x, y, z, grid, mode)), (x.hex(), y.hex(), z.hex())

    check()


@pytest.mark.parametrize(("fields", "real", "grid"), TYPES)
@pytest.mark.parametrize("mode", MODES)
def test_div_and_rcp_round_the_quotient_once(fields, real, grid, mode):
    @settings(max_examples=25, deadline=None)
    @given(columns(*fields, 2))
    def check(rows):
        a, b = (x.view(real) for x in rows)
        quotient, reciprocal = floats.div(a, b, mode), floats.rcp(b, mode)
        for i in range(len(a)):
            x, y = float(a[i]), float(b[i])
            if math.isfinite(x) and math.isfinite(y) and y != 0:
                zero = math.copysign(0.0, math.copysign(1, x) * math.copysign(1, y))
                assert same(float(quotient[i]), rounded(Fraction(x) / Fraction(y), grid, mode, zero))
                assert same(float(reciprocal[i]), rounded(1 / Fraction(y), grid, mode))
            else:
                with np.errstate(all="ignore"):
                    assert same(float(quotient[i]), float(np.float64(x) / np.float64(y)))

    check()


@pytest.mark.parametrize(("fields", "real", "grid"), TYPES)
@pytest.mark.parametrize("mode", MODES)
def test_sqrt_is_the_neighbour_the_mode_asks_for(fields, real, grid, mode):
    @settings(max_examples=25, deadline=None)
    @given(columns(*fields, 1))
    def check(rows):
        a = np.abs(rows[0].view(real))
        root = floats.sqrt(a, mode)
        for x, r in zip(a, root, strict=True):
            if not np.isfinite(x) or x == 0:
                assert same(float(r), float(x))
                continue
            low, high = (Fraction(float(np.nextafter(r, r.dtype.type(v)))) for v in (0, np.inf))
            value, here = Fraction(float(x)), Fraction(float(r))
            match mode:
                case "rn":
                    assert ((here + low) / 2) ** 2 <= value <= ((here + high) / 2) ** 2
                case "rp":
                    assert low**2 < value <= here**2
                case _:
                    assert here**2 <= value < high**2

    check()


def test_sqrt_of_negative_is_nan():
    assert floats.sqrt(np.array([-1.0, -np.inf, -0.0], dtype="f4")).view("u4").tolist() == [NAN32, NAN32, 1 << 31]
    assert floats.sqrt(np.array([-1.0])).view("u8").tolist() == [NAN64]


def test_nan_results_have_fixed_bits():
    inf, one = np.array([np.inf], dtype="f4"), np.array([1], dtype="f4")
    quiet = np.array([0xFFC12345], dtype="u4").view("f4")
    for mode in MODES:
        for result in (
            floats.add(inf, -inf, mode),
            floats.sub(inf, inf, mode),
            floats.mul(inf, 0 * one, mode),
            floats.fma(inf, one, -inf, mode),
            floats.add(quiet, one, mode),
            floats.div(0 * one, 0 * one, mode),
            floats.sqrt(quiet, mode),
            floats.maximum(quiet, quiet),
            floats.negate(quiet),
            floats.absolute(quiet),
        ):
            assert result.view("u4").tolist() == [NAN32]


def test_double_nan_is_an_operand_made_quiet():
    """The order of operands, as an H200 shows it: b, then c, then a; of a quotient the dividend first."""
    one, inf = np.array([1.0]), np.array([np.inf])
    x = np.array([0x7FF0000000000123], dtype="u8").view("f8")
    y = np.array([0xFFF8000000000456], dtype="u8").view("f8")
    for mode in MODES:
        assert floats.add(one, x, mode).view("u8").tolist() == [0x7FF8000000000123]
        assert floats.add(y, x, mode).view("u8").tolist() == [0x7FF8000000000123]
        assert floats.sub(x, y, mode).view("u8").tolist() == [0xFFF8000000000456]
        assert floats.mul(x, y, mode).view("u8").tolist() == [0xFFF8000000000456]
        assert floats.fma(x, one, y, mode).view("u8").tolist() == [0xFFF8000000000456]
        assert floats.fma(one, x, y, mode).view("u8").tolist() == [0x7FF8000000000123]
        assert floats.fma(y, x, y, mode).view("u8").tolist() == [0x7FF8000000000123]
        assert floats.div(x, y, mode).view("u8").tolist() == [0x7FF8000000000123]
        assert floats.fma(one, one, y, mode).view("u8").tolist() == [0xFFF8000000000456]
        assert floats.div(one, x, mode).view("u8").tolist() == [0x7FF8000000000123]
        for invalid in (floats.add(inf, -inf, mode), floats.mul(0 * one, inf, mode), floats.div(inf, inf, mode)):
            assert invalid.view("u8").tolist() == [NAN64]
    assert floats.minimum(x, y).view("u8").tolist() == [0xFFF8000000000456]
    assert floats.maximum(y, x).view("u8").tolist() == [0x7FF8000000000123]
    both = np.concatenate([x, y, -one])
    kept = [0x7FF8000000000123, 0xFFF8000000000456]
    assert floats.negate(both).view("u8").tolist() == [*kept, 0x3FF0000000000000]
    assert floats.absolute(both).view("u8").tolist() == [*kept, 0x3FF0000000000000]


@pytest.mark.parametrize("mode", MODES)
def test_ftz_flushes_operands_and_results(mode):
    tiny = np.array([1, 0x80000001, 0x007FFFFF], dtype="u4").view("f4")
    one = np.ones(3, dtype="f4")
    zeros = [0, 1 << 31, 0]
    assert floats.mul(tiny, one, mode, ftz=True).view("u4").tolist() == zeros
    assert floats.fma(tiny, one, tiny, mode, ftz=True).view("u4").tolist()[0] == 0
    assert floats.div(tiny, one, mode, ftz=True).view("u4").tolist() == zeros
    assert floats.sqrt(np.abs(tiny), mode, ftz=True).view("u4").tolist() == [0, 0, 0]
    smallest = np.array([0x00800000, 0x80800000], dtype="u4").view("f4")
    half = np.full(2, 0.5, dtype="f4")
    assert floats.mul(smallest, half, mode, ftz=True).view("u4").tolist() == [0, 1 << 31]
    assert floats.mul(smallest, half, mode).view("u4").tolist() == [0x00400000, 0x80400000]
    least = np.array([0x00800001], dtype="u4").view("f4")
    assert floats.sub(least, smallest[:1], mode, ftz=True).view("u4").tolist() == [0]
    assert floats.sub(least, smallest[:1], mode).view("u4").tolist() == [1]


def test_ftz_rounds_to_all_24_bits_before_it_looks():
    """Rows of an H200: near the smallest normal a product rounds as if exponents went on, then is flushed."""
    a = np.array([0x21D30398, 0xA1D33F14, 0x21985D28], dtype="u4").view("f4")
    b = np.array([0x1E1B49CA, 0x1E1B1E10, 0x1E571067], dtype="u4").view("f4")
    zeros = [0, 1 << 31, 0]
    assert (floats.mul(a, b).view("u4") & 0x7FFFFFFF == 0x800000).all()
    assert floats.mul(a, b, ftz=True).view("u4").tolist() == zeros
    assert floats.fma(a, b, np.full(3, -0.0, "f4"), ftz=True).view("u4").tolist() == zeros
    below = np.array([0x18A00000, 0x1A140000], dtype="u4").view("f4")
    half = np.full(2, 0x9B000000, "u4").view("f4")
    least = np.array([0x800000, 0x800002], dtype="u4").view("f4")
    assert floats.fma(below, half, least, ftz=True).tolist() == [0, 0]
    up = np.array([0x21E69029, 0x21CA8449], dtype="u4").view("f4")
    by = np.array([0x1E0E1F20, 0x1E21CDCC], dtype="u4").view("f4")
    assert floats.mul(up, by, "rp", ftz=True).tolist() == [0, 0]
    assert floats.mul(-up, by, "rm", ftz=True).view("u4").tolist() == [1 << 31] * 2
    near = np.array([0x218C0C68], dtype="u4").view("f4"), np.array([0x608C0C69], dtype="u4").view("f4")
    assert floats.div(*near, "rp", ftz=True).tolist() == [0]
    # One that does round up to the smallest normal stays, and large operands are not mistaken.
    one = np.array([1 + 2.0**-23], dtype="f4")
    assert floats.mul(one, np.array([2.0**-126], dtype="f4"), ftz=True).view("u4").tolist() == [0x800001]
    tie = np.array([1 + 2.0**-12 + 2.0**-23], dtype="f4"), np.array([(1 - 2.0**-12) * 2.0**-63], dtype="f4")
    assert floats.mul(tie[0] * np.float32(2.0**-63), tie[1], ftz=True).view("u4").tolist() == [0x800000]
    huge = np.array([2.0**127, -(2.0**100)], dtype="f4")
    assert floats.mul(huge, np.float32(2.0**-126) + 0 * huge, ftz=True).tolist() == [2, -(2.0**-26)]
    assert floats.fma(huge, huge, -huge, ftz=True).tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("mode", MODES)
def test_sat_clamps(mode):
    x = np.array([-1.0, -0.0, 0.25, 1.0, 7.0, np.inf, np.nan, -np.inf], dtype="f4")
    zero, one = np.zeros(8, dtype="f4"), np.ones(8, dtype="f4")
    wanted = np.array([0, 0, 0.25, 1, 1, 1, 0, 0], dtype="f4").view("u4").tolist()
    assert floats.add(x, -zero, mode, sat=True).view("u4").tolist() == wanted
    assert floats.mul(x, one, mode, sat=True).view("u4").tolist() == wanted
    assert floats.fma(x, one, -zero, mode, sat=True).view("u4").tolist() == wanted
    assert floats.saturate(x.astype("f8")).tolist() == [0, 0, 0.25, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_min_max(real):
    nan = np.nan
    a = np.array([0.0, -0.0, 1, nan, nan, -2, np.inf, -np.inf], dtype=real)
    b = np.array([-0.0, 0.0, 2, 5, nan, -3, nan, 1], dtype=real)
    low, high = floats.minimum(a, b), floats.maximum(a, b)
    for got, wanted in zip(low, [-0.0, -0.0, 1, 5, nan, -3, np.inf, -np.inf], strict=True):
        assert same(float(got), float(wanted))
    for got, wanted in zip(high, [0.0, 0.0, 2, 5, nan, -2, np.inf, 1], strict=True):
        assert same(float(got), float(wanted))


def test_min_max_modifiers():
    nan = np.nan
    a = np.array([1, -4, nan, -3, -nan], dtype="f4")
    b = np.array([-2, 3, -2, -5, nan], dtype="f4")
    assert floats.maximum(a, b, xorsign_abs=True).tolist()[:4] == [-2, -4, -2, 5]
    assert floats.minimum(a, b, xorsign_abs=True).tolist()[:4] == [-1, -3, -2, 3]
    strict = floats.minimum(a, b, nan=True)
    assert strict.view("u4").tolist()[2:] == [NAN32, 0xC0A00000, NAN32]
    tiny = np.array([3], dtype="u4").view("f4")
    assert floats.maximum(tiny, -tiny, ftz=True).view("u4").tolist() == [0]
    assert floats.maximum(tiny, -tiny).view("u4").tolist() == [3]


def test_signs_and_classes():
    x = np.array([1, -0.0, np.inf, 2.0**-130, np.nan], dtype="f4")
    assert floats.copysign(np.array([-1] * 5, dtype="f4"), x)[:4].tolist() == [-1, 0, -np.inf, -(2.0**-130)]
    assert floats.negate(x, ftz=True).view("u4").tolist() == [0xBF800000, 0, 0xFF800000, 1 << 31, NAN32]
    assert floats.absolute(-x, ftz=True).view("u4").tolist() == [0x3F800000, 0, 0x7F800000, 0, NAN32]
    classes = {
        "finite": [1, 1, 0, 1, 0],
        "infinite": [0, 0, 1, 0, 0],
        "number": [1, 1, 1, 1, 0],
        "notanumber": [0, 0, 0, 0, 1],
        "normal": [1, 1, 0, 0, 0],
        "subnormal": [0, 0, 0, 1, 0],
    }
    for name, wanted in classes.items():
        assert floats.testp(name, x).astype(int).tolist() == wanted


def test_operands_broadcast():
    x = np.arange(64, dtype="f4").reshape(2, 32)
    one = np.ones((1, 1), dtype="f4")
    for mode in MODES:
        assert np.array_equal(floats.fma(x, one, one, mode), x + 1)


def test_import_does_not_load_the_compiler():
    import subprocess
    import sys

    names = ["formats", "integers", "bits", "floats", "packed", "compare", "convert", "approximate"]
    program = ";".join(f"import warploom.numerics.{n}" for n in names) + ";import sys;sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
