"""Sums that are not one fused step: halves, multiply-adds, f64, integers and bits."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.numerics import fused, models, reference
from warploom.numerics.models import Sum

FINITE = st.floats(-1e150, 1e150, allow_nan=False, allow_infinity=False)


def _e4m3_as_f16(byte: int) -> int:
    word = int(byte)
    magnitude = word & 0x7F
    if magnitude == 0x7F:
        return 0x7FFF
    field, mantissa = magnitude >> 3, magnitude & 7
    value = (mantissa if field == 0 else mantissa + 8) * 2.0 ** (max(field, 1) - 10)
    return int(np.float16(-value if word & 0x80 else value).view(np.uint16)) | (word & 0x80) << 8


@pytest.mark.parametrize("d_type", ["f32", "f16"])
@pytest.mark.parametrize("depth", [16, 32])
def test_fp8_without_a_unit_is_two_f16_steps_and_an_addition(d_type: str, depth: int) -> None:
    rng = np.random.default_rng(depth)
    model = models.select("sm_90", "mma", "e4m3", "e5m2", d_type)
    assert model.sum is Sum.HALVES
    a = rng.integers(0, 256, (2, 4, depth)).astype(np.uint8)
    b = rng.integers(0, 256, (2, 8, depth)).astype(np.uint8)
    a[0, :, :][a[0] & 0x7F == 0x7F] = 0x11
    b[0, :, :][b[0] & 0x7C == 0x7C] = 0x80
    kind, word = (np.float32, np.uint32) if d_type == "f32" else (np.float16, np.uint16)
    c = rng.standard_normal((2, 4, 8)).astype(kind).view(word)
    left = np.vectorize(_e4m3_as_f16)(a).astype(np.uint16)
    right = b.astype(np.uint16) << 8
    f16 = replace(model, a_type="f16", b_type="f16", sum=Sum.FUSED)
    total = np.zeros_like(c)
    for half in (0, 2):
        columns = [k for k in range(depth) if k % 4 in (half, half + 1)]
        total = reference.multiply(left[:, :, columns], right[:, :, columns], total, f16)
    want = total.view(kind) + c.view(kind)
    got = fused.multiply(a, b, c, model).view(kind)
    np.testing.assert_array_equal(got, want)
    assert set(got[np.isnan(got)].view(word)) <= {0x7FFFFFFF if d_type == "f32" else 0x7FFF}
    assert np.isnan(got).any()
    assert np.isfinite(got[0]).any()


def test_f16_at_k4_on_hopper_is_a_chain_of_multiply_adds() -> None:
    rng = np.random.default_rng(0)
    model = models.select("sm_90", "mma", "f16", "f16", "f32", k=4)
    a, b = (
        (rng.standard_normal((3, 8, 4)) * 2.0 ** rng.integers(-9, 9, (3, 8, 4))).astype(np.float16)
        for _ in "ab"
    )
    c = rng.standard_normal((3, 8, 8)).astype(np.float32)
    got = fused.multiply(a.view(np.uint16), b.view(np.uint16), c.view(np.uint32), model).view(np.float32)
    for g, m, n in np.ndindex(3, 8, 8):
        total = Fraction(0)
        for k in range(4):
            exact = total + Fraction(float(a[g, m, k])) * Fraction(float(b[g, n, k]))
            total = Fraction(_nearest_f32(exact))
        assert got[g, m, n] == np.float32(_nearest_f32(total)) + c[g, m, n]


@pytest.mark.parametrize("types", [("f16", "f32"), ("f32", "f16")])
def test_a_sum_between_f16_and_f32_converts_around_one_from_f32_to_f32(types: tuple[str, str]) -> None:
    c_type, d_type = types
    rng = np.random.default_rng(3)
    model = models.select("sm_90a", "wmma", "f16", "f16", d_type, c_type=c_type, k=16)
    assert model.sum is Sum.CONVERTED
    wide = models.select("sm_90a", "wmma", "f16", "f16", "f32", k=16)
    a = (rng.integers(0, 1 << 16, (2, 16, 16)) & 0x83FF).astype(np.uint16)  # subnormal, both signs
    b = rng.integers(0, 1 << 16, (2, 8, 16)).astype(np.uint16) & 0xBFFF
    c = (rng.standard_normal((2, 16, 8)) * 2.0**-20).astype(np.float32)
    given = c.astype(np.float16).view(np.uint16) if c_type == "f16" else c.view(np.uint32)
    widened = given.view(np.float16).astype(np.float32) if c_type == "f16" else c
    want = reference.multiply(a, b, widened.view(np.uint32), wide).view(np.float32)
    if d_type == "f16":
        want = want.astype(np.float16)
    for multiply in (fused.multiply, reference.multiply):
        np.testing.assert_array_equal(multiply(a, b, given, model), want.view(f"u{want.itemsize}"))


def test_f16_at_k4_with_f16_sums_keeps_the_sign_of_zero() -> None:
    model = models.select("sm_90a", "mma", "f16", "f16", "f16", k=4)
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
        model = models.select("sm_90", "mma", "f64", "f64", "f64")
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


def test_f64_reference_and_nan() -> None:
    rng = np.random.default_rng(1)
    model = models.select("sm_80", "mma", "f64", "f64", "f64")
    a, b, c = (rng.standard_normal(shape) for shape in ((2, 8, 4), (2, 8, 4), (2, 8, 8)))
    d = fused.multiply(a, b, c, model)
    for g, m, n in np.ndindex(2, 8, 8):
        assert d[g, m, n] == reference.double(a[g, m].tolist(), b[g, n].tolist(), float(c[g, m, n]))
    a[0, 0, 0] = -math.inf
    b[0, 0, 0] = 0
    assert fused.multiply(a, b, c, model).view(np.uint64)[0, 0, 0] == 0xFFF8000000000000


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
    model = models.select("sm_90", "mma", *types, "s32")
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
    np.testing.assert_array_equal(d, reference.multiply(a, b, c, model, satfinite=satfinite, index=index))


@pytest.mark.parametrize("operation", ["xor", "and"])
def test_bits_are_counted(operation: Any) -> None:
    rng = np.random.default_rng(3)
    model = models.select("sm_80", "mma", "b1", "b1", "s32", operation=operation)
    a, b = (rng.integers(0, 1 << 32, (2, 8, 8), dtype=np.uint32) for _ in "ab")
    c = rng.integers(-1000, 1000, (2, 8, 8)).astype(np.int32)
    d = fused.multiply(a, b, c, model)
    for g, m, n in np.ndindex(2, 8, 8):
        met = a[g, m] ^ b[g, n] if operation == "xor" else a[g, m] & b[g, n]
        assert d[g, m, n] == c[g, m, n] + sum(int(word).bit_count() for word in met)
