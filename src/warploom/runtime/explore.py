"""`explore`: compare the results of a kernel under many schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from warploom.diagnostics import Diagnostic, UsageError
from warploom.display import Displayed
from warploom.emulator.faults import Deadlock, Trap
from warploom.gpu.geometry import Extent
from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.arguments import Arguments
from warploom.runtime.device_buffers import Array
from warploom.runtime.distribution import Announce, WorkReport, check_workers, distributor
from warploom.runtime.run import Run

if TYPE_CHECKING:
    from warploom.emulator.stats import Progress
    from warploom.runtime.kernel import KernelSource

_FEWEST, _MOST = 2, 10_000
_FAILED = "failed: "


@dataclass(frozen=True, slots=True)
class Difference:
    """First byte of an array that differs between two schedules.

    `array` is the name of the array, and `index` the index of the element with the byte. `values` has the element under
    each of the two `schedules`. `byte` counts from the array's first byte, in C order.
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
    """Results of one launch under many schedules.

    `difference` is the first difference between two results, or None. `failures` has the message of each schedule under
    which the kernel trapped or hung. `findings` are the sanitizer's findings if there is a difference or a failure.
    `run` is the run of the first schedule that succeeded, or None. The arrays hold the results of this run.
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
        """True if the kernel succeeded under every schedule with the same bytes."""
        return self.difference is None and not self.failures


def explore(
    kernel: KernelSource,
    name: str | None = None,
    *,
    grid: Extent,
    block: Extent | None = None,
    args: Sequence[object],
    cluster: Extent = (1, 1, 1),
    shared: int | None = None,
    arch: str | None = None,
    schedules: int = 16,
    workers: int | str = 1,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
) -> Exploration:
    """Run a kernel on the emulator under several schedules, and compare the results.

    `schedules` is the number of schedules, from 2 to 10,000. The first is eager, the second lazy, and all others are
    random. `launch` describes the other parameters. Afterwards the arrays hold the results of the first schedule that
    succeeded.

    Errors: as `launch`, except Trap and Deadlock, which become failures; UsageError launch.explore.
    """
    if isinstance(schedules, bool) or not _FEWEST <= schedules <= _MOST:
        message = f"schedules is {schedules!r}; expected {_FEWEST} to {_MOST}"
        raise UsageError(message, code="launch.explore")
    check_workers(workers)
    loaded, geometry, arguments = load_launch(kernel, name, grid, block, cluster, shared, args)
    prepared = cpu.prepare(loaded, geometry, arguments, arch)
    threads = 1 if isinstance(workers, str) else workers
    names = ("eager", "lazy", *(f"random:{seed}" for seed in range(1, schedules - 1)))
    digests: list[str] = []
    work_report: WorkReport | None = None
    if isinstance(workers, str):
        digests, work_report = distributor().map_tasks(result_digest, prepared, list(names), workers, announce)
    first: tuple[str, Run, cpu.EmulatorLaunch, str] | None = None
    difference: Difference | None = None
    failures: list[tuple[str, str]] = []
    for number, schedule in enumerate(names):
        known = digests[number] if digests else ""
        if known.startswith(_FAILED):
            failures.append((schedule, known.removeprefix(_FAILED)))
            continue
        if known and first is not None and (difference is not None or known == first[3]):
            continue  # the workers have already compared this schedule
        each = prepared.under(schedule).fork()
        try:
            done = cpu.run(each, workers=threads, progress=progress)
        except (Trap, Deadlock) as error:
            failures.append((schedule, _summary(error)))
            continue
        if first is None:
            first = schedule, done, each, known
        elif difference is None:
            difference = _difference(arguments, (first[0], first[2]), (schedule, each))
    findings: tuple[Diagnostic, ...] = ()
    if difference is not None or failures:
        try:
            findings = cpu.run(prepared.fork(), sanitize=True, workers=threads, progress=progress).findings
        except (Trap, Deadlock) as error:
            findings = error.findings
    if first is not None:
        arguments.buffers.read_from(first[2].arena)
    return Exploration(names, difference, tuple(failures), findings, first[1] if first else None, work_report)


def result_digest(launch: cpu.EmulatorLaunch, schedule: str, tell: Callable[[object], None]) -> str:
    """Run a launch under a schedule. Return a digest of its buffers or the message of a trap or deadlock.

    `tell` receives the numbers of finished CTAs and of all CTAs.
    """
    each = launch.under(schedule)

    def report(now: Progress) -> None:
        tell((now.ctas_done, now.ctas_total))

    try:
        cpu.run(each, progress=report)
    except (Trap, Deadlock) as error:
        return f"{_FAILED}{_summary(error)}"
    found = sha256()
    for segment in each.arena.segments[: each.outputs]:
        found.update(each.arena.view(segment).data)
    return found.hexdigest()


def _summary(error: Trap | Deadlock) -> str:
    return str(error).partition("\n")[0]


def _difference(
    arguments: Arguments, one: tuple[str, cpu.EmulatorLaunch], other: tuple[str, cpu.EmulatorLaunch]
) -> Difference | None:
    views = arguments.buffers.views
    pairs = zip(views(one[1].arena), views(other[1].arena), strict=True)
    for (name, left), (_, right) in pairs:
        flat: list[Array] = [np.ascontiguousarray(each).reshape(-1) for each in (left, right)]
        unequal = np.flatnonzero(flat[0].view(np.uint8) != flat[1].view(np.uint8))
        if unequal.size:
            byte = int(unequal[0])
            element = byte // left.itemsize
            index = tuple(map(int, np.unravel_index(element, left.shape or (1,))))
            values: list[Any] = [each[element] for each in flat]
            return Difference((one[0], other[0]), name, byte, index, (str(values[0]), str(values[1])))
    return None
