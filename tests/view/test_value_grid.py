"""Matrices of numbers as text and as SVG."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from warploom.diagnostics import UsageError
from warploom.observe.debug.values import Matrix
from warploom.view.value_grid import ValueGrid, number_text

FLOATS = Matrix("A of CTA (0, 0, 0)", "f16", np.arange(24, dtype=np.float64).reshape(3, 8) / 3)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (np.float32(1) / 3, "0.3333"), (np.float64(1e20), "1e+20"), (np.float32("nan"), "nan"), (-0.0, "-0"),
        (np.uint64(2**64 - 1), "18446744073709551615"), (2**100, str(2**100)), (np.int8(-3), "-3"),
        (np.bool_(True), "1"), (False, "0"),
    ],
)  # fmt: skip
def test_numbers_as_text(number: object, text: str) -> None:
    assert number_text(number) == text


def test_a_whole_matrix_with_marked_cells() -> None:
    grid = ValueGrid(FLOATS.part(slice(1, 3), slice(2, 4)), {(0, 1)}, digits=3)
    assert list(grid.text_lines(80)) == [
        "A of CTA (0, 0, 0)",
        "        2       3",
        "1    3.33  [3.67]",
        "2       6    6.33",
    ]


def test_a_table_is_cut_to_its_width_and_height() -> None:
    lines = list(ValueGrid(FLOATS).text_lines(30, 2))
    assert lines[-1] == "(2 of 3 rows and 3 of 8 columns shown)"
    assert len(lines) == 5
    assert max(map(len, lines[1:-1])) <= 30
    assert list(ValueGrid(FLOATS).text_lines(4, 9))[-1] == "(1 of 8 columns shown)"
    assert not list(ValueGrid(FLOATS).text_lines(200, 9))[-1].startswith("(")


def test_hidden_columns_do_not_widen_the_table() -> None:
    wide = Matrix("m", "u64", np.array([[1, 2, 2**60]], np.uint64))
    assert list(ValueGrid(wide).text_lines(10)) == ["m", "   0  1", "0  1  2", "(2 of 3 columns shown)"]


def test_parts_keep_their_numbers() -> None:
    part = FLOATS.part(slice(1, None), slice(2, 6)).part(slice(1, 2), slice(3, 4))
    assert (part.first_row, part.first_col, part.numbers.tolist()) == (2, 5, [[7.0]])


def test_a_picture_has_a_cell_for_each_number() -> None:
    grid = ValueGrid(FLOATS.part(slice(1, 3), slice(0, 8)), {(1, 7)})
    root = ET.fromstring(grid.svg())
    space = {"s": "http://www.w3.org/2000/svg"}
    cells = {(int(g.attrib["data-row"]), int(g.attrib["data-col"])): g for g in root.iterfind(".//s:g", space)}
    assert set(cells) == {(row, col) for row in (1, 2) for col in range(8)}
    texts = {at: cell.findtext("s:text", namespaces=space) for at, cell in cells.items()}
    assert texts[2, 7] == "7.667"
    marked = [at for at, cell in cells.items() if cell.find("s:rect", space).attrib["class"] == "cell marked"]  # type: ignore[union-attr]
    assert marked == [(2, 7)]


def test_a_large_picture_is_refused() -> None:
    with pytest.raises(UsageError, match="16,512 numbers"):
        ValueGrid(Matrix("m", "u8", np.zeros((129, 128), np.uint8))).svg()
