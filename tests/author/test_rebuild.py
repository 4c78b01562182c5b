"""PTX as author code: what it builds is the module it was made from, but for the names of registers."""

from __future__ import annotations

import linecache
from dataclasses import replace
from pathlib import Path

import pytest

import warploom as wl
from warploom.author import Program, from_ptx
from warploom.ptx import (
    Address,
    Block,
    Function,
    Guard,
    Instruction,
    Name,
    Negated,
    Pair,
    Symbol,
    Tuple,
    Variable,
    Vector,
    read,
)

CORPUS = sorted((Path(__file__).resolve().parents[1] / "corpus").glob("*.ptx"))


def built(text, kernel=None):
    """What the code of a text builds."""
    code, names = from_ptx(text, kernel), {}
    linecache.cache["made.py"] = len(code), None, code.splitlines(keepends=True), "made.py"
    exec(compile(code, "made.py", "exec"), names)
    program = names["program"]
    assert isinstance(program, Program)
    return program.module


class Renamed:
    """A function with its registers numbered as they are met, each with the kind it is declared of."""

    def __init__(self):
        self.numbers = {}

    def statements(self, statements, outer):
        scope = {**outer}
        for each in statements:
            if isinstance(each, Variable) and each.space == "reg":
                scope[each.name] = each.type, each.count
        for each in statements:
            if isinstance(each, Block):
                yield Block(tuple(self.statements(each.statements, scope)))
            elif isinstance(each, Instruction):
                guard = each.guard and Guard(self.name(each.guard.name, scope), each.guard.negated)
                yield Instruction(guard, each.opcode, tuple(self.operand(o, scope) for o in each.operands))
            elif not (isinstance(each, Variable) and each.space == "reg"):
                yield each

    def name(self, name, scope):
        stem = name.rstrip("0123456789")
        kind, _ = scope.get(name) or scope.get(stem) or ("", 0)
        return f"#{self.numbers.setdefault((name, kind), len(self.numbers))}:{kind}" if kind else name

    def operand(self, operand, scope):
        match operand:
            case Name(text):
                return Name(self.name(text, scope))
            case Negated(name, sign):
                return Negated(self.name(name, scope), sign)
            case Symbol(name):
                return replace(operand, name=self.name(name, scope))
            case Address(base, offset, extra, unified):
                base = base and self.operand(base, scope)
                return Address(base, offset, tuple(self.operand(e, scope) for e in extra), unified)
            case Vector(items) | Tuple(items):
                return type(operand)(tuple(self.operand(item, scope) for item in items))
            case Pair(first, second):
                return Pair(self.operand(first, scope), self.operand(second, scope))
            case _:
                return operand


def plain(module):
    """A module without what may differ."""
    items = []
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            item = replace(item, body=Block(tuple(Renamed().statements(item.body.statements, {}))))
        items.append(item)
    return items


def findings(module):
    return [(found.code, found.severity) for found in wl.check(str(module))]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_file_is_built_again(path):
    module = read(path)
    again = built(path.read_text())
    assert plain(again) == plain(module)
    assert findings(again) == findings(module)
