"""Body of a PTX function without nested scopes: labels, and instructions with their registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn, TypeGuard

from xdsl.dialects.builtin import IntegerType, f32, f64, i1
from xdsl.ir import Attribute

from warploom.diagnostics import Diagnostic, Severity
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.binding.vectors import MEMBERS, expand_vectors
from warploom.isa.instructions import control
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
    Negated,
    Node,
    Operand,
    Pair,
    Statement,
    Symbol,
    Tuple,
    Variable,
    Vector,
)
from warploom.ptx.scopes import Scope as PtxScope

Role = Literal["read", "change", "write"]
_TABLES = (".branchtargets", ".callprototype", ".calltargets")
"""Directives whose name is the label before them."""
_DEBUG_INFORMATION = (".loc", ".file", ".section")


def refuse(node: Node, message: str, hint: str = "") -> NoReturn:
    """Raise LowerError lower.lift at a node of the PTX text."""
    raise LowerError([Diagnostic("lower.lift", Severity.ERROR, message, node.source, node.span, hint)])


@dataclass(frozen=True, slots=True)
class Register:
    """Register of a function. `scope` distinguishes registers with the same name in nested scopes."""

    name: str
    scope: int
    type: Attribute


@dataclass(slots=True)
class Step:
    r"""Instruction, declaration or pragma.

    `text` is its PTX without a guard, with a mark in place of each register. The mark of `read[2]` is `\0read 2\0`.
    `names` has the registers by their names in the instruction.
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
    """Return the steps and labels of a function in the order of the text.

    `names` maps names of the module and of parameters to their new names. Variables of the function whose names are
    taken get new names. Debug information is omitted.

    Errors: LowerError lower.lift, and the rule codes of `check` for unknown instructions
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
        self._lengths: dict[str, int] = {}

    def block(self, statements: Sequence[Statement], scope: _Scope) -> None:
        self._scopes += 1
        self._declare(statements, scope)
        for statement, following in zip(statements, [*statements[1:], None], strict=True):
            match statement:
                case Block():
                    self.block(statement.statements, _Scope(scope))
                case Label():
                    if not _is_table(following):
                        self.items.append(scope.labels[statement.name])
                    elif following.name != _TABLES[0]:
                        self._add(following, f"{scope.variables[statement.name]}: {replace(following)}")
                case Instruction():
                    self._instruction(statement, scope)
                case Variable():
                    if statement.space != "reg":
                        self._add(statement, str(replace(statement, name=scope.variables[statement.name])))
                case Directive():
                    if statement.name not in (*_TABLES, *_DEBUG_INFORMATION):
                        self._add(statement, str(replace(statement)))

    def _add(self, node: Node, text: str) -> None:
        self.items.append(Step(node, text.replace("$", "$$")))

    # Declarations -------------------------------------------------------------------------------------------

    def _declare(self, statements: Sequence[Statement], scope: _Scope) -> None:
        for statement, following in zip(statements, [*statements[1:], None], strict=True):
            if isinstance(statement, Label):
                scope.labels[statement.name] = f"{statement.name} {self._scopes}"
                if _is_table(following):
                    scope.tables[statement.name] = following
                    scope.variables[statement.name] = self._unused(statement.name)
            elif isinstance(statement, Variable) and statement.space != "reg":
                scope.variables[statement.name] = self._unused(statement.name)
            elif isinstance(statement, Variable):
                self._declare_register(statement, scope)

    def _declare_register(self, variable: Variable, scope: _Scope) -> None:
        declared = _register_type(variable)
        for suffix in [""] if variable.vector == 1 else [f".{each}" for each in MEMBERS[: variable.vector]]:
            register = Register(variable.name + suffix, self._scopes, declared)
            if suffix:
                self._lengths[variable.name] = variable.vector
            if variable.count is None:
                scope.registers[register.name] = register
            elif suffix:
                for number in range(variable.count):
                    self._lengths[f"{variable.name}{number}"] = variable.vector
                    scope.registers[f"{variable.name}{number}{suffix}"] = register
            else:
                scope.ranges[variable.name] = (variable.count, register)

    def _unused(self, name: str) -> str:
        """Return a name that nothing else in the function has. LLVM's registers have names with `%`."""
        plain = name.replace("%", "")
        found, number = plain, 0
        while found in self._taken:
            number += 1
            found = f"{plain}_{number}"
        self._taken.add(found)
        return found

    # Instructions -------------------------------------------------------------------------------------------

    def _instruction(self, instruction: Instruction, scope: _Scope) -> None:
        bound = expand_vectors(instruction, (lambda name: self._lengths.get(name, 1)) if self._lengths else None)
        binding = bind(bound)
        if isinstance(binding, Diagnostic):
            raise LowerError([binding])
        step = Step(instruction, binding=binding, targets=_targets(instruction, binding, scope))
        if (guard := instruction.guard) is not None:
            step.guard, step.negated = _register(guard.name, scope), guard.negated
            if step.guard is None:
                refuse(instruction, f"the predicate '{guard.name}' is not declared")
        roles = {each.at: each.spec.access for each in binding.operands.values()}
        operands = [_renamed(each, (number,), roles, step, scope) for number, each in enumerate(bound.operands)]
        step.text = str(replace(bound, guard=None, operands=tuple(operands)))
        self.items.append(step)


def _targets(instruction: Instruction, binding: Binding, scope: _Scope) -> tuple[str, ...]:
    """Return the labels to which an instruction may jump."""
    if binding.form is control.BRX:
        table = scope.table(str(binding.operands["tlist"].operand))
        names = () if table is None else table.names
    else:
        names = (str(binding.operands["tgt"].operand),) if binding.form is control.BRA else ()
    found = [(name, scope.label(name)) for name in names]
    for name, label in found:
        if label is None:
            refuse(instruction, f"the label '{name}' is not declared")
    return tuple(label for _, label in found if label is not None)


def _renamed(
    operand: Operand, at: tuple[int, ...], roles: Mapping[tuple[int, ...], str], step: Step, scope: _Scope
) -> Operand:
    """Return an operand with marks for its registers. Record the registers in `step`.

    `at` is the position of the operand, and `roles` has the access of each position.
    """

    def item(each: Operand, *number: int) -> Operand:
        return _renamed(each, (*at, *number) if (*at, *number) in roles else at, roles, step, scope)

    def name(text: str, access: str = "") -> str:
        return _new_name(text, access or roles.get(at, "read"), step, scope)

    def address(each: Operand) -> Operand:
        return _renamed(each, (), {}, step, scope)

    match operand:
        case Name():
            return Name(name(operand.text))
        case Negated():
            return Negated(name(operand.name), operand.sign)
        case Symbol():
            return replace(operand, name=name(operand.name), minus=name(operand.minus))
        case Vector():
            return Vector(tuple(item(each, number) for number, each in enumerate(operand.items)))
        case Tuple():
            return Tuple(tuple(map(item, operand.items)))
        case Pair():
            return Pair(item(operand.first, 0), item(operand.second, 1))
        case Element():
            index = address(operand.index)
            assert isinstance(index, Address)
            return Element(name(operand.name), index)
        case Address():
            base = None if operand.base is None else address(operand.base)
            return replace(operand, base=base, extra=tuple(map(address, operand.extra)))
        case _:
            return operand


def _new_name(text: str, access: str, step: Step, scope: _Scope) -> str:
    """Return the mark of a register, the new name of a variable, or another name unchanged."""
    # A selector may follow the name of a register, as in `%r1.h1`.
    for name, selector in ((text, ""), (text.rpartition(".")[0], text[text.rfind(".") :])):
        if (register := _register(name, scope)) is None:
            continue
        step.names[text] = register
        writes = access in ("write", "both")
        role: Role = "read" if not writes else "change" if access == "both" or step.guard is not None else "write"
        registers: list[Register] = getattr(step, role)
        if register not in registers:
            registers.append(register)
        return f"\0{role} {registers.index(register)}\0{selector}"
    return (scope.variable(text) or text).replace("$", "$$")


def _register(name: str, scope: _Scope) -> Register | None:
    found = scope.register(name)
    return None if found is None else replace(found[0], name=name)


def _is_table(statement: Statement | None) -> TypeGuard[Directive]:
    return isinstance(statement, Directive) and statement.name in _TABLES


def _register_type(variable: Variable) -> Attribute:
    width = TYPES[variable.type].bits
    if variable.type in ("pred", "f32", "f64"):
        return {"pred": i1, "f32": f32, "f64": f64}[variable.type]
    # LLVM has no registers of 8 bits. Instructions with operands of 8 bits accept wider registers.
    return IntegerType(max(width, 16))
