"""Loads whose value is a guess: a compare-and-swap of the same place checks it before anything comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warploom.observe.sanitize.products import Registers, registers_of

if TYPE_CHECKING:
    from warploom.emulator.emulator import Emulator


def guesses(emulator: Emulator) -> frozenset[int]:
    """Program counters of weak loads whose value a compare-and-swap at the same address is given to compare with.

    Such a load races with the atomics of other threads by the letter, and NVIDIA's own headers begin their loops
    so: whatever it returns, the swap fails unless the value is still there.
    """
    steps = emulator.program.steps
    named = [step.binding.form.name for step in steps]
    compared: dict[Registers, set[tuple[int, int]]] = {}
    for each, name in zip(emulator.linked, named, strict=True):
        if name == "atomic.cas":
            compared.setdefault(registers_of(each.operands.a), set()).update(registers_of(each.operands.b))
    if not compared:
        return frozenset()
    moves = [
        (registers_of(each.operands.d), registers_of(each.operands.a))
        for each, name in zip(emulator.linked, named, strict=True)
        if name == "move.mov"
    ]
    for registers in compared.values():
        known = 0
        while known < len(registers):
            known = len(registers)
            registers.update(*(source for target, source in moves if target & registers))
    return frozenset(
        pc
        for pc, (each, name) in enumerate(zip(emulator.linked, named, strict=True))
        if name == "memory.ld"
        and registers_of(each.operands.d) & compared.get(registers_of(each.operands.a), set())
    )
