"""f16 and bf16 arithmetic on patterns against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from exact_rounding import BRAIN, HALF, columns, rounded, same, sum_of_zeros
from hypothesis import given, settings

from warploom.numerics import floats, packed
from warploom.numerics.formats import BF16, F16, decode, encode

TYPES = [pytest.param(F16, (5, 10), HALF, id="f16"), pytest.param(BF16, (8, 7), BRAIN, id="bf16")]
NAN = 0x7FFF
pytestmark = pytest.mark.filterwarnings("error")


def model(a, b, c, grid):
    if math.isfinite(a) and math.isfinite(b) and math.isfinite(c):
        product = math.copysign(1, a) * math.copysign(1, b) * 0.0 if a == 0 or b == 0 else 1.0
        return rounded(Fraction(a) * Fraction(b) + Fraction(c), grid, "rn", sum_of_zeros(product, c, "rn"))
    # Products of 16-bit floats do not overflow f64, so its infinities and NaN are the right ones.
    return a * b + c


@pytest.mark.parametrize(("fmt", "fields", "grid"), TYPES)
def test_arithmetic_rounds_the_exact_value_once(fmt, fields, grid):
    @settings(max_examples=60, deadline=None)
    @given(columns(*fields, 3, 32))
    def check(rows):
        a, b, c = rows
        x, y, z = (decode(r, fmt).tolist() for r in rows)
        results = {
            "fma": (packed.fma(a, b, c, fmt), [model(p, q, r, grid) for p, q, r in zip(x, y, z, strict=True)]),
            "add": (packed.add(a, b, fmt), [model(p, 1.0, q, grid) for p, q in zip(x, y, strict=True)]),
            "sub": (packed.sub(a, b, fmt), [model(p, 1.0, -q, grid) for p, q in zip(x, y, strict=True)]),
            "mul": (
                packed.mul(a, b, fmt),
                [
                    model(p, q, math.copysign(0.0, math.copysign(1, p) * math.copysign(1, q)), grid)
                    for p, q in zip(x, y, strict=True)
                ],
            ),
        }
        for name, (patterns, wanted) in results.items():
            for i, (value, w) in enumerate(zip(decode(patterns, fmt).tolist(), wanted, strict=True)):
                assert same(value, w), (name, hex(a[i]), hex(b[i]), hex(c[i]), value, w)
            assert (patterns[np.isnan(decode(patterns, fmt))] == NAN).all()

    check()


@pytest.mark.parametrize(("fmt", "fields", "grid"), TYPES)
def test_pairs_are_two_numbers(fmt, fields, grid):
    @settings(max_examples=20, deadline=None)
    @given(columns(*fields, 6, 16))
    def check(rows):
        pairs = [packed.pair(rows[i], rows[i + 3]) for i in range(3)]
        ftz = fmt is F16
        for operation, count in (
            (packed.add, 2),
            (packed.sub, 2),
            (packed.mul, 2),
            (packed.fma, 3),
            (packed.minimum, 2),
            (packed.maximum, 2),
            (packed.negate, 1),
            (packed.absolute, 1),
        ):
            for options in ({}, {"ftz": ftz}):
                whole = operation(*pairs[:count], fmt, **options)
                low = operation(*rows[:count], fmt, **options)
                high = operation(*rows[3 : 3 + count], fmt, **options)
                assert np.array_equal(whole, packed.pair(low, high))

    check()


@pytest.mark.parametrize(("fmt", "fields", "grid"), TYPES)
def test_min_max_agree_with_f32(fmt, fields, grid):
    @settings(max_examples=20, deadline=None)
    @given(columns(*fields, 2, 32))
    def check(rows):
        a, b = rows
        x, y = (decode(r, fmt).astype("f4") for r in rows)
        for half, single in ((packed.minimum, floats.minimum), (packed.maximum, floats.maximum)):
            for options in ({}, {"nan": True}, {"xorsign_abs": True}, {"nan": True, "xorsign_abs": True}):
                wanted = encode(single(x, y, **options), fmt)
                # A NaN operand beside a number is dropped; one that is returned is canonical.
                assert np.array_equal(half(a, b, fmt, **options), wanted)

    check()


@pytest.mark.parametrize("fmt", [F16, BF16])
def test_modifiers_on_every_pattern(fmt):
    codes = np.arange(1 << 16, dtype="u2")
    values = decode(codes, fmt)
    one = np.array([fmt.bias << fmt.mantissa_bits], dtype="u2")
    minus_zero = np.array([0x8000], dtype="u2")
    passed = packed.mul(codes, one, fmt)
    nan = np.isnan(values)
    assert np.array_equal(passed, np.where(nan, NAN, codes))
    relu = packed.fma(codes, one, minus_zero, fmt, relu=True)
    assert np.array_equal(relu, np.where(nan, NAN, np.where(codes >> 15, 0, codes)))
    sat = packed.add(codes, minus_zero, fmt, sat=True)
    assert np.array_equal(decode(sat, fmt), np.where(values > 0, np.minimum(values, 1), 0))
    assert not (sat >> 15).any()
    flushed = packed.mul(codes, one, fmt, ftz=True)
    tiny = np.abs(values) < 2.0**fmt.min_exponent
    assert np.array_equal(flushed, np.where(tiny, codes & 0x8000, passed))
    assert np.array_equal(packed.negate(codes, fmt), np.where(nan, NAN, codes ^ 0x8000))
    assert np.array_equal(packed.absolute(codes, fmt), np.where(nan, NAN, codes & 0x7FFF))


def test_flushed_results():
    smallest, half = np.array([0x0400], dtype="u2"), np.array([0x3800], dtype="u2")
    assert packed.mul(smallest, half, F16).tolist() == [0x0200]
    assert packed.mul(smallest, half, F16, ftz=True).tolist() == [0]
    assert packed.mul(smallest | np.uint16(0x8000), half, F16, ftz=True).tolist() == [0x8000]
    # Rows of an H200: flushed although the result would round up to the smallest normal as a subnormal.
    a, b = np.array([0x1F9E, 0x1D93], dtype="u2"), np.array([0x2033, 0x21BD], dtype="u2")
    assert packed.mul(a, b, F16).tolist() == [0x0400] * 2
    assert packed.mul(a, b, F16, ftz=True).tolist() == [0, 0]
    assert packed.fma(a, b, np.full(2, 0x8000, "u2"), F16, ftz=True).tolist() == [0, 0]


def test_bf16_fma_sees_a_tail_beyond_f64():
    """The product is halfway between two bf16; an addend 2**-130 of it decides."""
    a, b = encode(np.array([1.0078125]), BF16), encode(np.array([1.0 + 2.0**-6]), BF16)
    tail = encode(np.array([2.0**-130, -(2.0**-130)]), BF16)
    low, high = decode(packed.fma(a, b, tail, BF16), BF16).tolist()[::-1]
    exact = Fraction(1.0078125) * Fraction(1.0 + 2.0**-6)
    assert [low, high] == [
        rounded(exact - Fraction(1, 2**130), BRAIN, "rn"),
        rounded(exact + Fraction(1, 2**130), BRAIN, "rn"),
    ]
    a, b = encode(np.array([1.5]), BF16), encode(np.array([1.0 + 2.0**-7]), BF16)
    down, up = decode(packed.fma(a, b, tail[::-1], BF16), BF16).tolist()
    assert (down, up) == (1.5078125, 1.515625)


def test_f16_fma_sees_a_tail_beyond_f32():
    """1.5 * 683/512 lies halfway between two f16; the smallest addend decides, though f32 loses it."""
    a, b = encode(np.array([1.5, -1.5]), F16), encode(np.array([683 / 512]), F16)
    for tail in (2.0**-24, -(2.0**-24), 0.0):
        c = encode(np.array([tail]), F16)
        got = decode(packed.fma(a, b, c, F16), F16).tolist()
        wanted = [rounded(Fraction(s * 2049, 1024) + Fraction(tail), HALF, "rn") for s in (1, -1)]
        assert got == wanted


def test_f32_pairs_and_mixed_precision():
    x = np.array([1.5, 2.0**-140], dtype="f4").view("u8")
    y = np.array([2.5, 1.0], dtype="f4").view("u8")
    assert packed.f32x2(floats.add, x, y).view("f4").tolist() == [4.0, 1.0]
    assert packed.f32x2(floats.mul, x, y, ftz=True).view("f4").tolist() == [3.75, 0.0]
    assert packed.f32x2(floats.fma, x, y, y, rounding="rp").view("f4").tolist() == [6.25, 1 + 2.0**-23]
    a, b = encode(np.array([1.5]), F16), encode(np.array([3.0]), F16)
    assert packed.fma_mixed(a, b, np.array([2.0**-20], dtype="f4"), F16).tolist() == [4.5 + 2.0**-20]
