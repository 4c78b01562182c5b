"""What a meaning may ask of the warps it acts on.

A meaning acts on a *batch*: `count` warps at one program counter, taken from many CTAs, 32 lanes each.
Arrays have shape (warps, 32), or one that broadcasts to it (an immediate is (1, 1)). The machine keeps the
mask of lanes that take part: writes, stores and branches touch those lanes only, so a meaning computes on
all lanes and never looks at the mask unless the instruction's definition does.

A meaning keeps three headings: READ, COMPUTE, WRITE.
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
    """An operand the machine has resolved: a register, a vector, a constant or an address."""

    type: str


class Address(Value, Protocol):
    """An address operand; `extra` are the coordinate vectors after its base, read as s32."""

    extra: tuple[Value, ...]


class Bound(Protocol):
    """A bound instruction: each slot of the form is an attribute holding its word ("" when absent), and
    each operand place an attribute holding its Value (None when the optional operand is absent).
    """

    def __getattr__(self, name: str) -> Any: ...


class Warps(Protocol):
    """A batch of warps at one instruction."""

    @property
    def count(self) -> int:
        """Number of warps in the batch."""
        ...

    @property
    def arch(self) -> str:
        """The architecture whose numerics hold, such as "sm_90a"."""
        ...

    # Registers ----------------------------------------------------------------------------------------

    def read(self, value: Value) -> Array:
        """The operand in the NumPy dtype of its type. Shapes: (warps, 32) or (1, 1)."""
        ...

    def read_vector(self, value: Value) -> Array:
        """All registers of a vector operand. Shapes: (registers, warps, 32)."""
        ...

    def write(self, value: Value | None, result: Array) -> None:
        """Write the active lanes of a destination; narrower results are extended by the type's sign."""
        ...

    def write_vector(self, value: Value, results: Array) -> None:
        """Write every register of a vector. Shapes: (registers, warps, 32)."""
        ...

    def read_fragment(self, value: Value, order: Order) -> Array:
        """The matrix that each warp, or each warpgroup, holds in a vector, in unsigned units of an order.

        Shapes: (warps, or warpgroups in the order of `warpgroups()`, units).
        """
        ...

    def write_fragment(self, value: Value, order: Order, units: Array) -> None:
        """Write the matrix of each warp, or each warpgroup, into a vector: the inverse of `read_fragment`."""
        ...

    def update_fragment(
        self, value: Value, order: Order, change: Callable[[Array], Sequence[Callable[[], object]]]
    ) -> None:
        """Change the matrix that each warpgroup holds in a vector: `change` is given them, to be written to.

        What it returns is the work that is left, in parts that do not need each other; it is done at the
        latest when anything looks at the registers.

        Shapes: (warpgroups in the order of `warpgroups()`, units).
        """
        ...

    def read_carry(self) -> Lanes:
        """The carry flag CC.CF of every lane. Shapes: (warps, 32)."""
        ...

    def write_carry(self, carry: Lanes) -> None:
        """Write the carry flag of the active lanes."""
        ...

    def active(self) -> Lanes:
        """The lanes that take part. Shapes: (warps, 32)."""
        ...

    # Memory -------------------------------------------------------------------------------------------

    def addresses(self, value: Value) -> NDArray[np.uint64]:
        """Effective addresses of an address operand, offset included. Shapes: (warps, 32)."""
        ...

    def load(self, space: str, addresses: Array, type: str, count: int = 1, lanes: Lanes | None = None) -> Array:
        """Load `count` consecutive elements per active lane. `space` is the state-space word, "" generic.

        `lanes` narrows the lanes whose addresses are touched; the others get zeros.

        Shapes: (count, warps, 32). Errors: emulator.out-of-bounds, emulator.misaligned.
        """
        ...

    def store(self, space: str, addresses: Array, type: str, values: Array, lanes: Lanes | None = None) -> None:
        """Store. Shapes of values: (count, warps, 32). Errors: as load."""
        ...

    def atomic(
        self, space: str, addresses: Array, op: str, type: str, values: Array, compares: Array | None = None
    ) -> Array:
        """Read-modify-write, lane after lane where addresses collide, by `reductions.combine(op, type, space)`,
        by "exch", or by "cas", which stores `values` where `compares` stands. Returns the old values.

        Shapes: (warps, 32).
        """
        ...

    def to_generic(self, space: str, addresses: Array) -> Array:
        """Generic addresses of addresses in a state space (uint64)."""
        ...

    def from_generic(self, space: str, addresses: Array) -> Array:
        """Addresses in a state space of generic addresses (uint64)."""
        ...

    def is_space(self, space: str, addresses: Array) -> Lanes:
        """Whether generic addresses fall in a state space."""
        ...

    def map_rank(self, addresses: Array, rank: Array, generic: bool) -> Array:
        """The shared::cluster address of the same offset in the CTA of the cluster with this rank."""
        ...

    def rank_of(self, addresses: Array, generic: bool) -> Array:
        """The cluster rank of the CTA that owns a shared::cluster address."""
        ...

    # Control ------------------------------------------------------------------------------------------

    def branch(self, target: Value) -> None:
        """The active lanes go to the label, the others fall through."""
        ...

    def branch_table(self, table: Value, index: Array) -> None:
        """Each active lane goes to the entry of a `.branchtargets` table."""
        ...

    def call(self, function: Value, results: Value | None, arguments: Value | None) -> None:
        """Call a device function, by name or through a register."""
        ...

    def leave(self, whole_kernel: bool) -> None:
        """The active lanes return from the function, or leave the kernel."""
        ...

    def trap(self, reason: str) -> None:
        """Stop the kernel with a sentence."""
        ...

    # Warp and CTA synchronisation ---------------------------------------------------------------------

    def gather_members(self, members: Array, anywhere: bool = False) -> None:
        """Every lane of the member mask must be here (or, `anywhere`, at some barrier of the warp)."""
        ...

    def gather_warp(self) -> None:
        """Every live lane of each warp must be here, as an `.aligned` instruction demands.

        Errors: emulator.aligned.
        """
        ...

    def cta_barrier(self, number: Array, threads: Array | None, mode: str) -> None:
        """Arrive at a CTA barrier; `mode` "sync" suspends until it completes, "arrive" does not."""
        ...

    def cta_reduce(self, number: Array, threads: Array | None, predicate: Lanes, mode: str, result: Value) -> None:
        """As cta_barrier "sync", and `result` gets popc / and / or of the predicate over the barrier."""
        ...

    def cluster_arrive(self) -> None:
        """Arrive at the cluster barrier."""
        ...

    def cluster_wait(self) -> None:
        """Suspend until every live thread of the cluster has arrived."""
        ...

    def change_registers(self, count: int, take: bool) -> None:
        """Take registers of the CTA's pool up to `count` for each thread, suspended until it has them, or
        release those above `count`.
        """
        ...

    # mbarrier -----------------------------------------------------------------------------------------

    def mbarrier(
        self, space: str, addresses: Array, action: str, amount: Array | int = 0, transactions: Array | int = 0
    ) -> Array:
        """Act on mbarrier objects, lane after lane: init, inval, arrive, arrive_drop, expect_tx, complete_tx,
        increment, which adds `amount` to the arrivals that the current phase still expects, and the arrivals
        with _no_complete, which must not complete a phase.

        An arrive with `transactions` expects them first. Returns the state token before the action
        (uint64, shapes (warps, 32)).
        """
        ...

    def mbarrier_wait(
        self, space: str, addresses: Array, phase: Array, parity: bool, blocking: bool, result: Value
    ) -> None:
        """Test for the completion of a phase (token or parity) and write the predicate `result`.

        Blocking: warps none of whose active lanes would succeed are suspended until one does.
        """
        ...

    def pending_count(self, states: Array) -> Array:
        """The pending arrivals that state tokens recorded (uint32)."""
        ...

    # Asynchronous engines -----------------------------------------------------------------------------

    def defer(
        self, channel: str, action: Callable[[Warps, Mapping[str, Array]], None], captured: Mapping[str, Array]
    ) -> None:
        """Queue an action of the active lanes; the schedule says when it takes effect.

        `action(warps, captured)` gets a batch (maybe fewer warps than now, the same lanes of them) and the
        captured arrays, whose first axis is the warps, cut down to it; it reads registers and memory then.
        Channels: "copy" (groups of the warp's threads), "multiplication" (groups of the warpgroup), "remote" (no
        groups). The actions of a lane on a channel take effect in order, those on "remote" in any, without a wait at
        the latest when nothing else can go on.
        """
        ...

    def commit(self, channel: str) -> None:
        """Close the current group of a channel: "copy", "multiplication", or "bulk" (groups of each active lane)."""
        ...

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        """Complete all but the `pending` newest groups of a channel (bulk groups: of each active lane)."""
        ...

    def issue(self, record: CopyRecord) -> None:
        """Issue the copies of a record, one for each active lane."""
        ...

    def prefetch(self, request: TensorCopy) -> None:
        """Check the tensor copies of a record, one for each active lane, without executing them."""
        ...

    def warpgroups(self) -> NDArray[np.intp]:
        """Positions in the batch of the four warps of each warpgroup. Shapes: (groups, 4)."""
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
        """Tiles of 8-byte words of shared memory for some warpgroups: start addresses plus a table of offsets,
        swizzled.

        `groups` are rows of `warpgroups()`. The tiles of a warpgroup stand one below the other where `down`,
        else side by side.

        Shapes: starts (groups, tiles), offsets (rows, k); result (groups, rows, tiles * k), or (groups,
            tiles * rows, k), uint64.
        Units: offsets in bytes; swizzle is the span, 0, 32, 64 or 128 bytes.
        Errors: emulator.out-of-bounds.
        """
        ...

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """What `work` returns for each item, in order; the workers share it."""
        ...

    def pool(self) -> Any:
        """The worker pool that arithmetic may use (None with one worker)."""
        ...

    def count_macs(self, macs: int) -> None:
        """Add multiply-accumulates to the run's statistics."""
        ...


class Geometry(Protocol):
    """Where every warp of the machine stands in its launch. Arrays broadcast to (warps, 32), uint32."""

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
    ticks: int  # grows with every step of the machine; what clocks show
