"""Protocol of a batch of warps, through which instructions execute.

A batch has `count` warps at one program counter, taken from many CTAs, with 32 lanes each. Arrays have shape (warps,
32) or a shape that broadcasts to it; an immediate has shape (1, 1). The emulator keeps the mask of active lanes and
applies it to writes, stores and branches. An instruction computes on all lanes and reads the mask only if its
definition depends on the mask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.records import CopyRecord, TensorCopy
from warploom.layout import Order

Array = NDArray[Any]
Lanes = NDArray[np.bool_]


class Value(Protocol):
    """Resolved operand: a register, a vector, a constant or an address."""

    type: str


class Address(Value, Protocol):
    """Address operand. `extra` holds the coordinate vectors behind its base, read as s32."""

    extra: tuple[Value, ...]


class Bound(Protocol):
    """Bound instruction.

    Each slot of the Form is an attribute with its word ("" if absent). Each operand is an attribute with its Value
    (None if absent).
    """

    def __getattr__(self, name: str) -> Any: ...


class Warps(Protocol):
    """Batch of warps at one instruction."""

    @property
    def count(self) -> int:
        """Number of warps in the batch."""
        ...

    @property
    def arch(self) -> str:
        """Architecture that determines the numerics, such as "sm_90a"."""
        ...

    # Registers ----------------------------------------------------------------------------------------

    def read(self, value: Value) -> Array:
        """Return the value of an operand in the NumPy dtype of its type. Shapes: (warps, 32) or (1, 1)."""
        ...

    def read_vector(self, value: Value) -> Array:
        """Return all registers of a vector operand. Shapes: (registers, warps, 32)."""
        ...

    def write(self, value: Value | None, result: Array) -> None:
        """Write the active lanes of a destination. Narrower results are extended by the sign of their type."""

    def write_vector(self, value: Value, results: Array) -> None:
        """Write all registers of a vector. Shapes: (registers, warps, 32)."""

    def read_fragment(self, value: Value, order: Order) -> Array:
        """Return the matrix that each warp or warpgroup holds in a vector, in unsigned units of an order.

        Shapes: (warps, or warpgroups in the order of `warpgroups()`, units).
        """
        ...

    def write_fragment(self, value: Value, order: Order, units: Array) -> None:
        """Write the matrix of each warp or warpgroup into a vector: the inverse of `read_fragment`."""

    def update_fragment(
        self, value: Value, order: Order, change: Callable[[Array], Sequence[Callable[[], object]]]
    ) -> None:
        """Change the matrix that each warpgroup holds in a vector.

        `change` receives the matrices and writes to them. It returns the remaining work as independent parts, which
        finish before the registers are next accessed.

        Shapes: (warpgroups in the order of `warpgroups()`, units).
        """

    def read_carry(self) -> Lanes:
        """Return the carry flag CC.CF of every lane. Shapes: (warps, 32)."""
        ...

    def write_carry(self, carry: Lanes) -> None:
        """Write the carry flag of the active lanes."""

    def active(self) -> Lanes:
        """Return the mask of active lanes. Shapes: (warps, 32)."""
        ...

    # Memory -------------------------------------------------------------------------------------------

    def addresses(self, value: Value) -> NDArray[np.uint64]:
        """Return the effective addresses of an address operand, including the offset. Shapes: (warps, 32)."""
        ...

    def load(self, space: str, addresses: Array, type: str, count: int = 1, lanes: Lanes | None = None) -> Array:
        """Load `count` consecutive elements per active lane. `space` is the state space, "" for generic.

        `lanes` restricts the access to some lanes; the other lanes receive zeros.

        Shapes: (count, warps, 32). Errors: emulator.out-of-bounds, emulator.misaligned.
        """
        ...

    def store(self, space: str, addresses: Array, type: str, values: Array, lanes: Lanes | None = None) -> None:
        """Store elements. Shapes of values: (count, warps, 32). Errors: those of `load`."""

    def atomic(
        self, space: str, addresses: Array, op: str, type: str, values: Array, compares: Array | None = None
    ) -> Array:
        """Read, modify and write memory, and return the old values. Lanes with equal addresses act in order.

        `op` is an operation of `reductions.combine(op, type, space)`, or "exch", or "cas", which stores `values` if
        memory equals `compares`.

        Shapes: (warps, 32).
        """
        ...

    def to_generic(self, space: str, addresses: Array) -> Array:
        """Return the generic addresses of addresses in a state space, as uint64."""
        ...

    def from_generic(self, space: str, addresses: Array) -> Array:
        """Return the addresses in a state space of generic addresses, as uint64."""
        ...

    def is_space(self, space: str, addresses: Array) -> Lanes:
        """Return the mask of the lanes whose generic address is in a state space."""
        ...

    def map_rank(self, addresses: Array, rank: Array, generic: bool) -> Array:
        """Return the shared::cluster address of the same offset in the CTA with a cluster rank."""
        ...

    def rank_of(self, addresses: Array, generic: bool) -> Array:
        """Return the cluster rank of the CTA that owns a shared::cluster address."""
        ...

    # Control ------------------------------------------------------------------------------------------

    def branch(self, target: Value) -> None:
        """Move the active lanes to a label. The other lanes fall through."""

    def branch_table(self, table: Value, index: Array) -> None:
        """Move each active lane to an entry of a `.branchtargets` table."""

    def call(self, function: Value, results: Value | None, arguments: Value | None) -> None:
        """Call a device function, by name or through a register."""

    def leave(self, whole_kernel: bool) -> None:
        """Return the active lanes from the function, or end them if `whole_kernel`."""

    def trap(self, reason: str) -> None:
        """Stop the kernel with a message."""

    # Warp and CTA synchronisation ---------------------------------------------------------------------

    def gather_members(self, members: Array, anywhere: bool = False) -> None:
        """Require that every lane of the member mask is at this instruction, or at any barrier of the warp.

        `anywhere` selects the second rule.
        """

    def gather_warp(self) -> None:
        """Require that all live lanes of each warp are at this instruction, as `.aligned` does.

        Errors: emulator.aligned.
        """

    def cta_barrier(self, number: Array, threads: Array | None, mode: str) -> None:
        """Arrive at a CTA barrier. `mode` is "sync", which waits for its completion, or "arrive"."""

    def cta_reduce(self, number: Array, threads: Array | None, predicate: Lanes, mode: str, result: Value) -> None:
        """Synchronise at a CTA barrier, and write popc, and, or or of a predicate of its threads to `result`."""

    def cluster_arrive(self) -> None:
        """Arrive at the cluster barrier."""

    def cluster_wait(self) -> None:
        """Suspend until all live threads of the cluster have arrived."""

    def change_registers(self, count: int, take: bool) -> None:
        """Take registers from the CTA's pool up to `count` per thread, or release those above `count`.

        Taking suspends the warp until the pool has enough registers.
        """

    # mbarrier -----------------------------------------------------------------------------------------

    def mbarrier(
        self, space: str, addresses: Array, action: str, amount: Array | int = 0, transactions: Array | int = 0
    ) -> Array:
        """Apply an action to mbarrier objects, lane after lane, and return the state tokens before the action.

        `action` is init, inval, arrive, arrive_drop, expect_tx, complete_tx, increment (adds `amount` to the pending
        arrivals of the phase), or an arrival with the suffix _no_complete, which must not complete the phase. An
        arrival with `transactions` expects them first.

        Shapes: (warps, 32), uint64.
        """
        ...

    def mbarrier_wait(
        self, space: str, addresses: Array, phase: Array, parity: bool, blocking: bool, result: Value
    ) -> None:
        """Test the completion of a phase (token or parity), and write the predicate `result`.

        A blocking test suspends a warp until the test succeeds for one of its active lanes.
        """

    def pending_count(self, states: Array) -> Array:
        """Return the pending arrivals that state tokens recorded, as uint32."""
        ...

    # Asynchronous engines -----------------------------------------------------------------------------

    def defer(
        self, channel: str, action: Callable[[Warps, Mapping[str, Array]], None], captured: Mapping[str, Array]
    ) -> None:
        """Queue an action of the active lanes. The schedule decides when the action takes effect.

        `action(warps, captured)` receives a batch, which may have fewer warps than now, and the captured arrays of
        these warps; the first axis of the arrays is the warps. It accesses registers and memory when it takes effect.
        Channels: "copy" (groups of each thread), "multiplication" (groups of the warpgroup), "remote" (no groups). The
        actions of a lane on one channel take effect in order, except on "remote". An action on "remote" takes effect at
        the latest when no warp can continue without it.
        """

    def commit(self, channel: str) -> None:
        """Close the open group of a channel: "copy", "multiplication" or "bulk" (groups of each active lane)."""

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        """Complete all but the `pending` newest groups of a channel.

        The bulk groups are those of each active lane.
        """

    def issue(self, record: CopyRecord) -> None:
        """Issue the copies of a record, one for each active lane."""

    def prefetch(self, request: TensorCopy) -> None:
        """Check the tensor copies of a record, one for each active lane, without executing them."""

    def warpgroups(self) -> NDArray[np.intp]:
        """Return the positions in the batch of the four warps of each warpgroup. Shapes: (groups, 4)."""
        ...

    def shared_tile(
        self,
        starts: Array,
        offsets: Array,
        swizzle: int,
        base_offset: int,
        groups: NDArray[np.intp] | slice,
        down: bool,
    ) -> Array:
        """Return tiles of 8-byte words of shared memory, at start addresses plus a table of offsets, swizzled.

        `groups` are rows of `warpgroups()`. `down` stacks the tiles of a warpgroup vertically; otherwise they are side
        by side.

        Shapes: starts (groups, tiles), offsets (rows, k); result (groups, rows, tiles * k) or (groups, tiles * rows,
        k), uint64.

        Units: offsets in bytes; swizzle is the span, 0, 32, 64 or 128 bytes.

        Errors: emulator.out-of-bounds.
        """
        ...

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return the results of `work` for all items, in order. The worker pool shares the items."""
        ...

    def pool(self) -> Any:
        """Return the worker pool for arithmetic, or None with one worker."""
        ...

    def count_macs(self, macs: int) -> None:
        """Add multiply-accumulate operations to the statistics of the run."""


class Geometry(Protocol):
    """Position of every warp in its launch. Arrays broadcast to (warps, 32), uint32."""

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
    sm_count: int
    ticks: int  # steps of the emulator so far, which clocks return
