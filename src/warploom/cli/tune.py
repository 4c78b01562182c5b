"""`warploom tune`: find the fastest tiles on the local GPU and store them for `gemm`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warploom.cli._gemms import declare_gemms, selected_cases, tile_text
from warploom.cli._options import FINDINGS, OK, Add, Parser
from warploom.cli._progress import step_progress
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.gpu import Gpu
    from warploom.kernels.prepared import Dispatch
    from warploom.kernels.problem import Operands
    from warploom.kernels.timing.cases import Case
    from warploom.kernels.timing.speed import Clock
    from warploom.kernels.timing.tuning import Launch, Outcome

_WARM_UP = 0.25  # seconds of work before the first repetition

_DESCRIPTION = """\
Time the tiles that the cost model predicts to be among the fastest, in turn and on random data. Store the fastest tile
for each type and size in a file. `gemm` uses these tiles on GPUs of the same name. The file is in the folder
WARPLOOM_CACHE, or else in the user's cache folder. Data and expected results come from PyTorch or CuPy.
"""


def declare(add: Add) -> None:
    """Add the command `tune` to the command line."""
    parser = add(
        "tune",
        help="find the fastest tiles of multiplications on a GPU, and store them",
        description=_DESCRIPTION,
        epilog="Exit status: 0 success; 1 a result is wrong; 2 no measurement was possible.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    assert isinstance(parser, Parser)
    parser.needs_arguments = True
    declare_gemms(parser, ("torch", "cupy"))
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="use all types or sizes if --types or --shapes is absent")
    what.add_argument("--list", action="store_true", help="print the stored tiles")
    what.add_argument("--forget", action="store_true", help="remove the stored tiles, or those of --types and --shapes")


def run(options: argparse.Namespace) -> int:
    """Run the command `tune` and return its exit status. Errors: UsageError gpu.*, kernels.*."""
    from warploom.kernels.timing.cases import KINDS
    from warploom.kernels.timing.cublaslt import PEERS

    if options.list:
        return _list()
    if options.forget:
        is_all = options.types is None and options.shapes is None
        return _forget(None if is_all else selected_cases(options, list(KINDS)))
    if not options.all and (options.types is None or options.shapes is None):
        raise UsageError("nothing to tune; expected --types and --shapes, or --all")
    return _tune(options, selected_cases(options, PEERS[options.peer].kinds))


def _tune(options: argparse.Namespace, cases: Sequence[Case]) -> int:
    from warploom.gpu import Gpu, state
    from warploom.kernels.timing.cublaslt import PEERS
    from warploom.kernels.timing.speed import Bench
    from warploom.kernels.timing.tuning import tune

    status = OK
    with Gpu() as gpu:
        peer = PEERS[options.peer]()
        bench = Bench(gpu.name, peer, _clock(gpu), gpu.wait, options.repetitions)
        print(f"{gpu.name}, CUDA {gpu.driver}, {peer.name} {peer.version}\nbefore: {state(gpu)}", flush=True)
        with peer.settings():
            for number, case in enumerate(cases, 1):
                with step_progress(f"{case} ({number} of {len(cases)})") as begin:
                    outcome = tune(bench, case, _prepare, begin)
                status = max(status, report(outcome))
        print(f"after:  {state(gpu)}")
    return status


def _prepare(dispatch: Dispatch, operands: Operands) -> Launch:
    from warploom.kernels.api import kernel_of
    from warploom.kernels.prepared import PreparedGemm

    ready = PreparedGemm(dispatch, kernel_of(dispatch.plan), operands)
    return lambda given: ready(1.0, 1.0, *given)


def _clock(gpu: Gpu) -> Clock:
    from warploom.gpu import measure

    return lambda calls, repetitions: measure(gpu, calls, repetitions=repetitions, warm_up=_WARM_UP)


def report(outcome: Outcome) -> int:
    """Print the timed tiles of one multiplication. Return the exit status."""
    from rich.console import Console
    from rich.table import Table

    table = Table("tile", box=None)
    for title in ("microseconds", "spread", "model", "chosen"):
        table.add_column(title, justify="right" if title != "chosen" else "left")
    for each in outcome.trials:
        candidate, timing = each.candidate, each.timing
        marks = {"before": candidate == outcome.before, "now": candidate == outcome.now}
        table.add_row(
            tile_text(candidate.plan.tile, candidate.schedule.split),
            "wrong" if timing is None else f"{timing.median:.2f}",
            "" if timing is None else f"{timing.spread:.1%}",
            f"{candidate.estimate:.2f}",
            " and ".join(name for name, is_set in marks.items() if is_set),
        )
    print(outcome.case)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    wrong = sum(each.timing is None for each in outcome.trials)
    if wrong:
        print(f"{wrong} of {len(outcome.trials)} tiles give wrong results and are not chosen")
    sys.stdout.flush()
    return FINDINGS if wrong else OK


def _list() -> int:
    from warploom.kernels.hopper.tuned_tiles import read, record_file

    record = read()
    for gpu, stored in record.items():
        print(gpu)
        for key, each in stored.items():
            print(f"  {key}: {tile_text(each.tile, each.split)}, {each.microseconds:.2f} us")
    if not record:
        print(f"{record_file()} has no tiles")
    return OK


def _forget(cases: Sequence[Case] | None) -> int:
    from warploom.kernels.hopper.tuned_tiles import forget, key_of

    keys: set[str] | None = None
    if cases is not None:
        keys = {key_of(case.problem, case.plan) for case in cases}
    count = forget(keys)
    print(f"{count} tile{'' if count == 1 else 's'} removed")
    return OK
