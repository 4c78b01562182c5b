"""Record of the trials of GEMM kernels, a JSON file. Each update adds the missing trials."""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from warploom_lab.configurations.space import SPACES, AnyPlan, chosen_tiles, describe, warp_tiles
from warploom_lab.configurations.trial import assemble, check_findings, run_instance
from warploom_lab.ptxas.assembler import Assembler

SCHEDULES = ("lazy", "random:5")
TRIALS = ("check", *SCHEDULES, "ptxas")
_SECONDS_BETWEEN_WRITES = 20.0

_ARRAYS, _TILES = tuple(SPACES), ("chosen tiles", "tiles of warps")
_ORDER = (
    (_ARRAYS, ("check", *SCHEDULES)),
    (_TILES, ("check",)),
    (_TILES, SCHEDULES),
    (_ARRAYS, ("ptxas",)),
    (_TILES, ("ptxas",)),
)

Entry = dict[str, Any]
Kernel = tuple[Entry, AnyPlan, bool]
"""Entry of the record, plan, and True if the kernel runs on the emulator."""


def kernels() -> Iterator[Kernel]:
    """Yield the kernels to try."""
    rows = [
        (index / len(array), space, choice)
        for space, array in ((space, space.array()) for space in SPACES.values())
        for index, choice in enumerate(array)
    ]
    for _, space, choice in sorted(rows, key=lambda row: row[0]):
        plan = space.plan(choice)
        indices = [values.index(value) for values, value in zip(space.axes.values(), choice, strict=True)]
        yield {"of": space.name, "plan": describe(plan), "choice": indices}, plan, True
    # One kernel for each tile of the cost model.
    for runs, plan in chosen_tiles():
        yield {"of": _TILES[0], "plan": describe(plan)}, plan, runs
    for plan in warp_tiles():
        yield {"of": _TILES[1], "plan": describe(plan)}, plan, plan.tile.span == 64


def update(path: Path, only: set[str], ptxas: Assembler | None, command: str) -> list[str]:
    """Run the trials that the record lacks, write the record, and return all findings.

    `only` names the trials to run, such as "check" or "ptxas". `command` is the command line for the record.
    """
    recorded: list[Entry] = json.loads(path.read_text())["kernels"] if path.exists() else []
    known = {(entry["of"], entry["plan"]): entry for entry in recorded}
    tried: list[Kernel] = [
        (known.get((entry["of"], entry["plan"]), entry), plan, runs) for entry, plan, runs in kernels()
    ]
    written = time.monotonic()
    for entry, name, trial in _missing(tried, ptxas, only):
        entry[name] = trial()
        if bad := findings(entry):
            print(f"{entry['of']}: {entry['plan']}: {name}: {bad}", flush=True)
        # An interrupted update continues from this file.
        if time.monotonic() - written > _SECONDS_BETWEEN_WRITES:
            _write(path, tried, ptxas, command)
            written = time.monotonic()
    _write(path, tried, ptxas, command)
    return [finding for entry, _, _ in tried for finding in findings(entry)]


def _missing(
    tried: list[Kernel], ptxas: Assembler | None, only: set[str]
) -> Iterator[tuple[Entry, str, Callable[[], Any]]]:
    """Yield (entry, name of the trial, function that runs the trial) for each missing trial."""
    # This order lets an interrupted update try kernels from every space of plans.
    for kinds, names in _ORDER:
        for entry, plan, runs in tried:
            for name in names:
                if entry["of"] not in kinds or name in entry or name not in only:
                    continue
                if name == "check":
                    yield entry, name, partial(check_findings, plan)
                elif name == "ptxas" and ptxas is not None:
                    yield entry, name, partial(assemble, plan, ptxas)
                elif name in SCHEDULES and runs:
                    yield entry, name, partial(run_instance, plan, name)


def findings(entry: Entry) -> list[str]:
    """Return the findings of the checker, the emulator and ptxas in an entry of the record."""
    found = [finding for name in ("check", *SCHEDULES) for finding in entry.get(name, ())]
    registers, spills, *messages = entry.get("ptxas", (1, 0))
    return [*found, *messages, *([f"{spills} bytes of spills"] if spills or not registers else [])]


def _write(path: Path, tried: list[Kernel], ptxas: Assembler | None, command: str) -> None:
    head = {
        "about": "Findings of the checker, of the emulator under each schedule, and of ptxas (registers, spills) for "
        "GEMM kernels",
        "command": command,
        "ptxas": None if ptxas is None else ptxas.release,
    }
    lines = ",\n".join(json.dumps(entry) for entry, _, _ in tried)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(head)[:-1] + ', "kernels": [\n' + lines + "\n]}\n")
