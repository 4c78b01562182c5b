"""Events that suspended warp splits wait for, and asynchronous operations that have not taken effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from warploom.emulator.address_space import SHARED_WINDOW
from warploom.emulator.async_operations import AsyncOperations
from warploom.emulator.barriers import Barriers
from warploom.emulator.bulk_copies import lane_values
from warploom.emulator.faults import Awaited
from warploom.emulator.link import Linked
from warploom.emulator.mbarriers import Mbarriers
from warploom.emulator.register_pools import RegisterPools
from warploom.emulator.state import State
from warploom.emulator.tensor_memory.allocator import TensorAllocator
from warploom.emulator.tensor_memory.operations import Operations
from warploom.emulator.warp_splits import Event, Status
from warploom.isa.model.records import BulkCopy
from warploom.isa.model.tensor_memory import TensorCommit, TensorMemoryCopy, TensorMultiply
from warploom.layout import box_bytes
from warploom.lazy_dataclass import dataclass

MEETINGS = {"warps": "warps of the warpgroup", "lanes": "lanes of the warp"}
"""Warps or lanes that must come to an instruction, by `Awaited.kind`."""


@dataclass(frozen=True, eq=False, slots=True)
class Waiting:
    """Reader of the events that warp splits wait for."""

    state: State
    linked: Sequence[Linked]
    barriers: Barriers
    mbarriers: Mbarriers
    pools: RegisterPools
    tensor: TensorAllocator

    def of(self, slot: int) -> tuple[int, Awaited] | None:
        """Return the instruction at which a warp split waits, and the event that it waits for.

        Return None if the warp split with index `slot` can run, or if the slot is free.
        """
        splits = self.state.splits
        pc = int(splits.pc[slot])
        if splits.status[slot] in (Status.READY, Status.DONE):
            return None
        if splits.awaited[slot] == Event.GRID:
            return pc, Awaited("grid", "the grids that must end before this one continues", "")
        awaited = self.mbarriers.awaited(slot) or self.pools.awaited(slot) or self.tensor.awaited(slot)
        if awaited is not None:
            return pc, awaited
        if (awaited := self.barriers.awaited(slot)) is not None:
            return pc - 1, awaited
        kind = "warps" if self.linked[pc].reconverges == "warpgroup" else "lanes"
        return pc, Awaited(kind, f"the other {MEETINGS[kind]}", " at this instruction")


@dataclass(frozen=True, slots=True)
class InFlight:
    """Asynchronous operation that has been issued and has not taken effect.

    - `kind`: "copy" (by threads), "remote" (store or reduction in another CTA), "multiplication", "tensor load",
      "tensor store", "bulk" (bulk and tensor copies), "tensor multiplication", "tensor copy", "tensor shift" or
      "tensor commit"
    - `pc`: instruction that issued the operation
    - `number`: number in the order of issue; bulk copies and the operations named "tensor" other than loads and stores
      have numbers of their own
    - `warps`, `lane`: issuing warps, and their lane, or -1 for operations of whole warps
    - `group`: number of the commit group, or -1 without groups; `is_committed` is True if the group is closed
    - `bytes`: size of a bulk copy, otherwise 0
    - `mbarrier`: shared address of the mbarrier that counts the completion, with the CTA rank from bit 24 on, or -1
    """

    kind: str
    pc: int
    number: int
    warps: tuple[int, ...]
    lane: int = -1
    group: int = -1
    is_committed: bool = False
    bytes: int = 0
    mbarrier: int = -1


def in_flight(asynchronous: AsyncOperations) -> list[InFlight]:
    """Return the operations that have not taken effect, in the order of issue for each sort of number.

    Under the schedule `eager`, operations take effect when they are issued. The only exception is a chain of
    multiplications in tensor memory.
    """
    parts = _deferred(asynchronous), _bulk_copies(asynchronous), _on_tensor_memory(asynchronous)
    return [each for part in parts for each in sorted(part, key=lambda each: each.number)]


def _deferred(asynchronous: AsyncOperations) -> Iterator[InFlight]:
    for channel, queue in asynchronous.queues.items():
        for item in queue:
            if channel == "remote":
                yield InFlight(channel, item.pc, item.number, tuple(item.warps.tolist()))
                continue
            for group in sorted({*item.group.tolist()}):
                warps = item.warps[item.group == group]
                closed = bool((asynchronous.committed[channel][warps] > group).all())
                yield InFlight(channel, item.pc, item.number, tuple(warps.tolist()), -1, group, closed)


def _bulk_copies(asynchronous: AsyncOperations) -> Iterator[InFlight]:
    for copy in asynchronous.copies:
        request, where = copy.request, (np.array([copy.position]), np.array([copy.lane]))
        if isinstance(request, BulkCopy):
            size = int(lane_values(request.bytes, *where)[0])
        else:
            maps = asynchronous.executor.tensor_maps(request, *where)
            size = box_bytes(maps[0][0]) if maps else 0
        mbarrier = -1 if request.mbarrier is None else int(lane_values(request.mbarrier, *where)[0])
        closed = 0 <= copy.group < asynchronous.bulk_groups[copy.warp, copy.lane]
        yield InFlight(
            "bulk", copy.pc, copy.number, (copy.warp,), copy.lane, copy.group, bool(closed), size, mbarrier
        )  # fmt: skip


def _on_tensor_memory(asynchronous: AsyncOperations) -> Iterator[InFlight]:
    tensor = asynchronous.tensor
    queued = [(entry.operations, entry.k) for queue in tensor.queues.values() for entry in queue]
    for operations, k in [*queued, *((each, k) for each in tensor.chain for k in range(each.count))]:
        warp, lane = int(operations.warps[k]), int(operations.lanes[k])
        kind, mbarrier = _kind_and_mbarrier(operations, k)
        yield InFlight(kind, operations.pc, operations.first + k, (warp,), lane, mbarrier=mbarrier)


def _kind_and_mbarrier(operations: Operations, k: int) -> tuple[str, int]:
    match operations.record:
        case TensorCommit(space=space):
            address = int(operations.values["mbarrier"][k])
            return "tensor commit", address - (0 if space else SHARED_WINDOW)
        case TensorMultiply():
            return "tensor multiplication", -1
        case TensorMemoryCopy():
            return "tensor copy", -1
        case _:
            return "tensor shift", -1
