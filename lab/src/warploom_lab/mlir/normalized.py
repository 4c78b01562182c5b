"""Instructions of a PTX module in a normal form."""

from dataclasses import replace

from warploom.ptx import (
    Address,
    Block,
    Guard,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Negated,
    Operand,
    Pair,
    Vector,
)

TARGETS = ("sm_90a", "sm_100a", "sm_120a", "sm_103a")
"""Targets in the order in which the lowering of an operation is tried."""


def instructions(ptx: Module) -> list[str]:
    """Return the instructions of a module. Registers and labels are renamed in the order of their first occurrence."""
    found: list[str] = []
    for function in ptx.functions.values():
        names: dict[str, str] = {}
        if function.body is not None:
            found += _of_block(function.body, names)
    return found


def _of_block(block: Block, names: dict[str, str]) -> list[str]:
    found: list[str] = []
    for statement in block.statements:
        match statement:
            case Block():
                found += _of_block(statement, names)
            case Label(name):
                found.append(f"{_renamed(name, names)}:")
            case Instruction():
                guard = statement.guard
                shown = replace(
                    statement,
                    guard=None if guard is None else Guard(_renamed(guard.name, names), guard.negated),
                    operands=tuple(_plain(operand, names) for operand in statement.operands),
                )
                found.append(str(shown))
            case _:
                pass
    return found


def _renamed(name: str, names: dict[str, str]) -> str:
    return name if name == "_" else names.setdefault(name, f"%{len(names)}")


def _plain(operand: Operand, names: dict[str, str]) -> Operand:
    match operand:
        case Name(text):
            return Name(_renamed(text, names))
        case Negated(name, sign):
            return Negated(_renamed(name, names), sign)
        case Vector(items):
            return Vector(tuple(_plain(item, names) for item in items))
        case Pair(first, second):
            return Pair(_plain(first, names), _plain(second, names))
        case Address(base, offset, extra):
            inside = None if base is None else _plain(base, names)
            return Address(inside, offset, tuple(_plain(item, names) for item in extra))
        case Integer():
            return Integer(operand.value)
        case _:
            return operand
