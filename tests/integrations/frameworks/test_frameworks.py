"""Programs that use Python frameworks, with `warploom exec`: the examples of each framework."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from warploom_lab.programs.frameworks import EXAMPLES, Example, run_on_emulator

ROOT = Path(__file__).parents[3]
RECORD = json.loads((ROOT / "tests/evidence/frameworks/h100.json").read_text(encoding="utf-8"))["examples"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.title.replace(" ", "-"))
def test_an_example_prints_what_it_prints_on_a_gpu(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in example.packages:
        pytest.importorskip(package, exc_type=ImportError)
    if example.name == "pytorch_extension" and shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("WARPLOOM_EXEC", raising=False)
    status, output, errors = run_on_emulator(example)
    assert (status, output) == (0, RECORD[example.title]["gpu"][1]), errors
