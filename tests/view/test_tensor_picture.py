"""The picture of tensor memory: its rectangles, its texts, and its place in the report."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from emulator.texts import kernel
from observe.sanitize.tensor.issues import ISSUES
from observe.sanitize.tensor.kernels import KERNELS, Kernel

import warploom as wl
from warploom.runtime.api import Run
from warploom.view.tensor_picture import LEGEND, tensor_svg

SCALED = next(issue.kernel for issue in ISSUES if issue.kernel.name == "scaled")
NAMES = {"svg": "http://www.w3.org/2000/svg"}


def launched(of: Kernel) -> Run:
    return wl.launch(
        of.text, grid=of.cluster, cluster=of.cluster, block=of.threads, args=[np.zeros(8192, np.uint32)],
        schedule="lazy", trace=True, profile=True,
    )  # fmt: skip


def named(name: str) -> Kernel:
    return next(each for each in KERNELS if each.name == name)


class Picture:
    """Rectangles with a title, by class, and the texts of a picture."""

    def __init__(self, run: Run) -> None:
        assert run.trace is not None
        root = ET.fromstring(tensor_svg(run.trace))
        self.size = float(root.get("width", "")), float(root.get("height", ""))
        self.texts = [each.text for each in root.iterfind(".//svg:text", NAMES)]
        self.rects: dict[str, list[tuple[str, float, float, float, float]]] = {}
        for rect in root.iterfind(".//svg:rect", NAMES):
            title = rect.find("svg:title", NAMES)
            if title is not None:
                x, y, width, height = (float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
                row = (title.text or "", x, y, x + width, y + height)
                self.rects.setdefault(rect.get("class", ""), []).append(row)


@pytest.fixture(scope="module")
def scaled() -> Picture:
    return Picture(launched(SCALED))


def test_every_use_has_a_rectangle_with_its_columns_and_line(scaled: Picture) -> None:
    titles = {kind: [row[0] for row in rows] for kind, rows in scaled.rects.items()}
    assert titles["taken"][0].startswith("columns 0 to 63, allocated in line ")
    (write,) = titles["write"]
    assert re.search(r"columns 0 to 15 \(D\), \S+mma\S+ in line \d+, warp 1$", write)
    assert len(titles["store"]) == 2
    assert "columns 32 to 35 (the target)" in titles["store"][0]
    assert ["(the scale factors of A)" in row for row in titles["read"]] == [True, False]
    (load,) = titles["load"]
    assert load.endswith("warps 0 to 3, 4 times")
    assert len(titles["commit"]) == 3
    assert "update" not in titles


def test_columns_run_down_and_steps_to_the_right(scaled: Picture) -> None:
    (_, left, top, right, bottom) = scaled.rects["taken"][0]
    for rows in scaled.rects.values():
        for title, x, y, until, under in rows:
            assert left <= x < until <= right + 3.1, title
            assert top <= y < under <= bottom, title
    assert right <= scaled.size[0]
    assert bottom < scaled.size[1]
    product, load, copy = (scaled.rects[kind][0] for kind in ("write", "load", "store"))
    assert product[4] <= copy[2], "the columns of D are above those of the scale factors"
    assert product[3] <= load[1], "the load is after the multiplication"
    assert product[2] <= load[2] < load[4] == product[4], "the load has the columns of the multiplication"


def test_the_left_names_contents_writers_and_readers(scaled: Picture) -> None:
    texts = scaled.texts
    assert texts[texts.index("D") + 1] == "warp 1 → warps 0 to 3"
    assert texts[texts.index("scale factors of A") + 1] == "warp 1 → warp 1"
    assert set(LEGEND.values()) <= set(texts)


def test_accumulators_that_are_used_in_turn_have_rows_of_their_own() -> None:
    picture = Picture(launched(named("double_buffered")))
    assert picture.texts.count("D") == 2
    assert picture.texts.count("warp 1 → warps 4 to 7") == 2
    assert len({row[2] for row in picture.rects["write"]}) == 2
    assert len(picture.rects["load"]) == 6


def test_a_pair_has_a_panel_for_each_cta() -> None:
    picture = Picture(launched(named("pair")))
    panels = [text for text in picture.texts if text and text.startswith("CTA (")]
    assert [text.split(":")[0] for text in panels] == [
        "CTA (0, 0, 0), cluster 0, rank 0", "CTA (1, 0, 0), cluster 0, rank 1"
    ]  # fmt: skip
    assert len(picture.rects["write"]) == 2


def test_the_report_has_the_picture() -> None:
    html = wl.report(launched(SCALED)).html
    section = html[html.index('<section id="tensor-memory"') : html.index('<section id="costs"')]
    assert '<a href="#tensor-memory">Tensor memory</a>' in html
    assert section.count("<svg") == section.count("</svg>") == 1
    assert '<rect class="write"' in section
    assert ".tensor-memory .write {" in html[: html.index("</style>")]


def test_a_report_without_tensor_memory_has_no_picture() -> None:
    run = wl.launch(kernel("ret;"), grid=1, block=32, args=[np.zeros(4, np.uint32)], trace=True, profile=True)
    assert '<section id="tensor-memory"' not in wl.report(run).html
