"""The second mutation programme: correct kernels, and the sanitizer's findings on their mutants."""

from __future__ import annotations

from functools import cache

import pytest
from observe.sanitize.protocol.engine import Mutant
from observe.sanitize.protocol.subjects import KERNELS, SUBJECTS
from observe.sanitize.protocol.verdicts import (
    ALLOWED,
    OPERATORS,
    REASONS,
    UNDECIDED,
    codes,
    judged,
    key,
    mutants,
    rules,
)

SAMPLE = 12
"""The core suite judges every twelfth mutant."""

RIGHT = ("one finding", "more findings", "silent")
RUNS = ("eager", "lazy", "random:1")


@cache
def _mutants(name: str) -> tuple[Mutant, ...]:
    made = mutants(SUBJECTS[name].module)
    return tuple(mutant for mutant in made if key(name, mutant) not in UNDECIDED)


@cache
def _keyed() -> dict[str, tuple[str, Mutant]]:
    return {key(name, mutant): (name, mutant) for name in SUBJECTS for mutant in _mutants(name)}


ALL = sorted(_keyed())


def test_there_are_kernels_and_operators_enough() -> None:
    assert len(SUBJECTS) >= 20
    assert set(SUBJECTS) == {path.stem for path in KERNELS.glob("*.ptx")}
    assert len(OPERATORS) >= 50


def test_every_operator_applies() -> None:
    assert {mutant.operator for _, mutant in _keyed().values()} == set(OPERATORS)


def test_every_exception_is_of_a_mutant_that_exists() -> None:
    assert set(ALLOWED) <= set(_keyed())
    assert not UNDECIDED.keys() & ALLOWED.keys()
    assert set(ALLOWED.values()) == set(REASONS)
    assert all(OPERATORS[name.split(":")[1]].rules for name in ALLOWED)


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("schedule", RUNS)
def test_a_kernel_returns_what_numpy_computes(name: str, schedule: str) -> None:
    assert SUBJECTS[name].run(SUBJECTS[name].module, schedule)


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_correct_kernel_is_silent(name: str) -> None:
    assert codes(SUBJECTS[name], str(SUBJECTS[name].module)) == []


@pytest.mark.parametrize("name", ALL[::SAMPLE])
def test_a_mutant_of_the_sample_is_judged(name: str) -> None:
    _judge(name)


@pytest.mark.parametrize("name", ALL)
def test_every_mutant_is_judged(name: str) -> None:
    _judge(name)


def _judge(name: str) -> None:
    kernel, mutant = _keyed()[name]
    outcome, found = judged(SUBJECTS[kernel], mutant)
    assert outcome in RIGHT, f"{name}, line {mutant.line}: {outcome}, {found}, expected {rules(kernel, mutant)}"


@pytest.mark.parametrize("kernel", SUBJECTS)
def test_what_the_manual_allows_leaves_the_right_results(kernel: str) -> None:
    for mutant in _mutants(kernel):
        if not rules(kernel, mutant):
            for schedule in RUNS:
                assert SUBJECTS[kernel].run(mutant.module, schedule), (key(kernel, mutant), schedule)
