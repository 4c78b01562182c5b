"""Probes: native functions that record the accesses of an instruction, and do not execute it.

Native code calls the probe before the instruction if an observer needs the events. A probe has the signature of a
native function (see `functions`). It returns the position, in the batch, of the first warp that the native function
would leave to the interpreter. If there is no such warp, it returns the number of warps.

The arrays of the recorded accesses have one row for each access and each warp. The first row is number `RECORDED`, and
the rows of an access are adjacent. `ACCESS_WARPS` has the warp. For generic addresses, `ACCESS_SPACES` has the state
space of the access of each warp, as an index in `actions.SPACES`. `ACCESS_INDEX` has the byte offset of each lane in
the bytes of the state space, and `ACCESS_LANES` a byte of 1 for each accessing lane. `ACCESS_VALUES` has a layout of
its own: the stored elements of access number `i` start at byte `i * warps * 32 * MOST_BYTES` and have the axes
(elements, warps, 32). A thread copy has two accesses: to its source and to its target.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from llvmlite import ir

from warploom.emulator import address_space
from warploom.emulator.native.actions import MOST_ACCESSES, MOST_BYTES, Action, to_text
from warploom.emulator.native.barriers import Mode
from warploom.emulator.native.builder import I8, I32, I64, POINTER
from warploom.emulator.native.context import Field
from warploom.emulator.native.matrix import ROW_BYTES, TracedMatrix
from warploom.emulator.native.operands import Items, Scalar
from warploom.emulator.native.synchronisation import SynchronisedWarp
from warploom.emulator.native.warps import broadcast, stored_values
from warploom.emulator.warps import copy_elements
from warploom.isa.model.records import CopyRecord, ThreadCopy
from warploom.isa.model.types import TYPES
from warploom.layout import Order
from warploom.numerics.tracing.values import LANES, TracedLanes, TraceError, splat

_STARTS = {"global": Field.ARENA, "shared": Field.SHARED, "local": Field.LOCAL_START}
"""Fields with the addresses of the first bytes of the memories."""
_I64 = np.dtype(np.int64)
_WORD = np.dtype(np.uint32)


class Probe(SynchronisedWarp):
    """Traced warp that records accesses and has no effects."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._actions: list[Action] = []
        self._accesses = 0
        self._copies = False  # True for a thread copy, whose accesses are part of one action

    @property
    def kind(self) -> str:
        """Text with the actions of the instruction (see `actions`)."""
        return to_text(self._actions)

    # Registers --------------------------------------------------------------------------------------------

    def write(self, operand: Scalar | None, result: Any) -> None:
        """Do nothing."""

    def write_vector(self, operand: Items, results: Sequence[Any]) -> None:
        """Do nothing."""

    def write_fragment(self, operand: Items, order: Order, matrix: TracedMatrix) -> None:
        """Do nothing."""

    # Memory -----------------------------------------------------------------------------------------------

    def load(
        self, space: str, addresses: TracedLanes, type: str, count: int = 1, lanes: TracedLanes | None = None
    ) -> list[TracedLanes]:
        """Record a load. Return zeros."""
        dtype = self._element(type)
        mask = self.lanes if lanes is None else self.lanes & lanes
        self._access(Action("read", space, count, dtype.itemsize), addresses, mask)
        return [TracedLanes(self.builder, splat(0, dtype), dtype)] * count

    def store(
        self, space: str, addresses: TracedLanes, type: str, values: Sequence[TracedLanes],
        lanes: TracedLanes | None = None,
    ) -> None:  # fmt: skip
        """Record a store."""
        dtype = self._element(type)
        mask = self.lanes if lanes is None else self.lanes & lanes
        stored = stored_values(values, dtype)
        self._access(Action("write", space, len(values), dtype.itemsize), addresses, mask, stored)

    def atomic(
        self, space: str, addresses: TracedLanes, op: str, type: str, values: TracedLanes,
        compares: TracedLanes | None = None,
    ) -> TracedLanes:  # fmt: skip
        """Record an atomic update. Return zeros."""
        dtype, size = TYPES[type].dtype, self._element(type).itemsize
        self._access(Action("update", space, 1, size, op, type), addresses, self.lanes, [values.astype(dtype)])
        return TracedLanes(self.builder, splat(0, dtype), dtype)

    def load_rows(self, space: str, addresses: TracedLanes, rows: int) -> TracedMatrix:
        """Record a load of 16 bytes by each of the lanes 0 to `rows` - 1. Return an undefined matrix."""
        self._access(Action("read", space, 4, 4), addresses, self._row_lanes(rows))
        return TracedMatrix(self.builder, rows * ROW_BYTES)

    def store_rows(self, space: str, addresses: TracedLanes, matrix: TracedMatrix) -> None:
        """Record a store of 16 bytes by each of the first lanes."""
        builder, count = self.builder, matrix.size // ROW_BYTES
        rows = [matrix.row(number) for number in range(count)]
        words: list[TracedLanes] = []
        for word in range(4):
            value = splat(0, _WORD)
            for lane, row in enumerate(rows):
                value = builder.insert_element(value, builder.extract_element(row, I32(word)), I32(lane))
            words.append(TracedLanes(builder, value, _WORD))
        self._access(Action("write", space, 4, 4), addresses, self._row_lanes(count), words)

    def _access(
        self, action: Action, addresses: TracedLanes, mask: TracedLanes, values: Sequence[TracedLanes] = ()
    ) -> None:
        b, number = self.builder, self._accesses
        if number == MOST_ACCESSES or action.size > MOST_BYTES:
            raise TraceError("the accesses of the instruction cannot be recorded")
        places = self._reach(action.space, addresses, mask, action.size, storing=action.kind != "read")
        self._accesses += 1
        count = self._field(Field.COUNT)
        entry = b.add(self._field(Field.RECORDED), b.add(b.mul(I64(number), count), self.position))
        b.put(self.warp, self._array(Field.ACCESS_WARPS), entry)
        if action.space:
            space = _memory_of(action.space)
            action, start = replace(action, space=space), self._field(_STARTS[space])
        else:
            is_shared = self._is_shared(addresses, mask)
            b.put(b.zext(is_shared, I64), self._array(Field.ACCESS_SPACES), entry)
            start = b.select(is_shared, *(self._field(_STARTS[space]) for space in ("shared", "global")))
        if not self._copies:
            self._actions.append(action)
        index = TracedLanes(b, b.ptrtoint(places, ir.VectorType(I64, LANES)), _I64)
        index = mask.select(index - TracedLanes(b, broadcast(b, start), _I64), index.constant(0, _I64))
        lane = b.mul(entry, I64(LANES))
        b.store(index.value, b.at(self._array(Field.ACCESS_INDEX), lane), align=8)
        b.store(mask.astype(np.uint8).value, b.at(self._array(Field.ACCESS_LANES), lane, I8), align=1)
        if self._copies:
            return
        first = b.mul(count, I64(number * LANES * MOST_BYTES))
        for element, value in enumerate(values):
            row = b.add(b.mul(I64(element), count), self.position)
            offset = b.add(first, b.mul(row, I64(LANES * action.element)))
            b.store(value.value, b.at(self._array(Field.ACCESS_VALUES), offset, I8), align=action.element)

    def _is_shared(self, addresses: TracedLanes, mask: TracedLanes) -> ir.Value:
        """Return True if the generic addresses of the lanes in `mask` are in shared memory.

        `_reach` has checked that all of them are in the same state space.
        """
        lanes = self._reduce_mask(address_space.in_window("shared", addresses) & mask)
        return self.builder.icmp_unsigned("!=", lanes, I32(0))

    def _array(self, field: Field) -> ir.Value:
        return self.builder.inttoptr(self._field(field), POINTER)

    # Barriers and asynchronous operations -----------------------------------------------------------------

    def mbarrier(self, *arguments: Any, **options: Any) -> Any:
        """Leave the instruction to the interpreter, because native code creates no events of mbarriers."""
        raise TraceError("native code creates no events of mbarriers")

    mbarrier_wait = mbarrier

    def cta_barrier(self, number: TracedLanes, threads: TracedLanes | None, mode: str) -> None:
        """Record an arrival that completes a CTA barrier. Leave other arrivals to the interpreter."""
        if mode != "sync":
            raise TraceError("native code creates no events of arrivals without a wait")
        self.arrive(number, threads, Mode.PROBE)
        self._actions.append(Action("barrier"))

    def cluster_arrive(self) -> None:
        """Leave the instruction to the interpreter, which creates the events of cluster barriers."""
        raise TraceError("native code creates no events of cluster barriers")

    cluster_wait = cluster_arrive

    def issue(self, record: CopyRecord) -> None:
        """Record a thread copy: the access to the source, and the access to the target."""
        if not isinstance(record, ThreadCopy):
            raise TraceError("native code creates no events of bulk copies")
        self._actions.append(Action("copy", element=record.size))
        self._copies = True
        source, destination = cast("TracedLanes", record.source), cast("TracedLanes", record.destination)
        element, count = copy_elements(record.size)
        values = self.load("global", source, element, count, lanes=self._reads_source(record))
        self.store("shared", destination, element, values)


def _memory_of(space: str) -> str:
    """Return the memory that an access to a state space reaches."""
    return "shared" if space.startswith("shared") else space if space == "local" else "global"
