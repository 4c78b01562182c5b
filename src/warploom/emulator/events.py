"""Typed events of a run.

Each event has the program counter `pc` of the executing instruction. Warps and CTAs are given by their indices in the
resident wave, and warp splits by their indices in `WarpSplits`.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.arena import Arena
from warploom.emulator.batch import Batch
from warploom.emulator.grid import Grid, Placement, Topology
from warploom.emulator.link import Linked
from warploom.emulator.program import Program
from warploom.emulator.schedule import Schedule
from warploom.emulator.shared_memory import Location, SharedMemory
from warploom.emulator.state import Counters, Executions
from warploom.emulator.warp_splits import WarpSplits
from warploom.isa.model import effects
from warploom.isa.model.semantics import Array
from warploom.layout import TensorMapFields
from warploom.lazy_dataclass import dataclass

AccessKind = Literal["read", "write", "update"]
Group = Literal["copy", "bulk", "multiplication", "tensor", "tensor load", "tensor store", ""]
"""Group that a commit closes, as in `isa.model.effects`.

"tensor load" and "tensor store" stand for transfers between registers and tensor memory, and "tensor" for all other
operations on tensor memory. "" stands for operations that belong to no group.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """Objects of a launch that observers may read."""

    program: Program
    instructions: Sequence[Linked]  # by program counter
    grid: Grid
    topology: Topology
    arch: str
    schedule: Schedule
    arena: Arena
    counters: Counters
    executions: Executions  # counted only for observers with `counts_executions`


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Event during the execution of the instruction at `pc`. Events are compared by identity."""

    pc: int


# Progress -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Resident(Event):
    """Start of a wave of CTAs. The emulator updates the objects `splits` and `shared` as the CTAs run."""

    placement: Placement
    splits: WarpSplits
    shared: SharedMemory


@dataclass(frozen=True, slots=True, eq=False)
class BlockStart(Event):
    """Start of the execution of a basic block. `pc` is the first instruction of the block."""

    batch: Batch


@dataclass(frozen=True, slots=True, eq=False)
class BlockEnd(Event):
    """End of a basic block."""


@dataclass(frozen=True, slots=True, eq=False)
class Suspend(Event):
    """Suspension of warp splits, which leave their batch with a new `status` (`warp_splits.Status`).

    `suspended` is a mask over the batch. Shapes: suspended (warps,).
    """

    batch: Batch
    suspended: Array
    status: int
    repeats: bool  # True if the warp splits will execute the same instruction again


@dataclass(frozen=True, slots=True, eq=False)
class Exit(Event):
    """Exit of warps whose lanes have all left the kernel."""

    warps: Array


# Instructions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Guard(Event):
    """Evaluation of an instruction's guard predicate by a batch, before the instruction."""

    batch: Batch


@dataclass(frozen=True, slots=True, eq=False)
class Execute(Event):
    """Execution of an instruction by a batch, before the instruction has any effect.

    Several adjacent multiplications may execute together, and each of them has an event. In these events, `first` is
    the program counter of the first multiplication, and `length` the number of multiplications. In all other events,
    `first` is `pc` and `length` is 1.
    """

    batch: Batch
    operands: SimpleNamespace
    first: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Access(Event):
    """Load, store or atomic update by lanes, before memory is accessed.

    The accesses of asynchronous operations have no such event. The arrays are valid until the handler returns.
    `index` has byte offsets in the array of the memory `space`: "shared", "local" or "global".

    Shapes: index and lanes (warps, 32), values (elements, warps, 32) or broadcastable.
    """

    kind: AccessKind
    space: str
    location: Location
    index: Array
    lanes: Array
    size: int  # bytes that each lane accesses
    values: Array | None  # stored elements, or None if a write leaves undetermined values
    operation: str
    # `operation` of an atomic update, such as "add", and the PTX type of its elements
    type: str


READ_KINDS = ("global", "shared", "local", "copy")
"""Kinds of reads in the event `Reads`: loads from three memories, and thread copies."""


@dataclass(frozen=True, slots=True, eq=False)
class Reads(Event):
    """Loads of lanes and issues of thread copies by several instructions, in the order of their execution.

    Native code creates it in place of consecutive events `Access` and `ThreadCopyIssue`, up to the next event of
    another type. An observer without a handler for `Reads` gets the events `Access` and `ThreadCopyIssue`. The arrays
    are valid until the handler returns.

    pcs[k] is the program counter of read k, and `pc` that of the last read. counts[k] warps execute read k, and each
    lane reads sizes[k] bytes. kinds[k] is the index of its kind in `READ_KINDS`. The rows of a load in `warps`, `index`
    and `lanes` begin at firsts[k], one for each warp. They have the meaning of the arrays in `Access`. A thread copy
    has 2 * counts[k] rows. The first half has the sources, with the lanes of `ThreadCopyIssue.reading`. The second half
    has the targets, with the lanes of `ThreadCopyIssue.lanes`.

    Shapes: pcs, kinds, sizes, firsts and counts (reads,); warps (rows,); index and lanes (rows, 32); cta_of (warps of
    the wave,).
    """

    pcs: NDArray[np.int64]
    kinds: NDArray[np.int64]
    sizes: NDArray[np.int64]
    firsts: NDArray[np.int64]
    counts: NDArray[np.int64]
    warps: NDArray[np.int64]
    index: NDArray[np.int64]
    lanes: NDArray[np.bool_]
    cta_of: Array

    def single(self, k: int) -> "Access | ThreadCopyIssue":
        """Return the event of read `k`."""
        first, count, pc, size = int(self.firsts[k]), int(self.counts[k]), int(self.pcs[k]), int(self.sizes[k])
        end = first + count
        warps, index, lanes = self.warps[first:end], self.index[first:end], self.lanes[first:end]
        location, kind = Location(warps, self.cta_of[warps]), READ_KINDS[int(self.kinds[k])]
        if kind != "copy":
            return Access(pc, "read", kind, location, index, lanes, size, None, "", "")
        targets = slice(end, end + count)
        return ThreadCopyIssue(pc, location, size, index, self.index[targets], self.lanes[targets], lanes, lanes)


@dataclass(frozen=True, slots=True, eq=False)
class Fence(Event):
    """Execution of a fence by the active lanes."""

    batch: Batch
    operands: SimpleNamespace
    effect: effects.Fence


@dataclass(frozen=True, slots=True, eq=False)
class Barrier(Event):
    """Arrival of warps at a barrier, their wait at the barrier, or both.

    `keys` contains cta * 16 + number for CTA barriers, and indices of clusters for cluster barriers. Shapes: keys and
    waits (warps,).
    """

    batch: Batch
    level: Literal["cta", "cluster"]
    arrives: bool  # False for a wait without an arrival
    keys: Array
    waits: Array  # True for warps that wait; a wait at a complete cluster barrier does not count


@dataclass(frozen=True, slots=True, eq=False)
class WarpBarrier(Event):
    """Completion of warp barriers: the lanes lanes[i] of warps[i] have met.

    The lanes may have waited at different instructions; `pc` is that of the last arrival. Shapes: warps (barriers,),
    lanes (barriers, 32).
    """

    warps: NDArray[np.intp]
    lanes: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Allocate(Event):
    """Request of warps to change their registers to `count` per thread.

    `waits` marks the warps that wait because their CTA has too few registers. They repeat the request later. Shapes:
    waits (warps,).
    """

    batch: Batch
    count: int
    waits: Array


@dataclass(frozen=True, slots=True, eq=False)
class TensorAllocate(Event):
    """Allocation ("take") or release ("release") of columns of tensor memory by the warps of a batch.

    `columns` is the number of columns of each warp, and `first` its first column. `ctas` is 2 for a pair of CTAs.
    Shapes: columns and first (warps,).
    """

    batch: Batch
    action: str
    columns: Array
    first: Array
    ctas: int


@dataclass(frozen=True, slots=True, eq=False)
class HeapAllocation(Event):
    """Allocation of memory by `malloc`, which may reuse freed memory.

    `start` is a byte offset in `Arena.bytes`. Units: `size` in bytes.
    """

    start: int
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class GridControl(Event):
    """Trigger of the dependent grids, or wait for the prerequisite grids, by the active lanes.

    `kind` is "trigger" or "wait". The wait has not ended.
    """

    batch: Batch
    kind: str


# mbarriers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Arrive(Event):
    """Action of lanes on mbarriers (initialisation, arrival, …), before the action takes place.

    `index` has the byte offsets of the mbarriers in shared memory. Units: `amounts` in arrivals, `transactions` in
    bytes.

    Shapes: index and lanes (warps, 32), amounts and transactions (warps, 32) or broadcastable.
    """

    batch: Batch
    action: str
    index: Array
    lanes: Array
    amounts: Array
    transactions: Array
    asynchronous: bool  # True for an action of an asynchronous operation


@dataclass(frozen=True, slots=True, eq=False)
class PhaseWait(Event):
    """Test by lanes for the completion of phases of mbarriers.

    `index` has the byte offsets of the mbarriers in shared memory. `phase` is the tested parity, and `complete` the
    result.

    Shapes: index, lanes and complete (warps, 32).
    """

    batch: Batch
    index: Array
    lanes: Array
    complete: Array
    phase: Array
    by_parity: bool


@dataclass(frozen=True, slots=True, eq=False)
class PhaseComplete(Event):
    """Completion of barrier phases, with one entry in `keys` for each phase.

    The entry is a key of `Barrier`, or the byte offset of an mbarrier divided by 8.
    """

    level: Literal["cta", "cluster", "mbarrier"]
    keys: Array


# Asynchronous operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Issue(Event):
    """Issue of an asynchronous operation by the active lanes of a batch.

    `groups` has the number of the commit group to which the operation belongs, for each warp.
    """

    batch: Batch
    group: Group
    number: int  # index of the operation, in order of issue
    groups: Array
    length: int  # number of instructions that form the operation


@dataclass(frozen=True, slots=True, eq=False)
class ThreadCopyIssue(Event):
    """Issue of thread copies from global to shared memory, before the event `Issue`.

    Each lane in `lanes` writes `size` bytes at the byte offset `targets` in shared memory. The lanes in `reading` read
    at least one byte at the byte offset `sources` in `Arena.bytes`, and those in `complete` read `size` bytes. There is
    no event if a target is illegal. The arrays are valid until the handler returns.

    Shapes: all arrays (warps, 32).
    """

    location: Location
    size: int
    sources: Array
    targets: Array
    lanes: Array
    reading: Array
    complete: Array


class PendingCopies(Protocol):
    """Bulk copies that have been issued and have not taken effect."""

    def preview(self, request: Any, position: int, lane: int, cta: int, start: int, size: int) -> bytes | None:
        """Return the bytes that a copy would write now to [start, start + size) of `Arena.bytes`.

        `position` and `lane` are the indices of the copy in the arrays of the request. Return None unless the copy
        writes the whole range with unchanged source bytes.
        """
        ...

    def pending_stores(self, warp: int, pc: int, start: int, size: int) -> list[bytes]:
        """Return the bytes that each queued copy would write to [start, start + size) of `Arena.bytes`.

        Only those copies of `warp` from the instruction at `pc` are included for which `preview` returns bytes.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CopyIssue(Event):
    """Issue of bulk copies, one for each active lane.

    Copy i belongs to lane `lanes[i]` of warp `warps[i]`. `positions[i]` is the index of this warp in the arrays of the
    request. `tensor_maps` pairs each readable tensor map with the indices i of its copies.

    Shapes: positions, lanes, warps and groups (copies,).
    """

    batch: Batch
    request: Any
    positions: Array
    lanes: Array
    warps: Array
    groups: Array  # numbers of bulk groups, or -1 for a copy that completes on an mbarrier
    first: int  # number of copy 0; the numbers are consecutive
    tensor_maps: Sequence[tuple[TensorMapFields, NDArray[np.intp]]]
    pending: PendingCopies


@dataclass(frozen=True, slots=True, eq=False)
class TensorIssue(Event):
    """Issue of operations on tensor memory by the active lanes of a batch.

    Transfers of registers have the event `TensorTransferIssue` instead.

    `record` is a record of `isa.model.tensor_memory`. Operation i belongs to lane `lanes[i]` of warp `warps[i]`, and
    has the number `first` + i. `positions[i]` is the index of this warp in the arrays of the record.

    Shapes: positions, lanes and warps (operations,).
    """

    batch: Batch
    record: Any
    positions: Array
    lanes: Array
    warps: Array
    first: int


@dataclass(frozen=True, slots=True, eq=False)
class TensorTransferIssue(Event):
    """Issue of a load or a store of tensor memory by each warp of a batch, before the event `Issue`.

    `record` is a `TensorTransfer`.
    """

    batch: Batch
    record: Any


@dataclass(frozen=True, slots=True, eq=False)
class CopyAccess(Event):
    """Access of bulk copies to byte ranges of global memory.

    `pc`, `warps` and `lanes` are the instruction and the threads that issued the copies. `warps` and `lanes` are -1 for
    the read of a tensor map. `operation` and `type` describe a reduction. They are empty for other accesses.

    Shapes: starts (byte offsets in `Arena.bytes`) and sizes (ranges,); warps and lanes (ranges,) or broadcastable.
    """

    kind: AccessKind
    starts: Array
    sizes: Array
    warps: Array
    lanes: Array
    operation: str
    type: str


@dataclass(frozen=True, slots=True, eq=False)
class CopyWrite(Event):
    """Write of bulk copies, with the source of each range of bytes. It precedes the write.

    `pc`, `warps` and `lanes` are the instruction and the threads that issued the copies. Each range has `size` bytes.
    `targets` and `sources` are byte offsets in the arrays of the memories `space` and `source_space`, "shared" or
    "global". A source is negative for bytes that fill a box. `updates` is True if a reduction combines the bytes with
    those of the target.

    Shapes: targets, sources, warps and lanes (ranges,) or broadcastable.
    """

    space: str
    targets: Array
    source_space: str
    sources: Array
    size: int
    warps: Array
    lanes: Array
    updates: bool


@dataclass(frozen=True, slots=True, eq=False)
class Commit(Event):
    """Commit of the uncommitted asynchronous operations of the active lanes."""

    batch: Batch
    group: Group


@dataclass(frozen=True, slots=True, eq=False)
class Wait(Event):
    """Wait of the active lanes for their committed groups, except the `pending` newest groups.

    `committed` is the number of committed groups. Shapes: committed (warps,), or (warps, 32) if `group` is "bulk".
    """

    batch: Batch
    group: Group
    pending: int
    reads_only: bool  # True if the wait ends once the sources have been read
    committed: Array


@dataclass(frozen=True, slots=True, eq=False)
class Complete(Event):
    """Asynchronous operations that take effect now.

    `numbers` contains the numbers of `Issue`, of `CopyIssue` if `group` is "bulk", or of `TensorIssue` if `group` is
    "tensor". `warps` contains the indices of the warps concerned, or None for bulk copies and for "tensor".
    """

    group: Group
    numbers: Array
    warps: Array | None
