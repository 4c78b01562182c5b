"""Register pools of CTAs, from which setmaxnreg allocates registers."""

from itertools import groupby

import numpy as np

from warploom.emulator.batch import Batch
from warploom.emulator.events import Allocate
from warploom.emulator.faults import Awaited, Fault
from warploom.emulator.observers import Dispatcher
from warploom.emulator.program import Program
from warploom.emulator.state import State
from warploom.emulator.warp_splits import Status
from warploom.isa.model.semantics import Array

REGISTERS = 65536  # registers of a multiprocessor
_MOST = 255
_UNIT = 8  # the hardware allocates registers of a thread in multiples of 8
_WARPS = 4  # the hardware allocates registers for warps in multiples of 4


def registers_at_entry(program: Program) -> int:
    """Return the number of registers of a thread at kernel entry, or 0 if no directive determines it."""
    # Without these directives, ptxas ignores setmaxnreg.
    limit = program.directive(".maxnreg")
    bounds = [int(np.prod(ntid)) for name in (".maxntid", ".reqntid") if (ntid := program.directive(name))]
    ctas = program.directive(".minnctapersm")
    found = [limit[0]] if limit else []
    if bounds and ctas:
        threads = -(-min(bounds) // (32 * _WARPS)) * 32 * _WARPS * max(ctas[0], 1)
        found.append(min(REGISTERS // threads // _UNIT * _UNIT, _MOST))
    return -(-min(found) // _UNIT) * _UNIT if found else 0


class RegisterPools:
    """Registers of each warp, and free registers in the pool of each CTA, counted per thread."""

    STATE = ("held", "free", "waiting")

    def __init__(self, state: State, entry: int, events: Dispatcher) -> None:
        self.state = state
        self._on_allocate = events.handler(Allocate)
        self.entry = entry
        self.held = np.zeros(state.topology.warps, np.int64)  # a warp that exits keeps its registers
        self.free = np.zeros(state.topology.ctas, np.int64)
        self.start()

    def start(self) -> None:
        """Give each warp of a new wave the registers at kernel entry."""
        self.held.fill(self.entry)
        self.free.fill(0)
        self.waiting: dict[int, int] = {}  # slot -> registers per thread that the warp split waits for

    def change(self, batch: Batch, count: int, take: bool) -> None:
        """Change the registers of each warp in a batch to `count` per thread.

        If `take` is set, the pool of the CTA provides the missing registers. Warp splits are suspended if the pool has
        too few. If `take` is not set, the pool receives the registers above `count`.

        Errors: Fault emulator.registers if a releasing warp has fewer registers than `count`.
        """
        warps, ctas = batch.warp_index, batch.location.cta
        more = count - self.held[warps]
        stay = np.zeros(len(warps), np.bool_)
        if not self.entry:
            self._report(batch, count, stay)
            return
        if not take:
            wrong = np.flatnonzero(more > 0)
            if len(wrong):
                held = int(self.held[warps[wrong[0]]])
                message = f"a warp releases the registers above {count} of each thread, but a thread has only {held}"
                raise Fault("emulator.registers", message, int(wrong[0]) * 32)
            np.subtract.at(self.free, ctas, more)
            self.held[warps] = count
            self._wake(ctas)
            self._report(batch, count, stay)
            return
        for position, (warp, cta) in enumerate(zip(warps.tolist(), ctas.tolist(), strict=True)):
            need = int(more[position])
            if need <= 0:
                continue
            if need > self.free[cta]:
                stay[position] = True
            else:
                self.free[cta] -= need
                self.held[warp] = count
        self._report(batch, count, stay)
        if stay.any():
            for row in batch.suspend(stay, self.state.pc, Status.WAITING).tolist():
                self.waiting[row] = count

    def _report(self, batch: Batch, count: int, stay: Array) -> None:
        if self._on_allocate is not None:
            self._on_allocate(Allocate(self.state.pc, batch, count, stay))

    def _wake(self, ctas: Array) -> None:
        splits, cta_of = self.state.splits, self.state.topology.cta_of
        for row in [row for row in self.waiting if cta_of[splits.warp[row]] in ctas]:
            del self.waiting[row]
            splits.status[row] = Status.READY

    def snapshot(self) -> object:
        """Return a value that is equal for two states with the same distribution of registers."""
        return self.held.tobytes(), self.free.tobytes()

    def awaited(self, slot: int) -> Awaited | None:
        """Return the registers that the warp split with index `slot` waits for, or None."""
        wanted = self.waiting.get(slot)
        if wanted is None:
            return None
        topology = self.state.topology
        warp = int(self.state.splits.warp[slot])
        cta = int(topology.cta_of[warp])
        others = np.flatnonzero(topology.cta_of == cta)
        order = others[np.argsort(topology.warp_in_cta[others])]
        more, left = wanted - int(self.held[warp]), int(self.free[cta])
        return Awaited(
            "registers",
            f"{more} more registers for each thread of a warp",
            f", but the CTA has {left} left; {_holders(self.held[order].tolist())}",
            (("wanted", more), ("left", left)),
        )


def _holders(held: list[int]) -> str:
    phrases: list[str] = []
    for count, run in groupby(range(len(held)), held.__getitem__):
        first, *rest = run
        phrases.append(f"warps {first} to {rest[-1]} hold {count}" if rest else f"warp {first} holds {count}")
    return ", ".join(phrases)
