"""Wrong inputs of `lower`: each leads to one sentence that names the operation, the operand or the call."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

import warploom as wl

CASES = tomllib.loads((Path(__file__).parent / "wrong_inputs.toml").read_text())


@pytest.mark.parametrize(
    ("source", "text", "error"), [(source, each["text"], each["error"]) for source in CASES for each in CASES[source]]
)
def test_a_wrong_input_is_refused_with_a_sentence(source: str, text: str, error: str) -> None:
    with pytest.raises(wl.LowerError) as found:
        wl.lower(text, source, name="k")
    assert str(found.value.diagnostics[0]) == error


def test_there_are_inputs_of_each_kind() -> None:
    assert {source: len(cases) >= 30 for source, cases in CASES.items()} == {"nvvm": True, "llvm": True}
