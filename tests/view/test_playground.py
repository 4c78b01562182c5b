"""The playground of the documentation site in a real Chromium, from a local copy and without a network."""

from pathlib import Path

import pytest
from browser import chromium, keep, needs_browser

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "build" / "site" / "playground" / "index.html"
FILES = PAGE.with_name("files.js")
OWN = {PAGE.with_name(name).as_uri() for name in ("index.html", "page.css", "page.js", "files.js")}
PATIENCE = 120_000
"""Longest time to wait for the page. Units: ms."""

pytestmark = [
    needs_browser,
    pytest.mark.skipif(not FILES.is_file(), reason="the playground is not built; `make docs` builds it if npm is here"),
]


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def page(browser):
    """The loaded page. It may read its own four files and ask for nothing else."""
    page = browser.new_page(viewport={"width": 1400, "height": 900}, offline=True)
    asked, refused, complaints = set(), [], []

    def route(route, request):
        if request.url in OWN:
            route.continue_()
        else:
            refused.append(request.url)
            route.abort()

    page.route("**/*", route)
    page.on("request", lambda request: asked.add(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(PAGE.as_uri())
    ready(page)
    yield page
    page.close()
    assert not refused
    assert not [url for url in asked if url not in OWN and not url.startswith("blob:")]
    assert not complaints


def ready(page):
    page.wait_for_selector("#state[data-name=ready]", timeout=PATIENCE)


def choose(page, title):
    page.select_option("#example", label=title)


def press(page, button):
    """Press a button, wait for the result, and return its text."""
    page.click(f"#{button}")
    ready(page)
    return page.inner_text("#verdict"), page.inner_text("section.output")


def test_vector_add_runs(page):
    choose(page, "examples/vector_add")
    verdict, output = press(page, "run")
    assert verdict.startswith("z is within its bound")
    assert "float32 1000" in output
    assert "320 memory" in output
    assert page.get_attribute("#verdict", "class") == "good"
    keep(page, "playground_run")


def test_a_tensor_core_multiplication_runs(page):
    choose(page, "one tensor-core multiplication")
    verdict, output = press(page, "run")
    assert verdict.startswith("d is within its bound")
    assert "1 mma" in output


def test_a_kernel_of_300_lines_is_checked(page):
    choose(page, "examples/vector_add")
    text = page.input_value("#ptx")
    line = "    add.rn.f32 %f2, %f0, %f1;\n"
    count = 300 - text.count("\n")
    page.fill("#ptx", text.replace(line, line * (count + 1)))
    verdict, _ = press(page, "check")
    assert verdict.startswith("no errors in 300 lines")
    page.fill("#ptx", page.input_value("#ptx").replace("st.global.f32", "st.global.f31"))
    verdict, output = press(page, "check")
    assert verdict.startswith("1 error")
    assert "kernel.ptx:297:15" in output


def test_a_wrong_kernel_is_refused_with_its_diagnostics(page):
    choose(page, "a kernel with three mistakes")
    verdict, output = press(page, "run")
    assert verdict.startswith("not run · 3 errors")
    assert "operand b is the register '%rd1' of .b64; expected a register of .b32, .f32" in output
    page.click("#diagnostics .place >> nth=0")
    start, end = (page.evaluate(f"document.getElementById('ptx').selection{side}") for side in ("Start", "End"))
    assert page.input_value("#ptx")[start:end] == "u23"
    keep(page, "playground_mistakes")


def test_a_wrong_launch_file_is_refused(page):
    choose(page, "examples/vector_add")
    page.fill("#launch", page.input_value("#launch").replace("launch.grid", "launch.gird"))
    verdict, output = press(page, "run")
    assert verdict.startswith("not run · 1 error")
    assert "launch.toml:3:" in output
    assert "unknown key" in output


def test_layouts_are_drawn(page):
    page.fill("#instruction", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    press(page, "layout")
    assert page.locator("#result h2").all_inner_texts() == ["D", "A", "B", "C"]
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 100)")
    keep(page, "playground_layout")


def test_a_message_shows_text_and_no_elements(page):
    page.fill("#instruction", "<img/src=x/onerror=document.title=1>")
    _, output = press(page, "layout")
    assert "unknown instruction '<img/src=x/onerror=document.title=1>'" in output
    assert page.locator("#diagnostics img").count() == 0
    assert page.title() == "Warploom playground"


def test_an_endless_kernel_can_be_stopped(page):
    page.fill("#ptx", ENDLESS)
    page.fill("#launch", 'kernel.file = "kernel.ptx"\nlaunch.grid = 1\nlaunch.block = 32\n')
    page.click("#run")
    page.click("#stop", timeout=PATIENCE)
    assert page.inner_text("#verdict") == "stopped"
    ready(page)
    choose(page, "examples/vector_add")
    assert press(page, "run")[0].startswith("z is within its bound")


ENDLESS = """.version 8.6
.target sm_80
.address_size 64
.visible .entry spin()
{
    .reg .b32 %r<2>;
    mov.u32 %r0, 0;
again:
    add.u32 %r0, %r0, 1;
    bra again;
}
"""
