"""Examples of the debugger's commands in Python, in notebooks and in a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from debug.consoles import CALLS, GEMM, IN_CALLS, SETUPS, console, debugger_for, order_of_examples
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from warploom.view.debugger.command import TABLE, find, parse
from warploom.view.debugger.results import Result


@pytest.mark.parametrize("name", TABLE)
def test_the_example_of_a_command_runs(name: str) -> None:
    line = TABLE[name].example
    assert find(line)[0].name == name
    result = debugger_for(name)(line)
    assert isinstance(result, Result)
    assert result.is_end == (name == "quit")
    assert result.text() or name == "quit"
    json.dumps(result.data())


@pytest.mark.parametrize("name", TABLE)
def test_a_method_does_what_the_line_does(name: str) -> None:
    found, rest = find(TABLE[name].example)
    call = parse(TABLE[name].example)
    debugger = debugger_for(name)
    words = rest.split()
    options = {option: value for option, value in call.options.items() if value not in (None, False)}
    given = words[: next((k for k, word in enumerate(words) if found.option(word)), len(words))]
    texts = {each.name: _option_text(words, each.words, found) for each in found.options if each.name in options}
    result = getattr(debugger, found.method)(*given, **texts)
    assert result.text() == debugger_for(name)(TABLE[name].example).text()


def _option_text(words: list[str], names: tuple[str, ...], found: object) -> str | bool:
    start = next(k for k, word in enumerate(words) if word in names)
    known = [word for each in found.options for word in each.words]  # type: ignore[attr-defined]
    after = range(start + 1, len(words))
    end = next((k for k in after if words[k] in known), len(words))
    return " ".join(words[start + 1 : end]) or True


def test_the_examples_run_in_a_notebook() -> None:
    shell = InteractiveShell.instance()
    with capture_output():
        shell.run_cell("import warploom as wl")
    for name in order_of_examples()[:-1]:
        setup = f"d = wl.debug({str(GEMM)!r}, schedule='lazy')\n" + "".join(f"d({x!r})\n" for x in SETUPS[GEMM.name])
        with capture_output() as printed:
            done = shell.run_cell(f"{setup}d({TABLE[name].example!r})")
        done.raise_error()
        data, _ = shell.display_formatter.format(done.result)
        assert data["text/plain"] == debugger_for(name)(TABLE[name].example).text()
        assert data["text/plain"] in printed.stdout
        assert "".join(ET.fromstring(data["text/html"]).itertext())


def test_the_examples_run_in_a_terminal(tmp_path: Path) -> None:
    with console([str(GEMM), "--schedule", "lazy"], tmp_path) as terminal:
        assert "hopper_gemm: 4 CTAs of 160 threads" in terminal.read()
        for line in SETUPS[GEMM.name]:
            terminal.run(line)
        expected = debugger_for("focus")
        for name in order_of_examples()[:-1]:
            line = TABLE[name].example
            assert terminal.run(line).rstrip("\n") == expected(line).text()
        terminal.write(f"{TABLE['quit'].example}\n")
        assert terminal.process.wait(60) == 0


def test_the_other_examples_run_in_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "calls.ptx").write_text(CALLS)
    with console(["calls.ptx", "--grid", "1", "--block", "32"], tmp_path) as terminal:
        terminal.read()
        for line in SETUPS["calls.ptx"]:
            terminal.run(line)
        for name in IN_CALLS:
            assert terminal.run(TABLE[name].example).rstrip("\n") == debugger_for(name)(TABLE[name].example).text()
