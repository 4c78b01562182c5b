"""Interface of the emulator for the functions that execute instructions on a batch of warps.

All warps of a batch are at the same instruction. Arrays have shape (warps, 32) or a shape that broadcasts to it. The
emulator applies the mask of active lanes to writes, stores and branches, so instructions compute on all lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.records import CopyRecord, TensorCopy
from warploom.isa.model.tensor_memory import TensorRecord
from warploom.layout import Order

Array = NDArray[Any]
Lanes = NDArray[np.bool_]


class Value(Protocol):
    """Operand that the emulator has resolved: a register, a vector, a constant or an address."""

    type: str


class Address(Value, Protocol):
    """Address operand. `extra` holds vectors of tensor coordinates, read as s32."""

    extra: tuple[Value, ...]


class Bound(Protocol):
    """Instruction with its modifiers and operands as attributes.

    A modifier is its word, or "" if the opcode omits the modifier. An operand is a `Value`, an integer for an
    immediate, or None if the operand is absent.
    """

    def __getattr__(self, name: str) -> Any: ...


class Warps(Protocol):
    """Batch of warps that execute one instruction together."""

    @property
    def count(self) -> int:
        """Number of warps in the batch."""
        ...

    @property
    def arch(self) -> str:
        """Architecture that the emulator imitates, such as "sm_90a"."""
        ...

    # Registers ----------------------------------------------------------------------------------------

    def read(self, value: Value) -> Array:
        """Return the value of an operand, with shape (warps, 32), or (1, 1) for an immediate."""
        ...

    def read_vector(self, value: Value) -> Array:
        """Return the values of a vector operand, with shape (registers, warps, 32)."""
        ...

    def read_first_lane(self, value: Any) -> Array:
        """Return the values of all items of a vector operand in lane 0, with shape (warps, items)."""
        ...

    def write(self, value: Value | None, result: Array) -> None:
        """Write a result to the active lanes, extended to the width of the register. Do nothing for None."""

    def write_vector(self, value: Value, results: Array) -> None:
        """Write results of shape (registers, warps, 32) to the active lanes of a vector."""

    def read_fragment(self, value: Value, order: Order) -> Array:
        """Return the matrix of each warp or warpgroup from a vector of registers.

        The matrix consists of unsigned integers (units). `order` determines their order and width.

        Shapes: (warps, units), or (warpgroups, units) in the order of `warpgroups()`.
        """
        ...

    def write_fragment(self, value: Value, order: Order, units: Array) -> None:
        """Write the matrix of each warp or warpgroup to a vector. This is the inverse of `read_fragment`.

        Shapes: `units` is (warps, units), or (warpgroups, units) in the order of `warpgroups()`.
        """

    def update_fragment(
        self, value: Value, order: Order, change: Callable[[Array], Sequence[Callable[[], object]]],
        cleared: Lanes | None,
    ) -> None:  # fmt: skip
        """Change the matrix of each warpgroup in a vector of registers.

        The matrices in the mask `cleared` are first set to zero. `change` receives the matrices and writes to them.
        `change` returns functions for the remaining work, which run in any order and finish before the next access to
        the registers.

        Shapes: the matrices are (warpgroups, units) in the order of `warpgroups()`, as in `read_fragment`; cleared is
        (warpgroups,).
        """

    def multiply_tiles(
        self, products: Any, targets: Sequence[tuple[Any, Order]], descriptors: Mapping[str, Array],
        registers: Array | None, keeps: Lanes,
    ) -> bool:  # fmt: skip
        """Add products of matrices in shared memory to accumulators with one compiled call.

        Return False, without an effect, if no compiled call executes the multiplications.
        """
        ...

    def read_carry(self) -> Lanes:
        """Return the carry flag CC.CF of every lane, with shape (warps, 32)."""
        ...

    def write_carry(self, carry: Lanes) -> None:
        """Write the carry flag CC.CF of the active lanes."""

    def active(self) -> Lanes:
        """Return the mask of active lanes, with shape (warps, 32)."""
        ...

    # Memory -------------------------------------------------------------------------------------------

    def addresses(self, value: Value) -> NDArray[np.uint64]:
        """Return the effective addresses of an address operand, base plus offset, with shape (warps, 32)."""
        ...

    def load(self, space: str, addresses: Array, type: str, count: int = 1, lanes: Lanes | None = None) -> Array:
        """Load `count` consecutive elements of PTX type `type` for each active lane.

        `space` is the state space, or "" for generic addresses. Lanes outside the mask `lanes` receive zeros.

        Shapes: the result is (count, warps, 32).

        Errors: emulator.out-of-bounds, emulator.misaligned.
        """
        ...

    def store(self, space: str, addresses: Array, type: str, values: Array, lanes: Lanes | None = None) -> None:
        """Store consecutive elements for each active lane, or only for the active lanes in the mask `lanes`.

        `load` describes `space` and `type`.

        Shapes: `values` is (count, warps, 32).

        Errors: emulator.out-of-bounds, emulator.misaligned.
        """

    def load_rows(self, space: str, addresses: Array, rows: int) -> NDArray[np.uint8]:
        """Load 16 bytes from the address of each of the lanes 0 to `rows` - 1. An inactive lane gives zeros.

        `load` describes `space`. Shapes: the result is (warps, rows, 16).

        Errors: emulator.out-of-bounds, emulator.misaligned.
        """
        ...

    def store_rows(self, space: str, addresses: Array, rows: NDArray[np.uint8]) -> None:
        """Store row i, which has 16 bytes, at the address of lane i if this lane is active.

        Errors: emulator.out-of-bounds, emulator.misaligned.
        """

    def discard(self, addresses: Array, size: int) -> None:
        """Make `size` bytes of global memory at the address of each active lane undetermined.

        Errors: emulator.out-of-bounds, emulator.misaligned, emulator.read-only.
        """

    def atomic(
        self, space: str, addresses: Array, op: str, type: str, values: Array, compares: Array | None = None
    ) -> Array:
        """Read, modify and write the element at the address of each active lane. Return the old elements.

        `op` is an operation of `reductions.combine`, "exch" or "cas". The operation "cas" stores `values` where memory
        equals `compares`. Lanes with equal addresses act one after the other.
        """
        ...

    def to_generic(self, space: str, addresses: Array) -> Array:
        """Convert addresses in a state space to generic addresses, as uint64."""
        ...

    def from_generic(self, space: str, addresses: Array) -> Array:
        """Convert generic addresses to addresses in a state space, as uint64."""
        ...

    def in_shared(self, addresses: Array, code: str, what: str) -> Array:
        """Return the addresses in shared memory of generic addresses. `what` names their use.

        Errors: the rule `code` for an address outside of shared memory.
        """
        ...

    def is_space(self, space: str, addresses: Array) -> Lanes:
        """Return a mask of the lanes whose generic address is in the state space `space`."""
        ...

    def map_rank(self, addresses: Array, rank: Array, generic: bool) -> Array:
        """Return for each address the address of the same offset in the shared memory of the CTA `rank`.

        `addresses` and the result are generic addresses if `generic` is True, else shared::cluster addresses.
        """
        ...

    def rank_of(self, addresses: Array, generic: bool) -> Array:
        """Return the rank of the CTA that owns each address. `map_rank` describes `generic`."""
        ...

    # Control ------------------------------------------------------------------------------------------

    def branch(self, target: Value) -> None:
        """Move the active lanes to a label. The other lanes continue with the next instruction."""

    def branch_table(self, table: Value, index: Array) -> None:
        """Move each active lane to the entry `index` of a `.branchtargets` table."""

    def call(self, function: Value, results: Value | None, arguments: Value | None) -> None:
        """Call a device function. `function` is a name or a register."""

    def leave(self, whole_kernel: bool) -> None:
        """Return from the function in the active lanes, or end these lanes if `whole_kernel`."""

    def trap(self, reason: str) -> None:
        """Stop the kernel with an error whose message is `reason`."""

    # Warp and CTA synchronisation ---------------------------------------------------------------------

    def gather_members(self, members: Array) -> None:
        """Suspend the active lanes until all live lanes of their member mask have arrived."""

    def warp_barrier(self, members: Array) -> None:
        """Wait for all live lanes of the member mask, which may wait at any warp barrier with this mask."""

    def gather_warp(self) -> None:
        """Reconverge all live lanes of each warp at this instruction, as `.aligned` requires.

        Errors: emulator.aligned if some live lanes are not active.
        """

    def cta_barrier(self, number: Array, threads: Array | None, mode: str) -> None:
        """Arrive at a CTA barrier. If `mode` is "sync", also wait for its completion.

        `number` is the index of the barrier. `threads` is the number of threads that take part, or None for the whole
        CTA. The other `mode` is "arrive".
        """

    def cta_reduce(self, number: Array, threads: Array | None, predicate: Lanes, mode: str, result: Value) -> None:
        """Synchronise at a CTA barrier, and write the reduction of `predicate` to `result`.

        `mode` is "popc", "and" or "or". `cta_barrier` describes `number` and `threads`.
        """

    def cluster_arrive(self) -> None:
        """Arrive at the barrier of the cluster."""

    def cluster_wait(self) -> None:
        """Suspend the warps until all live threads of their cluster have arrived at the barrier."""

    def grid_control(self, kind: str) -> None:
        """Let dependent grids start, or wait for the prerequisite grids.

        `kind` is "trigger" or "wait".
        """

    def stack_pointer(self) -> NDArray[np.uint64]:
        """Return the stack pointer of every lane, a local address, with shape (warps, 32)."""
        ...

    def move_stack(self, pointers: NDArray[np.uint64]) -> None:
        """Set the stack pointers of the active lanes. Errors: emulator.stack for an address outside the stack."""

    def change_registers(self, count: int, take: bool) -> None:
        """Change the number of registers per thread to `count`.

        With `take`, the warp waits until the register pool of the CTA has enough registers. Otherwise the registers
        above `count` return to the pool.
        """

    # mbarrier -----------------------------------------------------------------------------------------

    def mbarrier(
        self, space: str, addresses: Array, action: str, amount: Array | int = 0, transactions: Array | int = 0
    ) -> Array:
        """Apply an action to the mbarrier at each active lane's address, and return the old state tokens.

        The lanes act one after the other. `action` is one of the following.

        - init, inval, arrive, arrive_drop, expect_tx, complete_tx: as in PTX.
        - arrive_no_complete, arrive_drop_no_complete: an arrival that must not complete the phase.
        - increment: add `amount` to the pending arrivals of the phase.

        An arrival with `transactions` first adds this number of bytes to the pending transactions.

        Shapes: the state tokens are (warps, 32), uint64.
        """
        ...

    def mbarrier_wait(
        self, space: str, addresses: Array, phase: Array, parity: bool, blocking: bool, result: Value
    ) -> None:
        """Test if a phase of the mbarrier at each lane's address is complete. Write the outcome to `result`.

        `phase` contains phase parities if `parity`, else state tokens. A `blocking` test suspends a warp until the test
        succeeds for at least one active lane.
        """

    def pending_count(self, states: Array) -> Array:
        """Return the number of pending arrivals in each mbarrier state token, as uint32."""
        ...

    # Asynchronous engines -----------------------------------------------------------------------------

    def defer(
        self, channel: str, action: Callable[[Warps, Mapping[str, Array]], None], captured: Mapping[str, Array]
    ) -> None:
        """Queue an action of the active lanes. The schedule decides when the action takes effect.

        `action(warps, captured)` receives a batch of some of the present warps, and the rows of these warps in the
        captured arrays. The first axis of the arrays is the warp.

        `channel` is the queue: "copy" for the groups of each thread, "multiplication" for the groups of each warpgroup,
        "tensor load" and "tensor store" for the transfers of each warp, or "remote" for actions without a group.
        Actions in "remote" take effect in any order.
        """

    def commit(self, channel: str) -> None:
        """Close the open group of asynchronous operations.

        `channel` is "copy" or "bulk" for the groups of each active lane, or "multiplication" for the groups of the
        warpgroup.
        """

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        """Complete all groups of asynchronous operations except the `pending` newest groups.

        `channel` is "copy" or "bulk" for the groups of each active lane, or "multiplication" for the groups of the
        warpgroup. With `read_only`, only the reads of the operations need to be complete.
        """

    def issue(self, record: CopyRecord) -> None:
        """Start the asynchronous copies of a record, one for each active lane."""

    def prefetch(self, request: TensorCopy) -> None:
        """Check the tensor copies in `request`, one for each active lane, without executing them."""

    # Tensor memory ------------------------------------------------------------------------------------

    def first_lane(self, values: Array, what: str) -> Array:
        """Return the value that all lanes of each warp have. `what` names the values.

        Shapes: values (warps, 32) or broadcastable, the result (warps,). Errors: emulator.tensor-allocation.
        """
        ...

    def allocate_tensor_memory(self, columns: Array, ctas: int) -> Array:
        """Allocate columns of tensor memory for each warp, and return the addresses.

        A warp is suspended until its CTA has enough free columns and, if `ctas` is 2, until a warp of the peer CTA
        allocates as well. The result belongs to the warps that are left in the batch.

        Shapes: columns and the result (warps,). Errors: emulator.tensor-allocation, emulator.tensor-pair.
        """
        ...

    def release_tensor_memory(self, addresses: Array, columns: Array, ctas: int) -> None:
        """Release the columns that an allocation returned, for each warp.

        Shapes: addresses and columns (warps,). Errors: emulator.tensor-allocation, emulator.tensor-pair.
        """

    def relinquish_tensor_memory(self, ctas: int) -> None:
        """End the right of the CTAs of the batch to allocate tensor memory."""

    def operate_on_tensor_memory(self, record: TensorRecord) -> None:
        """Start the operations of a record.

        Each active lane has its own operation. A `TensorTransfer` has one for each warp.
        """

    def fence_tensor_memory(self, is_before: bool) -> None:
        """Order operations on tensor memory before or after a synchronisation of threads."""

    def warpgroups(self) -> NDArray[np.intp]:
        """Return the indices of the four warps of each warpgroup, with shape (warpgroups, 4)."""
        ...

    def shared_tile(
        self, descriptors: Array, offsets: Array, swizzle: int, base_offset: int, groups: NDArray[np.intp] | slice,
        transposed: bool,
    ) -> Array:  # fmt: skip
        """Return tiles of shared memory, read as 16-byte chunks at swizzled addresses.

        The address of a chunk is the start address of a matrix descriptor plus an entry of `offsets`. A line of
        `offsets` is a row of the tile, or a column with 16-bit elements if `transposed` is set. `groups` selects rows
        of `warpgroups()`. The tiles of a warpgroup are side by side.

        Shapes: descriptors (n, tiles) for n selected warpgroups; offsets (lines, chunks). The uint64 result is
        (n, lines, tiles * 2 * chunks), or (n, 8 * chunks, tiles * lines / 4) if `transposed` is set.

        Units: offsets are bytes. `swizzle` is 0, 32, 64 or 128 bytes. `base_offset` is as in a matrix descriptor.

        Errors: emulator.out-of-bounds.
        """
        ...

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return the results of `work` for all items, in order. Workers process the items in parallel."""
        ...

    def pool(self) -> Any:
        """Return the worker pool for arithmetic, or None if the run has only one worker."""
        ...

    def count_macs(self, macs: int) -> None:
        """Add `macs` multiply-accumulate operations to the statistics of the run."""


class Geometry(Protocol):
    """Position of every warp in its launch, and the extents of the launch.

    Shapes: arrays broadcast to (warps, 32), uint32.
    """

    thread: tuple[Array, Array, Array]  # %tid, per lane
    block: tuple[int, int, int]  # %ntid
    cta: tuple[Array, Array, Array]  # %ctaid, (warps, 1)
    grid: tuple[int, int, int]  # %nctaid
    cluster: tuple[int, int, int]  # %cluster_nctaid
    lane: Array  # %laneid, (1, 32)
    warp: Array  # %warpid: warp number within its CTA, (warps, 1)
    dynamic_shared: int  # %dynamic_smem_size, bytes
    total_shared: int  # %total_smem_size, bytes
    explicit_cluster: bool
    workspace: int  # address of the workspace of a cooperative grid, or 0
    sm_count: int
    ticks: int  # value of %clock64: the number of steps that the emulator has executed
