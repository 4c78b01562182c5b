"""Execution of the code blocks in the documentation; `warploom_lab/pages/code_blocks.py` has the conventions."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warploom.cli import main
from warploom.cli._main import parser as product_parser
from warploom.diagnostics import WarploomError
from warploom.ptx import parse
from warploom_lab.cli import parser as lab_parser
from warploom_lab.pages.code_blocks import BadPage, Step, matches, steps_in, steps_of

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ("isa", "rules", "nvvm")
"""Folders of generated pages, whose data the tests of their packages cover."""
ELSEWHERE = {"docs/triton.md": "tests/integrations/test_triton_page.py"}
"""Pages whose code another test runs."""

PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.relative_to(ROOT / "docs").parts[0] not in GENERATED),
]
STEPS = {name: steps_in(page) for page in PAGES if (name := page.relative_to(ROOT).as_posix()) not in ELSEWHERE}
RUN = {page: [step for step in steps if not step.reason] for page, steps in STEPS.items()}
NOT_RUN = [(page, step) for page, steps in STEPS.items() for step in steps if step.reason]
OTHER_LANGUAGES = {"text", "lua", "elisp", "vim", "css", "html", "mlir", "llvm", "cuda"}
"""Languages of blocks that are not parsed."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Working folder of a reader, with links to the folders that the pages name."""
    for name in ("examples", "tests", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:  # modules that a page saved and imported
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@contextlib.contextmanager
def printing() -> Iterator[io.StringIO]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield printed


def compiled(page: str, step: Step) -> Any:
    """Compile a block with the line numbers of its page, readable for tracebacks and `author`."""
    text = "\n" * (step.line - 1) + step.text
    name = f"<{page}:{step.line}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec")


def read_data(step: Step, text: str) -> None:
    match step.language:
        case "json":
            json.loads(text)
        case "toml":
            tomllib.loads(text)
        case "ptx":
            parse(text)
        case "python":
            compile(text, step.file or "page", "exec")
        case language:
            assert language in OTHER_LANGUAGES, f"line {step.line}: unknown language {language!r}"


def options_of(words: list[str]) -> set[str]:
    """Return the options of a command and of its verbs."""
    parser = lab_parser() if words[0] == "warploom-lab" else product_parser()
    options = set[str]()
    for word in words[1:]:
        if parser._subparsers is None:
            break
        choices = parser._subparsers._group_actions[0].choices
        assert word in choices, f"unknown verb {word}"
        parser = choices[word]
        options |= set(parser._option_string_actions)
    return options


def read_command(step: Step) -> None:
    """Check that the options and files of a command exist."""
    words = step.words
    while "=" in words[0]:
        words = words[1:]
    if words[0] in ("warploom", "warploom-lab"):
        options = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", step.text))
        assert options <= options_of(words), f"line {step.line}: {words[1]} lacks one of {options}"
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif words[0] == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        named = re.findall(r"warploom\[([\w,]+)\]", step.text)
        assert {extra for names in named for extra in names.split(",")} <= set(extras)
    elif words[0] == "python" and words[1].endswith(".py"):
        assert (ROOT / words[1]).is_file()


def run_command(step: Step) -> str:
    with printing() as printed:
        try:
            status = main(step.words[1:])
        except SystemExit as leaving:
            status = leaving.code
    assert status == step.status, f"line {step.line}: exit status {status}\n{printed.getvalue()}"
    return printed.getvalue()


def run_file(words: list[str]) -> str:
    with printing() as printed, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        runpy.run_path(words[0], run_name="__main__")
    return printed.getvalue()


def run_step(page: str, step: Step, names: dict[str, Any]) -> None:
    """Run one step of a page."""
    if step.kind == "data":
        read_data(step, step.text)
        return
    if step.kind == "file":
        read_data(step, step.text)
        Path(step.file).write_text(step.text, encoding="utf-8")
        return
    if step.kind == "python":
        with printing() as printed:
            exec(compiled(page, step), names)
        output = printed.getvalue()
    elif step.words[0] == "warploom":
        output = run_command(step)
    elif step.words[0] == "python" and Path(step.words[1]).is_file():
        output = run_file(step.words[1:])
    else:
        read_command(step)
        return
    if step.output is not None and not matches(step.output, output):
        pytest.fail(f"line {step.line}: the page shows\n{step.output}\nthe output is\n{output}", pytrace=False)


def pictures(page: str, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (new picture, picture in the repository) for each picture of a page with its command."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for command in re.findall(r"^<!-- (warploom layout .* -o docs/\S+) -->$", text, re.MULTILINE):
        *words, picture = shlex.split(command)
        drawn = folder / Path(picture).name
        assert main([*words[1:], str(drawn)]) == 0
        yield drawn, ROOT / picture
    for trace, picture, steps in re.findall(
        r"^<!-- python docs/images/timeline\.py (\S+) (\S+) (.*) -->$", text, re.MULTILINE
    ):
        drawn = folder / Path(picture).name
        run_file(["docs/images/timeline.py", trace, str(drawn), *steps.split()])
        yield drawn, ROOT / picture


@pytest.mark.parametrize("page", [page for page, steps in RUN.items() if steps])
def test_a_page_runs(page: str, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for step in RUN[page]:
        run_step(page, step, names)
    for drawn, kept in pictures(page, folder):
        assert drawn.read_text() == kept.read_text(), f"{kept.name} is out of date"


def test_excluded_blocks_have_a_reason_and_are_valid() -> None:
    assert {f"{page}:{step.line}": fault for page, step in NOT_RUN if (fault := fault_of(step))} == {}


def test_a_fault_of_an_excluded_block_is_found() -> None:
    (step,) = steps_of("<!-- not run: needs a GPU -->\n\n    warploom tune --missing\n")
    assert "lacks one of {'--missing'}" in fault_of(step)


def fault_of(step: Step) -> str:
    """Return what is wrong in a block that is not run, or an empty string."""
    if len(step.reason) <= 5:
        return "it has no reason"
    try:
        if step.kind == "command":
            read_command(step)
        else:
            read_data(step, step.text)
    except (AssertionError, SyntaxError, ValueError, WarploomError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


PAGE = """\
```python
print("a\\n1.25 s")
```

```output
a
... s
```

<!-- not run: needs a GPU -->

    warploom tune --all

Text.

```console
$ warploom layout X \\
      A
row 1
$ warploom check k.ptx
```
"""


def test_the_steps_of_a_page_are_read() -> None:
    steps = steps_of(PAGE)
    assert [(s.kind, s.line, s.words[:3] if s.kind == "command" else "", s.reason) for s in steps] == [
        ("python", 2, "", ""),
        ("command", 12, ["warploom", "tune", "--all"], "needs a GPU"),
        ("command", 17, ["warploom", "layout", "X"], ""),
        ("command", 20, ["warploom", "check", "k.ptx"], ""),
    ]
    assert steps[0].output == "a\n... s\n"
    assert steps[2].words[3] == "A"
    assert steps[2].output == "row 1\n"
    assert steps[3].output is None


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [("a\n", "a  \n", True), ("a ... c", "a b\nb c", True), ("a", "ab", False), ("a...", "b", False)],
)
def test_an_output_matches(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


@pytest.mark.parametrize("text", ["```output\nx\n```\n", "<!-- not run: needs a GPU -->\n"])
def test_a_page_with_misplaced_blocks_is_refused(text: str) -> None:
    with pytest.raises(BadPage):
        steps_of(text)


def test_other_tests_run_the_remaining_pages() -> None:
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")


def test_the_gemm_of_the_tutorial_equals_the_example() -> None:
    shown = next(step for step in STEPS["docs/tutorial/5-warp-specialised.md"] if step.kind == "file")
    assert shown.text == (ROOT / "examples" / "gemm_author.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["print(1)\n```\n\n```output\n2\n```\n", "raise ValueError\n```\n"])
def test_a_failing_block_is_found(text: str) -> None:
    with pytest.raises((pytest.fail.Exception, ValueError)):
        run_step("page.md", steps_of("```python\n" + text)[0], {})
