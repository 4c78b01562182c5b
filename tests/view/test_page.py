"""The page of layouts: all data are in it, it asks for nothing, and in a browser its cells light up."""

from __future__ import annotations

import json
import re
from pathlib import Path

from view.browser import browse, needs_browser, read, told

import warploom as wl
from warploom.view.grid import data_of, grid_of
from warploom.view.page import page

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

# A reader of the page: events as a browser makes them, and after each what is lit and what is said.
READER = """
<script>
const told = [];
const note = (what) => told.push([what, document.getElementById("said").textContent,
  [...document.querySelectorAll("td.lit")].map((cell) => cell.getAttribute("aria-label"))]);
const cells = (grid) => document.querySelectorAll("table")[grid].querySelectorAll("tbody td");
const button = (holder) => document.querySelector(`button[data-holder="${holder}"]`);
const send = (to, event) => to.dispatchEvent(event);
const key = (to, name) => send(to, new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
note("at first");
send(cells(0)[3], new MouseEvent("mouseover", { bubbles: true }));
note("element");
send(document.getElementById("grids"), new MouseEvent("mouseleave"));
note("left");
send(button("lane 5"), new MouseEvent("mouseover", { bubbles: true }));
note("lane");
send(button("bank 4"), new MouseEvent("click", { bubbles: true }));
send(document.getElementById("grids"), new MouseEvent("mouseleave"));
note("kept");
key(document.body, "Escape");
note("let go");
cells(1)[0].focus();
key(document.activeElement, "ArrowRight");
key(document.activeElement, "ArrowDown");
note("keys");
key(document.activeElement, "End");
note("end");
key(document.activeElement, "/");
told.push(["focus", document.activeElement.id, []]);
const search = document.getElementById("search");
for (const text of ["3,4", "T5 r1", "byte 34", "row 2 col 1", "nonsense", ""]) {
  search.value = text;
  send(search, new Event("input"));
  note(text);
}
document.body.append(Object.assign(document.createElement("pre"), { id: "told", textContent: JSON.stringify(told) }));
</script>
"""


@needs_browser
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    after, console = browse(page(HALF, GRIDS).replace("</body>", READER + "</body>"), tmp_path)
    assert console == ""
    steps = {what: (said, lit) for what, said, lit in told(after)}
    assert steps["at first"] == ("", [])
    said, lit = steps["element"]
    assert said == "A: row 0, column 3: lane 1, item 1, register 0, bits 16 to 31"
    assert len(lit) == 8 + 4  # of A, and of D
    assert all("lane 1," in each for each in lit)
    assert steps["left"] == ("", [])
    said, lit = steps["lane"]
    assert said == "lane 5: 12 elements"
    assert lit == expected("lane", 5)
    assert steps["kept"][1] == expected("bank", 4)
    assert steps["let go"] == ("", [])
    assert steps["keys"][0] == "D: row 1, column 1: lane 4, item 1, register 1, bits 0 to 31"
    assert steps["end"][0] == "D: row 1, column 7: lane 7, item 1, register 1, bits 0 to 31"
    assert steps["focus"][0] == "search"
    assert [each.partition(":")[0] for each in steps["3,4"][1]] == ["A", "D", "B"]
    assert all("lane 5," in each and "register 1," in each for each in steps["T5 r1"][1])
    assert steps["T5 r1"][0] == "3 elements"
    assert steps["byte 34"] == ("0 elements", [])
    assert len(steps["row 2 col 1"][1]) == 3
    assert steps["nonsense"][0].startswith("Search for such as")
    assert steps[""] == ("", [])


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
def test_a_link_may_say_what_is_searched_for(tmp_path: Path) -> None:
    after, _ = browse(page(HALF, GRIDS), tmp_path, "#lane%2031")
    assert len(re.findall(r'<td [^>]*class="l31 lit"', after)) == 12
