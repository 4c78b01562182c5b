"""Comparisons, from their definitions."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from warploom.numerics import compare
from warploom.numerics.formats import BF16, F16, encode

pytestmark = pytest.mark.filterwarnings("error")
ORDERED = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
FLOAT_COMPARISONS = [*ORDERED, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
VALUES = [0.0, -0.0, 1.0, -1.5, 2.0**-14 / 4, np.inf, -np.inf, np.nan]


def float_model(comparison: str, x: float, y: float) -> bool:
    unordered = x != x or y != y
    if comparison in ("num", "nan"):
        return unordered == (comparison == "nan")
    if comparison in ORDERED:
        return not unordered and ORDERED[comparison](x, y)
    return unordered or ORDERED[comparison[:-1]](x, y)


def grid(dtype):
    x = np.array(VALUES, dtype=dtype)
    return x[:, None], x[None, :]


@pytest.mark.parametrize("comparison", FLOAT_COMPARISONS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats(comparison, dtype):
    a, b = grid(dtype)
    wanted = [[float_model(comparison, x, y) for y in VALUES] for x in VALUES]
    assert compare.floats(comparison, a, b).tolist() == wanted


@pytest.mark.parametrize("comparison", FLOAT_COMPARISONS)
@pytest.mark.parametrize("fmt", [F16, BF16], ids=["f16", "bf16"])
def test_halves_and_pairs(comparison, fmt):
    codes = encode(np.array(VALUES), fmt)
    wanted = [[float_model(comparison, x, y) for y in VALUES] for x in VALUES]
    assert compare.halves(comparison, codes[:, None], codes[None, :], fmt).tolist() == wanted
    wide = codes.astype("u4")
    a = wide | (wide[::-1] << np.uint32(16))
    low, high = compare.pairs(comparison, a[:, None], a[None, :], fmt)
    assert low.tolist() == wanted
    assert high.tolist() == [row[::-1] for row in wanted[::-1]]


@pytest.mark.parametrize("dtype", ["i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers(dtype):
    limits = np.iinfo(dtype)
    x = np.array([0, 1, limits.max, limits.min, limits.max - 1, 5], dtype=dtype)
    a, b = x[:, None], x[None, :]
    for name, function in ORDERED.items():
        assert compare.integers(name, a, b).tolist() == [
            [function(p, q) for q in x.tolist()] for p in x.tolist()
        ]
    unsigned = [int(v) % (1 << limits.bits) for v in x]
    for name, plain in {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.items():
        wanted = [[ORDERED[plain](p, q) for q in unsigned] for p in unsigned]
        assert compare.integers(name, a, b).tolist() == wanted


def test_flushed_operands_are_zeros():
    tiny = np.array([1, 0x807FFFFF], dtype="u4").view("f4")
    zero = np.zeros(2, dtype="f4")
    assert compare.floats("eq", tiny, zero, ftz=True).all()
    assert not compare.floats("eq", tiny, zero).any()
    code = np.array([1], dtype="u2")
    assert compare.halves("eq", code, code * 0, F16, ftz=True).all()
    assert not compare.halves("eq", code, code * 0, F16).any()
