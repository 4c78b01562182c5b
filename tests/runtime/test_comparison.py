"""Comparison of results: elements of any type and arrays of any rank."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from warploom.runtime.comparison import Comparison, compare
from warploom.runtime.references import REFERENCES, Expected, Options


def exact(result: Any, expected: Any) -> Comparison:
    values = np.asarray(expected, np.float64)
    return compare("c", np.asarray(result), Expected(values, np.zeros_like(values)))


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.int8, np.uint32]
)
def test_every_element_type(dtype: Any) -> None:
    result = np.ones((4, 8), dtype)
    result[1:3, 4] = 3
    comparison = exact(result, np.ones((4, 8)))
    assert comparison.facts() == [
        ("c[1, 4], largest error", "3, expected 1 ± 0"),
        ("c[2, 4]", "3, expected 1 ± 0"),
        ("wrong elements", "rows 1-2, column 4"),
    ]


def test_the_largest_error_is_that_of_a_wrong_element() -> None:
    expected = Expected(np.zeros(5), np.array([1.0, 1.0, 1.0, 1.0, 100.0]))
    comparison = compare("c", np.array([0.0, 2.0, 3.0, 7.0, 99.0]), expected)
    assert comparison.worst is not None
    assert comparison.worst.index == (3,)
    assert (comparison.largest_error, comparison.bound_there) == (7.0, 1.0)
    assert [label for label, _ in comparison.facts()] == ["c[1]", "c[2]", "c[3], largest error", "wrong elements"]


def test_nan_and_infinity() -> None:
    comparison = exact([1.0, np.nan, np.inf, 4.0], [1.0, 2.0, 3.0, np.nan])
    assert comparison.largest_error == np.inf
    assert comparison.facts() == [
        ("c[1], largest error", "nan, expected 2 ± 0"),
        ("c[2]", "inf, expected 3 ± 0"),
        ("c[3]", "4, expected nan ± 0"),
        ("wrong elements", "elements 1-3"),
    ]


@pytest.mark.parametrize(("dtype", "low"), [(np.int64, -(2**63)), (np.int64, 2**62), (np.uint64, 2**64 - 9)])
def test_integers_of_64_bits_are_compared_exactly(dtype: type, low: int) -> None:
    values = np.array([low, low + 1, low + 5], dtype)
    right = REFERENCES["copy"].compute({"a": values}, values, Options())
    assert compare("c", values, right).exact
    comparison = compare("c", values + np.array([0, 1, 0], dtype), right)
    assert comparison.largest_error == 1
    assert comparison.facts() == [("c[1]", f"{low + 2}, expected {low + 1} ± 0"), ("wrong elements", "element 1")]
    assert compare("c", values - np.array([0, 1, 0], dtype), right).largest_error == 1


def test_no_axes_and_no_elements() -> None:
    assert exact(3.0, 4.0).facts() == [("c[]", "3, expected 4 ± 0"), ("wrong elements", "all elements")]
    empty = exact(np.zeros((0, 3)), np.zeros((0, 3)))
    assert empty.exact
    assert empty.facts() == []
    assert (empty.elements, empty.largest_error, empty.bound_there) == (0, 0.0, 0.0)
