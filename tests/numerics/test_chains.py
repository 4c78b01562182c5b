"""Sums that are not fused steps, against exact fractions: multiply-adds, f64 and integers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.numerics import fused, models, spec

FINITE = st.floats(-1e150, 1e150, allow_nan=False, allow_infinity=False)


def test_f16_at_k4_on_hopper_is_a_chain_of_multiply_adds() -> None:
    rng = np.random.default_rng(0)
    model = models.select("sm_90", "warp", "f16", "f16", "f32", k=4)
    a, b = ((rng.standard_normal((3, 8, 4)) * 2.0 ** rng.integers(-9, 9, (3, 8, 4))).astype(np.float16) for _ in "ab")
    c = rng.standard_normal((3, 8, 8)).astype(np.float32)
    got = fused.multiply(a.view(np.uint16), b.view(np.uint16), c.view(np.uint32), model).view(np.float32)
    for g, m, n in np.ndindex(3, 8, 8):
        total = Fraction(0)
        for k in range(4):
            exact = total + Fraction(float(a[g, m, k])) * Fraction(float(b[g, n, k]))
            total = Fraction(_nearest_f32(exact))
        assert got[g, m, n] == np.float32(_nearest_f32(total)) + c[g, m, n]


def test_f16_at_k4_with_f16_sums_keeps_the_sign_of_zero() -> None:
    model = models.select("sm_90a", "warp", "f16", "f16", "f16", k=4)
    zero = np.full((1, 1, 4), 0x8000, np.uint16)
    one = np.full((1, 1, 4), 0x3C00, np.uint16)
    assert fused.multiply(zero, one, np.full((1, 1, 1), 0x8000, np.uint16), model).item() == 0x8000
    assert fused.multiply(zero, one, np.zeros((1, 1, 1), np.uint16), model).item() == 0


def _nearest_f32(exact: Fraction) -> float:
    """Correctly rounded to f32 (normal range), without rounding twice."""
    if exact == 0:
        return 0.0
    exponent = math.frexp(float(exact))[1]
    scale = Fraction(2) ** (24 - exponent)
    return float(round(exact * scale) / scale)


def _rounded(exact: Fraction, rounding: str) -> float:
    nearest = exact.numerator / exact.denominator
    error = Fraction(nearest) - exact
    down = rounding == "rm" or (rounding == "rz" and exact > 0)
    up = rounding == "rp" or (rounding == "rz" and exact < 0)
    if error > 0 and down:
        return math.nextafter(nearest, -math.inf)
    if error < 0 and up:
        return math.nextafter(nearest, math.inf)
    return nearest


@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
def test_f64_is_a_chain_of_fused_multiply_adds(rounding: Any) -> None:
    @settings(max_examples=40, deadline=None)
    @given(st.lists(FINITE, min_size=4, max_size=4), st.lists(FINITE, min_size=4, max_size=4), FINITE)
    def check(left: list[float], right: list[float], addend: float) -> None:
        model = models.select("sm_90", "warp", "f64", "f64", "f64")
        total = Fraction(addend)
        for x, y in zip(left, right, strict=True):
            exact = Fraction(x) * Fraction(y) + total
            if exact and abs(exact) < Fraction(1, 10**290):
                return
            total = Fraction(_rounded(exact, rounding)) if exact else exact
        a, b = np.array([[left]]), np.array([[right] * 3])
        d = fused.multiply(a, b, np.full((1, 1, 3), addend), model, rounding=rounding)
        assert [Fraction(float(x)) for x in d[0, 0]] == [total] * 3

    check()


@settings(max_examples=60, deadline=None)
@given(
    types=st.tuples(*[st.sampled_from(["s8", "u8", "s4", "u4"])] * 2),
    depth=st.sampled_from([16, 32, 64]),
    shape=st.sampled_from([(1, 8, 8), (2, 16, 8), (1, 3, 5), (1, 64, 16), (3, 16, 24)]),
    extreme=st.booleans(),
    satfinite=st.booleans(),
    sparse=st.booleans(),
    seed=st.integers(0, 1 << 32),
)
def test_integer_sums_wrap_or_clamp(
    types: tuple[str, str],
    depth: int,
    shape: tuple[int, int, int],
    extreme: bool,
    satfinite: bool,
    sparse: bool,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    model = models.select("sm_90", "warp", *types, "s32")
    groups, rows, columns = shape
    limits = {"s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15)}

    def elements(name: str, *shape: int) -> Any:
        low, high = limits[name]
        values = rng.choice([low, high], shape) if extreme else rng.integers(low, high + 1, shape)
        return values.astype(np.int8 if name[0] == "s" else np.uint8)

    a, b = elements(types[0], groups, rows, depth), elements(types[1], groups, columns, depth * (1 + sparse))
    c = rng.integers(-(1 << 31), 1 << 31, (groups, rows, columns)).astype(np.int32)
    c[rng.random(c.shape) < 0.3] = rng.choice([-(1 << 31), (1 << 31) - 1])
    index = rng.integers(0, 2 * depth, a.shape).astype(np.int32) if sparse else None
    d = fused.multiply(a, b, c, model, satfinite=satfinite, index=index)
    np.testing.assert_array_equal(d, spec.multiply(a, b, c, model, satfinite=satfinite, index=index))
