"""Table of all instructions by Python name, with the forms, keywords and operands of each."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.isa.model.form import Form, forms
from warploom.isa.model.syntax import Word


@cache
def python_name(word: str) -> str:
    """Return a PTX word as a Python name: `L2_cache_hint` for `L2::cache_hint`, `and_` for `and`."""
    name = re.sub(r"\W+", "_", word)
    return name + "_" if keyword.iskeyword(name) else name


@dataclass(frozen=True, slots=True)
class Candidate:
    """Instruction form that a Python name may refer to. The name determines the slots in `fixed`."""

    form: Form
    fixed: tuple[tuple[str, str], ...]
    keywords: Mapping[str, Word]  # slots, parts of composite words and literal words by Python name
    operands: Mapping[str, str]  # operands by Python name


@cache
def catalogue() -> Mapping[str, tuple[Candidate, ...]]:
    """Return the candidates of every Python name of an instruction."""
    found: dict[str, list[Candidate]] = {}
    for form in forms():
        for name, words, fixed in _names(form):
            found.setdefault(name, []).append(_candidate(form, words, fixed))
    return {name: tuple(each) for name, each in sorted(found.items())}


def _names(form: Form) -> Iterator[tuple[str, Sequence[Word], tuple[tuple[str, str], ...]]]:
    """Yield each Python name of a form, the words in the name, and the slots that it determines."""
    words = form.common_name
    choices = [sorted(form.vocabulary[w.slot]) if w.slot else [w.literal] for w in words]
    for spelled in product(*choices):
        name = python_name("_".join(re.sub(r"\W+", "_", each) for each in spelled))
        yield name, words, tuple((w.slot, text) for w, text in zip(words, spelled, strict=True) if w.slot)


def _candidate(form: Form, named: Sequence[Word], fixed: tuple[tuple[str, str], ...]) -> Candidate:
    keywords: dict[str, Word] = {}
    for word in form.syntax.words:
        if not any(word is each for each in named):
            keywords[python_name(word.slot or word.literal)] = word
        if word.composite is not None:
            keywords.update(dict.fromkeys(word.composite.groupindex, word))
    operands = {python_name(n): n for name in form.syntax.operands for n in name.names}
    return Candidate(form, fixed, keywords, operands)
