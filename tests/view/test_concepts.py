"""Concepts of `warploom explain`: their pointers lead somewhere, and their examples work."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import warploom as wl
from warploom.cli import main
from warploom.view.concepts import Concept, concept_of, concepts

ROOT = Path(__file__).parents[2]
CONCEPTS = list({concept.name: concept for concept in concepts().values()}.values())


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_a_concept_is_explained(concept: Concept, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (concept.name, *concept.other):
        assert concept_of(name.upper()) is concept
        assert concept.text in wl.explain(name)
    assert concept.see
    for subject in concept.see:
        assert (ROOT / subject).is_file() if subject.startswith("docs/") else wl.explain(subject)
    if concept.layout:
        assert main(["layout", *shlex.split(concept.layout)]) == 0
        assert capsys.readouterr().out


def test_a_misspelled_concept_is_proposed() -> None:
    with pytest.raises(wl.UsageError) as caught:
        wl.explain("swizle")
    assert caught.value.diagnostics[0].hint == "did you mean swizzle?"
