"""Observers that handle the events of a run, and the dispatcher that passes events to them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar

from warploom.diagnostics import Diagnostic
from warploom.emulator.batch import Batch
from warploom.emulator.events import (
    Access,
    Allocate,
    Arrive,
    Barrier,
    Commit,
    Complete,
    CopyAccess,
    CopyIssue,
    CopyWrite,
    Event,
    Execute,
    Fence,
    GridControl,
    Guard,
    Issue,
    Launch,
    PhaseComplete,
    PhaseWait,
    Reads,
    TensorAllocate,
    TensorIssue,
    TensorTransferIssue,
    ThreadCopyIssue,
    Wait,
    WarpBarrier,
)
from warploom.emulator.program import Program
from warploom.isa.model import effects
from warploom.isa.model.form import Form

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
    effects.Issue: _OF_GROUPS
    | _OF_MBARRIERS
    | {ThreadCopyIssue, CopyIssue, CopyWrite, TensorIssue, TensorTransferIssue},
    effects.Commit: _OF_GROUPS,
    effects.Wait: _OF_GROUPS | _OF_MBARRIERS,
    effects.Arrive: _OF_MBARRIERS,
    effects.Barrier: frozenset({Barrier, WarpBarrier, PhaseComplete}),
    effects.Allocate: frozenset({Allocate, TensorAllocate}),
    effects.GridDependency: frozenset({GridControl}),
}
"""Events that an instruction may create, by its effects.

An instruction with groups or mbarriers changes a state that all of them share. It counts as an instruction that may
create any of their events.
"""

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
