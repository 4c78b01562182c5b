"""Bars: the picture has the data in it, and whatever it is told stays text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from warploom.view.bars import Group, Panel, bars

SVG = "{http://www.w3.org/2000/svg}"
PANELS = (
    Panel(
        "bf16", (Group(("64 × 8", "× 2"), (600.0, 500.0), "1.20"), Group(("1 × 1",), (0.0, 250.0), "0.00"))
    ),
    Panel("s8 <&\"'>", (Group(("9",), (0.3, 0.1), "3.00"),)),
)


def drawn() -> ET.Element:
    text = bars(PANELS, title="A & B", description="<both>", series=("ours", "<theirs>"), unit="TFLOP/s")
    return ET.fromstring(text)


def heights(root: ET.Element, series: int) -> list[float]:
    """Of the bars, without the legend."""
    return [float(each.attrib["height"]) for each in root.iter(f"{SVG}rect")
            if each.get("class") == f"series{series}" and each.find(f"{SVG}title") is not None]  # fmt: skip


def test_bars_are_as_tall_as_their_values() -> None:
    root = drawn()
    ours, theirs = heights(root, 0), heights(root, 1)
    assert ours[0] / theirs[0] == pytest.approx(600 / 500, rel=0.01)
    assert theirs[1] / theirs[0] == pytest.approx(0.5, rel=0.01)
    assert ours[1] == 0.0
    assert ours[2] / theirs[2] == pytest.approx(3, rel=0.01)


def test_nothing_leaves_the_picture_or_its_panel() -> None:
    root = drawn()
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for each in root.iter(f"{SVG}rect"):
        x, y = float(each.get("x", 0)), float(each.get("y", 0))
        assert 0 <= x <= x + float(each.attrib["width"]) <= width
        assert 0 <= y <= y + float(each.attrib["height"]) <= height
    for panel in root.iter(f"{SVG}g"):
        lines = [float(line.attrib["y1"]) for line in panel.iter(f"{SVG}line")]
        for bar in panel.iter(f"{SVG}rect"):
            assert min(lines) - 0.1 <= float(bar.attrib["y"])
            assert float(bar.attrib["y"]) + float(bar.attrib["height"]) == pytest.approx(max(lines), abs=0.15)


def test_every_word_is_in_it_as_text() -> None:
    root = drawn()
    told = {each.text for each in root.iter(f"{SVG}text")}
    assert {
        "bf16",
        "s8 <&\"'>",
        "1.20",
        "0.00",
        "3.00",
        "64 × 8",
        "× 2",
        "ours",
        "<theirs>",
        "TFLOP/s",
    } <= told
    assert {each.tag.removeprefix(SVG) for each in root.iter()} == {
        "svg", "title", "desc", "style", "rect", "text", "g", "line"
    }  # fmt: skip


def test_it_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    root = drawn()
    named = {each.get("id"): each.text for each in root.iter() if each.get("id")}
    assert [named[name] for name in root.attrib["aria-labelledby"].split()] == ["A & B", "<both>"]
    said = [each.text for each in root.iter(f"{SVG}title")]
    assert "ours, bf16, 64 × 8 × 2: 600 TFLOP/s" in said
    assert "prefers-color-scheme: dark" in "".join(each.text or "" for each in root.iter(f"{SVG}style"))


@pytest.mark.parametrize("largest", [1e-9, 0.999999, 1.0, 4.0, 40.0, 999.0, 1000.0, 1e6 / 3])
def test_the_scale_holds_the_largest_value(largest: float) -> None:
    text = bars(
        [Panel("p", (Group(("g",), (largest, 0.0), ""),))],
        title="",
        description="",
        series=("a", "b"),
        unit="",
    )
    root = ET.fromstring(text)
    lines = [float(line.attrib["y1"]) for line in root.iter(f"{SVG}line")]
    tall = heights(root, 0)[0]
    assert 0.3 * (max(lines) - min(lines)) < tall <= max(lines) - min(lines) + 0.1


def test_no_panels_are_a_picture_too() -> None:
    assert ET.fromstring(bars([], title="t", description="", series=("a", "b"), unit="")).tag == f"{SVG}svg"
