"""Check that the warps of a warpgroup change their numbers of registers together."""

from dataclasses import dataclass

import numpy as np

from warploom.emulator.events import Allocate
from warploom.emulator.register_pools import registers_at_entry
from warploom.isa.model import effects
from warploom.observe.sanitize.clock_arrays import KNOWN
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import delete_guard, operand_text, replace_operand

_WARPS = 4


@dataclass(frozen=True, slots=True)
class _Change:
    """First warp of a warpgroup that executes a change, with program counter and register count."""

    pc: int
    count: int
    warp: int


class RegisterCounts:
    """Changes of register numbers by the warps of one wave of CTAs."""

    def __init__(self, context: Context) -> None:
        self.context = context
        topology = context.topology
        warps = np.arange(topology.warps)
        self._group = topology.cta_of * topology.warps_per_cta + topology.warp_in_cta // _WARPS
        self._members = {group: warps[self._group == group] for group in np.unique(self._group).tolist()}
        self._changes = np.zeros(topology.warps, np.int64)  # of each warp
        self._times = np.zeros((2, topology.warps), np.int64)  # of the last two changes, in the clock of the warp
        entry = context.program.analysis(registers_at_entry)
        self._counts = np.full(topology.warps, entry, np.int64)  # registers after the last change
        self._first: dict[tuple[int, int], _Change] = {}  # by warpgroup and number of the change

    def change(self, event: Allocate) -> None:
        """Report warps that change to another number than their warpgroup, or change without a barrier."""
        clocks, program = self.context.clocks, self.context.program
        warps = event.batch.warp_index[~event.waits]
        for warp in warps[self._counts[warps] != event.count].tolist():
            group, number = int(self._group[warp]), int(self._changes[warp])
            first = self._first.setdefault((group, number), _Change(event.pc, event.count, warp))
            if first.count != event.count:
                line = program.place_of(first.pc)
                text = f"changes to {event.count} registers; another warp of its warpgroup changes to {first.count} in"
                self._report(event.pc, warp, f"{text} {line}", first.pc)
            members = self._members[group]
            missing = self._changes[members] < number
            unordered = clocks.vectors[warp, KNOWN, clocks.own[members]] < self._times[(number - 1) % 2, members]
            late = members[(members != warp) & (number > 0) & (missing | unordered)]
            if len(late):
                text = (
                    "changes its registers again, but no barrier shows that its warpgroup has completed the last change"
                )
                self._report(event.pc, warp, text)
            self._counts[warp] = event.count
            self._changes[warp] += 1
            self._times[number % 2, warp] = clocks.clock[warp]

    def close(self) -> None:
        """Report changes that only some warps of a warpgroup have executed. Call this when the CTAs end."""
        for (group, number), first in self._first.items():
            members = self._members[group]
            done = int((self._changes[members] > number).sum())
            if done < len(members):
                text = f"changes its registers together with only {done} of the {len(members)} warps of its warpgroup"
                self._report(first.pc, first.warp, text)

    def _report(self, pc: int, warp: int, text: str, other: int = -1) -> None:
        program = self.context.program
        fix = delete_guard(program, pc)
        if other >= 0:
            effect = program.steps[pc].binding.form.effect(effects.Allocate)
            assert effect is not None
            fix = replace_operand(program, pc, effect.amount, operand_text(program, other, effect.amount))
        message = f"a warp {text}; {self.context.describe(warp)}"
        self.context.report.add("sanitize.registers/warpgroup", pc, other, message, fixes=(fix,))
