"""`warploom bench`: time the GEMM kernels against cuBLAS in the same run."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom.cli._gemms import declare_gemms, selected_cases, selected_kinds, tile_text
from warploom.cli._options import FINDINGS, MISUSE, OK, Add, at_least, check_writable, write_text
from warploom.cli._progress import progress_bar
from warploom.diagnostics import UsageError, WarploomError, render

if TYPE_CHECKING:
    from warploom.gpu import State
    from warploom.kernels.timing.cases import Case
    from warploom.kernels.timing.speed import Bench, Comparison, WrongResult

_UNIT = "TFLOP/s"
_REGIMES = {"steady": {"warm_up": 0.25}, "rested": {"pause": 0.05}}

_DESCRIPTION = """\
Multiply matrices with Warploom's kernels and with cuBLAS, through PyTorch or CuPy, in one run on the local GPU. The
data are random and normal. Both sides alternate and use the same matrices in turn, so that the matrices exceed the L2
cache. Times are medians. Both results are compared before a shape is timed. With --peer cublaslt the reference is the
fastest of the algorithms that cuBLASLt proposes for a shape.
"""


def declare(add: Add) -> None:
    """Add the command `bench` to the command line."""
    parser = add("bench", help="time the kernel library on a GPU against other libraries")
    subjects = parser.add_subparsers(title="subjects", metavar="SUBJECT", required=True)
    gemm = subjects.add_parser(
        "gemm",
        help="matrix multiplications against cuBLAS",
        description=_DESCRIPTION,
        epilog="Exit status: 0 success; 1 a result is wrong; 2 no measurement was possible.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare_gemms(gemm, ("torch", "cublaslt", "cupy"))
    gemm.add_argument(
        "--draw",
        type=at_least(0),
        metavar="SEED",
        help="random shapes, layouts and batches in place of --shapes; the same for the same seed",
    )
    gemm.add_argument("--count", type=at_least(1), default=100, metavar="N", help="shapes that --draw draws (100)")
    gemm.add_argument(
        "--by",
        choices=("graph", "events"),
        default="graph",
        help="graph: replay recorded calls; events: repeat each call, which adds the time of the host (graph)",
    )
    gemm.add_argument(
        "--regime",
        choices=tuple(_REGIMES),
        default="steady",
        help="steady: the GPU works at full power; rested: the GPU pauses before each repetition (steady)",
    )
    gemm.add_argument("--json", type=Path, metavar="FILE", help="write all times and the conditions of the measurement")
    gemm.add_argument("--svg", type=Path, metavar="FILE", help="write a picture")


def run(options: argparse.Namespace) -> int:
    """Run the command `bench` and return its exit status. Errors: UsageError gpu.*, kernels.*."""
    from warploom.gpu import Gpu, driver_release, measure, state
    from warploom.kernels.hopper.plan import HOPPER
    from warploom.kernels.timing.cases import draw
    from warploom.kernels.timing.cublaslt import PEERS
    from warploom.kernels.timing.speed import Bench
    from warploom.release import version

    known = PEERS[options.peer].kinds
    if options.draw is None:
        cases = selected_cases(options, known)
    elif options.shapes is not None:
        raise UsageError("found --draw and --shapes; expected one of them")
    else:
        cases = draw(options.draw, options.count, selected_kinds(options, known))
    check_writable(options.json, "--json")
    check_writable(options.svg, "--svg")
    with Gpu() as gpu:
        if gpu.arch != HOPPER:
            raise UsageError(
                f"`bench gemm` times kernels for {HOPPER}; {gpu.name} is {gpu.arch}", code="kernels.target"
            )
        peer, regime = PEERS[options.peer](), _REGIMES[options.regime]
        before = state(gpu)
        with peer.settings():
            bench = Bench(
                gpu.name,
                peer,
                lambda calls, repetitions: measure(gpu, calls, repetitions=repetitions, by=options.by, **regime),
                gpu.wait,
                options.repetitions,
            )
            found, failures = _compare(bench, cases, lambda: state(gpu))
        after = state(gpu)
        conditions = {
            "command": "warploom bench gemm",
            "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "gpu": gpu.name,
            "driver": driver_release(),
            "cuda": gpu.driver,
            "peer": f"{peer.name} {peer.version}",
            "warploom": version(),
            "python": platform.python_version(),
            "by": options.by,
            "regime": options.regime,
            "repetitions": options.repetitions,
            "draw": options.draw,
        }
    status = report(found, conditions, before, after, options.json, options.svg)
    for case, error in failures:
        print(f"{case}: {render(error.diagnostics, color=sys.stderr.isatty())}", end="", file=sys.stderr)
    return MISUSE if failures else status


def _compare(
    bench: Bench, cases: Sequence[Case], state: Callable[[], State]
) -> tuple[list[Comparison | WrongResult], list[tuple[Case, WarploomError]]]:
    """Time all cases. Return the results, and each failed case with its error.

    `state` reads the state of the GPU.
    """
    from warploom.kernels import gemm
    from warploom.kernels.timing.speed import WrongResult, compare

    found: list[Comparison | WrongResult] = []
    failures: list[tuple[Case, WarploomError]] = []
    with progress_bar(lambda rich: (rich.BarColumn(), rich.MofNCompleteColumn()), "", total=len(cases)) as update:
        for case in cases:
            if update is not None:
                update(description=str(case))
            is_lost = False
            try:
                found.append(each := compare(bench, case, gemm, state))
                result = str(each)
                if not isinstance(each, WrongResult):
                    result = f"{case}: {' and '.join(_rates(each))} {_UNIT}, {each.ratio:.3f}"
            except WarploomError as error:
                failures.append((case, error))
                result = f"{case}: {error}"
                # A fault of the GPU ends the comparison.
                is_lost = not isinstance(error, UsageError)
            if update is not None:
                update(advance=1)
            else:
                print(result, file=sys.stderr, flush=True)
            if is_lost:
                break
    return found, failures


def report(
    found: Sequence[Comparison | WrongResult],
    conditions: dict[str, Any],
    before: State,
    after: State,
    json_file: Path | None = None,
    svg_file: Path | None = None,
) -> int:
    """Print the results and write the files of --json and --svg. Return the exit status.

    `conditions` describes the measurement. `before` and `after` are the states of the GPU.

    Errors: UsageError if a file cannot be written.
    """
    from warploom.kernels.timing.speed import WrongResult, record, summary

    timed = [each for each in found if not isinstance(each, WrongResult)]
    wrong = [each for each in found if isinstance(each, WrongResult)]
    driver = conditions["driver"] or "unknown"
    print(f"{conditions['gpu']}, driver {driver}, CUDA {conditions['cuda']}, {conditions['peer']}")
    print(f"before: {before}\nafter:  {after}")
    for beside in dict.fromkeys(each.case.kind.reference for each in timed):
        _table([each for each in timed if each.case.kind.reference == beside], beside or conditions["peer"])
    for average, least in summary(timed).values():
        case = least.case
        print(f"{case.kind.title}: geometric mean {average:.3f}, smallest {least.ratio:.3f} ({case.size})")
    for each in wrong:
        print(each)
    if json_file is not None:
        states = {"before": asdict(before), "after": asdict(after)}
        data = record(timed, {**conditions, "state": states, "wrong": [str(each.case) for each in wrong]})
        write_text(json_file, json.dumps(data, indent=1, allow_nan=False) + "\n")
    if svg_file is not None:
        write_text(svg_file, picture(timed, conditions))
    return FINDINGS if wrong else OK


def _table(timed: Sequence[Comparison], peer: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("type", box=None)
    for title in ("M x N x K", f"ours, {_UNIT}", peer, "ratio"):
        table.add_column(title, justify="right")
    table.add_column("tile")
    for each in timed:
        case = each.case
        tile = tile_text(each.tile, each.schedule.split)
        table.add_row(case.kind.name, case.size, *_rates(each), f"{each.ratio:.3f}", tile)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _rates(each: Comparison) -> tuple[str, str]:
    ours, theirs = (
        f"{rate:.1f}" if rate >= 10 else f"{rate:.3g}"
        for rate in (each.case.teraflops(each.ours), each.case.teraflops(each.theirs))
    )
    return ours, theirs


def picture(timed: Sequence[Comparison], conditions: dict[str, Any]) -> str:
    """Return an SVG bar chart of the rates of Warploom and of the other library.

    `conditions` describes the measurement.
    """
    from warploom.kernels.timing.speed import summary
    from warploom.view.bar_chart import Group, Panel, bar_chart

    panels: list[Panel] = []
    means = summary(timed)
    for name, (average, least) in means.items():
        groups = tuple(
            Group(
                (f"{each.case.m} × {each.case.n}", f"× {each.case.k}"),
                (each.case.teraflops(each.ours), each.case.teraflops(each.theirs)),
                f"{each.ratio:.2f}",
            )
            for each in timed
            if each.case.kind.name == name
        )
        panels.append(Panel(f"{least.case.kind.title}: {average:.3f} in the geometric mean", groups))
    ratios = ", ".join(f"{name} {average:.3f}" for name, (average, _) in means.items())
    return bar_chart(
        panels,
        title=f"GEMM on {conditions['gpu']}",
        description=f"Rates of Warploom and of {conditions['peer']} for each type and size (M × N × K). The number "
        f"above each pair is Warploom's speed relative to the other. Geometric means: {ratios}. Driver "
        f"{conditions['driver']}, {conditions['date']}.",
        series=("Warploom", conditions["peer"]),
        unit=_UNIT,
    )
