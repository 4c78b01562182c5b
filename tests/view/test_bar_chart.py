"""Bar charts: heights, extents, escaped texts and descriptions."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from warploom.view.bar_chart import Group, Panel, bar_chart

SVG = "{http://www.w3.org/2000/svg}"
PANELS = (
    Panel(
        "bf16", (Group(("64 × 8", "× 2"), (600.0, 500.0), "1.20"), Group(("1 × 1",), (0.0, 250.0), "0.00"))
    ),
    Panel("s8 <&\"'>", (Group(("9",), (0.3, 0.1), "3.00"),)),
)


def drawn() -> ET.Element:
    text = bar_chart(PANELS, title="A & B", description="<both>", series=("ours", "<theirs>"), unit="TFLOP/s")
    return ET.fromstring(text)


def heights(root: ET.Element, series: int) -> list[float]:
    """Return the heights of the bars of a series, without the legend."""
    return [float(each.attrib["height"]) for each in root.iter(f"{SVG}rect")
            if each.get("class") == f"series{series}" and each.find(f"{SVG}title") is not None]  # fmt: skip


def test_heights_are_proportional_to_values() -> None:
    root = drawn()
    ours, theirs = heights(root, 0), heights(root, 1)
    assert ours[0] / theirs[0] == pytest.approx(600 / 500, rel=0.01)
    assert theirs[1] / theirs[0] == pytest.approx(0.5, rel=0.01)
    assert ours[1] == 0.0
    assert ours[2] / theirs[2] == pytest.approx(3, rel=0.01)


def test_bars_stay_within_picture_and_panel() -> None:
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


def test_every_text_is_present() -> None:
    root = drawn()
    texts = {each.text for each in root.iter(f"{SVG}text")}
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
    } <= texts
    assert {each.tag.removeprefix(SVG) for each in root.iter()} == {
        "svg", "title", "desc", "style", "rect", "text", "g", "line"
    }  # fmt: skip


def test_the_picture_has_an_accessible_description() -> None:
    root = drawn()
    named = {each.get("id"): each.text for each in root.iter() if each.get("id")}
    assert [named[name] for name in root.attrib["aria-labelledby"].split()] == ["A & B", "<both>"]
    titles = [each.text for each in root.iter(f"{SVG}title")]
    assert "ours, bf16, 64 × 8 × 2: 600 TFLOP/s" in titles
    assert "prefers-color-scheme: dark" in "".join(each.text or "" for each in root.iter(f"{SVG}style"))


@pytest.mark.parametrize("largest", [1e-9, 0.999999, 1.0, 4.0, 40.0, 999.0, 1000.0, 1e6 / 3])
def test_the_scale_holds_the_largest_value(largest: float) -> None:
    text = bar_chart(
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


def test_a_chart_without_panels() -> None:
    assert (
        ET.fromstring(bar_chart([], title="t", description="", series=("a", "b"), unit="")).tag == f"{SVG}svg"
    )
