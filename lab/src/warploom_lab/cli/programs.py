"""`warploom-lab programs`: compile public CUDA programs, and sanitize them on the emulator."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from warploom_lab.cli.campaign_options import require_positive_workers
from warploom_lab.cli.status import DIFFERENT, OK, add_verb, print_table

if TYPE_CHECKING:
    from warploom_lab.programs.catalog import Program
    from warploom_lab.programs.run import ProgramRecord

_DESCRIPTION = """\
Compile public CUDA programs with nvcc 13.0 from PATH, run them on the emulator under the schedules eager, lazy and
random:0, and list the findings of the sanitizer. The results of each program are verified.

The folder has the sources, which this command does not fetch: the repositories cutlass, flash-attention, FlashMLA,
DeepGEMM and ThunderKittens, and a folder curand with the headers of the package nvidia-curand
(pip install --no-deps --target FOLDER/curand nvidia-curand). Compiled programs are kept in FOLDER/build. Without the
sources and without nvcc, a FOLDER with this folder alone is enough.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "programs",
        run,
        summary="compile public CUDA programs, and run them with the sanitizer",
        description=_DESCRIPTION,
        exit_status="0 all results are right; 1 a result is wrong or a program failed",
    )
    parser.add_argument("folder", type=Path, help="folder with the sources")
    parser.add_argument("words", nargs="*", help="run programs whose names contain one of the words")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="number of programs that run at a time (1)")


def run(options: argparse.Namespace) -> int:
    """Compile and run the programs, print the findings and a table, and return the exit status."""
    from warploom_lab.programs.build import build_program, build_runtime
    from warploom_lab.programs.catalog import PROGRAMS
    from warploom_lab.programs.run import run as run_program

    require_positive_workers(options)
    sources: Path = options.folder.resolve()
    folder = sources / "build"
    folder.mkdir(parents=True, exist_ok=True)
    runtime = build_runtime(folder)
    chosen = [each for each in PROGRAMS if not options.words or any(word in each.name for word in options.words)]

    def run_one(program: Program) -> ProgramRecord:
        return run_program(program, runtime, build_program(program, sources, folder))

    records: list[ProgramRecord] = []
    with ThreadPoolExecutor(options.workers) as pool:  # each thread waits for the process of its program
        for record in pool.map(run_one, chosen):
            records.append(record)
            for launch in record.launches:
                for code, schedules, text in launch.findings:
                    print(f"{record.name}: {code} under {schedules}: {text}")
            if record.problem:
                print(f"{record.name}: {record.problem}")
    rows = [
        (
            record.name,
            str(len(record.launches)),
            f"{sum(launch.instructions for launch in record.launches):,}",
            f"{sum(launch.seconds for launch in record.launches):.0f}",
            "no" if record.problem else "yes",
            str(sum(len(launch.findings) for launch in record.launches)),
        )
        for record in records
    ]
    print_table(("program", "launches", "warp instructions", "seconds", "right", "findings"), rows)
    return DIFFERENT if any(record.problem for record in records) else OK
