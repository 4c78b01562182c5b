"""Construction of the errors that end a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warploom.emulator.deadlock import DeadlockReport
from warploom.emulator.endless import EndlessLoops
from warploom.emulator.faults import Deadlock, Fault, Trap, diagnostic
from warploom.emulator.link import Linked
from warploom.emulator.program import Program
from warploom.emulator.recent_blocks import busiest
from warploom.emulator.state import State
from warploom.emulator.waiting import Waiting
from warploom.emulator.warps import Components

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.repetition import Repetition


class RunErrors:
    """Source of the errors of a program that executes."""

    def __init__(
        self, state: State, program: Program, linked: Sequence[Linked], components: Components, waiting: Waiting
    ) -> None:
        self.state = state
        self.program = program
        self.linked = linked
        self.components = components
        self.waiting = waiting

    def trap(self, fault: Fault, batch: Batch | None) -> Trap:
        """Return the trap for a fault of the executing instruction. `batch` is the executing batch."""
        pc, warp, lane = self.state.pc, -1, -1
        if self.state.origin is not None:
            pc, warp, lane = self.state.origin
        elif fault.lane >= 0 and batch is not None and batch.count:
            warp, lane = int(batch.warp_index[fault.lane // 32]), fault.lane % 32
        message = f"{fault.message}; {self.state.placement.describe(warp, lane)}"
        span = self.program.span_of(pc)
        return Trap([diagnostic(fault.code, message, self.program.source, span, fault.hint)])

    def stuck(self, repetition: Repetition | None, batch: Batch | None) -> Trap | Deadlock:
        """Return the error for warps that cannot continue.

        `repetition` is the search that found endless loops, or None if all warp splits are suspended.
        """
        parts = self.components
        fault = parts.control.fault_of_partially_arrived()
        if fault is not None:
            return self.trap(fault, batch)
        loops = None
        if repetition is not None:
            loops = EndlessLoops(self.state, self.program, self.linked, parts, repetition)
        return DeadlockReport(self.state, self.program, self.linked, self.waiting, loops).error()

    def runaway(self, location: str, recent: Sequence[int]) -> Trap:
        """Return the trap for a run that exceeds its step budget.

        `location` describes where the run is. `recent` is the result of `recent_blocks`.
        """
        counters = self.state.counters
        message = (
            f"the kernel exceeded the step budget after {counters.instructions} warp instructions in "
            f"{counters.batches} batches; {location}"
        )
        hint = "a loop may never end; raise WARPLOOM_STEP_BUDGET if the kernel needs more steps"
        span = self.program.span_of(busiest(self.program, recent))
        return Trap([diagnostic("emulator.runaway", message, self.program.source, span, hint)])
