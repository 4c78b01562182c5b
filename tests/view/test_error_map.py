"""Picture of the wrong elements of a result."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from warploom.observe.writers import Writers
from warploom.runtime.comparison import Comparison, compare
from warploom.runtime.references import Expected
from warploom.view.error_map import cell_extents, error_map

CELL = 8


def wrong(errors: Any) -> Comparison:
    """Return a comparison with these errors."""
    values = np.asarray(errors, np.float64)
    return compare("c", values, Expected(np.zeros(values.shape), np.zeros(values.shape)))


def levels(picture: str) -> np.ndarray:
    """Return the level of each cell of a picture, 0 for empty cells."""
    found = re.search(r'viewBox="0 0 (\d+) (\d+)"', picture)
    assert found
    columns, rows = (int(size) // CELL for size in found.groups())
    cells = np.zeros((rows, columns), np.int64)
    for level, x, y, width in re.findall(r'class="error(\d)" x="(\d+)" y="(\d+)" width="(\d+)" height="8"', picture):
        at, first = int(y) // CELL, int(x) // CELL
        cells[at, first : first + int(width) // CELL] = int(level)
    assert picture.count("<rect") == len(re.findall(r"<rect class=", picture))
    return cells


def test_levels_show_the_error_relative_to_the_largest_finite_error() -> None:
    errors = [[1000, 0, 90, np.inf], [9, 0.5, 1000, 1000], [0, np.nan, 1, 100]]
    assert levels(error_map(wrong(errors))).tolist() == [[4, 0, 3, 4], [2, 1, 4, 4], [0, 4, 1, 3]]


def test_a_cell_has_the_largest_of_its_errors() -> None:
    errors = np.zeros((128, 200))
    errors[2:4, 100] = 1, 0.002
    errors[127, 199] = 0.05
    comparison = wrong(errors)
    assert cell_extents(comparison) == (2, 4)
    expected = np.zeros((64, 50), np.int64)
    expected[1, 25], expected[63, 49] = 4, 3
    assert np.array_equal(levels(error_map(comparison)), expected)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (1000,), (3, 0)])
def test_any_rank(shape: tuple[int, ...]) -> None:
    found = levels(error_map(wrong(np.ones(shape)))) if 0 not in shape else np.zeros(0)
    assert (found == 4).all()


def test_lines_separate_the_elements_of_ctas() -> None:
    comparison = wrong(np.ones((2, 4)))
    ctas = np.array([0, 0, 1, 1, 2, 2, 2, 2])
    nothing = np.zeros(8, np.int64)
    writers = Writers(None, (3, 1, 1), nothing, ctas, nothing, nothing)  # type: ignore[arg-type]
    picture = error_map(replace(comparison, writers=writers))
    borders = re.search(r'class="ctas" d="(.*?)"', picture)
    assert borders
    assert set(re.findall(r"M[^M]+", borders[1])) == {"M16 0v8", "M0 8h8", "M8 8h8", "M16 8h8", "M24 8h8"}
