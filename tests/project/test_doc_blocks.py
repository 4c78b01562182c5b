"""Every block of code in the documentation does what its page says; `tools/doc_blocks.py` has the conventions."""

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
from doc_blocks import BadPage, Step, agrees, steps_in, steps_of

from warploom.cli import main
from warploom.cli._main import parser as command_line
from warploom.ptx import parse

ROOT = Path(__file__).resolve().parents[2]
MADE = (
    "isa",
    "rules",
    "nvvm",
)  # pages that tools/make_docs.py makes of data whose tests are those of their packages
ELSEWHERE = {"docs/triton.md": "tests/integrations/test_triton_page.py"}
"""Pages whose code another test runs, in files of their own."""

PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.relative_to(ROOT / "docs").parts[0] not in MADE),
]
STEPS = {
    name: steps_in(page) for page in PAGES if (name := page.relative_to(ROOT).as_posix()) not in ELSEWHERE
}
RUN = {page: [step for step in steps if not step.reason] for page, steps in STEPS.items()}
NOT_RUN = [(page, step) for page, steps in STEPS.items() for step in steps if step.reason]
UNREAD = {"text", "lua", "elisp", "vim", "css", "html"}
"""Languages of which nothing is known here."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a reader stands: the repository's examples are there for the pages that name them."""
    for name in ("examples", "tests", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:  # files that a page has saved and imported
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@contextlib.contextmanager
def printing() -> Iterator[io.StringIO]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield printed


def compiled(page: str, step: Step) -> Any:
    """The code of a block, whose lines are those of its page; tracebacks and `author` can read them."""
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
            assert language in UNREAD, f"line {step.line}: blocks of {language!r} are not known"


def options_of(words: list[str]) -> set[str]:
    """The options of a verb and of what it may be followed by."""
    parser, options = command_line(), set[str]()
    for word in words:
        if parser._subparsers is None:
            break
        choices = parser._subparsers._group_actions[0].choices
        assert word in choices, f"there is no verb {word}"
        parser = choices[word]
        options |= set(parser._option_string_actions)
    return options


def read_command(step: Step) -> None:
    """A command that is not run: what it names is there."""
    words = step.words
    while "=" in words[0]:
        words = words[1:]
    if words[0] == "warploom":
        asked = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", step.text))
        assert asked <= options_of(words[1:]), f"line {step.line}: {words[1]} has no {asked}"
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


def do(page: str, step: Step, names: dict[str, Any]) -> None:
    """Take one step of a page."""
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
        said = printed.getvalue()
    elif step.words[0] == "warploom":
        said = run_command(step)
    elif step.words[0] == "python" and Path(step.words[1]).is_file():
        said = run_file(step.words[1:])
    else:
        read_command(step)
        return
    if step.output is not None and not agrees(step.output, said):
        pytest.fail(f"line {step.line}: the page shows\n{step.output}\nprinted is\n{said}", pytrace=False)


def pictures(page: str, folder: Path) -> Iterator[tuple[Path, Path]]:
    """The pictures of a page whose commands stand beside them, drawn here, and as they are in the repository."""
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
def test_a_page_holds(page: str, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for step in RUN[page]:
        do(page, step, names)
    for drawn, kept in pictures(page, folder):
        assert drawn.read_text() == kept.read_text(), f"{kept.name} is not what its command draws"


@pytest.mark.parametrize(
    ("page", "step"), NOT_RUN, ids=[f"{page}:{step.line}: {step.reason}" for page, step in NOT_RUN]
)
def test_a_block_that_is_not_run_says_why_and_reads_well(page: str, step: Step) -> None:
    assert len(step.reason) > 5
    if step.kind == "command":
        read_command(step)
    else:
        read_data(step, step.text)


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


def test_a_page_is_read_as_it_is_meant() -> None:
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
def test_an_output_agrees_or_not(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same


@pytest.mark.parametrize("text", ["```output\nx\n```\n", "<!-- not run: needs a GPU -->\n"])
def test_a_page_whose_blocks_do_not_belong_together_is_refused(text: str) -> None:
    with pytest.raises(BadPage):
        steps_of(text)


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_a_page_that_is_run_elsewhere_is(page: str, test: str) -> None:
    assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")


def test_the_gemm_of_the_tutorial_is_the_example() -> None:
    shown = next(step for step in STEPS["docs/tutorial/5-warp-specialised.md"] if step.kind == "file")
    assert shown.text == (ROOT / "examples" / "gemm_author.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "print(1)\n```\n\n```output\n2\n```\n",
        "raise ValueError\n```\n",
    ],
)
def test_a_block_that_does_otherwise_is_found(text: str) -> None:
    with pytest.raises((pytest.fail.Exception, ValueError)):
        do("page.md", steps_of("```python\n" + text)[0], {})
