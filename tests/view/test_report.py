"""The report of a run: figures of the profile, findings at their lines, and behaviour in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browser import chromium, keep, needs_browser, opened, read
from emulator.texts import kernel
from observe.sanitize.launches import LAUNCHES

import warploom as wl
from warploom.runtime.api import Run
from warploom.view.html_page import asset
from warploom.view.listing import lines_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ALL = {"trace": True, "sanitize": True, "raises": False, "profile": True}

RACE = """
    .shared .align 128 .b8 tile[8192];
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %r0, 128, %r1;
    st.shared.u32 [%r2], %r0;
    xor.b32 %r3, %r0, 32;
    mad.lo.u32 %r4, %r3, 128, %r1;
    ld.shared.u32 %r5, [%r4];
    mad.wide.u32 %rd2, %r0, 8, %rd0;
    st.global.u32 [%rd2], %r5;
    ret;"""


def launched(text: str, *, block: int = 64, **options: Any) -> Run:
    return wl.launch(text, grid=1, block=block, args=[np.zeros(256, np.uint32)], **{**ALL, **options})


@pytest.fixture(scope="module")
def pipeline() -> Run:
    run, _ = LAUNCHES["warp_specialised"].run(schedule="lazy", **ALL)
    return run


@pytest.fixture(scope="module")
def race() -> Run:
    return launched(kernel(RACE))


def cells(html: str) -> dict[int, list[str]]:
    """Return the cells of every line of the listing as text."""
    rows = re.findall(r'<tr id="L(\d+)"[^>]*>(.*?)</tr>', html)
    return {
        int(number): [unescape(re.sub(r"<[^>]*>", "", each)) for each in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for number, row in rows
    }


def line_with(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


# Figures --------------------------------------------------------------------------------------------------


def test_every_line_is_listed_with_its_counts(pipeline: Run) -> None:
    assert pipeline.profile is not None
    text = LAUNCHES["warp_specialised"].text
    shown = cells(wl.report(pipeline).html)
    assert [row[-1] for row in shown.values()] == [line.expandtabs(4) for line in text.splitlines()]
    profile, expected = pipeline.profile, dict.fromkeys(range(1, len(shown) + 1), "")
    for line, count in zip(profile.lines, profile.rows["executions"].tolist(), strict=True):
        if line:
            expected[line] = f"{count:,}"
    assert {number: row[1] for number, row in shown.items()} == expected


def test_costs_are_shown_at_their_line_and_in_the_table(race: Run) -> None:
    html, text = wl.report(race).html, kernel(RACE)
    shown = cells(html)
    store, load, beyond = (line_with(text, each) for each in ("st.shared", "ld.shared", "st.global"))
    assert shown[store][1:4] == ["2", "32", "32-way bank conflict: 64 wavefronts instead of 2"]
    assert shown[beyond][3] == "16 sectors instead of 8 (50% used)"
    table = html[html.index("Bank conflicts") : html.index("Coalescing")]
    assert re.findall(r'href="#L(\d+)"', table) == [str(store), str(load)]
    assert "<td>62</td><td>64</td><td>2</td>" in table
    assert f'href="#L{beyond}"' in html[html.index("Coalescing") : html.index('id="listing"')]


def test_a_line_with_several_instructions_has_the_sum_of_their_costs() -> None:
    body = RACE.replace(";\n    xor", "; st.shared.u32 [%r2], %r0; @%p9 st.shared.u32 [%r2], %r0;\n    xor")
    run = launched(kernel(body))
    assert run.profile is not None
    line = next(line for line in lines_of(run.profile) if line.opcode.startswith("st.shared"))
    assert line.row is not None
    assert (line.row["executions"], line.row["wavefronts"], line.row["ways"]) == (2, 128, 32)


def test_findings_are_shown_at_both_lines(race: Run) -> None:
    html, text = wl.report(race).html, kernel(RACE)
    store, load = line_with(text, "st.shared"), line_with(text, "ld.shared")
    (found,) = race.findings
    assert found.data is not None
    assert found.data["other line"] == store
    after = dict(re.findall(r'<tr id="L(\d+)"[^>]*>.*?</tr>\n<tr class="finding">(.*?)</tr>', html))
    assert set(after) == {str(store), str(load)}
    assert f'<a href="#L{load}">' in after[str(store)]
    assert f'<a href="#L{store}">' in after[str(load)]
    assert found.code in after[str(load)]
    assert found.message in unescape(after[str(load)])


def test_a_deadlock_is_a_finding() -> None:
    run = launched(kernel("mov.u32 %r1, 1;\nbar.sync 0, 128;\nret;"))
    html = wl.report(run).html
    assert "deadlock" in html[html.index('id="findings"') : html.index('id="timeline"')]


def test_locations_in_the_compilers_source() -> None:
    body = "mov.u32 %r1, 1;\n.loc 1 12 3\nmov.u32 %r2, 1;\n\nmov.u32 %r3, 1;\n.loc 1 14 3\nret;"
    run = launched(kernel(body, before='.file 1 "gemm.py"\n'))
    assert run.profile is not None
    text = kernel(body, before='.file 1 "gemm.py"\n')
    lines = lines_of(run.profile)
    first = line_with(text, ".loc 1 12")
    assert [line.origin for line in lines[first - 2 : first + 5]] == ["", *["gemm.py:12"] * 4, *["gemm.py:14"] * 2]
    assert [line.number for line in lines if line.is_filler and line.number >= first] == [first, first + 2, first + 4]


def test_factors_of_occupancy() -> None:
    body = ".shared .align 8 .b8 tile[640];\nmov.u32 %r1, tile;\nsetmaxnreg.dec.sync.aligned.u32 24;\nret;"
    run = launched(kernel(body, directives=".maxntid 128, 1, 1 .maxnreg 168"), block=128, shared=1024)
    html = wl.report(run).html
    rows = {
        unescape(re.sub(r"<[^>]*>", "", head)): unescape(value)
        for head, value in re.findall(r'<tr><th scope="row">(.*?)</th><td>(.*?)</td>', html)
    }
    assert rows["Threads of a CTA"] == "128"
    assert rows[".maxnreg"] == "168"
    assert rows[".maxntid"] == "128, 1, 1"
    assert rows["Registers of a thread"] == "setmaxnreg.dec.sync.aligned.u32 24;"
    assert (rows["Shared memory, static"], rows["Shared memory, dynamic"]) == ("640 bytes", "1,024 bytes")
    assert rows["Registers declared"] == "10 predicates, 10 of 16 bits, 60 of 32 bits, 50 of 64 bits"


# The page -----------------------------------------------------------------------------------------------------


def test_the_page_loads_nothing(pipeline: Run) -> None:
    html = wl.report(pipeline).html
    elements = read(html)
    assert not re.search(r"https?:|\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest", html)
    assert not [tag for tag, _ in elements.found if tag in ("link", "img", "iframe")]


def test_texts_are_escaped() -> None:
    hostile = "</script><img src=x onerror=\"document.title='x'\">&'<!--"
    text = kernel(
        f"mov.u32 %r1, 1; // {hostile}\n.loc 1 12 3\nret;", before=f'.file 1 "{hostile.replace(chr(34), "")}"\n'
    )
    elements = read(wl.report(launched(text)).html)
    assert not [tag for tag, _ in elements.found if tag == "img"]
    assert json.loads(elements.scripts["data"])["timeline"]["tracks"]


def test_sections_tables_and_links_are_labelled(pipeline: Run) -> None:
    html = wl.report(pipeline).html
    elements = read(html).found
    assert [tag for tag, _ in elements if tag in ("header", "nav", "main")] == ["header", "nav", "main"]
    named = {str(each["aria-labelledby"]) for tag, each in elements if tag == "section"}
    assert named == {str(each["id"]) for tag, each in elements if tag == "h2"}
    tables = html.count("<table")
    assert html.count("<caption>") == html.count("<thead>") == tables
    targets = {str(each.get("id")) for _, each in elements}
    assert all(str(each["href"])[1:] in targets for tag, each in elements if tag == "a")


def test_a_run_without_profile_is_refused() -> None:
    with pytest.raises(wl.UsageError, match="this run has none"):
        wl.report(Run())


def test_a_kernel_without_text_is_refused() -> None:
    module = wl.parse(kernel("ret;"))
    made = type(module).build(module.version, module.target, tuple(module.functions.values()))
    run = wl.launch(made, grid=1, block=32, args=[np.zeros(32, np.uint32)], profile=True)
    with pytest.raises(wl.UsageError, match="was built in Python"):
        wl.report(run)


def test_a_notebook_shows_the_page_in_a_frame(race: Run) -> None:
    shown = wl.report(race)
    ((tag, attributes),) = read(shown._repr_html_()).found
    assert tag == "iframe"
    assert attributes["srcdoc"] == shown.html


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(theme: str) -> None:
    """Compare with WCAG 2.2: 4.5 to 1 for text (1.4.3), 3 to 1 for graphics (1.4.11)."""
    colours: dict[str, str] = {}
    for style in (asset("page.css"), asset("report.css")):
        light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
        colours |= re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light)
        if theme == "dark":
            colours |= re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark)

    def contrast(a: str, b: str) -> float:
        low, high = sorted((_luminance(colours[a]), _luminance(colours[b])))
        return (high + 0.05) / (low + 0.05)

    for ground in ("ground", "row", "run", "wait", "copy", "multiplication", "phase", "heat"):
        assert contrast("ink", ground) >= 4.5, ground
    for ink in ("faint", "mark", "loss", "found"):
        assert contrast(ink, "ground") >= 4.5, ink
        assert contrast(ink, "row") >= 4.5, ink
    for mark, ground in (("edge", "ground"), ("edge", "wait"), ("issue", "run"), ("arrival", "run"), ("mark", "run")):
        assert contrast(mark, ground) >= 3, (mark, ground)


# In a browser -------------------------------------------------------------------------------------------------

GUTTER, AXIS, ROW = 150, 22, 20  # of the timeline, in pixels
COPY, GROUND = {False: "#bcd9f7", True: "#12406f"}, {False: "#ffffff", True: "#0d1117"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


class Timeline:
    """Timeline of an open page, and its data."""

    def __init__(self, shown: Page) -> None:
        self.shown = shown
        self.canvas = shown.locator("#tracks")
        self.data: dict[str, Any] = json.loads(shown.locator("#data").text_content() or "")["timeline"]
        self.canvas.scroll_into_view_if_needed()

    @property
    def status(self) -> str:
        return self.shown.locator("#status").inner_text()

    def description(self, k: int) -> str:
        """Return the first line of the status of an event: its track and name."""
        data = self.data
        return f"{data['tracks'][data['track'][k]][2]}: {data['strings'][data['name'][k]]}\n"

    def line(self, k: int) -> str:
        return f"L{self.data['line'][k]}"

    def spot(self, k: int) -> tuple[float, float]:
        """Return the middle of an event in the canvas, when everything is shown."""
        data, width = self.data, self.canvas.evaluate("canvas => canvas.clientWidth")
        share = (data["begin"][k] + data["end"][k]) / 2 / max(data["end"])
        return GUTTER + share * (width - GUTTER), AXIS + ROW * (data["track"][k] + 0.5)

    def point(self, x: float, y: float) -> None:
        box = self.canvas.bounding_box()
        assert box is not None
        self.shown.mouse.move(box["x"] + x, box["y"] + y)

    def longest(self, category: str) -> int:
        data = self.data
        of_it = [k for k, name in enumerate(data["category"]) if data["categories"][name] == category]
        return max(of_it, key=lambda k: data["end"][k] - data["begin"][k])

    def colours(self, y: float, *places: float) -> list[str]:
        """Return the colours of pixels of a row, read once because browsers warn of repeated reads."""
        read = "(canvas, [y, wide]) => [...canvas.getContext('2d').getImageData(0, y, wide, 1).data]"
        row = self.canvas.evaluate(read, [round(y), round(max(places)) + 1])
        return ["#" + "".join(f"{part:02x}" for part in row[4 * round(x) :][:3]) for x in places]


@pytest.fixture
def timeline(pipeline: Run, browser: Browser, tmp_path: Path) -> Iterator[Timeline]:
    with opened(browser, wl.report(pipeline).html, tmp_path / "page.html", size=(1400, 1000)) as shown:
        yield Timeline(shown)


def at(shown: Page) -> tuple[str, str]:
    """Return the fragment of the page's address and the ID of the focused element."""
    return shown.evaluate("[location.hash, document.activeElement.id]")


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_events_are_drawn_in_the_colours_of_the_theme(
    pipeline: Run, browser: Browser, tmp_path: Path, dark: bool
) -> None:
    html = wl.report(pipeline).html
    with opened(browser, html, tmp_path / "page.html", dark=dark, size=(1400, 1000)) as shown:
        timeline = Timeline(shown)
        x, y = timeline.spot(timeline.longest("copy"))
        # A pixel of the event below its name, and one of the ground beside the rows.
        assert timeline.colours(y + 6, x, GUTTER - 2) == [COPY[dark], GROUND[dark]]
        timeline.point(x, y)
        keep(shown, f"report-{'dark' if dark else 'light'}")


@needs_browser
def test_pointing_describes_an_event_and_a_click_shows_its_line(timeline: Timeline) -> None:
    assert timeline.status == ""
    k = timeline.longest("copy")
    timeline.point(*timeline.spot(k))
    assert timeline.status.startswith(timeline.description(k))
    assert "bytes" in timeline.status
    timeline.point(5, 5)
    assert timeline.status == ""
    timeline.point(*timeline.spot(k))
    timeline.shown.mouse.down()
    timeline.shown.mouse.up()
    assert at(timeline.shown) == [f"#{timeline.line(k)}", timeline.line(k)]
    keep(timeline.shown, "report-line")


@needs_browser
def test_keys_move_between_events(timeline: Timeline) -> None:
    data, press = timeline.data, timeline.shown.keyboard.press
    first = [k for k, track in enumerate(data["track"]) if track == 0]
    first.sort(key=lambda k: (data["begin"][k], -data["end"][k]))
    timeline.canvas.focus()
    for key, expected in (
        ("ArrowRight", timeline.description(first[0])),
        ("ArrowRight", timeline.description(first[1])),
        ("End", timeline.description(first[-1])),
        ("ArrowDown", f"{data['tracks'][1][2]}: "),
        ("ArrowUp", f"{data['tracks'][0][2]}: "),
        ("Home", timeline.description(first[0])),
    ):
        press(key)
        assert timeline.status.startswith(expected), key
    press("Enter")
    assert at(timeline.shown) == [f"#{timeline.line(first[0])}", timeline.line(first[0])]
    timeline.canvas.focus()
    press("Escape")
    assert timeline.status == ""


@needs_browser
def test_zooming_and_panning(timeline: Timeline) -> None:
    shown, k = timeline.shown, timeline.longest("copy")
    x, y = timeline.spot(k)

    def seen() -> str:
        timeline.point(5, 5)
        timeline.point(x, y)
        return timeline.status

    whole = seen()
    assert whole.startswith(timeline.description(k))
    timeline.canvas.focus()
    # Zoom in around the middle of the event, which keeps its place.
    shown.keyboard.down("Control")
    for _ in range(12):
        shown.mouse.wheel(0, -100)
    shown.keyboard.up("Control")
    assert seen() == whole
    assert timeline.colours(y + 6, GUTTER + 3) == [COPY[False]], "the event fills its row"
    for _ in range(30):
        shown.keyboard.press("Shift+ArrowRight")
    assert seen() != whole
    shown.keyboard.press("0")
    assert seen() == whole
    for _ in range(4):
        shown.get_by_role("button", name="Zoom in").click()
    timeline.point(x, y)
    shown.mouse.down()
    timeline.point(x - 300, y)
    shown.mouse.up()
    assert at(shown)[0] == "", "a drag does not follow a link"
    for _ in range(4):
        shown.get_by_role("button", name="Zoom out").click()
    assert seen() == whole


@needs_browser
def test_keys_scroll_rows_into_view(pipeline: Run, browser: Browser, tmp_path: Path) -> None:
    with opened(browser, wl.report(pipeline).html, tmp_path / "page.html", size=(1000, 300)) as shown:
        timeline = Timeline(shown)
        tracks = timeline.data["tracks"]
        timeline.canvas.focus()
        scrolled = "canvas => [canvas.parentElement.parentElement.scrollTop, canvas.clientHeight]"
        for key, track in (("ArrowDown", tracks[-1]), ("ArrowUp", tracks[0])):
            for _ in range(len(tracks) + 1):
                shown.keyboard.press(key)
            assert timeline.status.startswith(f"{track[2]}: ")
            top, height = timeline.canvas.evaluate(scrolled)
            hidden = AXIS + ROW * len(tracks) - height
            assert hidden > 0
            assert top == pytest.approx(hidden if key == "ArrowDown" else 0, abs=2)


@needs_browser
def test_findings_and_lines_in_a_browser(race: Run, browser: Browser, tmp_path: Path) -> None:
    text = kernel(RACE)
    store, load = line_with(text, "st.shared"), line_with(text, "ld.shared")
    with opened(browser, wl.report(race).html, tmp_path / "page.html", size=(1200, 1000)) as shown:
        shown.locator("#findings").get_by_role("link", name=f"line {store}").click()
        assert at(shown)[0] == f"#L{store}"
        keep(shown, "report-finding")
        shown.locator(f"#L{store} + tr.finding").get_by_role("link", name=f"line {load}").click()
        assert at(shown)[0] == f"#L{load}"


@needs_browser
def test_filler_lines_are_hidden(timeline: Timeline) -> None:
    filler = timeline.shown.locator("tr.filler")
    assert filler.count() > 0
    assert not filler.first.is_visible()
    timeline.shown.get_by_label("Show blank lines").check()
    assert filler.first.is_visible()


@needs_browser
def test_a_hostile_text_without_a_trace_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    text = kernel("mov.u32 %r1, 1; // </script><img src=x onerror=\"document.title='x'\">\nret;")
    html = wl.report(launched(text, trace=False)).html
    with opened(browser, html, tmp_path / "page.html") as shown:
        assert shown.title() == "k: report"
        assert shown.get_by_text("The launch recorded no trace.").is_visible()
