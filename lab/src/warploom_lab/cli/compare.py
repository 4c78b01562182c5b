"""`warploom compare`: every form on the GPU and on the abstract machine, bit against bit."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom.cli import _workers
from warploom.cli._progress import counting
from warploom.diagnostics import UsageError
from warploom_lab.cli import _campaign, _compare_gemm, _compare_tensor

if TYPE_CHECKING:
    from warploom_lab.campaign import Outcome
    from warploom_lab.campaign.jobs import Choice
    from warploom_lab.work.campaign import Doing, Progress

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
    _workers.declare(parser, "processes (one for each core)")
    _campaign.declare(parser)
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
    """Compare. Errors: UsageError compare.*, dask.*, and those of a launch on a GPU."""
    from warploom_lab.campaign.jobs import Choice

    for name, least in (("cases", 1), ("every", 1), ("workers", 0)):
        given = getattr(options, name)
        if isinstance(given, int) and given < least:
            raise UsageError(f"--{name} is {given}; expected {least} or more", code="compare.option")
    if options.name == [_GEMM]:
        return _compare_gemm.run(options)
    if _GEMM in options.name or options.only is not None:
        raise UsageError(f"--only and '{_GEMM}' go together, and with no other name", code="compare.option")
    if options.name == [_TENSOR]:
        return _compare_tensor.run(options)
    if _TENSOR in options.name or options.differences is not None:
        raise UsageError(
            f"--differences and '{_TENSOR}' go together, and with no other name", code="compare.option"
        )
    if options.cases % 4:
        raise UsageError(f"--cases is {options.cases}; expected a multiple of 4", code="compare.option")
    if options.name[:1] == [_KERNELS]:
        return _kernels(options)
    chosen = Choice(tuple(options.name), options.every)
    if options.record is not None:
        return _record(options, chosen)
    if options.against is not None:
        return _against(options, chosen)
    return _compare(options, chosen)


def _stays_here(options: argparse.Namespace, what: str) -> None:
    """Refuse to spread, or to resume, what one process does on its GPU. Errors: UsageError compare.option."""
    for name, asked in (
        ("--workers", isinstance(options.workers, str)),
        ("--checkpoint", options.checkpoint is not None),
    ):
        if asked:
            raise UsageError(
                f"{name} {getattr(options, name[2:])} cannot be: {what} runs on the GPU of this process, at once",
                code="compare.option",
            )


def _record(options: argparse.Namespace, chosen: Choice) -> int:
    from warploom_lab.campaign import sample

    _stays_here(options, "what is recorded")
    experiments = chosen.experiments()
    with counting("running", len(experiments)) as progress:
        begun = iter(range(len(experiments)))
        taken = sample(experiments, "cuda", options.seed, lambda _: progress(next(begun)))
    taken.write(options.record)
    print(
        f"{len(taken.digests)} experiments of {next(iter(taken.digests.values())).size} cases in {options.record}"
    )
    return OK


def _against(options: argparse.Namespace, chosen: Choice) -> int:
    from warploom_lab.campaign import Sample
    from warploom_lab.campaign.jobs import experiment_against
    from warploom_lab.campaign.sample import key
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    taken = Sample.read(options.against)
    names = [key(experiment) for experiment in chosen.experiments()]
    campaign = Campaign(
        {**_asked("compare --against", options), **_campaign.file(options.against)},
        experiment_against,
        (chosen, taken),
        [number for number, name in enumerate(names) if name in taken.digests],
        plain,
        partial(of_plain, int),
        group=2,
    )
    cases = _campaign.carry_out("running", campaign, options, partial(_campaign.processes, campaign))
    found = [(names[number], case) for number, case in zip(campaign.tasks, cases, strict=True) if case >= 0]
    for name, case in found[:_SHOWN]:
        print(f"{name}: case {case} is not what the GPU returned")
    print(f"{len(found)} of {len(taken.digests)} experiments differ")
    return DIFFERENT if found else OK


def _kernels(options: argparse.Namespace) -> int:
    """Small kernels: recorded from the GPU, or the machine compared with a record or with the GPU that is here."""
    from warploom.gpu import Gpu
    from warploom_lab.campaign.isolated import Isolated
    from warploom_lab.campaign.jobs import kernel_against
    from warploom_lab.campaign.small import Disagreement, Record, kernels, output, record
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    if not 0 < options.timeout < float("inf"):
        raise UsageError(f"--timeout is {options.timeout}; expected seconds above 0", code="compare.option")
    chosen = kernels(options.name[1:])[:: options.every]
    about: dict[str, Any] = {}
    if options.against is not None:
        recorded, about = Record.read(options.against), _campaign.file(options.against)
    else:
        _stays_here(options, "a small kernel that is not compared with a record (--against)")
        with Gpu() as gpu:  # there is one, or this says so
            print(f"{gpu.name}, driver for CUDA {gpu.driver}")
        crew = Isolated(
            partial(output, "cuda"),
            workers=1,
            patience=options.timeout,
            lasts=lambda found: not isinstance(found, str),
            lost=lambda _: f"its process ended, or gave no answer within {options.timeout:g} s",
        )
        with counting("running", len(chosen)) as progress:
            done = iter(range(1, len(chosen) + 1))
            recorded = record(chosen, crew.results(chosen), lambda: progress(next(done)))
    for name, said in recorded.failures.items():
        print(f"{name} did not run on the GPU: {said}")
    if options.record is not None:
        recorded.write(options.record)
        print(f"{len(recorded.outputs)} of {len(chosen)} kernels in {options.record}")
        return DIFFERENT if recorded.failures else OK
    campaign = Campaign(
        {**_asked("compare kernels", options), **about},
        kernel_against,
        recorded,
        [kernel.key for kernel in chosen if kernel.key not in recorded.failures],
        plain,
        partial(of_plain, Disagreement | None),
        group=4,
    )
    results = _campaign.carry_out("comparing", campaign, options, partial(_campaign.processes, campaign))
    found = [each for each in results if each is not None]
    for each in found:
        print(each)
    print(f"{len(found)} of {len(results)} kernels differ")
    return DIFFERENT if found or recorded.failures else OK


def _compare(options: argparse.Namespace, chosen: Choice) -> int:
    from warploom.integrations.dask.compatibility import Requirements
    from warploom_lab.campaign import Outcome
    from warploom_lab.campaign.jobs import Inputs, experiment_on_gpu
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    campaign = Campaign(
        {**_asked("compare", options), "cases": options.cases, "seed": options.seed},
        experiment_on_gpu,
        Inputs(chosen, options.cases, options.seed),
        range(len(chosen.experiments())),
        plain,
        partial(of_plain, Outcome),
        group=2,
    )
    if isinstance(options.workers, int):
        doing = _campaign.processes(campaign, options.workers)
    else:
        doing = _campaign.crewed(campaign, options.workers, Requirements(extras={"cuda.core": "gpu"}))
    return _report(_campaign.watched("comparing", campaign, options, _with_gpu(doing)))


def _with_gpu(doing: Doing[int, Outcome]) -> Doing[int, Outcome]:
    """The same, given up at the first experiment if that fails: where there is no GPU, all would."""

    def do(tasks: Sequence[int], progress: Progress) -> Iterator[Sequence[tuple[int, Outcome]]]:
        first = True
        for some in doing(tasks, progress):
            if first and some[0][1].failure:
                raise UsageError(some[0][1].failure, code="compare.gpu")
            first = False
            yield some

    return do


def _asked(command: str, options: argparse.Namespace) -> dict[str, Any]:
    """What a checkpoint says of experiments and kernels that are compared."""
    return {"campaign": command, "names": list(options.name), "every": options.every}


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
