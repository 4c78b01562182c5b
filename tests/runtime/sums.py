"""What a matrix unit's sums come to, in plain NumPy, and how far they may be from exact ones.

Written from the model alone and sharing nothing with `warploom.numerics`, so that the two check each other. A
sum of floats is a chain of fused steps: L products and the accumulator, each cut toward zero F bits below
the largest exponent among them, are added exactly, and the total is cut to the bits that the accumulator
keeps.

Values are float64 arrays; `a` is (M, K) and `b` (N, K). Results in the subnormal range of float32 are not
covered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Unit:
    """One way to sum: L, F, the mantissa bits an accumulator keeps, and whether it is rounded to nearest."""

    length: int
    fraction: int
    kept: int = 23
    nearest: bool = False


AMPERE_HALF = Unit(8, 24)
AMPERE_TF32 = Unit(4, 24)
ADA_FP8 = Unit(16, 13, kept=13)
HOPPER_HALF = Unit(16, 25)
HOPPER_HALF_TO_HALF = Unit(16, 25, kept=10, nearest=True)
HOPPER_TF32 = Unit(8, 25)
HOPPER_TF32_WMMA = Unit(4, 25)
HOPPER_FP8 = Unit(32, 13, kept=13)
RTX_BLACKWELL_FP8 = Unit(32, 25)

# The least exponent of a normal number: below it a number's exponent is not adjusted.
LEAST_EXPONENT = {"float16": -14, "bfloat16": -126, "float32": -126, "float8_e4m3fn": -6, "float8_e5m2": -14}


def magnitude(values: Float, least: int = -126) -> Float:
    """Two to the exponent that alignment sees; 0 for a zero."""
    _, exponent = np.frexp(values)
    return np.where(values == 0, 0.0, np.ldexp(1.0, np.maximum(exponent - 1, least)))


def cut(values: Float, kept: int, nearest: bool = False) -> Float:
    """The values with `kept` mantissa bits after the leading one."""
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, kept + 1)
    return np.ldexp(np.rint(whole) if nearest else np.trunc(whole), exponent - kept - 1)


def tf32(values: Array) -> Float:
    """What a matrix unit sees of a float32: all but its low 13 bits."""
    return (values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF_E000)).view(np.float32).astype(np.float64)


def chain(a: Float, b: Float, c: Float, unit: Unit, sizes: tuple[Float, Float] | None = None) -> Float:
    """The fused sums, bit for bit.

    `sizes` are the magnitudes of a and b where they are not those of normal numbers.

    Shapes: c and the result are (M, N).
    """
    of_a, of_b = (magnitude(a), magnitude(b)) if sizes is None else sizes
    total = np.array(c, np.float64)
    for k in range(0, a.shape[1], unit.length):
        part = slice(k, k + unit.length)
        products = a[:, None, part] * b[None, :, part]
        largest = (of_a[:, None, part] * of_b[None, :, part]).max(-1)
        largest = np.maximum(largest, magnitude(total))
        step = np.where(largest == 0, 1.0, largest) * 2.0**-unit.fraction
        exact = np.trunc(products / step[..., None]).sum(-1) + np.trunc(total / step)
        total = cut(exact * step, unit.kept, unit.nearest)
    return total


def chain_bound(a: Float, b: Float, c: Float, unit: Unit, sizes: tuple[Float, Float] | None = None) -> Float:
    """How far the fused sums may be from exact ones.

    In a step L + 1 terms each lose less than one unit 2^-F of the largest power of two among the terms, and
    the total less than one unit in the last place kept. The products are at most the largest of a times the
    largest of b in the step; the accumulator is at most the exact sum so far and the error so far.
    """
    of_a, of_b = (magnitude(a), magnitude(b)) if sizes is None else sizes
    total = np.array(c, np.float64)
    error = np.zeros_like(total)
    for k in range(0, a.shape[1], unit.length):
        part = slice(k, k + unit.length)
        largest = of_a[:, part].max(1)[:, None] * of_b[:, part].max(1)[None, :]
        largest = np.maximum(largest, np.abs(total) + error)
        total = total + a[:, part] @ b[:, part].T
        error = error + (unit.length + 1) * 2.0**-unit.fraction * largest
        error = error + 2.0**-unit.kept * (np.abs(total) + error)
    return error


def rounding_bound(values: Float, error: Float, mantissa: int, least: int) -> Float:
    """The error of values, off by `error`, once rounded to nearest in a format.

    The format has `mantissa` bits and the least exponent `least`.
    """
    half = 2.0 ** -(mantissa + 1)
    return error + half * (np.abs(values) + error) + half * 2.0**least


def fma_chain_bound(a: Float, b: Float) -> Float:
    """Float64 multiply-adds, each rounded to nearest: K roundings of sums no larger than |a| |b|."""
    return a.shape[1] * 2.0**-53 * (np.abs(a) @ np.abs(b).T) * (1 + 2.0**-40)


# ex2.approx and div.full in float32: the manual's bounds, 2^-22 relative and 2 units in the last place.
EX2 = 2.0**-22
DIVISION = 2.0**-22
HALF_ULP = 2.0**-24


def softmax_bound(x: Float) -> Float:
    """Softmax of rows in float32, before it is stored.

    The argument x - max, times log2 e, is rounded three times; the error of an exponent is a relative error
    of the power. The sum of N terms, in any order, is off by N half units, and the quotient by the
    division's own.
    """
    below = x.max(-1, keepdims=True) - x
    weights = np.exp(-below)
    total = weights.sum(-1, keepdims=True)
    relative = np.expm1(3 * HALF_ULP * below) + EX2
    of_sum = (weights * relative).sum(-1, keepdims=True) / total + x.shape[-1] * HALF_ULP
    return weights / total * (relative + of_sum + DIVISION) * (1 + 2.0**-10)


def attention_bound(q: Float, k: Float, v: Float, scale: float, unit: Unit, block: int, mask: Array) -> Float:
    """Attention over keys taken `block` at a time with a running maximum, before it is stored.

    - A score is a fused sum and is rounded four times on its way to be an exponent (scale * log2 e, the
      product, the maximum's own product, the difference); the error of an exponent is a relative error of
      its power.
    - Every block rescales what came before by another such power.
    - Weights are rounded to float16 for the second product: 2^-11 of each, or half a step of its subnormals,
      2^-25 of the row's largest, which is 1.
    - The second product is a fused sum in which no accumulator exceeds weights @ |v|.
    - The sum of the weights is off by N half units and the errors of the weights, the quotient by the
      division's.
    """
    scores = np.where(mask, scale * (q @ k.T), -np.inf)
    sizes = np.where(mask, np.abs(scale * (q @ k.T)), 0.0)
    most = sizes.max(-1, keepdims=True)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    total = weights.sum(-1, keepdims=True)
    keys = k.shape[0]
    blocks = -(-keys // block)
    score = scale * chain_bound(q, k, np.zeros_like(sizes), unit) + 4 * HALF_ULP * (sizes + most)
    rescaling = blocks * (EX2 + 2 * HALF_ULP + np.expm1(4 * HALF_ULP * most))
    relative = np.where(mask, np.expm1(score), 0.0) + EX2 + rescaling
    steps = -(-keys // unit.length)
    fused = steps * ((unit.length + 1) * 2.0**-unit.fraction + 2.0**-unit.kept)
    spread = (weights * relative) @ np.abs(v) + (2.0**-11 + fused) * (weights @ np.abs(v)) + 2.0**-25 * np.abs(v).sum(0)
    of_sum = (weights * relative).sum(-1, keepdims=True) / total + keys * HALF_ULP + DIVISION
    values = weights @ v / total
    return (spread / total + np.abs(values) * of_sum) * (1 + 2.0**-10)
