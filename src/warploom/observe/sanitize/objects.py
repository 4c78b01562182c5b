# pyright: reportUnknownMemberType=false
"""mbarrier objects: which bytes are one, the phases they have been through, and what their waits order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.observe.sanitize._compiled import KNOWN, WIDE
from warploom.observe.sanitize.clocks import Clocks
from warploom.observe.sanitize.phases import Phases

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Emulator
    from warploom.observe.sanitize.report import Report
    from warploom.observe.sanitize.shadow import Shadow

Array = NDArray[Any]
FIRST = 32  # mbarriers of a CTA that there is room for at first
_HIGHEST = 0xFFFFF


class Objects:
    """The mbarriers of the resident CTAs. An object is known by cta * room + slot; -1 is none."""

    def __init__(
        self, emulator: Emulator, clocks: Clocks, shadow: Shadow, report: Report, waits: bool
    ) -> None:
        self.emulator = emulator
        self.clocks = clocks
        self.shadow = shadow
        self.report = report
        self.at = np.full(len(emulator.memory.shared) // 8, -1, np.int64)
        self._words: Array | None = None  # those of valid objects, in order, until one is made or unmade
        self.used = np.zeros(emulator.topology.ctas, np.int64)
        self.phase: Array = np.zeros(emulator.topology.ctas * clocks.mbarriers, np.int64)  # complete ones
        self.site: Array = np.full(
            emulator.topology.ctas * clocks.mbarriers, -1, np.int64
        )  # of the last expectation
        self._free: dict[int, list[int]] = {}
        self.phases = Phases(emulator, self, clocks.mbarriers) if waits else None

    # Making and unmaking ----------------------------------------------------------------------------------

    def initialise(self, words: Array, pc: int, warps: Array, lanes: Array) -> None:
        """New objects. Shapes: all (objects,)."""
        for word, warp, lane in zip(words.tolist(), warps.tolist(), lanes.tolist(), strict=True):
            found = int(self.at[word])
            if found >= 0:
                self.tell(
                    "sanitize.mbarrier/reinitialised", pc, -1, word, "is initialised while it is valid", warp, lane
                )  # fmt: skip
                continue
            self._words = None
            self.at[word] = self._take(word * 8 // self.emulator.memory.shared_stride)

    def _take(self, cta: int) -> int:
        free = self._free.get(cta)
        if free:
            found = free.pop()
        else:
            if self.used[cta] == self.clocks.mbarriers:
                self._grow()
            found = cta * self.clocks.mbarriers + int(self.used[cta])
            self.used[cta] += 1
        objects = np.array([found])
        for rows in self._rows(objects):
            self.clocks.clear(rows)
        if self.phases is not None:
            self.phases.renew(found)
        return found

    def _rows(self, objects: Array) -> list[Array]:
        clocks = self.clocks
        near = [clocks.arriving(objects), clocks.arrived(objects)]
        return (
            near
            if clocks.kinds == 2
            else [*near, clocks.arriving_here(objects), clocks.arrived_here(objects)]
        )

    def _grow(self) -> None:
        before = self.clocks.mbarriers
        self.shadow.renumber(*self.clocks.grow(2 * before))
        if self.phases is not None:
            self.phases.grow(2 * before)

        def moved(objects: Any) -> Any:
            return objects // before * 2 * before + objects % before

        self.at = np.where(self.at < 0, -1, moved(self.at))
        self._free = {cta: [moved(found) for found in free] for cta, free in self._free.items()}
        wide = [np.full((self.emulator.topology.ctas, 2 * before), fill, np.int64) for fill in (0, -1)]
        wide[0][:, :before], wide[1][:, :before] = (
            array.reshape(-1, before) for array in (self.phase, self.site)
        )
        self.phase, self.site = (array.reshape(-1) for array in wide)

    def invalidate(self, words: Array, pc: int, warps: Array, lanes: Array) -> None:
        """Objects are no more."""
        memory = self.emulator.memory.shared.view(np.uint64)
        for word, warp, lane in zip(words.tolist(), warps.tolist(), lanes.tolist(), strict=True):
            found = int(self.at[word])
            if found < 0:
                continue
            state = int(memory[word])
            if state & _HIGHEST != state >> 20 & _HIGHEST or state >> 40 & 0x1FFFFF:
                self.tell(
                    "sanitize.mbarrier/invalidated", pc, -1, word,
                    f"is invalidated in a phase that lacks {state >> 20 & _HIGHEST} of {state & _HIGHEST} arrivals and "
                    f"{_signed(state >> 40 & 0x1FFFFF)} bytes",
                    warp, lane,
                )  # fmt: skip
            self._words = None
            self.at[word] = -1
            self._free.setdefault(found // self.clocks.mbarriers, []).append(found)

    # Phases -----------------------------------------------------------------------------------------------

    def of(self, index: Array) -> Array:
        """The objects at byte offsets."""
        return self.at[index >> 3]

    def complete(self, words: Array) -> None:
        """Phases are complete: what was published to them can be known."""
        objects = self.at[words]
        objects = objects[objects >= 0]
        if not len(objects):
            return
        if self.phases is not None:
            self.phases.complete(objects)
        np.add.at(self.phase, objects, 1)
        rows = self._rows(objects)
        columns = self.clocks.phase_column(objects)
        for arriving, arrived in zip(rows[::2], rows[1::2], strict=True):
            self.clocks.copy(arrived, arriving)
            self.clocks.vectors[arrived, KNOWN, columns] = self.phase[objects]
        self.clocks.vectors[rows[1], WIDE, columns] = self.phase[objects]

    def check_use(self, batch: Batch, index: Array, lanes: Array, pc: int, what: str) -> None:
        """Operations reach objects that are initialised."""
        missing = lanes & (self.of(index) < 0)
        if missing.any():
            position, lane = (int(part[0]) for part in np.nonzero(missing))
            word = int(index[position, lane]) >> 3
            warp = int(batch.warp_index[position])
            self.tell(
                "sanitize.mbarrier/uninitialised", pc, -1, word, f"is not initialised: {what}", warp, lane
            )

    def check_counts(
        self,
        batch: Batch,
        index: Array,
        lanes: Array,
        action: str,
        amounts: Array,
        transactions: Array,
        pc: int,
    ) -> None:
        """Arrivals belong to the phase they come to, and counts stay in range."""
        known = lanes & (self.of(index) >= 0)
        positions, at = np.nonzero(known)
        if not len(positions):
            return
        words, place = np.unique(index[positions, at] >> 3, return_inverse=True)
        states = self.emulator.memory.shared.view(np.uint64)[words].astype(np.int64)
        count = np.broadcast_to(transactions, lanes.shape)[positions, at]
        bytes_now = np.array([_signed(state >> 40 & 0x1FFFFF) for state in states.tolist()])
        bytes_now += np.bincount(place, -count if action == "complete_tx" else count, len(words)).astype(
            np.int64
        )
        for k in np.flatnonzero(np.abs(bytes_now) > _HIGHEST).tolist():
            text = f"has its transaction count taken to {int(bytes_now[k])} bytes"
            self.tell(
                "sanitize.mbarrier/overflow",
                pc,
                -1,
                int(words[k]),
                text,
                *self._who(batch, positions, at, place == k),
            )
        if not action.startswith("arrive"):
            return
        arrivals = np.bincount(place, np.broadcast_to(amounts, lanes.shape)[positions, at], len(words))
        pending = states >> 20 & _HIGHEST
        for k in np.flatnonzero(arrivals > pending).tolist():
            text = f"expects {int(pending[k])} more arrivals in this phase, and {int(arrivals[k])} come"
            self.tell(
                "sanitize.mbarrier/arrivals",
                pc,
                -1,
                int(words[k]),
                text,
                *self._who(batch, positions, at, place == k),
            )
        self._check_phase(batch, index, positions, at, pc)

    @staticmethod
    def _who(batch: Batch, positions: Array, at: Array, which: Array) -> tuple[int, int]:
        first = int(np.flatnonzero(which)[0])
        return int(batch.warp_index[positions[first]]), int(at[first])

    def _check_phase(self, batch: Batch, index: Array, positions: Array, at: Array, pc: int) -> None:
        """Who arrives knows that the phase before is complete; otherwise the arrival might count there."""
        objects = self.of(index[positions, at])
        complete = self.phase[objects]
        later = np.flatnonzero(complete > 0)
        if not len(later):
            return
        clocks = self.clocks
        warps = batch.warp_index[positions[later]]
        columns = clocks.phase_column(objects[later])
        known = np.maximum(
            clocks.vectors[warps, KNOWN, columns],
            clocks.vectors[warps + self.emulator.topology.warps, KNOWN, columns],
        )
        if self.phases is not None:
            known = np.maximum(known, self.phases.known(warps, objects[later]))
        for k in np.flatnonzero(known < complete[later]).tolist():
            word = int(index[positions[later[k]], at[later[k]]]) >> 3
            text = "is arrived at, and nothing shows that its phase before is complete: the arrival may count there"
            self.tell("sanitize.mbarrier/arrivals", pc, -1, word, text, int(warps[k]), int(at[later[k]]))

    def check_copies(self, words: Array, found: Array, warps: Array, lanes: Array, pc: int) -> None:
        """Bulk copies count their bytes off objects that are initialised. Shapes: all (copies,), `words` in bytes."""
        missing = np.flatnonzero(found < 0)
        if len(missing):
            k = int(missing[0])
            text = "is not initialised: a copy counts its bytes off it"
            self.tell(
                "sanitize.mbarrier/uninitialised", pc, -1, int(words[k]) >> 3, text, int(warps[k]), int(lanes[k])
            )  # fmt: skip

    def check_stores(self, index: Array, lanes: Array, size: int, warps: Array, pc: int) -> None:
        """Stores of lanes stay away from valid objects."""
        if not self.used.any():
            return
        hit = lanes & (self.at[index >> 3] >= 0)
        if size > 8:
            hit |= lanes & (self.at[index + size - 1 >> 3] >= 0)
        if hit.any():
            position, lane = (int(part[0]) for part in np.nonzero(hit))
            word = int(index[position, lane]) >> 3
            word += int(self.at[word] < 0)
            self.tell(
                "sanitize.mbarrier/overwritten", pc, -1, word, "is overwritten while it is valid", int(warps[position]),
                lane,
            )  # fmt: skip

    def check_overwritten(self, starts: Array, sizes: Array, warps: Array, lanes: Array, pc: int) -> None:
        """Writes stay away from valid objects. Shapes: all (writes,); units: bytes."""
        if self._words is None:
            self._words = np.flatnonzero(self.at >= 0)
        words = self._words
        if not len(words) or not len(starts):
            return
        first, last = np.searchsorted(words, starts >> 3), np.searchsorted(words, starts + sizes + 7 >> 3)
        hit = np.flatnonzero(first < last)
        if len(hit):
            k = int(hit[0])
            self.tell(
                "sanitize.mbarrier/overwritten", pc, -1, int(words[first[k]]), "is overwritten while it is valid",
                int(warps[k]), int(lanes[k]),
            )  # fmt: skip

    def close(self) -> None:
        """The CTAs have ended: bytes that were expected and did not come, or came and were not expected."""
        words = np.flatnonzero(self.at >= 0)
        if not len(words):
            return
        states = self.emulator.memory.shared.view(np.uint64)[words].astype(np.uint64)
        counts = (states >> np.uint64(40)).astype(np.int64) & 0x1FFFFF
        counts = np.where(counts >= 0x100000, counts - 0x200000, counts)
        for position in np.flatnonzero(counts).tolist():
            word, count = int(words[position]), int(counts[position])
            found = int(self.at[word])
            pc = int(self.site[found])
            if count > 0:
                text = f"still expects {count} bytes at the end, which no copy brought"
                self.tell("sanitize.mbarrier/short", pc, -1, word, text)
            else:
                text = f"was brought {-count} bytes more than its phases expected"
                self.tell("sanitize.mbarrier/excess", pc, -1, word, text)

    def tell(
        self, code: str, pc: int, other: int, word: int, text: str, warp: int = -1, lane: int = -1
    ) -> None:
        """A finding about the object at a word of shared memory."""
        if self.report.again(code, pc, other):
            return
        memory = self.emulator.memory
        cta = word * 8 // memory.shared_stride
        place = (
            self.emulator.state.describe(warp, lane)
            if warp >= 0
            else self.emulator.state.describe(cta).rpartition(", ")[0]
        )
        message = f"the mbarrier at shared address {memory.shared_offset(word * 8):#x} {text}; {place}"
        self.report.add(code, pc, other, message)


def _signed(count: int) -> int:
    return count - 0x200000 if count >= 0x100000 else count
