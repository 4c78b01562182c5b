"""Waits in loops that count, which may end before the awaited phase is complete.

Under the lazy schedule, such a wait returns early up to `TRIES` times, and the warps that can reach the wait run ahead
of the others. A loop of at most `TRIES` iterations therefore ends before the phase is complete.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.link import Linked
from warploom.emulator.program import Program
from warploom.emulator.values import registers_of
from warploom.isa.model.effects import Wait

TRIES = 64
AHEAD = 2 * TRIES  # backward jumps by which warps run ahead

Registers = frozenset[tuple[int, int]]


def bounded_waits(program: Program, linked: Sequence[Linked]) -> frozenset[int]:
    """Return the program counters of mbarrier waits in loops that count.

    An iteration of the innermost loop reads a register that the previous iteration changed.
    """
    loops = [
        (pc - first, first, pc)
        for pc, following in enumerate(program.following)
        for first in following
        if 0 <= first <= pc
    ]
    found: set[int] = set()
    for pc, step in enumerate(program.steps):
        wait = step.binding.form.effect(Wait)
        if wait is not None and wait.on == "mbarrier":
            around = [loop for loop in loops if loop[1] <= pc <= loop[2]]
            if around and _counts(program, linked, *min(around)[1:]):
                found.add(pc)
    return frozenset(found)


def leads_to(program: Program, targets: Iterable[int]) -> NDArray[np.bool_]:
    """Return a mask of the instructions from which a thread may reach one of the instructions `targets`."""
    pending = list(targets)
    if not pending:
        return np.zeros(len(program.steps) + 1, np.bool_)
    before: list[list[int]] = [[] for _ in program.steps]
    for pc, following in enumerate(program.following):
        for each in following:
            before[each].append(pc)
    found = np.zeros(len(program.steps) + 1, np.bool_)
    while pending:
        pc = pending.pop()
        if not found[pc]:
            found[pc] = True
            pending.extend(before[pc])
    return found


def _counts(program: Program, linked: Sequence[Linked], first: int, last: int) -> bool:
    """Return True if the loop from `first` to `last` reads registers that its last iteration changed."""
    carried: Registers = frozenset()
    written: Registers = frozenset()
    for pc in range(first, last + 1):
        specs, each = program.steps[pc].binding.form.operands, linked[pc]
        used = [(spec.access, registers_of(getattr(each.operands, name))) for name, spec in specs.items()]
        read = registers_of(each.guard).union(*(registers for access, registers in used if access != "write"))
        carried |= read - written
        written = written.union(*(registers for access, registers in used if access != "read"))
    return not carried.isdisjoint(written)
