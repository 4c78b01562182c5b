"""Intrinsics for NumPy scalars against the compiled ones, on random patterns and on special values."""

import numpy as np
import pytest

from warploom.numerics import intrinsics, scalar_intrinsics
from warploom.numerics._compile import njit
from warploom.numerics.intrinsics import ROUNDING

RNG = np.random.default_rng(0)
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, np.inf, -np.inf, np.nan])


def numbers(count):
    """Return numbers of all magnitudes, numbers near each other, and special values."""
    spread = RNG.integers(0, 1 << 64, count, np.uint64).view(np.float64)
    near = RNG.standard_normal(count) * 2.0 ** RNG.integers(-3, 3, count)
    return np.where(RNG.random(count) < 0.3, RNG.choice(EDGES, count), np.where(RNG.random(count) < 0.5, spread, near))


def same(x, y):
    return x.tobytes() == y.tobytes() or (np.isnan(x) and np.isnan(y))


@njit
def compiled_fma(a, b, c):
    return intrinsics.fma(a, b, c)


@njit
def compiled(function, a, b, c, mode):
    intrinsics.set_rounding(mode)
    if function == 0:
        result = intrinsics.directed_fma(a, b, c)
    elif function == 1:
        result = intrinsics.directed_div(a, b)
    else:
        result = intrinsics.directed_sqrt(a)
    intrinsics.set_rounding(1)
    return result


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_fused_multiply_add_rounds_once(kind):
    with np.errstate(all="ignore"):
        for row in numbers(6000).reshape(-1, 3).astype(kind):
            found, expected = scalar_intrinsics.fma(*row), kind(compiled_fma(*row))
            assert same(found, expected), row
            cancelled = (row[0], row[1], -(row[0] * row[1]))
            assert same(scalar_intrinsics.fma(*cancelled), kind(compiled_fma(*cancelled))), row


@pytest.mark.parametrize("mode", ROUNDING)
def test_directed_operations_round_once(mode):
    scalar_intrinsics.set_rounding(ROUNDING[mode])
    functions = (
        scalar_intrinsics.directed_fma,
        lambda a, b, _: scalar_intrinsics.directed_div(a, b),
        lambda a, _, __: scalar_intrinsics.directed_sqrt(a),
    )
    with np.errstate(all="ignore"):
        for row in numbers(6000).reshape(-1, 3):
            for number, function in enumerate(functions):
                assert same(function(*row), np.float64(compiled(number, *row, ROUNDING[mode]))), (number, row)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_bits_are_counted_and_reversed(kind):
    bits = 8 * kind().itemsize
    for word in (0, 1, 6, (1 << bits) - 1, 1 << (bits - 1)):
        text = f"{word:0{bits}b}"
        assert scalar_intrinsics.reverse_bits(kind(word)) == int(text[::-1], 2)
        assert scalar_intrinsics.count_leading_zeros(kind(word)) == len(text) - len(text.lstrip("0"))
    assert scalar_intrinsics.popcount(np.uint32(0xF00F)) == 8
