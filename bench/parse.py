"""Compare the speed of the PTX parser with pyptx 0.1.1 on the same files in one run.

    python bench/parse.py [FILE.ptx …] [--rounds N]

Both parsers must parse each file, and Warploom must print it again byte for byte. The fastest of N rounds counts.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from pyptx.parser import parse as parse_with_pyptx  # pyright: ignore[reportMissingTypeStubs]
from rich.console import Console
from rich.progress import track
from rich.table import Table

from warploom.ptx import parse

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"


def seconds(readers: Sequence[Callable[[str], object]], text: str, rounds: int) -> list[float]:
    """Return the shortest time of each parser.

    The parsers alternate, so that other load on the host affects both.
    """
    best = [float("inf")] * len(readers)
    for _ in range(rounds):
        for number, read in enumerate(readers):
            start = time.perf_counter()
            read(text)
            best[number] = min(best[number], time.perf_counter() - start)
    return best


def main() -> int:
    """Print the table; return 1 if a file does not round-trip or a parser refuses it, otherwise 0."""
    arguments = argparse.ArgumentParser(description="Parse PTX files with warploom and pyptx, and compare.")
    arguments.add_argument("files", nargs="*", type=Path, help="PTX files; the corpus when none is given")
    arguments.add_argument("--rounds", type=int, default=7)
    options = arguments.parse_args()
    files: list[Path] = options.files or sorted(CORPUS.glob("*.ptx"))
    table = Table(title=f"Parsing: warploom beside pyptx {version('pyptx')}, best of {options.rounds} rounds")
    for heading in ("file", "kB", "warploom ms", "pyptx ms", "MB/s", "ratio"):
        table.add_column(heading, justify="left" if heading == "file" else "right", no_wrap=True)
    total_bytes, total_own, total_other = 0, 0.0, 0.0
    for path in track(files, description="parsing", console=Console(stderr=True), transient=True):
        text = path.read_bytes().decode()
        if str(parse(text, path.name)) != text:
            print(f"{path}: does not print as it was read", file=sys.stderr)
            return 1
        try:
            own, other = seconds((parse, parse_with_pyptx), text, options.rounds)
        except Exception as error:  # noqa: BLE001  pyptx raises whatever it meets
            print(f"{path}: pyptx cannot read it: {error}", file=sys.stderr)
            return 1
        total_bytes, total_own, total_other = total_bytes + len(text), total_own + own, total_other + other
        table.add_row(path.name, *figures(len(text), own, other))
    table.add_section()
    table.add_row("all", *figures(total_bytes, total_own, total_other))
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    console.print(f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}")
    return 0


def figures(size: int, own: float, other: float) -> tuple[str, ...]:
    """Return one row of the table."""
    return (
        f"{size / 1e3:.1f}",
        f"{own * 1e3:.2f}",
        f"{other * 1e3:.2f}",
        f"{size / own / 1e6:.1f}",
        f"{other / own:.1f}x",
    )


if __name__ == "__main__":
    sys.exit(main())
