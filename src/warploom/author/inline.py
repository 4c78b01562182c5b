"""PTX text in Python kernels: statements, and declarations before the kernel."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warploom.author.builder import current
from warploom.author.errors import AuthorError, author_error, caller_place
from warploom.author.overloads import is_vector
from warploom.author.values import Location, Register, operand_of
from warploom.check.body import Body
from warploom.check.module_checker import ModuleChecker
from warploom.diagnostics import Diagnostic, Note, Severity, Source, Span
from warploom.ptx import Float, parse_readable, tree

_SLOT = re.compile(r"\{(\w+)\}")
_FILLED_SLOT = re.compile(r"(!?)\{(\w+)\}(\s*[+-]\s*-?(?:0[xX][0-9a-fA-F]+|\d+)\b)?")  # with `!` and an offset
_HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
_HEAD_ITEMS = 3


# Statements -------------------------------------------------------------------------------------------------


def inline(text: str, /, **values: Any) -> None:
    """Append PTX statements to the kernel. The value of the argument `name` replaces `{name}` in the text.

    A value is a register, a number, a location, a name or a vector of registers. Registers and labels that the text
    declares are local to the text. Other variables belong to the kernel.

    Errors: AuthorError with the diagnostics of the parser and the checker.
    """
    builder = current()
    slots = set(_SLOT.findall(text))
    for name in values:
        if name not in slots:
            hint = f"write {{{name}}} into the text, or remove the argument"
            raise author_error(f"the text has no slot {{{name}}}", "author.inline", hint)
    if builder.guard is not None:
        message = "inline PTX is not allowed in a guarded block"
        raise author_error(message, "author.guard", "write the guard in the text: @{p}")
    filled, starts, ends = _fill(text, values)
    prefix = f"{_HEAD}.entry inline()\n{{\n"

    def refuse(found: Iterable[Diagnostic]) -> None:
        _refuse(found, text, len(prefix), starts, ends)

    module, errors = parse_readable(f"{prefix}{filled}\n}}\n", "<inline>")
    refuse(errors)
    function = None if module is None else next(iter(module.functions.values()), None)
    if function is None or function.body is None:
        return
    statements = function.body.statements
    if any(isinstance(s, tree.Label) or (isinstance(s, tree.Variable) and s.space == "reg") for s in statements):
        statements = (tree.Block(statements),)
    before = len(builder.walk.diagnostics)
    builder.walk.check_block(statements, builder.names, Body(function, builder.target, builder.version))
    refuse(builder.walk.diagnostics[before:])
    builder.append(without_origin(statement) for statement in statements)


def without_origin(statement: tree.Statement) -> tree.Statement:
    """Copy a statement without its source text. The copy prints canonical PTX."""
    if isinstance(statement, tree.Block):
        return tree.Block(tuple(map(without_origin, statement.statements)))
    return replace(statement)


def _fill(text: str, values: Mapping[str, Any]) -> tuple[str, list[int], list[int]]:
    """Replace the slots `{name}` in `text` by values.

    Return the new text, and for each of its characters the start and the end in `text`.
    """
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for slot in _FILLED_SLOT.finditer(text):
        negation, name, offset = slot.groups()
        if name not in values:
            continue
        value, end = values[name], slot.end(2) + 1
        if offset and isinstance(value, int | Location):
            value, end = value + int("".join(offset.split()).replace("+-", "-"), 0), slot.end()
        filled = _slot_text(value, negation)
        if isinstance(value, Location) and text[: slot.start()].rstrip().endswith("["):
            filled = filled[1:-1]  # the brackets are in the text
        parts += [text[position : slot.start()], filled]
        starts += [*range(position, slot.start()), *[slot.start(2) - 1] * len(parts[-1])]
        ends += [*range(position + 1, slot.start() + 1), *[slot.end(2) + 1] * len(parts[-1])]
        position = end
    tail = range(position, len(text) + 1)
    return "".join([*parts, text[position:]]), [*starts, *tail], [*ends, *(each + 1 for each in tail)]


def _slot_text(value: Any, negation: str = "") -> str:
    """Return the PTX text of a value. `negation` is "!" if the slot follows a `!`, else ""."""
    if isinstance(value, Register):
        return f"{'!' if value.negated != bool(negation) else ''}{value.name}"
    if is_vector(value):
        return f"{{{', '.join(map(_slot_text, value))}}}"
    return negation + str(Float.decimal(value) if isinstance(value, float) else operand_of(value))


# Module items and declarations ------------------------------------------------------------------------------


def declare(text: str) -> Any:
    """Insert PTX before the kernel: variables in `.global`, `.const` or `.shared`, functions, directives.

    Return the location of a variable or the name of a function. Return a tuple if the text declares several.

    Errors: AuthorError with the diagnostics of the parser and the checker.
    """
    builder = current()
    items = checked_items(text, builder.walk)
    builder.items += items
    found: list[Any] = []
    for item in items:
        if isinstance(item, tree.Variable):
            found.append(Location(item.name, 0, "shared::cta" if item.space == "shared" else item.space))
        elif isinstance(item, tree.Function):
            found.append(item.name)
    return found[0] if len(found) == 1 else tuple(found)


def checked_items(text: str, walk: ModuleChecker) -> tuple[tree.TopLevel, ...]:
    """Parse items at module scope. Check and declare them with `walk`. Errors: AuthorError."""
    module = _parse(_HEAD, text, "\n", "<declare>")
    items = () if module is None else module.items[_HEAD_ITEMS:]
    before = len(walk.diagnostics)
    for item in items:
        walk.check_item(item)
    _refuse(walk.diagnostics[before:], text, len(_HEAD))
    return items


def read_parameter(text: str) -> tree.Variable:
    """Parse one kernel parameter, such as `.param .u32 n`. Errors: AuthorError."""
    module = _parse(f"{_HEAD}.entry inline(", text, "\n) { }\n", "<parameter>")
    found = () if module is None else module.functions["inline"].params
    if len(found) != 1:
        raise author_error(f"{text!r} declares {len(found)} parameters; expected one", "author.parameter")
    return found[0]


def read_directives(text: str) -> tuple[tree.Directive, ...]:
    """Parse directives of a kernel, such as `.maxnreg 128`. Errors: AuthorError."""
    module = _parse(f"{_HEAD}.entry inline()\n", text, "\n{ }\n", "<directive>")
    return () if module is None else module.functions["inline"].directives


def _parse(prefix: str, text: str, suffix: str, name: str) -> tree.Module | None:
    module, errors = parse_readable(prefix + text + suffix, name)
    _refuse(errors, text, len(prefix))
    return module


# Diagnostics ------------------------------------------------------------------------------------------------


def _refuse(
    found: Iterable[Diagnostic], text: str, prefix: int, starts: Sequence[int] = (), ends: Sequence[int] = ()
) -> None:
    """Raise an AuthorError if `found` contains errors. Move the errors to positions in `text`.

    In the diagnostics, `prefix` characters precede the text. `starts` and `ends` are results of `_fill`.
    """
    errors = [each for each in found if each.severity is Severity.ERROR]
    moved: list[Diagnostic] = []
    for each in errors:
        span = each.span
        if span is not None:
            limit = len(starts) - 1 if starts else len(text)
            first = min(max(span.start - prefix, 0), limit)
            last = min(max(span.end - prefix, first + 1), limit)
            span = Span(starts[first], ends[last - 1]) if starts else Span(first, last)
        moved.append(_in_python(replace(each, span=span), text))
    if moved:
        raise AuthorError(moved)


def _in_python(found: Diagnostic, text: str) -> Diagnostic:
    """Return a diagnostic moved from the PTX `text` to the Python source.

    If the Python source does not contain the text, the diagnostic points to the whole calling expression.
    """
    source, span = caller_place()
    if found.span is None or source is None or span is None:
        return replace(found, source=source, span=span)
    inner = Source("<inline>", text)
    line, column = inner.position(found.span.start)
    shown = inner.line_text(line)
    at = source.text.find(shown, span.start, span.end) if shown.strip() else -1
    if at < 0:
        note = Note(f"in line {line} of the text: {shown.strip()}")
        return replace(found, source=source, span=span, notes=(*found.notes, note))
    first = at + column - 1
    last = min(first + found.span.end - found.span.start, at + len(shown))
    return replace(found, source=source, span=Span(first, max(last, first + 1)))
