"""Picture and page of the explanation of an element: the elements of each operand in the products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from warploom.view.svg import svg_document, svg_text

if TYPE_CHECKING:
    from warploom.runtime.why import Why

_SIDE, _LEFT, _TOP, _GAP = 320, 20, 76, 40  # pixels
_STYLE = """\
  .matrix { fill: none; stroke: #8c959f; } .right { fill: #2f9e44; } .other { fill: #d1383d; }
  .missing { fill: none; stroke: #b07800; stroke-width: 1.5; }
"""
_DARK_STYLE = "  .matrix { stroke: #6e7681; }\n"

Cell = tuple[int, int]


def why_svg(why: Why) -> str:
    """Return a picture of the matrices, with the elements that the kernel multiplied.

    Expected elements are green, and other elements are red. Elements that are missing in the sum have a border.
    """
    panels = list(_panels(why))
    width = max(_LEFT * 2 + len(panels) * _SIDE + max(len(panels) - 1, 0) * _GAP, 560)
    body = [svg_text(_LEFT, 24, why.text().partition("\n")[0], "strong"), svg_text(_LEFT, 44, why.cause or "no cause")]
    bottom = _TOP
    for number, (name, shape, right, other, missing) in enumerate(panels):
        left = _LEFT + number * (_SIDE + _GAP)
        scale = _SIDE / max(shape)
        high = max(shape[0] * scale, 8.0)
        body.append(svg_text(left, _TOP - 8, f"{name}, {shape[0]} x {shape[1]}", "small"))
        body.append(f'<rect class="matrix" x="{left}" y="{_TOP}" width="{shape[1] * scale:g}" height="{high:g}"/>')
        for cells, css in ((right, "right"), (other, "other"), (missing, "missing")):
            body += _rects(cells, css, left, scale)
        bottom = max(bottom, _TOP + high)
    description = f"{why.element}: elements that the kernel multiplied, in each operand. {why.cause}"
    return svg_document((int(width), int(bottom) + 20), why.element, description, _STYLE, _DARK_STYLE, body)


def why_html(why: Why) -> str:
    """Return the explanation for a notebook: the text, and the picture if the result is a sum of products."""
    text = f'<pre style="line-height:1.35">{escape(why.text())}</pre>'
    return f"<div>{text}{why_svg(why) if why.explanation.products else ''}</div>"


def _panels(why: Why) -> Iterator[tuple[str, Cell, set[Cell], set[Cell], set[Cell]]]:
    """Yield the name and the shape of each operand, and the right, other and missing elements."""
    products = why.explanation.products
    expected = () if why.expected is None else why.expected.products
    for operand in range(2):
        found = [(pair, k, right) for *pair, k, right in products]
        names = [pair[operand].array for pair, _, _ in found if pair[operand] is not None]  # type: ignore[union-attr]
        names += [pair[operand].array for pair in expected[:1]]
        if not names:
            continue
        shape = why.shapes[names[0]]
        cells: tuple[set[Cell], set[Cell]] = set(), set()
        for pair, k, _ in found:
            element = pair[operand]
            if element is not None and not isinstance(element, int):
                is_right = k >= 0 and k < len(expected) and expected[k][operand] == element
                cells[not is_right].add(_cell(element.index))
        missing = {_cell(pair[operand].index) for pair in expected} - cells[0]
        yield names[0], _cell(shape), *cells, missing


def _cell(index: Sequence[int]) -> Cell:
    """Return the last two numbers of an index, or of a shape."""
    return (index[-2], index[-1]) if len(index) > 1 else (1, index[0]) if index else (1, 1)


def _rects(cells: set[Cell], css: str, left: float, scale: float) -> Iterator[str]:
    """Yield a rectangle for each run of cells in a row or in a column."""
    todo = set(cells)
    for row, column in sorted(cells):
        if (row, column) not in todo:
            continue
        wide, high = 1, 1
        while (row, column + wide) in todo:
            wide += 1
        while wide == 1 and (row + high, column) in todo:
            high += 1
        todo -= {(row + down, column + right) for down in range(high) for right in range(wide)}
        x, y = left + column * scale, _TOP + row * scale
        size = f'width="{max(wide * scale, 2):.3g}" height="{max(high * scale, 2):.3g}"'
        yield f'<rect class="{css}" x="{x:g}" y="{y:g}" {size}/>'
