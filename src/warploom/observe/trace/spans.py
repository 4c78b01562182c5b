"""Spans of warps: where each strand runs and where it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.warp_splits import Status
from warploom.observe.trace.data import Kind
from warploom.observe.trace.table import OPEN, Ids

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.trace.recorder import Recorder

Array = NDArray[Any]
Rows = NDArray[np.intp]

_NONE = -1


class Spans:
    """What every strand is doing. Arrays have one element for each slot of `Strands`."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.emulator = recorder.emulator
        self.table = recorder.table
        warps = self.emulator.topology.warps
        self.run = np.full(warps, _NONE, np.int64)  # the open run
        self.wait = np.full(warps, _NONE, np.int64)  # the open wait
        self.loose = np.zeros(warps, np.bool_)  # the open wait ends when the strand goes on
        self.since = np.full(warps, _NONE, np.int64)  # from when on it runs, if it has no open run
        self.first = np.zeros(warps, np.int64)  # where that run begins
        self.warp = np.arange(warps)  # whose slot it is
        self.strand = np.zeros(warps, np.int64)
        self._strands = np.zeros(warps, np.int64)  # how many each warp has had beside its own
        self._rows: Rows = np.zeros(0, np.intp)
        self._least = 0  # program counter

    # Running ----------------------------------------------------------------------------------------------

    def begin(self, rows: Rows) -> None:
        """Strands are about to execute a basic block."""
        self._rows = rows
        if not len(rows):
            return
        now = self.recorder.now()
        if int(rows.max()) >= len(self.run):
            self._grow()
        strands = self.emulator.state.splits
        if strands.diverged:
            self._adopt(rows[self.warp[rows] != strands.warp[rows]])
        loose = rows[self.loose[rows]]
        if len(loose):
            self.end_waits(loose, now)
        self.since[rows[self.since[rows] < 0]] = now
        self._least = self.emulator.state.pc
        self.first[rows[self.run[rows] < 0]] = self._least

    def end(self) -> None:
        """The block is over: the strands that do not wait have run."""
        rows = self._rows
        if not len(rows):
            return
        self._rows = rows[:0]
        strands, events = self.emulator.state.splits, self.table.rows
        now, pc = self.recorder.base, self.emulator.state.pc
        going = rows[self.wait[rows] < 0]
        runs = self.run[going]
        known = runs[runs >= 0]
        if len(known):
            events["end"][known] = now
            events["step"][known] = np.minimum(events["step"][known], self._least)
            events["last"][known] = np.maximum(events["last"][known], pc)
        new = going[(runs < 0) & (self.since[going] < now)]
        if len(new):
            self.run[new] = self._add_runs(new, now, pc)
        gone = rows[strands.status[rows] == Status.DONE]
        if len(gone):
            self.run[gone] = self.since[gone] = _NONE
        if strands.diverged:
            merged = np.flatnonzero((self.wait >= 0) & (strands.status[: len(self.wait)] == Status.DONE))
            if len(merged):
                self.end_waits(merged, now)
                self.since[merged] = _NONE

    def _add_runs(self, rows: Rows, end: int, last: int) -> Ids:
        first = self.first[rows]
        return self.table.add(
            Kind.RUN, len(rows), **self.who(rows), begin=self.since[rows], end=end, step=first,
            last=np.maximum(first, last),
        )  # fmt: skip

    def _grow(self) -> None:
        more = len(self.emulator.state.splits.status) - len(self.run)
        for name, fill in (("run", _NONE), ("wait", _NONE), ("since", _NONE), ("first", 0), ("warp", _NONE)):
            setattr(self, name, np.concatenate([getattr(self, name), np.full(more, fill, np.int64)]))
        self.loose = np.concatenate([self.loose, np.zeros(more, np.bool_)])
        self.strand = np.concatenate([self.strand, np.zeros(more, np.int64)])

    def _adopt(self, rows: Rows) -> None:
        """Slots have become another warp's."""
        for row in rows.tolist():
            warp = int(self.emulator.state.splits.warp[row])
            self._strands[warp] += 1
            self.warp[row], self.strand[row] = warp, self._strands[warp]
            self.run[row] = self.wait[row] = self.since[row] = _NONE
            self.loose[row] = False

    # Waiting ----------------------------------------------------------------------------------------------

    def who(self, rows: Rows) -> dict[str, Array]:
        """The columns that say whose an event is."""
        warps = self.warp[rows]
        return {
            "cta": self.recorder.of_warp[warps],
            "warp": self.emulator.topology.warp_in_cta[warps],
            "strand": self.strand[rows],
        }

    def add_waits(self, kind: Kind, rows: Rows, **columns: Array | int) -> Ids:
        """Strands wait for one step at the instruction of now; `hold` makes it longer."""
        now, pc = self.recorder.now(), self.emulator.state.pc
        runs = self.run[rows]
        known = runs[runs >= 0]
        if len(known):
            events = self.table.rows
            events["end"][known] = now
            events["last"][known] = np.maximum(events["last"][known], pc - 1)
        new = rows[(runs < 0) & (self.since[rows] >= 0) & (self.since[rows] < now)]
        if len(new):
            self._add_runs(new, now, pc - 1)
        self.run[rows], self.since[rows], self.first[rows] = _NONE, now + 1, pc + 1
        return self.table.add(
            kind, len(rows), **self.who(rows), begin=now, end=now + 1, step=pc, last=pc, **columns
        )

    def hold(self, rows: Rows, ids: Ids, loose: bool = False) -> None:
        """The waits have no end yet; those that are `loose` end when their strands go on."""
        self.table.end(ids, OPEN)
        self.wait[rows] = ids
        self.loose[rows] = loose

    def end_waits(self, rows: Rows, when: int) -> Ids:
        """Open waits end; returns them."""
        ids = self.wait[rows]
        self.table.end(ids, when)
        self.wait[rows], self.loose[rows], self.since[rows] = _NONE, False, when
        return ids

    def mark(self, kind: Kind, rows: Rows, **columns: Array | int) -> Ids:
        """Strands do something that takes one step, and go on."""
        now, pc = self.recorder.now(), self.emulator.state.pc
        return self.table.add(
            kind, len(rows), **self.who(rows), begin=now, end=now + 1, step=pc, last=pc, **columns
        )

    def suspended(self, batch: Batch, positions: Rows, state: int) -> None:
        """Strands wait for lanes of their warp, for registers, or for something that has been noted already."""
        rows = batch.rows[positions]
        if state == Status.RECONVERGING:
            self.hold(rows, self.add_waits(Kind.WAIT_WARP, rows), loose=True)
            return
        free = self.wait[rows] < 0
        rows, positions = rows[free], positions[free]
        if not len(rows):
            return
        family, _, part = self.emulator.program.steps[self.emulator.state.pc].binding.form.name.partition(".")
        if family == "mbarrier":
            self.recorder.objects.wait(rows, positions)
        elif part == "setmaxnreg":
            wanted = self.emulator.linked[self.emulator.state.pc].operands.imm_reg_count
            ids = self.add_waits(Kind.WAIT_REGISTERS, rows, number=wanted)
            self.hold(rows, ids, loose=True)
