"""`warploom compare gemm`: random multiplications on the GPU, against float64 and against the abstract machine."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Literal

from warploom.diag import UsageError

if TYPE_CHECKING:
    from warploom.oracle.gemm import Outcome, Task

    Progress = Callable[[str, int], AbstractContextManager[Callable[[], object]]]

_OK = 0
_DIFFERENT = 1
_SHOWN = 20
_PATIENCE = 300.0  # seconds for one case, on both machines
_TOLD = 200  # cases between two lines of progress, where there is no terminal


def run(options: argparse.Namespace, progress: Progress, device: Literal["cpu", "cuda"] = "cuda") -> int:
    """Compare. Errors: UsageError compare.*, gpu.*."""
    if options.against is not None:
        return _against(options, progress)
    from warploom.oracle.gemm import Record, Task, small_ones

    if min(options.only or 0, options.bits) < 0:
        raise UsageError("--only and --bits are numbers from 0 on", code="compare.option")
    about = _about(options, device)
    print(
        *(f"{name} {about[name]}" for name in ("gpu", "driver", "cuda") if about[name]), sep=", ", flush=True
    )
    numbers = range(0, options.cases, options.every) if options.only is None else [options.only]
    bits = small_ones(options.seed, numbers, options.bits)
    tasks = [Task(options.seed, number, device, number in bits) for number in numbers]
    outcomes = _outcomes(tasks, options.workers, progress)
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


def _outcomes(tasks: Sequence[Task], workers: int, progress: Progress) -> list[Outcome]:
    """What came of each, by number; what is wrong is told at once."""
    from warploom.oracle.campaign.isolated import Isolated
    from warploom.oracle.gemm import compare, lives, lost, warm

    warm(tasks)
    crew = Isolated(
        compare,
        workers=min(workers or os.cpu_count() or 1, len(tasks)),
        patience=_PATIENCE,
        lasts=lives,
        lost=lost,
    )
    outcomes: list[Outcome] = []
    wrong = 0
    with _one_thread_each(), progress("multiplying", len(tasks)) as step:
        for _, outcome in crew.results(tasks):
            outcomes.append(outcome)
            step()
            if outcome.wrong:
                wrong += 1
                if wrong <= _SHOWN:
                    print(outcome, flush=True)
            if not sys.stderr.isatty() and len(outcomes) % _TOLD == 0:
                print(f"{len(outcomes)} of {len(tasks)}, {wrong} wrong", file=sys.stderr, flush=True)
    return sorted(outcomes, key=lambda outcome: outcome.case.number)


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


def _against(options: argparse.Namespace, progress: Progress) -> int:
    from warploom.oracle.gemm import Record

    record = Record.read(options.against)
    taken = record.recorded[:: options.every]
    found: list[str] = []
    with progress("running", len(taken)) as step:
        for said in record.differing(options.every):
            found += [said] if said else []
            step()
    for said in found[:_SHOWN]:
        print(said)
    print(f"{len(found)} of {len(taken)} cases differ")
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
    wrong = [outcome.case for outcome in outcomes if outcome.wrong]
    if wrong:
        print("wrong:", *(one.number for one in wrong))
        print(f"one alone: warploom compare gemm --seed {wrong[0].seed} --only {wrong[0].number}")
    return _DIFFERENT if wrong else _OK
