"""Formats against ml_dtypes and exact fractions."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact_rounding import BRAIN, HALF, Grid, columns, rounded, same
from hypothesis import given, settings

from warploom.numerics import formats
from warploom.numerics.formats import decode, encode

pytestmark = pytest.mark.filterwarnings("error")
ORACLES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
}
GRIDS = {"f16": HALF, "bf16": BRAIN, "tf32": Grid(11, -126, 127), "e5m2": Grid(3, -14, 15)}
NARROW = ["e4m3", "e3m2", "e2m3", "e2m1"]


def every_code(name: str) -> np.ndarray:
    fmt = formats.FORMATS[name]
    return np.arange(1 << fmt.bits).astype(fmt.pattern_dtype)


def with_moderate_sizes(patterns: np.ndarray) -> np.ndarray:
    """The f32 values, and their significands again with exponents that narrow formats have."""
    x = patterns.view("f4")
    with np.errstate(all="ignore"):
        return np.concatenate([x, np.ldexp(np.frexp(x)[0], patterns.astype("i4") % 40 - 26).astype("f4")])


@pytest.mark.parametrize("name", ORACLES)
def test_every_code_decodes_as_the_oracle_says(name):
    codes = every_code(name)
    with np.errstate(invalid="ignore"):
        wanted = codes.view(ORACLES[name]).astype(np.float64)
    got = decode(codes, formats.FORMATS[name])
    assert np.array_equal(got, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(wanted[~np.isnan(got)]))


@pytest.mark.parametrize("name", [*ORACLES, "tf32", "f32", "ue4m3"])
def test_encoding_undoes_decoding(name):
    fmt = formats.FORMATS[name]
    codes = every_code(name) if fmt.bits <= 16 else np.arange(0, 1 << 32, 4099 << fmt.padding).astype("u4")
    if not fmt.signed:
        codes = codes[codes <= fmt.magnitude_mask]
    values = decode(codes, fmt)
    number = ~np.isnan(values)
    for rounding in ("rn", "rz", "rm", "rp", "rna"):
        again = encode(values, fmt, rounding)
        assert np.array_equal(again[number], codes[number])
        assert (again[~number] == fmt.nan_code).all()


@pytest.mark.parametrize("name", [n for n in ORACLES if n != "ue8m0"])
def test_nearest_agrees_with_the_oracle(name):
    fmt = formats.FORMATS[name]

    @settings(max_examples=40, deadline=None)
    @given(columns(8, 23, 1, 128))
    def check(rows):
        x = with_moderate_sizes(rows[0])
        x = x[np.isfinite(x)]
        with np.errstate(all="ignore"):
            wanted = x.astype(ORACLES[name]).view(fmt.pattern_dtype)
        got = encode(x, fmt, "rn", saturate=name in NARROW)
        inside = np.abs(x) <= fmt.max_finite
        assert np.array_equal(got[inside], wanted[inside])

    check()


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp", "rna"])
def test_every_rounding_against_fractions(name, rounding):
    fmt, grid = formats.FORMATS[name], GRIDS[name]

    @settings(max_examples=15, deadline=None)
    @given(columns(8, 23, 1, 64))
    def check(rows):
        x = with_moderate_sizes(rows[0])
        got = decode(encode(x, fmt, rounding), fmt)
        for value, result in zip(x.tolist(), got.tolist(), strict=True):
            finite = np.isfinite(value)
            wanted = rounded(Fraction(value), grid, rounding, value) if finite else value
            assert same(result, wanted), (value.hex(), result)

    check()


@pytest.mark.parametrize("name", [*NARROW, "e5m2", "f16", "bf16"])
def test_saturation_relu_and_nan(name):
    fmt = formats.FORMATS[name]
    top = fmt.max_code
    x = np.array([np.inf, -np.inf, 1e39, -1e39, np.nan, -0.0, -1.0])
    minus_one = encode(np.array([-1.0]), fmt)[0]
    nan = fmt.nan_code if fmt.nan_code >= 0 else top
    sign = fmt.sign_bit
    assert encode(x, fmt, "rn", True).tolist() == [top, top | sign, top, top | sign, nan, sign, minus_one]
    assert encode(x, fmt, "rn", True, relu=True).tolist() == [top, 0, top, 0, nan, 0, 0]


def test_overflow_follows_the_rounding():
    x = np.array([1e6, -1e6])
    patterns = {r: encode(x, formats.F16, r).tolist() for r in ("rn", "rz", "rm", "rp")}
    assert patterns == {
        "rn": [0x7C00, 0xFC00],
        "rz": [0x7BFF, 0xFBFF],
        "rm": [0x7BFF, 0xFC00],
        "rp": [0x7C00, 0xFBFF],
    }


def test_powers_of_two_only():
    x = np.array([0.0, 2.0**-140, 1.0, 1.5, -3.0, 2.0**127, 2.0**127 * 1.5, np.inf, np.nan, 2.0**-127 * 1.5])
    assert encode(x, formats.UE8M0, "rz", True).tolist() == [0, 0, 127, 127, 128, 254, 254, 254, 255, 0]
    assert encode(x, formats.UE8M0, "rp", True).tolist() == [0, 0, 127, 128, 129, 254, 254, 254, 255, 1]


def test_limits_derived_from_the_table():
    limits = {
        n: (f.max_finite, 2.0 ** (f.min_exponent - f.mantissa_bits))
        for n, f in formats.FORMATS.items()
        if f.bits <= 16
    }
    for name, oracle in ORACLES.items():
        info = ml_dtypes.finfo(oracle)
        assert limits[name] == (float(info.max), float(info.smallest_subnormal))
