"""Typed events of a run, the observers that handle them, and the dispatcher that connects both.

The emulator creates an event only if an observer handles events of its type. Observers never change the state of the
run, so the results do not depend on observers. Each event has the program counter `pc` of the executing instruction.
Warps and CTAs are identified by their indices in the resident wave, and warp splits by their indices in `WarpSplits`.
"""

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
from warploom.isa.model.semantics import Array
from warploom.layout import TensorMapFields

AccessKind = Literal["read", "write", "update"]
Group = Literal["copy", "bulk", "multiplication", ""]
"""Group that a commit closes, as in `isa.model.effects`.

"" stands for operations that belong to no group.
"""


@dataclass(frozen=True, slots=True)
class Launch:
    """Objects of a launch that observers may read. `instructions` is indexed by program counter."""

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
    """Event during the execution of the instruction at `pc`."""

    pc: int


# Progress -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resident(Event):
    """Start of a wave of CTAs. `splits` and `shared` are live state, which changes during the wave."""

    placement: Placement
    splits: WarpSplits
    shared: SharedMemory


@dataclass(frozen=True, slots=True)
class BlockStart(Event):
    """Start of the execution of a basic block by a batch. `pc` is the first instruction."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class BlockEnd(Event):
    """End of a basic block. Until the next BlockStart, only asynchronous operations take effect."""


@dataclass(frozen=True, slots=True)
class Suspend(Event):
    """Suspension of warp splits, which leave their batch with a new `status` (`warp_splits.Status`).

    `suspended` is a mask over the batch. `repeats` is True if the warp splits will execute the same instruction again.

    Shapes: suspended (warps,).
    """

    batch: Batch
    suspended: Array
    status: int
    repeats: bool


@dataclass(frozen=True, slots=True)
class Exit(Event):
    """Exit of warps whose lanes have all left the kernel."""

    warps: Array


# Instructions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard(Event):
    """Restriction of a batch's lanes by the guard predicate of an instruction, before the instruction."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class Execute(Event):
    """Execution of an instruction by a batch, before the instruction has any effect.

    Adjacent multiplications can execute together. Each of them then has an event, in which `first` is the program
    counter of the first multiplication and `length` is their number. For other instructions, `length` is 1.
    """

    batch: Batch
    operands: SimpleNamespace
    first: int
    length: int


@dataclass(frozen=True, slots=True)
class Access(Event):
    """Load, store or atomic update by lanes, before memory is accessed.

    `space` is "shared", "local" or "global". `index` has byte offsets in the array of this memory, and `size` is the
    number of bytes that each lane accesses. `values` are the stored elements. An atomic update has its `operation`,
    such as "add", and the PTX type `type` of its elements.

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
    """Execution of a fence by the active lanes. `effect` describes the fence (`isa.model.effects`)."""

    batch: Batch
    operands: SimpleNamespace
    effect: effects.Fence


@dataclass(frozen=True, slots=True)
class Barrier(Event):
    """Arrival of warps at a barrier (if `arrives` is True), their wait at the barrier, or both.

    `keys` identifies the barriers: cta * 16 + number for a CTA barrier, the index of the cluster for a cluster barrier,
    and the index of the warp for a warp barrier. `waits` marks the waiting warps: at a CTA or warp barrier even if this
    arrival completes the phase, at a cluster barrier only if the phase is incomplete. Shapes: keys and waits (warps,).
    """

    batch: Batch
    level: Literal["warp", "cta", "cluster"]
    arrives: bool
    keys: Array
    waits: Array


@dataclass(frozen=True, slots=True)
class Allocate(Event):
    """Request of warps to increase their registers to `count` per thread.

    `waits` marks the warps that must wait for registers of their CTA. Shapes: waits (warps,).
    """

    batch: Batch
    count: int
    waits: Array


# mbarriers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Arrive(Event):
    """Action of lanes on mbarriers (initialisation, arrival, …), before the action takes place.

    `index` has the byte offsets of the mbarriers in shared memory, `amounts` numbers of arrivals, and `transactions`
    numbers of bytes. `asynchronous` is True for an action of an asynchronous operation. Shapes: index and lanes (warps,
    32), amounts and transactions (warps, 32) or broadcastable.
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
    """Test by lanes if a phase of their mbarriers is complete.

    `index` has the byte offsets of the mbarriers in shared memory. `phase` has the parity of the phase that each lane
    tests, and `complete` marks the lanes whose phase is complete.

    Shapes: index, lanes and complete (warps, 32).
    """

    batch: Batch
    index: Array
    lanes: Array
    complete: Array
    phase: Array
    by_parity: bool


@dataclass(frozen=True, slots=True)
class PhaseComplete(Event):
    """Completion of barrier phases.

    `keys` has one entry for each completed phase: a key of `Barrier`, or the byte offset of an mbarrier divided by 8.
    """

    level: Literal["cta", "cluster", "mbarrier"]
    keys: Array


# Asynchronous operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Issue(Event):
    """Issue of an asynchronous operation by the active lanes of a batch.

    `number` is the index of the operation in order of issue. `groups` has the number of each warp's open commit group,
    to which the operation belongs. `length` is the number of instructions that form the operation.
    """

    batch: Batch
    group: Group
    number: int
    groups: Array
    length: int


class PendingCopies(Protocol):
    """Bulk copies that are queued and have not taken effect."""

    def preview(self, request: Any, position: int, lane: int, cta: int, start: int, size: int) -> bytes | None:
        """Return the bytes that a copy would write now to bytes [start, start + size) of `Arena.bytes`.

        The copy is that of `lane` of the warp with index `position` in the request, in CTA `cta`. The result is None if
        the copy does not write the whole range as an unchanged copy of contiguous bytes.
        """
        ...

    def pending_stores(self, warp: int, pc: int, start: int, size: int) -> list[bytes]:
        """Return the bytes that queued copies would write to the range [start, start + size) of `Arena.bytes`.

        Only copies by `warp` from the instruction at `pc` count, and only if `preview` returns bytes for them.
        """
        ...


@dataclass(frozen=True, slots=True)
class CopyIssue(Event):
    """Issue of bulk copies, one for each active lane, numbered consecutively from `first`.

    Copy i belongs to lane `lanes[i]` of warp `warps[i]`, whose index in the arrays of the request is `positions[i]`.
    `groups` has the number of the lane's open bulk group, or -1 for a copy that completes on an mbarrier. `tensor_maps`
    pairs each readable tensor map with the indices i of its copies.

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
    """Access of a bulk copy to byte ranges of global memory.

    A reduction has its `operation` and the PTX type `type` of its elements; both are empty for other accesses.

    Shapes: starts (byte offsets in `Arena.bytes`) and sizes (ranges,).
    """

    kind: AccessKind
    starts: Array
    sizes: Array
    operation: str
    type: str


@dataclass(frozen=True, slots=True)
class Commit(Event):
    """Commit of the active lanes' open group of asynchronous operations."""

    batch: Batch
    group: Group


@dataclass(frozen=True, slots=True)
class Wait(Event):
    """Wait of the active lanes for their committed groups, except for the `pending` newest groups.

    If `reads_only` is True, the wait ends once the sources have been read. `committed` counts the committed groups.

    Shapes: committed (warps,), or (warps, 32) if `group` is "bulk".
    """

    batch: Batch
    group: Group
    pending: int
    reads_only: bool
    committed: Array


@dataclass(frozen=True, slots=True)
class Complete(Event):
    """Asynchronous operations that take effect at this moment, for some of the warps that issued them.

    `numbers` contains the numbers of `Issue` events, and `warps` the indices of warps. If `group` is "bulk", `numbers`
    contains the numbers of bulk copies (see `CopyIssue`), and `warps` is None.
    """

    group: Group
    numbers: Array
    warps: Array | None


# Observers ------------------------------------------------------------------------------------------------

EventType = TypeVar("EventType", bound=Event)
Handler = Callable[[Any], None]
InstructionHandler = Callable[[int, Batch, int, int], None]
"""Function of a program counter, a batch, and the values of `first` and `length` for `Execute`."""


class Observer(ABC):
    """Observer of one launch.

    `attach` fills three dictionaries of functions that handle events. `handlers` is indexed by the type of event.
    `instructions`, for `Execute` events, and `guards`, for `Guard` events, are indexed by program counter.
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
        """Prepare for a launch and fill the dictionaries of handlers."""

    def stopped(self, found: Sequence[Diagnostic], pc: int) -> bool:
        """Return True if this observer turns the trap or deadlock `found`, raised at `pc`, into a finding.

        The run returns normally if any observer returns True. Otherwise it raises an error.
        """
        return False

    def findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings of the run."""
        return ()


class Dispatcher:
    """Handlers of all observers of a launch. Each event goes to the observers in their given order."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self.observers = tuple(observers)

    def attach(self, launch: Launch) -> None:
        """Attach the observers to a launch."""
        for each in self.observers:
            each.attach(launch)

    def handler(self, kind: type[EventType]) -> Callable[[EventType], None] | None:
        """Return a function that passes an event of type `kind` to all its handlers, or None if it has none."""
        return _in_turn([each.handlers[kind] for each in self.observers if kind in each.handlers])

    def instruction_handlers(self, launch: Launch) -> dict[int, InstructionHandler]:
        """Return, by program counter, functions that create the events of single instructions.

        Their types are `Execute`, `Fence` and, for warp barriers, `Barrier`. The emulator creates all other events.
        """
        executes = _by_pc([each.instructions for each in self.observers])
        on_fence, on_barrier = self.handler(Fence), self.handler(Barrier)
        found: dict[int, InstructionHandler] = {}
        for pc, step in enumerate(launch.program.steps):
            declared = [
                each
                for each in step.binding.form.effects
                if (on_fence is not None and isinstance(each, effects.Fence))
                or (on_barrier is not None and isinstance(each, effects.Barrier) and each.level == "warp")
            ]
            if pc in executes or declared:
                operands = launch.instructions[pc].operands
                found[pc] = _create_events(executes.get(pc), on_fence, on_barrier, operands, declared)
        return found

    def guard_handlers(self) -> dict[int, Callable[[Guard], None]]:
        """Return the handlers of `Guard` by program counter."""
        return _by_pc([each.guards for each in self.observers])

    def stopped(self, found: Sequence[Diagnostic], pc: int) -> bool:
        """Return True if any observer turns the trap or deadlock `found`, raised at `pc`, into a finding."""
        accepted = [each.stopped(found, pc) for each in self.observers]
        return any(accepted)

    def findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings of all observers."""
        return tuple(found for each in self.observers for found in each.findings())


def _create_events(
    execute: Handler | None, on_fence: Handler | None, on_barrier: Handler | None, operands: SimpleNamespace,
    declared: Sequence[effects.Effect],
) -> InstructionHandler:  # fmt: skip
    def create(pc: int, batch: Batch, first: int, length: int) -> None:
        if execute is not None:
            execute(Execute(pc, batch, operands, first, length))
        for effect in declared:
            if on_fence is not None and isinstance(effect, effects.Fence):
                on_fence(Fence(pc, batch, operands, effect))
            elif on_barrier is not None:
                on_barrier(Barrier(pc, batch, "warp", True, batch.warp_index, np.ones(batch.count, np.bool_)))

    return create


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
