"""`warploom-lab fuzz`: run mutated PTX through `parse` and `check`."""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from warploom_lab.cli.campaign_options import REPOSITORY
from warploom_lab.cli.status import DIFFERENT, OK, add_verb

if TYPE_CHECKING:
    from warploom_lab.fuzz.campaign import Outcome

_CORPUS = Path("tests/fuzz/corpus")
_SECONDS_BETWEEN_REPORTS = 60

_DESCRIPTION = """\
Run mutated PTX through `parse` and `check`. No input may raise an unexpected exception, hang, or need more than 1 GiB
of memory. Each input depends on the seed and its number. A fault is minimised and written to the folder `found` of the
corpus; later runs mutate these files, and the tests run them unchanged.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "fuzz",
        run,
        summary="run mutated PTX through `parse` and `check`",
        description=_DESCRIPTION,
        exit_status="0 no faults; 1 faults",
    )
    parser.add_argument("--inputs", type=int, default=5_000_000, metavar="N", help="number of inputs (5000000)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first input (0)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the inputs (1)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument(
        "--corpus", type=Path, default=_CORPUS, metavar="FOLDER", help=f"folder of the corpus ({_CORPUS})"
    )
    parser.add_argument(
        "--make-corpus",
        action="store_true",
        help="write the parts of the corpus that come from the Forms and from tests/corpus, and run no input",
    )


def run(options: argparse.Namespace) -> int:
    """Run mutated inputs, write the faults, and return the exit status."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from warploom_lab.fuzz.campaign import fuzz
    from warploom_lab.fuzz.corpus import make_corpus

    if options.make_corpus:
        make_corpus(options.corpus, REPOSITORY / "tests" / "corpus")
        return OK
    numbers = range(options.first, options.first + options.inputs)
    started = time.monotonic()
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.speed:.0f}/s"), TimeRemainingColumn())
    terminal = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=not terminal) as bar:
        task = bar.add_task("running", total=len(numbers))
        last = started

        def progress(done: int) -> None:
            nonlocal last
            bar.update(task, completed=done)
            if not terminal and time.monotonic() - last > _SECONDS_BETWEEN_REPORTS:
                last = time.monotonic()
                print(f"{done:,} inputs in {last - started:,.0f} s", flush=True)

        outcome = fuzz(options.corpus, options.seed, numbers, options.workers, progress)
    _write_faults(outcome, options.corpus / "found")
    print(
        f"{outcome.tried:,} inputs of seed {options.seed} from number {options.first}: {len(outcome.faults)} kinds "
        f"of faults; {time.monotonic() - started:,.0f} s, at most {outcome.memory >> 20} MiB"
    )
    return DIFFERENT if outcome.faults else OK


def _write_faults(outcome: Outcome, folder: Path) -> None:
    """Print each kind of fault, and write a minimal text with the fault to `folder`."""
    from warploom_lab.fuzz.trial import minimize

    for kind, faults in outcome.faults.items():
        fault = min(faults, key=lambda fault: len(fault.text))
        text = fault.text if kind.startswith("process ended") else minimize(fault)
        data = text.encode(errors="surrogatepass")
        path = folder / f"{hashlib.blake2b(data, digest_size=6).hexdigest()}.ptx"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{kind} ({len(faults)}): {path}\n{fault.detail}", flush=True)
