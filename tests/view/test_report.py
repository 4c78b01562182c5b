"""The page of a run: its numbers are the profile's, findings stand where they are, and a browser draws it."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machine.texts import kernel
from sanitize.launches import LAUNCHES
from view.browser import browse, needs_browser, read, told

import warploom as wl
from warploom.launch.api import Run
from warploom.view.listing import lines_of
from warploom.view.shell import part

ALL = {"trace": True, "sanitize": True, "profile": True}

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
    """The cells of every line of the listing, as text."""
    rows = re.findall(r'<tr id="L(\d+)"[^>]*>(.*?)</tr>', html)
    return {
        int(number): [
            unescape(re.sub(r"<[^>]*>", "", each)) for each in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)
        ]
        for number, row in rows
    }


def line_with(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


# The numbers --------------------------------------------------------------------------------------------------


def test_every_line_is_there_with_its_counts(pipeline: Run) -> None:
    assert pipeline.profile is not None
    text = LAUNCHES["warp_specialised"].text
    shown = cells(wl.report(pipeline).html)
    assert [row[-1] for row in shown.values()] == [line.expandtabs(4) for line in text.splitlines()]
    profile, expected = pipeline.profile, dict.fromkeys(range(1, len(shown) + 1), "")
    for line, count in zip(profile.lines, profile.rows["executions"].tolist(), strict=True):
        if line:
            expected[line] = f"{count:,}"
    assert {number: row[1] for number, row in shown.items()} == expected


def test_costs_stand_in_their_line_and_in_the_table(race: Run) -> None:
    html, text = wl.report(race).html, kernel(RACE)
    shown = cells(html)
    store, load, beyond = (line_with(text, each) for each in ("st.shared", "ld.shared", "st.global"))
    assert shown[store][1:4] == ["2", "32", "32-way bank conflict: 64 wavefronts, 2 would do"]
    assert shown[beyond][3] == "16 sectors, 8 would do (50% used)"
    table = html[html.index("Bank conflicts") : html.index("Coalescing")]
    assert re.findall(r'href="#L(\d+)"', table) == [str(store), str(load)]
    assert "<td>62</td><td>64</td><td>2</td>" in table
    assert f'href="#L{beyond}"' in html[html.index("Coalescing") : html.index('id="listing"')]


def test_a_line_with_several_instructions_has_all_their_costs() -> None:
    body = RACE.replace(";\n    xor", "; st.shared.u32 [%r2], %r0; @%p9 st.shared.u32 [%r2], %r0;\n    xor")
    run = launched(kernel(body))
    assert run.profile is not None
    line = next(line for line in lines_of(run.profile) if line.opcode.startswith("st.shared"))
    assert line.row is not None
    assert (line.row["executions"], line.row["wavefronts"], line.row["ways"]) == (2, 128, 32)


def test_findings_stand_on_both_sides(race: Run) -> None:
    html, text = wl.report(race).html, kernel(RACE)
    store, load = line_with(text, "st.shared"), line_with(text, "ld.shared")
    (found,) = race.findings
    assert found.data == {"other line": store}
    after = dict(re.findall(r'<tr id="L(\d+)"[^>]*>.*?</tr>\n<tr class="finding">(.*?)</tr>', html))
    assert set(after) == {str(store), str(load)}
    assert f'<a href="#L{load}">' in after[str(store)]
    assert f'<a href="#L{store}">' in after[str(load)]
    assert found.code in after[str(load)]
    assert found.message in unescape(after[str(load)])


def test_what_ended_a_run_is_a_finding_too() -> None:
    run = launched(kernel("mov.u32 %r1, 1;\nbar.sync 0, 128;\nret;"))
    html = wl.report(run).html
    assert "deadlock" in html[html.index('id="findings"') : html.index('id="timeline"')]


def test_places_of_the_compilers_source() -> None:
    body = "mov.u32 %r1, 1;\n.loc 1 12 3\nmov.u32 %r2, 1;\n\nmov.u32 %r3, 1;\n.loc 1 14 3\nret;"
    run = launched(kernel(body, before='.file 1 "gemm.py"\n'))
    assert run.profile is not None
    text = kernel(body, before='.file 1 "gemm.py"\n')
    lines = lines_of(run.profile)
    first = line_with(text, ".loc 1 12")
    assert [line.origin for line in lines[first - 2 : first + 5]] == [
        "",
        *["gemm.py:12"] * 4,
        *["gemm.py:14"] * 2,
    ]
    assert [line.number for line in lines if line.plain and line.number >= first] == [
        first,
        first + 2,
        first + 4,
    ]


def test_occupancy_is_what_the_text_declares() -> None:
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


def test_the_page_asks_for_nothing(pipeline: Run) -> None:
    html = wl.report(pipeline).html
    elements = read(html)
    assert not re.search(r"https?:|\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest", html)
    assert not [tag for tag, _ in elements.found if tag in ("link", "img", "iframe")]


def test_whatever_a_text_says_stays_text() -> None:
    hostile = "</script><img src=x onerror=\"document.title='x'\">&'<!--"
    text = kernel(
        f"mov.u32 %r1, 1; // {hostile}\n.loc 1 12 3\nret;",
        before=f'.file 1 "{hostile.replace(chr(34), "")}"\n',
    )
    elements = read(wl.report(launched(text)).html)
    assert not [tag for tag, _ in elements.found if tag == "img"]
    assert json.loads(elements.scripts["data"])["timeline"]["tracks"]


def test_what_is_headed_is_said(pipeline: Run) -> None:
    html = wl.report(pipeline).html
    elements = read(html).found
    assert [tag for tag, _ in elements if tag in ("header", "nav", "main")] == ["header", "nav", "main"]
    named = {str(each["aria-labelledby"]) for tag, each in elements if tag == "section"}
    assert named == {str(each["id"]) for tag, each in elements if tag == "h2"}
    tables = html.count("<table")
    assert html.count("<caption>") == html.count("<thead>") == tables
    targets = {str(each.get("id")) for _, each in elements}
    assert all(str(each["href"])[1:] in targets for tag, each in elements if tag == "a")


def test_without_a_profile_there_is_no_report() -> None:
    with pytest.raises(wl.UsageError, match="this run has none"):
        wl.report(Run())


def test_without_a_text_there_is_no_report() -> None:
    module = wl.parse(kernel("ret;"))
    made = type(module).build(module.version, module.target, tuple(module.functions.values()))
    run = wl.launch(made, grid=1, block=32, args=[np.zeros(32, np.uint32)], profile=True)
    with pytest.raises(wl.UsageError, match="was made by program"):
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
    """Text at 4.5 to 1, and what is drawn at 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11)."""
    colours: dict[str, str] = {}
    for style in (part("page.css"), part("report.css")):
        light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
        colours |= re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light)
        if theme == "dark":
            colours |= re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark)

    def contrast(a: str, b: str) -> float:
        low, high = sorted((_luminance(colours[a]), _luminance(colours[b])))
        return (high + 0.05) / (low + 0.05)

    for ground in ("ground", "row", "run", "wait", "copy", "product", "phase", "heat"):
        assert contrast("ink", ground) >= 4.5, ground
    for ink in ("faint", "mark", "loss", "found"):
        assert contrast(ink, "ground") >= 4.5, ink
        assert contrast(ink, "row") >= 4.5, ink
    for mark, ground in (
        ("edge", "ground"),
        ("edge", "wait"),
        ("issue", "run"),
        ("arrival", "run"),
        ("mark", "run"),
    ):
        assert contrast(mark, ground) >= 3, (mark, ground)


# In a browser -------------------------------------------------------------------------------------------------

# A reader of the page: events as a browser makes them, and after each what is said and where the page is.
READER = """
<script>
const told = [];
const canvas = document.getElementById("tracks");
const said = () => document.getElementById("said").textContent;
const note = (what) => told.push([what, said(), location.hash, document.activeElement.id]);
const trace = page.data.timeline;
const last = Math.max(...trace.end);
const box = () => canvas.getBoundingClientRect();
const spot = (k) => [
  150 + (trace.begin[k] + trace.end[k]) / 2 / last * (box().width - 150), 22 + 20 * trace.track[k] + 10];
const point = (type, x, y, more = {}) => canvas.dispatchEvent(new PointerEvent(type, {
  bubbles: true, cancelable: true, clientX: box().left + x, clientY: box().top + y, ...more }));
const key = (name, more = {}) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
// The colours of two pixels of a row, read at once.
const pixels = (left, right, y) => {
  const ratio = devicePixelRatio, from = Math.round(left * ratio), wide = Math.round(right * ratio) - from;
  const { data } = canvas.getContext("2d").getImageData(from, Math.round(y * ratio), wide + 1, 1);
  return [[...data.slice(0, 3)], [...data.slice(-4, -1)]];
};
const wheel = (x, y, more) => canvas.dispatchEvent(new WheelEvent("wheel", {
  bubbles: true, cancelable: true, clientX: box().left + x, clientY: box().top + y, ...more }));
const k = TARGET;
note("at first");
const [x, y] = spot(k);
told.push(["pixels", ...pixels(149, x, y + 6), ""]);
point("pointermove", x, y); note("hover");
point("pointerleave", 0, 0); note("left");
point("pointerdown", x, y); point("click", x, y); note("click");
canvas.focus();
key("Escape"); note("let go");
key("ArrowRight"); note("first");
key("ArrowRight"); note("next");
key("End"); note("end");
key("ArrowDown"); note("below");
key("ArrowUp"); note("above");
key("Home"); note("home");
key("Enter"); note("enter");
canvas.focus();
key("Escape");
for (let times = 0; times < 5; times++) key("+");
point("pointermove", x, y); note("nearer");
key("ArrowRight", { shiftKey: true }); point("pointermove", x, y); note("panned");
point("pointerdown", x, y, { buttons: 1 }); point("pointermove", x - 200, y, { buttons: 1 });
point("click", x - 200, y); note("dragged");
document.getElementById("whole").click();
point("pointermove", x, y); note("whole");
wheel(x, y, { deltaY: -100, ctrlKey: true }); point("pointermove", x, y); note("wheel");
document.getElementById("farther").click(); document.getElementById("nearer").click();
const plain = document.getElementById("plain"), hidden = () =>
  [...document.querySelectorAll("tr.plain")].filter((row) => row.offsetParent === null).length;
told.push(["folded", String(hidden()), "", ""]);
plain.click();
told.push(["unfolded", String(hidden()), "", ""]);
told.push(["resources", String(performance.getEntriesByType("resource").length), "", ""]);
document.body.append(page.make("pre", { id: "told" }, JSON.stringify(told)));
</script>
"""


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_in_a_browser(pipeline: Run, tmp_path: Path, theme: str) -> None:
    html = wl.report(pipeline).html
    timeline = json.loads(read(html).scripts["data"])["timeline"]
    longest = max(
        (k for k, name in enumerate(timeline["category"]) if timeline["categories"][name] == "copy"),
        key=lambda k: timeline["end"][k] - timeline["begin"][k],
    )
    scheme = "--blink-settings=preferredColorScheme=" + {"light": "1", "dark": "0"}[theme]
    page = html.replace("</body>", READER.replace("TARGET", str(longest)) + "</body>")
    after, console = browse(page, tmp_path, "", scheme, "--window-size=1400,1200")
    assert console == ""
    steps = {what: rest for what, *rest in told(after)}
    # Below the name of an event is its colour, and beside the tracks the ground.
    copy, ground = {"light": ("#bcd9f7", "#ffffff"), "dark": ("#12406f", "#0d1117")}[theme]
    assert steps["pixels"][:2] == [[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in (ground, copy)]

    def words(k: int) -> str:
        return f"{timeline['tracks'][timeline['track'][k]][2]}: {timeline['strings'][timeline['name'][k]]}\n"

    def line(k: int) -> str:
        return f"#L{timeline['line'][k]}"

    assert steps["at first"] == ["", "", ""]
    assert steps["hover"][0].startswith(words(longest))
    assert "bytes" in steps["hover"][0]
    assert steps["left"][0] == ""
    assert steps["click"] == [steps["hover"][0], line(longest), line(longest)[1:]]
    assert steps["let go"][0] == ""
    of_first = [k for k, track in enumerate(timeline["track"]) if track == 0]
    of_first.sort(key=lambda k: (timeline["begin"][k], -timeline["end"][k]))
    assert steps["first"][0].startswith(words(of_first[0]))
    assert steps["next"][0].startswith(words(of_first[1]))
    assert steps["end"][0].startswith(words(of_first[-1]))
    assert steps["below"][0].startswith(f"{timeline['tracks'][1][2]}: ")
    assert steps["above"][0].startswith(f"{timeline['tracks'][0][2]}: ")
    assert steps["home"][0] == steps["first"][0]
    assert steps["enter"][1:] == [line(of_first[0]), line(of_first[0])[1:]]
    assert steps["dragged"][1] == steps["enter"][1], "a drag goes nowhere"
    assert steps["whole"][0] == steps["wheel"][0] == steps["hover"][0]
    assert len({steps[each][0] for each in ("hover", "nearer", "panned")}) > 1
    plain = re.findall(r'<tr id="L\d+"[^>]* class="plain"', html)
    assert (steps["folded"][0], steps["unfolded"][0]) == (str(len(plain)), "0")
    assert plain
    assert steps["resources"][0] == "0"


SCROLLER = """
<script>
const canvas = document.getElementById("tracks"), scroller = canvas.parentElement.parentElement;
const tracks = page.data.timeline.tracks.length;
const press = (name) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
for (let times = 0; times <= tracks; times++) press("ArrowDown");
const below = [scroller.scrollTop, document.getElementById("said").textContent];
for (let times = 0; times <= tracks; times++) press("ArrowUp");
const above = [scroller.scrollTop, document.getElementById("said").textContent];
document.body.append(page.make("pre", { id: "told" }, JSON.stringify([canvas.clientHeight, below, above])));
</script>
"""


@needs_browser
def test_rows_come_into_view(pipeline: Run, tmp_path: Path) -> None:
    html = wl.report(pipeline).html
    tracks = json.loads(read(html).scripts["data"])["timeline"]["tracks"]
    page = html.replace("</body>", SCROLLER + "</body>")
    after, console = browse(page, tmp_path, "", "--window-size=1000,300")
    assert console == ""
    height, below, above = told(after)
    hidden = 22 + 20 * len(tracks) - height
    assert hidden > 0
    assert below == [pytest.approx(hidden, abs=2), below[1]]
    assert below[1].startswith(f"{tracks[-1][2]}: ")
    assert above == [0, above[1]]
    assert above[1].startswith(f"{tracks[0][2]}: ")


@needs_browser
def test_a_page_without_a_trace_in_a_browser(tmp_path: Path) -> None:
    text = kernel("mov.u32 %r1, 1; // </script><img src=x onerror=\"document.title='x'\">\nret;")
    html = wl.report(launched(text, trace=False)).html
    after, console = browse(html, tmp_path)
    assert console == ""
    assert "No trace was recorded" in after
    assert "<title>k: report</title>" in after
