"""LLVM's inline assembly with PTX: text with `$0` for operands, and operand constraints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import llvm
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import WarploomError
from warploom.nvvm.dialect.lowering import Immediate
from warploom.nvvm.dialect.types import CONSTRAINTS, registers_of
from warploom.ptx import Block, Function, Statement, parse

_REGISTERS = {letter: (word,) for word, letter in CONSTRAINTS.items()} | {"c": ("b16",), "r": ("b32", "b64")}
"""PTX types that a constraint accepts; a shared pointer has 32 bits in LLVM and 64 bits here."""
_OPERAND = re.compile(r"\$(?:(?P<dollar>\$)|(?P<bare>\d+)|\{(?P<braced>\d+)\})|\$")
IMMEDIATES = ("n", "i")
"""Constraint letters of operands that must be constants."""
_ITEMS = 4
"""Number of items in a module of three directives and one function."""


class AsmError(VerifyException):
    """Error in inline assembly. Diagnostics print the operation's name before the error message."""


@dataclass(frozen=True)
class Constraints:
    """Constraint letters of the results and operands of one inline-assembly operation.

    `tied` maps the index of an operand to the index of the result in the same register.
    """

    results: tuple[str, ...]
    operands: tuple[str, ...]
    tied: dict[int, int]

    @classmethod
    def of(cls, asm: llvm.InlineAsmOp) -> Constraints:
        """Return the constraints of `asm`. Errors: AsmError if a value of `asm` violates a constraint."""
        found = [each.strip() for each in asm.constraints.data.split(",") if each.strip()]
        results = tuple(each.lstrip("=&") for each in found if each.startswith("="))
        operands = tuple(each for each in found if each[0] not in "=~")
        tied = {k: int(each) for k, each in enumerate(operands) if each.isdecimal()}
        for each in (*results, *operands):
            if each not in _REGISTERS and each not in IMMEDIATES and not each.isdecimal():
                raise AsmError(f"has the unknown constraint {each!r}")
        if any(number >= len(results) for number in tied.values()) or len(set(tied.values())) != len(tied):
            raise AsmError("has an operand tied to a missing result, or two operands tied to one result")
        if len(operands) != len(asm.operands_):
            raise AsmError(f"has {len(asm.operands_)} operands and constraints for {len(operands)}")
        constraints = cls(results, operands, tied)
        types = () if asm.res is None else registers_of(asm.res.type)
        if len(results) != len(types):
            raise AsmError(f"has results in {len(types)} registers and constraints for {len(results)}")
        for number, (letter, word) in enumerate(zip(results, types, strict=True)):
            _check(letter, word, f"result {number}")
        for number, (letter, value) in enumerate(zip(operands, asm.operands_, strict=True)):
            constraints._check_operand(number, letter, value)
        return constraints

    def _check_operand(self, number: int, letter: str, value: SSAValue) -> None:
        if letter in IMMEDIATES:
            if Immediate(value).constant is None:
                raise AsmError(f"has a computed operand {number}; expected a constant for constraint {letter!r}")
            return
        types = registers_of(value.type)
        if len(types) != 1:
            raise AsmError(f"has operand {number} of type {value.type}; expected one register")
        _check(self.results[self.tied[number]] if number in self.tied else letter, types[0], f"operand {number}")


def _check(letter: str, word: str, place: str) -> None:
    if word not in (accepted := _REGISTERS.get(letter, ())):
        expected = " or ".join(f".{each}" for each in accepted) or "a constant"
        raise AsmError(f"has {place} in a register of type .{word}; expected {expected} for constraint {letter!r}")


def with_operands(text: str, names: Sequence[str]) -> str:
    """Return the text with `names` in place of `$0`, `$1` and so on.

    Errors: AsmError for a reference to a missing operand
    """

    def name(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        number = found["bare"] or found["braced"]
        if number is None or int(number) >= len(names):
            raise AsmError(f"has no operand for '{text[found.start() :][:8]}' in its text")
        return names[int(number)]

    return _OPERAND.sub(name, text)


def parse_statements(text: str) -> Sequence[Statement]:
    """Parse PTX text to statements. Errors: AsmError for text that is no body of a function."""
    closed = text if text.rstrip().endswith(("}", ";", ":")) or not text.strip() else f"{text};"
    try:
        module = parse(f".version 8.0\n.target sm_90a\n.address_size 64\n.func f() {{ {closed}\n}}")
    except WarploomError as error:
        raise AsmError(f"contains illegal PTX: {error.diagnostics[0].message}") from None
    *_, last = module.items
    if len(module.items) != _ITEMS or not isinstance(last, Function) or last.body is None:
        raise AsmError("has a text with unbalanced braces")
    # The spans refer to the temporary module.
    return [_without_span(each) for each in last.body.statements]


def _without_span(statement: Statement) -> Statement:
    if isinstance(statement, Block):
        return Block(tuple(map(_without_span, statement.statements)))
    return replace(statement)
