# pyright: reportUnknownMemberType=false
"""Trace events of mbarriers: phases, arrivals and waits."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Arrive, PhaseWait
from warploom.observe.trace.data import Kind
from warploom.observe.trace.operations import Operations
from warploom.observe.trace.recording import NOWHERE, OPEN, Ids, Recording
from warploom.observe.trace.spans import Spans

Array = NDArray[Any]
Rows = NDArray[np.intp]


@dataclass(slots=True)
class _Object:
    """State of an mbarrier.

    `event` is the row of the open phase. `copies` are the events of copies in flight that the mbarrier counts.
    `sources` are the events that completed the last phase: copies and the last arrival.
    """

    cta: int
    address: int
    pc: int
    event: int = NOWHERE
    phase: int = 0
    copies: list[int] = field(default_factory=list[int])
    sources: list[int] = field(default_factory=list[int])


class Mbarriers:
    """mbarriers of the recorded CTAs. A word is a byte offset in shared memory / 8."""

    def __init__(self, recording: Recording, spans: Spans, operations: Operations) -> None:
        self.recording = recording
        self.shared = recording.present.shared
        self.table = recording.table
        self.spans = spans
        self.operations = operations
        self._objects: dict[int, _Object] = {}
        self._arriving: dict[int, int] = {}  # last arrival at each word, within one event
        self._tested: tuple[Array, Array] | None = None

    def _owners(self, index: Array) -> Array:
        return self.recording.cta_of_cta[index // self.shared.stride]

    def _address(self, word: int) -> int:
        """Return the shared address of byte offset 8 * `word`. The bits from 24 on have the CTA's rank."""
        rank = int(self.shared.rank[word * 8 // self.shared.stride])
        return rank << 24 | self.shared.address(word * 8) & 0xFF_FFFF

    def _open(self, found: _Object, when: int) -> None:
        event = self.table.add(
            Kind.PHASE, 1, cta=found.cta, warp=-1, begin=when, end=OPEN, step=found.pc, last=found.pc,
            number=found.address, phase=found.phase,
        )  # fmt: skip
        found.event = int(event[0])

    def _close(self, found: _Object, when: int) -> None:
        rows = self.table.rows
        rows["end"][found.event] = max(when, int(rows["begin"][found.event]))

    def complete(self, words: Array) -> None:
        """Complete the phases of the mbarriers at `words` (byte offset / 8), and begin the next ones."""
        when = self.recording.now() + 1
        for word in words[self._owners(words * 8) >= 0].tolist():
            found = self._objects.get(word)
            if found is None:
                continue
            ends = self.table.rows["end"]
            arrived = [copy for copy in found.copies if ends[copy] != OPEN]
            found.copies = [copy for copy in found.copies if ends[copy] == OPEN]
            found.sources = [*arrived, self._arriving[word]] if word in self._arriving else arrived
            self._close(found, when)
            found.phase += 1
            self._open(found, when)

    def expect_copies(self, words: Array, ids: Ids) -> None:
        """Record that the mbarrier at byte offset 8 * words[k] counts the copy of event ids[k]."""
        for word, copy in zip(words.tolist(), ids.tolist(), strict=True):
            if word in self._objects and copy != NOWHERE:
                self._objects[word].copies.append(copy)

    def start_completion(self) -> None:
        """Forget the last arrivals. Call this before an asynchronous operation takes effect."""
        self._arriving = {}

    def act(self, event: Arrive) -> None:
        """Record operations of lanes on mbarriers, except waits."""
        batch, index, lanes, action = event.batch, event.index, event.lanes, event.action
        self._arriving = {}
        recorded = self.recording.recorded[batch.warp_index]
        positions, at = np.nonzero(lanes & (recorded[:, None] | (self._owners(index) >= 0)))
        if not len(positions):
            return
        words = index[positions, at] >> 3
        pairs, first, which = np.unique(np.stack([positions, words]), axis=1, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        counts, expected = (
            np.bincount(which, np.broadcast_to(each, lanes.shape)[positions, at]).astype(np.int64)
            for each in (event.amounts, event.transactions)
        )
        arrives = action.startswith("arrive")
        completing = self.operations.completing()
        for k in np.argsort(first, kind="stable").tolist():
            position, word = int(pairs[0, k]), int(pairs[1, k])
            if action in ("init", "inval"):
                self._renew(word, action == "init")
                continue
            found = self._objects.get(word)
            if found is not None:
                rows = self.table.rows
                rows["count"][found.event] += int(counts[k]) if arrives else 0
                rows["amount"][found.event] += int(expected[k]) if action != "complete_tx" else 0
            if completing or event.asynchronous:
                source = completing.get(int(batch.warp_index[position]))
                if source is None or found is None:
                    continue
                if arrives:
                    self._arriving[word] = source
                elif action == "complete_tx":
                    found.copies.append(source)
            elif recorded[position] and action != "increment":
                marked = self.spans.mark(
                    Kind.ARRIVE_MBARRIER, batch.rows[position : position + 1], number=self._address(word),
                    phase=-1 if found is None else found.phase, amount=int(expected[k]),
                    count=int(counts[k]) if arrives else 0,
                )  # fmt: skip
                if arrives and marked[0] != NOWHERE:
                    self._arriving[word] = int(marked[0])

    def _renew(self, word: int, begins: bool) -> None:
        now = self.recording.now()
        before = self._objects.pop(word, None)
        if before is not None:
            self._close(before, now + 1)
        owner = int(self.recording.cta_of_cta[word * 8 // self.shared.stride])
        if begins and owner >= 0:
            found = _Object(owner, self._address(word), self.recording.pc)
            self._objects[word] = found
            self._open(found, now + 1)

    def wait(self, rows: Rows, positions: Rows) -> None:
        """Add open waits for the warp splits `rows` after a failed test of an mbarrier.

        `positions` are the positions of the warp splits in the batch of this test.
        """
        assert self._tested is not None
        index, lanes = self._tested
        words = index[positions, lanes[positions].argmax(axis=1)] >> 3
        found = [self._objects.get(word) for word in words.tolist()]
        ids = self.spans.add_waits(
            Kind.WAIT_MBARRIER, rows, number=np.array([self._address(word) for word in words.tolist()], np.int64),
            phase=np.array([-1 if each is None else each.phase for each in found], np.int64),
        )  # fmt: skip
        self.spans.hold(rows, ids)

    def test(self, event: PhaseWait) -> None:
        """Record tests of phases. A test ends the open wait of its warp split."""
        batch, index, complete = event.batch, event.index, event.complete
        self._tested = (index, event.lanes)
        spans, now = self.spans, self.recording.now()
        recorded = np.flatnonzero(self.recording.recorded[batch.warp_index])
        rows, succeeds = batch.rows[recorded], complete[recorded].any(axis=1)
        held = spans.wait[rows] >= 0
        expired = rows[held & ~succeeds]
        if len(expired):
            spans.end_waits(expired, now)
        for position, row, was_held in zip(
            recorded[succeeds].tolist(), rows[succeeds].tolist(), held[succeeds].tolist(), strict=True
        ):
            word = int(index[position, int(complete[position].argmax())]) >> 3
            found = self._objects.get(word)
            slot = np.array([row], np.intp)
            if was_held:
                ids = spans.end_waits(slot, now + 1)
                spans.first[slot] = self.recording.pc + 1
            else:
                ids = spans.add_waits(
                    Kind.WAIT_MBARRIER, slot, number=self._address(word), phase=-1 if found is None else found.phase - 1
                )
            for source in () if found is None else found.sources:
                self.table.arrow(source, int(ids[0]))
