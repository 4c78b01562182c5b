"""Lifted texts compared with the recorded ones, which MLIR 22 parsed and verified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

from warploom_lab.mlir.lifting import COMMAND, HEADER, digest, lifted, modules, read

TESTS = Path(__file__).parents[1]
RECORD = TESTS / "evidence" / "lifting"
MODULES = modules(TESTS)
VERDICTS = read(RECORD)


def test_every_module_is_recorded() -> None:
    assert VERDICTS.keys() == MODULES.keys(), f"record again: {COMMAND}"
    header = json.loads((RECORD / HEADER).read_text())
    assert header["mlir"].startswith("22.")
    assert header["modules"] == len(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_mlir_accepted_the_text(name: str) -> None:
    verdict = VERDICTS[name]
    assert not verdict.refused
    assert digest(lifted(MODULES[name])) == verdict.digest, f"the text of '{name}' changed; record again: {COMMAND}"
