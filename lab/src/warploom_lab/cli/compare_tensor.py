"""`warploom-lab compare tensor`: compare tensor copies on a GPU and on the emulator, byte for byte."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, print_table

if TYPE_CHECKING:
    from warploom_lab.campaign.tensor_copy import Answer, TensorOutcome, TensorTask
    from warploom_lab.work.campaign import Campaign, Executor, Progress

    Copies = Campaign[TensorTask, TensorOutcome]

_TIMEOUT = 90.0  # seconds for one case
_WARM_UP = 24  # cases that the emulator runs first, so that each kernel is compiled once
_GROUP = 8  # cases that a Dask worker receives at once
_SLICE = 256  # cases that the GPU runs before the Dask workers receive them


def run(options: argparse.Namespace, device: str = "cuda") -> int:
    """Compare tensor copies on a GPU with the emulator. Return the exit status.

    If `device` is "cpu", the emulator replaces the GPU.

    Errors: UsageError compare.*, dask.*.
    """
    if options.against is not None:
        return _compare_with_sample(options)
    from warploom.gpu import Gpu
    from warploom_lab.campaign.jobs import run_tensor_copy
    from warploom_lab.campaign.tensor_cases import tensor_cases
    from warploom_lab.campaign.tensor_copy import TensorOutcome, TensorTask
    from warploom_lab.json_data import decode, encode
    from warploom_lab.work.campaign import Campaign

    about: dict[str, Any] = {"campaign": "compare tensor", "cases": options.cases, "seed": options.seed}
    about |= {"every": options.every, "device": device}
    if device == "cuda":
        with Gpu() as gpu:  # raises if the machine has no GPU
            about["device"] = f"{gpu.name}, driver for CUDA {gpu.driver}"
        print(about["device"])
    cases = list(tensor_cases(options.cases, options.seed))[:: options.every]
    tasks = [TensorTask(case, device) for case in cases]
    campaign = Campaign(about, run_tensor_copy, None, tasks, encode, partial(decode, TensorOutcome))
    on_dask = isinstance(options.workers, str)
    executor = _gpu_here_emulator_on_dask(options.workers) if on_dask else _local(campaign, options.workers)
    outcomes = campaign_options.run_with_progress("comparing", campaign, options, executor)
    _write(options, outcomes)
    return _report(outcomes)


def _local(campaign: Copies, count: int) -> Executor[TensorTask, TensorOutcome]:
    """Return an executor that runs each copy on the GPU and on the emulator of this computer."""
    from warploom_lab.campaign.tensor_copy import emulated_answer, is_reusable, lost
    from warploom_lab.work.executors import processes

    def warm_up(tasks: Sequence[TensorTask]) -> None:
        for task in tasks[:_WARM_UP]:
            emulated_answer(task.case)

    return processes(
        campaign, count, timeout=_TIMEOUT, is_reusable=is_reusable, on_loss=lost, warm_up=warm_up, isolated=True
    )


def _gpu_here_emulator_on_dask(workers: str) -> Executor[TensorTask, TensorOutcome]:
    """Return an executor that uses the GPU of this computer and runs the emulator on Dask workers."""
    from warploom_lab.campaign.jobs import tensor_copy_digest
    from warploom_lab.campaign.tensor_copy import gpu_answer, hung, is_reusable_after, outcome_of
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.isolated import IsolatedProcesses

    def digest(data: Any) -> int:
        return data

    def execute(tasks: Sequence[TensorTask], progress: Progress) -> Iterator[Sequence[tuple[int, TensorOutcome]]]:
        gpu = IsolatedProcesses(gpu_answer, workers=1, timeout=_TIMEOUT, is_reusable=is_reusable_after, on_loss=hung)
        campaign = Campaign({}, tensor_copy_digest, None, (), digest, digest, group=_GROUP)
        with campaign_options.dask_pool(workers) as executor_of:
            for start in range(0, len(tasks), _SLICE):
                part = tasks[start : start + _SLICE]
                answers: dict[int, Answer] = dict(gpu.results(part))
                for batch in executor_of(campaign)(
                    [task.case for task in part], lambda done, start=start: progress(start + done)
                ):
                    yield [(start + at, outcome_of(part[at].case, answers[at], emulated)) for at, emulated in batch]

    return execute


def _write(options: argparse.Namespace, outcomes: Sequence[TensorOutcome]) -> None:
    from warploom_lab.campaign.tensor_record import TensorSample, write_differences

    if options.record is not None:
        TensorSample.of(outcomes).write(options.record)
        print(f"{len(outcomes)} cases in {options.record}")
    if options.differences is not None:
        write_differences(options.differences, outcomes)


def _compare_with_sample(options: argparse.Namespace) -> int:
    from warploom_lab.campaign.jobs import tensor_copy_against_sample
    from warploom_lab.campaign.tensor_record import TensorSample
    from warploom_lab.json_data import decode, encode
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import processes

    recorded = TensorSample.read(options.against)
    campaign = Campaign(
        {"campaign": "compare tensor --against", **campaign_options.file_digest(options.against)},
        tensor_copy_against_sample,
        None,
        list(zip(recorded.cases, recorded.digests, strict=True)),
        encode,
        partial(decode, tuple[str, str] | None),
        group=_GROUP,
    )
    answers = campaign_options.run_campaign("running", campaign, options, partial(processes, campaign))
    found = [
        (case, verdict, answer)
        for case, verdict, answer in zip(recorded.cases, recorded.verdicts, answers, strict=True)
        if answer is not None
    ]
    for case, verdict, (emulated, message) in found[:SHOWN]:
        print(f"{case}: the GPU's verdict is {verdict}, the emulator's is {emulated} {message}")
    print(f"{len(found)} of {len(recorded.cases)} cases differ")
    return DIFFERENT if found else OK


def _report(outcomes: Sequence[TensorOutcome]) -> int:
    by_kind: dict[str, list[TensorOutcome]] = {}
    for outcome in outcomes:
        mode = "im2col" if outcome.case.map.is_im2col else "tile"
        multicast = " multicast" if outcome.case.mask else ""
        by_kind.setdefault(f"{outcome.case.action}{multicast} {mode}", []).append(outcome)
    rows: list[list[str]] = []
    for kind, found in [*sorted(by_kind.items()), ("all", list(outcomes))]:
        verdicts = [outcome.real.verdict for outcome in found]
        counts = [len(found), *(verdicts.count(word) for word in ("done", "refused", "trapped"))]
        counts += [verdicts.count("hung") + verdicts.count("failed"), sum(not each.same for each in found)]
        rows.append([kind, *(f"{count:,}" for count in counts)])
    print_table(("copy", "cases", "done", "refused", "trapped", "lost", "differences"), rows)
    bad = [outcome for outcome in outcomes if not outcome.same]
    for outcome in bad[:SHOWN]:
        print(outcome)
    if len(bad) > SHOWN:
        print(f"… and {len(bad) - SHOWN} more cases")
    return DIFFERENT if bad else OK
