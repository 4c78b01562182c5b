"""`warploom compare gemm`: random multiplications on the GPU, against float64 and against the abstract machine."""

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
from typing import TYPE_CHECKING, Any, Literal

from warploom.diagnostics import UsageError
from warploom_lab.cli import _campaign

if TYPE_CHECKING:
    from warploom_lab.gemm import Outcome, Task
    from warploom_lab.work.campaign import Campaign, Doing, Progress

_OK = 0
_DIFFERENT = 1
_SHOWN = 20
_PATIENCE = 300.0  # seconds for one case, on both machines
_TOLD = 200  # cases between two lines of progress, where there is no terminal


def run(options: argparse.Namespace, device: Literal["cpu", "cuda"] = "cuda") -> int:
    """Compare. Errors: UsageError compare.*, gpu.*, dask.*."""
    if options.against is not None:
        return _against(options)
    from warploom_lab.gemm import Outcome, Record, Task, small_ones
    from warploom_lab.gemm.jobs import multiplication
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    if min(options.only or 0, options.bits) < 0:
        raise UsageError("--only and --bits are numbers from 0 on", code="compare.option")
    about = _about(options, device)
    print(
        *(f"{name} {about[name]}" for name in ("gpu", "driver", "cuda") if about[name]), sep=", ", flush=True
    )
    numbers = range(0, options.cases, options.every) if options.only is None else [options.only]
    bits = small_ones(options.seed, numbers, options.bits)
    tasks = [Task(options.seed, number, device, number in bits) for number in numbers]
    asked = {name: about[name] for name in ("gpu", "driver", "cuda")} | {"only": options.only}
    asked |= {name: getattr(options, name) for name in ("cases", "seed", "every", "bits")}
    campaign = Campaign(
        {"campaign": "compare gemm", **asked}, multiplication, None, tasks, plain, partial(of_plain, Outcome)
    )
    spread = isinstance(options.workers, str)
    doing = _with_crew(campaign, options.workers) if spread else _here(campaign, options.workers)
    with _one_thread_each():
        outcomes = _campaign.watched("multiplying", campaign, options, doing, _Told(len(tasks)))
    if options.record is not None:
        record = Record.of(options.seed, about, outcomes)
        print(f"{len(record.recorded)} cases in {record.write(options.record)}")
    return report(outcomes)


def _about(options: argparse.Namespace, device: str) -> dict[str, Any]:
    """What is asked, and with what. Errors: UsageError gpu.*."""
    from warploom import __version__

    about = {"gpu": "the abstract machine", "driver": "", "cuda": ""}
    if device == "cuda":
        from warploom.gpu import Gpu, driver_release

        with Gpu() as gpu:  # there is one, or this says so
            about = {"gpu": gpu.name, "driver": driver_release(), "cuda": gpu.driver}
    every = f" --every {options.every}" if options.every > 1 else ""
    return {
        "command": f"warploom compare gemm --cases {options.cases} --seed {options.seed} --bits {options.bits}{every}",
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        **about,
        "warploom": __version__,
        "python": platform.python_version(),
    }


def _here(campaign: Campaign[Task, Outcome], count: int) -> Doing[Task, Outcome]:
    """Processes here do both: each asks the GPU, and then the machine where it is to."""
    from warploom_lab.gemm import lives, lost, warm

    return _campaign.processes(
        campaign, count, patience=_PATIENCE, lasts=lives, lost=lost, warm=warm, alone=True
    )


def _with_crew(campaign: Campaign[Task, Outcome], workers: str) -> Doing[Task, Outcome]:
    """The GPU here multiplies, and the crew's machines do those that they are to do once more.

    What they find otherwise is compared here again, to say where.
    """
    from warploom_lab.gemm import recorded
    from warploom_lab.gemm.jobs import gemm_against
    from warploom_lab.work.campaign import Campaign as Some

    gpu = _here(campaign, 0)

    def text(data: Any) -> str:
        return data

    def do(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Outcome]]]:
        both = [at for at, task in enumerate(tasks) if task.bits]
        one = [at for at, task in enumerate(tasks) if not task.bits]
        done = 0
        if both:
            here: dict[int, Outcome] = {}
            for some in gpu([replace(tasks[at], bits=False) for at in both], lambda _: None):
                here.update((both[at], replace(outcome, bits=True)) for at, outcome in some)
            wrong = [at for at in both if here[at].wrong]
            yield [(at, here[at]) for at in wrong]
            right = [at for at in both if not here[at].wrong]
            done = len(wrong)
            asked = Some({}, gemm_against, tasks[right[0]].seed if right else 0, (), text, text)
            with _campaign.crew(workers) as crewed:
                given = [recorded(here[at]) for at in right]
                for some in crewed(asked)(given, lambda told: progress(len(wrong) + told)):
                    for at, said in some:
                        done += 1
                        outcome = here[right[at]]
                        if said:
                            ((_, again),) = next(gpu([tasks[right[at]]], lambda _: None))
                            outcome = again if again.wrong else replace(outcome, wrong=said)
                        yield [(right[at], outcome)]
        if one:
            before = done
            for some in gpu([tasks[at] for at in one], lambda told: progress(before + told)):
                yield [(one[at], outcome) for at, outcome in some]

    return do


class _Told:
    """What is wrong is told at once, and where there is no terminal how many cases are done."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._wrong = total, 0, 0

    def __call__(self, outcome: Outcome) -> None:
        self._done += 1
        if outcome.wrong:
            self._wrong += 1
            if self._wrong <= _SHOWN:
                print(outcome, file=sys.stderr, flush=True)
        if not sys.stderr.isatty() and self._done % _TOLD == 0:
            print(f"{self._done} of {self._total}, {self._wrong} wrong", file=sys.stderr, flush=True)


@contextmanager
def _one_thread_each() -> Generator[None]:
    """Processes that are started meanwhile multiply by float64 in one thread: there is one for each core."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = before or "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def _against(options: argparse.Namespace) -> int:
    from warploom_lab.gemm import Record
    from warploom_lab.gemm.jobs import gemm_against
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    record = Record.read(options.against)
    campaign = Campaign(
        {"campaign": "compare gemm --against", "every": options.every, **_campaign.file(options.against)},
        gemm_against,
        record.seed,
        record.recorded[:: options.every],
        plain,
        partial(of_plain, str),
    )
    said = _campaign.carry_out("running", campaign, options, partial(_campaign.processes, campaign))
    found = [each for each in said if each]
    for each in found[:_SHOWN]:
        print(each)
    print(f"{len(found)} of {len(said)} cases differ")
    return _DIFFERENT if found else _OK


def report(outcomes: Sequence[Outcome]) -> int:
    """Print what came of each type and each feature, and what is wrong; the result is the exit status."""
    from rich.console import Console
    from rich.table import Table

    table = Table("what", box=None)
    for title in ("cases", "of the allowed distance", "bit for bit", "wrong"):
        table.add_column(title, justify="right")
    by_kind: dict[str, list[Outcome]] = {}
    by_feature: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kind = outcome.case.kind
        by_kind.setdefault(kind, []).append(outcome)
        for feature in outcome.case.features:
            if feature != kind:
                by_feature.setdefault(feature, []).append(outcome)
    for what, found in [*sorted(by_kind.items()), *sorted(by_feature.items()), ("all", list(outcomes))]:
        table.add_row(
            what,
            f"{len(found):,}",
            f"{max(each.ratio for each in found):.2f}",
            f"{sum(each.bits and not each.wrong for each in found):,}",
            f"{sum(bool(each.wrong) for each in found):,}",
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    bad = [outcome for outcome in outcomes if outcome.wrong]
    for outcome in bad[:_SHOWN]:
        print(outcome)
    wrong = [outcome.case for outcome in bad]
    if wrong:
        print("wrong:", *(one.number for one in wrong))
        print(f"one alone: warploom compare gemm --seed {wrong[0].seed} --only {wrong[0].number}")
    return _DIFFERENT if wrong else _OK
