"""Typed events of a run, the observers that handle them, and the dispatcher between the two.

The emulator makes an event only if an observer handles its type. Observers read and never change anything: a run has
the same results with and without them. Every event has the program counter `pc` of the instruction that is executing.
Indices of warps, CTAs and slots of warp splits are those of the resident CTAs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from warploom.emulator.state import Counters
from warploom.emulator.warp_splits import WarpSplits
from warploom.isa.model import effects
from warploom.layout import TensorMapFields

Array = NDArray[Any]
AccessKind = Literal["read", "write", "update"]
Group = Literal["copy", "bulk", "multiplication", ""]
"""Group of asynchronous operations as in `isa.model.effects`; "" for operations that are in no group."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Facts of a launch that observers may read while it runs.

    `instructions` are indexed by program counter.
    """

    program: Program
    instructions: Sequence[Linked]
    grid: Grid
    topology: Topology
    arch: str
    schedule: Schedule
    arena: Arena
    counters: Counters


@dataclass(frozen=True, slots=True)
class Event:
    """Event at the instruction `pc`."""

    pc: int


# Progress -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resident(Event):
    """Start of CTAs, with new registers, barriers and shared memory. The tables change while they run."""

    placement: Placement
    splits: WarpSplits
    shared: SharedMemory


@dataclass(frozen=True, slots=True)
class BlockStart(Event):
    """Start of a basic block, which a batch is about to execute from `pc` on."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class BlockEnd(Event):
    """End of a basic block. Until the next one starts, only asynchronous operations take effect."""


@dataclass(frozen=True, slots=True)
class Suspend(Event):
    """Departure of warp splits from their batch. `status` is that of `WarpSplits`.

    `repeats` is set if they will execute the same instruction again. Shapes: suspended (warps,).
    """

    batch: Batch
    suspended: Array
    status: int
    repeats: bool


@dataclass(frozen=True, slots=True)
class Exit(Event):
    """Exit of warps, all of whose lanes have left the kernel."""

    warps: Array


# Instructions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard(Event):
    """Evaluation of an instruction's guard for all lanes of a batch."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class Execute(Event):
    """Execution of an instruction by a batch, before its effects.

    Instructions of a run execute together: `first` is the program counter of the run, and `length` its instructions.
    """

    batch: Batch
    operands: SimpleNamespace
    first: int
    length: int


@dataclass(frozen=True, slots=True)
class Access(Event):
    """Load, store or atomic update of lanes, before it takes place.

    `space` is "shared", "local" or "global". `index` are byte offsets in that memory, and `size` is the access of a
    lane in bytes. Stores and updates have the stored `values`, updates an `operation` on elements of a `type`.

    Shapes: index and lanes (warps, 32), values (elements, warps, 32) or broadcastable.
    """

    kind: AccessKind
    space: str
    location: Location
    index: Array
    lanes: Array
    size: int
    values: Array | None
    operation: str
    type: str


@dataclass(frozen=True, slots=True)
class Fence(Event):
    """Fence of active lanes. `effect` is declared on its Form."""

    batch: Batch
    operands: SimpleNamespace
    effect: effects.Fence


@dataclass(frozen=True, slots=True)
class Barrier(Event):
    """Arrival of warps at a barrier (`arrives`), or wait of warps at it, or both.

    `keys` are the barriers: cta * 16 + number, the cluster, or the warp. `waits` marks the warps that wait if the phase
    is incomplete; at a cluster barrier, only those whose phase is incomplete. Shapes: keys and waits (warps,).
    """

    batch: Batch
    level: Literal["warp", "cta", "cluster"]
    arrives: bool
    keys: Array
    waits: Array


@dataclass(frozen=True, slots=True)
class Allocate(Event):
    """Request of warps for registers of their CTA's pool. `waits` marks those that must wait.

    Shapes: waits (warps,).
    """

    batch: Batch
    count: int
    waits: Array


# mbarriers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Arrive(Event):
    """Action of lanes on mbarrier objects at byte offsets `index` of shared memory, before it takes place.

    Shapes: index and lanes (warps, 32), amounts and transactions (warps, 32) or broadcastable.
    """

    batch: Batch
    action: str
    index: Array
    lanes: Array
    amounts: Array
    transactions: Array
    asynchronous: bool


@dataclass(frozen=True, slots=True)
class PhaseWait(Event):
    """Test of mbarrier objects for the completion of a phase.

    `complete` marks lanes that find it complete. `phase` has the parity that they wait for. Shapes: index, lanes and
    complete (warps, 32).
    """

    batch: Batch
    index: Array
    lanes: Array
    complete: Array
    phase: Array
    by_parity: bool


@dataclass(frozen=True, slots=True)
class PhaseComplete(Event):
    """Completion of phases of barriers.

    `keys` are those of `Barrier`, or byte offsets / 8 of mbarriers, once for each completed phase.
    """

    level: Literal["cta", "cluster", "mbarrier"]
    keys: Array


# Asynchronous operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Issue(Event):
    """Issue of an asynchronous operation by the active lanes of a batch.

    Operations are numbered. `groups` is the number of the open group of each warp, and `length` the number of
    instructions in the operation.
    """

    batch: Batch
    group: Group
    number: int
    groups: Array
    length: int


class PendingCopies(Protocol):
    """Bulk copies that have not taken effect."""

    def preview(self, request: Any, position: int, lane: int, cta: int, start: int, size: int) -> bytes | None:
        """Return what the copy of one lane would now write at [start, start + size) of the arena."""
        ...

    def pending_stores(self, warp: int, pc: int, start: int, size: int) -> list[bytes]:
        """Return what pending copies, issued by a warp at `pc`, write at [start, start + size) of the arena."""
        ...


@dataclass(frozen=True, slots=True)
class CopyIssue(Event):
    """Issue of bulk copies, one for each active lane, with consecutive numbers from `first` on.

    `positions` are the indices of their warps in the request's arrays. `groups` are the open bulk groups of the lanes,
    -1 for copies that complete on an mbarrier. `tensor_maps` groups the copies by readable tensor maps.

    Shapes: positions, lanes, warps and groups (copies,).
    """

    batch: Batch
    request: Any
    positions: Array
    lanes: Array
    warps: Array
    groups: Array
    first: int
    tensor_maps: Sequence[tuple[TensorMapFields, NDArray[np.intp]]]
    pending: PendingCopies


@dataclass(frozen=True, slots=True)
class CopyAccess(Event):
    """Access of a bulk copy to byte ranges of global memory. Updates have an `operation` on a `type`.

    Shapes: starts and sizes (ranges,), byte offsets in the arena.
    """

    kind: AccessKind
    starts: Array
    sizes: Array
    operation: str
    type: str


@dataclass(frozen=True, slots=True)
class Commit(Event):
    """End of the open group of asynchronous operations of the active lanes."""

    batch: Batch
    group: Group


@dataclass(frozen=True, slots=True)
class Wait(Event):
    """Wait of active lanes for all but the `pending` newest groups of asynchronous operations.

    With `reads_only`, the wait ends when the sources have been read. `committed` counts the closed groups. Shapes:
    committed (warps,), for bulk groups (warps, 32).
    """

    batch: Batch
    group: Group
    pending: int
    reads_only: bool
    committed: Array


@dataclass(frozen=True, slots=True)
class Complete(Event):
    """Moment at which asynchronous operations take effect, for some of the warps that issued them.

    `numbers` are those of `Issue`. If `group` is "bulk", they are those of the copies of `CopyIssue`, and `warps` is
    None.
    """

    group: Group
    numbers: Array
    warps: Array | None


# Observers ------------------------------------------------------------------------------------------------

EventType = TypeVar("EventType", bound=Event)
Handler = Callable[[Any], None]


class Observer(ABC):
    """Observer of one launch.

    `attach` sets the handlers: `handlers` by event type, `instructions` for `Execute` and `guards` for `Guard` at
    single program counters.
    """

    handlers: Mapping[type[Event], Handler]
    instructions: Mapping[int, Callable[[Execute], None]]
    guards: Mapping[int, Callable[[Guard], None]]

    def __init__(self) -> None:
        self.handlers = {}
        self.instructions = {}
        self.guards = {}

    @abstractmethod
    def attach(self, launch: Launch) -> None:
        """Prepare for a launch and set the handlers."""

    def stopped(self, found: Sequence[Diagnostic], pc: int) -> bool:
        """Return True if the trap or deadlock that ends the run at `pc` is a finding and no error."""
        return False

    def findings(self) -> tuple[Diagnostic, ...]:
        """Return what was found."""
        return ()


class Dispatcher:
    """Handlers of all observers of a launch. Observers handle an event in their order."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self.observers = tuple(observers)

    def attach(self, launch: Launch) -> None:
        """Attach the observers to a launch."""
        for each in self.observers:
            each.attach(launch)

    def handler(self, kind: type[EventType]) -> Callable[[EventType], None] | None:
        """Return the function that handles events of a type, or None if no observer does."""
        return _in_turn([each.handlers[kind] for each in self.observers if kind in each.handlers])

    def instruction_handlers(self) -> dict[int, Callable[[Execute], None]]:
        """Return the handlers of `Execute` by program counter."""
        return _by_pc([each.instructions for each in self.observers])

    def guard_handlers(self) -> dict[int, Callable[[Guard], None]]:
        """Return the handlers of `Guard` by program counter."""
        return _by_pc([each.guards for each in self.observers])

    def stopped(self, found: Sequence[Diagnostic], pc: int) -> bool:
        """Return True if an observer accepts the trap or deadlock at `pc` as a finding."""
        accepted = [each.stopped(found, pc) for each in self.observers]
        return any(accepted)

    def findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings of all observers."""
        return tuple(found for each in self.observers for found in each.findings())


def _in_turn(handlers: Sequence[Handler]) -> Handler | None:
    if len(handlers) < 2:
        return next(iter(handlers), None)

    def handle(event: Event) -> None:
        for each in handlers:
            each(event)

    return handle


def _by_pc(tables: Sequence[Mapping[int, Handler]]) -> dict[int, Handler]:
    found: dict[int, Handler] = {}
    for pc in {pc for table in tables for pc in table}:
        handler = _in_turn([table[pc] for table in tables if pc in table])
        assert handler is not None
        found[pc] = handler
    return found
