"""The layout page: its data, its independence of the network, and its behaviour in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import chromium, keep, needs_browser, opened, read

import warploom as wl
from warploom.view.layout_grid import grid_of, json_data
from warploom.view.layout_pictures import layout_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
GROUP = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
GRIDS = [
    grid_of("A", wl.layout(HALF, "A")),
    grid_of("D", wl.layout(HALF, "D")),
    grid_of("B", wl.layout(GROUP, "B", swizzle=64)),
]


def test_the_page_has_the_data() -> None:
    data = json.loads(read(layout_page(HALF, GRIDS)).scripts["data"])
    assert data == json.loads(json.dumps([json_data(grid) for grid in GRIDS]))


def test_the_page_loads_nothing() -> None:
    text = layout_page(HALF, GRIDS)
    elements = read(text)
    assert not re.search(r"https?:|\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest", text)
    policy = [each for tag, each in elements.found if tag == "meta" and "http-equiv" in each]
    assert [str(each["content"]).partition(";")[0] for each in policy] == ["default-src 'none'"]
    assert not [tag for tag, _ in elements.found if tag in ("link", "img", "iframe")]


def test_texts_are_escaped() -> None:
    grid = GRIDS[0].select({"row": 0, "col": 0})
    hostile = "</script><b id='x'>&\"'"
    elements = read(layout_page(hostile, [replace(grid, operand=hostile, name=hostile, legend=hostile)]))
    assert not [tag for tag, _ in elements.found if tag == "b"]
    assert json.loads(elements.scripts["data"])[0]["name"] == hostile


# In a browser -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with opened(browser, layout_page(HALF, GRIDS), tmp_path / "page.html") as found:
        yield found


def status(shown: Page) -> str:
    return shown.locator("#status").inner_text()


def selected(shown: Page) -> list[str]:
    return shown.locator("td.selected").evaluate_all("cells => cells.map(cell => cell.ariaLabel)")


def cell(shown: Page, grid: int, row: int, col: int) -> Locator:
    return shown.locator("table").nth(grid).locator("tbody tr").nth(row).locator("td").nth(col)


def expected(column: str, value: int) -> list[str]:
    """Return the descriptions of the entries of a lane or a bank."""
    return [
        f"{grid.operand}: {grid.describe(number)}"
        for grid in GRIDS
        if column in grid.memory.columns
        for number in range(len(grid.entries))
        if grid.column(column)[number] == value
    ]


@needs_browser
def test_pointing_at_an_element_selects_its_lane(shown: Page) -> None:
    assert (status(shown), selected(shown)) == ("", [])
    cell(shown, 0, 0, 3).hover()
    assert status(shown) == "A: row 0, column 3: lane 1, item 1, register 0, bits 16 to 31"
    assert len(selected(shown)) == 8 + 4  # of A, and of D
    assert selected(shown) == expected("lane", 1)
    keep(shown, "layout-element")
    shown.mouse.move(2, 2)
    assert (status(shown), selected(shown)) == ("", [])


@needs_browser
def test_pointing_at_a_lane_selects_its_elements_and_a_click_keeps_them(shown: Page) -> None:
    shown.get_by_role("button", name="lane 5", exact=True).first.hover()
    assert status(shown) == "lane 5: 12 elements"
    assert selected(shown) == expected("lane", 5)
    shown.get_by_role("button", name="bank 4", exact=True).click()
    shown.mouse.move(2, 2)
    assert selected(shown) == expected("bank", 4)
    keep(shown, "layout-bank")
    shown.keyboard.press("Escape")
    assert (status(shown), selected(shown)) == ("", [])


@needs_browser
def test_keys_move_between_elements(shown: Page) -> None:
    cell(shown, 1, 0, 0).focus()
    for key in ("ArrowRight", "ArrowDown"):
        shown.keyboard.press(key)
    assert status(shown) == "D: row 1, column 1: lane 4, item 1, register 1, bits 0 to 31"
    shown.keyboard.press("End")
    assert status(shown) == "D: row 1, column 7: lane 7, item 1, register 1, bits 0 to 31"
    shown.keyboard.press("/")
    assert shown.evaluate("document.activeElement.id") == "search"


@needs_browser
def test_a_search(shown: Page) -> None:
    shown.keyboard.press("/")
    found = {}
    for text in ("3,4", "T5 r1", "byte 34", "row 2 col 1", "nonsense", ""):
        shown.locator("#search").fill("")
        shown.keyboard.type(text)
        found[text] = status(shown), selected(shown)
    assert [each.partition(":")[0] for each in found["3,4"][1]] == ["A", "D", "B"]
    assert all("lane 5," in each and "register 1," in each for each in found["T5 r1"][1])
    assert found["T5 r1"][0] == "3 elements"
    assert found["byte 34"] == ("0 elements", [])
    assert len(found["row 2 col 1"][1]) == 3
    assert found["nonsense"][0].startswith("Examples: T5")
    assert found[""] == ("", [])


@needs_browser
@pytest.mark.parametrize("fragment", ["#lane%2031", "#lane 31"])
def test_a_link_can_contain_a_search(browser: Browser, tmp_path: Path, fragment: str) -> None:
    with opened(browser, layout_page(HALF, GRIDS), tmp_path / "page.html", fragment, dark=True) as shown:
        assert selected(shown) == expected("lane", 31)
        keep(shown, "layout-dark")


@needs_browser
def test_a_link_with_an_invalid_search(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, layout_page(HALF, GRIDS), tmp_path / "page.html", "#100%") as shown:
        assert status(shown).startswith("Examples: T5")


@needs_browser
def test_lanes_of_tensor_memory_are_distinct_from_lanes_of_a_warp(browser: Browser, tmp_path: Path) -> None:
    opcode = "tcgen05.mma.cta_group::2.kind::f16"
    idesc = wl.InstructionDescriptor("f16", 128, 16, "f16", "f16")
    grids = [*GRIDS[:1], *(grid_of(operand, wl.layout(opcode, operand, idesc=idesc)) for operand in "DA")]
    with opened(browser, layout_page(opcode, grids), tmp_path / "page.html", "#tlane 70 cta 1") as shown:
        found = [
            f"{grid.operand}: {grid.describe(number)}"
            for grid in grids[1:]
            for number in range(len(grid.entries))
            if (grid.column("tlane")[number], grid.column("cta")[number]) == (70, 1)
        ]
        assert len(found) == 8 + 16
        assert [line for label in selected(shown) for line in label.split("; ") if line in found] == found
        shown.keyboard.press("Escape")
        cell(shown, 2, 70, 1).hover()
        assert status(shown).splitlines() == [
            "A: row 70, column 1: CTA 1, tlane 6, tcol 0, bits 16 to 31",
            "A: row 70, column 1: CTA 1, tlane 70, tcol 0, bits 16 to 31",
        ]
