"""Events of the instructions that native code executes."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.events import Access, AccessKind, BlockEnd, BlockStart, Complete, Guard, Issue, ThreadCopyIssue
from warploom.emulator.link import Linked
from warploom.emulator.native.actions import MOST_BYTES, SPACES, Action
from warploom.emulator.native.context import Moment
from warploom.emulator.native.engine import NativeEngine
from warploom.emulator.observers import Dispatcher, InstructionHandler
from warploom.emulator.state import State
from warploom.emulator.warps import Components, Warps
from warploom.isa.model.semantics import Array, Lanes

InstructionEvents = Callable[[int, Batch | None], None]
"""Function of a program counter and the batch. None stands for a batch that no event needs."""


class Reporter:
    """Source of the events of the instructions that native code executes.

    `guards` and `instructions` are those of `Dispatcher`. The events are equal to those of the interpreter.
    """

    def __init__(
        self, native: NativeEngine, state: State, linked: Sequence[Linked], events: Dispatcher,
        guards: Mapping[int, Callable[[Guard], None]], instructions: Mapping[int, InstructionHandler],
    ) -> None:  # fmt: skip
        self.native = native
        self.state = state
        self.linked = linked
        self.guards = guards
        self.instructions = instructions
        self._executes: dict[int, Callable[[int], None]] = {}
        self._on_access = events.handler(Access)
        self._on_thread_copy = events.handler(ThreadCopyIssue)
        self._on_issue = events.handler(Issue) or events.handler(Complete)
        self._on_block_start = events.handler(BlockStart)
        self._on_block_end = events.handler(BlockEnd)

    def start(self, components: Components) -> None:
        """Prepare for a new wave."""
        self.components = components

    def report(self, pc: int, moment: int) -> None:
        """Create the events of the instruction at `pc`. `moment` is a value of `Moment`."""
        self.state.pc = pc
        if moment == Moment.EXECUTE:
            execute = self._executes.get(pc)
            if execute is None:
                execute = self._executes[pc] = self._choose(pc)
            execute(pc)
        elif moment == Moment.GUARD:
            self.guards[pc](Guard(pc, self._batch()))
        elif moment == Moment.BEGIN:
            if self._on_block_start is not None:
                self._on_block_start(BlockStart(pc, self._batch()))
        elif self._on_block_end is not None:
            self._on_block_end(BlockEnd(pc))

    def _batch(self) -> Batch:
        return self.native.batch(self._make_batch)

    def _make_batch(self, rows: NDArray[np.intp], warps: NDArray[np.intp], mask: Lanes | None) -> Warps:
        return Warps(self.state, self.components, rows, warps, mask)

    def _choose(self, pc: int) -> Callable[[int], None]:
        """Return the function that creates the events of the instruction at `pc` before its execution."""
        actions, step, length = self.native.actions[pc], self.linked[pc], self.native.length(pc)
        handlers = [(each, self.instructions[each]) for each in range(pc, pc + length) if each in self.instructions]
        kinds = {action.kind for action in actions or ()}
        report: InstructionEvents
        if actions is None:
            report = self._act
        elif "barrier" in kinds:
            report = self._report_barrier
        elif "copy" in kinds:
            report = partial(self._report_copy, actions[0].element)
        else:
            report = partial(self._report_accesses, actions)
        if not handlers and actions and "barrier" not in kinds and (self._on_issue is None or "copy" not in kinds):
            return lambda pc: report(pc, None)

        def execute(pc: int) -> None:
            batch = self._batch()
            if step.guard is not None:
                predicate = step.guard.fetch(batch)
                batch.guard(~predicate if step.negated else predicate)
            for each, handler in handlers:
                handler(each, batch, pc, length)
            report(pc, batch)
            batch.unguard()

        return execute

    def _act(self, pc: int, batch: Batch | None) -> None:
        step = self.linked[pc]
        step.act(batch, step.operands)

    def _report_barrier(self, pc: int, batch: Batch | None) -> None:
        assert batch is not None
        self.components.barriers.report_complete(batch, self.native.barrier_keys(batch.count))

    def _report_copy(self, size: int, pc: int, batch: Batch | None) -> None:
        if self._on_thread_copy is not None:
            location, accesses = self.native.location(), self.native.accesses
            first, count = self.native.first_access, len(location.warp)
            middle, end = first + count, first + 2 * count
            sources, reading = accesses.index[first:middle], accesses.lanes[first:middle]
            targets, lanes = accesses.index[middle:end], accesses.lanes[middle:end]
            event = ThreadCopyIssue(pc, location, size, sources, targets, lanes, reading, reading)
            self._on_thread_copy(event)
        if batch is not None:
            self.components.asynchronous.report_issue(batch, "copy")

    def _report_accesses(self, actions: Sequence[Action], pc: int, batch: Batch | None) -> None:
        on_access = self._on_access
        if on_access is None:
            return
        accesses, location = self.native.accesses, self.native.location()
        count = len(location.warp)
        for number, action in enumerate(actions):
            first = self.native.first_access + number * count
            last = first + count
            index, lanes = accesses.index[first:last], accesses.lanes[first:last]
            values: Array | None = None
            if action.kind != "read":
                start = number * count * 32 * MOST_BYTES
                octets = accesses.values[start : start + count * 32 * action.size]
                values = octets.view(f"u{action.element}").reshape(action.elements, count, 32)
            parts = [(action.space, index, lanes)]
            if not action.space:
                parts = _parts(accesses.spaces[first:last], index, lanes)
            kind, size = cast("AccessKind", action.kind), action.size
            for space, reached, here in parts:
                on_access(Access(pc, kind, space, location, reached, here, size, values, action.operation, action.type))


def _parts(spaces: Array, index: Array, lanes: Lanes) -> list[tuple[str, Array, Lanes]]:
    """Divide an access by state space. Return the space, the byte offsets and the lanes of each part.

    `spaces` has the positions in `SPACES`. Shapes: spaces (warps,), index and lanes (warps, 32).
    """
    found: list[tuple[str, Array, Lanes]] = []
    for number, space in enumerate(SPACES):
        which = spaces == number
        if which.all():
            return [(space, index, lanes)]
        here = lanes & which[:, None]
        if here.any():
            found.append((space, np.where(here, index, 0), here))
    return found
