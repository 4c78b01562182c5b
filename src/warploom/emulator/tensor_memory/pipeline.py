"""Order of the asynchronous operations on tensor memory: multiplications, copies, shifts and commits.

Under the schedule `eager`, an operation takes effect when it is issued. There is one exception without a visible
effect: the multiplications of a chain take effect together, before the next instruction that
does not continue the chain. Under the other schedules, an operation is queued.

Each CTA group (one CTA, or a pair with `.cta_group::2`) has its own queue. An operation must take effect before a later
operation of its queue only if `_is_ordered` lists the two (docs/why/0021 gives the reasons), and if one thread issues
both or fences order the two threads. A commit waits for all earlier operations of its thread.

The schedule `lazy` executes an operation when a commit needs it. If a commit needs several, the order is the reverse of
their issue, as far as it is legal. The schedule `random` executes operations at random times, in any legal order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.events import Complete, TensorIssue, TensorTransferIssue
from warploom.emulator.faults import Fault
from warploom.emulator.memory import Memory
from warploom.emulator.observers import Dispatcher
from warploom.emulator.schedule import Schedule
from warploom.emulator.state import State
from warploom.emulator.tensor_memory import copies
from warploom.emulator.tensor_memory.allocator import TensorAllocator
from warploom.emulator.tensor_memory.multiplications import Multiplications, can_chain
from warploom.emulator.tensor_memory.operations import Operations, Record, values_of
from warploom.emulator.tensor_memory.storage import TensorStorage
from warploom.emulator.tensor_memory.transfers import Transfers
from warploom.isa.model.semantics import Array
from warploom.isa.model.tensor_memory import (
    TensorCommit,
    TensorMemoryCopy,
    TensorMemoryShift,
    TensorMultiply,
    TensorTransfer,
)
from warploom.isa.model.tensor_uses import uses_of
from warploom.lazy_dataclass import dataclass
from warploom.numerics.fused import Workers

_NEVER = np.iinfo(np.int64).max
_LONGEST = 16  # largest number of multiplications in a chain
_CHANCE = 0.3  # probability, under a random schedule, that the queue of a CTA advances between two blocks
BatchFactory = Callable[[Array, Array | None], Any]


@dataclass(slots=True, eq=False)
class _Entry:
    """Queued operation: operation `k` of `operations`, with the number `number` in the order of issue.

    `queue` is the key of its queue. `epoch` is that of the thread at the issue. Times count the fences of all threads:
    `fenced` is the time of the thread's first `fence::before_thread_sync` after the operation, and `after` the time of
    its last `fence::after_thread_sync` before the operation.
    """

    STATE = ()

    operations: Operations
    k: int
    queue: int
    thread: int
    number: int
    epoch: int
    after: int
    fenced: int = _NEVER

    @property
    def is_commit(self) -> bool:
        return isinstance(self.operations.record, TensorCommit)


class TensorPipeline:
    """Issue, queues and execution of the operations on tensor memory of all resident CTAs."""

    STATE = ("chain", "queues", "issued", "completed", "_time", "_after")

    def __init__(
        self, state: State, memory: Memory, schedule: Schedule, make_batch: BatchFactory, events: Dispatcher,
        arch: str, workers: Workers | None,
    ) -> None:  # fmt: skip
        self.state = state
        self.memory = memory
        self.kind = schedule.kind
        self.make_batch = make_batch
        self.storage = TensorStorage(state.topology)
        self.allocator = TensorAllocator(state, self.storage, schedule, events)
        self.transfers = Transfers(self.storage, state.topology)
        self.multiplications = Multiplications(
            state, self.storage, memory.shared, arch, workers, schedule.kind != "eager"
        )  # fmt: skip
        self._on_issue = events.handler(TensorIssue)
        self._on_transfer = events.handler(TensorTransferIssue)
        self._on_complete = events.handler(Complete)
        self.start()

    def start(self) -> None:
        """Forget all operations before a new wave."""
        self.storage.start()
        self.allocator.start()
        self.multiplications.start()
        self.chain: list[Operations] = []  # multiplications that wait for the end of their chain, if `eager`
        self.queues: dict[int, list[_Entry]] = {}  # first CTA of a CTA group -> operations in order of issue
        self.issued = 0
        self.completed = 0
        self._time = 0  # number of fences so far
        self._after: Counter[int] = Counter()  # thread -> time of its last fence::after_thread_sync

    @property
    def is_idle(self) -> bool:
        """True if all issued operations have taken effect."""
        return not self.queues and not self.chain

    # Issue ------------------------------------------------------------------------------------------------

    def issue(self, batch: Batch, record: Record) -> None:
        """Issue an operation of each active lane.

        Errors: Fault emulator.tensor-multiply, emulator.tensor-pair; under the schedule `eager` also those of the
            execution.
        """
        positions, lanes = (part.astype(np.int64) for part in np.nonzero(batch.active()))
        warps = batch.warp_index[positions].astype(np.int64)
        ctas = self.state.topology.cta_of[warps]
        flat = 32 * positions + lanes
        self.allocator.use_group(record.ctas, flat)
        if record.ctas == 2 and not isinstance(record, TensorCommit):
            self.allocator.require_peers(ctas, flat)
        values = values_of(record, positions, lanes)
        epochs = self.state.splits.epoch[batch.rows[positions]]
        found = Operations(record, positions, lanes, warps, ctas, epochs, values, self.state.pc, self.issued)
        self.issued += found.count
        try:
            if isinstance(record, TensorMultiply):
                self.multiplications.check(record, found)
            elif isinstance(record, TensorMemoryCopy):
                copies.check_copies(record, found)
        except Fault as fault:
            fault.lane = int(flat[fault.lane])
            raise
        if self._on_issue is not None:
            self._on_issue(TensorIssue(self.state.pc, batch, record, positions, lanes, warps, found.first))
        if self.kind == "eager":
            self._execute_now(found)
            return
        threads = found.threads.tolist()
        for k, (cta, thread, epoch) in enumerate(zip(ctas.tolist(), threads, epochs.tolist(), strict=True)):
            key = cta if record.ctas == 1 else cta & ~1
            entry = _Entry(found, k, key, thread, found.first + k, epoch, self._after[thread])
            self.queues.setdefault(key, []).append(entry)

    def _execute_now(self, operations: Operations) -> None:
        """Execute operations, or add multiplications to the chain, which a later instruction executes."""
        record = operations.record
        if self.chain and not (
            isinstance(record, TensorMultiply)
            and len(self.chain) < _LONGEST
            and self.multiplications.continues(self.chain[0], operations)
        ):
            self.flush()
        rounds = _rounds(operations)
        if isinstance(record, TensorMultiply) and len(rounds) == 1 and can_chain(record):
            self.chain.append(operations)
            return
        self.flush()
        for which in rounds:
            self._execute([operations], which)
        self.state.origin = None

    def flush(self) -> None:
        """Execute the multiplications of the chain."""
        if self.chain:
            chain, self.chain = self.chain, []
            self._execute(chain, np.arange(chain[0].count))
            self.state.origin = None

    def transfer(self, batch: Batch, record: TensorTransfer) -> NDArray[np.int64]:
        """Check a load or a store of each warp of a batch, and create its event. Return the addresses.

        Errors: Fault emulator.tensor-memory.
        """
        addresses = self.transfers.check(batch, record)
        if self._on_transfer is not None:
            self._on_transfer(TensorTransferIssue(self.state.pc, batch, record))
        return addresses

    def fence(self, batch: Batch, is_before: bool) -> None:
        """Execute `fence::before_thread_sync` or `fence::after_thread_sync` in the active lanes."""
        if self.kind == "eager":
            return
        self._time += 1
        positions, lanes = np.nonzero(batch.active())
        threads = (batch.warp_index[positions] * 32 + lanes).tolist()
        if not is_before:
            self._after.update(dict.fromkeys(threads, 0))
            for thread in threads:
                self._after[thread] = self._time
            return
        fenced = set(threads)
        for queue in self.queues.values():
            for entry in queue:
                if entry.thread in fenced and entry.fenced == _NEVER:
                    entry.fenced = self._time

    # Execution --------------------------------------------------------------------------------------------

    def _execute(self, chain: Sequence[Operations], which: NDArray[np.int64]) -> None:
        """Execute the operations with the indices `which` of each item of a chain.

        The operations of an item belong to different CTA groups.
        Operations other than multiplications form chains of one item.
        """
        self.completed += len(chain)
        for each in chain if self._on_complete is not None else ():
            assert self._on_complete is not None
            self._on_complete(Complete(self.state.pc, "tensor", each.first + which, None))
        try:
            self._take_effect(chain, which)
        except Fault as fault:
            if len(chain) > 1:  # the chain had no effect; one of its items raises the fault at its own instruction
                for each in chain:
                    self._execute([each], which)
            operations = chain[0]
            k = fault.lane if 0 <= fault.lane < operations.count else int(which[0])
            self.state.origin = operations.pc, int(operations.warps[k]), int(operations.lanes[k])
            raise

    def _take_effect(self, chain: Sequence[Operations], which: NDArray[np.int64]) -> None:
        operations = chain[0]
        match operations.record:
            case TensorMultiply():
                self.multiplications.execute(chain, which)
            case TensorMemoryCopy():
                copies.copy(self.storage, self.memory.shared, operations, which)
            case TensorMemoryShift():
                copies.shift(self.storage, operations, which)
            case TensorCommit() as record:
                self._arrive(record, operations, which)

    def _arrive(self, record: TensorCommit, operations: Operations, which: NDArray[np.int64]) -> None:
        for k in which.tolist():
            mask = np.zeros((1, 32), np.bool_)
            mask[0, operations.lanes[k]] = True
            batch = self.make_batch(operations.warps[k : k + 1], mask)
            address = np.full((1, 32), operations.values["mbarrier"][k], np.uint64)
            targets = [address]
            if record.multicast is not None:
                generic = not record.space
                ranks = int(operations.values["multicast"][k])
                targets = [
                    batch.map_rank(address, np.full((1, 32), rank, np.uint32), generic)
                    for rank in range(16) if ranks >> rank & 1
                ]  # fmt: skip
            for target in targets:
                batch.mbarrier(record.space, target, "arrive", 1)

    def _complete(self, entries: Iterable[list[_Entry]]) -> None:
        """Execute lists of operations of different queues, each in its order, and remove them from the queues."""
        lists = [each for each in entries if each]
        for number in range(max(map(len, lists), default=0)):
            together: dict[int, tuple[Operations, list[int]]] = {}
            for each in lists:
                if number < len(each):
                    entry = each[number]
                    queue = self.queues[entry.queue]
                    queue.remove(entry)
                    if not queue:
                        del self.queues[entry.queue]
                    together.setdefault(id(entry.operations), (entry.operations, []))[1].append(entry.k)
            for operations, which in together.values():
                self._execute([operations], np.array(which, np.int64))
        self.state.origin = None

    def _force(self, targets: Iterable[_Entry]) -> None:
        """Execute queued operations, and all operations that must take effect before them."""
        by_queue: dict[int, set[int]] = {}
        for entry in targets:
            by_queue.setdefault(entry.queue, set()).add(entry.number)
        self._complete(self._execution_order(self.queues[key], numbers) for key, numbers in by_queue.items())

    def _execution_order(self, queue: list[_Entry], needed: set[int]) -> list[_Entry]:
        """Return the operations with the numbers `needed`, and all that must take effect before them.

        The result is in the order of execution, one of the legal orders, which the schedule selects.
        """
        chosen: list[_Entry] = []  # from the latest to the earliest
        waits: dict[int, int] = {}  # number -> count of operations that must take effect before
        followers: dict[int, list[_Entry]] = {}
        for position in range(len(queue) - 1, -1, -1):
            entry = queue[position]
            if entry.number not in needed:
                continue
            before = [each for each in queue[:position] if _is_ordered(each, entry)]
            needed.update(each.number for each in before)
            waits[entry.number] = len(before)
            for each in before:
                followers.setdefault(each.number, []).append(entry)
            chosen.append(entry)
        ready = [(-each.number, each) for each in chosen if not waits[each.number]]
        found: list[_Entry] = []
        if self.kind == "lazy":
            heapify(ready)  # the numbers differ, so that entries are not compared
        while ready:
            if self.kind == "lazy":
                _, entry = heappop(ready)
            else:
                _, entry = ready.pop(self.state.random.randrange(len(ready)))
            found.append(entry)
            for each in followers.get(entry.number, ()):
                waits[each.number] -= 1
                if not waits[each.number]:
                    if self.kind == "lazy":
                        heappush(ready, (-each.number, each))
                    else:
                        ready.append((-each.number, each))
        return found

    # Schedule ---------------------------------------------------------------------------------------------

    def between_blocks(self, latest: int) -> None:
        """Execute the operations that the schedule permits between two basic blocks.

        Under the schedule `lazy`, these are commits that were issued before the epoch `latest`, and what they need.
        """
        if self.kind == "lazy":
            old = [each for queue in self.queues.values() for each in queue if each.is_commit and each.epoch < latest]
            if old:
                self._force(old)
        elif self.kind == "random":
            random = self.state.random
            for key in list(self.queues):
                if random.random() < _CHANCE:
                    self._force([random.choice(self.queues[key])])

    def unblock(self) -> bool:
        """Execute a queued commit, so that a waiting warp may continue. Return False if no commit is queued.

        Under `random`, the commit is a random one. Otherwise it is the earliest one, together with the commits that
        other lanes issued by the same instruction.
        """
        commits = [each for queue in self.queues.values() for each in queue if each.is_commit]
        if not commits:
            return False
        if self.kind == "random":
            self._force([self.state.random.choice(commits)])
            return True
        first = min(commits, key=lambda each: each.number).operations
        self._force([each for each in commits if each.operations is first])
        return True

    def on_exit(self, warps: NDArray[Any]) -> None:
        """Execute the queued operations of warps that have left the kernel."""
        if self.queues:
            exited = set(warps.tolist())
            left = [each for queue in self.queues.values() for each in queue if each.thread // 32 in exited]
            if left:
                self._force(left)


def _rounds(operations: Operations) -> list[NDArray[np.int64]]:
    """Divide the indices of operations into arrays in which each CTA group occurs once."""
    if operations.count == 1:
        return [np.zeros(1, np.int64)]
    groups = operations.ctas if operations.record.ctas == 1 else operations.ctas & ~1
    if len(set(groups.tolist())) == operations.count:
        return [np.arange(operations.count)]
    seen: Counter[int] = Counter()
    rounds: list[list[int]] = []
    for k, group in enumerate(groups.tolist()):
        if seen[group] == len(rounds):
            rounds.append([])
        rounds[seen[group]].append(k)
        seen[group] += 1
    return [np.array(each, np.int64) for each in rounds]


def _is_ordered(first: _Entry, then: _Entry) -> bool:
    """Return True if `first` must take effect before `then`, which was issued later to the same queue."""
    same_thread = first.thread == then.thread
    if then.is_commit or first.is_commit:
        return same_thread and then.is_commit
    if not same_thread and first.fenced >= then.after:
        return False
    before, after = first.operations.record, then.operations.record
    match before, after:
        case TensorMultiply(), TensorMultiply():
            return _share_accumulator_or_buffer(first, then) or (before.a_in_tensor and _overwrites_a(first, then))
        case TensorMemoryShift(), TensorMemoryCopy(rows=4):
            return True
        case TensorMemoryCopy() | TensorMemoryShift(), TensorMultiply():
            return True
        case TensorMultiply(), _:
            # The manual names the shift alone. CUTLASS and Triton rely on the order of a copy, too.
            return True
        case _:
            return False


def _share_accumulator_or_buffer(first: _Entry, then: _Entry) -> bool:
    """Return True if two multiplications have the same D, M and N, or a common collector buffer."""
    before, after = (cast("TensorMultiply", each.operations.record) for each in (first, then))
    d, idesc = ([int(each.operations.values[name][each.k]) for each in (first, then)] for name in ("d", "idesc"))
    if d[0] == d[1]:
        fields = [record.plan(word).fields for record, word in zip((before, after), idesc, strict=True)]
        if (fields[0].m, fields[0].n) == (fields[1].m, fields[1].n):
            return True
    return after.collector[1] in ("use", "lastuse") and before.collector[0] == after.collector[0]


def _overwrites_a(first: _Entry, then: _Entry) -> bool:
    """Return True if the D of a multiplication overlaps the A of an earlier one in tensor memory.

    The manual does not state the order of such multiplications. Attention kernels of CUTLASS rely on it: S of a step
    overwrites P of the step before.
    """
    old = [use for use in uses_of(first.operations.record, first.operations.values, first.k, 0) if use.what == "A"]
    new = [use for use in uses_of(then.operations.record, then.operations.values, then.k, 0) if use.what == "D"]
    return any(a.first < d.end and d.first < a.end for a in old for d in new)
