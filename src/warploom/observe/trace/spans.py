"""Runs and waits of warps.

A run is a range of steps in which a warp split executes instructions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.warp_splits import Status
from warploom.observe.trace.data import Kind
from warploom.observe.trace.recording import OPEN, Ids, Recording

Array = NDArray[Any]
Rows = NDArray[np.intp]

_NONE = -1


class Spans:
    """Open run or wait of every warp split.

    `rows` are indices of warp splits in the arrays of `WarpSplits`. `ids` are row numbers of `Table`.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.topology = recording.launch.topology
        self.splits = recording.present.splits
        self.table = recording.table
        warps = self.topology.warps
        self.run = np.full(warps, _NONE, np.int64)  # event of the open run
        self.wait = np.full(warps, _NONE, np.int64)  # event of the open wait
        self.until_resumed = np.zeros(warps, np.bool_)  # the open wait ends when the warp split runs again
        self.since = np.full(warps, _NONE, np.int64)  # start of a run that has no event yet
        self.first = np.zeros(warps, np.int64)  # first program counter of that run
        self.warp = np.arange(warps)  # warp of the slot
        self.split = np.zeros(warps, np.int64)  # number of the split in its warp
        self._splits_of = np.zeros(warps, np.int64)  # further splits that each warp has had
        self._rows: Rows = np.zeros(0, np.intp)
        self._least = 0  # least program counter of the block

    def begin(self, rows: Rows) -> None:
        """Start a basic block that the warp splits `rows` execute."""
        self._rows = rows
        if not len(rows):
            return
        now = self.recording.now()
        if len(self.splits.status) > len(self.run):
            self._grow()
        if self.splits.diverged:
            self._reassign(rows[self.warp[rows] != self.splits.warp[rows]])
        resumed = rows[self.until_resumed[rows]]
        if len(resumed):
            self.end_waits(resumed, now)
        self.since[rows[self.since[rows] < 0]] = now
        self._least = self.recording.pc
        self.first[rows[self.run[rows] < 0]] = self._least

    def end(self) -> None:
        """End the basic block, and extend the runs of its warp splits."""
        rows = self._rows
        if not len(rows):
            return
        self._rows = rows[:0]
        splits, events = self.splits, self.table.rows
        now, pc = self.recording.base, self.recording.pc
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
        gone = rows[splits.status[rows] == Status.DONE]
        if len(gone):
            self.run[gone] = self.since[gone] = _NONE
        if splits.diverged:
            merged = np.flatnonzero((self.wait >= 0) & (splits.status[: len(self.wait)] == Status.DONE))
            if len(merged):
                self.end_waits(merged, now)
                self.since[merged] = _NONE

    def _add_runs(self, rows: Rows, end: int, last: int) -> Ids:
        first = self.first[rows]
        return self.table.add(
            Kind.RUN, len(rows), **self.columns(rows), begin=self.since[rows], end=end, step=first,
            last=np.maximum(first, last),
        )  # fmt: skip

    def _grow(self) -> None:
        more = len(self.splits.status) - len(self.run)
        for name, fill in (
            ("run", _NONE), ("wait", _NONE), ("since", _NONE), ("first", 0), ("warp", _NONE), ("split", 0)
        ):  # fmt: skip
            setattr(self, name, np.concatenate([getattr(self, name), np.full(more, fill, np.int64)]))
        self.until_resumed = np.concatenate([self.until_resumed, np.zeros(more, np.bool_)])

    def _reassign(self, rows: Rows) -> None:
        for row in rows.tolist():
            warp = int(self.splits.warp[row])
            self._splits_of[warp] += 1
            self.warp[row], self.split[row] = warp, self._splits_of[warp]
            self.run[row] = self.wait[row] = self.since[row] = _NONE
            self.until_resumed[row] = False

    def columns(self, rows: Rows) -> dict[str, Array]:
        """Return the columns `cta`, `warp` and `split` of events of the warp splits `rows`."""
        warps = self.warp[rows]
        return {
            "cta": self.recording.cta_of_warp[warps],
            "warp": self.topology.warp_in_cta[warps],
            "split": self.split[rows],
        }

    def add_waits(self, kind: Kind, rows: Rows, **columns: Array | int) -> Ids:
        """Add waits of one step for the warp splits `rows`. Return their row numbers in the table.

        `columns` are further columns of `EVENT`.
        """
        now, pc = self.recording.now(), self.recording.pc
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
        return self.mark(kind, rows, **columns)

    def hold(self, rows: Rows, ids: Ids, until_resumed: bool = False) -> None:
        """Keep the waits `ids` open until `end_waits`.

        With `until_resumed`, they also end when the warp splits `rows` resume.
        """
        self.table.end(ids, OPEN)
        self.wait[rows] = ids
        self.until_resumed[rows] = until_resumed

    def end_waits(self, rows: Rows, when: int) -> Ids:
        """End the open waits of the warp splits `rows` at step `when`. Return the row numbers of the waits."""
        ids = self.wait[rows]
        self.table.end(ids, when)
        self.wait[rows], self.until_resumed[rows], self.since[rows] = _NONE, False, when
        return ids

    def mark(self, kind: Kind | Array, rows: Rows, **columns: Array | int) -> Ids:
        """Add events of one step that do not interrupt runs. Return their row numbers in the table.

        `columns` are further columns of `EVENT`; `end` replaces the last step.
        """
        now, pc = self.recording.now(), self.recording.pc
        step = {"begin": now, "end": now + 1, "step": pc, "last": pc}
        return self.table.add(kind, len(rows), **{**self.columns(rows), **step, **columns})
