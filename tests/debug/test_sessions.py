"""Sessions of the scenario pages, with the lines that the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from debug.scenarios.generate import FOLDER, SCENARIOS

from warploom.cli import main

PROMPT = "(wl) "


def sessions(path: Path) -> list[list[tuple[str, list[str]]]]:
    """Return the sessions of a page: the commands, each with the lines below it."""
    blocks = re.findall(
        r"^```session\n\$ [^\n]*\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return [[(first, rest) for first, *rest in map(str.splitlines, block.split(PROMPT)[1:])] for block in blocks]


def unmatched(shown: list[str], printed: list[str]) -> list[str]:
    """Return the lines of a page that are not in the output, in the order of the page."""
    rest = iter(printed)
    patterns = (".*".join(re.escape(part.strip()) for part in line.split("…")) for line in shown)
    return [line for line, pattern in zip(shown, patterns, strict=True) if not any(re.search(pattern, x) for x in rest)]


@pytest.mark.parametrize("name", [each.name for each in SCENARIOS])
def test_a_session_prints_what_the_page_shows(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FOLDER)
    (session,) = sessions(FOLDER / f"{name}.md")
    assert len(session) <= 10
    assert main(["debug", f"{name}.toml", *(word for command, _ in session for word in ("-x", command))]) == 0
    _, *parts = capsys.readouterr().out.split(PROMPT)
    for (command, shown), part in zip(session, parts, strict=True):
        first, *printed = part.splitlines()
        assert first == command
        assert unmatched(shown, printed) == [], part


def test_a_missing_line_of_a_session_is_found() -> None:
    assert unmatched(["a … c", "b"], ["a b c", "x", "b"]) == []
    assert unmatched(["b", "a … c"], ["a b c", "x", "b"]) == ["a … c"]
