"""The mutation suite itself: it applies widely, its mutants are programs, no result contradicts its verdicts."""

from __future__ import annotations

from functools import cache

import pytest
from observe.sanitize.mutations import KINDS, Mutant, mutants
from observe.sanitize.subjects import SUBJECTS
from observe.sanitize.verdicts import ALLOWED, BREAKS, REASONS, verdict

import warploom as wl

DIFFERENT = ("shorter-store", "other-tile")  # allowed, and of another result
HANDWRITTEN = [name for name, subject in SUBJECTS.items() if not subject.real]


@cache
def _mutants(name: str) -> tuple[Mutant, ...]:
    return tuple(mutants(SUBJECTS[name].module(), SUBJECTS[name].entry))


def test_there_are_kinds_and_kernels_enough() -> None:
    assert len(KINDS) >= 25
    assert len(HANDWRITTEN) >= 10
    assert len(SUBJECTS) - len(HANDWRITTEN) >= 10


def test_every_kind_applies_somewhere_and_has_a_verdict() -> None:
    applied = {mutant.kind for name in SUBJECTS for mutant in _mutants(name)}
    assert applied == set(KINDS) == set(BREAKS)


def test_every_exception_is_of_a_mutant_that_exists() -> None:
    keys = {
        key
        for name in SUBJECTS
        for mutant in _mutants(name)
        for key in (f"{name}:{mutant.kind}:{mutant.place}", f"{name}:{mutant.kind}")
    }
    assert set(ALLOWED) <= keys
    assert set(ALLOWED.values()) <= set(REASONS)


@pytest.mark.parametrize("name", HANDWRITTEN)
def test_a_mutant_is_a_program_of_its_own(name: str) -> None:
    original = SUBJECTS[name].module()
    kinds: set[str] = set()
    for mutant in _mutants(name):
        assert mutant.module != original, mutant
        assert mutant.line > 0
        if mutant.kind not in kinds:
            assert wl.parse(str(mutant.module)) == mutant.module
        kinds.add(mutant.kind)


@pytest.mark.parametrize("name", HANDWRITTEN)
def test_what_the_manual_allows_leaves_the_right_results(name: str) -> None:
    for mutant in _mutants(name):
        allowed = verdict(name, mutant)
        if not allowed.rules and allowed.reason not in DIFFERENT:
            for schedule in ("eager", "lazy", "random:1"):
                assert SUBJECTS[name].run(mutant.module, schedule=schedule)[1], (mutant, schedule)
