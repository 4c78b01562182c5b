"""`warploom-lab programs`: compile public CUDA programs, and run them under `warploom exec`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom_lab.cli.campaign_options import require_positive_workers
from warploom_lab.cli.status import DIFFERENT, OK, add_verb, print_table

if TYPE_CHECKING:
    from warploom_lab.programs.catalog import Program
    from warploom_lab.programs.run import Record

_RESULTS = Path("tests/evidence/programs/results.json")
_PAGE = Path("docs/programs.md")
_DESCRIPTION = """\
Compile public CUDA programs with nvcc 13.0 from PATH, run them under `warploom exec` without and with --sanitize, and
record the results.

The folder of sources has one folder for each repository, at the commit in the catalog, and a folder nvidia with the
headers of cuRAND and cuBLAS. --fetch gets them:

    warploom-lab programs --sources FOLDER --fetch
    pip install --no-deps --target FOLDER nvidia-curand nvidia-cublas

Compiled programs are kept in FOLDER/build. A run needs only them, not the sources or nvcc.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "programs",
        run,
        summary="compile public CUDA programs, and run them under `warploom exec`",
        description=_DESCRIPTION,
        exit_status="0 all programs succeeded, and each finding is assessed; 1 otherwise",
    )
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="folder with the repositories")
    parser.add_argument("--fetch", action="store_true", help="clone the repositories that are missing")
    parser.add_argument("--build", action="store_true", help="compile the programs")
    parser.add_argument("--run", action="store_true", help="run the compiled programs, and record the results")
    parser.add_argument("--write", action="store_true", help=f"write the table in {_PAGE} from the results")
    parser.add_argument("--only", type=re.compile, metavar="REGEX", help="programs whose names contain a match")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", dest="workers", help="programs at a time (1)")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="time limit of a run (600)")
    parser.add_argument("--results", type=Path, default=_RESULTS, metavar="FILE", help=f"record ({_RESULTS})")


def run(options: argparse.Namespace) -> int:
    """Fetch, compile and run the programs as the options ask, and return the exit status."""
    from warploom_lab.programs import table
    from warploom_lab.programs.build import fetch
    from warploom_lab.programs.catalog import PROGRAMS, REPOSITORIES

    require_positive_workers(options)
    chosen = [each for each in PROGRAMS if options.only is None or options.only.search(each.name)]
    sources: Path | None = options.sources
    if sources is None and (options.fetch or options.build or options.run):
        raise UsageError("--fetch, --build and --run need --sources FOLDER", code="lab.sources")
    if options.fetch and sources is not None:
        sources.mkdir(parents=True, exist_ok=True)
        used = {each.repository for each in chosen} | {"cutlass"}
        for repository in REPOSITORIES:
            if repository.name in used:
                fetch(repository, sources)
    status = _build_and_run(chosen, options) if options.build or options.run else OK
    if options.write:
        table.write(_PAGE, table.load(options.results))
    return status


def _build_and_run(chosen: list[Program], options: argparse.Namespace) -> int:
    """Compile and run programs, print the results when they are known, and return the exit status."""
    from warploom_lab.programs import table
    from warploom_lab.programs.run import SUCCESS, unassessed

    lock, failed = Lock(), False

    def finish(program: Program) -> Record:
        nonlocal failed
        record = _one(program, options)
        runs = [each for each in (record.plain, record.sanitized) if each is not None]
        with lock:
            for each in runs:
                print(f"{record.name}: {each.verdict} ({each.seconds} s)", flush=True)
            for each in unassessed(program, record):
                print(f"{record.name}: not assessed: {each.message}", flush=True)
            if record.problem:
                print(f"{record.name}: {record.problem}", flush=True)
            is_right = not record.problem and all(each.verdict == SUCCESS for each in runs)
            failed = failed or not is_right or bool(unassessed(program, record))
            if options.run:
                table.save(options.results, [record])
        return record

    if options.run:
        options.results.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.workers) as pool:  # each thread waits for the processes of its program
        records = list(pool.map(finish, chosen))
    print_table(
        ("program", "launches", "warp instructions", "seconds", "sanitized", "findings"),
        [
            (each.name, str(each.plain.launches), f"{each.plain.instructions:,}", f"{each.plain.seconds:.0f}",
             f"{each.sanitized.seconds:.0f}", str(len(each.sanitized.findings)))
            for each in records if each.plain and each.sanitized
        ],
    )  # fmt: skip
    return DIFFERENT if failed else OK


def _one(program: Program, options: argparse.Namespace) -> Record:
    """Compile and run one program. An error of the compiler is the problem of the record."""
    from warploom_lab.programs.build import build
    from warploom_lab.programs.run import Record
    from warploom_lab.programs.run import run as run_program

    sources = options.sources.resolve()
    binary = sources / "build" / program.name
    try:
        if options.build:
            build(program, sources, sources / "build")
        elif not binary.exists():
            raise UsageError(f"{binary} is missing; expected --build before --run", code="lab.sources")
    except UsageError as error:
        return Record(program.name, None, None, str(error))
    if not options.run:
        return Record(program.name, None, None)
    plain = run_program(program, binary, sanitize=False, limit=options.limit)
    sanitized = run_program(program, binary, sanitize=True, limit=options.limit)
    return Record(program.name, plain, sanitized)
