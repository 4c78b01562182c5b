"""Barriers and mbarriers for traced semantics functions."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from warploom.emulator.address_space import SHARED_WINDOW
from warploom.emulator.mbarriers import INITIALISED, PENDING, PHASE
from warploom.emulator.native.barriers import Mode
from warploom.emulator.native.builder import I1, I32, I64, POINTER
from warploom.emulator.native.context import Field
from warploom.emulator.native.mbarriers import event_number
from warploom.emulator.native.warps import TracedWarp, broadcast
from warploom.emulator.warp_splits import NONE, Event
from warploom.numerics.tracing.values import LANES, TracedLanes, TraceError

_U64 = np.dtype(np.uint64)
_I64S = ir.VectorType(I64, LANES)
_MBARRIER_FUNCTIONS = {
    "init": "warploom.mbarrier_init", "inval": "warploom.mbarrier_inval", "arrive": "warploom.mbarrier",
    "expect_tx": "warploom.mbarrier",
}  # fmt: skip
"""Native functions of the actions on mbarriers (see `mbarriers`)."""


class SynchronisedWarp(TracedWarp):
    """Traced warp with the barriers of CTAs and clusters, and with mbarriers."""

    def cta_barrier(self, number: TracedLanes, threads: TracedLanes | None, mode: str) -> None:
        """Arrive at a CTA barrier, and also wait if `mode` is "sync"."""
        self.arrive(number, threads, Mode.WAIT if mode == "sync" else Mode.ARRIVE)

    def arrive(self, number: TracedLanes, threads: TracedLanes | None, mode: Mode) -> None:
        """Arrive at a CTA barrier. The interpreter takes over if native code cannot execute the arrivals."""
        self.converged_only = True
        builder = self.builder
        kinds = [POINTER, I64, I32, I64, I64]
        lane = builder.cttz(self.mask, I1(0))
        expected = I64(-1) if threads is None else builder.extract_element(threads.astype(_U64).value, lane)
        barrier = builder.extract_element(number.astype(np.uint32).value, lane)
        arguments = [self.context, self.position, barrier, expected, I64(mode)]
        self.leaving = self.refusing
        self._require(builder.call(self._declare("warploom.barrier", I1, kinds), arguments))

    def cluster_arrive(self) -> None:
        """Arrive at the cluster barrier."""
        self._at_cluster_barrier("warploom.cluster_arrive")

    def cluster_wait(self) -> None:
        """Wait at the cluster barrier."""
        self._at_cluster_barrier("warploom.cluster_wait")

    def _at_cluster_barrier(self, name: str) -> None:
        self.leaving = self.refusing
        self._require(self.builder.call(self._declare(name, I1, [POINTER, I64]), [self.context, self.position]))

    def mbarrier(
        self, space: str, addresses: TracedLanes, action: str, amount: TracedLanes | int = 0,
        transactions: TracedLanes | int = 0,
    ) -> TracedLanes:  # fmt: skip
        """Initialise or invalidate an mbarrier, arrive at it, or expect bytes. Return the state tokens.

        Leave the instruction to the interpreter in three cases: the active lanes use several mbarriers, several lanes
        are active and their counts may differ, or an arrival has the count 0.
        """
        function = _MBARRIER_FUNCTIONS.get(action)
        if function is None:
            raise TraceError(f"the action {action} on an mbarrier is not implemented in native code")
        builder = self.builder
        where = "shared::cluster" if space in ("", "shared::cluster") else "shared"
        low, high = self._extent(self._reach(where, self._shared_addresses(space, addresses), self.lanes, 8, True))
        active = builder.zext(builder.ctpop(self.mask), I64)
        given = [self._total(each, active) for each in (amount, transactions)]
        varies = any(isinstance(each, TracedLanes) for each in (amount, transactions))
        together = builder.icmp_unsigned("<=", active, I64(1)) if varies else builder.icmp_unsigned("==", low, high)
        if action == "arrive":  # native code records arrivals only if they change the count
            together = builder.and_(together, builder.icmp_unsigned("!=", given[0], I64(0)))
        idle = builder.icmp_unsigned("==", active, I64(0))
        used, arriving, following = (builder.append_basic_block(name) for name in ("used", "arriving", "arrived"))
        token = builder.variable(I64(0))
        builder.cbranch(idle, following, used)
        builder.position_at_end(used)
        builder.store(builder.load(builder.inttoptr(low, POINTER), typ=I64), token)
        builder.cbranch(together, arriving, self.leaving)
        builder.position_at_end(arriving)
        accepted = builder.call(self._declare(function, I1, [POINTER, I64, I64, I64]), [self.context, low, *given])
        builder.cbranch(accepted, following, self.leaving)
        builder.position_at_end(following)
        words = TracedLanes(builder, broadcast(builder, builder.load(token, typ=I64)), _U64)
        return words if varies else words - (self._rank() << np.uint64(PENDING)) * np.uint64(action == "arrive")

    def _extent(self, places: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return the lowest and the highest of the pointers of the active lanes, as numbers."""
        numbers = TracedLanes(self.builder, self.builder.ptrtoint(places, _I64S), _U64)
        lowest, highest = (numbers.constant(value, _U64) for value in (0xFFFF_FFFF_FFFF_FFFF, 0))
        low = self._reduce("umin", self.lanes.select(numbers, lowest))
        return low, self._reduce("umax", self.lanes.select(numbers, highest))

    def _shared_addresses(self, space: str, addresses: TracedLanes) -> TracedLanes:
        """Return the shared addresses of mbarriers, given addresses in `space`."""
        wide = addresses.astype(_U64)
        return wide if space else wide - np.uint64(SHARED_WINDOW)

    def _total(self, amount: TracedLanes | int, active: ir.Value) -> ir.Value:
        """Return the sum of a number over the active lanes, of which there are `active`."""
        if isinstance(amount, int):
            return self.builder.mul(I64(amount), active)
        return self._reduce("add", self.lanes.select(amount.astype(_U64), self.lanes.constant(0, _U64)))

    def _rank(self) -> TracedLanes:
        """Return the number of active lanes below each lane."""
        lower = self.lanes.constant((1 << np.arange(LANES, dtype=np.uint64)) - 1, np.dtype(np.uint32))
        mask = TracedLanes(self.builder, broadcast(self.builder, self.mask), np.dtype(np.uint32)) & lower
        kind = mask.value.type
        count = self._declare(f"llvm.ctpop.v{LANES}i32", kind, [kind])
        return TracedLanes(self.builder, self.builder.call(count, [mask.value]), np.dtype(np.uint32)).astype(_U64)

    def mbarrier_wait(
        self, space: str, addresses: TracedLanes, phase: TracedLanes, parity: bool, blocking: bool, result: Any
    ) -> None:
        """Test a phase of mbarriers, and suspend the warp if `blocking` is set and the phase is not complete.

        Leave the instruction to the interpreter in these cases: an mbarrier is not initialised, a warp must wait for
        several mbarriers, or waits may return early.
        """
        builder = self.builder
        if blocking:  # the interpreter then tests all warps of the batch; a repeated test gives the same results
            self.leaving = self.refusing
        places = self._reach("shared", self._shared_addresses(space, addresses), self.lanes, 8, False)
        (words,) = self._gather(places, self.lanes, _U64)
        high = words >> np.uint64(PHASE)
        wide = phase.astype(_U64)
        expected = (wide if parity else wide >> np.uint64(PHASE)) & np.uint64(1)
        done = (high & np.uint64(1)) != expected
        unready = self._reduce_mask((high < INITIALISED) & self.lanes)
        goes_on = builder.icmp_unsigned("==", unready, I32(0))
        if not blocking:
            self._require(goes_on)
            self.write(result, done)
            return
        low, high = self._extent(places)
        complete = builder.icmp_unsigned("!=", self._reduce_mask(done & self.lanes), I32(0))
        may_suspend = builder.and_(self._field(Field.BLOCKING_WAITS), self._field(Field.SUSPENDS))
        waits = builder.and_(builder.icmp_signed("!=", may_suspend, I64(0)), builder.icmp_unsigned("==", low, high))
        is_plain = builder.icmp_signed("!=", self._field(Field.PLAIN_WAITS), I64(0))
        self._require(builder.and_(goes_on, builder.and_(is_plain, builder.or_(complete, waits))))
        events = builder.array(self.context, Field.EVENTS)
        with builder.if_else(complete) as (succeeds, suspends):
            with succeeds:
                builder.put(I64(NONE), events, self.position)
                self.write(result, done)
            with suspends:
                number = builder.lshr(builder.sub(low, self._field(Field.SHARED)), I64(3))
                builder.put(event_number(builder, number, Event.MBARRIER), events, self.position)
                builder.count(self.context, Field.SUSPENDED, 1)
