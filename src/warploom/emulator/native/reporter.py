"""Events of the instructions that native code executes."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.events import Access, BlockEnd, BlockStart, Dispatcher, Guard, InstructionHandler
from warploom.emulator.link import Linked
from warploom.emulator.native.actions import MOST_BYTES, SPACES, Action
from warploom.emulator.native.context import Moment
from warploom.emulator.native.engine import NativeEngine
from warploom.emulator.state import State
from warploom.emulator.warps import Components, Warps
from warploom.isa.model.semantics import Array, Lanes


InstructionEvents = Callable[[int, Batch], None]


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
        self._executes: dict[int, InstructionEvents] = {}
        self._on_access = events.handler(Access)
        self._on_block_start = events.handler(BlockStart)
        self._on_block_end = events.handler(BlockEnd)

    def start(self, components: Components) -> None:
        """Prepare for the CTAs that have become resident."""
        self.components = components

    def report(self, pc: int, moment: int) -> None:
        """Create the events of the instruction at `pc`. `moment` is a value of `Moment`."""
        self.state.pc = pc
        if moment == Moment.EXECUTE:
            execute = self._executes.get(pc)
            if execute is None:
                execute = self._executes[pc] = self._choose(pc)
            execute(pc, self.native.batch(self._make_batch))
        elif moment == Moment.GUARD:
            self.guards[pc](Guard(pc, self.native.batch(self._make_batch)))
        elif moment == Moment.BEGIN:
            if self._on_block_start is not None:
                self._on_block_start(BlockStart(pc, self.native.batch(self._make_batch)))
        elif self._on_block_end is not None:
            self._on_block_end(BlockEnd(pc))

    def _make_batch(self, rows: NDArray[np.intp], warps: NDArray[np.intp], mask: Lanes | None) -> Warps:
        return Warps(self.state, self.components, rows, warps, mask)

    def _choose(self, pc: int) -> InstructionEvents:
        """Return a function that creates the events before the execution of the instruction at `pc`."""
        actions, handler, step = self.native.actions[pc], self.instructions.get(pc), self.linked[pc]
        kinds = {action.kind for action in actions or ()}
        report: InstructionEvents
        if actions is None:
            report = self._act
        elif "barrier" in kinds:
            report = self._report_barrier
        elif "issue" in kinds:
            report = self._report_issue
        else:
            report = partial(self._report_accesses, actions)
            if handler is None:
                return report

        def execute(pc: int, batch: Batch) -> None:
            if step.guard is not None:
                predicate = step.guard.fetch(batch)
                batch.guard(~predicate if step.negated else predicate)
            if handler is not None:
                handler(pc, batch, pc, 1)
            report(pc, batch)
            batch.unguard()

        return execute

    def _act(self, pc: int, batch: Batch) -> None:
        step = self.linked[pc]
        step.act(batch, step.operands)

    def _report_barrier(self, pc: int, batch: Batch) -> None:
        self.components.barriers.report_complete(batch, self.native.barrier_keys(batch.count))

    def _report_issue(self, pc: int, batch: Batch) -> None:
        self.components.asynchronous.report_issue(batch, "copy")

    def _report_accesses(self, actions: Sequence[Action], pc: int, batch: Batch) -> None:
        on_access = self._on_access
        if on_access is None:
            return
        accesses, count, location = self.native.accesses, batch.count, batch.location
        for number, action in enumerate(actions):
            first, last = number * count, (number + 1) * count
            index, lanes = accesses.index[first:last], accesses.lanes[first:last]
            values: Array | None = None
            if action.kind != "read":
                start = first * 32 * MOST_BYTES
                octets = accesses.values[start : start + count * 32 * action.size]
                values = octets.view(f"u{action.element}").reshape(action.elements, count, 32)
            parts = ((action.space, index, lanes),) if action.space else _parts(accesses.spaces[first:last], index, lanes)
            for space, reached, here in parts:
                access = Access(
                    pc, action.kind, space, location, reached, here, action.size, values, action.operation, action.type
                )
                on_access(access)


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
