"""`warploom compare tensor`: tensor copies on the GPU and on the abstract machine, byte against byte."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from warploom_lab.cli import _campaign

if TYPE_CHECKING:
    from warploom_lab.campaign.tensor_copy import Answer, TensorOutcome, TensorTask
    from warploom_lab.work.campaign import Campaign, Doing, Progress

    Copies = Campaign[TensorTask, TensorOutcome]

_OK = 0
_DIFFERENT = 1
_SHOWN = 20
_PATIENCE = 90.0  # seconds for one case
_WARM = 24  # cases that the machine answers first, so that what it compiles is compiled once
_TOGETHER = 8  # cases that a worker of a crew is given at once
_SLICE = 256  # cases that the GPU here answers before a crew is asked about them


def run(options: argparse.Namespace, device: str = "cuda") -> int:
    """Compare. Errors: UsageError compare.*, dask.*."""
    if options.against is not None:
        return _against(options)
    from warploom.gpu import Gpu
    from warploom_lab.campaign.jobs import tensor_copy
    from warploom_lab.campaign.tensor_cases import tensor_cases
    from warploom_lab.campaign.tensor_copy import TensorOutcome, TensorTask
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    about: dict[str, Any] = {"campaign": "compare tensor", "cases": options.cases, "seed": options.seed}
    about |= {"every": options.every, "device": device}
    if device == "cuda":
        with Gpu() as gpu:  # there is one, or this says so
            about["device"] = f"{gpu.name}, driver for CUDA {gpu.driver}"
        print(about["device"])
    cases = list(tensor_cases(options.cases, options.seed))[:: options.every]
    tasks = [TensorTask(case, device) for case in cases]
    campaign = Campaign(about, tensor_copy, None, tasks, plain, partial(of_plain, TensorOutcome))
    spread = isinstance(options.workers, str)
    doing = _with_crew(options.workers) if spread else _here(campaign, options.workers)
    outcomes = _campaign.watched("comparing", campaign, options, doing)
    _write(options, outcomes)
    return _report(outcomes)


def _here(campaign: Copies, count: int) -> Doing[TensorTask, TensorOutcome]:
    """Processes here do both: each asks the GPU, and then the machine."""
    from warploom_lab.campaign.tensor_copy import lost, modelled_answer, survives

    def warm(tasks: Sequence[TensorTask]) -> None:
        for task in tasks[:_WARM]:
            modelled_answer(task.case)

    return _campaign.processes(
        campaign, count, patience=_PATIENCE, lasts=survives, lost=lost, warm=warm, alone=True
    )


def _with_crew(workers: str) -> Doing[TensorTask, TensorOutcome]:
    """The GPU here answers, in one process after the other as cases end them; the crew says what the machine answers.

    Where that is something else, the machine is asked here again, for the bytes.
    """
    from warploom_lab.campaign.isolated import Isolated
    from warploom_lab.campaign.jobs import tensor_digest
    from warploom_lab.campaign.tensor_copy import hung, outcome_of, real_answer, survives_answer
    from warploom_lab.work.campaign import Campaign

    def digest(data: Any) -> int:
        return data

    def do(tasks: Sequence[TensorTask], progress: Progress) -> Iterator[Sequence[tuple[int, TensorOutcome]]]:
        gpu = Isolated(real_answer, workers=1, patience=_PATIENCE, lasts=survives_answer, lost=hung)
        campaign = Campaign({}, tensor_digest, None, (), digest, digest, group=_TOGETHER)
        with _campaign.crew(workers) as crewed:
            for start in range(0, len(tasks), _SLICE):
                some = tasks[start : start + _SLICE]
                real: dict[int, Answer] = dict(gpu.results(some))
                for found in crewed(campaign)(
                    [task.case for task in some], lambda done, start=start: progress(start + done)
                ):
                    yield [
                        (start + at, outcome_of(some[at].case, real[at], modelled)) for at, modelled in found
                    ]

    return do


def _write(options: argparse.Namespace, outcomes: Sequence[TensorOutcome]) -> None:
    from warploom_lab.campaign.tensor_record import TensorSample, write_differences

    if options.record is not None:
        TensorSample.of(outcomes).write(options.record)
        print(f"{len(outcomes)} cases in {options.record}")
    if options.differences is not None:
        write_differences(options.differences, outcomes)


def _against(options: argparse.Namespace) -> int:
    from warploom_lab.campaign.jobs import tensor_against
    from warploom_lab.campaign.tensor_record import TensorSample
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    taken = TensorSample.read(options.against)
    campaign = Campaign(
        {"campaign": "compare tensor --against", **_campaign.file(options.against)},
        tensor_against,
        None,
        list(zip(taken.cases, taken.digests, strict=True)),
        plain,
        partial(of_plain, tuple[str, str] | None),
        group=_TOGETHER,
    )
    answers = _campaign.carry_out("running", campaign, options, partial(_campaign.processes, campaign))
    found = [
        (case, verdict, answer)
        for case, verdict, answer in zip(taken.cases, taken.verdicts, answers, strict=True)
        if answer is not None
    ]
    for case, verdict, (ours, words) in found[:_SHOWN]:
        print(f"{case}: the GPU's verdict was {verdict}, ours is {ours} {words}")
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
