# pyright: reportUnknownMemberType=false
"""mbarrier objects: 64 bits of shared memory each, in the abstract machine's own packing.

Bits 0-19 the arrivals expected in a phase, 20-39 the arrivals pending, 40-60 the transactions pending
(two's complement), 61 the phase parity, 63 set while the object is initialised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.faults import Awaited, Fault
from warploom.emulator.memory import SHARED_WINDOW, WINDOW_SIZE
from warploom.emulator.strands import State
from warploom.numerics._compile import njit

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Machine

Array = NDArray[Any]

MAX_COUNT = 2**20 - 1
TRIES = 16  # how often a wait that nothing can end comes back without its phase before that is a deadlock
_GIVES_UP = 1 / 16  # how often, under a random schedule, a wait comes back although it could wait on
_ACTIONS = {
    "init": 0,
    "inval": 1,
    "arrive": 2,
    "arrive_drop": 3,
    "expect_tx": 4,
    "complete_tx": 5,
    "increment": 6,
    "arrive_no_complete": 7,
    "arrive_drop_no_complete": 8,
}
_UNINITIALISED, _COUNT, _OVERFLOW, _TRANSACTIONS, _COMPLETED = 1, 2, 3, 4, 5
_PHASE_SHIFT = 61


@njit
def _pack(expected: Any, pending: Any, transactions: Any, phase: Any) -> np.uint64:
    word = np.uint64(expected) | (np.uint64(pending) << np.uint64(20))
    word |= np.uint64(transactions & 0x1FFFFF) << np.uint64(40)
    return word | (np.uint64(phase) << np.uint64(61)) | (np.uint64(1) << np.uint64(63))


@njit
def _act(
    words: Array, index: Array, mask: Array, action: int, amounts: Array, transactions: Array, tokens: Array,
    completed: Array, problem: Array,
) -> int:  # fmt: skip
    """Act for one lane after the other; returns the number of phases completed, or -1 - lane of a fault."""
    warps, lanes = mask.shape
    done = 0
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            where = index[w, lane] // 8
            word = words[where]
            tokens[w, lane] = word
            amount = amounts[w if amounts.shape[0] > 1 else 0, lane if amounts.shape[1] > 1 else 0]
            tx = transactions[w if transactions.shape[0] > 1 else 0, lane if transactions.shape[1] > 1 else 0]
            if action == 0:
                if amount < 1 or amount > 1048575:
                    problem[0] = 2
                    return -1 - (w * 32 + lane)
                words[where] = _pack(amount, amount, 0, 0)
                continue
            if (word >> np.uint64(63)) == 0:
                problem[0] = 1
                return -1 - (w * 32 + lane)
            if action == 1:
                words[where] = np.uint64(0)
                continue
            expected = np.int64(word & np.uint64(0xFFFFF))
            pending = np.int64((word >> np.uint64(20)) & np.uint64(0xFFFFF))
            count = np.int64((word >> np.uint64(40)) & np.uint64(0x1FFFFF))
            if count >= 0x100000:
                count -= 0x200000
            phase = np.int64((word >> np.uint64(61)) & np.uint64(1))
            if action == 5:
                count -= tx
            else:
                count += tx
            if count > 0xFFFFF or count < -0xFFFFF:
                problem[0] = 4
                return -1 - (w * 32 + lane)
            if action in (2, 3, 7, 8):
                if amount > pending or amount < 0:
                    problem[0] = 3
                    return -1 - (w * 32 + lane)
                pending -= amount
                if action in (3, 8):
                    expected -= amount
            if action == 6:
                pending += amount
                if pending > 1048575:
                    problem[0] = 3
                    return -1 - (w * 32 + lane)
            if pending == 0 and count == 0:
                if action >= 7:
                    problem[0] = 5
                    return -1 - (w * 32 + lane)
                phase ^= 1
                pending = expected
                completed[done] = where
                done += 1
            words[where] = _pack(expected, pending, count, phase)
    return done


class Mbarriers:
    """Actions on mbarrier objects, and the strands that wait for their phases."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.waiting: dict[int, list[int]] = {}
        self._places: dict[int, set[int]] = {}  # where each strand waits
        self._tries: dict[int, int] = {}  # of strands that waited in vain: how often
        self._expired: set[int] = set()  # strands whose time is up
        self._site = np.full(
            len(machine.memory.shared) // 8, -1, np.int32
        )  # of the last arrival at each object
        self._sites: set[tuple[int, int]] = set()  # words and the instructions that have arrived there
        self._problem = np.zeros(1, np.int64)
        self._none = np.zeros((1, 1), np.int64)

    def act(
        self,
        batch: Batch,
        space: str,
        addresses: Array,
        action: str,
        amount: Array | int,
        transactions: Array | int,
    ) -> Array:
        """Act on the objects at `addresses` for the active lanes; returns the tokens before. Shapes: (warps, 32)."""
        mask = batch.active()
        index = self._index(batch, space, addresses, mask)
        tokens = np.zeros(mask.shape, np.uint64)
        amounts, counts = _wide(amount), _wide(transactions)
        if self.machine.watch is not None:
            self.machine.watch.mbarrier(batch, index, mask, action, amounts, counts)
        self._apply(index, mask, action, amounts, counts, tokens)
        if action.startswith("arrive"):
            self._note(index[mask] // 8)
        return tokens

    def _note(self, words: Array) -> None:
        """Remember where the arrivals at each object come from."""
        pc = self.machine.pc
        for where in np.unique(words[self._site[words] != pc]).tolist():
            self._sites.add((where, pc))
        self._site[words] = pc

    def complete(self, index: Array, transactions: int) -> None:
        """The copy engine has moved bytes: count them off the objects at byte offsets of shared memory."""
        where, counts = index[None, :], np.full((1, 1), transactions, np.int64)
        mask, tokens = np.ones(where.shape, np.bool_), np.zeros(where.shape, np.uint64)
        self._apply(where, mask, "complete_tx", self._none, counts, tokens)

    def _apply(
        self, index: Array, mask: Array, action: str, amounts: Array, transactions: Array, tokens: Array
    ) -> None:
        words = self.machine.memory.shared.view(np.uint64)
        completed = np.zeros(mask.size, np.int64)
        done = _act(
            words,
            index,
            uniform(mask),
            _ACTIONS[action],
            amounts,
            transactions,
            tokens,
            completed,
            self._problem,
        )
        if done < 0:
            raise self._fault(action, -1 - done, index, amounts)
        if done and self.machine.watch is not None:
            self.machine.watch.phases(completed[:done])
        for where in completed[:done]:
            for row in list(self.waiting.get(int(where), ())):
                self._wake(row)

    def _fault(self, action: str, lane: int, index: Array, amounts: Array) -> Fault:
        problem = int(self._problem[0])
        where = f"the mbarrier at shared offset {self.machine.memory.shared_offset(int(index.reshape(-1)[lane])):#x}"
        if problem == _UNINITIALISED:
            return Fault("emulator.mbarrier", f"{action} on {where}, which is not initialised", lane)
        if problem == _COUNT:
            found = int(np.broadcast_to(amounts, index.shape).reshape(-1)[lane])
            return Fault(
                "emulator.mbarrier",
                f"{where} is initialised for {found} arrivals; expected 1 to {MAX_COUNT}",
                lane,
            )
        if problem == _COMPLETED:
            message = f"an arrival with .noComplete completes the phase of {where}"
            return Fault("emulator.mbarrier", message, lane)
        if problem == _TRANSACTIONS:
            return Fault(
                "emulator.mbarrier", f"{action} takes the transactions of {where} beyond 2^20 - 1", lane
            )
        return Fault(
            "emulator.mbarrier", f"{action} on {where} goes beyond the arrivals its phase expects", lane
        )

    @staticmethod
    def pending(tokens: Array) -> Array:
        """The pending arrivals that tokens recorded."""
        return ((tokens >> np.uint64(20)) & np.uint64(MAX_COUNT)).astype(np.uint32)

    # Waiting ----------------------------------------------------------------------------------------------

    def wait(
        self,
        batch: Batch,
        space: str,
        addresses: Array,
        phase: Array,
        parity: bool,
        blocking: bool,
        result: Any,
    ) -> None:
        """Write whether a phase is complete; blocking strands none of whose lanes would succeed are suspended.

        A suspended strand comes back with its phase, or when nothing else can go on: a wait may end at any time.
        """
        mask = batch.active()
        index = self._index(batch, space, addresses, mask)
        if self.machine.watch is not None:
            self.machine.watch.waits(batch, index, mask)
        words = self.machine.memory.shared.view(np.uint64)[index // 8]
        unready = mask & (words >> np.uint64(63) == 0)
        if unready.any():
            lane = int(np.flatnonzero(unready)[0])
            raise self._fault_of_wait(lane, index)
        now = (words >> np.uint64(_PHASE_SHIFT)) & np.uint64(1)
        asked = phase.astype(np.uint64)
        asked = (asked if parity else asked >> np.uint64(_PHASE_SHIFT)) & np.uint64(1)
        done = now != asked
        if self.machine.watch is not None:
            self.machine.watch.waited(batch, index, mask & done, asked, parity)
        if blocking:
            stuck = self._stuck(batch, (done & mask).any(axis=1))
            if stuck.any():
                self._suspend(batch, index, mask, stuck)
                done = done[~stuck]
        if batch.count:
            batch.write(result, done)

    def _stuck(self, batch: Batch, succeeds: Array) -> Array:
        """Which strands are to be suspended: those that do not succeed, and have time."""
        stuck = ~succeeds
        engines = self.machine.engines
        if not stuck.any() and not self._tries:
            return stuck
        for position, row in enumerate(batch.rows.tolist()):
            if succeeds[position]:
                self._tries.pop(row, None)
            elif row in self._expired or (engines.kind == "random" and engines.random.random() < _GIVES_UP):
                self._expired.discard(row)
                stuck[position] = False
        return stuck

    def expire(self) -> bool:
        """Nothing can go on: waits come back without their phase, unless they have done so too often."""
        due = [row for row in self._places if self._tries.get(row, 0) < TRIES]
        for row in due:
            self._tries[row] = self._tries.get(row, 0) + 1
            self._expired.add(row)
            self._wake(row)
        return bool(due)

    def _wake(self, row: int) -> None:
        for where in self._places.pop(row):
            self.waiting[where].remove(row)
            if not self.waiting[where]:
                del self.waiting[where]
        self.machine.strands.state[row] = State.READY

    def _fault_of_wait(self, lane: int, index: Array) -> Fault:
        self._problem[0] = _UNINITIALISED
        return self._fault("a wait", lane, index, np.zeros((1, 1), np.int64))

    def _suspend(self, batch: Batch, index: Array, mask: Array, stuck: Array) -> None:
        rows = batch.suspend(stuck, self.machine.pc, State.WAITING)
        words, lanes = index[stuck] // 8, mask[stuck]
        first = words[np.arange(len(words)), lanes.argmax(axis=1)]
        several = (lanes & (words != first[:, None])).any(axis=1)
        for k, (row, where, many) in enumerate(
            zip(rows.tolist(), first.tolist(), several.tolist(), strict=True)
        ):
            places = self._places[row] = set(words[k][lanes[k]].tolist()) if many else {where}
            for place in places:
                self.waiting.setdefault(place, []).append(row)

    def awaited(self, slot: int) -> Awaited | None:
        """What a strand waits for; None when it waits elsewhere."""
        memory = self.machine.memory
        words = memory.shared.view(np.uint64)
        for where in sorted(self._places.get(slot, ())):
            word = int(words[where])
            transactions = (word >> 40) & 0x1FFFFF
            transactions -= 0x200000 if transactions >= 0x100000 else 0
            offset, phase, arrivals = (
                memory.shared_offset(where * 8),
                (word >> _PHASE_SHIFT) & 1,
                word >> 20 & MAX_COUNT,
            )
            state = (("offset", offset), ("phase", phase), ("arrivals", arrivals), ("bytes", transactions))
            rest = f", whose phase {phase} lacks {arrivals} arrivals and {transactions} bytes"
            return Awaited("mbarrier", f"the mbarrier at shared offset {offset:#x}", rest, state)
        return None

    def arrivals(self, slots: Sequence[int]) -> list[int]:
        """The instructions that have arrived where strands wait."""
        places = set[int]().union(*(self._places.get(slot, set[int]()) for slot in slots))
        return sorted({pc for where, pc in self._sites if where in places})

    def _index(self, batch: Batch, space: str, addresses: Array, mask: Array) -> Array:
        memory = self.machine.memory
        wide = np.broadcast_to(addresses, mask.shape)
        if space == "":
            inside = (wide >= SHARED_WINDOW) & (wide < SHARED_WINDOW + WINDOW_SIZE)
            if (mask & ~inside).any():
                lane = int(np.flatnonzero(mask & ~inside)[0])
                found = int(wide.reshape(-1)[lane])
                message = f"an mbarrier at generic address {found:#x}, which is not in shared memory"
                raise Fault("emulator.mbarrier", message, lane)
            wide = wide - np.uint64(SHARED_WINDOW)
        return memory.shared_index(space, batch.place, wide, mask, 8)


def _wide(amount: Array | int) -> Array:
    return np.atleast_2d(np.asarray(amount)).astype(np.int64)
