"""Patterns of marked elements: exact ones reproduce the mask, others contain it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from warploom.runtime.patterns import AxisName, find_pattern

SHAPES = npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=20)


def described(shape: tuple[int, ...], *parts: object) -> str:
    """Describe a mask of which the indices `parts` are set."""
    mask = np.zeros(shape, np.bool_)
    for part in parts:
        mask[part] = True  # type: ignore[call-overload]
    pattern = find_pattern(mask)
    assert pattern.exact
    assert np.array_equal(pattern.mask(), mask)
    return pattern.describe()


@st.composite
def masks(draw: st.DrawFn) -> np.ndarray:
    """Masks of scattered elements, and unions of strided boxes."""
    shape = draw(SHAPES)
    if draw(st.booleans()):
        return draw(npst.arrays(np.bool_, shape))
    mask = np.zeros(shape, np.bool_)
    for _ in range(draw(st.integers(1, 3))):
        sides = []
        for size in shape:
            start, step, width = draw(st.integers(0, 19)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
            at = np.arange(size)
            sides.append((at >= start) & (at < draw(st.integers(0, 20))) & ((at - start) % step < width))
        mask[np.ix_(*sides) if sides else ()] = True
    return mask


@settings(max_examples=300, deadline=None)
@given(masks())
def test_an_exact_pattern_is_the_mask_and_any_other_contains_it(mask: np.ndarray) -> None:
    pattern = find_pattern(mask)
    assert pattern.count == np.count_nonzero(mask)
    covered = pattern.mask()
    assert covered.shape == mask.shape
    if pattern.exact:
        assert np.array_equal(covered, mask)
        assert "scattered" not in pattern.describe()
    else:
        assert (covered >= mask).all()
        assert pattern.describe().startswith("scattered within")


@settings(max_examples=100, deadline=None)
@given(SHAPES.filter(bool), st.data())
def test_a_strided_box_has_an_exact_pattern_of_one_box(shape: tuple[int, ...], data: st.DataObject) -> None:
    mask = np.zeros(shape, np.bool_)
    mask[tuple(slice(data.draw(st.integers(0, 9)), None, data.draw(st.integers(1, 4))) for _ in shape)] = True
    pattern = find_pattern(mask)
    assert pattern.exact
    assert len(pattern.boxes) == int(mask.any())


S = slice


@pytest.mark.parametrize(
    ("shape", "parts", "words"),
    [
        ((8, 8), [S(None)], "all elements"),
        ((), [()], "all elements"),
        ((0, 4), [], "no elements"),
        ((128, 64), [S(64, 128)], "rows 64-127"),
        ((128, 64), [(5, 7)], "row 5, column 7"),
        ((128, 64), [(S(None), S(4, None, 8))], "every 8th column from 4"),
        ((128, 64), [(S(None), S(4, 40, 8))], "every 8th column from 4 to 36"),
        ((128, 128), [(S(64, 128), S(0, 64))], "rows 64-127, columns 0-63"),
        (
            (128, 128),
            [(S(0, 64), S(0, 64)), (S(64, 128), S(64, 128))],
            "rows 0-63, columns 0-63; and rows 64-127, columns 64-127",
        ),
        ((64, 8), [S(k, k + 8) for k in range(8, 64, 16)], "rows 8-15 of every 16"),
        ((256, 8), [S(k, k + 8) for k in range(72, 128, 16)], "8 of every 16 rows from 72 to 127"),
        ((64, 8), [S(8, 16), S(24, 32), S(40, 48)], "8 of every 16 rows from 8 to 47"),
        ((64, 8), [S(k, k + 2) for k in range(7, 64, 8)] + [0], "rows 0 and 7 of every 8"),
        ((64, 8), [0, 3, S(9, 20)], "rows 0, 3 and 9-19"),
        ((100,), [S(32, 64)], "elements 32-63"),
        ((4, 8, 8), [(1, S(0, 4))], "index 1 on axis 0, rows 0-3"),
        ((9, 9), [0, (S(None), 0)], "row 0; and rows 1-8, column 0"),
        ((64, 32), [(S(None), S(1, None, 2))], "every 2nd column from 1"),
    ],
)
def test_words(shape: tuple[int, ...], parts: list[object], words: str) -> None:
    assert described(shape, *parts) == words


def test_scattered_elements_are_bounded_on_each_axis() -> None:
    mask = np.zeros((64, 64), np.bool_)
    for k in range(20):
        mask[(7 * k) % 61, 8 * (k * k % 8) + 3] = True
    pattern = find_pattern(mask)
    assert not pattern.exact
    assert pattern.describe() == (
        "scattered within rows 0-58, columns 3, 11 and 35; affected: 20 of 64 rows and 3 of 64 columns"
    )


def test_a_residue_of_scattered_rows_is_found() -> None:
    mask = np.zeros((256, 1), np.bool_)
    rows = np.random.default_rng(0).choice(64, 40, replace=False) * 4 + 2
    mask[rows] = True
    assert find_pattern(mask).describe() == (
        "scattered within every 4th row from 2; affected: 40 of 256 rows and 1 of 1 columns"
    )


def test_axes_may_have_other_names() -> None:
    axes = [AxisName("z", "z"), AxisName("y", "y"), AxisName("x", "x")]
    mask = np.zeros((1, 2, 4), np.bool_)
    mask[:, 1, 2:] = True
    assert find_pattern(mask).describe(axes) == "y 1, x 2-3"
