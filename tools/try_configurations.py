"""Put every kind of GEMM kernel before the checker, ptxas, and the sanitizer, and record what they say.

    python tools/try_configurations.py [--record FILE] [--only check lazy random:5 ptxas]

Which kernels: the covering arrays of `configurations.space`, and all tiles that are chosen among. What was asked before
stands in the record and is not asked again, so that a run that was ended goes on where it was. The exit status is 1
where anything was found.
"""

# This script prints.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from configurations.space import HOPPER, WARP_LEVEL, AnyPlan, chosen_tiles, warp_tiles, words
from configurations.trial import assembled, complaints, tried
from warploom_lab.ptxas.assembler import Assembler

RECORD = Path(__file__).resolve().parents[1] / "tests" / "evidence" / "configurations" / "record.json"
SCHEDULES = ("lazy", "random:5")
QUESTIONS = ("check", *SCHEDULES, "ptxas")
_EVERY = 20.0  # seconds between two writings of the record

_ARRAYS, _TILES = (HOPPER.name, WARP_LEVEL.name), ("chosen tiles", "tiles of warps")
_ORDER = (
    (_ARRAYS, ("check", *SCHEDULES)),
    (_TILES, ("check",)),
    (_TILES, SCHEDULES),
    (_ARRAYS, ("ptxas",)),
    (_TILES, ("ptxas",)),
)

Entry = dict[str, Any]


def asked() -> Iterator[tuple[Entry, AnyPlan, bool]]:
    """What there is to try: its entry, the plan, and whether it is to run."""
    rows = [
        (place / len(array), space, choice)
        for space, array in ((space, space.array()) for space in (HOPPER, WARP_LEVEL))
        for place, choice in enumerate(array)
    ]
    for _, space, choice in sorted(rows, key=lambda row: row[0]):
        plan = space.plan(choice)
        places = [each.index(value) for each, value in zip(space.axes.values(), choice, strict=True)]
        yield {"of": space.name, "plan": words(plan), "choice": places}, plan, True
    for turn, plan in chosen_tiles():
        yield {"of": _TILES[0], "plan": words(plan)}, plan, turn
    for plan in warp_tiles():
        yield {"of": _TILES[1], "plan": words(plan)}, plan, plan.tile.span == 64


def main() -> int:
    """Try what was not tried yet, and write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", type=Path, default=RECORD, metavar="FILE")
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=QUESTIONS)
    options = parser.parse_args()
    found = shutil.which("ptxas")
    ptxas = None if found is None else Assembler.at(Path(found))
    before = json.loads(options.record.read_text())["kernels"] if options.record.exists() else []
    known = {(each["of"], each["plan"]): each for each in before}
    entries: list[tuple[Entry, AnyPlan, bool]] = [
        (known.get((entry["of"], entry["plan"]), entry), plan, runs) for entry, plan, runs in asked()
    ]
    written = time.monotonic()
    for entry, name, ask in _questions(entries, ptxas, set(options.only)):
        entry[name] = ask()
        if bad := _findings(entry):
            print(f"{entry['of']}: {entry['plan']}: {name}: {bad}", flush=True)
        if time.monotonic() - written > _EVERY:
            _write(options.record, entries, ptxas)
            written = time.monotonic()
    _write(options.record, entries, ptxas)
    return int(any(_findings(entry) for entry, _, _ in entries))


def _questions(
    entries: list[tuple[Entry, AnyPlan, bool]], ptxas: Assembler | None, only: set[str]
) -> Iterator[tuple[Entry, str, Callable[[], Any]]]:
    """What is not answered yet, such that a run that is ended has asked something of every kind."""
    for kinds, names in _ORDER:
        for number, (entry, plan, runs) in enumerate(entries):
            for name in names:
                if entry["of"] not in kinds or name in entry or name not in only:
                    continue
                if name == "check":
                    yield entry, name, partial(complaints, plan)
                elif name == "ptxas" and ptxas is not None:
                    yield entry, name, partial(assembled, plan, ptxas)
                elif name in SCHEDULES and runs:
                    # Of two kernels one has its tiles cut under the first schedule, the other under the second.
                    cut = (number + SCHEDULES.index(name)) % 2 == 1
                    yield entry, name, partial(tried, plan, name, cut=cut)


def _findings(entry: Entry) -> list[Any]:
    """What was found, spills too."""
    said = [each for name in ("check", *SCHEDULES) for each in entry.get(name, ())]
    registers, spills, *more = entry.get("ptxas", (1, 0))
    return [*said, *more, *([f"{spills} bytes of spills"] if spills or not registers else [])]


def _write(path: Path, entries: list[tuple[Entry, AnyPlan, bool]], ptxas: Assembler | None) -> None:
    """Write the record, one kernel a line."""
    head = {
        "about": "What the checker, the machine under each schedule, and ptxas (registers, spills) say of GEMM kernels",
        "command": "python tools/try_configurations.py",
        "ptxas": None if ptxas is None else ptxas.release,
    }
    kernels = ",\n".join(json.dumps(entry) for entry, _, _ in entries)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(head)[:-1] + ', "kernels": [\n' + kernels + "\n]}\n")


if __name__ == "__main__":
    sys.exit(main())
