"""`warploom compare`: every form on the GPU and on the abstract machine, bit against bit."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _compare_gemm, _compare_tensor
from warploom.diag import UsageError, WarploomError

if TYPE_CHECKING:
    from warploom.oracle.campaign import Experiment, Outcome

OK = 0
DIFFERENT = 1
_SHOWN = 20
_KERNELS = "kernels"
_TENSOR = "tensor"
_GEMM = "gemm"

_DESCRIPTION = """\
Run instructions on the GPU that is here and on the abstract machine, on inputs made to go wrong: cancelling
sums, subnormals, values near overflow, raw bits with NaN and infinities, signed zeros, integers near their
limits; random descriptors, strides and rows. Prints what differs, with bit patterns and coordinates.

`compare tensor` compares tensor copies instead, by random tensor maps: --cases of them in all, each in a
process that it may break; the verdicts on the maps, every byte of shared and global memory, the mbarriers.

`compare gemm` multiplies --cases random matrices of every type, layout, batch and epilogue by the library's
kernels, plain and by groups: against float64, and --bits of the small ones against the machine, bit for bit.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "compare",
        help="compare instructions on a GPU with the abstract machine",
        description=_DESCRIPTION,
        epilog="exit status: 0 every bit agrees; 1 something differs; 2 it could not be compared.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    parser.add_argument(
        "name",
        nargs="*",
        help="families, forms or instructions; without one, those that tensor cores serve; or `kernels`, and "
        "areas or names of small kernels, which are compared whole",
    )
    parser.add_argument(
        "--cases", type=int, default=1024, metavar="N", help="inputs of each experiment (1024)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="where the inputs come from (1)")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="take only every Nth experiment, or tensor copy"
    )
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="processes (one for each core)")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write a sample of what the GPU returns; of multiplications into a folder",
    )
    parser.add_argument(
        "--timeout", type=float, default=60, metavar="S", help="seconds that a small kernel may take (60)"
    )
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare the machine with a sample; needs no GPU"
    )
    parser.add_argument(
        "--differences",
        type=Path,
        metavar="FILE",
        help="of tensor copies: write those that differ, byte by byte",
    )
    parser.add_argument(
        "--bits",
        type=int,
        default=100,
        metavar="N",
        help="of multiplications: so many of the small ones run on the machine too (100)",
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="of multiplications: this one alone")


def run(options: argparse.Namespace) -> int:
    """Compare. Errors: UsageError compare.*, and those of a launch on a GPU."""
    from warploom.oracle.campaign import FAMILIES, experiments

    for name in ("cases", "every"):
        if getattr(options, name) < 1:
            raise UsageError(
                f"--{name} is {getattr(options, name)}; expected 1 or more", code="compare.option"
            )
    if options.name == [_GEMM]:
        return _compare_gemm.run(options, _progress)
    if _GEMM in options.name or options.only is not None:
        raise UsageError(f"--only and '{_GEMM}' go together, and with no other name", code="compare.option")
    if options.name == [_TENSOR]:
        return _compare_tensor.run(options, _progress)
    if _TENSOR in options.name or options.differences is not None:
        raise UsageError(
            f"--differences and '{_TENSOR}' go together, and with no other name", code="compare.option"
        )
    if options.cases % 4:
        raise UsageError(f"--cases is {options.cases}; expected a multiple of 4", code="compare.option")
    if options.name[:1] == [_KERNELS]:
        return _kernels(options)
    chosen = list(experiments(options.name or FAMILIES))[:: options.every]
    if options.record is not None:
        return _record(options, chosen)
    if options.against is not None:
        return _against(options, chosen)
    return _compare(options, chosen)


def _record(options: argparse.Namespace, chosen: Sequence[Experiment]) -> int:
    from warploom.oracle.campaign import sample

    with _progress("running", len(chosen)) as step:
        taken = sample(chosen, "cuda", options.seed, lambda _: step())
    taken.write(options.record)
    print(
        f"{len(taken.digests)} experiments of {next(iter(taken.digests.values())).size} cases in {options.record}"
    )
    return OK


def _against(options: argparse.Namespace, chosen: Sequence[Experiment]) -> int:
    from warploom.oracle.campaign import Sample, differing

    taken = Sample.read(options.against)
    with _progress("running", len(chosen)) as step:
        found = list(differing(taken, _stepping(chosen, step)))
    for name, case in found[:_SHOWN]:
        print(f"{name}: case {case} is not what the GPU returned")
    print(f"{len(found)} of {len(taken.digests)} experiments differ")
    return DIFFERENT if found else OK


def _kernels(options: argparse.Namespace) -> int:
    """Small kernels: recorded from the GPU, or the machine compared with a record or with the GPU that is here."""
    from warploom.gpu import Gpu
    from warploom.oracle.campaign.isolated import Isolated
    from warploom.oracle.campaign.small import Record, disagreements, kernels, output, record

    if not 0 < options.timeout < float("inf"):
        raise UsageError(f"--timeout is {options.timeout}; expected seconds above 0", code="compare.option")
    chosen = kernels(options.name[1:])[:: options.every]
    if options.against is not None:
        recorded = Record.read(options.against)
    else:
        with Gpu() as gpu:  # there is one, or this says so
            print(f"{gpu.name}, driver for CUDA {gpu.driver}")
        crew = Isolated(
            partial(output, "cuda"),
            workers=1,
            patience=options.timeout,
            lasts=lambda found: not isinstance(found, str),
            lost=lambda _: f"its process ended, or gave no answer within {options.timeout:g} s",
        )
        with _progress("running", len(chosen)) as step:
            recorded = record(chosen, crew.results(chosen), step)
    for name, said in recorded.failures.items():
        print(f"{name} did not run on the GPU: {said}")
    if options.record is not None:
        recorded.write(options.record)
        print(f"{len(recorded.outputs)} of {len(chosen)} kernels in {options.record}")
        return DIFFERENT if recorded.failures else OK
    ran = [kernel for kernel in chosen if kernel.key not in recorded.failures]
    with _progress("comparing", len(ran)) as step:
        found = list(disagreements(recorded, ran, progress=step))
    for each in found:
        print(each)
    print(f"{len(found)} of {len(ran)} kernels differ")
    return DIFFERENT if found or recorded.failures else OK


def _stepping(chosen: Iterable[Experiment], step: Callable[[], object]) -> Iterator[Experiment]:
    for experiment in chosen:
        yield experiment
        step()


def _compare(options: argparse.Namespace, chosen: Sequence[Experiment]) -> int:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    outcomes: list[Outcome] = []
    workers = options.workers or os.cpu_count() or 1
    names = options.name
    work = [(names, options.every, k, options.cases, options.seed) for k in range(len(chosen))]
    outcomes.append(_one(work[0]))  # compiles what is not compiled, and finds out whether there is a GPU
    if outcomes[0].failure:
        raise UsageError(outcomes[0].failure, code="compare.gpu")
    with (
        _progress("comparing", len(chosen)) as step,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        for outcome in pool.map(_one, work[1:], chunksize=8):
            outcomes.append(outcome)
            step()
    return _report(outcomes)


_CHOSEN: dict[tuple[tuple[str, ...], int], list[Experiment]] = {}


def _one(work: tuple[Sequence[str], int, int, int, int]) -> Outcome:
    """Compare the experiment of a number, in whatever process."""
    from warploom.oracle.campaign import FAMILIES, Outcome, compare, experiments

    names, every, number, cases, seed = work
    known = tuple(names), every
    if known not in _CHOSEN:
        _CHOSEN[known] = list(experiments(names or FAMILIES))[::every]
    experiment = _CHOSEN[known][number]
    try:
        return compare(experiment, cases, seed)
    except WarploomError as error:
        return Outcome(experiment.form, experiment.instruction, cases, 0, 0, failure=str(error))


def _report(outcomes: Sequence[Outcome]) -> int:
    from rich.console import Console
    from rich.table import Table

    table = Table("form", box=None)
    for title in ("experiments", "cases", "outputs", "mismatches", "failures"):
        table.add_column(title, justify="right")
    by_form: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_form.setdefault(outcome.form, []).append(outcome)
    for form, found in [*by_form.items(), ("all", list(outcomes))]:
        counts = (
            len(found),
            sum(each.cases for each in found),
            sum(each.outputs for each in found),
            sum(each.mismatches for each in found),
            sum(bool(each.failure) for each in found),
        )
        table.add_row(form, *(f"{count:,}" for count in counts))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    bad = [outcome for outcome in outcomes if outcome.mismatches or outcome.failure]
    for outcome in bad[:_SHOWN]:
        print(f"{outcome.instruction} {outcome.failure or outcome.first}")
    if len(bad) > _SHOWN:
        print(f"… and {len(bad) - _SHOWN} more experiments")
    return DIFFERENT if bad else OK


@contextmanager
def _progress(what: str, total: int) -> Generator[Callable[[], object]]:
    """A bar of experiments done; nothing where there is no terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
