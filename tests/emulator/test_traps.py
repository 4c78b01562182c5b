"""Every code of the emulator has a page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from emulator.texts import HEADER, kernel

import warploom as wl
from warploom.cli import main
from warploom.emulator.traps import TrapRule, traps

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


def _launch(example: str) -> None:
    """Launch the kernel of an example as the pages describe it."""
    is_module = ".entry" in example
    text = example if ".version" in example else HEADER + example if is_module else kernel(f"{example}\nret;")
    wl.launch(text, grid=1, block=128, args=[] if is_module else [np.zeros(128, np.uint32)])


@pytest.mark.parametrize("rule", [rule for rule in traps().values() if rule.bad], ids=lambda rule: rule.code)
def test_only_the_bad_example_is_reported(rule: TrapRule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", "100000")
    with pytest.raises(wl.WarploomError) as error:
        _launch(rule.bad)
    assert error.value.diagnostics[0].code == rule.code
    _launch(rule.good)
