"""`warploom bench`: how fast the GEMM kernels are, beside cuBLAS in the same run."""

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

from warploom.cli._gemms import in_words, kinds, sizes
from warploom.cli._progress import progress
from warploom.diagnostics import UsageError, WarploomError, render

if TYPE_CHECKING:
    from warploom.gpu import Gpu, State
    from warploom.kernels.timing.cublas import Peer
    from warploom.kernels.timing.speed import Bench, Case, Comparison, WrongResult

OK = 0
DIFFERENT = 1
MISUSE = 2
_UNIT = "TFLOP/s"
_REGIMES = {"steady": {"settle": 0.25}, "rested": {"pause": 0.05}}

_DESCRIPTION = """\
Multiply matrices with our kernels and with cuBLAS through PyTorch (or CuPy) in one run, on the GPU that is
here. Data are random and normal. Both sides take turns, through the same matrices, several of them one after
another so that they pass the L2 cache; times are medians. Before a shape is timed both results are compared.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add("bench", help="time our kernels on a GPU beside other libraries")
    kinds_of = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    gemm = kinds_of.add_parser(
        "gemm",
        help="multiplications of matrices, beside cuBLAS",
        description=_DESCRIPTION,
        epilog="exit status: 0 well; 1 a result is wrong; 2 it could not be measured.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    gemm.set_defaults(verb=run)
    gemm.add_argument(
        "--types",
        metavar="TYPE,...",
        help="types of A and B: bf16, f16, tf32, e4m3 (fast sums), e4m3-accurate, s8 (all that the other has), or"
        " f16-sparse: a 2:4 sparse A beside our kernel for a dense one",
    )
    gemm.add_argument("--shapes", metavar="MxNxK,...", help="sizes (eight that models have)")
    gemm.add_argument("--repetitions", type=int, default=20, metavar="N", help="times of each side (20)")
    gemm.add_argument(
        "--by",
        choices=("graph", "events"),
        default="graph",
        help="replay recorded calls, or make them anew so that the host's part counts (graph)",
    )
    gemm.add_argument(
        "--regime",
        choices=tuple(_REGIMES),
        default="steady",
        help="clocks of steady work at full power, or of a GPU that rests before each time (steady)",
    )
    gemm.add_argument("--peer", choices=("torch", "cupy"), default="torch", help="the other library (torch)")
    gemm.add_argument(
        "--json", type=Path, metavar="FILE", help="write every time, and what it was taken with"
    )
    gemm.add_argument("--svg", type=Path, metavar="FILE", help="write a picture")


def run(options: argparse.Namespace) -> int:
    """Compare. Errors: UsageError bench.*, gpu.*, kernels.*."""
    from warploom.gpu import Gpu, driver_release, state
    from warploom.kernels.hopper.plan import HOPPER
    from warploom.kernels.timing.cublas import PEERS, default_kinds
    from warploom.kernels.timing.speed import SIZES, Case

    if options.repetitions < 1:
        raise UsageError(f"--repetitions is {options.repetitions}; expected 1 or more", code="bench.option")
    known = PEERS[options.peer].kinds
    chosen = kinds("--types", options.types.split(",") if options.types else default_kinds(known), known)
    shapes = sizes("--shapes", options.shapes.split(",")) if options.shapes else SIZES
    for path in (options.json, options.svg):
        _check_folder(path)
    cases = [Case(kind, *size) for kind in chosen for size in shapes]
    with Gpu() as gpu:
        if gpu.arch != HOPPER:
            raise UsageError(
                f"the kernels for {HOPPER} are what is timed; {gpu.name} is {gpu.arch}", code="kernels.target"
            )
        peer = PEERS[options.peer]()
        before = state(gpu)
        with peer.settings():
            found, failures = _compare(_bench(gpu, peer, options), cases, lambda: state(gpu))
        after = state(gpu)
        about = {
            "command": "warploom bench gemm",
            "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "gpu": gpu.name,
            "driver": driver_release(),
            "cuda": gpu.driver,
            "peer": f"{peer.name} {peer.version}",
            **_versions(),
            "by": options.by,
            "regime": options.regime,
            "repetitions": options.repetitions,
        }
    status = report(found, about, before, after, options.json, options.svg)
    for case, error in failures:
        print(f"{case}: {render(error.diagnostics, color=sys.stderr.isatty())}", end="", file=sys.stderr)
    return MISUSE if failures else status


def _bench(gpu: Gpu, peer: Peer, options: argparse.Namespace) -> Bench:
    from warploom.gpu import measure
    from warploom.kernels.timing.speed import Bench

    regime = _REGIMES[options.regime]
    return Bench(
        gpu.name,
        peer,
        lambda calls, repetitions: measure(gpu, calls, repetitions=repetitions, by=options.by, **regime),
        gpu.wait,
        options.repetitions,
    )


def _compare(
    bench: Bench, cases: Sequence[Case], state: Callable[[], State]
) -> tuple[list[Comparison | WrongResult], list[tuple[Case, WarploomError]]]:
    """What was found, and what could not be measured; after a fault of the GPU nothing more is tried."""
    from warploom.kernels import gemm
    from warploom.kernels.timing.speed import compare

    found: list[Comparison | WrongResult] = []
    failures: list[tuple[Case, WarploomError]] = []
    with progress(len(cases)) as at:
        for case in cases:
            at.begin(str(case))
            try:
                found.append(compare(bench, case, gemm, state))
            except WarploomError as error:
                failures.append((case, error))
                at.end(f"{case}: {error}")
                if not isinstance(error, UsageError):
                    break
            else:
                at.end(_line(found[-1]))
    return found, failures


def _line(each: Comparison | WrongResult) -> str:
    from warploom.kernels.timing.speed import WrongResult

    if isinstance(each, WrongResult):
        return str(each)
    ours, theirs = _rates(each)
    return f"{each.case}: {ours} and {theirs} {_UNIT}, {each.ratio:.3f}"


def report(
    found: Sequence[Comparison | WrongResult],
    about: dict[str, Any],
    before: State,
    after: State,
    json_file: Path | None = None,
    svg_file: Path | None = None,
) -> int:
    """Print the table, write the files; the result is the exit status. Errors: UsageError bench.file."""
    from warploom.kernels.timing.speed import WrongResult, record, summary

    timed = [each for each in found if not isinstance(each, WrongResult)]
    wrong = [each for each in found if isinstance(each, WrongResult)]
    print(f"{about['gpu']}, driver {about['driver'] or 'unknown'}, CUDA {about['cuda']}, {about['peer']}")
    print(f"before: {before}\nafter:  {after}")
    for beside in dict.fromkeys(each.case.kind.reference for each in timed):
        _table([each for each in timed if each.case.kind.reference == beside], beside or about["peer"])
    for average, least in summary(timed).values():
        case = least.case
        size = f"{case.m}x{case.n}x{case.k}"
        print(f"{case.kind.title}: geometric mean {average:.3f}, smallest {least.ratio:.3f} ({size})")
    for each in wrong:
        print(each)
    if json_file is not None:
        states = {"before": asdict(before), "after": asdict(after)}
        told = record(timed, {**about, "state": states, "wrong": [str(each.case) for each in wrong]})
        _write(json_file, json.dumps(told, indent=1, allow_nan=False) + "\n")
    if svg_file is not None:
        _write(svg_file, picture(timed, about))
    return DIFFERENT if wrong else OK


def _table(timed: Sequence[Comparison], peer: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("type", box=None)
    for title in ("M", "N", "K", f"ours, {_UNIT}", peer, "ratio"):
        table.add_column(title, justify="right")
    table.add_column("tile")
    for each in timed:
        case = each.case
        table.add_row(
            case.kind.name,
            *map(str, (case.m, case.n, case.k)),
            *_rates(each),
            f"{each.ratio:.3f}",
            in_words(each.tile, each.schedule.split),
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _rates(each: Comparison) -> tuple[str, str]:
    """Both rates, in figures that mean something for small ones too."""
    ours, theirs = (
        f"{rate:.1f}" if rate >= 10 else f"{rate:.3g}"
        for rate in (each.case.teraflops(each.ours), each.case.teraflops(each.theirs))
    )
    return ours, theirs


def picture(timed: Sequence[Comparison], about: dict[str, Any]) -> str:
    """Bars of both rates for each shape, a panel for each type, as SVG."""
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
    means_said = ", ".join(f"{name} {average:.3f}" for name, (average, _) in means.items())
    return bar_chart(
        panels,
        title=f"GEMM on {about['gpu']}",
        description=f"Rates of Warploom and of {about['peer']} for each type and size (M × N × K), and above each pair"
        f" how many times as fast Warploom is. Geometric means: {means_said}. Driver {about['driver']},"
        f" {about['date']}.",
        series=("Warploom", about["peer"]),
        unit=_UNIT,
    )


def _versions() -> dict[str, str]:
    from warploom import __version__

    return {"warploom": __version__, "python": platform.python_version()}


def _check_folder(path: Path | None) -> None:
    """Refuse before the work what could not be written after it. Errors: UsageError bench.file."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        why = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise UsageError(f"{path} cannot be written: {why}", code="bench.file")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be written: {reason}", code="bench.file") from None
