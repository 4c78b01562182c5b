"""Inline PTX as LLVM writes it: a text with `$0` for operands, and constraints that say what each is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import llvm
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import WarploomError
from warploom.nvvm.dialect.pieces import Constant, registers_of
from warploom.ptx import Block, Function, Statement, parse

LETTERS = {"pred": "b", "b16": "h", "b32": "r", "b64": "l", "b128": "q", "f32": "f", "f64": "d"}
"""The constraint of an operand in a register of a type."""
_TYPES = {letter: (word,) for word, letter in LETTERS.items()} | {"c": ("b16",), "r": ("b32", "b64")}
"""The registers that a constraint may mean; pointers into shared memory are of 32 bits to LLVM and of 64 here."""
_OPERAND = re.compile(r"\$(?:(?P<dollar>\$)|(?P<bare>\d+)|\{(?P<braced>\d+)\})|\$")
CONSTANTS = ("n", "i")
"""The constraints of constants that stand in the text."""
_ITEMS = 4
"""The items of a module of three directives and a function."""


class Unfit(VerifyException):
    """What is wrong with inline PTX, as what follows the name of its operation."""


@dataclass(frozen=True)
class Template:
    """The constraints of inline PTX, read: what each result and operand is.

    `tied` are operands that begin in the register of a result, by the number of the operand.
    """

    results: tuple[str, ...]
    operands: tuple[str, ...]
    tied: dict[int, int]

    @classmethod
    def of(cls, asm: llvm.InlineAsmOp) -> Template:
        """Errors: Unfit for constraints that do not fit its values."""
        found = [each.strip() for each in asm.constraints.data.split(",") if each.strip()]
        results = tuple(each.lstrip("=&") for each in found if each.startswith("="))
        operands = tuple(each for each in found if each[0] not in "=~")
        tied = {k: int(each) for k, each in enumerate(operands) if each.isdecimal()}
        for each in (*results, *operands):
            if each not in _TYPES and each not in CONSTANTS and not each.isdecimal():
                raise Unfit(f"has constraint {each!r}, which no register of PTX meets")
        if any(number >= len(results) for number in tied.values()) or len(set(tied.values())) != len(tied):
            raise Unfit("has an operand that is tied to no result of its own")
        if len(operands) != len(asm.operands_):
            raise Unfit(f"has {len(asm.operands_)} operands and constraints for {len(operands)}")
        template = cls(results, operands, tied)
        types = () if asm.res is None else registers_of(asm.res.type)
        if len(results) != len(types):
            raise Unfit(f"has results in {len(types)} registers and constraints for {len(results)}")
        for number, (letter, word) in enumerate(zip(results, types, strict=True)):
            _check(letter, word, f"result {number}")
        for number, (letter, value) in enumerate(zip(operands, asm.operands_, strict=True)):
            template._check_operand(number, letter, value)
        return template

    def _check_operand(self, number: int, letter: str, value: SSAValue) -> None:
        if letter in CONSTANTS:
            if Constant(value).number is None:
                raise Unfit(f"has no constant as operand {number}, which constraint {letter!r} asks for")
            return
        types = registers_of(value.type)
        if len(types) != 1:
            raise Unfit(f"has operand {number} of type {value.type}, which is not in one register")
        _check(
            self.results[self.tied[number]] if number in self.tied else letter, types[0], f"operand {number}"
        )


def _check(letter: str, word: str, what: str) -> None:
    if word not in _TYPES.get(letter, ()):
        raise Unfit(f"has {what} in a register of type .{word}, which constraint {letter!r} does not mean")


def filled(text: str, names: Sequence[str]) -> str:
    """A text with what its operands are called. Errors: Unfit for an operand that is not there."""

    def name(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        number = found["bare"] or found["braced"]
        if number is None or int(number) >= len(names):
            raise Unfit(f"has no operand for '{text[found.start() :][:8]}' in its text")
        return names[int(number)]

    return _OPERAND.sub(name, text)


def statements(text: str) -> Sequence[Statement]:
    """The statements of a text of PTX. Errors: Unfit for what is none."""
    closed = text if text.rstrip().endswith(("}", ";", ":")) or not text.strip() else f"{text};"
    try:
        module = parse(f".version 8.0\n.target sm_90a\n.address_size 64\n.func f() {{ {closed}\n}}")
    except WarploomError as error:
        raise Unfit(f"has no PTX: {error.diagnostics[0].message}") from None
    *_, last = module.items
    if len(module.items) != _ITEMS or not isinstance(last, Function) or last.body is None:
        raise Unfit("has a text that does not stay in its function")
    return [_plain(each) for each in last.body.statements]


def _plain(statement: Statement) -> Statement:
    """A statement without its place in the text that it was read from, which no copy has."""
    if isinstance(statement, Block):
        return Block(tuple(map(_plain, statement.statements)))
    return replace(statement)
