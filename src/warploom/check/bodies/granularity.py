"""Granularity: the tensor-memory instructions of a kernel, and of what it calls, are all of one CTA or of two.

Source: PTX ISA 9.7.16.7.1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.check.bodies.body import Body
from warploom.check.found import Found, error
from warploom.isa.instructions.control import CALL
from warploom.isa.instructions.tcgen05 import ALLOC
from warploom.ptx import Function, Instruction, Name

_GROUPS = ALLOC.vocabulary["cta_group"]
_HEADS = (*ALLOC.heads, *CALL.heads)


@dataclass(slots=True)
class Used:
    """What a function has of its own: the first instruction of each granularity, and whom it calls."""

    groups: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    called: set[str] = field(default_factory=set[str])


def used_in(body: Body) -> Used:
    """What a body uses."""
    used = Used()
    opcodes = {step.instruction.opcode for step in body.steps}
    wanted = {opcode for opcode in opcodes if opcode.startswith(_HEADS)}
    for step in body.steps if wanted else ():
        instruction = step.instruction
        if instruction.opcode not in wanted:
            continue
        head, *words = instruction.words
        if head in CALL.heads:
            used.called |= {operand.text for operand in instruction.operands if isinstance(operand, Name)}
        elif head in ALLOC.heads:
            for word in _GROUPS.intersection(words):
                used.groups.setdefault(word, instruction)
    return used


@dataclass(slots=True)
class Granularity:
    """The granularities of a module's functions, as their bodies come by."""

    functions: dict[str, Used] = field(default_factory=dict[str, Used])
    kernels: list[str] = field(default_factory=list[str])

    def add(self, function: Function, used: Used) -> None:
        """The next function, and what it uses."""
        self.functions[function.name] = used
        if function.kind == "entry":
            self.kernels.append(function.name)

    def findings(self) -> Iterator[Found]:
        """The kernels of two granularities. Errors: kernel/granularity."""
        for kernel in self.kernels:
            groups: dict[str, Instruction] = {}
            for name in self._reached(kernel):
                for word, instruction in self.functions[name].groups.items():
                    groups.setdefault(word, instruction)
            if len(groups) > 1:
                (first, _), (second, other) = list(groups.items())[:2]
                message = f"'{kernel}' has both '.{first}' and '.{second}'; expected one of them throughout"
                yield error("kernel/granularity", message, other, section="PTX ISA 9.7.16.7.1")

    def _reached(self, kernel: str) -> list[str]:
        """A kernel and the functions that it calls, directly and through others."""
        reached = [kernel]
        for name in reached:
            called = self.functions[name].called & self.functions.keys()
            reached += sorted(called - {*reached})
        return reached
