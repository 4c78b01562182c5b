"""Instructions of a kernel with their Forms, and edits of the text of the kernel.

A *site* is an instruction at which a mutant differs from the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import warploom as wl
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.effects import Access, Control, Effect, Slots, word
from warploom.isa.model.form import Form
from warploom.ptx import Address, Block, Directive, Instruction, Integer, Label, Name, Operand

Edit = tuple["Site", str]
"""Site and the statements that replace its instruction, or "" for a deletion."""


@dataclass(frozen=True, slots=True)
class Site:
    """Instruction of a kernel.

    `number` is its position in the kernel. Instructions with the same `region` run one after the other, without a jump
    or a target of a jump between them.
    """

    number: int
    region: int
    instruction: Instruction
    binding: Binding

    @property
    def line(self) -> int:
        """Line of the instruction in the text of the kernel."""
        source, span = self.instruction.source, self.instruction.span
        assert source is not None
        assert span is not None
        return source.position(span.start)[0]

    def has(self, effect: type[Effect], /, **fields: Any) -> bool:
        """Return True if the instruction has an effect of a kind with the words or values `fields`."""
        slots = self.binding.slots

        def matches(found: Any, wanted: Any) -> bool:
            return found == wanted or ((isinstance(found, str) or callable(found)) and _word(found, slots) == wanted)

        return any(
            isinstance(each, effect) and all(matches(getattr(each, name), wanted) for name, wanted in fields.items())
            for each in self.binding.form.effects
        )

    @property
    def stores_to_shared(self) -> bool:
        """True if the instruction writes shared memory by the generic proxy."""
        shared = any(word.startswith("shared") for word in self.instruction.words)
        return shared and self.has(Access, kind="write", proxy="generic")

    def operand(self, name: str) -> Operand:
        """Return the operand with a name of the syntax line."""
        return self.binding.operands[name].operand

    def with_operand(self, name: str, operand: Operand) -> str:
        """Return the instruction with another operand."""
        operands = list(self.instruction.operands)
        operands[self.binding.operands[name].at[0]] = operand
        return str(replace(self.instruction, operands=tuple(operands)))

    def changed(self, name: str, operation: str, value: int, type_: str = "b32") -> str:
        """Return the instruction after an operation on one of its operands, or on the base of an address operand.

        `operation` is the opcode without its type, and `value` its second source.
        """
        operand = self.operand(name)
        source = operand.base if isinstance(operand, Address) else operand
        mutated = Name("%mutated")
        changed = replace(operand, base=mutated) if isinstance(operand, Address) else mutated
        return (
            f"{{ .reg .{type_} %mutated; {operation} %mutated, {source}, {value}; {self.with_operand(name, changed)} }}"
        )

    def shifted(self, name: str, change: int) -> str:
        """Return the instruction with a changed constant or address offset."""
        operand = self.operand(name)
        if isinstance(operand, Address):
            return self.with_operand(name, replace(operand, offset=operand.offset + change))
        assert isinstance(operand, Integer)
        return self.with_operand(name, Integer(operand.value + change))

    def increased(self, name: str, change: int) -> str:
        """Return the instruction with an operand, a constant or register, increased by `change`."""
        constant = isinstance(self.operand(name), Integer)
        return self.shifted(name, change) if constant else self.changed(name, "add.s32", change)


def _word(rule: Any, slots: Slots) -> str:
    return word(rule, slots)


def _referenced(block: Block) -> Iterator[str]:
    """Yield the names in instructions and tables of targets."""
    for statement in block.statements:
        if isinstance(statement, Block):
            yield from _referenced(statement)
        elif isinstance(statement, Instruction):
            yield from (operand.text for operand in statement.operands if isinstance(operand, Name))
        elif isinstance(statement, Directive) and statement.name == ".branchtargets":
            yield from statement.names


class Kernel:
    """Instructions of an entry of a module, in the order of the text."""

    def __init__(self, text: str, entry: str) -> None:
        self.text = text
        module = wl.parse(text)
        body = module.functions[entry].body
        assert body is not None
        self._region = 0
        self._targets = frozenset(_referenced(body))
        self.sites: list[Site] = []
        self._walk(body)

    def _walk(self, block: Block) -> None:
        for statement in block.statements:
            if isinstance(statement, Block):
                self._walk(statement)
            elif isinstance(statement, Label):
                self._region += statement.name in self._targets  # other labels are debug information
            elif isinstance(statement, Instruction) and isinstance(found := bind(statement), Binding):
                self.sites.append(Site(len(self.sites), self._region, statement, found))
                self._region += self.sites[-1].has(Control)

    def all(self, effect: type[Effect], /, **fields: Any) -> Iterator[Site]:
        """Yield the instructions that have an effect of a kind with the words or values `fields`."""
        return (site for site in self.sites if site.has(effect, **fields))

    def is_constant(self, operand: Operand, at: Site) -> bool:
        """Return True if an operand of the instruction `at` is a number, or a register that is set to a number.

        The register must be set before `at` in its region, or only once in the kernel.
        """
        if isinstance(operand, Integer):
            return True
        setters = [site for site in self.sites if site.instruction.operands[:1] == (operand,)]
        nearest = [site for site in setters if site.region == at.region and site.number < at.number]
        if not nearest and len(setters) != 1:
            return False
        setter = (nearest or setters)[-1]
        return all(self.is_constant(each, setter) for each in setter.instruction.operands[1:])

    def of(self, *forms: Form) -> Iterator[Site]:
        """Yield the instructions of the given Forms."""
        return (site for site in self.sites if site.binding.form in forms)

    def between(self, first: Site, last: Site) -> list[Site]:
        """Return the instructions between two instructions, in the order of the text."""
        return self.sites[first.number + 1 : last.number]

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the text of the kernel after the edits. It has the lines of the original text."""
        text = self.text
        for site, new in sorted(edits, key=lambda edit: edit[0].number, reverse=True):
            span = site.instruction.span
            assert span is not None
            old = text[span.start : span.end]
            text = text[: span.start] + new + "\n" * old.count("\n") + text[span.end :]
        return text


def registers(site: Site, operand: int | None = None) -> set[str]:
    """Return the registers of an instruction, or of one of its operands."""
    given = site.instruction
    text = str(given) if operand is None else str(given.operands[operand])
    return set(re.findall(r"%\w+", text))
