"""Record of a run: which instruction wrote a register or a byte of memory, and when."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Launch
from warploom.emulator.values import registers_of
from warploom.lazy_dataclass import dataclass

Array = NDArray[Any]

NEVER = 1 << 62
"""Time after the run."""
_GRANULE = 16  # bytes of a key of the table of writes


@dataclass(frozen=True, slots=True)
class Location:
    """Bytes of a register, or of memory.

    A register has the space "register", and `owner` is the number of its thread: 32 times the number of its warp plus
    the lane. `width` and `index` select the register in its file. For memory, `index` is a byte offset, and `owner` the
    number of the CTA (shared) or of the thread (local). Warps and CTAs count those of the grid.
    """

    space: Literal["register", "global", "shared", "local"]
    owner: int
    index: int
    start: int = 0
    size: int = 4
    width: int = 0


@dataclass(slots=True, eq=False)
class Reached:
    """Access of some lanes to memory. For a copy, it has the targets, and `sources` has the sources.

    Shapes: warps (warps,); owners, index, lanes and sources (warps, 32).
    """

    kind: str
    space: str
    warps: Array
    owners: Array
    index: Array
    lanes: Array
    size: int
    sources: Array | None = None


@dataclass(slots=True, eq=False)
class Execution:
    """Execution of an instruction by some warps.

    `effect` has the time at which the instruction takes effect, which is later than `time` for an asynchronous
    operation. `values` has the values of its sources. Shapes: effect and warps (warps,), lanes (warps, 32), values
    (items, warps, 32) or (items, warps, 1).
    """

    pc: int
    time: int
    effect: Array
    warps: Array
    lanes: Array
    values: Mapping[str, Array]
    accesses: list[Reached]
    copies: list[Reached] = field(default_factory=list[Reached])

    def position(self, warp: int) -> int:
        """Return the index of a warp in the arrays."""
        return int(np.flatnonzero(self.warps == warp)[0])


@dataclass(slots=True, eq=False)
class Copied:
    """Write of a bulk copy, with the source of each range of `size` bytes. Shapes: (ranges,)."""

    pc: int
    time: int
    issued: int
    warp: int
    lane: int
    space: str
    owners: Array
    targets: Array
    source_space: str
    source_owners: Array
    sources: Array
    size: int
    updates: bool


@dataclass(slots=True, eq=False)
class Waited:
    """Wait of some warps for groups of copies or for a phase of an mbarrier.

    `done` has the arrays index, complete, phase and lanes of a wait for a phase. Shapes: warps (warps,), arrays
    (warps, 32).
    """

    pc: int
    time: int
    warps: Array
    group: str
    pending: int
    done: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Writer:
    """Write of some bytes: an execution by a lane, or a copy.

    `access` is the index of the access in the execution, or of the range in the copy. `first` is the distance of the
    bytes from the first byte of the access.
    """

    time: int
    record: Execution | Copied
    warp: int
    lane: int
    access: int = -1
    first: int = 0

    @property
    def pc(self) -> int:
        """Program counter of the instruction."""
        return self.record.pc

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Key of the execution of the instruction by the warp."""
        return id(self.record), self.warp, self.lane, self.access


class ExecutionTrace:
    """Record of a run of some CTAs, which finds the last writer of a location before a time."""

    def __init__(
        self, launch: Launch, ctas: Array, executions: Sequence[Execution], copies: Sequence[Copied],
        waits: Sequence[Waited],
    ) -> None:  # fmt: skip
        self.launch, self.ctas = launch, ctas
        self.executions, self.copies, self.waits = executions, copies, waits
        self._writers: dict[tuple[int, int], list[int]] = {}
        for pc, step in enumerate(launch.program.steps):
            operands = launch.instructions[pc].operands
            for name, spec in step.binding.form.operands.items():
                if spec.access in ("write", "both"):
                    for register in registers_of(getattr(operands, name)):
                        self._writers.setdefault(register, []).append(pc)
        self._by_warp: dict[tuple[int, int], list[tuple[int, Execution, int]]] = {}
        for each in executions:
            for position, warp in enumerate(each.warps.tolist()):
                row = int(each.effect[position]), each, position
                self._by_warp.setdefault((each.pc, warp), []).append(row)
        for rows in self._by_warp.values():
            rows.sort(key=lambda row: row[0])
        self._tables = {space: self._table(space) for space in ("global", "shared", "local")}

    def executions_of(self, pc: int, warp: int) -> Sequence[tuple[int, Execution, int]]:
        """Return the executions of an instruction by a warp: time of the effect, execution, index of the warp."""
        return self._by_warp.get((pc, warp), [])

    def iteration(self, writer: Writer) -> int:
        """Return the number of earlier executions of an instruction by the warp."""
        if isinstance(writer.record, Copied):
            earlier = [each for each in self.copies if each.pc == writer.pc and each.warp == writer.warp]
            return len({each.issued for each in earlier if each.issued < writer.record.issued})
        rows = self.executions_of(writer.pc, writer.warp)
        return next(number for number, row in enumerate(rows) if row[1] is writer.record)

    def writer_of(self, location: Location, before: int = NEVER) -> Writer | None:
        """Return the last write of the first byte of a location before a time, or None."""
        if location.space == "register":
            return self._register_writer(location, before)
        return next(self.writes(location, before), None)

    def _register_writer(self, location: Location, before: int) -> Writer | None:
        warp, lane = divmod(location.owner, 32)
        best: Writer | None = None
        for pc in self._writers.get((location.width, location.index), ()):
            rows = self.executions_of(pc, warp)
            for time, execution, position in reversed(rows[: bisect_left(rows, before, key=lambda row: row[0])]):
                if best is not None and time < best.time:
                    break
                if execution.lanes[position, lane]:
                    best = Writer(time, execution, warp, lane)
                    break
        return best

    def pending_write(self, location: Location, time: int) -> Writer | None:
        """Return a write of a register that has been issued before a time and takes effect later, or None."""
        warp, lane = divmod(location.owner, 32)
        for pc in self._writers.get((location.width, location.index), ()):
            for effect, execution, position in self.executions_of(pc, warp):
                if execution.time < time < effect and execution.lanes[position, lane]:
                    return Writer(effect, execution, warp, lane)
        return None

    # Memory -------------------------------------------------------------------------------------------------

    def _table(self, space: str) -> tuple[Array, list[Execution | Copied]]:
        """Return the writes to a memory, in the order of granules and times, and their records.

        The columns are granule, time, first byte, bytes, record, access, warp and lane.
        """
        records: list[Execution | Copied] = []
        parts: list[Array] = []

        def add(keys: Array, times: Any, index: Array, size: int, access: Any, warps: Any, lanes: Any) -> None:
            columns = (keys, times, index, size, len(records), access, warps, lanes)
            parts.append(np.stack(np.broadcast_arrays(*columns)).astype(np.int64))

        for each in self.executions:
            numbered = [(number, reached) for number, reached in enumerate(each.accesses) if reached.kind != "read"]
            numbered += [(-1 - number, reached) for number, reached in enumerate(each.copies)]
            for number, reached in numbered:
                if reached.space != space:
                    continue
                which, lanes = np.nonzero(reached.lanes & (reached.owners >= 0))
                position = np.array([each.position(warp) for warp in reached.warps.tolist()], np.int64)
                for first in range(0, reached.size, _GRANULE):
                    size = min(reached.size - first, _GRANULE)
                    index = reached.index[which, lanes] + first
                    owners = reached.owners[which, lanes]
                    times, warps = each.effect[position[which]], reached.warps[which]
                    add(_keys(owners, index), times, index, size, number, warps, lanes)
            records.append(each)
        for copy in self.copies:
            if copy.space == space:
                ranges = np.flatnonzero(copy.owners >= 0)
                index = copy.targets[ranges]
                add(_keys(copy.owners[ranges], index), copy.time, index, copy.size, ranges, copy.warp, copy.lane)
            records.append(copy)
        if not parts:
            return np.zeros((8, 0), np.int64), records
        table = np.concatenate(parts, axis=1)
        return table[:, np.lexsort((table[1], table[0]))], records

    def writes(self, location: Location, before: int = NEVER) -> Iterator[Writer]:
        """Yield the writes of the first byte of a location before a time, from the last to the first."""
        table, records = self._tables[location.space]
        byte = location.index + location.start
        key = int(_keys(np.array(location.owner), np.array(byte)))
        low, high = (int(np.searchsorted(table[0], key, side)) for side in ("left", "right"))
        high = low + int(np.searchsorted(table[1, low:high], before))
        for row in range(high - 1, low - 1, -1):
            _, time, first, size, record, access, warp, lane = (int(each) for each in table[:, row])
            if first <= byte < first + size:
                found = records[record]
                base = first
                if isinstance(found, Execution):
                    reached = found.accesses[access] if access >= 0 else found.copies[-1 - access]
                    base = int(reached.index[int(np.flatnonzero(reached.warps == warp)[0]), lane])
                yield Writer(time, found, warp, lane, access, byte - base)

    def later_write(self, location: Location, after: int) -> Writer | None:
        """Return the first write of the first byte of a location after a time, or None."""
        found: Writer | None = None
        for each in self.writes(location):
            if each.time <= after:
                break
            found = each
        return found


def _keys(owners: Array, index: Array) -> Array:
    return owners.astype(np.int64) << 44 | index.astype(np.int64) // _GRANULE
