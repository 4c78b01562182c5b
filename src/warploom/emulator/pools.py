"""Registers that warps of a CTA hand to each other: a pool for each CTA, and the warps that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Awaited, Fault
from warploom.emulator.strands import State

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Machine
    from warploom.emulator.program import Program

Array = NDArray[Any]

REGISTERS = 65536  # of a multiprocessor
_MOST = 255
_UNIT = 8  # registers of a thread are allocated in eights
_WARPS = 4  # and warps in fours


def at_entry(program: Program) -> int:
    """Registers of a thread when the kernel starts, or 0 where nothing tells: the assembler then leaves
    every change of them out.

    They are what `.maxnreg` says, and no more than `.minnctapersm` CTAs of `.maxntid` or `.reqntid` threads leave.
    """
    said = program.directive(".maxnreg")
    bounds = [int(np.prod(limit)) for name in (".maxntid", ".reqntid") if (limit := program.directive(name))]
    least = program.directive(".minnctapersm")
    found = [said[0]] if said else []
    if bounds and least:
        threads = -(-min(bounds) // (32 * _WARPS)) * 32 * _WARPS * max(least[0], 1)
        found.append(min(REGISTERS // threads // _UNIT * _UNIT, _MOST))
    return -(-min(found) // _UNIT) * _UNIT if found else 0


class Pools:
    """What each warp holds and each CTA has left, in registers of a thread; a warp takes or gives for its threads.

    All registers of a CTA are its warps' when it starts. A warp that leaves keeps its own.
    """

    def __init__(self, machine: Machine, ctas: int) -> None:
        self.machine = machine
        self.entry = at_entry(machine.program)
        self.held = np.full(machine.warps, self.entry, np.int64)
        self.free = np.zeros(ctas, np.int64)
        self.waiting: dict[int, int] = {}  # strands that wait, and for how many registers

    def change(self, batch: Batch, count: int, take: bool) -> None:
        """Take registers up to `count`, or release those above it; strands whose pool is short are suspended."""
        if not self.entry:
            return
        warps, ctas = batch.warp_index, batch.place.cta
        more = count - self.held[warps]
        if not take:
            wrong = np.flatnonzero(more > 0)
            if len(wrong):
                held = int(self.held[warps[wrong[0]]])
                message = f"a warp releases registers above {count} for each thread and has only {held}"
                raise Fault("emulator.registers", message, int(wrong[0]) * 32)
            np.subtract.at(self.free, ctas, more)
            self.held[warps] = count
            self._wake(ctas)
            return
        stay = np.zeros(len(warps), np.bool_)
        for position, (warp, cta) in enumerate(zip(warps.tolist(), ctas.tolist(), strict=True)):
            need = int(more[position])
            if need <= 0:
                continue  # it has as many
            if need > self.free[cta]:
                stay[position] = True
            else:
                self.free[cta] -= need
                self.held[warp] = count
        if stay.any():
            for row in batch.suspend(stay, self.machine.pc, State.WAITING).tolist():
                self.waiting[row] = count

    def _wake(self, ctas: Array) -> None:
        machine = self.machine
        for row in [row for row in self.waiting if machine.cta_of[machine.strands.warp[row]] in ctas]:
            del self.waiting[row]
            machine.strands.state[row] = State.READY

    def awaited(self, slot: int) -> Awaited | None:
        """What a strand waits for; None when it waits elsewhere."""
        wanted = self.waiting.get(slot)
        if wanted is None:
            return None
        machine = self.machine
        warp = int(machine.strands.warp[slot])
        cta = int(machine.cta_of[warp])
        others = np.flatnonzero(machine.cta_of == cta)
        order = others[np.argsort(machine.in_cta[others])]
        more, left = wanted - int(self.held[warp]), int(self.free[cta])
        return Awaited(
            "registers",
            f"{more} more registers for each thread of a warp",
            f", where its CTA has {left} left; {_holders(self.held[order].tolist())}",
            (("wanted", more), ("left", left)),
        )


def _holders(held: list[int]) -> str:
    """Who holds what, in a phrase: runs of warps."""
    runs: list[tuple[int, int, int]] = []
    for warp, count in enumerate(held):
        if runs and runs[-1][2] == count:
            runs[-1] = runs[-1][0], warp, count
        else:
            runs.append((warp, warp, count))
    return ", ".join(
        f"warp {first} holds {count}" if first == last else f"warps {first} to {last} hold {count}"
        for first, last, count in runs
    )
