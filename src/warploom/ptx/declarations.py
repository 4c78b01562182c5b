"""Parsers of variables, parameters, directives and function signatures.

Source: PTX ISA 5.4 (variables), 7.1 (functions), 11 (directives)
"""

import re
from dataclasses import replace

from warploom.ptx.constants import constant_or_name, initializer, integer_constant, literal
from warploom.ptx.cursor import Cursor
from warploom.ptx.lexer import LINKAGE, NAME, STATE_SPACES, TRIVIA
from warploom.ptx.tree import Argument, Directive, Prototype, Text, Variable

_COUNT = "(?:[1-9][0-9]{0,8}+|0)"
_USUAL = re.compile(
    TRIVIA
    # 1 space, 2 alignment, 3 type, 4 pointer, 5 name, 6 register count, 7 dimension
    + rf"\.(reg|param|shared|local|global|const)[ \t]++(?:\.align[ \t]++({_COUNT})[ \t]++)?"
    + rf"\.([a-z][a-z0-9]*+)[ \t]++(\.ptr(?: \.[a-z]++)?(?: \.align {_COUNT})?[ \t]++)?"
    + rf"({NAME})(?:<({_COUNT})>|(\[{_COUNT}\]))?(?=[,;)])",
    re.ASCII,
)
"""Declaration as compilers write it, up to the next `,`, `;` or `)`."""

_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_BASIC_TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64 bf16 bf16x2 tf32 pred"
_OPAQUE_TYPES = "texref samplerref surfref"
_TYPES = frozenset(f".{word}" for word in f"{_BASIC_TYPES} {_OPAQUE_TYPES}".split())


def variables(cursor: Cursor, start: int, linkage: tuple[str, ...]) -> list[Variable]:
    """Parse a declaration up to its `;`. Return one variable for each declared name.

    The declaration begins at the offset `start`. Its first words are `linkage`, and the cursor is after them.

    Errors: ptx.syntax/expected, ptx.syntax/constant, ptx.syntax/nesting
    """
    usual = _usual_declaration(cursor, linkage, ";")
    if usual is not None:
        cursor.take()
        _set_origin(cursor, usual[0], start)
        return [usual[0]]
    template = _template(cursor, linkage)
    found: list[Variable] = []
    while True:
        found.append(_declared(cursor, template))
        if not cursor.at(","):
            cursor.expect(";", ",")
            _set_origin(cursor, found[-1], start)
            return found
        _set_origin(cursor, found[-1], start)
        cursor.take()
        start = cursor.peek().start


def parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """Parse the parenthesized parameters of a function."""
    cursor.expect("(")
    found: list[Variable] = []
    if cursor.accept(")"):
        return ()
    while True:
        usual = _usual_declaration(cursor, (), ",)")
        if usual is None:
            start = cursor.peek().start
            usual = _declared(cursor, _template(cursor, ())), start
        variable, start = usual
        _set_origin(cursor, variable, start)
        found.append(variable)
        if not cursor.accept(","):
            cursor.expect(")", ",")
            return tuple(found)


def attribute(cursor: Cursor) -> str:
    """Parse `.attribute(…)`, and return its canonical text."""
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
    """Parse the arguments of a directive, which may have none.

    A token of `closers` ends the directive.
    """
    token = cursor.peek()
    if token.text in closers or token.kind in ("word", "end"):
        return ()
    return argument_list(cursor)


def argument_list(cursor: Cursor) -> tuple[Argument, ...]:
    """Parse the arguments of a directive, with commas between them. At least one is required."""
    found = [argument(cursor)]
    while cursor.accept(","):
        found.append(argument(cursor))
    return tuple(found)


def argument(cursor: Cursor) -> Argument:
    """Parse one argument of a directive: a string, a constant or a name."""
    token = cursor.peek()
    if token.kind == "string":
        return Text(cursor.take().text[1:-1])
    if token.kind == "name" or token.kind in ("integer", "float", "word") or token.text in ("-", "("):
        return constant_or_name(cursor)
    return cursor.expected("a string", "a constant", "a name")


def function_directives(cursor: Cursor, *closers: str) -> tuple[Directive, ...]:
    """Parse the directives of a function up to the first token in `closers`."""
    found: list[Directive] = []
    while not cursor.at(*closers):
        token = cursor.peek()
        if token.kind != "word" or token.text in LINKAGE or token.text in (".entry", ".func"):
            cursor.expected("a directive", *(f"'{closer}'" for closer in closers))
        cursor.take()
        args = arguments(cursor, *closers)
        if token.text == ".pragma":
            cursor.expect(";", ",")
        found.append(Directive(token.text, args))
        _set_origin(cursor, found[-1], token.start)
    return tuple(found)


def prototype(cursor: Cursor) -> Prototype:
    """Parse the signature and the `;` after `.callprototype`."""
    returns = parameters(cursor) if cursor.at("(") else ()
    name = cursor.expect_kind("name", "'_'").text
    params = parameters(cursor) if cursor.at("(") else ()
    directives = function_directives(cursor, ";")
    cursor.expect(";")
    return Prototype(returns, params, name, directives)


def _usual_declaration(cursor: Cursor, linkage: tuple[str, ...], closers: str) -> tuple[Variable, int] | None:
    """Return a variable in common form and its start, or None for any other declaration."""
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


def _set_origin(cursor: Cursor, node: Variable | Directive, start: int) -> None:
    object.__setattr__(node, "origin", (cursor.source, start, cursor.pos))


def _template(cursor: Cursor, linkage: tuple[str, ...]) -> Variable:
    """Parse a declaration up to its first name, and return a variable without a name."""
    if cursor.peek().text not in STATE_SPACES:
        cursor.expected("a state space such as .param or .reg")
    variable = Variable(cursor.take().text[1:], "", "", linkage=linkage)
    if variable.space == "const" and cursor.accept("["):
        variable = _with_attribute(variable, f"[{integer_constant(cursor, 'a bank number')}]")
        cursor.expect("]")
    while cursor.peek().kind == "word":
        variable = _qualified(cursor, variable)
    return variable


def _qualified(cursor: Cursor, variable: Variable) -> Variable:
    """Parse one qualifier, such as a type or `.align 8`. Return `variable` with the qualifier."""
    token = cursor.peek()
    if token.text == ".attribute":
        return _with_attribute(variable, attribute(cursor))
    cursor.take()
    if token.text == ".align":
        return replace(variable, align=integer_constant(cursor, "an alignment in bytes"))
    if token.text in _VECTORS:
        return replace(variable, vector=_VECTORS[token.text])
    if token.text == ".ptr":
        return _with_attribute(variable, _pointer(cursor))
    if not variable.type:
        return replace(variable, type=token.text[1:])
    if token.text not in _TYPES:
        return _with_attribute(variable, token.text)
    if f".{variable.type}" not in _TYPES:
        return replace(_with_attribute(variable, f".{variable.type}"), type=token.text[1:])
    message = f"found '{token.text}' after the type .{variable.type}; expected a name"
    return cursor.fail("expected", message, token.span)


def _with_attribute(variable: Variable, text: str) -> Variable:
    return replace(variable, attributes=(*variable.attributes, text))


def _pointer(cursor: Cursor) -> str:
    words = [".ptr"]
    while cursor.peek().kind == "word":
        words.append(cursor.take().text)
        if words[-1] == ".align":
            words.append(str(integer_constant(cursor, "an alignment in bytes")))
    return " ".join(words)


def _declared(cursor: Cursor, template: Variable) -> Variable:
    """Parse one declared name. Return `template` with the name, count, dimensions and initial value."""
    if not template.type and template.space != "tex":
        cursor.expected("a type such as .b32")
    name = cursor.expect_kind("name", "a variable's name").text
    count: int | None = None
    shape: list[int | None] = []
    if cursor.accept("<"):
        # A literal, because a `>` would be an operator in a constant expression.
        count = literal(cursor, cursor.expect_kind("integer", "a register count"))
        cursor.expect(">")
    while cursor.accept("["):
        shape.append(None if cursor.at("]") else integer_constant(cursor, "an array dimension"))
        cursor.expect("]")
    value = initializer(cursor) if cursor.accept("=") else None
    return replace(template, name=name, count=count, shape=tuple(shape), initializer=value)
