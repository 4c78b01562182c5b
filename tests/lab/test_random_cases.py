from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import ClassVar

import pytest

import warploom_lab.ptxas
from warploom.check import Report, check
from warploom.diagnostics import UsageError
from warploom.isa.model.form import forms
from warploom_lab.cli import main
from warploom_lab.ptxas.assembler import NO_ANSWER, Verdict
from warploom_lab.ptxas.cached import CachedAssemblers, Progress, Question
from warploom_lab.ptxas.points import NEWEST, RECENT, first_version, last_version
from warploom_lab.ptxas.random_cases import random_cases


class Agreeing(CachedAssemblers):
    """Assembler with the verdicts of `check`; if `contrary`, the first verdict is inverted."""

    contrary = False
    message = "a reason"
    asked: ClassVar[list[Question]] = []

    def judge_all(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Verdict]:
        self.asked[:] = questions
        results = [check(probe.module(at.target, at.version)).ok for probe, at in questions]
        results[0] ^= self.contrary
        return [Verdict(ok, "" if ok else self.message) for ok in results]


def test_probes_depend_on_the_seed() -> None:
    one, again, other = (random_cases(50, seed, ["logic"]) for seed in (1, 1, 2))
    assert one == again != other


def test_probes_are_from_the_families_and_new() -> None:
    cases = random_cases(200, 3, ["logic", "move"])
    assert {case.family for case in cases} == {"logic", "move"}
    assert len({(case.probe.key, case.points) for case in cases}) == 200
    for case in cases:
        (at,) = case.points
        assert first_version(at.target) <= at.version <= last_version(at.target)
    known = {(case.probe.key, case.points[0]) for case in cases}
    others = random_cases(200, 3, ["logic", "move"], known)
    assert known.isdisjoint((case.probe.key, case.points[0]) for case in others)


def test_recent_probes_are_for_the_newest_release() -> None:
    points = {case.points[0] for case in random_cases(400, 3, ["tcgen05", "convert"], recent=True)}
    assert {at.release for at in points} == {NEWEST}
    assert {at.version for at in points} == set(RECENT)
    rubin = [at for at in points if at.target.startswith("sm_107")]
    assert rubin
    assert min(at.version for at in rubin) == (9, 4)


def test_every_family_has_probes() -> None:
    cases = random_cases(3000, 4)
    assert {case.family for case in cases} == {form.family for form in forms()}
    assert {case.change.count(" and ") for case in cases} >= {0, 1}
    legal = [case for case in cases if case.change == "legal"]
    assert 300 < len(legal) < 900


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown family 'nothing'"):
        random_cases(1, 1, ["nothing"])


def test_the_command_prints_differences(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(warploom_lab.ptxas, "CachedAssemblers", Agreeing)
    command = ["evidence", "legality", "--fresh", "5", "--seed", "9", "--family", "logic"]
    assert main(command) == 0
    assert "on 0 of 5 fresh probes of seed 9" in capsys.readouterr().out
    monkeypatch.setattr(Agreeing, "contrary", True)
    assert main(command) == 1
    printed = capsys.readouterr().out
    probe, at = Agreeing.asked[0]
    assert f" at {at.target} " in printed
    assert probe.key in printed
    assert "1 of 5 fresh probes" in printed


def test_a_missing_answer_is_not_a_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warploom_lab.ptxas, "CachedAssemblers", Agreeing)
    monkeypatch.setattr(Agreeing, "message", NO_ANSWER)
    command = ["evidence", "legality", "--fresh", "5", "--seed", "9", "--family", "logic"]
    monkeypatch.setattr(import_module("warploom.check"), "check", lambda text: Report(()))
    assert main(command) == 0
    assert "0 of 5" in capsys.readouterr().out


def test_a_count_below_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evidence", "legality", "--fresh", "0"]) == 2
    assert "--fresh is 0; expected 1 or more" in capsys.readouterr().err
