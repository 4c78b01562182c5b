"""`warploom tune`: find the quickest tiles on the GPU that is here, and keep them for `gemm`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from warploom.cli._gemms import in_words, kinds, sizes
from warploom.cli._progress import bar
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.gpu import Gpu
    from warploom.kernels.hopper.dispatch import HopperDispatch
    from warploom.kernels.problem import Operands
    from warploom.kernels.timing.speed import Case, Clock
    from warploom.kernels.timing.tuning import Launch, Outcome

OK = 0
DIFFERENT = 1
_SETTLE = 0.25  # seconds of work before times are taken

_DESCRIPTION = """\
Time the tiles that the cost model takes to be near the quickest, in turn and on random data, and keep the best
for each type and size: `gemm` uses it from then on, on a GPU of this name. Data and right results are PyTorch's
or CuPy's. What is kept is a file in the cache folder (WARPLOOM_CACHE, or the user's).
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "tune",
        help="find the quickest tiles of multiplications on a GPU, and keep them",
        description=_DESCRIPTION,
        epilog="exit status: 0 well; 1 a result is wrong; 2 it could not be measured.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    parser.add_argument(
        "--type",
        nargs="+",
        metavar="TYPE",
        help="types: bf16, f16, tf32, e4m3, e4m3-accurate, s8, f16-sparse",
    )
    parser.add_argument("--shape", nargs="+", metavar="MxNxK", help="sizes, such as 4096x2112x7168")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--all",
        action="store_true",
        help="whichever of --type and --shape is not given: all that `bench gemm` has",
    )
    what.add_argument("--list", action="store_true", help="print what is kept")
    what.add_argument(
        "--forget", action="store_true", help="drop what is kept, of --type and --shape if they are given"
    )
    parser.add_argument("--repetitions", type=int, default=20, metavar="N", help="times of each tile (20)")
    parser.add_argument(
        "--peer", choices=("torch", "cupy"), default="torch", help="the other library (torch)"
    )


def run(options: argparse.Namespace) -> int:
    """Tune, list or forget. Errors: UsageError tune.option, bench.*, gpu.*, kernels.*."""
    from warploom.kernels.timing.cublas import KINDS, PEERS, default_kinds
    from warploom.kernels.timing.speed import SIZES, Case

    if options.repetitions < 1:
        raise UsageError(f"--repetitions is {options.repetitions}; expected 1 or more", code="tune.option")
    if options.list:
        return _list()
    if options.forget and options.type is None and options.shape is None:
        return _forget(None)
    if not options.all and (options.type is None or options.shape is None):
        raise UsageError(
            "there is nothing to tune; expected --type and --shape, or --all", code="tune.option"
        )
    known = list(KINDS) if options.forget else PEERS[options.peer].kinds
    chosen = kinds("--type", options.type or default_kinds(known), known)
    shapes = sizes("--shape", options.shape) if options.shape else SIZES
    cases = [Case(kind, *size) for kind in chosen for size in shapes]
    return _forget(cases) if options.forget else _tune(options, cases)


def _tune(options: argparse.Namespace, cases: Sequence[Case]) -> int:
    from warploom.gpu import Gpu, state
    from warploom.kernels.timing.cublas import PEERS
    from warploom.kernels.timing.speed import Bench
    from warploom.kernels.timing.tuning import tune

    status = OK
    with Gpu() as gpu:
        peer = PEERS[options.peer]()
        bench = Bench(gpu.name, peer, _clock(gpu), gpu.wait, options.repetitions)
        print(f"{gpu.name}, CUDA {gpu.driver}, {peer.name} {peer.version}\nbefore: {state(gpu)}", flush=True)
        with peer.settings():
            for number, case in enumerate(cases, 1):
                with bar(f"{case} ({number} of {len(cases)})") as begin:
                    outcome = tune(bench, case, _prepare, begin)
                status = max(status, report(outcome))
        print(f"after:  {state(gpu)}")
    return status


def _prepare(dispatch: HopperDispatch, operands: Operands) -> Launch:
    from warploom.kernels.hopper.gemm import gemm
    from warploom.kernels.prepared import PreparedGemm

    ready = PreparedGemm(dispatch, gemm.at(plan=dispatch.plan), operands)
    return lambda given: ready(1.0, 1.0, *given)


def _clock(gpu: Gpu) -> Clock:
    from warploom.gpu import measure

    return lambda calls, repetitions: measure(gpu, calls, repetitions=repetitions, settle=_SETTLE)


def report(outcome: Outcome) -> int:
    """Print the candidates of a problem; the result is the exit status."""
    from rich.console import Console
    from rich.table import Table

    table = Table("tile", box=None)
    for title in ("microseconds", "spread", "model", "chosen"):
        table.add_column(title, justify="right" if title != "chosen" else "left")
    for each in outcome.trials:
        candidate, timing = each.candidate, each.timing
        marks = {"before": candidate == outcome.before, "now": candidate == outcome.now}
        table.add_row(
            in_words(candidate.plan.tile, candidate.schedule.split),
            "wrong" if timing is None else f"{timing.median:.2f}",
            "" if timing is None else f"{timing.spread:.1%}",
            f"{candidate.estimate:.2f}",
            " and ".join(name for name, holds in marks.items() if holds),
        )
    print(outcome.case)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    wrong = sum(each.timing is None for each in outcome.trials)
    if wrong:
        print(f"{wrong} of {len(outcome.trials)} tiles give wrong results; they are not chosen")
    sys.stdout.flush()
    return DIFFERENT if wrong else OK


def _list() -> int:
    from warploom.kernels.hopper.tuned_tiles import read, record_file

    record = read()
    for gpu, kept in record.items():
        print(gpu)
        for key, each in kept.items():
            print(f"  {key}: {in_words(each.tile, each.split)}, {each.microseconds:.2f} us")
    if not record:
        print(f"nothing is kept in {record_file()}")
    return OK


def _forget(cases: Sequence[Case] | None) -> int:
    from warploom.kernels.hopper.tuned_tiles import forget, key_of

    keys: set[str] | None = None
    if cases is not None:
        problems = [(case.kind, case.kind.problem(case.m, case.n, case.k)) for case in cases]
        keys = {key_of(problem, kind.plan(problem)) for kind, problem in problems}
    count = forget(keys)
    print(f"{count} tile{'' if count == 1 else 's'} forgotten")
    return OK
