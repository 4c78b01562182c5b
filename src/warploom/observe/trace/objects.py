# pyright: reportUnknownMemberType=false
"""mbarriers as a trace sees them: their phases, who arrives, and who waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.observe.trace.data import Kind
from warploom.observe.trace.table import NOWHERE, OPEN

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.trace.recorder import Recorder

Array = NDArray[Any]
Rows = NDArray[np.intp]


@dataclass(slots=True)
class _Object:
    """An mbarrier: its phase, and what counts bytes off it."""

    cta: int
    address: int
    pc: int
    event: int = NOWHERE
    phase: int = 0
    copies: list[int] = field(default_factory=list[int])
    sources: list[int] = field(default_factory=list[int])  # what completed the phase before


class Objects:
    """The mbarriers of the CTAs that are traced, known by byte offset / 8 in shared memory."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.emulator = recorder.emulator
        self.table = recorder.table
        self._objects: dict[int, _Object] = {}
        self._arriving: dict[int, int] = {}  # the last arrival of the action that is being done
        self._seen: tuple[Array, Array] | None = None

    def _owners(self, index: Array) -> Array:
        return self.recorder.of_cta[index // self.emulator.memory.shared_stride]

    def address(self, word: int) -> int:
        """The shared address with the rank of its CTA in bits 24 and up."""
        memory = self.emulator.memory
        return (
            int(memory.rank[word * 8 // memory.shared_stride]) << 24
            | memory.shared_offset(word * 8) & 0xFF_FFFF
        )

    # Phases -----------------------------------------------------------------------------------------------

    def _open(self, found: _Object, when: int) -> None:
        event = self.table.add(
            Kind.PHASE, 1, cta=found.cta, warp=-1, begin=when, end=OPEN, step=found.pc, last=found.pc,
            number=found.address, phase=found.phase,
        )  # fmt: skip
        found.event = int(event[0])

    def _close(self, found: _Object, when: int) -> None:
        rows = self.table.rows
        rows["end"][found.event] = max(when, int(rows["begin"][found.event]))

    def phases(self, words: Array) -> None:
        """Phases are complete."""
        when = self.recorder.now() + 1
        for word in words[self._owners(words * 8) >= 0].tolist():
            found = self._objects.get(word)
            if found is None:
                continue
            ends = self.table.rows["end"]
            landed = [copy for copy in found.copies if ends[copy] != OPEN]
            found.copies = [copy for copy in found.copies if ends[copy] == OPEN]
            found.sources = [*landed, self._arriving[word]] if word in self._arriving else landed
            self._close(found, when)
            found.phase += 1
            self._open(found, when)

    def copies(self, words: Array, ids: Array) -> None:
        """Copies that are in flight will count their bytes off objects. Shapes: both (copies,)."""
        for word, copy in zip(words.tolist(), ids.tolist(), strict=True):
            if word in self._objects and copy != NOWHERE:
                self._objects[word].copies.append(copy)

    def landing(self) -> None:
        """What completes a phase from here on is no thread's arrival."""
        self._arriving = {}

    # Arrivals ---------------------------------------------------------------------------------------------

    def act(
        self, batch: Batch, index: Array, lanes: Array, action: str, amounts: Array, transactions: Array
    ) -> None:
        """Lanes act on objects."""
        self._arriving = {}
        watched = self.recorder.watched[batch.warp_index]
        positions, at = np.nonzero(lanes & (watched[:, None] | (self._owners(index) >= 0)))
        if not len(positions):
            return
        words = index[positions, at] >> 3
        pairs, first, which = np.unique(
            np.stack([positions, words]), axis=1, return_index=True, return_inverse=True
        )
        which = which.reshape(-1)
        counts, expected = (
            np.bincount(which, np.broadcast_to(each, lanes.shape)[positions, at]).astype(np.int64)
            for each in (amounts, transactions)
        )
        arrives = action.startswith("arrive")
        by_engine = self.recorder.flights.acting_now()
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
            if by_engine or not len(batch.rows):
                source = by_engine.get(int(batch.warp_index[position]))
                if source is None or found is None:
                    continue
                if arrives:
                    self._arriving[word] = source
                elif action == "complete_tx":
                    found.copies.append(source)
            elif watched[position] and action != "increment":
                event = self.recorder.spans.mark(
                    Kind.ARRIVE_MBARRIER, batch.rows[position : position + 1], number=self.address(word),
                    phase=-1 if found is None else found.phase, amount=int(expected[k]),
                    count=int(counts[k]) if arrives else 0,
                )  # fmt: skip
                if arrives and event[0] != NOWHERE:
                    self._arriving[word] = int(event[0])

    def _renew(self, word: int, begins: bool) -> None:
        now = self.recorder.now()
        before = self._objects.pop(word, None)
        if before is not None:
            self._close(before, now + 1)
        owner = int(self.recorder.of_cta[word * 8 // self.emulator.memory.shared_stride])
        if begins and owner >= 0:
            found = _Object(owner, self.address(word), self.emulator.state.pc)
            self._objects[word] = found
            self._open(found, now + 1)

    # Waits ------------------------------------------------------------------------------------------------

    def look(self, index: Array, lanes: Array) -> None:
        """Lanes are about to look at objects."""
        self._seen = (index, lanes)

    def wait(self, rows: Rows, positions: Rows) -> None:
        """Strands that looked at objects wait for their phases."""
        assert self._seen is not None
        index, lanes = self._seen
        words = index[positions, lanes[positions].argmax(axis=1)] >> 3
        found = [self._objects.get(word) for word in words.tolist()]
        ids = self.recorder.spans.add_waits(
            Kind.WAIT_MBARRIER, rows, number=np.array([self.address(word) for word in words.tolist()], np.int64),
            phase=np.array([-1 if each is None else each.phase for each in found], np.int64),
        )  # fmt: skip
        self.recorder.spans.hold(rows, ids)

    def waited(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Lanes found that a phase is complete; of others that waited, the wait has come back without it."""
        spans, now = self.recorder.spans, self.recorder.now()
        watched = np.flatnonzero(self.recorder.watched[batch.warp_index])
        rows, succeeds = batch.rows[watched], lanes[watched].any(axis=1)
        held = spans.wait[rows] >= 0
        vain = rows[held & ~succeeds]
        if len(vain):
            spans.end_waits(vain, now)
        for position, row, was_held in zip(
            watched[succeeds].tolist(), rows[succeeds].tolist(), held[succeeds].tolist(), strict=True
        ):
            word = int(index[position, int(lanes[position].argmax())]) >> 3
            found = self._objects.get(word)
            strand = np.array([row], np.intp)
            if was_held:
                ids = spans.end_waits(strand, now + 1)
                spans.first[strand] = self.emulator.state.pc + 1
            else:
                ids = spans.add_waits(
                    Kind.WAIT_MBARRIER, strand, number=self.address(word),
                    phase=-1 if found is None else found.phase - 1,
                )  # fmt: skip
            for source in () if found is None else found.sources:
                self.table.arrow(source, int(ids[0]))
