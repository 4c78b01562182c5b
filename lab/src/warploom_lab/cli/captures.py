"""`warploom-lab captures`: capture launches of CUDA programs on a GPU, and replay them."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.runtime.captures.capture_file import SUFFIX
from warploom_lab.cli.status import DIFFERENT, OK, add_verb, print_table

if TYPE_CHECKING:
    from warploom_lab.captures.trial import TrialRecord

_DESCRIPTION = """\
Run CUDA programs with `warploom capture` on a GPU, and replay each captured launch. The programs are those in
warploom_lab/captures/programs and, with --binaries, compiled programs of NVIDIA's cuda-samples and CUTLASS. --captured
replays the files of an earlier run.

    warploom-lab captures --device cuda --device cpu FOLDER
    warploom-lab captures --captured FOLDER
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "captures",
        run,
        summary="capture launches of CUDA programs on a GPU, and replay them",
        description=_DESCRIPTION,
        exit_status="0 all results are equal, or differ by the order of atomics; 1 others",
    )
    parser.add_argument("folder", type=Path, help="folder of the captured launches")
    parser.add_argument("words", nargs="*", help="run programs whose names contain one of the words")
    parser.add_argument("--binaries", type=Path, metavar="FOLDER", help="folder of compiled cuda-samples")
    parser.add_argument("--captured", action="store_true", help="capture nothing")
    parser.add_argument("--device", action="append", choices=("cpu", "cuda"), help="replay on this device (cpu)")


def run(options: argparse.Namespace) -> int:
    """Capture and replay, print a table, and return the exit status."""
    from warploom_lab.captures.trial import capture, programs, replay_file

    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)

    def is_chosen(name: str) -> bool:
        return not options.words or any(word in name for word in options.words)

    if not options.captured:
        for program in programs(folder, options.binaries):
            if is_chosen(program.name):
                print(f"{program.name} {' '.join(program.options)}: {capture(program, folder)}", flush=True)
    records: dict[tuple[str, str], list[TrialRecord]] = defaultdict(list)
    for path in sorted(folder.glob(f"*/**/*{SUFFIX}")):
        name = path.relative_to(folder).parts[0]
        if not is_chosen(name):
            continue
        for device in options.device or ["cpu"]:
            record = replay_file(path, name, device)
            records[name, device].append(record)
            if record.result != "equal":
                print(f"{path.relative_to(folder)} on {device}: {record.result}: {record.detail}", flush=True)
    results = ("equal", "order", "different", "error")
    rows = [
        (
            name, device, str(len(found)), *(str(sum(each.result == which for each in found)) for which in results),
            f"{sum(each.size for each in found) / 1024:,.0f}", f"{sum(each.seconds for each in found):.1f}",
        )
        for (name, device), found in records.items()
    ]  # fmt: skip
    print_table(("program", "device", "launches", "equal", "order", "different", "error", "KiB", "seconds"), rows)
    bad = [each for found in records.values() for each in found if each.result not in ("equal", "order")]
    return DIFFERENT if bad else OK
