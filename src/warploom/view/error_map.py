"""Picture of the wrong elements of a result, as SVG inside an HTML page."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.runtime.comparison import Comparison

_CELLS = 64  # maximum number of cells along one axis
_SIZE = 8  # pixels of a cell
LEVELS = ("at most 0.001", "up to 0.01", "up to 0.1", "up to 1")
"""Ranges of the levels of a cell, from 1 on: the error divided by the largest finite error."""


def error_map(comparison: Comparison) -> str:
    """Return an SVG element that shows the wrong elements of a result as a matrix of cells.

    The last axis of the result runs to the right, and all other axes run down. The CSS class of a cell with wrong
    elements is `error1` to `error4`: its number is the level of the largest error in the cell (see `LEVELS`), and
    `error4` has the largest errors. Lines separate the elements of different CTAs.
    """
    errors = _matrix(np.where(comparison.wrong, comparison.errors, -1.0))
    down, right = (-(-size // _CELLS) for size in errors.shape)
    levels = _levels(_largest(errors, down, right))
    rows, columns = levels.shape
    parts = [rect for row in range(rows) for rect in _rects(levels[row], row)]
    if comparison.writers is not None:
        ctas = _matrix(comparison.writers.ctas.reshape(comparison.wrong.shape))[::down, ::right]
        parts.append(f'<path class="ctas" d="{_borders(ctas)}"/>')
    width, height = columns * _SIZE, rows * _SIZE
    label = escape(f"Wrong elements of {comparison.name}: {comparison.pattern.describe()}")
    return (
        f'<svg class="errors" role="img" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}">\n{"".join(parts)}\n</svg>'
    )


def cell_extents(comparison: Comparison) -> tuple[int, int]:
    """Return the numbers of rows and columns of elements in a cell of `error_map`."""
    rows, columns = (-(-size // _CELLS) for size in _matrix(comparison.wrong).shape)
    return rows, columns


def _matrix(array: NDArray[Any]) -> NDArray[Any]:
    return array.reshape(-1, array.shape[-1] if array.ndim else 1)


def _largest(errors: NDArray[np.float64], down: int, right: int) -> NDArray[np.float64]:
    by_rows = np.maximum.reduceat(errors, range(0, errors.shape[0], down), axis=0)
    return np.maximum.reduceat(by_rows, range(0, errors.shape[1], right), axis=1)


def _levels(errors: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the level of each cell, 0 for a cell without wrong elements. Cells have the error -1 then."""
    largest = errors[np.isfinite(errors)].max(initial=0.0)
    bounds = largest * 10.0 ** np.arange(1 - len(LEVELS), 0)
    return np.where(errors < 0, 0, 1 + np.searchsorted(bounds, errors))


def _rects(levels: NDArray[np.int64], row: int) -> list[str]:
    """Return one SVG rectangle for each run of equal levels in a row of cells."""
    edges = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
    return [
        f'<rect class="error{levels[low]}" x="{low * _SIZE}" y="{row * _SIZE}" width="{(high - low) * _SIZE}" '
        f'height="{_SIZE}"/>'
        for low, high in pairwise(edges)
        if levels[low]
    ]


def _borders(ctas: NDArray[np.int64]) -> str:
    """Return an SVG path of the borders between cells of different CTAs."""
    beside = np.argwhere(ctas[:, 1:] != ctas[:, :-1])
    below = np.argwhere(ctas[1:] != ctas[:-1])
    vertical = [f"M{(column + 1) * _SIZE} {row * _SIZE}v{_SIZE}" for row, column in beside.tolist()]
    horizontal = [f"M{column * _SIZE} {(row + 1) * _SIZE}h{_SIZE}" for row, column in below.tolist()]
    return "".join(vertical + horizontal)
