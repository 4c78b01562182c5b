"""Order of operations on tensor memory, and their completion as other warps know it.

All lanes of a warp count as one thread here, with one exception: a commit covers only the operations of its own lane.
`PhaseAliasing` provides the times of warps, and decides which warp follows which. It regards every synchronisation,
including relaxed ones.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from warploom.isa.model.tensor_memory import TensorMemoryCopy, TensorMemoryShift, TensorMultiply
from warploom.isa.model.tensor_uses import Use
from warploom.observe.sanitize.mbarriers import Mbarriers

_KEPT = 64  # newest commits of a thread to one mbarrier that are kept

Thread = tuple[int, int]
"""Warp and lane of an operation; the lane is -1 for transfers, which belong to whole warps."""


@dataclass(slots=True, eq=False)
class Operation:
    """Operation on tensor memory.

    Times are those of the issuing warp in `PhaseAliasing`, and 0 if the event has not occurred.

    - record: record of `isa.model.tensor_memory`.
    - key: for multiplications, a value that is equal for the same accumulator and shape.
    - time: time of the issue.
    - number: number of the operation among those of the warp.
    - done: time at which the warp has waited for the transfer.
    - fenced: time of the first `before_thread_sync` after `done`; for other operations than transfers, after `time`.
    - release: first later instruction by which the warp signals other threads, or -1.
    """

    pc: int
    thread: Thread
    record: Any
    key: Any
    time: int
    number: int
    done: int = 0
    fenced: int = 0
    release: int = -1

    @property
    def is_transfer(self) -> bool:
        """True for a load or a store."""
        return self.thread[1] < 0


@dataclass(slots=True)
class _Commits:
    """Commits of a thread, by mbarrier (CTA, index in the CTA).

    A commit is the pair of the last operation that it covers, and the number of phases that are complete after its
    arrival. The entries stay when an mbarrier is invalidated, because the operations may still be in progress then.
    """

    by_mbarrier: dict[tuple[int, int], deque[tuple[int, int]]] = field(
        default_factory=dict[tuple[int, int], deque[tuple[int, int]]]
    )
    last: int = 0  # number of the last operation that a commit covers


class TensorOrder:
    """Commits of all threads, and their completion as other warps know it."""

    def __init__(self, mbarriers: Mbarriers) -> None:
        assert mbarriers.aliasing is not None
        self.mbarriers = mbarriers
        self.aliasing = mbarriers.aliasing
        self._commits: dict[Thread, _Commits] = {}

    def commit(self, thread: Thread, number: int, word: int) -> None:
        """Record a commit of a thread's operations up to `number` to the mbarrier at 8 * `word`."""
        found = int(self.mbarriers.at[word])
        commits = self._commits.setdefault(thread, _Commits())
        commits.last = number
        if found >= 0:
            key = divmod(found, self.mbarriers.clocks.mbarriers)
            kept = commits.by_mbarrier.setdefault(key, deque(maxlen=_KEPT))
            kept.append((number, self.aliasing.next_phase(found)))

    def is_committed(self, operation: Operation) -> bool:
        """Return True if a commit covers an operation."""
        commits = self._commits.get(operation.thread)
        return commits is not None and commits.last >= operation.number

    def follows(self, warp: int, operation: Operation, *, fenced: bool = False) -> bool:
        """Return True if the issue of an operation is ordered before the next instruction of a warp.

        With `fenced`, only synchronisation before the last `after_thread_sync` of the warp counts.
        """
        other = operation.thread[0]
        return other == warp or self.aliasing.follows(warp, other, operation.time, fenced=fenced)

    def is_complete(self, warp: int, operation: Operation, *, fenced: bool = False) -> bool:
        """Return True if a warp knows that an operation is complete. `fenced` is as in `follows`."""
        other = operation.thread[0]
        if operation.is_transfer:
            done = operation.done
            return done > 0 and (other == warp or self.aliasing.follows(warp, other, done, fenced=fenced))
        return self._covered(warp, operation.thread, fenced) >= operation.number

    def _covered(self, warp: int, thread: Thread, fenced: bool) -> int:
        """Return the number of the last operation of a thread that a warp knows to be complete."""
        commits, covered = self._commits.get(thread), 0
        for (cta, index), kept in () if commits is None else commits.by_mbarrier.items():
            found = cta * self.mbarriers.clocks.mbarriers + index
            known = self.aliasing.phases(warp, found, fenced=fenced)
            for number, phase in reversed(kept):
                if number <= covered:
                    break
                if phase <= known:
                    covered = number
                    break
        return covered

    def follows_fence(self, warp: int, operation: Operation) -> bool:
        """Return True if a warp is ordered after a `before_thread_sync` that follows an operation."""
        other = operation.thread[0]
        fenced = operation.fenced
        return other == warp or (fenced > 0 and self.aliasing.follows(warp, other, fenced, fenced=False))


def is_pipelined(first: Operation, old: Use, then: Operation, new: Use) -> bool:
    """Return True if two uses of the same words by one thread take effect in the order of their issue.

    After a multiplication, the manual promises this order only for a shift and for a multiplication with the same
    accumulator and shape. CUTLASS and Triton also rely on the order of a later copy, and attention kernels of CUTLASS
    on that of a later multiplication that overwrites A.

    Source: PTX ISA 9.7.16.6.2.
    """
    match first.record, then.record:
        case TensorMultiply(), TensorMultiply():
            return first.key == then.key or (old.what == "A" and new.what == "D")
        case TensorMemoryShift(), TensorMemoryCopy(rows=4):
            return True
        case TensorMemoryCopy() | TensorMemoryShift(), TensorMultiply():
            return True
        case TensorMultiply(), TensorMemoryCopy() | TensorMemoryShift():
            return True
        case _:
            return False
