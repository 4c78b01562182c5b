"""Every code of the machine has its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warploom.cli import main
from warploom.emulator.traps import traps

SOURCE = Path(__file__).resolve().parents[2] / "src/warploom"


def test_every_code_in_the_source_has_a_record_and_no_other_does() -> None:
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        found.update(re.findall(r'"(emulator\.[a-z-]+)"', path.read_text(encoding="utf-8")))
    assert found == set(traps())


@pytest.mark.parametrize("code", traps())
def test_a_code_can_be_explained(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", code]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"# {code}\n")
    assert traps()[code].cure in said
