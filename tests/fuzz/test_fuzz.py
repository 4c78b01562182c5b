"""Mutated inputs: no exception, no hang, no excess memory, and exact round trips."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom_lab.fuzz.campaign import MEMORY, fuzz
from warploom_lab.fuzz.inputs import Inputs
from warploom_lab.fuzz.trial import Fault, find_fault, minimize

CORPUS = Path(__file__).with_name("corpus")
FILES = sorted(CORPUS.rglob("*.ptx"))
PARTS, PART = 4, 5_000


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_inputs(part: int) -> None:
    outcome = fuzz(CORPUS, seed=1, numbers=range(part * PART, (part + 1) * PART))
    assert outcome.tried == PART
    assert outcome.memory < MEMORY
    assert {kind: faults[0].text for kind, faults in outcome.faults.items()} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_the_corpus_has_no_fault(path: Path) -> None:
    text = path.read_bytes().decode(errors="surrogatepass")
    assert find_fault(text) is None


def test_an_input_depends_on_seed_and_number() -> None:
    one, again, other = Inputs(CORPUS, 5), Inputs(CORPUS, 5), Inputs(CORPUS, 6)
    assert [one[k] for k in range(20)] == [again[k] for k in range(20)] != [other[k] for k in range(20)]


def test_a_fault_is_found_and_minimized(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __getattr__(self, name: str) -> object:
            return self.fails

        def fails(self, text: str) -> None:
            raise ZeroDivisionError(text.index("needle"))

    monkeypatch.setattr("warploom_lab.fuzz.trial.wl", Broken())
    hay = "hay\n" * 20
    fault = find_fault(f"{hay}needle{hay}")
    assert fault is not None
    assert fault.kind == "ZeroDivisionError"
    assert minimize(Fault("ZeroDivisionError", fault.text)).strip() == "needle"
