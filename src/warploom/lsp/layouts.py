"""Layouts for editors: the text of an instruction, and a picture of one of its operands."""

from __future__ import annotations

from warploom.diagnostics import UsageError
from warploom.lsp.document import View

_ROWS = _COLUMNS = 8
"""Size of the part of a matrix in a picture. Layouts repeat patterns of this size or of its multiples."""


def instruction_text(view: View, offset: int) -> str | None:
    """Return the instruction at an offset without its guard and semicolon, or None if there is none."""
    found = view.instruction_at(offset)
    if found is None or not (words := found[0].word_spans) or (span := found[0].span) is None:
        return None
    start = found[1]
    return view.text[start + words[0].start : start + span.end].rstrip(" \t\n;")


def layout_picture(instruction: str) -> str | None:
    """Return an SVG picture of one operand of an instruction, or None without a layout.

    The operand is the smallest one in registers, or else the smallest one. The picture shows a corner of it.
    """
    from warploom.isa.binding.layouts import operands_of, select_operands
    from warploom.isa.model.operand_layout import LayoutInputs
    from warploom.view.layout_grid import REGISTERS, grid_of
    from warploom.view.layout_pictures import layout_svg

    given = LayoutInputs()
    try:
        grids = [grid_of(each.name, each.map(given)) for each in select_operands(operands_of(instruction), given)]
    except UsageError:
        return None
    if not grids:
        return None
    chosen = min(grids, key=lambda grid: (grid.memory is not REGISTERS, grid.rows * grid.cols))
    return layout_svg(chosen.corner(_ROWS, _COLUMNS))
