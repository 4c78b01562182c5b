"""Races between launches: accesses to global memory by launches that nothing orders."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from warploom.diagnostics import Diagnostic
from warploom.observe.sanitize.launch_accesses import LaunchAccesses
from warploom.observe.sanitize.launch_findings import find_conflict
from warploom.runtime.sessions.device_memory import DeviceMemory
from warploom.runtime.sessions.launch_order import LaunchOrder, Mark, OrderedLaunch, StreamOrder

MOST_RECORDED = 1 << 30
"""Greatest size of the records of all launches. Units: bytes.

Beyond it, the oldest records are forgotten.
"""


@dataclass(eq=False)
class RecordedLaunch:
    """Launch in the order of its stream, with the record of its accesses.

    `accesses` is None for a launch without the sanitizer. `report` gets the findings about this launch and earlier
    ones.
    """

    order: OrderedLaunch
    accesses: LaunchAccesses | None
    report: Callable[[tuple[Diagnostic, ...]], None]
    related: int  # set of the launches in the same sequence of programmatic launches (see `launch_order`)
    has_ended: bool = False


class LaunchRaces:
    """Launches on a device memory, and what they have accessed.

    The record of a launch is kept until the host waits for the launch.
    """

    def __init__(self, memory: DeviceMemory) -> None:
        self._memory = memory
        memory.on_free = self._forget
        self.order = LaunchOrder()
        self._running: deque[RecordedLaunch] = deque()
        self._records: list[RecordedLaunch] = []
        self._sequence: dict[StreamOrder, int] = {}
        self._reported: set[tuple[object, ...]] = set()

    def launch(
        self, stream: StreamOrder, report: Callable[[tuple[Diagnostic, ...]], None], *, programmatic: bool,
        is_recorded: bool = True,
    ) -> RecordedLaunch:  # fmt: skip
        """Add a launch to a stream. `end` must follow after its run."""
        order = self.order.launch(stream, programmatic)
        is_dependent = bool(order.prerequisites)
        related = self._sequence.get(stream, 0) & ~self.order.host if is_dependent else 0
        for each in order.prerequisites:
            related |= 1 << each.number
        self._sequence[stream] = related
        accesses = LaunchAccesses(is_dependent) if is_recorded else None
        added = RecordedLaunch(order, accesses, report, related)
        self._running.append(added)
        return added

    def end(self, launch: RecordedLaunch) -> None:
        """Finish the record of a launch after its run, and report its conflicts with earlier launches."""
        launch.has_ended = True
        if launch.accesses is not None:
            launch.accesses.close()
        while self._running and self._running[0].has_ended:  # the prerequisites of a launch come first
            self._compare(self._running.popleft())

    def drop(self, launch: RecordedLaunch) -> None:
        """Forget a launch that has failed or has not started."""
        launch.accesses, launch.has_ended = None, True

    def _compare(self, launch: RecordedLaunch) -> None:
        order, accesses = launch.order, launch.accesses
        if accesses is None:
            order.end(waits=True, triggers_late=True)
            return
        order.end(accesses.waits, accesses.triggers_late)
        found: list[Diagnostic] = []
        for each in self._records:
            bit = 1 << each.order.number
            if each.accesses is None or order.ended_at_start & bit:
                continue
            each_found = find_conflict(
                accesses, each.accesses, only_early=bool(order.ended_at_wait & bit),
                is_dependent=bool(launch.related & bit), name_of=self._name_of,
            )  # fmt: skip
            if each_found is not None and (key := _key(each_found)) not in self._reported:
                self._reported.add(key)
                found.append(each_found)
        self._records.append(launch)
        self._limit()
        if found:
            launch.report(tuple(found))

    def _limit(self) -> None:
        total = sum(each.accesses.nbytes for each in self._records if each.accesses is not None)
        while total > MOST_RECORDED:
            oldest = self._records.pop(0)
            total -= 0 if oldest.accesses is None else oldest.accesses.nbytes

    def synchronize(self, mark: Mark | None = None) -> None:
        """Let the host wait for a point of a stream, or for the whole device."""
        self.order.synchronize(mark)
        self._records = [each for each in self._records if not self.order.host >> each.order.number & 1]

    def _forget(self, address: int, size: int) -> None:
        """Forget the accesses to memory that is freed. Units: `size` in bytes."""
        for each in self._records:
            if each.accesses is not None:
                each.accesses.forget(address, size)

    def _name_of(self, address: int) -> str:
        segment = self._memory.find(address)
        return "freed memory" if segment is None else f"{segment.name}, byte {address - segment.start}"


def _key(found: Diagnostic) -> tuple[object, ...]:
    """Return a value that is equal for findings with one cause."""
    data = found.data or {}
    return found.code, data["kernel"], data["other_kernel"], data["line"], data["other_line"]
