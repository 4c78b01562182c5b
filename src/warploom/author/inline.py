"""PTX in a kernel as it is: statements with slots for registers and numbers, and items of the module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from warploom.author.building import AuthorError, caller, current, misuse
from warploom.author.values import Location, Register, operand_of
from warploom.check.body import Body
from warploom.check.module_checker import ModuleChecker
from warploom.diagnostics import Diagnostic, Note, Severity, Source, Span
from warploom.ptx import (
    Address,
    Block,
    Directive,
    Float,
    Function,
    Guard,
    Instruction,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Statement,
    Symbol,
    TopLevel,
    Tuple,
    Variable,
    Vector,
    parse_readable,
)

_SLOT = re.compile(r"\{(\w+)\}")
_FILLED = re.compile(r"\$(\w+)\$")  # as long as the slot, so that places in the text stay
_HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
_BODY = f"{_HEAD}.entry inline()\n{{\n"
_HEADERS = 3


# Statements -------------------------------------------------------------------------------------------------


def inline(text: str, /, **values: Any) -> None:
    """Put PTX statements into the kernel. `{name}` stands for the register, number or place given as `name`.

    The text is judged as the rest of the kernel is. What it declares in `.reg`, and its labels, are its own;
    variables in other state spaces are the kernel's.

    Errors: AuthorError with the checker's and the parser's diagnostics, in the text
    """
    building = current()
    slots = {found[1] for found in _SLOT.finditer(text)}
    for name in values:
        if name not in slots:
            raise misuse(f"the text has no slot {{{name}}}", "author.inline", "a slot is written {name}")
    if building.guard is not None:
        raise misuse(
            "inline PTX stands in a guarded block", "author.guard", "write the guard in the text: @{p}"
        )
    filled = _SLOT.sub(lambda found: f"${found[1]}$" if found[1] in values else found[0], text)
    module, wrong = parse_readable(f"{_BODY}{filled}\n}}\n", "<inline>")
    _refuse(wrong, text, len(_BODY))
    function = None if module is None else next(iter(module.functions.values()), None)
    if function is None or function.body is None:
        return
    statements = tuple(_filled(statement, values) for statement in function.body.statements)
    if any(isinstance(each, Label) or _is_register(each) for each in statements):
        statements = (Block(statements),)
    before = len(building.walk.diagnostics)
    building.walk.check_block(statements, building.names, Body(function, building.target, building.version))
    _refuse(building.walk.diagnostics[before:], text, len(_BODY))
    building.put(bare(statement) for statement in statements)


def _is_register(statement: Statement) -> bool:
    return isinstance(statement, Variable) and statement.space == "reg"


def _filled(statement: Statement, values: Mapping[str, Any]) -> Statement:
    """A statement with its slots filled, that still knows its place in the text."""
    made: Statement
    match statement:
        case Instruction(guard, opcode, operands):
            made = Instruction(
                _guard(guard, values), opcode, tuple(_operand(each, values) for each in operands)
            )
        case Block(statements):
            made = Block(tuple(_filled(each, values) for each in statements))
        case _:
            return statement
    object.__setattr__(made, "origin", statement.origin)
    return made


def bare(statement: Statement) -> Statement:
    """A statement without a place: it prints what it holds."""
    match statement:
        case Block(statements):
            return Block(tuple(map(bare, statements)))
        case _:
            return replace(statement)


def _value(name: str, values: Mapping[str, Any]) -> Any:
    found = _FILLED.fullmatch(name)
    return values.get(found[1]) if found is not None else None


def _guard(guard: Guard | None, values: Mapping[str, Any]) -> Guard | None:
    value = None if guard is None else _value(guard.name, values)
    if guard is None or value is None:
        return guard
    if not isinstance(value, Register) or value.type != "pred":
        raise misuse(f"the guard {{{guard.name[1:-1]}}} is {value!r}; expected a predicate", "author.guard")
    return Guard(value.name, guard.negated != value.negated)


def _operand(operand: Operand, values: Mapping[str, Any]) -> Operand:
    match operand:
        case Name(text):
            value = _value(text, values)
            return operand if value is None else _given(value)
        case Negated(name, sign):
            value = _value(name, values)
            if value is None:
                return operand
            if not isinstance(value, Register):
                raise misuse(f"'{sign}' stands before {value!r}; expected a register", "author.inline")
            return Name(value.name) if value.negated and sign == "!" else Negated(value.name, sign)
        case Symbol(name, offset):
            value = _value(name, values)
            return operand if value is None else Symbol(str(value), offset)
        case Address(base, offset, extra, unified):
            further = tuple(_operand(each, values) for each in extra)
            value = _value(base.text, values) if isinstance(base, Name) else None
            if isinstance(value, Location):
                made = operand_of(value)
                assert isinstance(made, Address)
                return Address(made.base, made.offset + offset, made.extra + further, unified)
            if isinstance(value, int):
                return Address(None, value + offset, further, unified)
            return Address(base if value is None else operand_of(value), offset, further, unified)
        case Vector(items):
            return Vector(tuple(_operand(each, values) for each in items))
        case Tuple(items):
            return Tuple(tuple(_operand(each, values) for each in items))
        case Pair(first, second):
            return Pair(_operand(first, values), _operand(second, values))
        case _:
            return operand


def _given(value: Any) -> Operand:
    return Float.decimal(value) if isinstance(value, float) else operand_of(value)


# Items of the module ----------------------------------------------------------------------------------------


def declare(text: str) -> Any:
    """Put PTX before the kernel: variables in `.global`, `.const` or `.shared`, functions, directives.

    The result is where a variable lies, or the name of a function; of several, one each.

    Errors: AuthorError with the checker's and the parser's diagnostics, in the text
    """
    building = current()
    items = declared(text, building.walk)
    building.items += items
    return _named(items)


def declared(text: str, walk: ModuleChecker) -> tuple[TopLevel, ...]:
    """The items in a text, which what is walked through knows from now on."""
    module, wrong = parse_readable(f"{_HEAD}{text}\n", "<declare>")
    _refuse(wrong, text, len(_HEAD))
    items = () if module is None else module.items[_HEADERS:]
    before = len(walk.diagnostics)
    for item in items:
        walk.check_item(item)
    _refuse(walk.diagnostics[before:], text, len(_HEAD))
    return items


def _named(items: Iterable[TopLevel]) -> Any:
    found: list[Any] = []
    for item in items:
        if isinstance(item, Variable):
            found.append(Location(item.name, 0, "shared::cta" if item.space == "shared" else item.space))
        elif isinstance(item, Function):
            found.append(item.name)
    return found[0] if len(found) == 1 else tuple(found)


def read_parameter(text: str) -> Variable:
    """A parameter as PTX declares it. Errors: AuthorError."""
    start = len(_HEAD) + len(".entry inline(")
    module, wrong = parse_readable(f"{_HEAD}.entry inline({text}\n) {{ }}\n", "<parameter>")
    _refuse(wrong, text, start)
    found = () if module is None else module.functions["inline"].params
    if len(found) != 1:
        raise misuse(f"{text!r} declares {len(found)} parameters; expected one", "author.parameter")
    return found[0]


def read_directives(text: str) -> tuple[Directive, ...]:
    """The directives of a kernel in a text: `.maxnreg 128`. Errors: AuthorError."""
    start = len(_HEAD) + len(".entry inline()\n")
    module, wrong = parse_readable(f"{_HEAD}.entry inline()\n{text}\n{{ }}\n", "<directive>")
    _refuse(wrong, text, start)
    return () if module is None else module.functions["inline"].directives


# Places -----------------------------------------------------------------------------------------------------


def _refuse(found: Iterable[Diagnostic], text: str, start: int) -> None:
    """Refuse a text that begins at `start` of a source, where there are errors in it."""
    errors = [each for each in found if each.severity is Severity.ERROR]
    if errors:
        raise AuthorError([_placed(each, text, start) for each in errors])


def _placed(found: Diagnostic, text: str, start: int) -> Diagnostic:
    """A diagnostic in the Python line that holds the text: at the very characters, where they stand there."""
    source, span = caller()
    if found.span is None or source is None or span is None:
        return replace(found, source=source, span=span)
    inner = Source("<inline>", text)
    line, column = inner.position(min(max(found.span.start - start, 0), len(text)))
    shown = inner.line_text(line)
    at = source.text.find(shown, span.start, span.end) if shown.strip() else -1
    if at < 0:
        note = Note(f"in line {line} of the text: {shown.strip()}")
        return replace(found, source=source, span=span, notes=(*found.notes, note))
    first = at + column - 1
    last = min(first + found.span.end - found.span.start, at + len(shown))
    return replace(found, source=source, span=Span(first, max(last, first + 1)))
