"""Conversions against exact fractions, ml_dtypes and Python's integers."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact_rounding import BRAIN, DOUBLE, HALF, SINGLE, Grid, columns, rounded, same
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.numerics import convert, formats, packed
from warploom.numerics.formats import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, TF32, UE8M0, decode

pytestmark = pytest.mark.filterwarnings("error")
GRIDS = {"f16": HALF, "bf16": BRAIN, "f32": SINGLE, "f64": DOUBLE, "tf32": Grid(11, -126, 127)}
ROUND_INTEGER = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
INTEGERS = list(convert.INTEGERS)


def values_of(x: np.ndarray, target: str) -> list[float]:
    return decode(x, formats.FORMATS[target]).tolist() if target in ("f16", "bf16", "tf32") else x.tolist()


@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_integer(source):
    limits = np.iinfo(convert.INTEGERS[source])
    x = np.array([limits.min, limits.max, 0, 1, limits.max // 3, limits.max - 7], dtype=convert.INTEGERS[source])
    for target, dtype in convert.INTEGERS.items():
        wanted = np.iinfo(dtype)
        span = 1 << wanted.bits
        cut = [(v - wanted.min) % span + wanted.min for v in x.tolist()]
        assert convert.convert(x, source, target).tolist() == cut
        clamped = [min(max(v, int(wanted.min)), int(wanted.max)) for v in x.tolist()]
        got = convert.convert(x, source, target, sat=True)
        assert got.dtype == dtype
        assert got.tolist() == clamped


@pytest.mark.parametrize(("source", "fields"), [("f32", (8, 23)), ("f64", (11, 52))])
@pytest.mark.parametrize("target", INTEGERS)
def test_float_to_integer(source, fields, target):
    dtype = convert.INTEGERS[target]
    limits = np.iinfo(dtype)
    near = [0.5, 1.5, -0.5, -1.5, float(limits.max), float(limits.max) + 0.5, float(limits.min) - 0.5, 2.0**62, 2.0**63]

    @settings(max_examples=8, deadline=None)
    @given(columns(*fields, 1, 32))
    def check(rows):
        x = rows[0].view(f"f{rows[0].itemsize}")
        x = np.concatenate([x, np.array(near, dtype=x.dtype), np.nextafter(np.array(near, dtype=x.dtype), 0)])
        for rounding, function in ROUND_INTEGER.items():
            got = convert.convert(x, source, target, rounding)
            assert got.dtype == dtype
            for value, result in zip(x.tolist(), got.tolist(), strict=True):
                if math.isnan(value):
                    wide = source == "f64" or limits.bits == 64
                    wanted = (int(limits.min) or 1 << (limits.bits - 1)) if wide else 0
                elif math.isinf(value):
                    wanted = int(limits.max if value > 0 else limits.min)
                else:
                    wanted = min(max(function(value), int(limits.min)), int(limits.max))
                assert result == wanted, (value.hex(), rounding)

    check()


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", ["f16", "bf16", "f32", "f64"])
def test_integer_to_float(source, target):
    dtype = convert.INTEGERS[source]
    size = dtype.itemsize

    @settings(max_examples=8, deadline=None)
    @given(st.binary(min_size=32 * size, max_size=32 * size), st.integers(0, 63))
    def check(data, shift):
        x = np.frombuffer(data, dtype=dtype)
        limits = np.iinfo(dtype)
        top = limits.bits - 2
        halfway = [(1 << top) + (1 << max(top - d, 0)) + e for d in (1, 8, 11, 24, 53) for e in (-1, 0, 1)]
        special = [limits.min, limits.max, 0, *(v for v in halfway if v <= limits.max)]
        x = np.concatenate([x, x >> (shift % limits.bits), np.array(special, dtype=dtype)])
        for rounding in ("rn", "rz", "rm", "rp"):
            got = values_of(convert.convert(x, source, target, rounding), target)
            for value, result in zip(x.tolist(), got, strict=True):
                assert same(result, rounded(Fraction(value), GRIDS[target], rounding)), (value, rounding)

    check()


@pytest.mark.parametrize("target", ["f16", "bf16", "f32", "tf32"])
@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
def test_double_to_narrower_float_rounds_once(target, rounding):
    @settings(max_examples=20, deadline=None)
    @given(columns(11, 52, 1, 64))
    def check(rows):
        x = rows[0].view("f8")
        with np.errstate(all="ignore"):
            x = np.concatenate([x, np.ldexp(np.frexp(x)[0], (rows[0] % np.uint64(300)).astype("i4") - 160)])
        got = values_of(convert.convert(x, "f64", target, rounding), target)
        for value, result in zip(x.tolist(), got, strict=True):
            wanted = rounded(Fraction(value), GRIDS[target], rounding, value) if math.isfinite(value) else value
            assert same(result, wanted), value.hex()

    check()


@pytest.mark.parametrize("fmt", [F16, BF16], ids=["f16", "bf16"])
def test_halves_round_trip(fmt):
    codes = np.arange(1 << 16, dtype="u2")
    wide = packed.float_from_half(codes, fmt)
    nan = np.isnan(wide)
    assert np.array_equal(wide[~nan].astype("f8"), decode(codes, fmt)[~nan])
    assert np.array_equal(convert.half_from_float(wide, fmt), np.where(nan, 0x7FFF, codes))
    # The machine widens bf16 by a shift and f16 by an addition.
    expected = codes[nan].astype("u4") << 16 if fmt is BF16 else np.full(int(nan.sum()), 0x7FFFFFFF)
    assert np.array_equal(wide.view("u4")[nan], expected)


@pytest.mark.parametrize(("fmt", "oracle"), [(F16, np.float16), (BF16, ml_dtypes.bfloat16)])
def test_single_to_half(fmt, oracle):
    @settings(max_examples=30, deadline=None)
    @given(columns(8, 23, 2, 128))
    def check(rows):
        high, low = (r.view("f4") for r in rows)
        with np.errstate(all="ignore"):
            high = np.concatenate([high, np.ldexp(np.frexp(high)[0], rows[0].astype("i4") % 50 - 32).astype("f4")])
            low = np.concatenate([low, np.ldexp(np.frexp(low)[0], rows[1].astype("i4") % 50 - 32).astype("f4")])
            wanted = [np.where(np.isnan(x), 0x7FFF, x.astype(oracle).view("u2")) for x in (high, low)]
        pair = convert.pair_from_floats(high, low, fmt)
        assert np.array_equal(pair >> 16, wanted[0])
        assert np.array_equal(pair & 0xFFFF, wanted[1])
        assert np.array_equal(convert.half_from_float(high, fmt), wanted[0])
        relu = np.where((wanted[0] >> 15).astype(bool), 0, wanted[0])
        assert np.array_equal(convert.half_from_float(high, fmt, relu=True), relu)
        assert np.array_equal(convert.pair_from_floats(high, low, fmt, relu=True) >> 16, relu)
        # Rounding toward zero never grows, and nearest is it or the next one out.
        cut = convert.half_from_float(high, fmt, "rz").astype("i4")
        number = ~np.isnan(high)
        step = wanted[0].astype("i4")[number] - cut[number]
        assert ((step == 0) | (step == 1)).all()
        values = decode(cut, fmt)
        assert (np.abs(values[number]) <= np.abs(high.astype("f8")[number])).all() if number.all() else True

    check()


def test_a_converted_nan_keeps_sign_and_payload():
    """As an H200 has it: the upper bits of the payload stay, made quiet, wherever one side is f64."""
    x = np.array([0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF, 0xFFF186223D0144EE, 1], dtype="u8").view("f8")
    for mode in ("rn", "rz", "rm", "rp"):
        single = convert.convert(x, "f64", "f32", mode)
        assert single.view("u4").tolist()[:3] == [0x7FC00000, 0xFFFFFFFF, 0xFFCC3111]
        assert convert.convert(x, "f64", "f16", mode).tolist()[:3] == [0x7E00, 0xFFFF, 0xFE61]
        assert convert.convert(x, "f64", "bf16", mode).tolist()[:3] == [0x7FC0, 0xFFFF, 0xFFCC]
    assert convert.convert(x, "f64", "f16", "rn", sat=True).tolist() == [0] * 4
    half = np.array([0x7F5A, 0x7C01, 0xFCCD, 0x3C00], dtype="u2")
    double = [0x7FFD680000000000, 0x7FF8040000000000, 0xFFFB340000000000, 0x3FF0000000000000]
    assert convert.convert(half, "f16", "f64").view("u8").tolist() == double
    assert convert.convert(half, "f16", "f64", sat=True).tolist() == [0, 0, 0, 1]
    f = np.array([0xFFFFFFFF, 0x7F800001, 0xFFC07E9F, 1], dtype="u4").view("f4")
    assert convert.convert(f, "f32", "f32").view("u4").tolist() == f.view("u4").tolist()
    assert convert.convert(f, "f32", "f32", ftz=True).view("u4").tolist() == [0x7FFFFFFF] * 3 + [0]
    assert convert.convert(f, "f32", "f64", ftz=True).view("u8").tolist() == [0x7FFFFFFFE0000000] * 3 + [0]
    assert convert.convert(f, "f32", "f64").view("u8").tolist()[:3] == [
        0xFFFFFFFFE0000000,
        0x7FF8000020000000,
        0xFFF80FD3E0000000,
    ]
    b = np.array([0x7F8C, 0xFFFF, 0x005D, 0x8017, 0x3F80], dtype="u2")
    assert convert.convert(b, "bf16", "f32").view("u4").tolist() == (b.astype("u4") << 16).tolist()
    flushed = [0x7FFFFFFF, 0x7FFFFFFF, 0, 0x80000000, 0x3F800000]
    for mode in ("", "rn", "rz"):
        assert convert.convert(b, "bf16", "f32", mode, ftz=True).view("u4").tolist() == flushed


def test_f64_is_flushed_once_rounded_to_24_bits():
    """Below the smallest normal f32: the largest number of 24 bits is flushed, one that rounds up is not."""
    x = np.array([0x380FFFFFE0000000, 0x380FFFFFFFFFFFFF, 0xB80FFFFFFFFFFFFF], dtype="u8").view("f8")
    assert convert.convert(x, "f64", "f32", "rn", ftz=True).view("u4").tolist() == [0, 0x800000, 0x80800000]
    assert convert.convert(x, "f64", "f32", "rz", ftz=True).view("u4").tolist() == [0, 0, 1 << 31]


@pytest.mark.parametrize("fmt", [E4M3, E5M2, E3M2, E2M3, E2M1, UE8M0], ids=lambda f: f.name)
def test_narrow_pairs_round_f32_once(fmt):
    modes = ("rz", "rp") if fmt is UE8M0 else ("rn",)

    @settings(max_examples=30, deadline=None)
    @given(columns(8, 23, 2, 64))
    def check(rows):
        with np.errstate(all="ignore"):
            near = [np.ldexp(np.frexp(r.view("f4"))[0], r.astype("i4") % 30 - 15).astype("f4") for r in rows]
        for high, low in (near, [r.view("f4") for r in rows]):
            for mode in modes:
                for relu in (False, True):
                    upper, lower = (formats.encode(x, fmt, mode, True, relu) for x in (high, low))
                    shift = 4 if fmt is E2M1 else 8
                    wanted = (upper.astype("u2") << shift) | lower
                    assert np.array_equal(convert.narrow_pair(high, low, fmt, mode, relu), wanted)

    check()


@pytest.mark.parametrize("fmt", [F16, BF16], ids=lambda f: f.name)
@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_single_to_half_in_directed_modes(fmt, mode):
    @settings(max_examples=30, deadline=None)
    @given(columns(8, 23, 1, 128))
    def check(rows):
        x = rows[0].view("f4")
        with np.errstate(all="ignore"):
            x = np.concatenate([x, np.ldexp(np.frexp(x)[0], rows[0].astype("i4") % 50 - 32).astype("f4")])
        for relu in (False, True):
            wanted = formats.encode(x, fmt, mode, False, relu)
            assert np.array_equal(convert.half_from_float(x, fmt, mode, relu), wanted)

    check()


def test_half_saturation():
    x = np.array([1e30, -np.inf, np.nan, 70000], dtype="f4")
    assert convert.half_from_float(x, F16, satfinite=True).tolist() == [0x7BFF, 0xFBFF, 0x7FFF, 0x7BFF]
    assert convert.convert(x, "f32", "f16", "rn", sat=True).tolist() == [0x3C00, 0, 0, 0x3C00]
    zero = np.zeros(4, dtype="f4")
    pair = convert.pair_from_floats(x, zero, F16, "rn", relu=True, satfinite=True)
    assert (pair >> 16).tolist() == [0x7BFF, 0, 0x7FFF, 0x7BFF]


def test_tf32():
    x = np.array([0x3F801000, 0x3F800FFF, 0xBF801000, 0x7F7FFFFF, 0x7F800000, 0x7FFFFFFF, 0x7F800001], dtype="u4")
    f = x.view("f4")
    assert [hex(v) for v in convert.tf32_from_float(f)] == [
        "0x3f802000",
        "0x3f800000",
        "0xbf802000",
        "0x7f800000",
        "0x7f800000",
        "0x7fffe000",
        "0x7f800000",
    ]
    limited = convert.tf32_from_float(f, satfinite=True)
    assert [hex(v) for v in limited[3:5]] == ["0x7f7fe000", "0x7f7fe000"]
    assert convert.tf32_from_float(f, relu=True)[2] == 0
    assert [hex(v) for v in convert.tf32_from_float(f, "rn")[:4]] == [
        "0x3f800000",
        "0x3f800000",
        "0xbf800000",
        "0x7f800000",
    ]
    assert convert.tf32_from_float(f, "rz")[:4].tolist() == [0x3F800000, 0x3F800000, 0xBF800000, 0x7F7FE000]
    assert convert.tf32_from_float(f, "rn", satfinite=True)[3:6].tolist() == [0x7F7FE000, 0x7F7FE000, 0x7FFFE000]
    for mode in ("rn", "rz"):
        assert convert.tf32_from_float(f, mode)[5:].tolist() == [0x7FFFE000] * 2
    assert (decode(convert.tf32_from_float(f), TF32)[:3] == [1 + 2.0**-10, 1, -1 - 2.0**-10]).all()


@pytest.mark.parametrize("fmt", [E4M3, E5M2, E3M2, E2M3, E2M1], ids=lambda f: f.name)
def test_narrow_pairs(fmt):
    codes = np.arange(1 << fmt.bits, dtype="u1")
    pairs = (codes.astype("u2") << (4 if fmt is E2M1 else 8)) | codes[::-1]
    halves = convert.halves_from_narrow_pair(pairs, fmt)
    values = decode(codes, fmt)
    high, low = decode((halves >> 16).astype("u2"), F16), decode(halves.astype("u2"), F16)
    assert np.array_equal(high, values, equal_nan=True)
    assert np.array_equal(low, values[::-1], equal_nan=True)
    # Back again, from f32 with the first operand on top, and from the pair of halves.
    canonical = np.where(np.isnan(values), fmt.nan_code, codes) if fmt.specials != "none" else codes
    if fmt.specials == "ieee":
        canonical = np.where(np.isinf(values), (codes & 0x80) | fmt.max_code, canonical)
    wanted = (canonical.astype("u2") << (4 if fmt is E2M1 else 8)) | canonical[::-1]
    f32 = values.astype("f4")
    assert convert.narrow_pair(f32, f32[::-1], fmt).tolist() == wanted.tolist()
    assert convert.narrow_pair_from_halves(halves, F16, fmt).tolist() == wanted.tolist()
    relu = convert.halves_from_narrow_pair(pairs, fmt, relu=True) >> 16
    assert np.array_equal(relu, np.where(np.signbit(values) & ~np.isnan(values), 0, halves >> 16))
    assert convert.narrow_pair(f32, f32, fmt).dtype == (np.uint8 if fmt is E2M1 else np.uint16)


def test_scale_pairs():
    x = np.array([1.5, 2.0**-130], dtype="f4")
    y = np.array([np.nan, 3.0], dtype="f4")
    assert convert.narrow_pair(x, y, UE8M0, "rz").tolist() == [0x7FFF, 0x0080]
    assert convert.narrow_pair(x, y, UE8M0, "rp").tolist() == [0x80FF, 0x0081]
    back = convert.halves_from_narrow_pair(np.array([0x7FFF, 0x0080], dtype="u2"), UE8M0, BF16)
    assert back.tolist() == [0x3F807FFF, 0x00404000]


def test_integral_and_saturating_floats():
    x = np.array([2.5, -0.25, 1e30, np.nan, 0.75, 2.0**-130], dtype="f4")
    assert convert.convert(x, "f32", "f32", "rni").view("u4").tolist()[:4] == [
        0x40000000,
        0x80000000,
        int(np.float32(1e30).view("u4")),
        0x7FFFFFFF,
    ]
    assert convert.convert(x, "f32", "f32", "rpi").tolist()[-1] == 1.0
    assert convert.convert(x, "f32", "f32", "rpi", ftz=True).tolist()[-1] == 0.0
    assert convert.convert(x, "f32", "f32", sat=True).tolist() == [1, 0, 1, 0, 0.75, 2.0**-130]
    assert convert.convert(x, "f32", "s32", "rpi", ftz=True).tolist()[-1] == 0
    assert convert.convert(np.array([2.5, -0.25]), "f64", "f64", "rmi").tolist() == [2, -1]
    codes = np.array([0x4100, 0xB400], dtype="u2")
    assert convert.convert(codes, "f16", "f16", "rni").tolist() == [0x4000, 0x8000]
    assert convert.convert(codes, "f16", "s32", "rmi").tolist() == [2, -1]
    assert convert.convert(np.array([2.0**-130, 1.5]), "f64", "f32", "rn", ftz=True).tolist() == [0, 1.5]
    assert convert.convert(codes, "f16", "f64").tolist() == [2.5, -0.25]
    assert convert.convert(np.array([-3, 9], dtype="i4"), "s32", "f16", "rn", sat=True).tolist() == [0, 0x3C00]


@pytest.mark.parametrize(("rounding", "pattern", "wanted"), [("rm", 0x80000001, 0x8001), ("rp", 1, 1)])
def test_narrowing_to_f16_reads_subnormals_even_with_ftz(rounding, pattern, wanted):
    value = np.array([pattern], "u4").view("f4")
    assert convert.convert(value, "f32", "f16", rounding, ftz=True).view("u2").item() == wanted


def _stochastic(x: float, bits: int, width: int, fmt: formats.Format) -> float:
    """Round |x| up if its distance from the lower number, plus the random fraction, is at least one unit."""
    if math.isnan(x):
        return math.nan if fmt.specials != "none" else fmt.max_finite
    magnitude = abs(x)
    if math.isinf(magnitude):
        return math.copysign(math.inf if fmt.specials == "ieee" else fmt.max_finite, x)
    exact = Fraction(magnitude)
    exponent = max(math.frexp(magnitude)[1] - 1, fmt.min_exponent) if magnitude else fmt.min_exponent
    unit = Fraction(2) ** (exponent - fmt.mantissa_bits)
    units = math.floor(exact / unit + Fraction(bits, 1 << width))
    result = units * unit
    if result > Fraction(fmt.max_finite):
        return math.copysign(math.inf if fmt.specials == "ieee" else fmt.max_finite, x)
    return math.copysign(float(result), x)


def _reversed_bits(x: int) -> int:
    return int(f"{x:016b}"[::-1], 2)


@given(columns(8, 23, 4), st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32))
def test_stochastic_rounding_adds_the_random_fraction(patterns, random):
    values = [np.array(each, np.uint32).view(np.float32) for each in patterns]
    bits = np.array(random, np.uint32)
    for fmt, width in ((F16, 13), (BF16, 16)):
        pair = convert.stochastic_pair(values[0], values[1], bits, fmt)
        for shift, x in ((16, values[0]), (0, values[1])):
            found = decode((pair >> shift & 0xFFFF).astype(np.uint16), fmt)
            expected = [_stochastic(float(v), r >> shift & (1 << width) - 1, width, fmt) for v, r in zip(x, random)]
            assert all(map(same, found.tolist(), expected))
    for fmt in (E4M3, E5M2, E3M2, E2M3, E2M1):
        four = convert.stochastic_quadruple(values, bits, fmt)
        step = 4 if fmt is E2M1 else 8
        for k, x in enumerate(values):
            codes = (four >> (3 - k) * step & (1 << step) - 1).astype(np.uint8)
            for v, r, code in zip(x.tolist(), random, codes.tolist()):
                if fmt is E2M1:
                    part, width = r >> (24, 8, 16, 0)[k] & 0xFF, 8
                else:
                    half = r >> (16 if k < 2 else 0) & 0xFFFF
                    part, width = _reversed_bits(half) if k % 2 == 0 else half, 16
                wanted = _stochastic(v, part, width, fmt)
                if math.isinf(wanted) and not math.isnan(v):
                    wanted = math.copysign(fmt.max_finite, wanted)  # .satfinite
                assert same(float(decode(np.array([code], np.uint8), fmt)[0]), wanted), (fmt.name, v, part)


@pytest.mark.parametrize("scales", [None, 0x7F7F, 0x7E80, 0x0001, 0xFEFF])
def test_fixed_point(scales):
    """All pairs of s2f6 numbers keep their values in bf16, and bf16 numbers round to the nearest 64th."""
    pattern = np.arange(1 << 16)
    packed_scales = None if scales is None else np.full(len(pattern), scales, np.uint16)
    low_scale, high_scale = ((0x7F7F if scales is None else scales) >> shift & 0xFF for shift in (0, 8))
    wide = convert.halves_from_fixed_pair(pattern.astype(np.uint16), packed_scales)
    narrow_source = formats.decode(pattern.astype(np.uint16), BF16).astype(np.float32)
    pairs = convert.fixed_pair(narrow_source, narrow_source, packed_scales)
    for shift, scale in ((0, low_scale), (8, high_scale)):
        number = (pattern >> shift & 0xFF).astype(np.uint8).view(np.int8).astype(np.float64) / 64
        factor = math.nan if scale == 0xFF else 2.0 ** (scale - 127)
        found = formats.decode((wide >> 2 * shift & 0xFFFF).astype(np.uint16), BF16)
        expected = number * factor
        expected[expected >= 2.0**128] = math.inf
        expected[expected <= -(2.0**128)] = -math.inf
        np.testing.assert_array_equal(found, expected)
        for x, got in zip(narrow_source[::97].tolist(), (pairs >> shift & 0xFF).astype(np.uint8)[::97].tolist()):
            if math.isnan(x) or math.isnan(factor):
                units = 127
            elif math.isinf(x):
                units = 127 if x > 0 else -128
            else:
                units = min(max(round(Fraction(x) / Fraction(factor) * 64), -128), 127)
            assert got == units % 256
