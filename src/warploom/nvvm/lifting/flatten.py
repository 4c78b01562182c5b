"""Body of a PTX function without nested scopes: labels, and instructions with their registers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NoReturn, TypeGuard

from xdsl.dialects.builtin import IntegerType, f32, f64, i1
from xdsl.ir import Attribute

from warploom.diagnostics import Diagnostic, Severity
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.binding.vectors import MEMBERS, expand_vectors
from warploom.isa.instructions import control, move
from warploom.isa.model.types import TYPES
from warploom.nvvm.errors import LowerError
from warploom.ptx import (
    Address,
    Block,
    Directive,
    Element,
    Function,
    Instruction,
    Label,
    Name,
    Node,
    Statement,
    Variable,
)
from warploom.ptx.scopes import Scope as PtxScope

_TABLES = (".branchtargets", ".callprototype", ".calltargets")
"""Directives that a label names, as in `t: .branchtargets A, B;`."""
_OMITTED = (*_TABLES, ".loc", ".file", ".section")
"""Directives that are debug information, or that are added with their label."""
_BYTE_MOVES = (move.PACK2, move.PACK4, move.UNPACK2, move.UNPACK4)
"""Forms that need registers of 8 bits if the vector consists of bytes."""
_NAME = re.compile(r"[A-Za-z_$%][\w$%.]*")


def refuse(node: Node, message: str, hint: str) -> NoReturn:
    """Raise LowerError lower.lift at a node of the PTX text. `hint` states what to write instead."""
    raise LowerError([Diagnostic("lower.lift", Severity.ERROR, message, node.source, node.span, hint)])


@dataclass(frozen=True, slots=True)
class Register:
    """Register of a function. `scope` distinguishes registers with the same name in nested scopes."""

    name: str
    scope: int
    word: str  # PTX type

    @property
    def type(self) -> Attribute:
        """LLVM type. LLVM has no registers of 8 bits, but instructions on 8 bits accept wider registers."""
        known = {"pred": i1, "f32": f32, "f64": f64}.get(self.word)
        return known or IntegerType(max(TYPES[self.word].bits, 16))


@dataclass(slots=True)
class Step:
    r"""Instruction, declaration or pragma.

    `text` is its PTX without a guard. `\0read 2\0` is the placeholder of the register `read[2]`, and `$` is doubled.
    `read` are the registers that the instruction only reads, and `write` those that it overwrites. `change` are those
    that may keep their old value: operands that are read and written, and results under a guard. `targets` are the
    labels to which the instruction may jump. `names` has the registers by their names in the instruction.
    """

    node: Node
    text: str = ""
    binding: Binding | None = None
    guard: Register | None = None
    negated: bool = False
    targets: tuple[str, ...] = ()
    read: list[Register] = field(default_factory=list[Register])
    change: list[Register] = field(default_factory=list[Register])
    write: list[Register] = field(default_factory=list[Register])
    names: dict[str, Register] = field(default_factory=dict[str, Register])

    def sources(self) -> Iterator[Register]:
        """Yield the registers that the instruction reads."""
        yield from self.read
        yield from self.change
        if self.guard is not None:
            yield self.guard


_Scope = PtxScope[Register, str, str]


def flatten(function: Function, names: Mapping[str, str]) -> list[Step | str]:
    """Return the steps and labels of a legal function in the order of the text, without nested scopes.

    `names` maps the names of module symbols and parameters to their names in LLVM. A local variable with one of these
    names is renamed. Debug information is omitted.

    Errors: LowerError lower.lift
    """
    assert function.body is not None
    flattener = _Flattener(set(names.values()))
    outer = _Scope(None)
    outer.variables.update(names)
    flattener.block(function.body.statements, _Scope(outer))
    return flattener.items


class _Flattener:
    def __init__(self, taken: set[str]) -> None:
        self.items: list[Step | str] = []
        self._taken = taken
        self._scopes = 0

    def block(self, statements: Sequence[Statement], scope: _Scope) -> None:
        self._scopes += 1
        self._declare(statements, scope)
        for statement, following in pairwise([*statements, None]):
            match statement:
                case Block():
                    self.block(statement.statements, _Scope(scope))
                case Label(name):
                    if not _is_table(following):
                        self.items.append(scope.labels[name])
                    elif following.name != _TABLES[0]:
                        self._add(following, f"{scope.variables[name]}: {replace(following)}")
                case Instruction():
                    self.items.append(_step(statement, scope))
                case Variable(space) if space != "reg":
                    self._add(statement, str(replace(statement, name=scope.variables[statement.name])))
                case Directive(name) if name not in _OMITTED:
                    self._add(statement, str(replace(statement)))
                case _:
                    pass

    def _add(self, node: Node, text: str) -> None:
        self.items.append(Step(node, text.replace("$", "$$")))

    def _declare(self, statements: Sequence[Statement], scope: _Scope) -> None:
        for statement, following in pairwise([*statements, None]):
            match statement:
                case Label(name):
                    scope.labels[name] = f"{name} {self._scopes}"
                    if _is_table(following):
                        scope.tables[name] = following
                        scope.variables[name] = self._unused(name)
                case Variable("reg", type, name, vector=1, count=int(count)):
                    scope.ranges[name] = (count, Register(name, self._scopes, type))
                case Variable("reg", type, name, vector=members, count=count):
                    numbered = [name] if count is None else [f"{name}{number}" for number in range(count)]
                    suffixes = [""] if members == 1 else [f".{each}" for each in MEMBERS[:members]]
                    for each in (each + suffix for each in numbered for suffix in suffixes):
                        scope.registers[each] = Register(each, self._scopes, type)
                case Variable():
                    scope.variables[statement.name] = self._unused(statement.name)
                case _:
                    pass

    def _unused(self, name: str) -> str:
        """Return an unused name, without the `%` that LLVM gives to its registers."""
        plain = name.replace("%", "")
        found, number = plain, 0
        while found in self._taken:
            number += 1
            found = f"{plain}_{number}"
        self._taken.add(found)
        return found


def _is_table(statement: Statement | None) -> TypeGuard[Directive]:
    return isinstance(statement, Directive) and statement.name in _TABLES


# Instructions -----------------------------------------------------------------------------------------------


def _step(instruction: Instruction, scope: _Scope) -> Step:
    bound = expand_vectors(instruction, lambda name: _members(name, scope))
    binding = bind(bound)
    if isinstance(binding, Diagnostic):
        # `check` knows no operands of texture and surface instructions.
        refuse(instruction, f"cannot lift '{instruction.opcode}'", "use global memory in place of the texture")
    step = Step(instruction, binding=binding, targets=_targets(binding, scope))
    if (guard := instruction.guard) is not None:
        step.guard, step.negated = _register(guard.name, scope), guard.negated
    access = {each.at[0]: each.spec.access for each in binding.operands.values()}
    operands: list[Name] = []
    for number, operand in enumerate(bound.operands):
        role = "read"
        if not isinstance(operand, Address | Element) and access.get(number) in ("write", "both"):
            # A write that a guard may prevent keeps the old value.
            role = "write" if access[number] == "write" and step.guard is None else "change"
        operands.append(Name(_NAME.sub(lambda found, role=role: _mark(found[0], role, step, scope), str(operand))))
    if binding.form in _BYTE_MOVES and any(TYPES[each.word].bits == 8 for each in step.names.values()):
        hint = "declare .b16 registers, and shift and combine their bits"
        refuse(instruction, f"cannot lift '{instruction.opcode}' of bytes: LLVM has no registers of 8 bits", hint)
    step.text = str(replace(bound, guard=None, operands=tuple(operands)))
    return step


def _targets(binding: Binding, scope: _Scope) -> tuple[str, ...]:
    """Return the labels to which an instruction may jump."""
    names: Sequence[str] = ()
    if binding.form is control.BRA:
        names = (str(binding.operands["tgt"].operand),)
    elif binding.form is control.BRX:
        table = scope.table(str(binding.operands["tlist"].operand))
        names = () if table is None else table.names
    return tuple(filter(None, map(scope.label, names)))


def _mark(text: str, role: str, step: Step, scope: _Scope) -> str:
    """Return the placeholder of a register, which is recorded, or the new name of another symbol."""
    # A selector may follow the name of a register, as in `%r1.h1`.
    stem, dot, selector = text.rpartition(".")
    for name, rest in ((text, ""), (stem, dot + selector)):
        if (register := _register(name, scope)) is not None:
            step.names[text] = register
            registers: list[Register] = getattr(step, role)
            if register not in registers:
                registers.append(register)
            return f"\0{role} {registers.index(register)}\0{rest}"
    return (scope.variable(text) or text).replace("$", "$$")


def _register(name: str, scope: _Scope) -> Register | None:
    if name.endswith((".r", ".g", ".b", ".a")):
        name = name[:-1] + MEMBERS["rgba".index(name[-1])]
    found = scope.register(name)
    return None if found is None else replace(found[0], name=name)


def _members(name: str, scope: _Scope) -> int:
    """Return the number of members of a register, or 1 for another name."""
    for each in scope.enclosing():
        count = sum(f"{name}.{member}" in each.registers for member in MEMBERS)
        if count or each.own_register(name) is not None:
            return count or 1
    return 1
