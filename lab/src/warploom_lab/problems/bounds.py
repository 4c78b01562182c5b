"""Errors of single operations of the kernels, from which bounds on their results follow."""

from collections.abc import Iterable
from math import expm1, log1p
from typing import Any, cast

import ml_dtypes
import numpy as np

from warploom.kernels.plan import DTYPES
from warploom.numerics.models import select
from warploom_lab.problems.results import Array, Floats

F32 = 2.0**-24
"""Relative error of an operation in f32 that rounds to nearest."""
SMALLEST_F32 = 2.0**-126
"""Numbers below this one become zero in instructions with .ftz."""
EX2 = 2.0**-22
"""Relative error of ex2.approx."""
LG2 = 2.0**-22
"""Error of lg2.approx, relative to the result or to 1, whichever is larger."""
RCP = 2.0**-23
"""Relative error of rcp.approx."""


def repeated(error: float, count: float) -> float:
    """Return the relative error of `count` operations with the relative error `error` each."""
    return expm1(count * log1p(error))


def rounding(word: str) -> tuple[float, float]:
    """Return the relative error of rounding to a type, and the absolute error for subnormal results."""
    about = cast("Any", ml_dtypes.finfo(DTYPES[word]))
    return float(about.eps) / 2, float(about.smallest_subnormal) / 2


def smallest_normal(word: str) -> float:
    """Return the smallest normal number of a type."""
    return float(cast("Any", ml_dtypes.finfo(DTYPES[word])).smallest_normal)


def sizes(values: Floats, word: str) -> Floats:
    """Return absolute values, in which nonzero subnormal numbers of a type count as its smallest normal number.

    A matrix unit aligns the products of subnormal numbers like those of the smallest normal number.
    """
    return np.where(values == 0, 0.0, np.maximum(abs(values), smallest_normal(word)))


def step_of(word: str, arch: str) -> tuple[int, float]:
    """Return the number of products in a step of a matrix unit, and the error of a step.

    A step adds L products to a sum. It truncates each of these L + 1 terms at F bits below the largest exponent, and
    the total to f32, or to 13 bits for e4m3. The error is relative to the largest magnitude among the products, the sum
    and the total. It is therefore also relative to the sum of the absolute values of all products.
    """
    model = select(arch, "warpgroup" if word == "e4m3" else "warp", word, word, "f32")
    bits = 23 if model.accumulator == "f32" else 13
    return model.length, (model.length + 1) * 2.0**-model.fraction + 2.0**-bits


def sum_errors(
    a: Floats, b: Floats, sizes_a: Floats, sizes_b: Floats, steps: Iterable[slice], error: float, first: Floats | float
) -> Floats:
    """Return bounds on the errors of A B, if a matrix unit adds the products in steps with the error `error` each.

    A step is a slice of the columns of A and of the rows of B. `sizes_a` and `sizes_b` are bounds on the magnitudes of
    the elements that the unit multiplies. `first` is a bound on the error of each partial sum that results from errors
    of the elements. The returned bounds include it. They are smaller than bounds from sums of absolute values.

    Shapes: A (M, K), B (K, N), the result (M, N).
    """
    total = np.zeros((len(a), b.shape[1]))
    errors = total + first
    for step in steps:
        products = sizes_a[:, step].max(-1, initial=0)[:, None] * sizes_b[step].max(0, initial=0)
        before, total = total, total + a[:, step] @ b[step]
        largest = np.maximum(products, np.maximum(abs(before), abs(total)) + errors)
        errors = errors + error * (1 + error) * largest
    return errors


def final(value: Floats, error: Floats, word: str) -> Floats:
    """Return the allowed error of a value with an error, after rounding to a type."""
    relative, absolute = rounding(word)
    return error + relative * (abs(value) + error) + absolute


def as_float64(array: Array) -> Floats:
    """Return the elements in float64."""
    return array.astype(np.float64)
