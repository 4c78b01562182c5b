"""The page of layouts: all data are in it, it asks for nothing, and in a browser its cells light up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import chromium, keep, needs_browser, opened, read

import warploom as wl
from warploom.view.grid import data_of, grid_of
from warploom.view.page import page

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
    told = json.loads(read(page(HALF, GRIDS)).scripts["data"])
    assert told == json.loads(json.dumps([data_of(grid) for grid in GRIDS]))


def test_the_page_asks_for_nothing() -> None:
    text = page(HALF, GRIDS)
    elements = read(text)
    assert not re.search(r"https?:|\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest", text)
    policy = [each for tag, each in elements.found if tag == "meta" and "http-equiv" in each]
    assert [str(each["content"]).partition(";")[0] for each in policy] == ["default-src 'none'"]
    assert not [tag for tag, _ in elements.found if tag in ("link", "img", "iframe")]


def test_whatever_it_is_told_stays_text() -> None:
    grid = GRIDS[0].only({"row": 0, "col": 0})
    hostile = "</script><b id='x'>&\"'"
    elements = read(
        page(hostile, [type(grid)(hostile, hostile, hostile, 1, 1, 16, grid.columns, grid.entries)])
    )
    assert not [tag for tag, _ in elements.found if tag == "b"]
    assert json.loads(elements.scripts["data"])[0]["name"] == hostile


# In a browser -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with opened(browser, page(HALF, GRIDS), tmp_path / "page.html") as found:
        yield found


def said(shown: Page) -> str:
    return shown.locator("#said").inner_text()


def lit(shown: Page) -> list[str]:
    return shown.locator("td.lit").evaluate_all("cells => cells.map(cell => cell.ariaLabel)")


def cell(shown: Page, grid: int, row: int, col: int) -> Locator:
    return shown.locator("table").nth(grid).locator("tbody tr").nth(row).locator("td").nth(col)


def expected(column: str, value: int) -> list[str]:
    """What the cells say that have a lane, or a bank."""
    return [
        f"{grid.operand}: {grid.said(number)}"
        for grid in GRIDS
        if column in grid.columns
        for number in range(len(grid.entries))
        if grid.column(column)[number] == value
    ]


@needs_browser
def test_pointing_at_an_element_shows_its_lane(shown: Page) -> None:
    assert (said(shown), lit(shown)) == ("", [])
    cell(shown, 0, 0, 3).hover()
    assert said(shown) == "A: row 0, column 3: lane 1, item 1, register 0, bits 16 to 31"
    assert len(lit(shown)) == 8 + 4  # of A, and of D
    assert lit(shown) == expected("lane", 1)
    keep(shown, "layout-element")
    shown.mouse.move(2, 2)
    assert (said(shown), lit(shown)) == ("", [])


@needs_browser
def test_pointing_at_a_lane_shows_its_elements_and_a_click_keeps_them(shown: Page) -> None:
    shown.get_by_role("button", name="lane 5", exact=True).first.hover()
    assert said(shown) == "lane 5: 12 elements"
    assert lit(shown) == expected("lane", 5)
    shown.get_by_role("button", name="bank 4", exact=True).click()
    shown.mouse.move(2, 2)
    assert lit(shown) == expected("bank", 4)
    keep(shown, "layout-bank")
    shown.keyboard.press("Escape")
    assert (said(shown), lit(shown)) == ("", [])


@needs_browser
def test_keys_move_between_elements(shown: Page) -> None:
    cell(shown, 1, 0, 0).focus()
    for key in ("ArrowRight", "ArrowDown"):
        shown.keyboard.press(key)
    assert said(shown) == "D: row 1, column 1: lane 4, item 1, register 1, bits 0 to 31"
    shown.keyboard.press("End")
    assert said(shown) == "D: row 1, column 7: lane 7, item 1, register 1, bits 0 to 31"
    shown.keyboard.press("/")
    assert shown.evaluate("document.activeElement.id") == "search"


@needs_browser
def test_a_search(shown: Page) -> None:
    shown.keyboard.press("/")
    found = {}
    for text in ("3,4", "T5 r1", "byte 34", "row 2 col 1", "nonsense", ""):
        shown.locator("#search").fill("")
        shown.keyboard.type(text)
        found[text] = said(shown), lit(shown)
    assert [each.partition(":")[0] for each in found["3,4"][1]] == ["A", "D", "B"]
    assert all("lane 5," in each and "register 1," in each for each in found["T5 r1"][1])
    assert found["T5 r1"][0] == "3 elements"
    assert found["byte 34"] == ("0 elements", [])
    assert len(found["row 2 col 1"][1]) == 3
    assert found["nonsense"][0].startswith("Search for such as")
    assert found[""] == ("", [])


@needs_browser
@pytest.mark.parametrize("fragment", ["#lane%2031", "#lane 31"])
def test_a_link_may_say_what_is_searched_for(browser: Browser, tmp_path: Path, fragment: str) -> None:
    with opened(browser, page(HALF, GRIDS), tmp_path / "page.html", fragment, dark=True) as shown:
        assert lit(shown) == expected("lane", 31)
        keep(shown, "layout-dark")


@needs_browser
def test_a_link_that_says_nothing_is_no_fault(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page(HALF, GRIDS), tmp_path / "page.html", "#100%") as shown:
        assert said(shown).startswith("Search for such as")


@needs_browser
def test_lanes_of_tensor_memory_are_no_lanes_of_a_warp(browser: Browser, tmp_path: Path) -> None:
    opcode = "tcgen05.mma.cta_group::2.kind::f16"
    idesc = wl.InstructionDescriptor("f16", 128, 16, "f16", "f16")
    grids = [*GRIDS[:1], *(grid_of(operand, wl.layout(opcode, operand, idesc=idesc)) for operand in "DA")]
    with opened(browser, page(opcode, grids), tmp_path / "page.html", "#tlane 70 cta 1") as shown:
        found = [
            f"{grid.operand}: {grid.said(number)}"
            for grid in grids[1:]
            for number in range(len(grid.entries))
            if (grid.column("tlane")[number], grid.column("cta")[number]) == (70, 1)
        ]
        assert len(found) == 8 + 16
        assert [line for label in lit(shown) for line in label.split("; ") if line in found] == found
        shown.keyboard.press("Escape")
        cell(shown, 2, 70, 1).hover()
        assert said(shown).splitlines() == [
            "A: row 70, column 1: CTA 1, tlane 6, tcol 0, bits 16 to 31",
            "A: row 70, column 1: CTA 1, tlane 70, tcol 0, bits 16 to 31",
        ]
