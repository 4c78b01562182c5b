"""`warploom-lab compare gemm` and `compare attention`: compare random problems with float64."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, print_table

if TYPE_CHECKING:
    from warploom_lab.problems import Device, Outcome, Subject, Task
    from warploom_lab.work.campaign import Campaign, Executor, Progress

    Problems = Campaign[Task, Outcome[Any]]

_TIMEOUT = 300.0  # seconds for one case, on both devices
_REPORT_EVERY = 200  # cases between two lines of progress without a terminal


def run(options: argparse.Namespace, device: Device = "cuda") -> int:
    """Compare random problems with float64 and the emulator. Return the exit status.

    `options.name[0]` is the kernel family. If `device` is "cpu", the emulator replaces the GPU. It also does this with
    the options --sanitize and --target (other than sm_90a). Without them, the GPU also runs the drawn cases whose
    kernel has an older target.

    Errors: UsageError compare.*, gpu.*, dask.*.
    """
    from warploom.kernels.hopper.plan import HOPPER
    from warploom_lab.json_data import decode, encode
    from warploom_lab.problems import Record, Task
    from warploom_lab.problems.jobs import SUBJECTS, run_case
    from warploom_lab.work.campaign import Campaign

    subject = SUBJECTS[options.name[0]]
    if options.against is not None:
        return _compare_with_record(options, subject)
    if options.target != HOPPER or options.sanitize:
        device = "cpu"
    about = _provenance(options, device)
    machine = {name: about[name] for name in ("gpu", "driver", "cuda")}
    print(*(f"{name} {value}" for name, value in machine.items() if value), sep=", ", flush=True)
    numbers: Sequence[int] = range(0, options.cases, options.every) if options.only is None else [options.only]
    small: frozenset[int] = frozenset()
    if options.target == HOPPER:
        small = subject.select_small_cases(options.seed, numbers, options.bits, options.target)
    if options.sanitize and options.only is None:
        numbers = sorted(small)
    emulated = frozenset[int]() if options.sanitize or options.no_emulator else small
    tasks = [
        Task(options.seed, number, device, number in emulated, options.target, options.sanitize) for number in numbers
    ]
    names = ("cases", "seed", "every", "bits", "only", "target", "sanitize", "no_emulator")
    header = {name: getattr(options, name) for name in names}
    about_campaign = {"campaign": f"compare {subject.name}", **machine, **header}
    campaign = Campaign(about_campaign, run_case, subject.name, tasks, encode, partial(decode, subject.outcome))
    on_dask = isinstance(options.workers, str)
    executor = (
        _gpu_here_emulator_on_dask(campaign, subject, options.workers)
        if on_dask
        else _local(campaign, subject, options.workers)
    )
    with _single_threaded_blas():
        outcomes = campaign_options.run_with_progress(
            "running", campaign, options, executor, _FailureReporter(len(tasks))
        )
    if options.record is not None:
        kept = [each for each in outcomes if each.case.number in small and not each.wrong]
        record = Record.of(options.seed, about, [subject.recorded(each) for each in kept])
        print(f"{len(record.recorded)} cases in {record.write(options.record)}")
    return report(outcomes, subject.name)


def _provenance(options: argparse.Namespace, device: str) -> dict[str, Any]:
    """Return the command, date, GPU and versions for the record. Errors: UsageError gpu.*."""
    from warploom import __version__

    about = {"gpu": "the emulator", "driver": "", "cuda": ""}
    if device == "cuda":
        from warploom.gpu import Gpu, driver_release

        with Gpu() as gpu:  # raises if the machine has no GPU
            about = {"gpu": gpu.name, "driver": driver_release(), "cuda": gpu.driver}
    more = f" --every {options.every}" if options.every > 1 else ""
    more += "".join(f" --{name}" for name in ("no-emulator", "sanitize") if getattr(options, name.replace("-", "_")))
    return {
        "command": f"warploom-lab compare {options.name[0]} --cases {options.cases} --seed {options.seed}"
        f" --bits {options.bits}{more}",
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        **about,
        "warploom": __version__,
        "python": platform.python_version(),
    }


def _local(campaign: Problems, subject: Subject, count: int) -> Executor[Task, Outcome[Any]]:
    """Return an executor that runs the GPU and the emulator from processes of this computer."""
    from warploom_lab.work.executors import processes

    return processes(
        campaign,
        count,
        timeout=_TIMEOUT,
        is_reusable=lambda outcome: not outcome.lost,
        on_loss=subject.lost,
        warm_up=subject.warm_up,
        isolated=True,
    )


def _gpu_here_emulator_on_dask(campaign: Problems, subject: Subject, workers: str) -> Executor[Task, Outcome[Any]]:
    """Return an executor that uses the GPU of this computer and runs the emulator on Dask workers."""
    from warploom_lab.problems.jobs import case_against_record
    from warploom_lab.work.campaign import Campaign as AnyCampaign

    gpu = _local(campaign, subject, 0)

    def text(data: Any) -> str:
        return data

    def execute(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Outcome[Any]]]]:
        emulated = [at for at, task in enumerate(tasks) if task.bits]
        gpu_only = [at for at, task in enumerate(tasks) if not task.bits]
        done = 0
        if emulated:
            outcomes: dict[int, Outcome[Any]] = {}
            for batch in gpu([replace(tasks[at], bits=False) for at in emulated], lambda _: None):
                outcomes.update((emulated[at], replace(outcome, bits=True)) for at, outcome in batch)
            wrong = [at for at in emulated if outcomes[at].wrong]
            yield [(at, outcomes[at]) for at in wrong]
            right = [at for at in emulated if not outcomes[at].wrong]
            done = len(wrong)
            seed = tasks[right[0]].seed if right else 0
            comparison = AnyCampaign({}, case_against_record, seed, (), text, text)
            with campaign_options.dask_pool(workers) as executor_of:
                records = [subject.recorded(outcomes[at]) for at in right]
                for batch in executor_of(comparison)(records, lambda count: progress(len(wrong) + count)):
                    for at, difference in batch:
                        done += 1
                        outcome = outcomes[right[at]]
                        if difference:
                            # The run on this computer finds where the bits differ.
                            ((_, again),) = next(gpu([tasks[right[at]]], lambda _: None))
                            outcome = again if again.wrong else replace(outcome, wrong=difference)
                        yield [(right[at], outcome)]
        if gpu_only:
            before = done
            for batch in gpu([tasks[at] for at in gpu_only], lambda count: progress(before + count)):
                yield [(gpu_only[at], outcome) for at, outcome in batch]

    return execute


class _FailureReporter:
    """Callback that prints wrong outcomes as they arrive, and progress if there is no terminal."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._wrong = total, 0, 0

    def __call__(self, outcome: Outcome[Any]) -> None:
        self._done += 1
        if outcome.wrong:
            self._wrong += 1
            if self._wrong <= SHOWN:
                print(outcome, file=sys.stderr, flush=True)
        if not sys.stderr.isatty() and self._done % _REPORT_EVERY == 0:
            print(f"{self._done} of {self._total}, {self._wrong} wrong", file=sys.stderr, flush=True)


@contextmanager
def _single_threaded_blas() -> Generator[None]:
    """Limit BLAS to one thread in processes that start inside the `with` block."""
    # Each core already has a process.
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = before or "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def _compare_with_record(options: argparse.Namespace, subject: Subject) -> int:
    from warploom_lab.json_data import decode, encode
    from warploom_lab.problems import Record
    from warploom_lab.problems.jobs import case_against_record
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import processes

    record = Record.read(options.against, subject.parse)
    campaign = Campaign(
        {
            "campaign": f"compare {subject.name} --against",
            "every": options.every,
            **campaign_options.file_digest(options.against),
        },
        case_against_record,
        record.seed,
        record.recorded[:: options.every],
        encode,
        partial(decode, str),
    )
    results = campaign_options.run_campaign("running", campaign, options, partial(processes, campaign))
    found = [difference for difference in results if difference]
    for difference in found[:SHOWN]:
        print(difference)
    print(f"{len(found)} of {len(results)} cases differ")
    return DIFFERENT if found else OK


def report(outcomes: Sequence[Outcome[Any]], name: str) -> int:
    """Print the outcomes of the subject `name` and return the exit status."""
    by_kind: dict[str, list[Outcome[Any]]] = {}
    by_feature: dict[str, list[Outcome[Any]]] = {}
    for outcome in outcomes:
        kind = outcome.case.kind
        by_kind.setdefault(kind, []).append(outcome)
        for feature in outcome.case.features:
            if feature != kind:
                by_feature.setdefault(feature, []).append(outcome)
    rows = [
        (
            title,
            f"{len(found):,}",
            f"{max(each.ratio for each in found):.2f}",
            f"{sum(each.bits and not each.wrong for each in found):,}",
            f"{sum(bool(each.wrong) for each in found):,}",
        )
        for title, found in [*sorted(by_kind.items()), *sorted(by_feature.items()), ("all", list(outcomes))]
    ]
    print_table(("feature", "cases", "of the allowed distance", "bit for bit", "wrong"), rows)
    bad = [outcome for outcome in outcomes if outcome.wrong]
    for outcome in bad[:SHOWN]:
        print(outcome)
    if not bad:
        return OK
    first = bad[0].case
    print("wrong:", *(outcome.case.number for outcome in bad))
    target = f" --target {first.target}" if name == "gemm" and first.target != "sm_90a" else ""
    print(f"to run one case: warploom-lab compare {name} --seed {first.seed} --only {first.number}{target}")
    return DIFFERENT
