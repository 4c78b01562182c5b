"""Typed events of a run, the observers that handle events, and the dispatcher that connects both.

Each event has the program counter `pc` of the executing instruction. Warps and CTAs are given by their indices in the
resident wave, and warp splits by their indices in `WarpSplits`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
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
from warploom.isa.model.form import Form
from warploom.isa.model.semantics import Array
from warploom.layout import TensorMapFields
from warploom.lazy_dataclass import dataclass

AccessKind = Literal["read", "write", "update"]
Group = Literal["copy", "bulk", "multiplication", ""]
"""Group that a commit closes, as in `isa.model.effects`.

"" stands for operations that belong to no group.
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
    another type. An observer without a handler for it gets the other events. `pc` is the last instruction. The arrays
    are valid until the handler returns.

    Read k is by `counts[k]` warps, each of whose lanes reads `sizes[k]` bytes. `kinds[k]` is its position in
    `READ_KINDS`. `firsts[k]` is the first of its rows in `warps`, `index` and `lanes`, one for each warp, which are
    those of `Access`. A thread copy has as many further rows: first come its sources and the lanes in `reading`, then
    its targets and the lanes in `lanes` (see `ThreadCopyIssue`).

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

    `numbers` contains the numbers of `Issue` or, if `group` is "bulk", of `CopyIssue`. `warps` contains the indices of
    the warps concerned, or None for bulk copies.
    """

    group: Group
    numbers: Array
    warps: Array | None


_OF_GROUPS = frozenset[type[Event]]({Issue, Commit, Wait, Complete})
_OF_MBARRIERS = frozenset[type[Event]]({Arrive, PhaseWait, PhaseComplete})
_EVENTS: Mapping[type[effects.Effect], frozenset[type[Event]]] = {
    effects.Control: frozenset(),
    effects.Collective: frozenset(),
    effects.Members: frozenset(),
    effects.Flow: frozenset(),
    effects.Multiply: frozenset(),
    effects.Access: frozenset({Access, CopyAccess}),
    effects.Fence: frozenset({Fence}),
    effects.Issue: _OF_GROUPS | _OF_MBARRIERS | {ThreadCopyIssue, CopyIssue},
    effects.Commit: _OF_GROUPS,
    effects.Wait: _OF_GROUPS | _OF_MBARRIERS,
    effects.Arrive: _OF_MBARRIERS,
    effects.Barrier: frozenset({Barrier, WarpBarrier, PhaseComplete}),
    effects.Allocate: frozenset({Allocate}),
}
"""Events that an instruction may create, by its effects.

An instruction with groups or mbarriers changes a state that all of them share. It counts as an instruction that may
create any of their events.
"""

# Observers ------------------------------------------------------------------------------------------------

EventType = TypeVar("EventType", bound=Event)
Key = TypeVar("Key")
Handler = Callable[[Any], None]
InstructionHandler = Callable[[int, Batch, int, int], None]
"""Function of a program counter, a batch, and the values of `first` and `length` for `Execute`."""


class Observer(ABC):
    """Observer of one launch.

    `attach` fills three dictionaries of functions. `handlers` is indexed by the type of event. `instructions` (for
    `Execute`) and `guards` (for `Guard`) are indexed by program counter.

    `counts_executions` is True for an observer that needs `Launch.executions`.
    """

    counts_executions = False
    handlers: Mapping[type[Event], Handler]
    instructions: Mapping[int, Callable[[Execute], None]]
    guards: Mapping[int, Callable[[Guard], None]]

    def __init__(self) -> None:
        self.handlers = {}
        self.instructions = {}
        self.guards = {}

    @abstractmethod
    def attach(self, launch: Launch) -> None:
        """Prepare for a launch and fill the dictionaries of handlers."""

    def stopped(self, found: Sequence[Diagnostic], pc: int) -> None:  # noqa: B027 - most observers ignore the end
        """Record the error `found` that ended the run at `pc`."""

    def findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings of the run."""
        return ()


class Dispatcher:
    """Handlers of all observers of a launch."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self.observers = tuple(observers)
        self._handlers: dict[type[Event], Handler] = {}

    def attach(self, launch: Launch) -> None:
        """Attach the observers to a launch."""
        for each in self.observers:
            each.attach(launch)
        self._handlers = _joined([_with_reads(each.handlers) for each in self.observers])

    @property
    def counts_executions(self) -> bool:
        """True if an observer needs `Launch.executions`."""
        return any(each.counts_executions for each in self.observers)

    def handler(self, kind: type[EventType]) -> Callable[[EventType], None] | None:
        """Return a function that passes an event of type `kind` to all its handlers.

        Return None if the type has no handlers.
        """
        return self._handlers.get(kind)

    def observes(self, form: Form) -> bool:
        """Return True if instructions of a Form may create an event that has a handler.

        Handlers of `Execute`, `Guard`, `Suspend` and of the progress of warps do not count.
        """
        return any(not self._handlers.keys().isdisjoint(_EVENTS[type(effect)]) for effect in form.effects)

    def instruction_handlers(self, launch: Launch) -> dict[int, InstructionHandler]:
        """Return functions that create the events of single instructions, by program counter.

        The events are `Execute`, `Fence` and, for warp barriers that a whole warp executes together, `WarpBarrier`.
        """
        executes = _joined([each.instructions for each in self.observers])
        on_fence, on_barrier = self.handler(Fence), self.handler(WarpBarrier)
        fences, barriers = launch.program.analysis(_find_fences)
        pcs = {*executes, *(fences if on_fence is not None else ()), *(barriers if on_barrier is not None else ())}
        return {
            pc: _create_events(
                executes.get(pc), on_fence, on_barrier if pc in barriers else None, launch.instructions[pc].operands,
                fences.get(pc, ()),
            )
            for pc in pcs
        }  # fmt: skip

    def guard_handlers(self) -> dict[int, Callable[[Guard], None]]:
        """Return the handlers of `Guard` by program counter."""
        return _joined([each.guards for each in self.observers])

    def stopped(self, found: Sequence[Diagnostic], pc: int) -> None:
        """Tell all observers that the error `found` ended the run at `pc`."""
        for each in self.observers:
            each.stopped(found, pc)

    def findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings of all observers."""
        return tuple(found for each in self.observers for found in each.findings())


def _create_events(
    execute: Handler | None, on_fence: Handler | None, on_barrier: Handler | None, operands: SimpleNamespace,
    fences: Sequence[effects.Fence],
) -> InstructionHandler:  # fmt: skip
    def create(pc: int, batch: Batch, first: int, length: int) -> None:
        if execute is not None:
            execute(Execute(pc, batch, operands, first, length))
        if on_fence is not None:
            for effect in fences:
                on_fence(Fence(pc, batch, operands, effect))
        if on_barrier is not None:
            on_barrier(WarpBarrier(pc, batch.warp_index, batch.active()))

    return create


def _find_fences(program: Program) -> tuple[dict[int, tuple[effects.Fence, ...]], frozenset[int]]:
    """Return the fences of each instruction, and the warp barriers that a whole warp executes together."""
    forms = [step.binding.form for step in program.steps]
    fences = {pc: fences for pc, form in enumerate(forms) if (fences := form.effects_of(effects.Fence))}
    barriers = (
        pc
        for pc, form in enumerate(forms)
        if form.collective == "warp" and any(each.level == "warp" for each in form.effects_of(effects.Barrier))
    )
    return fences, frozenset(barriers)


def _with_reads(handlers: Mapping[type[Event], Handler]) -> Mapping[type[Event], Handler]:
    """Return handlers with one for `Reads`, which calls those for single reads."""
    single = {kind: handlers[kind] for kind in (Access, ThreadCopyIssue) if kind in handlers}
    if not single or Reads in handlers:
        return handlers

    def handle(event: Reads) -> None:
        for k in range(len(event.pcs)):
            each = event.single(k)
            if (handler := single.get(type(each))) is not None:
                handler(each)

    return {**handlers, Reads: handle}


def in_turn(handlers: Sequence[Handler]) -> Handler | None:
    """Return a function that passes an event to all handlers, or None if there are none."""
    if len(handlers) < 2:
        return next(iter(handlers), None)

    def handle(event: Event) -> None:
        for each in handlers:
            each(event)

    return handle


def _joined(tables: Sequence[Mapping[Key, Handler]]) -> dict[Key, Handler]:
    """Return a function for each key of the tables, which calls the functions of all tables with this key."""
    if len(tables) == 1:
        return dict(tables[0])
    found: dict[Key, Handler] = {}
    for key in {key for table in tables for key in table}:
        handler = in_turn([table[key] for table in tables if key in table])
        assert handler is not None
        found[key] = handler
    return found
