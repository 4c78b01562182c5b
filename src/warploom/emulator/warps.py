"""Batch of warps with the interface of instruction semantics (`isa.model.semantics.Warps`)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator import address_space
from warploom.emulator.accumulators import Accumulators
from warploom.emulator.address_space import SHARED_WINDOW
from warploom.emulator.async_operations import AsyncOperations
from warploom.emulator.barriers import Barriers
from warploom.emulator.batch import Batch
from warploom.emulator.control import Control
from warploom.emulator.faults import Fault, refuse
from warploom.emulator.grid_dependencies import GridDependencies
from warploom.emulator.mbarriers import Mbarriers
from warploom.emulator.memory import Memory
from warploom.emulator.register_pools import RegisterPools
from warploom.emulator.state import State
from warploom.emulator.tensor_memory.pipeline import TensorPipeline
from warploom.emulator.tile_products import TileProducts
from warploom.isa.model.records import CopyRecord, TensorCopy, ThreadCopy
from warploom.isa.model.semantics import Array, Lanes
from warploom.isa.model.tensor_memory import TensorRecord, TensorTransfer
from warploom.isa.model.types import TYPES
from warploom.layout import Order
from warploom.lazy_dataclass import dataclass
from warploom.numerics.fused import Workers
from warploom.numerics.tile_products import DIFFERENT

Rows = NDArray[np.intp]


_LANE = np.arange(32)[None, :]


def copy_elements(size: int) -> tuple[str, int]:
    """Return the element type and the element count of one access that copies `size` bytes: 4, 8 or 16."""
    return {4: ("b32", 1), 8: ("b64", 1), 16: ("b64", 2)}[size]


@dataclass(slots=True)
class Components:
    """Components of the emulator that execute the requests of an instruction."""

    arch: str  # selects the numerics
    parameters: int  # address of the kernel's parameter block
    workers: Workers | None
    accumulators: Accumulators
    memory: Memory
    control: Control
    barriers: Barriers
    mbarriers: Mbarriers
    pools: RegisterPools
    asynchronous: AsyncOperations
    tensor: TensorPipeline
    grids: GridDependencies


class Warps(Batch):
    """Batch of warps with the methods that semantics functions may call."""

    __slots__ = ("components",)

    def __init__(self, state: State, components: Components, rows: Rows, warp_index: Rows, mask: Lanes | None) -> None:
        super().__init__(state, rows, warp_index, mask)
        self.components = components

    @property
    def arch(self) -> str:
        """Architecture that selects the numerics, such as "sm_90a"."""
        return self.components.arch

    def update_fragment(
        self, value: Any, order: Order, change: Callable[[Array], Sequence[Callable[[], object]]],
        cleared: NDArray[np.bool_] | None,
    ) -> None:  # fmt: skip
        """Update the matrices of all warpgroups of the batch. See `Accumulators.update`."""
        accumulators = self.components.accumulators
        if self.mask is None and value.file is not None:
            groups = self.state.topology.warpgroup_of[self.warp_index[self.warpgroups()[:, 0]]]
            accumulators.update(value, order, groups, change, cleared)
            return
        accumulators.flush()
        units = self.read_fragment(value, order)
        if cleared is not None:
            units[cleared] = 0
        for work in change(units):
            work()
        self.write_fragment(value, order, units)

    def multiply_tiles(
        self, products: TileProducts, targets: Sequence[tuple[Any, Order]], descriptors: Mapping[str, Array],
        registers: Array | None, keeps: Array,
    ) -> bool:  # fmt: skip
        """Add products of matrices in shared memory to accumulators. Return False if no compiled call does it.

        `targets` has the registers of the accumulators of each chain. The other arguments are those of
        `TileProducts.execute`.

        Errors: Fault emulator.out-of-bounds.
        """
        if self.mask is not None or any(value.file is None for value, _ in targets):
            return False
        leaders = self.warpgroups()[:, 0]
        groups = self.state.topology.warpgroup_of[self.warp_index[leaders]]
        memory, accumulators = self.components.memory, self.components.accumulators
        sums = accumulators.locate(targets, groups, keeps)
        found = products.execute(memory.shared, self.location.cta[leaders], descriptors, registers, sums, keeps)
        if found == DIFFERENT:
            return False
        if found >= 0:
            raise memory.fault_of_tile(*products.tile(found, descriptors, leaders))
        accumulators.mark_current(targets, groups)
        return True

    # Memory -----------------------------------------------------------------------------------------------

    def load(self, space: str, addresses: Array, type: str, count: int = 1, lanes: Lanes | None = None) -> Array:
        """Load `count` consecutive elements for each active lane. Other lanes receive 0.

        `lanes` restricts the active lanes. Shapes: result (count, warps, 32), addresses (warps, 32) or broadcastable.
        """
        mask = self.active() if lanes is None else self.active() & lanes
        if space.startswith("param"):
            addresses = address_space.in_parameter_block(np.uint64(self.components.parameters), addresses)
        dtype = TYPES[type].dtype
        return self.components.memory.load(_memory_of(space), self.location, addresses, mask, dtype, count)

    def store(self, space: str, addresses: Array, type: str, values: Array, lanes: Lanes | None = None) -> None:
        """Store consecutive elements for each active lane. `lanes` restricts the active lanes.

        Shapes: values (count, warps, 32) or broadcastable.
        """
        mask = self.active() if lanes is None else self.active() & lanes
        dtype = TYPES[type].dtype
        if values.dtype != dtype:
            values = values.view(dtype) if values.dtype.itemsize == dtype.itemsize else values.astype(dtype)
        self.components.memory.store(_memory_of(space), self.location, addresses, mask, values)

    def load_rows(self, space: str, addresses: Array, rows: int) -> NDArray[np.uint8]:
        """Load 16 bytes from the address of each of the lanes 0 to `rows` - 1. An inactive lane gives zeros.

        Shapes: the result is (warps, rows, 16).
        """
        words = self.load(space, addresses, "b32", 4, lanes=rows > _LANE)
        return np.ascontiguousarray(words.transpose(1, 2, 0)[:, :rows]).view(np.uint8)

    def store_rows(self, space: str, addresses: Array, rows: NDArray[np.uint8]) -> None:
        """Store row i, which has 16 bytes, at the address of lane i if this lane is active."""
        count = rows.shape[1]
        words = np.zeros((4, self.count, 32), np.uint32)
        words[:, :, :count] = np.ascontiguousarray(rows).view(np.uint32).transpose(2, 0, 1)
        self.store(space, addresses, "b32", words, lanes=count > _LANE)

    def discard(self, addresses: Array, size: int) -> None:
        """Make `size` bytes of global memory at the address of each active lane undetermined."""
        self.components.memory.discard(self.location, addresses, self.active(), size)

    def atomic(
        self, space: str, addresses: Array, op: str, type: str, values: Array, compares: Array | None = None
    ) -> Array:
        """Apply an atomic operation for one active lane after the other. Return the old values.

        `compares` contains the expected values of compare-and-swap. Shapes: (warps, 32) or broadcastable.
        """
        mask = self.active()
        dtype = TYPES[type].dtype
        given = self._patterns(values, dtype)
        expected = given if compares is None else self._patterns(compares, dtype)
        wide = np.broadcast_to(addresses, mask.shape)
        memory = self.components.memory
        old = memory.atomic(_memory_of(space), self.location, wide, mask, op, type, given, expected)
        return old.view(dtype)

    def _patterns(self, values: Array, dtype: np.dtype[Any]) -> Array:
        wide = np.broadcast_to(values.astype(dtype, copy=False), (self.count, 32))
        return np.ascontiguousarray(wide).view(dtype if dtype.kind == "V" else f"u{dtype.itemsize}")

    def shared_tile(
        self, descriptors: Array, offsets: Array, swizzle: int, base_offset: int, groups: Rows | slice,
        transposed: bool,
    ) -> Array:  # fmt: skip
        """Return the matrices of some warpgroups in shared memory. See `Memory.tile`.

        `groups` contains the numbers of the warpgroups in the batch.
        """
        leaders = self.warpgroups()[groups, 0]
        return self.components.memory.tile(
            self.location.cta[leaders], leaders, descriptors, offsets, swizzle, base_offset, transposed
        )

    # Addresses --------------------------------------------------------------------------------------------

    def to_generic(self, space: str, addresses: Array) -> Array:
        """Return the generic addresses that correspond to addresses in a state space."""
        if space.startswith("param"):
            return address_space.in_parameter_block(np.uint64(self.components.parameters), addresses)
        return address_space.to_generic(space, addresses)

    def from_generic(self, space: str, addresses: Array) -> Array:
        """Return the addresses in a state space that correspond to generic addresses."""
        return address_space.from_generic(space, addresses)

    def in_shared(self, addresses: Array, code: str, what: str) -> Array:
        """Return the addresses in shared memory of generic addresses. Errors: Fault `code`."""
        outside = self.active() & ~address_space.in_window("shared", addresses)
        refuse(code, outside, what + " is at generic address {:#x}, which is not in shared memory", addresses)
        return address_space.from_generic("shared", addresses)

    def is_space(self, space: str, addresses: Array) -> Lanes:
        """Return a mask of the generic addresses that are in a state space."""
        wide = addresses.astype(np.uint64)
        memory = self.components.memory
        if space.startswith("shared"):
            inside = address_space.in_window(space, wide)
            if space == "shared::cta":
                own = memory.shared.rank[self.location.cta][:, None].astype(np.uint64)
                inside = inside & (((wide - np.uint64(SHARED_WINDOW)) >> np.uint64(24)) == own)
            return inside
        if space == "local":
            return address_space.in_window(space, wide)
        return memory.arena.in_segments(space, wide)

    def map_rank(self, addresses: Array, rank: Array, generic: bool) -> Array:
        """Return the shared addresses with the same offsets in the CTA of cluster rank `rank`.

        `generic` marks generic addresses.
        """
        return address_space.map_rank(addresses, rank, generic)

    def rank_of(self, addresses: Array, generic: bool) -> Array:
        """Return the cluster rank of the CTA of each shared address. `generic` marks generic addresses."""
        return address_space.rank_of(addresses, generic)

    # Control ----------------------------------------------------------------------------------------------

    def branch(self, target: Any) -> None:
        """Continue the active lanes at `target`, and the other lanes at the next instruction."""
        self.components.control.branch(self, target)

    def branch_table(self, table: Any, index: Array) -> None:
        """Continue each active lane at `table[index]`, and the other lanes at the next instruction."""
        self.components.control.branch_table(self, table, np.broadcast_to(index, (self.count, 32)))

    def call(self, function: Any, results: Any, arguments: Any) -> None:
        """Call a device function with the active lanes. See `Control.call`."""
        self.components.control.call(self, function, results, arguments)

    def leave(self, whole_kernel: bool) -> None:
        """Let the active lanes return from their device function. See `Control.leave`."""
        self.components.control.leave(self, whole_kernel)

    def trap(self, reason: str) -> None:
        """Stop the kernel with the message `reason`."""
        lane = int(np.flatnonzero(self.active())[0])
        raise Fault("emulator.trap", reason, lane)

    # Synchronisation --------------------------------------------------------------------------------------

    def gather_members(self, members: Array) -> None:
        """Suspend warp splits until all live lanes of their member mask arrive."""
        self.components.control.reconverge_members(self, members)

    def warp_barrier(self, members: Array) -> None:
        """Wait for all live lanes of the member mask at a warp barrier. See `Control.warp_barrier`."""
        self.components.control.warp_barrier(self, members)

    def gather_warp(self) -> None:
        """Suspend warp splits at an `.aligned` instruction until all live lanes of their warp arrive.

        Errors: Fault emulator.aligned if the guard of the instruction excludes some lanes of a warp split.
        """
        self.components.control.reconverge_warps(self)
        self.components.control.check_aligned(self)

    def cta_barrier(self, number: Array, threads: Array | None, mode: str) -> None:
        """Arrive at a CTA barrier, and also wait if `mode` is "sync". See `Barriers.arrive`."""
        self.components.barriers.arrive(self, number, threads, mode == "sync")

    def cta_reduce(self, number: Array, threads: Array | None, predicate: Lanes, mode: str, result: Any) -> None:
        """Wait at a CTA barrier, and reduce a predicate over its threads. See `Barriers.reduce`."""
        self.components.barriers.reduce(self, number, threads, predicate, mode, result)

    def cluster_arrive(self) -> None:
        """Arrive at the cluster barrier with the active lanes."""
        self.components.barriers.cluster_arrive(self)

    def cluster_wait(self) -> None:
        """Wait at the cluster barrier with the active lanes."""
        self.components.barriers.cluster_wait(self)

    def grid_control(self, kind: str) -> None:
        """Trigger dependent grids, or wait for prerequisite grids. See `GridDependencies.control`."""
        self.components.grids.control(self, kind)

    def stack_pointer(self) -> Array:
        """Return the stack pointers of all lanes."""
        return self.components.control.stacks.pointers[self.warps]

    def move_stack(self, pointers: Array) -> None:
        """Set the stack pointers of the active lanes (see `Stacks.move`)."""
        self.components.control.stacks.move(self, pointers)

    def change_registers(self, count: int, take: bool) -> None:
        """Change the registers of each warp to `count` per thread (see `RegisterPools.change`)."""
        self.components.pools.change(self, count, take)

    def mbarrier(
        self, space: str, addresses: Array, action: str, amount: Array | int = 0, transactions: Array | int = 0
    ) -> Array:
        """Apply an action to mbarriers. Return their previous state tokens (see `Mbarriers.act`)."""
        mbarriers = self.components.mbarriers
        return mbarriers.act(self, _memory_of(space), addresses, action, amount, transactions)

    def mbarrier_wait(
        self, space: str, addresses: Array, phase: Array, parity: bool, blocking: bool, result: Any
    ) -> None:
        """Test a phase of mbarriers, and wait if `blocking` is set. See `Mbarriers.wait`."""
        mbarriers = self.components.mbarriers
        mbarriers.wait(self, _memory_of(space), addresses, phase, parity, blocking, result)

    def pending_count(self, states: Array) -> Array:
        """Return the number of pending arrivals in each state token."""
        return self.components.mbarriers.pending(states)

    # Asynchronous operations ------------------------------------------------------------------------------

    def defer(
        self, channel: str, action: Callable[[Any, Mapping[str, Array]], None], captured: Mapping[str, Array]
    ) -> None:
        """Queue an operation of the active lanes. See `AsyncOperations.defer`."""
        self.components.asynchronous.defer(self, channel, action, captured)

    def commit(self, channel: str) -> None:
        """Commit operations of the active lanes as one group. See `AsyncOperations.commit`."""
        self.components.asynchronous.commit(self, channel)

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        """Complete committed groups, except the `pending` newest groups. See `AsyncOperations.wait`."""
        self.components.asynchronous.wait(self, channel, pending, read_only)

    def issue(self, record: CopyRecord) -> None:
        """Issue the copies that a record describes, one for each active lane."""
        if isinstance(record, ThreadCopy):
            self.components.memory.report_thread_copy(self.location, record, self.active())
            captured = {"source": record.source, "destination": record.destination, "amount": record.amount}
            self.components.asynchronous.defer(self, "copy", partial(execute_thread_copy, record.size), captured)
        else:
            self.components.asynchronous.bulk(self, record)

    def prefetch(self, request: TensorCopy) -> None:
        """Check the tensor prefetch of the active lanes. A prefetch has no other effect."""
        self.components.asynchronous.executor.prefetch(self, request)

    # Tensor memory ----------------------------------------------------------------------------------------

    def first_lane(self, values: Array, what: str) -> Array:
        """Return the value that all lanes of each warp have. Errors: Fault emulator.tensor-allocation."""
        wide = np.broadcast_to(values, (self.count, 32))
        message = f"the {what} differs between the threads of a warp: {{:#x}} is one of its values; expected one value"
        refuse("emulator.tensor-allocation", wide != wide[:, :1], message, wide)
        return wide[:, 0]

    def allocate_tensor_memory(self, columns: Array, ctas: int) -> Array:
        """Allocate columns for each warp, and return their addresses. See `TensorAllocator.allocate`."""
        return self.components.tensor.allocator.allocate(self, columns.astype(np.int64), ctas)

    def release_tensor_memory(self, addresses: Array, columns: Array, ctas: int) -> None:
        """Release the columns at an address, for each warp. See `TensorAllocator.release`."""
        self.components.tensor.allocator.release(self, addresses.astype(np.int64), columns.astype(np.int64), ctas)

    def relinquish_tensor_memory(self, ctas: int) -> None:
        """Take the permit to allocate from the CTAs of the batch. See `TensorAllocator.relinquish`."""
        self.components.tensor.allocator.relinquish(self, ctas)

    def operate_on_tensor_memory(self, record: TensorRecord) -> None:
        """Issue an operation of each active lane, or a transfer of each warp."""
        tensor = self.components.tensor
        if not isinstance(record, TensorTransfer):
            tensor.issue(self, record)
            return
        captured = {"address": tensor.transfer(self, record)}
        if record.action == "store":
            captured["values"] = np.ascontiguousarray(self.read_vector(record.registers).transpose(1, 0, 2))
        channel = f"tensor {record.action}"
        self.components.asynchronous.defer(self, channel, partial(execute_transfer, record), captured)

    def fence_tensor_memory(self, is_before: bool) -> None:
        """Execute a fence of tensor memory before or after a synchronisation. See `TensorPipeline.fence`."""
        self.components.tensor.fence(self, is_before)

    # Arithmetic -------------------------------------------------------------------------------------------

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return the results of `work` for all items, in order. Worker threads share the items."""
        workers = self.components.workers
        if workers is None or len(items) < 2:
            return [work(item) for item in items]
        return list(workers.pool.map(work, items))

    def pool(self) -> Workers | None:
        """Return the worker threads for matrix arithmetic, or None if there are none."""
        return self.components.workers

    def count_macs(self, macs: int) -> None:
        """Add `macs` multiply-accumulate operations to the statistics."""
        self.state.counters.macs += macs


def execute_thread_copy(size: int, warps: Warps, captured: Mapping[str, Array]) -> None:
    """Execute a non-bulk copy of `size` bytes for each active lane.

    `captured` has the fields of `ThreadCopy`.
    """
    source, destination, amount = captured["source"], captured["destination"], captured["amount"]
    if ((amount == 0) | (amount == size)).all():
        element, count = copy_elements(size)
        values = warps.load("global", source, element, count, lanes=amount > 0)
        warps.store("shared", destination, element, values)
        return
    loaded = [warps.load("global", source + np.uint64(n), "b8", lanes=amount > n) for n in range(size)]
    warps.store("shared", destination, "b8", np.concatenate(loaded))


def execute_transfer(record: TensorTransfer, warps: Warps, captured: Mapping[str, Array]) -> None:
    """Execute a load or a store of tensor memory by each warp.

    `captured` has the addresses and the stored values.
    """
    transfers = warps.components.tensor.transfers
    if record.action == "load":
        transfers.load(warps, record, captured["address"])
    else:
        transfers.store(warps, record, captured["address"], captured["values"].transpose(1, 0, 2))


def _memory_of(space: str) -> str:
    return "" if space.startswith("param") else space
