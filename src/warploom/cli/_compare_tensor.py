"""`warploom compare tensor`: tensor copies on the GPU and on the abstract machine, byte against byte."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warploom.oracle.campaign.tensor_copy import TensorOutcome

    Progress = Callable[[str, int], AbstractContextManager[Callable[[], object]]]

_OK = 0
_DIFFERENT = 1
_SHOWN = 20
_PATIENCE = 90.0  # seconds for one case
_WARM = 24  # cases that the machine answers first, so that what it compiles is compiled once


def run(options: argparse.Namespace, progress: Progress, device: str = "cuda") -> int:
    """Compare. Errors: UsageError compare.*."""
    if options.against is not None:
        return _against(options, progress)
    from warploom.gpu import Gpu
    from warploom.oracle.campaign.isolated import Isolated
    from warploom.oracle.campaign.tensor_cases import tensor_cases
    from warploom.oracle.campaign.tensor_copy import TensorTask, compare_task, lost, modelled_answer, survives

    if device == "cuda":
        with Gpu() as gpu:  # there is one, or this says so
            print(f"{gpu.name}, driver for CUDA {gpu.driver}")
    cases = list(tensor_cases(options.cases, options.seed))[:: options.every]
    for case in cases[:_WARM]:
        modelled_answer(case)
    tasks = [TensorTask(case, device) for case in cases]
    crew = Isolated(
        compare_task,
        workers=options.workers or max((os.cpu_count() or 1) - 2, 1),
        patience=_PATIENCE,
        lasts=survives,
        lost=lost,
    )
    outcomes: list[TensorOutcome] = []
    with progress("comparing", len(cases)) as step:
        for _, outcome in crew.results(tasks):
            outcomes.append(outcome)
            step()
    outcomes.sort(key=lambda outcome: outcome.case.number)
    _write(options, outcomes)
    return _report(outcomes)


def _write(options: argparse.Namespace, outcomes: Sequence[TensorOutcome]) -> None:
    from warploom.oracle.campaign.tensor_record import TensorSample, write_differences

    if options.record is not None:
        TensorSample.of(outcomes).write(options.record)
        print(f"{len(outcomes)} cases in {options.record}")
    if options.differences is not None:
        write_differences(options.differences, outcomes)


def _against(options: argparse.Namespace, progress: Progress) -> int:
    from warploom.oracle.campaign.tensor_record import TensorSample

    taken = TensorSample.read(options.against)
    with progress("running", 1) as step:
        found = list(taken.differing())
        step()
    for case, verdict, modelled in found[:_SHOWN]:
        print(f"{case}: the GPU's verdict was {verdict}, ours is {modelled.verdict} {modelled.words}")
    print(f"{len(found)} of {len(taken.cases)} cases differ")
    return _DIFFERENT if found else _OK


def _report(outcomes: Sequence[TensorOutcome]) -> int:
    from rich.console import Console
    from rich.table import Table

    table = Table("copy", box=None)
    for title in ("cases", "done", "refused", "trapped", "lost", "differences"):
        table.add_column(title, justify="right")
    by_kind: dict[str, list[TensorOutcome]] = {}
    for outcome in outcomes:
        mode = "im2col" if outcome.case.map.is_im2col else "tile"
        spread = " multicast" if outcome.case.mask else ""
        by_kind.setdefault(f"{outcome.case.action}{spread} {mode}", []).append(outcome)
    for kind, found in [*sorted(by_kind.items()), ("all", list(outcomes))]:
        verdicts = [outcome.real.verdict for outcome in found]
        counts = [len(found), *(verdicts.count(word) for word in ("done", "refused", "trapped"))]
        counts += [verdicts.count("hung") + verdicts.count("failed"), sum(not each.same for each in found)]
        table.add_row(kind, *(f"{count:,}" for count in counts))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    bad = [outcome for outcome in outcomes if not outcome.same]
    for outcome in bad[:_SHOWN]:
        print(outcome)
    if len(bad) > _SHOWN:
        print(f"… and {len(bad) - _SHOWN} more cases")
    return _DIFFERENT if bad else _OK
