"""Put mutated PTX through `parse` and `check`: no exception, no hang, no more than 1 GiB of memory.

    python tools/fuzz.py [--inputs 5000000] [--seed 1] [--workers 2] [--corpus FOLDER] [--first N]
    python tools/fuzz.py --make-corpus

Every input follows from the seed and its number. A fault is made as short as it can be and written to the folder
`found` of the corpus, whose files every later run mutates and the tests try as they are. The exit status is 1
where there was a fault. With --make-corpus the parts of the corpus that follow from the Forms and from
tests/corpus are written again, and nothing is tried.
"""

# This script prints.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from pathlib import Path

from fuzzing.corpus import make_corpus
from fuzzing.hunt import Outcome, hunt
from fuzzing.trial import minimised
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"


def main() -> int:
    """Hunt, and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=5_000_000, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--make-corpus", action="store_true")
    options = parser.parse_args()
    if options.make_corpus:
        make_corpus(options.corpus, ROOT / "tests" / "corpus")
        return 0
    numbers = range(options.first, options.first + options.inputs)
    started = time.monotonic()
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.speed:.0f}/s"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("trying", total=len(numbers))
        last = started

        def progress(done: int) -> None:
            nonlocal last
            bar.update(task, completed=done)
            if not sys.stderr.isatty() and time.monotonic() - last > 60:
                last = time.monotonic()
                print(f"{done:,} tried in {last - started:,.0f} s", flush=True)

        outcome = hunt(options.corpus, options.seed, numbers, options.workers, progress)
    _report(outcome, options.corpus / "found")
    print(
        f"{outcome.tried:,} inputs of seed {options.seed} from number {options.first}: {len(outcome.faults)} kinds "
        f"of faults; {time.monotonic() - started:,.0f} s, at most {outcome.memory >> 20} MiB"
    )
    return 1 if outcome.faults else 0


def _report(outcome: Outcome, folder: Path) -> None:
    for kind, faults in outcome.faults.items():
        fault = min(faults, key=lambda fault: len(fault.text))
        text = fault.text if kind.startswith("process ended") else minimised(fault)
        data = text.encode(errors="surrogatepass")
        path = folder / f"{hashlib.blake2b(data, digest_size=6).hexdigest()}.ptx"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{kind} ({len(faults)}): {path}\n{fault.detail}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
