# pyright: reportUnknownMemberType=false
"""mbarriers: 64-bit words of shared memory in the emulator's own encoding.

A word contains the expected arrivals (bits 0-19), the pending arrivals (bits 20-39), the pending bytes (bits 40-60,
two's complement) and the parity of the phase (bit 61). Bit 63 is set while the mbarrier is initialised.

A blocking wait (`try_wait`) may return false before the phase is complete, in PTX after a time limit. This is an early
return. There are three reasons for it in the emulator: the schedule `random` chooses it, the schedule `lazy` lets the
first waits of each loop return early, and no warp can run otherwise.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from warploom.emulator.access import uniform
from warploom.emulator.address_space import SHARED_WINDOW, WINDOW_SIZE
from warploom.emulator.batch import Batch
from warploom.emulator.bounded_waits import TRIES
from warploom.emulator.events import Arrive, PhaseComplete, PhaseWait
from warploom.emulator.faults import Awaited, Fault, refuse
from warploom.emulator.memory import Memory
from warploom.emulator.observers import Dispatcher
from warploom.emulator.schedule import Schedule
from warploom.emulator.state import State
from warploom.emulator.warp_splits import KINDS, NONE, SEVERAL, Event, Status
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass
from warploom.numerics._compile import njit

MAX_COUNT = 2**20 - 1
PENDING, TRANSACTIONS, PHASE = 20, 40, 61
"""Lowest bits of the pending arrivals, of the pending bytes and of the parity of an mbarrier."""
TRANSACTION_MASK = 2**21 - 1
LOGGED = 4096  # arrivals of native code between two arrivals that the interpreter executes
RETRIES = 16  # times that a wait may return early because nothing else can run, before it is a deadlock
_EARLY_RETURN = 1 / 16  # probability, under a random schedule, that a wait returns before its phase completes
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
INITIALISED = np.uint64(4)  # bit 63 of a word, after a shift by PHASE


@dataclass(frozen=True, slots=True)
class MbarrierState:
    """Open phase of an mbarrier.

    `phase` is its parity. `expected` is the number of arrivals of each phase. `arrivals` and `bytes` are those that the
    open phase lacks. `bytes` is negative if more bytes came than were expected so far.
    """

    is_initialised: bool
    phase: int
    expected: int
    arrivals: int
    bytes: int

    @staticmethod
    def decode(word: int) -> "MbarrierState":
        """Return the state that a word of shared memory encodes."""
        transactions = word >> TRANSACTIONS & TRANSACTION_MASK
        transactions -= TRANSACTION_MASK + 1 if transactions > MAX_COUNT else 0
        return MbarrierState(
            word >> 63 == 1, word >> PHASE & 1, word & MAX_COUNT, word >> PENDING & MAX_COUNT, transactions
        )  # fmt: skip


@njit
def _pack(expected: Any, pending: Any, transactions: Any, phase: Any) -> np.uint64:
    word = np.uint64(expected) | (np.uint64(pending) << np.uint64(PENDING))
    word |= np.uint64(transactions & TRANSACTION_MASK) << np.uint64(TRANSACTIONS)
    return word | (np.uint64(phase) << np.uint64(PHASE)) | (np.uint64(1) << np.uint64(63))


@njit
def _act(
    words: Array, index: Array, mask: Array, action: int, amounts: Array, transactions: Array, tokens: Array,
    completed: Array, problem: Array,
) -> int:  # fmt: skip
    """Apply an action to an mbarrier for each lane in `mask`, in the order of warps and lanes.

    The mbarrier of lane l of warp w is at byte offset index[w, l] of shared memory. Return the number of completed
    phases, or -1 - (w * 32 + l) for a lane with an illegal action.

    Outputs: `tokens` receives each word before the action, `completed` the indices of the words whose phase completed,
    and `problem[0]` the reason why an action is illegal.
    """
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
                if amount < 1 or amount > MAX_COUNT:
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
            expected = np.int64(word & np.uint64(MAX_COUNT))
            pending = np.int64((word >> np.uint64(PENDING)) & np.uint64(MAX_COUNT))
            count = np.int64((word >> np.uint64(TRANSACTIONS)) & np.uint64(TRANSACTION_MASK))
            if count > MAX_COUNT:
                count -= TRANSACTION_MASK + 1
            phase = np.int64((word >> np.uint64(PHASE)) & np.uint64(1))
            if action == 5:
                count -= tx
            else:
                count += tx
            if count > MAX_COUNT or count < -MAX_COUNT:
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
                if pending > MAX_COUNT:
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
    """Actions on mbarriers, and the warp splits that wait for their phases.

    `bounded` has the program counters of waits in loops that give up after a number of iterations.
    """

    STATE = ("sites", "log", "_first_returns", "_several", "_retries", "_expired", "_sites")

    def __init__(
        self, state: State, memory: Memory, schedule: Schedule, events: Dispatcher, bounded: frozenset[int]
    ) -> None:  # fmt: skip
        self.state = state
        self.memory = memory
        self._returns_at_random = schedule.kind == "random"
        self._returns_first = schedule.kind == "lazy"
        self._bounded = bounded
        self._on_arrive = events.handler(Arrive)
        self._on_wait = events.handler(PhaseWait)
        self._on_complete = events.handler(PhaseComplete)
        self.sites = np.zeros(len(memory.shared.words), np.int64)  # word -> program counter of the last arrival, plus 1
        # Number of arrivals that native code adds to `_sites`, and their words and program counters.
        self.log = np.zeros(1 + 2 * LOGGED, np.int64)
        self._problem = np.zeros(1, np.int64)
        self._none = np.zeros((1, 1), np.int64)
        self.start()

    def start(self) -> None:
        """Forget all arrivals and waits before a new wave."""
        self.words = self.memory.shared.words  # an mbarrier is identified by its index in this array
        # Slot -> number of early returns for each program counter and word.
        self._first_returns: dict[int, Counter[tuple[int, int]]] = {}
        self._several: dict[int, set[int]] = {}  # slot -> words for which it waits, if there are several
        self._retries: dict[int, int] = {}  # slot -> number of early returns because no warp could run
        self._expired: set[int] = set()  # slots whose wait must return early
        self.sites.fill(0)
        self._sites: set[tuple[int, int]] = set()  # words and program counters of all arrivals
        self.log[0] = 0

    def act(
        self, batch: Batch, space: str, addresses: Array, action: str, amount: Array | int, transactions: Array | int
    ) -> Array:
        """Apply an action to the mbarrier of each active lane. Return the state tokens before the action.

        `action` is a key of `_ACTIONS`. Units: `amount` in arrivals, `transactions` in bytes.

        Shapes: result (warps, 32). Errors: Fault emulator.mbarrier if the mbarrier does not permit the action.
        """
        mask = batch.active()
        index = self._index(batch, space, addresses, mask)
        tokens = np.zeros(mask.shape, np.uint64)
        amounts, counts = _wide(amount), _wide(transactions)
        if self._on_arrive is not None:
            pc, asynchronous = self.state.pc, batch.asynchronous
            self._on_arrive(Arrive(pc, batch, action, index, mask, amounts, counts, asynchronous))
        self._apply(index, mask, action, amounts, counts, tokens)
        if action.startswith("arrive"):
            words, pc = index[mask] >> 3, self.state.pc
            new = words[self.sites[words] != pc + 1]
            if len(new):
                self._read_log()
                self._sites.update((word, pc) for word in new.tolist())
                self.sites[new] = pc + 1
        return tokens

    def complete(self, index: Array, transactions: int) -> None:
        """Subtract `transactions` bytes from the pending bytes of several mbarriers.

        `index` contains the byte offsets of the mbarriers in shared memory. Shapes: index (mbarriers,).
        """
        where = index[None, :]
        mask, tokens = np.ones(where.shape, np.bool_), np.empty(where.shape, np.uint64)
        self._apply(where, mask, "complete_tx", self._none, _wide(transactions), tokens)

    def _apply(
        self, index: Array, mask: Array, action: str, amounts: Array, transactions: Array, tokens: Array
    ) -> None:
        completed = np.empty(mask.size, np.int64)
        done = _act(
            self.words, index, uniform(mask), _ACTIONS[action], amounts, transactions, tokens, completed,
            self._problem,
        )  # fmt: skip
        if done < 0:
            raise self._fault(action, -1 - done, index, amounts)
        if done and self._on_complete is not None:
            self._on_complete(PhaseComplete(self.state.pc, "mbarrier", completed[:done]))
        if done:
            self._wake(self.waiting_for(completed[:done]))

    def _fault(self, action: str, lane: int, index: Array, amounts: Array) -> Fault:
        where = f"the mbarrier at shared offset {self.memory.shared.address(int(index.reshape(-1)[lane])):#x}"
        found = int(np.broadcast_to(amounts, index.shape).reshape(-1)[lane])
        message = {
            _UNINITIALISED: f"{action} uses {where}, which is not initialised",
            _COUNT: f"{where} is initialised for {found} arrivals; expected 1 to {MAX_COUNT}",
            _OVERFLOW: f"{action} on {where} exceeds the pending arrivals of its phase",
            _TRANSACTIONS: f"{action} takes the transaction count of {where} beyond 2^20 - 1",
            _COMPLETED: f"an arrival with .noComplete completes the phase of {where}",
        }[int(self._problem[0])]
        return Fault("emulator.mbarrier", message, lane)

    @staticmethod
    def pending(tokens: Array) -> Array:
        """Return the number of pending arrivals in each state token."""
        return ((tokens >> np.uint64(PENDING)) & np.uint64(MAX_COUNT)).astype(np.uint32)

    # Waiting ----------------------------------------------------------------------------------------------

    def wait(
        self, batch: Batch, space: str, addresses: Array, phase: Array, parity: bool, blocking: bool, result: Any
    ) -> None:
        """Test for each active lane whether a phase of an mbarrier is complete. Write a predicate to `result`.

        `phase` is the parity of the phase if `parity` is set, else a state token. If `blocking` is set and the test
        fails in all lanes of a warp split, the warp split is suspended until a phase completes or it returns early.
        """
        mask = batch.active()
        index = self._index(batch, space, addresses, mask)
        high = self.words[index >> 3] >> np.uint64(PHASE)  # parity of the phase, and an initialisation bit
        expected = phase.astype(np.uint64)
        expected = (expected if parity else expected >> np.uint64(PHASE)) & np.uint64(1)
        unready = mask & (high < INITIALISED)
        fails = np.count_nonzero(unready) > 0
        done = high & np.uint64(1) != expected
        if self._on_wait is not None:
            complete = np.zeros_like(mask) if fails else mask & done
            self._on_wait(PhaseWait(self.state.pc, batch, index, mask, complete, expected, parity))
        if fails:
            self._problem[0] = _UNINITIALISED
            raise self._fault("a wait", int(np.flatnonzero(unready)[0]), index, self._none)
        if blocking:
            blocked = self._find_blocked(batch, (done & mask).any(axis=1))
            if self._returns_first and np.count_nonzero(blocked):
                self._return_first(batch, index, blocked)
            if np.count_nonzero(blocked):
                self._suspend(batch, index, mask, blocked)
                done = done[~blocked]
        if batch.count:
            batch.write(result, done)

    def _find_blocked(self, batch: Batch, succeeds: Array) -> Array:
        """Return a mask of the warp splits that must wait. `succeeds` marks those in which a test succeeds."""
        blocked = ~succeeds
        if not np.count_nonzero(blocked) and not self._retries and not self._first_returns:
            return blocked
        for position, row in enumerate(batch.rows.tolist()):
            if succeeds[position]:
                self._retries.pop(row, None)
                self._first_returns.pop(row, None)
            elif row in self._expired or (self._returns_at_random and self.state.random.random() < _EARLY_RETURN):
                self._expired.discard(row)
                blocked[position] = False
        return blocked

    def _return_first(self, batch: Batch, index: Array, blocked: Array) -> None:
        """Remove from `blocked` the first waits of each warp split at this instruction and mbarrier."""
        most = TRIES if self.state.pc in self._bounded else 1
        words = index[np.arange(batch.count), batch.active().argmax(axis=1)] // 8
        for position in np.flatnonzero(blocked).tolist():
            returns = self._first_returns.setdefault(int(batch.rows[position]), Counter())
            site = self.state.pc, int(words[position])
            blocked[position] = returns[site] >= most
            returns[site] += not blocked[position]

    def expire(self) -> bool:
        """Let blocked waits return early, because no warp can run.

        A wait that has returned early `RETRIES` times for this reason stays blocked. Return False if all stay blocked.
        """
        awaited = self.state.splits.awaited
        of_mbarriers = (awaited >= 0) & (awaited % KINDS == Event.MBARRIER)
        waiting = np.flatnonzero(of_mbarriers | (awaited == SEVERAL)).tolist()
        due = [row for row in waiting if self._retries.get(row, 0) < RETRIES]
        for row in due:
            self._retries[row] = self._retries.get(row, 0) + 1
            self._expired.add(row)
        self._wake(np.array(due, np.intp))
        return bool(due)

    @property
    def permits_native(self) -> bool:
        """True if native code may update mbarriers: each wait is for one mbarrier, and none returned early."""
        return not (self._several or self._retries or self._expired or self._first_returns)

    @property
    def suspends_at_once(self) -> bool:
        """True if a blocking wait for an incomplete phase suspends its warp splits without an early return."""
        return not (self._returns_at_random or self._returns_first)

    def waiting_for(self, words: Array) -> Array:
        """Return the slots that wait for one of the mbarriers `words`."""
        rows = self.state.splits.waiting_for(Event.MBARRIER, words)
        if not self._several:
            return rows
        found = set(words.tolist())
        return np.array([*rows.tolist(), *(row for row, each in self._several.items() if each & found)], np.intp)

    def _wake(self, rows: Array) -> None:
        for row in rows.tolist() if self._several else ():
            self._several.pop(row, None)
        self.state.splits.resume(rows)

    def _suspend(self, batch: Batch, index: Array, mask: Array, blocked: Array) -> None:
        rows = batch.suspend(blocked, self.state.pc, Status.WAITING)
        words, lanes = index[blocked] // 8, mask[blocked]
        first = words[np.arange(len(words)), lanes.argmax(axis=1)]
        awaited = self.state.splits.awaited
        awaited[rows] = first * KINDS + Event.MBARRIER
        several = (lanes & (words != first[:, None])).any(axis=1)
        for k in np.flatnonzero(several).tolist():
            row = int(rows[k])
            awaited[row], self._several[row] = SEVERAL, set(words[k][lanes[k]].tolist())

    def _awaited_by(self, slot: int) -> set[int]:
        """Return the words for which the warp split with index `slot` waits."""
        event = int(self.state.splits.awaited[slot])
        if event == SEVERAL:
            return self._several[slot]
        return {event // KINDS} if event >= 0 and event % KINDS == Event.MBARRIER else set()

    def snapshot(self) -> object:
        """Return a value that is equal for two states with the same early returns.

        The value does not contain the words of the mbarriers, because they are a part of shared memory.
        """
        return {slot: dict(sites) for slot, sites in self._first_returns.items()}, dict(self._retries)

    def awaited(self, slot: int) -> Awaited | None:
        """Return the mbarrier at which the warp split with index `slot` waits, or None."""
        return next(map(self.describe, sorted(self._awaited_by(slot))), None)

    def tested(self, batch: Batch, space: str, addresses: Array) -> Awaited:
        """Return the mbarrier that the first active lane of a batch tests."""
        mask = batch.active()
        return self.describe(int(self._index(batch, space, addresses, mask)[mask][0]) // 8)

    def describe(self, where: int) -> Awaited:
        """Return the open phase of the mbarrier at index `where` of `words`."""
        found = MbarrierState.decode(int(self.words[where]))
        phase, arrivals, transactions = found.phase, found.arrivals, found.bytes
        offset = self.memory.shared.address(where * 8)
        state = (("offset", offset), ("phase", phase), ("arrivals", arrivals), ("bytes", transactions))
        rest = f", whose phase {phase} lacks {arrivals} arrivals and {transactions} bytes"
        return Awaited("mbarrier", f"the mbarrier at shared offset {offset:#x}", rest, state)

    def arrivals(self, slots: Sequence[int]) -> list[int]:
        """Return the program counters of past arrivals at mbarriers on which some warp splits wait.

        `slots` contains the indices of the warp splits.
        """
        self._read_log()
        words = set[int]().union(*map(self._awaited_by, slots))
        return sorted({pc for word, pc in self._sites if word in words})

    def used(self) -> set[int]:
        """Return the indices in `words` of the mbarriers at which a warp has arrived or waits."""
        self._read_log()
        waiting = map(self._awaited_by, np.flatnonzero(self.state.splits.awaited != NONE).tolist())
        return {word for word, _ in self._sites}.union(*waiting)

    def _read_log(self) -> None:
        """Move the entries of `log` to `_sites`."""
        entries = self.log[1 : 1 + 2 * self.log[0]].reshape(-1, 2)
        self._sites.update(zip(entries[:, 0].tolist(), entries[:, 1].tolist(), strict=True))
        self.log[0] = 0

    def _index(self, batch: Batch, space: str, addresses: Array, mask: Array) -> Array:
        if space == "":
            wide = np.broadcast_to(addresses, mask.shape)
            inside = (wide >= SHARED_WINDOW) & (wide < SHARED_WINDOW + WINDOW_SIZE)
            message = "an mbarrier is at generic address {:#x}, which is not in shared memory"
            refuse("emulator.mbarrier", mask & ~inside, message, wide)
            addresses = wide - np.uint64(SHARED_WINDOW)
        return self.memory.shared.index(space, batch.location, addresses, mask, 8)


def _wide(amount: Array | int) -> Array:
    return np.array(amount, np.int64, ndmin=2)
