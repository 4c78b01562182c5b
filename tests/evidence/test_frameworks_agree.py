"""Record of the examples of Python frameworks on a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warploom_lab.programs.frameworks import EXAMPLES, Example, source_digest

ROOT = Path(__file__).parents[2]
RECORD = json.loads((Path(__file__).parent / "frameworks/h100.json").read_text(encoding="utf-8"))


def test_the_record_has_all_examples_and_is_of_a_gpu() -> None:
    assert "H100" in RECORD["device"]
    assert RECORD["examples"].keys() == {each.title for each in EXAMPLES}
    assert {path.stem for path in (ROOT / "examples/frameworks").glob("*.py")} == {each.name for each in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.title.replace(" ", "-"))
def test_an_example_printed_the_same_on_a_gpu_and_on_the_emulator(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    found = RECORD["examples"][example.title]
    assert found["gpu"] == found["emulator"]
    assert found["gpu"][0] == 0
    assert found["sha256"] == source_digest(example), "the example has changed since the record was made"
