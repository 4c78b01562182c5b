"""Separation of minus signs and selectors from the registers of an instruction.

The emulator executes `vmad.s32.s32.s32 %r0, -%r1.h1, %r2, %r3` as an instruction with the register `%r1`, the slot
`minus_a` = "-" and the slot `asel` = "h1".
"""

import re
from dataclasses import replace

from warploom.isa.binding.bind import Binding
from warploom.ptx import Name, Negated


def separate_marks(binding: Binding) -> Binding:
    """Return a binding with plain registers, whose slots have the minus signs and selectors.

    The slot of a mark that the instruction does not have is "".
    """
    marks = binding.form.syntax.marks
    if not marks:
        return binding
    slots, operands = dict(binding.slots), dict(binding.operands)
    for mark in marks:
        bound = operands[mark.operand]
        operand, minus, selector = bound.operand, "", ""
        if isinstance(operand, Negated):
            operand, minus = Name(operand.name), operand.sign
        if isinstance(operand, Name):
            register, _, last = operand.text.rpartition(".")
            if register and _matches(bound.spec.selector_pattern(binding.slots), last):
                operand, selector = Name(register), last
        operands[mark.operand] = replace(bound, operand=operand)
        slots |= {name: word for name, word in ((mark.minus, minus), (mark.selector, selector)) if name}
    return Binding(binding.form, slots, operands)


def _matches(pattern: str, selector: str) -> bool:
    return bool(pattern) and re.fullmatch(pattern, selector) is not None
