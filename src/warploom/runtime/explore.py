"""`explore`: a kernel under many schedules, and whether what it leaves depends on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from warploom.diagnostics import Diagnostic, UsageError
from warploom.display import Displayed
from warploom.emulator.engines import Schedule
from warploom.emulator.execute import execute as run_grid
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.program import load
from warploom.ptx import Module, read
from warploom.runtime.api import Extent, Placed, Progress, Run, execute, place
from warploom.runtime.arguments import Array, adopt, collect
from warploom.runtime.distribution import Announce, WorkReport, check_workers, distributor

__all__ = ["Difference", "Exploration", "explore"]

FEWEST, MOST = 2, 10_000


@dataclass(frozen=True, slots=True)
class Difference:
    """The first byte in which an array came out otherwise under another schedule.

    Units: `byte` counts from the array's first, in C order; `index` is the element's place.
    """

    schedules: tuple[str, str]
    array: str
    byte: int
    index: tuple[int, ...]
    values: tuple[str, str]

    def __str__(self) -> str:
        place = ", ".join(str(i) for i in self.index)
        return (
            f"{self.array}, byte {self.byte}, element [{place}]: "
            f"{self.values[0]} under {self.schedules[0]}, {self.values[1]} under {self.schedules[1]}"
        )


@dataclass(frozen=True, slots=True)
class Exploration(Displayed):
    """What many schedules made of one launch.

    `failures` says for which schedules the kernel trapped or hung, and with what words. `findings` are the
    sanitizer's, asked when the schedules disagree: each names two events that nothing orders. `run` is the
    first schedule's that ended well, whose results the arrays hold; None where none did. `work_report` says
    which workers did what, where there were several.
    """

    display_kind: ClassVar[str] = "exploration"

    schedules: tuple[str, ...]
    difference: Difference | None
    failures: tuple[tuple[str, str], ...]
    findings: tuple[Diagnostic, ...]
    run: Run | None
    work_report: WorkReport | None = None

    @property
    def same(self) -> bool:
        """Whether the kernel ended well under every schedule and left the same bytes."""
        return self.difference is None and not self.failures


def explore(
    ptx: str | Path | Module,
    kernel: str | None = None,
    *,
    grid: Extent,
    block: Extent,
    args: Sequence[object],
    cluster: Extent = (1, 1, 1),
    shared: int = 0,
    arch: str | None = None,
    schedules: int = 16,
    workers: int | str = 1,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
) -> Exploration:
    """Run a kernel under so many schedules and compare what they leave.

    The schedules are eager, lazy, and random ones, which also part the warps and let them overtake each other.
    The arguments are those of `launch`; the arrays hold what the first schedule left. Workers of a Dask cluster
    take a schedule each; what they say is the same.

    Errors: those of `launch`, but for traps and deadlocks, which are counted; UsageError launch.explore.
    """
    if isinstance(schedules, bool) or not FEWEST <= schedules <= MOST:
        message = f"schedules is {schedules!r}; expected {FEWEST} to {MOST}"
        raise UsageError(message, code="launch.explore")
    check_workers(workers)
    program = load(ptx if isinstance(ptx, Module) else read(ptx), kernel)
    args = adopt(program, args, on_gpu=False)
    arrays = [(name, array) for name, array in collect(program, args) if array.flags.writeable]
    before = [array.copy() for _, array in arrays]

    def once(schedule: str, sanitize: bool = False) -> Run:
        for (_, array), saved in zip(arrays, before, strict=True):
            array[...] = saved
        return execute(
            program, grid=grid, block=block, args=args, cluster=cluster, shared=shared, arch=arch,
            schedule=schedule, sanitize=sanitize, workers=1 if isinstance(workers, str) else workers,
            progress=progress,
        )  # fmt: skip

    names = ("eager", "lazy", *(f"random:{seed}" for seed in range(1, schedules - 1)))
    first, run, left = "", None, before
    difference: Difference | None = None
    failures: list[tuple[str, str]] = []
    marks: list[str] = []
    work_report: WorkReport | None = None
    if isinstance(workers, str):
        placed = place(program, grid=grid, block=block, args=args, cluster=cluster, shared=shared, arch=arch)
        marks, work_report = distributor().map_tasks(marked, placed, list(names), workers, announce)
    for number, name in enumerate(names):
        if marks and marks[number].startswith(_FAILED):
            failures.append((name, marks[number].removeprefix(_FAILED)))
            continue
        if marks and run is not None and (difference or marks[number] == marks[names.index(first)]):
            continue  # what it leaves is known already, or of no interest
        try:
            done = once(name)
        except (Trap, Deadlock) as error:
            failures.append((name, _words(error)))
            continue
        if run is None:
            first, run, left = name, done, [array.copy() for _, array in arrays]
        elif difference is None:
            difference = _difference(arrays, left, (first, name))
    findings = once("eager", sanitize=True).findings if difference or failures else ()
    for (_, array), saved in zip(arrays, left, strict=True):
        array[...] = saved
    return Exploration(names, difference, tuple(failures), findings, run, work_report)


_FAILED = "failed: "


def marked(placed: Placed, schedule: str, tell: Callable[[object], None]) -> str:
    """A mark of what a launch leaves in its buffers under a schedule, or how it failed; a job for a worker."""
    arena = placed.arena
    request = replace(placed.request, schedule=Schedule.parse(schedule))
    try:
        run_grid(request, arena, placed.segments, lambda now: tell((now.ctas_done, now.ctas_total)))
    except (Trap, Deadlock) as error:
        return f"{_FAILED}{_words(error)}"
    found = sha256()
    for segment in arena.segments[: placed.outputs]:
        found.update(arena.view(segment).data)
    return found.hexdigest()


def _words(error: Trap | Deadlock) -> str:
    return str(error).partition("\n")[0]


def _difference(
    arrays: Sequence[tuple[str, Array]], left: Sequence[Array], schedules: tuple[str, str]
) -> Difference | None:
    """The first byte in which arrays differ from what the first schedule left."""
    for (name, array), one in zip(arrays, left, strict=True):
        pair = [np.ascontiguousarray(each).reshape(-1) for each in (one, array)]
        here, there = (each.view(np.uint8) for each in pair)
        unequal = np.flatnonzero(here != there)
        if unequal.size:
            byte = int(unequal[0])
            element = byte // array.itemsize
            index = tuple(int(i) for i in np.unravel_index(element, array.shape or (1,)))
            values: list[Any] = [each[element] for each in pair]
            return Difference(schedules, name, byte, index, (str(values[0]), str(values[1])))
    return None
