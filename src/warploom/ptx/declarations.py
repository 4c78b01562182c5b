"""Variables, parameters, directives with arguments, and function headers.

Source: PTX ISA 5.4 (variables), 7.1 (functions), 11 (directives)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warploom.diagnostics import Span
from warploom.ptx.constants import constant_or_name, initializer, integer_constant, literal
from warploom.ptx.cursor import Cursor
from warploom.ptx.lexer import NAME, TRIVIA
from warploom.ptx.tree import Argument, Directive, Prototype, Text, Variable

LINKAGE = frozenset((".extern", ".visible", ".weak", ".common"))
SPACES = frozenset((".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"))

_COUNT = "(?:[1-9][0-9]{0,8}+|0)"
_USUAL = re.compile(
    TRIVIA
    # 1 space, 2 alignment, 3 type, 4 pointer, 5 name, 6 register count, 7 dimension
    + rf"\.(reg|param|shared|local|global|const)[ \t]++(?:\.align[ \t]++({_COUNT})[ \t]++)?"
    + rf"\.([a-z][a-z0-9]*+)[ \t]++(\.ptr(?: \.[a-z]++)?(?: \.align {_COUNT})?[ \t]++)?"
    + rf"({NAME})(?:<({_COUNT})>|(\[{_COUNT}\]))?(?=[,;)])",
    re.ASCII,
)
"""One declaration of the shape that compilers write, up to its comma or closer."""

_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_BASIC_TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64 bf16 bf16x2 tf32 pred"
_OPAQUE_TYPES = "texref samplerref surfref"
_TYPES = frozenset(f".{word}" for word in f"{_BASIC_TYPES} {_OPAQUE_TYPES}".split())


@dataclass(slots=True)
class _Shape:
    """What stands between the state space and the name of a declaration."""

    type: str = ""
    align: int | None = None
    vector: int = 1
    attributes: list[str] = field(default_factory=list[str])


def variables(cursor: Cursor, start: int, linkage: tuple[str, ...]) -> list[Variable]:
    """Read a declaration that begins at `start` with its linkage, and its `;`: one variable for each name.

    The first variable's place begins with the declaration and the last one's ends with it.

    Errors: ptx.syntax/expected, ptx.syntax/constant, ptx.syntax/nesting
    """
    usual = _usual(cursor, linkage, ";")
    if usual is not None:
        cursor.take()
        _place(cursor, usual[0], start)
        return [usual[0]]
    space, shape = _space_and_shape(cursor)
    found: list[Variable] = []
    while True:
        found.append(_declared(cursor, space, shape, linkage))
        if not cursor.at(","):
            cursor.expect(";", ",")
            _place(cursor, found[-1], start)
            return found
        _place(cursor, found[-1], start)
        cursor.take()
        start = cursor.peek().start


def parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """Read a parenthesised list of parameters, which may be empty."""
    cursor.expect("(")
    found: list[Variable] = []
    if cursor.accept(")"):
        return ()
    while True:
        usual = _usual(cursor, (), ",)")
        if usual is None:
            start = cursor.peek().start
            space, shape = _space_and_shape(cursor)
            usual = _declared(cursor, space, shape, ()), start
        variable, start = usual
        _place(cursor, variable, start)
        found.append(variable)
        if not cursor.accept(","):
            cursor.expect(")", ",")
            return tuple(found)


def attribute(cursor: Cursor) -> str:
    """Read `.attribute(…)` as text without blanks or comments."""
    parts = [cursor.expect(".attribute").text, cursor.expect("(").text]
    depth = 1
    while depth:
        token = cursor.peek()
        if token.kind == "end" or token.text in (";", "{", "}"):
            cursor.expected("','", "')'")
        depth += {"(": 1, ")": -1}.get(cursor.take().text, 0)
        parts.append(f"{token.text} " if token.text == "," else token.text)
    return "".join(parts)


def arguments(cursor: Cursor, *closers: str) -> tuple[Argument, ...]:
    """Read comma-separated directive arguments; there are none where a closer or another directive stands."""
    token = cursor.peek()
    if token.text in closers or token.kind in ("word", "end"):
        return ()
    found = [argument(cursor)]
    while cursor.accept(","):
        found.append(argument(cursor))
    return tuple(found)


def argument(cursor: Cursor) -> Argument:
    """Read one directive argument: a string, a constant or a name."""
    token = cursor.peek()
    if token.kind == "string":
        return Text(cursor.take().text[1:-1])
    if token.kind == "name" or token.kind in ("integer", "float", "word") or token.text in ("-", "("):
        return constant_or_name(cursor)
    return cursor.expected("a string", "a constant", "a name")


def function_directives(cursor: Cursor, *closers: str) -> tuple[Directive, ...]:
    """Read the directives between a signature and what closes it."""
    found: list[Directive] = []
    while not cursor.at(*closers):
        token = cursor.peek()
        if token.kind != "word" or token.text in LINKAGE or token.text in (".entry", ".func"):
            cursor.expected("a directive", *(f"'{closer}'" for closer in closers))
        cursor.take()
        args = arguments(cursor, *closers)
        if token.text == ".pragma":
            cursor.expect(";", ",")
        directive = Directive(token.text, args)
        object.__setattr__(directive, "origin", (cursor.source, token.start, cursor.pos))
        found.append(directive)
    return tuple(found)


def prototype(cursor: Cursor) -> Prototype:
    """Read what follows `.callprototype`, without its `;`."""
    returns = parameters(cursor) if cursor.at("(") else ()
    name = cursor.expect_kind("name", "'_'").text
    params = parameters(cursor) if cursor.at("(") else ()
    return Prototype(returns, params, name, function_directives(cursor, ";"))


def _usual(cursor: Cursor, linkage: tuple[str, ...], closers: str) -> tuple[Variable, int] | None:
    """One declaration by pattern, with its start; None, with nothing read, where it needs the tokens."""
    match = _USUAL.match(cursor.text, cursor.pos)
    if match is None or cursor.text[match.end()] not in closers:
        return None
    space, align, kind, pointer, name, count, size = match.groups()
    if f".{kind}" not in _TYPES:
        return None
    variable = Variable(
        space=space,
        type=kind,
        name=name,
        align=None if align is None else int(align),
        count=None if count is None else int(count),
        shape=() if size is None else (int(size[1:-1]),),
        linkage=linkage,
        attributes=() if pointer is None else (pointer.strip(" \t"),),
    )
    cursor.seek(match.end())
    return variable, match.start(1) - 1


def _place(cursor: Cursor, variable: Variable, start: int) -> None:
    object.__setattr__(variable, "origin", (cursor.source, start, cursor.pos))


def _space_and_shape(cursor: Cursor) -> tuple[str, _Shape]:
    token = cursor.peek()
    if token.text not in SPACES:
        cursor.expected("a state space such as .param or .reg")
    space = cursor.take().text[1:]
    shape = _Shape()
    if space == "const" and cursor.accept("["):
        shape.attributes.append(f"[{integer_constant(cursor, 'a bank number')}]")
        cursor.expect("]")
    while cursor.peek().kind == "word":
        _qualifier(cursor, shape)
    return space, shape


def _qualifier(cursor: Cursor, shape: _Shape) -> None:
    token = cursor.peek()
    if token.text == ".attribute":
        shape.attributes.append(attribute(cursor))
        return
    cursor.take()
    if token.text == ".align":
        shape.align = integer_constant(cursor, "an alignment in bytes")
    elif token.text in _VECTORS:
        shape.vector = _VECTORS[token.text]
    elif token.text == ".ptr":
        shape.attributes.append(_pointer(cursor))
    elif not shape.type or (token.text in _TYPES and f".{shape.type}" not in _TYPES):
        if shape.type:
            shape.attributes.append(f".{shape.type}")
        shape.type = token.text[1:]
    elif token.text not in _TYPES:
        shape.attributes.append(token.text)
    else:
        cursor.fail(
            "expected",
            f"found '{token.text}' after the type .{shape.type}; expected a name",
            Span(token.start, token.end),
        )


def _pointer(cursor: Cursor) -> str:
    words = [".ptr"]
    while cursor.peek().kind == "word":
        words.append(cursor.take().text)
        if words[-1] == ".align":
            words.append(str(integer_constant(cursor, "an alignment in bytes")))
    return " ".join(words)


def _declared(cursor: Cursor, space: str, shape: _Shape, linkage: tuple[str, ...]) -> Variable:
    if not shape.type and space != "tex":
        cursor.expected("a type such as .b32")
    name = cursor.expect_kind("name", "a variable's name").text
    count: int | None = None
    dimensions: list[int | None] = []
    value = None
    if cursor.accept("<"):
        count = _count(cursor)
    while cursor.accept("["):
        dimensions.append(None if cursor.at("]") else integer_constant(cursor, "an array dimension"))
        cursor.expect("]")
    if cursor.accept("="):
        value = initializer(cursor)
    return Variable(
        space=space,
        type=shape.type,
        name=name,
        align=shape.align,
        vector=shape.vector,
        count=count,
        shape=tuple(dimensions),
        initializer=value,
        linkage=linkage,
        attributes=tuple(shape.attributes),
    )


def _count(cursor: Cursor) -> int:
    """The register count of `%r<100>`. A `>` here closes, so that this is a literal and no expression."""
    token = cursor.expect_kind("integer", "a register count")
    count = literal(cursor, token)
    cursor.expect(">")
    return count
