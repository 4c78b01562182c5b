"""Stops of a launch as results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.diagnostics import render
from warploom.diagnostics.wording import counted
from warploom.emulator.program import Program
from warploom.emulator.warp_splits import unpack
from warploom.observe.debug.warps import describe_lanes, describe_numbers
from warploom.runtime.debugging.breakpoints import Change, Stop
from warploom.runtime.debugging.focus import Executing, place_of
from warploom.view.debugger.context import Context, Watched
from warploom.view.debugger.results import Result
from warploom.view.debugger.wording import line_of

_TITLES = {
    "start": "Start of the launch", "step": "Step", "goto": "Moved", "exit": "The thread in focus has left the kernel",
    "interrupt": "Interrupted", "trap": "Trap", "deadlock": "Deadlock", "end": "End of the launch",
    "finding": "Finding",
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Stopped(Result):
    """Stop of a launch: the reason, the moment, the lanes that stopped, and the next instruction.

    `pc` is the next instruction of the thread in focus, or -1 if the thread has left the kernel. `watched` has the
    watched values by the number of the watch.
    """

    stop: Stop
    program: Program
    pc: int
    watched: Mapping[int, Watched]

    def text(self) -> str:
        """Return the reason and the lanes, the instruction, and what a trap, a watch or a finding reports."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        stop, program = self.stop, self.program
        title = _TITLES.get(stop.reason, "")
        if stop.reason == "breakpoint":
            title = describe_numbers("Breakpoint", stop.breakpoints)
        elif stop.changes:
            title = describe_numbers("Watch", [each.watch for each in stop.changes])
        where = f", instruction {stop.number:,} (batch {stop.moment.batch:,})"
        source = None if self.pc < 0 else program.source_line(self.pc)
        lanes = f": {describe_executing(stop.selected)}" if stop.selected else ""
        yield f"{title}{where}{lanes}{f'; {source}' if source is not None else ''}"
        yield from (line for change in stop.changes for line in self._change(change))
        if stop.error is not None:
            yield from render(stop.error.diagnostics).rstrip("\n").split("\n")
        if stop.findings:
            yield from render(stop.findings).rstrip("\n").split("\n")
        if self.pc >= 0:
            yield f"> {program.line_of(self.pc)}  {line_of(program, self.pc)}"

    def _change(self, change: Change) -> Iterator[str]:
        watched = self.watched[change.watch]
        yield f"  {watched.name}: {watched.text(change.old)} -> {watched.text(change.new)}"
        if change.pc >= 0:
            place = self.program.place_of(change.pc)
            yield f"  written by {describe_executing(change.writers)}, {place}: {line_of(self.program, change.pc)}"

    def data(self) -> Any:
        """Return the reason, the moment, and the instruction with its line."""
        stop = self.stop
        return {
            "reason": stop.reason, "wave": stop.moment.wave, "batch": stop.moment.batch, "number": stop.number,
            "pc": self.pc, "line": self.program.line_of(self.pc) if self.pc >= 0 else 0,
            "breakpoints": list(stop.breakpoints), "error": "" if stop.error is None else str(stop.error),
            "lanes": [{"cta": each.cta, "warp": each.warp, "lanes": lanes_of(each)} for each in stop.selected],
        }  # fmt: skip


def stopped(context: Context, stop: Stop) -> Stopped:
    """Return a stop with the next instruction of the thread in focus."""
    place = place_of(context.emulator, context.thread.warp, context.thread.lane)
    return Stopped(stop, context.program, -1 if place is None else place.pc, context.watched)


def lanes_of(executing: Executing) -> list[int]:
    """Return the lanes of a warp that execute."""
    return np.flatnonzero(unpack(np.array([executing.lanes], np.uint32))[0]).tolist()


def describe_executing(warps: Sequence[Executing]) -> str:
    """Return the lanes of some warps as a phrase, such as "CTA (1, 2, 0), warps 0-3, all lanes"."""
    if not warps:
        return ""
    ctas = sorted({each.cta for each in warps})
    first = f"CTA {ctas[0]}" + (f" and {counted(len(ctas) - 1, 'other CTA')}" if len(ctas) > 1 else "")
    numbers = describe_numbers("warp", sorted({each.warp for each in warps}))
    if len({each.lanes for each in warps}) == 1:
        return f"{first}, {numbers}, {describe_lanes(lanes_of(warps[0]))}"
    return f"{first}, {numbers}, {sum(each.lanes.bit_count() for each in warps)} lanes"
