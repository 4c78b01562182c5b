"""A batch: the warps that execute one instruction together, as meanings see them (isa.protocol.Warps).

A batch is a set of strands at one program counter. When their warps are a run in the register file, reading
a register is a view and writing needs no scatter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Fault
from warploom.emulator.memory import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_SIZE, Place
from warploom.emulator.strands import State
from warploom.isa.model.types import TYPES
from warploom.layout import Order

if TYPE_CHECKING:
    from warploom.emulator.emulator import Machine

Array = NDArray[Any]
Lanes = NDArray[np.bool_]
Rows = NDArray[np.intp]


class Batch:
    """Warps at one instruction. `mask` is None when all lanes of all warps take part."""

    __slots__ = (
        "_groups",
        "_place",
        "base",
        "count",
        "has_warpgroups",
        "is_run",
        "machine",
        "mask",
        "rows",
        "warp_index",
        "warps",
    )

    def __init__(self, machine: Machine, rows: Rows, warp_index: Rows, mask: Lanes | None) -> None:
        self.machine = machine
        self.rows = rows  # strand slots; empty for a batch made by an asynchronous engine
        self.base: Lanes | None = mask  # lanes of the strands, before the guard
        self.mask: Lanes | None = mask
        self.select(warp_index)

    def select(self, warp_index: Rows) -> None:
        """Set the warps of the batch."""
        self.warp_index = warp_index
        self.count = len(warp_index)
        first = int(warp_index[0]) if self.count else 0
        spans = bool(self.count) and int(warp_index[-1]) - first + 1 == self.count
        # Warps are in order as long as none has diverged.
        self.is_run = spans and (not self.machine.strands.diverged or bool((np.diff(warp_index) == 1).all()))
        self.warps: slice | Rows = slice(first, first + self.count) if self.is_run else warp_index
        self._place: Place | None = None
        self._groups: NDArray[np.intp] | None = None
        self.has_warpgroups = False  # whether all warps are known to be here with their warpgroups

    @property
    def arch(self) -> str:
        """The architecture whose numerics hold."""
        return self.machine.arch

    @property
    def place(self) -> Place:
        """Warp and CTA numbers of the batch."""
        if self._place is None:
            self._place = Place(self.warp_index.astype(np.int64), self.machine.cta_of[self.warp_index])
        return self._place

    # Guard and narrowing ----------------------------------------------------------------------------------

    def guard(self, predicate: Array) -> bool:
        """Restrict to the lanes where the predicate holds; False when none is left."""
        if self.base is None:
            if predicate.all():
                return True
            # A copy: the instruction may write the predicate's register.
            lanes = np.broadcast_to(predicate, (self.count, 32)).copy()
        else:
            lanes = predicate & self.base
        if not lanes.any():
            return False
        self.mask = lanes
        return True

    def unguard(self) -> None:
        """Back to all lanes of the strands."""
        self.mask = self.base

    def suspend(self, which: NDArray[np.bool_], pc: int, state: int) -> Rows:
        """Take strands out of the batch, to go on at `pc` when they are woken; returns their slots."""
        strands = self.machine.strands
        if self.machine.watch is not None:
            self.machine.watch.suspended(self, which, state, pc == self.machine.pc)
        rows = self.rows[which]
        strands.state[rows] = state
        strands.pc[rows] = pc
        stay = ~which
        guarded = self.mask is not self.base
        if guarded and self.mask is not None:
            self.mask = self.mask[stay]
        if self.base is not None:
            self.base = self.base[stay]
        if not guarded:
            self.mask = self.base
        self.rows = self.rows[stay]
        self.select(self.warp_index[stay])
        return rows

    def dismiss_idle(self, pc: int) -> None:
        """Take strands none of whose lanes passed the guard out of the batch; they go on at `pc`."""
        if self.mask is not None and self.mask is not self.base:
            idle = np.logical_not(np.any(self.mask, axis=1))
            if idle.any():
                self.suspend(idle, pc, State.READY)

    def single(self, position: int, lanes: Lanes) -> Batch:
        """One warp of the batch, with some of its lanes."""
        return Batch(
            self.machine,
            self.rows[position : position + 1],
            self.warp_index[position : position + 1],
            lanes[None],
        )

    def active(self) -> Lanes:
        """The lanes that take part. Shapes: (warps, 32)."""
        return np.ones((self.count, 32), np.bool_) if self.mask is None else self.mask

    # Registers --------------------------------------------------------------------------------------------

    def read(self, value: Any) -> Array:
        """An operand in the dtype of its type."""
        return value.fetch(self)

    def read_vector(self, value: Any) -> Array:
        """All registers of a vector. Shapes: (registers, warps, 32)."""
        return value.fetch_all(self)

    def write(self, value: Any, result: Array) -> None:
        """Write the active lanes of a destination (None is the sink)."""
        if value is not None:
            value.put(self, result)

    def write_vector(self, value: Any, results: Array) -> None:
        """Write every register of a vector."""
        value.put_all(self, results)

    def read_fragment(self, value: Any, order: Order) -> Array:
        """The matrix that each warp, or each warpgroup, holds in a vector. Shapes: (warps or warpgroups, units)."""
        units = value.gather(self, order, self._by_matrix(order))
        return units.reshape(self.count // order.warps, -1)

    def write_fragment(self, value: Any, order: Order, units: Array) -> None:
        """Write the matrix of each warp, or each warpgroup."""
        value.scatter(self, order, self._by_matrix(order), units.reshape(self.count, -1))

    def update_fragment(
        self, value: Any, order: Order, change: Callable[[Array], Sequence[Callable[[], object]]]
    ) -> None:
        """Change the matrix that each warpgroup holds, in place."""
        accumulators = self.machine.accumulators
        if self.mask is None and value.run is not None:
            groups = self.machine.warpgroup_of[self.warp_index[self.warpgroups()[:, 0]]]
            accumulators.update(value, order, groups, change)
            return
        accumulators.settle()
        units = self.read_fragment(value, order)
        for work in change(units):
            work()
        self.write_fragment(value, order, units)

    def _by_matrix(self, order: Order) -> Rows | slice:
        """Positions of the warps as their matrices stand one upon the other."""
        return slice(None) if order.warps == 1 else self.warpgroups().reshape(-1)

    def read_carry(self) -> Array:
        """The condition-code carry of each thread. Shapes: (warps, 32)."""
        return self.machine.carry[self.warps]

    def write_carry(self, carry: Array) -> None:
        """Set the carry of the active lanes."""
        held = self.machine.carry[self.warp_index]
        self.machine.carry[self.warp_index] = np.where(self.active(), carry, held)

    # Memory -----------------------------------------------------------------------------------------------

    def addresses(self, value: Any) -> NDArray[np.uint64]:
        """Effective addresses of an address operand."""
        return value.effective(self)

    def load(
        self, space: str, addresses: Array, type: str, count: int = 1, lanes: Lanes | None = None
    ) -> Array:
        """Load `count` consecutive elements per active lane."""
        mask = self.active() if lanes is None else self.active() & lanes
        memory = self.machine.memory
        if space.startswith("param"):
            addresses = self._whole_parameter(addresses)
        return memory.load(_memory_of(space), self.place, addresses, mask, TYPES[type].dtype, count)

    def store(
        self, space: str, addresses: Array, type: str, values: Array, lanes: Lanes | None = None
    ) -> None:
        """Store `count` consecutive elements per active lane."""
        mask = self.active() if lanes is None else self.active() & lanes
        dtype = TYPES[type].dtype
        if values.dtype != dtype:
            values = values.view(dtype) if values.dtype.itemsize == dtype.itemsize else values.astype(dtype)
        self.machine.memory.store(_memory_of(space), self.place, addresses, mask, values)

    def atomic(
        self, space: str, addresses: Array, op: str, type: str, values: Array, compares: Array | None = None
    ) -> Array:
        """Read-modify-write, lane after lane where addresses collide. Returns the old values."""
        mask = self.active()
        dtype = TYPES[type].dtype
        given = self._patterns(values, dtype)
        wanted = given if compares is None else self._patterns(compares, dtype)
        wide = np.broadcast_to(addresses, mask.shape)
        memory = self.machine.memory
        return memory.atomic(_memory_of(space), self.place, wide, mask, op, type, given, wanted).view(dtype)

    def _patterns(self, values: Array, dtype: np.dtype[Any]) -> Array:
        """Operands as unsigned numbers, one for each lane."""
        wide = np.broadcast_to(values.astype(dtype, copy=False), (self.count, 32))
        return np.ascontiguousarray(wide).view(f"u{dtype.itemsize}")

    def to_generic(self, space: str, addresses: Array) -> Array:
        """Generic addresses of addresses in a state space."""
        wide = addresses.astype(np.uint64)
        if space.startswith("shared"):
            return wide + np.uint64(SHARED_WINDOW)
        if space.startswith("param"):
            return self._whole_parameter(wide)
        return wide + np.uint64(LOCAL_WINDOW) if space == "local" else wide

    def _whole_parameter(self, addresses: Array) -> Array:
        """Addresses of kernel parameters, of which compilers may keep the lower 32 bits only."""
        wide = addresses.astype(np.uint64)
        start = np.uint64(self.machine.parameter_block)
        near = start + (wide - start & np.uint64(0xFFFF_FFFF))
        return np.where(wide >> np.uint64(32) == 0, near, wide)

    def from_generic(self, space: str, addresses: Array) -> Array:
        """Addresses in a state space of generic addresses."""
        wide = addresses.astype(np.uint64)
        if space.startswith("shared"):
            return wide - np.uint64(SHARED_WINDOW)
        return wide - np.uint64(LOCAL_WINDOW) if space == "local" else wide

    def is_space(self, space: str, addresses: Array) -> Lanes:
        """Whether generic addresses fall in a state space."""
        wide = addresses.astype(np.uint64)
        if space.startswith("shared"):
            inside = (wide >= SHARED_WINDOW) & (wide < SHARED_WINDOW + WINDOW_SIZE)
            if space == "shared::cta":
                own = self.machine.memory.rank[self.place.cta][:, None].astype(np.uint64)
                inside = inside & (((wide - np.uint64(SHARED_WINDOW)) >> np.uint64(24)) == own)
            return inside
        if space == "local":
            return (wide >= LOCAL_WINDOW) & (wide < LOCAL_WINDOW + WINDOW_SIZE)
        return self.machine.is_global(space, wide)

    def map_rank(self, addresses: Array, rank: Array, generic: bool) -> Array:
        """The address of the same offset in the CTA of the cluster with this rank."""
        wide = addresses.astype(np.uint64)
        window = np.uint64(SHARED_WINDOW if generic else 0)
        offset = (wide - window) & np.uint64(0xFF_FFFF)
        return window + offset + (rank.astype(np.uint64) << np.uint64(24))

    def rank_of(self, addresses: Array, generic: bool) -> Array:
        """The cluster rank of the CTA that owns a shared address."""
        wide = addresses.astype(np.uint64) - np.uint64(SHARED_WINDOW if generic else 0)
        return (wide >> np.uint64(24)).astype(np.uint32)

    def shared_tile(
        self,
        starts: Array,
        offsets: Array,
        swizzle: int,
        base_offset: int,
        groups: NDArray[np.intp] | slice,
        down: bool,
    ) -> Array:
        """Matrices in shared memory, side by side or one below the other, for some warpgroups of the batch."""
        leaders = self.warpgroups()[groups, 0]
        return self.machine.memory.tile(
            self.place.cta[leaders], leaders, starts, offsets, swizzle, base_offset, down
        )

    # Control ----------------------------------------------------------------------------------------------

    def branch(self, target: int) -> None:
        """The active lanes go to a program counter, the others fall through."""
        self.machine.control.branch(self, target)

    def branch_table(self, table: Array, index: Array) -> None:
        """Each active lane goes to its entry of a table of program counters."""
        self.machine.control.branch_table(self, table, np.broadcast_to(index, (self.count, 32)))

    def call(self, function: Any, results: Any, arguments: Any) -> None:
        """Call a device function."""
        self.machine.control.call(self, function, results, arguments)

    def leave(self, whole_kernel: bool) -> None:
        """The active lanes return from the function, or leave the kernel."""
        self.machine.control.leave(self, whole_kernel)

    def trap(self, reason: str) -> None:
        """Stop the kernel."""
        lane = int(np.flatnonzero(self.active())[0])
        raise Fault("emulator.trap", reason, lane)

    # Synchronisation --------------------------------------------------------------------------------------

    def gather_members(self, members: Array, anywhere: bool = False) -> None:
        """Every lane of the member mask must be here."""
        self.machine.control.gather_members(self, members, anywhere)

    def gather_warp(self) -> None:
        """Every live lane of each warp must be here."""
        self.machine.control.gather_warps(self)
        self.machine.control.check_whole(self)

    def cta_barrier(self, number: Array, threads: Array | None, mode: str) -> None:
        """Arrive at a CTA barrier."""
        self.machine.barriers.arrive(self, number, threads, mode == "sync")

    def cta_reduce(
        self, number: Array, threads: Array | None, predicate: Lanes, mode: str, result: Any
    ) -> None:
        """Arrive at a CTA barrier that reduces a predicate."""
        self.machine.barriers.reduce(self, number, threads, predicate, mode, result)

    def cluster_arrive(self) -> None:
        """Arrive at the cluster barrier."""
        self.machine.barriers.cluster_arrive(self)

    def cluster_wait(self) -> None:
        """Suspend until every live thread of the cluster has arrived."""
        self.machine.barriers.cluster_wait(self)

    def change_registers(self, count: int, take: bool) -> None:
        """Take registers of the CTA's pool, or release some."""
        self.machine.pools.change(self, count, take)

    def mbarrier(
        self,
        space: str,
        addresses: Array,
        action: str,
        amount: Array | int = 0,
        transactions: Array | int = 0,
    ) -> Array:
        """Act on mbarrier objects; returns the state tokens before the action."""
        return self.machine.mbarriers.act(self, _memory_of(space), addresses, action, amount, transactions)

    def mbarrier_wait(
        self, space: str, addresses: Array, phase: Array, parity: bool, blocking: bool, result: Any
    ) -> None:
        """Test for the completion of a phase."""
        self.machine.mbarriers.wait(self, _memory_of(space), addresses, phase, parity, blocking, result)

    def pending_count(self, states: Array) -> Array:
        """The pending arrivals that state tokens recorded."""
        return self.machine.mbarriers.pending(states)

    # Asynchronous engines ---------------------------------------------------------------------------------

    def defer(
        self, channel: str, action: Callable[[Any, Mapping[str, Array]], None], captured: Mapping[str, Array]
    ) -> None:
        """Queue an action of the active lanes."""
        self.machine.engines.defer(self, channel, action, captured)

    def commit(self, channel: str) -> None:
        """Close the current group of a channel."""
        self.machine.engines.commit(self, channel)

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        """Complete all but the `pending` newest groups of a channel."""
        self.machine.engines.wait(self, channel, pending, read_only)

    def bulk(self, request: Any) -> None:
        """Hand one request per active lane to the copy engine."""
        self.machine.engines.bulk(self, request)

    def prefetch(self, request: Any) -> None:
        """Check one tensor copy per active lane."""
        self.machine.engines.copier.prefetch(self, request)

    def warpgroups(self) -> NDArray[np.intp]:
        """Positions in the batch of the four warps of each warpgroup. Shapes: (groups, 4)."""
        if self._groups is None:
            self._groups = self.machine.warpgroups(self.warp_index)
        return self._groups

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """What `work` returns for each item."""
        pool = self.machine.pool
        return (
            [work(item) for item in items]
            if pool is None or len(items) < 2
            else list(pool.pool.map(work, items))
        )

    def pool(self) -> Any:
        """The worker pool that arithmetic may use."""
        return self.machine.pool

    def count_macs(self, macs: int) -> None:
        """Add multiply-accumulates to the statistics."""
        self.machine.macs += macs


def _memory_of(space: str) -> str:
    """The memory behind a state-space word; parameters are addressed generically."""
    return "" if space.startswith("param") else space
