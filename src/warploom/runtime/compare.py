"""Comparison of a kernel's result with the expected values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warploom.runtime.buffers import Array
from warploom.runtime.references import Expected, Float

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Element of a result whose error exceeds its bound. `found` and `expected` are its values."""

    index: tuple[int, ...]
    found: float
    expected: float
    bound: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of the result `name` with its expected values.

    `largest_error` is the largest absolute error, and `bound_there` the bound at the element with that error.
    `largest_share` is the largest ratio of an error to its bound, or None if every bound is 0. `mismatches` counts the
    elements whose errors exceed their bounds, and `first` describes the first of them.
    """

    name: str
    elements: int
    mismatches: int
    largest_error: float
    bound_there: float
    largest_share: float | None
    first: tuple[Mismatch, ...]

    @property
    def ok(self) -> bool:
        """True if every element is within its bound."""
        return self.mismatches == 0

    @property
    def exact(self) -> bool:
        """True if every element equals its expected value."""
        return self.ok and self.largest_error == 0.0

    @property
    def sentence(self) -> str:
        """Summary of the comparison in one sentence."""
        if self.exact:
            return f"{self.name} is exact"
        if self.ok:
            return f"{self.name} is within its bound"
        share = f"{self.mismatches:,} of {self.elements:,}"
        return f"{self.name} is wrong: {share} elements are outside the bound"


def compare(name: str, result: Array, expected: Expected) -> Comparison:
    """Compare the result `name` of a kernel with its expected values in float64. NaN equals NaN."""
    found: Float = np.asarray(result, np.float64)
    same = (found == expected.values) | (np.isnan(found) & np.isnan(expected.values))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(found - expected.values))
    error = np.where(np.isnan(error), np.inf, error)
    bound = np.broadcast_to(expected.bound, error.shape)
    # NaN and infinities must match exactly, whatever the bound.
    finite = np.isfinite(found) & np.isfinite(expected.values)
    wrong = ~same & ~((error <= bound) & finite)
    share = None
    if error.size and np.any(bound > 0):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = float(np.max(np.where(same, 0.0, np.where(finite, error / bound, np.inf))))
    worst = np.unravel_index(int(np.argmax(error)), error.shape) if error.size else None
    return Comparison(
        name,
        error.size,
        int(np.count_nonzero(wrong)),
        float(error[worst]) if worst else 0.0,
        float(bound[worst]) if worst else 0.0,
        share,
        tuple(
            Mismatch(
                tuple(int(i) for i in index),
                float(found[tuple(index)]),
                float(expected.values[tuple(index)]),
                float(bound[tuple(index)]),
            )
            for index in np.argwhere(wrong)[:SHOWN]
        ),
    )
