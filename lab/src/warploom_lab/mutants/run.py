"""Runs of the mutants of compiled kernels, and their outcomes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import warploom as wl
from warploom.diagnostics import WarploomError
from warploom_lab.compiled.run import arguments, placement, wrong_results
from warploom_lab.mutants.equivalent import reason_of
from warploom_lab.mutants.kinds import KINDS, WRONG, edits
from warploom_lab.mutants.program import Kernel
from warploom_lab.mutants.subjects import Subject
from warploom_lab.work.isolated import IsolatedProcesses

SCHEDULES = ("eager", "lazy", "random:1")
FOUND, EQUIVALENT = "found", "equivalent"
RIGHT = (FOUND, EQUIVALENT)
TIMEOUT = 600  # seconds for all mutants of one kind and one kernel


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one mutant.

    `verdict` is "found", "equivalent", "missed", "misnamed" (only rules that the kind does not break are reported) or
    "wrongly reported" (a mutant that is correct, or the kernel itself, has a finding). `codes` lists what each schedule
    reported, and `reason` is the key of the rule by which the mutant is correct.
    """

    kernel: str
    kind: str
    place: int
    line: int
    verdict: str
    codes: tuple[str, ...]
    reason: str = ""

    @property
    def key(self) -> str:
        """Name of the mutant."""
        return f"{self.kernel}:{self.kind}:{self.place}"


def launch(case: dict[str, Any], text: str, schedule: str) -> tuple[str, ...]:
    """Return the codes that a launch reports: of findings, of the error that ends it, and `WRONG`.

    `case` is the description of the launch, and `text` the kernel.
    """
    values, args = arguments(case)
    before = {name: deepcopy(value) for name, value in values.items()}
    try:
        done = wl.sanitize(text, **placement(case), args=args, schedules=(schedule,))
    except WarploomError as error:
        return tuple(dict.fromkeys(each.code for each in error.diagnostics))
    codes = list(dict.fromkeys(finding.code for finding in done.findings))
    if done.error is not None:
        return tuple(codes)
    if wrong_results(case, before, values):
        codes.append(WRONG)
    return tuple(codes)


def judge(case: dict[str, Any], text: str, kind: str, place: int, line: int, reason: str) -> Outcome:
    """Run a mutant under every schedule until it is found, and return the outcome.

    `reason` is the key of the reason why the mutant is correct, or "".
    """
    name = case["name"]
    allowed = {*KINDS[kind].breaks, *((WRONG,) if KINDS[kind].wrong else ())}
    seen: dict[str, None] = {}
    for schedule in SCHEDULES:
        seen |= dict.fromkeys(launch(case, text, schedule))
        if allowed & seen.keys():
            break
    codes = tuple(seen)
    if reason:
        verdict = "wrongly reported" if codes else "equivalent"
    elif not codes:
        verdict = "missed"
    else:
        verdict = "found" if allowed & seen.keys() else "misnamed"
    return Outcome(name, kind, place, line, verdict, codes, reason)


def outcomes(folder: Path, sites: int, task: tuple[dict[str, Any], str]) -> list[Outcome]:
    """Return the outcomes of the mutants of one kind of one kernel.

    The kind "" stands for the kernel without a change.
    """
    case, kind = task
    text = (folder / case["file"]).read_text(encoding="utf-8")
    if not kind:
        codes = [code for schedule in SCHEDULES for code in launch(case, text, schedule)]
        return [
            Outcome(case["name"], "", 0, 0, "wrongly reported" if codes else "equivalent", tuple(codes), "unchanged")
        ]
    kernel = Kernel(text, case["entry"])
    executed = executed_lines(case, text)
    found: list[Outcome] = []
    for place, changes in edits(kernel, kind, sites, executed):
        changed = [site for site, _ in changes]
        reason = reason_of(kernel, math.prod(case["cluster"]), f"{case['name']}:{kind}:{place}", changed)
        found.append(judge(case, kernel.edited(changes), kind, place, changed[0].line, reason))
    return found


def executed_lines(case: dict[str, Any], text: str) -> frozenset[int]:
    """Return the lines of a kernel at which a thread executes an instruction."""
    _, args = arguments(case)
    done = wl.launch(text, **placement(case), args=args, profile=True)
    assert done.profile is not None
    rows = done.profile.rows
    return frozenset(line for line, lanes in zip(done.profile.lines, rows["lanes"], strict=True) if lanes)


def run_all(
    folders: Sequence[Path], subjects: Sequence[Subject], kinds: Sequence[str], *, sites: int, workers: int
) -> Iterator[Outcome]:
    """Yield the outcomes of the mutants of the kernels that are in folders.

    `kinds` names the kinds. Each kind has at most `sites` mutants of a kernel.
    """
    for folder in folders:
        paths = [(subject, folder / f"{subject.name}.json") for subject in subjects]
        cases = [subject.case(json.loads(path.read_text(encoding="utf-8"))) for subject, path in paths if path.exists()]
        tasks = [(case, kind) for case in cases for kind in ("", *kinds)]
        pool = IsolatedProcesses(
            partial(outcomes, folder, sites), workers=workers, timeout=TIMEOUT,
            is_reusable=lambda _: True, on_loss=_lost,
        )  # fmt: skip
        for _, found in pool.results(tasks):
            yield from found


def _lost(task: tuple[dict[str, Any], str]) -> list[Outcome]:
    """Return the outcome of a task whose process ended or took too long."""
    return [Outcome(task[0]["name"], task[1], -1, 0, "missed", ("the process ended or took too long",))]


def record(found: Sequence[Outcome]) -> dict[str, Any]:
    """Return the JSON data of outcomes."""
    return {"schedules": SCHEDULES, "mutants": [asdict(each) for each in sorted(found, key=lambda each: each.key)]}
