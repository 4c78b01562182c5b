"""Events of the instructions that native code executes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.events import Access, BlockEnd, BlockStart, Dispatcher, Guard, InstructionHandler
from warploom.emulator.link import Linked
from warploom.emulator.native.actions import MOST_BYTES, SPACES, Action
from warploom.emulator.native.context import Moment
from warploom.emulator.native.engine import NativeEngine
from warploom.emulator.shared_memory import Location
from warploom.emulator.state import State
from warploom.emulator.warps import Components, Warps
from warploom.isa.model.semantics import Array, Lanes


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
        self._on_access = events.handler(Access)
        self._on_block_start = events.handler(BlockStart)
        self._on_block_end = events.handler(BlockEnd)

    def start(self, components: Components) -> None:
        """Prepare for the CTAs that have become resident."""
        self.components = components

    def report(self, pc: int, moment: int) -> None:
        """Create the events of the instruction at `pc`. `moment` is a value of `Moment`."""
        self.state.pc = pc
        if moment == Moment.END:
            if self._on_block_end is not None:
                self._on_block_end(BlockEnd(pc))
            return
        batch = self.native.batch(self._make_batch)
        if moment == Moment.EXECUTE:
            self._execute(pc, batch)
        elif moment == Moment.GUARD:
            self.guards[pc](Guard(pc, batch))
        elif self._on_block_start is not None:
            self._on_block_start(BlockStart(pc, batch))

    def _make_batch(self, rows: NDArray[np.intp], warps: NDArray[np.intp], mask: Lanes | None) -> Warps:
        return Warps(self.state, self.components, rows, warps, mask)

    def _execute(self, pc: int, batch: Batch) -> None:
        step = self.linked[pc]
        if step.guard is not None:
            predicate = step.guard.fetch(batch)
            batch.guard(~predicate if step.negated else predicate)
        handler = self.instructions.get(pc)
        if handler is not None:
            handler(pc, batch, pc, 1)
        actions = self.native.actions[pc]
        if actions is None:
            step.act(batch, step.operands)
        else:
            self._report(pc, batch, actions)
        batch.unguard()

    def _report(self, pc: int, batch: Batch, actions: Sequence[Action]) -> None:
        number, location = 0, batch.location
        for action in actions:
            if action.kind == "barrier":
                self.components.barriers.report_complete(batch, self.native.barrier_keys(batch.count))
            elif action.kind == "issue":
                self.components.asynchronous.report_issue(batch, "copy")
                location = Location(location.warp, location.cta, True)
            else:
                if self._on_access is not None:
                    self._report_access(pc, number, action, location)
                number += 1

    def _report_access(self, pc: int, number: int, action: Action, location: Location) -> None:
        assert self._on_access is not None
        accesses = self.native.accesses
        count, size = len(location.warp), action.elements * action.element
        first, last = number * count, (number + 1) * count
        spaces, index, lanes = accesses.spaces[first:last], accesses.index[first:last], accesses.lanes[first:last]
        values: Array | None = None
        if action.kind != "read":
            start = first * 32 * MOST_BYTES
            octets = accesses.values[start : start + count * 32 * size]
            values = octets.view(f"u{action.element}").reshape(action.elements, count, 32)
        for space in sorted({*spaces.tolist()}):
            here, reached = lanes, index
            if not (spaces == space).all():  # addresses without a state space, in several of them
                here = lanes & (spaces == space)[:, None]
                reached = np.where(here, index, 0)
                if not here.any():
                    continue
            self._on_access(
                Access(
                    pc, action.kind, SPACES[space], location, reached, here, size, values, action.operation, action.type
                )
            )  # fmt: skip
