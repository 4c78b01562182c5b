"""Events of single instructions: `Execute`, and effects that no component of the emulator reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from warploom.emulator.batch import Batch
from warploom.emulator.events import Barrier, Dispatcher, Execute, Fence
from warploom.emulator.link import Linked
from warploom.emulator.program import Program, Step
from warploom.isa.model import effects

InstructionHandler = Callable[[int, Batch, int, int], None]


class InstructionEvents:
    """Handlers that create the `Execute`, `Fence` and warp-level `Barrier` events of single instructions.

    `handlers` has a function for each program counter with such events. Its arguments are the program counter, the
    batch, the first program counter of the run of instructions, and the length of the run.
    """

    def __init__(self, program: Program, linked: Sequence[Linked], events: Dispatcher) -> None:
        self._on_fence = events.handler(Fence)
        self._on_barrier = events.handler(Barrier)
        self.handlers: dict[int, InstructionHandler] = {}
        executes = events.instruction_handlers()
        for pc, step in enumerate(program.steps):
            found = [*self._effects(step, linked[pc])]
            if pc in executes:
                found.insert(0, self._execute(executes[pc], linked[pc]))
            if found:
                self.handlers[pc] = found[0] if len(found) == 1 else _all_of(found)

    def _effects(self, step: Step, linked: Linked) -> Iterator[InstructionHandler]:
        for effect in step.binding.form.effects:
            if isinstance(effect, effects.Fence) and self._on_fence is not None:
                yield self._fence(self._on_fence, linked, effect)
            elif isinstance(effect, effects.Barrier) and effect.level == "warp" and self._on_barrier is not None:
                yield self._warp_barrier(self._on_barrier)

    @staticmethod
    def _execute(handler: Callable[[Execute], None], linked: Linked) -> InstructionHandler:
        return lambda pc, batch, first, length: handler(Execute(pc, batch, linked.operands, first, length))

    @staticmethod
    def _fence(handler: Callable[[Fence], None], linked: Linked, effect: effects.Fence) -> InstructionHandler:
        return lambda pc, batch, first, length: handler(Fence(pc, batch, linked.operands, effect))

    @staticmethod
    def _warp_barrier(handler: Callable[[Barrier], None]) -> InstructionHandler:
        def barrier(pc: int, batch: Batch, first: int, length: int) -> None:
            handler(Barrier(pc, batch, "warp", True, batch.warp_index, np.ones(batch.count, np.bool_)))

        return barrier


def _all_of(handlers: Sequence[InstructionHandler]) -> InstructionHandler:
    def handle(pc: int, batch: Batch, first: int, length: int) -> None:
        for each in handlers:
            each(pc, batch, first, length)

    return handle
