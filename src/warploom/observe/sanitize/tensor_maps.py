# pyright: reportUnknownMemberType=false
"""Check of copies through tensor maps that the kernel writes.

Fences must order the writes before the copies.
"""

from collections import deque
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.edits import Fix
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.batch import Batch
from warploom.emulator.events import Fence
from warploom.isa.model import effects
from warploom.observe.sanitize.clock_arrays import KNOWN, MASK, SOME
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import insert_before
from warploom.observe.sanitize.global_shadow import GlobalShadow
from warploom.observe.sanitize.rules import rules
from warploom.ptx import Address

Array = NDArray[Any]
Writes = frozenset[tuple[int, int]]  # record (see `global_shadow`) and program counter of each last write

_BYTES = 128
_NEWEST = 8  # releasing fences of a warp that are kept


@dataclass(frozen=True, slots=True)
class _Fence:
    """Fence that `lanes` of a warp executed.

    `record` describes an access by lane 0 at the fence. `clock` has the parts KNOWN, SOME and MASK of the clock of the
    warp. Shape: (3, components).
    """

    record: int
    pc: int
    warp: int
    lanes: tuple[int, ...]
    clock: Array


@dataclass(frozen=True, slots=True)
class _Acquired:
    """Writes of a tensor map that a fence of the CTA `cta` acquired, with the record of the fence."""

    record: int
    cta: int
    writes: Writes


class TensorMaps:
    """Fences of one launch for tensor maps, and the writes that they order.

    A fence releases earlier writes of a map, a later fence acquires the map, and a copy after that fence reads it.
    """

    context: Context

    def __init__(self, shadow: GlobalShadow) -> None:
        self.shadow = shadow
        self._released: dict[int, deque[_Fence]] = {}  # by warp
        self._copied: dict[int, _Fence] = {}  # by address: the last fence that also copied a map there
        self._acquired: dict[int, dict[tuple[int, int], _Acquired]] = {}  # by address, and by warp and lane

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context
        self._acquired.clear()

    def release(self, event: Fence) -> None:
        """Record a fence that releases writes.

        A fence with an address copies a tensor map there and releases the copy.
        """
        batch = event.batch
        fences = self._fences(event)
        if not event.effect.address:
            for fence in fences.values():
                self._released.setdefault(fence.warp, deque(maxlen=_NEWEST)).append(fence)
            return
        addresses = self._addresses(event)
        for position, fence in fences.items():
            for address in np.unique(addresses[position][batch.active()[position]]).tolist():
                self._copied[address] = fence

    def acquire(self, event: Fence) -> None:
        """Record a fence that acquires the tensor map at the address of each lane."""
        context, batch, addresses = self.context, event.batch, self._addresses(event)
        for position, fence in self._fences(event).items():
            cta = int(context.topology.cta_of[fence.warp])
            for address in np.unique(addresses[position][batch.active()[position]]).tolist():
                lanes = batch.active()[position] & (addresses[position] == address)
                writes = self.writes(address)
                first = int(lanes.argmax())
                released = frozenset(each for each in writes if self._is_released(address, each, fence.warp, first))
                acquired = self._acquired.setdefault(address, {})
                for lane in np.flatnonzero(lanes).tolist():
                    last = acquired.get((fence.warp, lane))
                    if last is None or last.writes != released:
                        record = self.shadow.record(fence.warp, lane)
                        acquired[fence.warp, lane] = _Acquired(record, cta, released)

    def use(self, warps: Array, lanes: Array, address: int, writes: Writes, pc: int) -> None:
        """Report copies through the tensor map at `address` without the necessary fences.

        Lane lanes[i] of warps[i] issues copy i. `writes` are the last writes of the map.
        """
        context = self.context
        for warp, lane in zip(warps.tolist(), lanes.tolist(), strict=True):
            cta = int(context.topology.cta_of[warp])
            acquired = (
                each
                for each in self._acquired.get(address, {}).values()
                if each.cta == cta and self.shadow.is_known(warp, lane, each.record)
            )
            first = next(acquired, None)
            if first is not None and any(writes <= each.writes for each in chain([first], acquired)):
                continue
            why = "no acquiring fence for tensor maps is between the two"
            if first is not None:
                why = "the kernel writes the map after it acquires the map, or does not release the write before"
            message = f"this copy uses the tensor map at {address:#x}, which the kernel has written, and {why}"
            site = max(pc for _, pc in writes)
            message = f"{message}; {context.describe(warp, lane)}"
            context.report.add("sanitize.proxy/tensormap", pc, site, message, fixes=(self._acquire(pc),))
            return

    def _acquire(self, pc: int) -> Fix:
        """Return a fix that inserts an acquire fence before the copy at `pc`, which uses a tensor map."""
        step = self.context.program.steps[pc]
        used = next(each for each in step.binding.form.effects_of(effects.Access) if each.proxy == "tensormap")
        operand = step.binding.operands[used.address].operand
        if not isinstance(operand, Address):
            return ()
        text = rules()["sanitize.proxy/tensormap"].template.format(address=operand.base)
        guard = step.instruction.guard
        return insert_before(self.context.program, pc, text if guard is None else f"{guard} {text}")

    def writes(self, address: int) -> Writes:
        """Return the last writes of the kernel to the tensor map at `address`."""
        first, arrays = address - GLOBAL_BASE, self.shadow.arrays
        if first < 0 or not self.shadow.is_written(first):
            return frozenset()
        where = slice(first >> arrays.shift, first + _BYTES >> arrays.shift)
        pairs = zip(arrays.records[where].tolist(), arrays.sites[where].tolist(), strict=True)
        return frozenset(pair for pair in pairs if pair[0])

    def _is_released(self, address: int, write: tuple[int, int], warp: int, lane: int) -> bool:
        """Return True if a fence that releases the write happens before the next access of a lane."""
        record, pc = write
        copied = self._copied.get(address)
        if copied is not None and copied.pc == pc:
            return self._is_known(copied, copied.lanes, warp, lane)
        return any(
            self._is_known(fence, self._covering(fence, record), warp, lane)
            for fences in self._released.values()
            for fence in fences
        )

    def _is_known(self, fence: _Fence, lanes: tuple[int, ...], warp: int, lane: int) -> bool:
        return any(self.shadow.is_known(warp, lane, fence.record | each << 4) for each in lanes)

    def _covering(self, fence: _Fence, record: int) -> tuple[int, ...]:
        """Return the lanes whose execution of `fence` is ordered after the write of `record`."""
        if record >> 55 != fence.record >> 55:
            return fence.lanes  # the write belongs to an earlier wave
        clocks, context = self.context.clocks, self.context
        writer, time, by = record >> 44 & 0x7FF, record >> 16 & 0xFFFFFFF, record >> 4 & 63
        if writer == fence.warp and by in fence.lanes:
            return (by,) if time <= fence.record >> 16 & 0xFFFFFFF else ()
        column = clocks.base + writer
        if context.topology.cluster_of[writer] == context.topology.cluster_of[fence.warp]:
            column = int(clocks.own[writer])
        elif clocks.base < 0:
            return ()
        known, some, mask = fence.clock[:, column].tolist()
        return fence.lanes if time <= known or (time <= some and by < 32 and mask >> by & 1) else ()

    def _fences(self, event: Fence) -> dict[int, _Fence]:
        """Return the fence that each warp executes, by the position of the warp in the batch."""
        clocks, batch = self.context.clocks, event.batch
        active = batch.active()
        found: dict[int, _Fence] = {}
        for position in np.flatnonzero(active.any(axis=1)).tolist():
            warp = int(batch.warp_index[position])
            # Writes at the time of the fence are later than the fence.
            clocks.clock[warp] += 1
            record = self.shadow.record(warp, 0, -1)
            lanes = tuple(np.flatnonzero(active[position]).tolist())
            clock = clocks.vectors[warp, (KNOWN, SOME, MASK)]
            if clocks.ahead[warp]:
                some = clocks.vectors[clocks.warps + warp, (KNOWN, SOME, MASK)]
                clock = np.stack([*np.maximum(clock[:2], some[:2]), clock[2] | some[2]])
            found[position] = _Fence(record, event.pc, warp, lanes, clock)
        return found

    @staticmethod
    def _addresses(event: Fence) -> Array:
        batch: Batch = event.batch
        addresses = batch.addresses(getattr(event.operands, event.effect.address))
        return np.broadcast_to(addresses, (batch.count, 32))
