"""Approximations: the manual's bounds, and the special cases exactly."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from exact_rounding import columns
from hypothesis import given, settings

from warploom.numerics import approximate
from warploom.numerics.formats import BF16, F16, FORMATS, decode

pytestmark = pytest.mark.filterwarnings("error")
NAN = 0x7FFFFFFF
INF = 0x7F800000
MINUS = 0x80000000


def bits_of(x):
    return [int(v) for v in np.asarray(x, dtype="f4").view("u4")]


def single(*patterns):
    return np.array(patterns, dtype="u4").view("f4")


def relative(got, wanted):
    return np.abs(got.astype("f8") - wanted) / np.abs(wanted)


SPECIALS = single(0, MINUS, 1, MINUS + 1, INF, MINUS + INF, 0x7FC00001)


@pytest.mark.parametrize(
    ("function", "kept", "flushed"),
    [
        (approximate.ex2, [0x3F800000] * 4 + [INF, 0, NAN], [0x3F800000] * 4 + [INF, 0, NAN]),
        (approximate.lg2, [MINUS + INF] * 2 + [0xC3150000, NAN, INF, NAN, NAN], [MINUS + INF] * 4 + [INF, NAN, NAN]),
        (
            approximate.rcp,
            [INF, MINUS + INF, INF, MINUS + INF, 0, MINUS, NAN],
            [INF, MINUS + INF] * 2 + [0, MINUS, NAN],
        ),
        (approximate.sqrt, [0, MINUS, 0x1A3504F3, NAN, INF, NAN, NAN], [0, MINUS, 0, MINUS, INF, NAN, NAN]),
        (approximate.rsqrt, [INF, MINUS + INF, 0x64B504F2, NAN, 0, NAN, NAN], [INF, MINUS + INF] * 2 + [0, NAN, NAN]),
        (approximate.sin, [0, MINUS, 0, MINUS, NAN, NAN, NAN], [0, MINUS, 0, MINUS, NAN, NAN, NAN]),
        (approximate.cos, [0x3F800000] * 4 + [NAN] * 3, [0x3F800000] * 4 + [NAN] * 3),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_special_values(function, kept, flushed):
    assert [hex(v) for v in bits_of(function(SPECIALS))] == [hex(v) for v in kept]
    assert [hex(v) for v in bits_of(function(SPECIALS, ftz=True))] == [hex(v) for v in flushed]


@pytest.mark.parametrize("name", ["ex2", "lg2", "rcp", "sqrt", "rsqrt", "sin", "cos", "tanh"])
def test_signalling_nan_and_neighbours(name):
    """The NaN of one lane is silent and changes no other, whichever path the others take."""
    x = single(0x7F800001, 0xFFBFFFFF, 0xC3000000, 0x00000001, 0x7F000001, 0x3F800000)
    function = getattr(approximate, name)
    for options in ({},) if name == "tanh" else ({}, {"ftz": True}):
        got = bits_of(function(x, **options))
        assert got[:2] == [NAN, NAN]
        assert got == [bits_of(function(x[i : i + 1], **options))[0] for i in range(6)]


def test_large_angles_follow_the_turns_cut_to_f32():
    large = np.array([2.0**30], dtype="f4")
    turns = float(np.float32(0.15915494)) * 2.0**30
    assert approximate.sin(large).tolist() == [float(np.float32(np.sin(2 * np.pi * (turns - np.rint(turns)))))]


def test_tanh_special_values():
    assert bits_of(approximate.tanh(SPECIALS)) == [0, MINUS, 1, MINUS + 1, 0x3F800000, 0xBF800000, NAN]


def normal(rows):
    x = rows[0].view("f4")
    return x[np.isfinite(x) & (np.abs(x) >= 2.0**-126)]


@settings(max_examples=40, deadline=None)
@given(columns(8, 23, 1, 128))
def test_bounds(rows):
    x = normal(rows)
    positive, wide = np.abs(x), x.astype("f8")
    inside = x[(np.abs(x) > 2.0**-126) & (np.abs(x) < 2.0**126)]
    assert (relative(approximate.rcp(inside, ftz=True), 1 / inside.astype("f8")) <= 2.0**-23).all()
    assert (relative(approximate.sqrt(positive), np.sqrt(np.abs(wide))) <= 2.0**-23).all()
    assert (relative(approximate.rsqrt(positive), 1 / np.sqrt(np.abs(wide))) <= 2.0**-22.9).all()
    logs = np.log2(np.abs(wide))
    assert (np.abs(approximate.lg2(positive) - logs) <= 2.0**-22 * np.maximum(1, np.abs(logs))).all()
    moderate = x[np.abs(x) < 120]
    assert (relative(approximate.ex2(moderate), np.exp2(moderate.astype("f8"))) <= 2.0**-22).all()
    angles = x[np.abs(x) < np.pi]
    assert (np.abs(approximate.sin(angles) - np.sin(angles.astype("f8"))) <= 2.0**-20.5).all()
    assert (np.abs(approximate.cos(angles) - np.cos(angles.astype("f8"))) <= 2.0**-20.5).all()
    assert (relative(approximate.tanh(angles), np.tanh(angles.astype("f8"))) <= 2.0**-11).all()


@settings(max_examples=40, deadline=None)
@given(columns(8, 23, 2, 128))
def test_quotients(rows):
    a, b = (r.view("f4") for r in rows)
    with np.errstate(all="ignore"):
        wanted = a.astype("f8") / b.astype("f8")
    fine = (
        np.isfinite(a)
        & np.isfinite(b)
        & (np.abs(wanted) >= 2.0**-126)
        & (np.abs(wanted) < 2.0**127)
        & (np.abs(a) >= 2.0**-100)
        & (b != 0)
    )
    full = approximate.div_full(a, b)
    assert (relative(full[fine], wanted[fine]) <= 2 * 2.0**-23).all()
    usual = fine & (np.abs(b) >= 2.0**-126) & (np.abs(b) <= 2.0**126)
    assert (relative(approximate.div(a, b)[usual], wanted[usual]) <= 2 * 2.0**-23).all()


def test_large_and_small_divisors():
    large = np.array([2.0**127, -(2.0**127)], dtype="f4")
    assert bits_of(approximate.div(np.array([3, np.inf], dtype="f4"), large)) == [0, NAN]
    assert approximate.div_full(np.array([2.0**127, 2.0**126], dtype="f4"), large).tolist() == [1, -0.5]
    small = np.full(2, 2.0**-130, dtype="f4")
    one = np.array([2.0**-20, -1.0], dtype="f4")
    assert approximate.div_full(one, small).tolist() == [2.0**110, -np.inf]
    assert approximate.div_full(one, small, ftz=True).tolist() == [np.inf, -np.inf]
    assert approximate.div(one, small).tolist() == [2.0**110, -np.inf]
    # One unusual divisor does not change what its neighbours get.
    a, b = np.array([7, 7], dtype="f4"), np.array([3, 2.0**-130], dtype="f4")
    assert approximate.div_full(a, b)[0] == approximate.div_full(a[:1], b[:1])[0]
    assert approximate.rcp(b)[0] == approximate.rcp(b[:1])[0]


def test_ex2_reaches_subnormals_unless_flushed():
    x = np.array([-126, -128, -149, -150, 128, 127], dtype="f4")
    assert approximate.ex2(x).tolist() == [2.0**-126, 2.0**-128, 2.0**-149, 0, np.inf, 2.0**127]
    assert approximate.ex2(x, ftz=True).tolist() == [2.0**-126, 0, 0, 0, np.inf, 2.0**127]


def test_gross_double_forms():
    x = np.array([3.0, -(2.0**-1060), 0.0, -np.inf, np.nan, 2.0**1023, -4.0])
    got = approximate.rcp64(x).view("u8")
    assert (got & np.uint64(0xFFFFFFFF)).tolist() == [0] * 7
    assert [hex(v >> 32) for v in got.tolist()] == [
        "0x3fd55555",
        "0xfff00000",
        "0x7ff00000",
        "0x80000000",
        "0x7fffffff",
        "0x0",
        "0xbfd00000",
    ]
    roots = approximate.rsqrt(x, ftz=True).view("u8")
    assert [hex(v >> 32) for v in roots.tolist()[:3]] == ["0x3fe279a7", "0xfff00000", "0x7ff00000"]
    assert (np.abs(approximate.rsqrt(np.array([3.0, 2.0**-1070])) - [3**-0.5, 2.0**535]) <= [2.0**-52, 0]).all()
    assert np.isnan(approximate.rsqrt(np.array([-1.0])))[0]


# The manual's largest errors, as powers of two, of ex2 relative, of the tangent absolute.
HALF_BOUNDS = {("ex2", "f16"): -9.9, ("ex2", "bf16"): -7, ("tanh", "f16"): -10.987, ("tanh", "bf16"): -8}


@pytest.mark.parametrize("fmt", [F16, BF16], ids=["f16", "bf16"])
def test_halves(fmt):
    codes = np.arange(1 << 16, dtype="u2")
    values = decode(codes, fmt)
    with np.errstate(all="ignore"):
        exact = {"ex2": np.exp2(values), "tanh": np.tanh(values)}
    for name, wanted in exact.items():
        function = getattr(approximate, f"{name}_half")
        got = function(codes, fmt)
        assert (got[np.isnan(values)] == 0x7FFF).all()
        result = decode(got, fmt)
        fine = np.isfinite(values) & (np.abs(wanted) <= fmt.max_finite) & (np.abs(wanted) >= 2.0**fmt.min_exponent)
        error = np.abs(result[fine] - wanted[fine])
        bound = (np.abs(wanted[fine]) if name == "ex2" else 1.0) * 2.0 ** HALF_BOUNDS[name, fmt.name]
        # An H200 cuts a result that is itself approximate, which exceeds the bound by little.
        assert (error <= bound + 2.0**-16 * np.abs(wanted[fine])).all()
        pair = codes.astype("u4") | (codes[::-1].astype("u4") << np.uint32(16))
        assert np.array_equal(function(pair, fmt), got.astype("u4") | (got[::-1].astype("u4") << np.uint32(16)))


def test_half_results_that_are_subnormal():
    """f16 keeps them, bf16 does not."""
    low = np.array([0xCD00], dtype="u2"), np.array([0xC300], dtype="u2")
    assert decode(approximate.ex2_half(low[0], F16), F16).tolist() == [2.0**-20]
    assert approximate.ex2_half(low[0], F16, ftz=True).tolist() == [0]
    assert approximate.ex2_half(low[1], BF16, ftz=True).tolist() == [0]
    for fmt in (F16, BF16):
        tiny = np.array([1, 0x8001], dtype="u2")
        assert decode(approximate.ex2_half(tiny, fmt, ftz=True), fmt).tolist() == [1, 1]


def test_whole_powers_are_exact():
    x = np.arange(-126, 128, dtype="f4")
    powers = np.ldexp(np.float32(1), x.astype("i4"))
    assert np.array_equal(approximate.ex2(x, ftz=True), powers)
    assert np.array_equal(approximate.lg2(powers)[126:], x[126:])


EVIDENCE = Path(__file__).parents[1] / "evidence" / "approximate" / "h200.npz"
with np.load(EVIDENCE) as _archive:
    H200 = dict(_archive)


def modelled(instruction):
    name, _, *rest = instruction.split(".")
    ftz, kind = "ftz" in rest, rest[-1]
    if kind == "f64":
        x = H200["x64"].view("f8")
        return (approximate.rcp64(x) if name == "rcp" else approximate.rsqrt(x, ftz=ftz)).view("u8")
    if kind == "f32":
        x = H200["x32"].view("f4")
        return (approximate.tanh(x) if name == "tanh" else getattr(approximate, name)(x, ftz=ftz)).view("u4")
    options = {"ftz": True} if ftz else {}
    return getattr(approximate, f"{name}_half")(np.arange(1 << 16, dtype="u2"), FORMATS[kind], **options)


@pytest.mark.parametrize("instruction", sorted(name for name in H200 if "approx" in name))
def test_outputs_of_an_h200(instruction):
    """The sample that `tests/evidence/approximate` describes, bit for bit."""
    np.testing.assert_array_equal(modelled(instruction), H200[instruction])


BINADES = [
    (instruction, int(start, 16), digest)
    for instruction, starts in json.loads((EVIDENCE.parent / "binades.json").read_text()).items()
    for start, digest in starts.items()
]


@pytest.mark.parametrize(
    ("instruction", "start", "digest"), BINADES, ids=[f"{name}-{start:#x}" for name, start, _ in BINADES]
)
def test_whole_binades_of_an_h200(instruction, start, digest):
    """Every row of every table: 2**23 outputs have the digest of the GPU's."""
    x = np.arange(start, start + (1 << 23), dtype="u4").view("f4")
    function = getattr(approximate, instruction.split(".")[0])
    got = function(x, ftz=True) if "ftz" in instruction else function(x)
    assert hashlib.sha256(got.view("<u4").tobytes()).hexdigest() == digest


def test_every_instruction_is_in_the_evidence():
    assert len(H200) == 2 + 22
    assert len(BINADES) == 30
