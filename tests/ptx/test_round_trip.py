"""Every text that parses prints itself; a tree without its text prints a text that gives the tree again."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import modules, modules_in_two_hands

from warploom.ptx import Block, Function, Instruction, Module, Name, parse

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.ptx"))
_T = TypeVar("_T")


def read(path: Path) -> str:
    return path.read_bytes().decode()


def without_origin(node: _T) -> _T:
    """The same tree as a program would build it."""
    return cast("_T", _rebuilt(node))


def _rebuilt(node: Any) -> Any:
    if isinstance(node, tuple):
        return tuple(_rebuilt(item) for item in cast("tuple[Any, ...]", node))
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return node
    names = [field.name for field in dataclasses.fields(node) if field.init]
    return dataclasses.replace(node, **{name: _rebuilt(getattr(node, name)) for name in names})


def loosened(module: Module) -> Module:
    """The module with new functions and blocks around statements that keep their text."""
    items = [
        dataclasses.replace(item, body=dataclasses.replace(item.body))
        if isinstance(item, Function) and item.body is not None
        else item
        for item in module.items
    ]
    return dataclasses.replace(module, items=tuple(items))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus(path: Path) -> None:
    text = read(path)
    module = parse(text, path.name)
    assert str(module) == text
    assert parse(str(without_origin(module))) == module
    assert parse(str(loosened(module))) == module


@pytest.mark.parametrize("path", CORPUS[::6], ids=lambda path: path.stem)
def test_corpus_with_other_line_endings(path: Path) -> None:
    text = read(path).replace("\n", "\r\n").rstrip()
    module = parse(text)
    assert str(module) == text
    assert module == parse(read(path))


def test_corpus_is_there() -> None:
    assert len(CORPUS) == 24


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(modules())
def test_any_module(text: str) -> None:
    round_trip(text)


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(modules())
def test_many_modules(text: str) -> None:
    round_trip(text)


def round_trip(text: str) -> None:
    module = parse(text)
    assert str(module) == text
    assert parse(str(without_origin(module))) == module
    assert parse(str(dataclasses.replace(module))) == module
    assert str(dataclasses.replace(module)) == text
    assert parse(str(loosened(module))) == module


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(modules_in_two_hands())
def test_blanks_and_comments_change_nothing(texts: tuple[str, str]) -> None:
    # The comments send the second text past the patterns, to the tokens.
    first, second = texts
    assert parse(first) == parse(second)


def test_partly_replaced_module() -> None:
    text = (
        ".version 8.7\n.target sm_90a // the target\n.address_size 64\n\n"
        ".visible .entry f()\n{\n"
        "  .reg .b32 %r<4>; // registers\n"
        "  // before the sum\n"
        "  add.s32   %r1, %r2, 1; // the sum\n"
        "\n"
        "  /* before the end */ ret;   // the end\n"
        "  // after all\n"
        "}\n"
        "// the very end"
    )
    module = parse(text)
    function = module.functions["f"]
    assert function.body is not None
    first, total, last = function.body.statements
    assert isinstance(total, Instruction)
    changed = dataclasses.replace(total, opcode="sub.s32", operands=(*total.operands[:2], Name("%r3")))
    body = Block((first, changed, last))
    items = (*module.items[:-1], dataclasses.replace(function, body=body))
    assert str(dataclasses.replace(module, items=items)) == (
        ".version 8.7\n.target sm_90a // the target\n.address_size 64\n\n"
        ".visible .entry f()\n{\n"
        "  .reg .b32 %r<4>; // registers\n"
        "\tsub.s32 %r1, %r2, %r3;\n"
        "\n"
        "  /* before the end */ ret;   // the end\n"
        "  // after all\n"
        "}\n"
    )


def test_statement_moved_to_another_module() -> None:
    donor = parse(".version 8.7\n.target sm_90\n.func f()\n{ a.x   %r1 ; /* c */ b.y; }\n").functions["f"].body
    assert donor is not None
    moved = Module.build((9, 0), ("sm_90a", "debug"), (Function("entry", "k", body=Block(donor.statements[::-1])),))
    assert str(moved) == (
        ".version 9.0\n.target sm_90a, debug\n.address_size 64\n\n.entry k()\n{\n\t/* c */ b.y;\n\ta.x   %r1 ;\n}\n"
    )
