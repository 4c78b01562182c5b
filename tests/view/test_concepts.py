"""Concepts of `warploom explain`: their pointers lead somewhere, and their examples work."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("word", ["phase", "proxy", "swizzle", "descriptor"])
def test_the_page_of_a_concept_is_named_and_lists_rules_that_exist(word: str) -> None:
    page = next(each for each in concepts()[word].see if each.startswith("docs/concepts/"))
    assert f"`{page}`" in wl.explain(word)
    codes = re.findall(r"^\| \[(\w+\.[\w/-]+)\]\(", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(codes) >= 3
    for code in codes:
        assert wl.explain(code).startswith(f"# {code}\n")


def test_a_misspelled_concept_is_proposed() -> None:
    with pytest.raises(wl.UsageError) as caught:
        wl.explain("swizle")
    assert caught.value.diagnostics[0].hint == "did you mean swizzle?"
