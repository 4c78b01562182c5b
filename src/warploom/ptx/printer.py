"""The printer: tree to text.

A module that was parsed prints its own text. Elsewhere each node that was parsed prints its own text, with
the blanks and comments before it and those after it on its line, and each node made by program prints in
canonical form. So a module whose statements were partly replaced keeps the text of all the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from warploom.diagnostics import Source
from warploom.ptx.lexer import DATA, SPACES, STRING, TRIVIA
from warploom.ptx.tree import (
    Address,
    Argument,
    Block,
    Directive,
    Element,
    Float,
    Function,
    Guard,
    Initializer,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Negated,
    Node,
    Operand,
    Origin,
    Pair,
    Property,
    Prototype,
    Symbol,
    Text,
    Tuple,
    Variable,
    Vector,
)

_LINE_REST = re.compile(r"(?:[ \t\f\v]++|/\*[^*\n]*+\*/|//[^\n]*+)*")
_PIECE = re.compile(rf'(?P<gap>{TRIVIA})(?:{STRING}|[^\s"/#]++|["/#]|\Z)', re.ASCII)
_UNENDED = frozenset((".version", ".target", ".address_size", ".loc", ".file", ".section"))
"""Directives that end with their line and take no `;`."""


def to_text(node: Node) -> str:
    """The text of one node: its own where it was parsed, else the canonical one."""
    return _Writer().node(node)


def operand_text(operand: Operand) -> str:
    """The text of one operand; constants keep their spelling."""
    match operand:
        case Name(text) | Integer(text=text) | Float(text=text):
            return text
        case Address(base, offset, extra, unified):
            return _address_text(base, offset, extra) + (".unified" if unified else "")
        case Vector(items):
            return f"{{{_joined(items)}}}"
        case Negated(name, sign):
            return f"{sign}{name}"
        case Pair(first, second):
            return f"{operand_text(first)}|{operand_text(second)}"
        case Tuple(items):
            return f"({_joined(items)})"
        case Element(name, index):
            return f"{name}{operand_text(index)}"
        case Symbol():
            return _symbol_text(operand)


def _joined(items: Sequence[Operand]) -> str:
    return ", ".join(map(operand_text, items))


def _address_text(base: Operand | None, offset: int, extra: tuple[Operand, ...]) -> str:
    if base is None:
        inner = str(offset)
    else:
        inner = f"{operand_text(base)}+{offset}" if offset else operand_text(base)
    return f"[{', '.join((inner, *map(operand_text, extra)))}]"


def _symbol_text(symbol: Symbol) -> str:
    text = f"generic({symbol.name})" if symbol.generic else symbol.name
    if symbol.minus:
        text += f"-{symbol.minus}"
    if symbol.offset:
        text += f"+{symbol.offset}"
    return text if symbol.mask is None else f"0x{symbol.mask:X}({text})"


def _initializer_text(value: Initializer) -> str:
    if isinstance(value, tuple):
        return f"{{{', '.join(map(_initializer_text, value))}}}"
    if isinstance(value, Property):
        return f"{value.name} = {_initializer_text(value.value)}"
    return operand_text(value)


def _guard_text(guard: Guard | None) -> str:
    return "" if guard is None else f"@{'!' if guard.negated else ''}{guard.name} "


def _instruction_text(node: Instruction) -> str:
    operands = f" {_joined(node.operands)}" if node.operands else ""
    return f"{_guard_text(node.guard)}{node.opcode}{operands};"


def _declaration_text(node: Variable) -> str:
    """A variable without the `;` that ends it as a statement."""
    words = [f".{word}" for word in node.linkage]
    space = f".{node.space}"
    early = [text for text in node.attributes if text.startswith(".attribute")]
    late = [text for text in node.attributes if not text.startswith((".attribute", "["))]
    words += ["".join((space, *(text for text in node.attributes if text.startswith("[")))), *early]
    if node.align is not None:
        words.append(f".align {node.align}")
    if node.vector != 1:
        words.append(f".v{node.vector}")
    if node.type:
        words.append(f".{node.type}")
    shape = "".join("[]" if size is None else f"[{size}]" for size in node.shape)
    count = "" if node.count is None else f"<{node.count}>"
    text = " ".join((*words, *late, f"{node.name}{count}{shape}"))
    return text if node.initializer is None else f"{text} = {_initializer_text(node.initializer)}"


class _Writer:
    """Printing of one tree; knows where the blanks and comments of its sources begin."""

    def __init__(self) -> None:
        self._gaps: dict[int, dict[int, int]] = {}

    def node(self, node: Node) -> str:
        origin, _ = _own_text((node,), 0)
        return self._canonical(node, "") if origin is None else origin[0].text[origin[1] : origin[2]]

    def _canonical(self, node: Node, indent: str) -> str:
        match node:
            case Instruction():
                return _instruction_text(node)
            case Label(name):
                return f"{name}:"
            case Variable():
                return f"{_declaration_text(node)};"
            case Directive():
                return self._directive(node, indent)
            case Block(statements):
                return self._braced(statements, indent)
            case Function():
                return self._function(node)
            case Module(items):
                return self._module(items)
            case _:
                raise TypeError(f"{type(node).__name__} has no text")

    # Sequences ----------------------------------------------------------------------------------------------

    def _module(self, items: Sequence[Node]) -> str:
        text, last = self._sequence(items, "")
        end = self._after(last, lambda source, stop: stop == len(source.text))
        if items and _own_text(items, 0)[0] is None:
            text = text.lstrip("\n")
        return text + ("\n" if end is None else end)

    def _braced(self, nodes: Sequence[Node], indent: str) -> str:
        text, last = self._sequence(nodes, f"{indent}\t")
        end = self._after(last, lambda source, stop: source.text.startswith("}", stop))
        if end is None:
            end = f"\n{indent}"
        return f"{{{text}{end}}}"

    def _sequence(self, nodes: Sequence[Node], indent: str) -> tuple[str, Origin | None]:
        """The text of nodes one under another, and the origin of the last one."""
        parts: list[str] = []
        previous: Origin | None = None
        index = 0
        while index < len(nodes):
            node = nodes[index]
            origin, count = _own_text(nodes, index)
            if origin is None:
                parts.append(f"\n\n{indent}" if isinstance(node, Function) else f"\n{indent}")
                parts.append(self._canonical(node, indent))
            else:
                source, start, end = origin
                parts.append(self._lead(origin, previous, index == 0, indent))
                parts.append(source.text[start : _rest_end(source, end, _gap_end(source, end))])
            previous = origin
            index += count
        return "".join(parts), previous

    def _lead(self, origin: Origin, previous: Origin | None, first: bool, indent: str) -> str:
        """Blanks and comments before a node that prints its own text."""
        source, start, _ = origin
        begin = self._gap(source, start)
        follows = previous is not None and previous[0] is source and previous[2] == begin
        if begin > 0 and source.text[begin - 1] != "{":
            begin = _rest_end(source, begin, start)
        lead = source.text[begin:start]
        if "\n" in lead or follows or (first and begin == 0):
            return lead
        return f"\n{indent}{lead.lstrip()}"

    def _after(self, last: Origin | None, closes: Callable[[Source, int], bool]) -> str | None:
        """Blanks and comments between the last node and what closed it in its source, where that is so."""
        if last is None:
            return None
        source, _, end = last
        stop = _gap_end(source, end)
        return source.text[_rest_end(source, end, stop) : stop] if closes(source, stop) else None

    def _gap(self, source: Source, start: int) -> int:
        """Where the blanks and comments before a node begin."""
        gaps = self._gaps.get(id(source))
        if gaps is None:
            gaps = self._gaps[id(source)] = {
                match.end("gap"): match.start("gap") for match in _PIECE.finditer(source.text)
            }
        return gaps.get(start, start)

    # Nodes --------------------------------------------------------------------------------------------------

    def _function(self, node: Function) -> str:
        words = [f".{word}" for word in (*node.linkage, node.kind)]
        words += node.attributes
        if node.returns:
            words.append(f"({', '.join(map(_parameter_text, node.returns))})")
        params = "()"
        if node.params:
            lines = ",\n\t".join(map(_parameter_text, node.params))
            params = f"(\n\t{lines}\n)"
        text = f"{' '.join(words)} {node.name}{params}"
        for directive in node.directives:
            text += f"\n{self._function_directive(directive)}"
        return f"{text};" if node.body is None else f"{text}\n{self.node(node.body)}"

    def _function_directive(self, node: Directive) -> str:
        if node.origin is not None:
            return self.node(node)
        end = ";" if node.name == ".pragma" else ""
        return f"{_directive_text(node)}{end}"

    def _directive(self, node: Directive, indent: str) -> str:
        if node.body is not None:
            return f"{_directive_text(node)}\n{indent}{self._braced(node.body, indent)}"
        end = "" if node.name in _UNENDED or node.name in DATA else ";"
        return f"{_directive_text(node)}{end}"


def _directive_text(node: Directive) -> str:
    match node.name, node.args:
        case ".version", (major, minor):
            return f".version {_argument_text(major)}.{_argument_text(minor)}"
        case ".file", (number, *rest):
            return f".file {_argument_text(number)} {', '.join(map(_argument_text, rest))}"
        case ".loc", args:
            return _location_text(args)
        case name, args:
            return f"{name} {', '.join(map(_argument_text, args))}".rstrip()


def _location_text(args: Sequence[Argument]) -> str:
    text = ".loc"
    for arg in args:
        comma = "," if arg in (Name("function_name"), Name("inlined_at")) else ""
        text += f"{comma} {_argument_text(arg)}"
    return text


def _argument_text(arg: Argument) -> str:
    if isinstance(arg, Text):
        return f'"{arg.value}"'
    if not isinstance(arg, Prototype):
        return operand_text(arg)
    returns = f"({', '.join(map(_parameter_text, arg.returns))}) " if arg.returns else ""
    text = f"{returns}{arg.name} ({', '.join(map(_parameter_text, arg.params))})"
    return " ".join((text, *(_directive_text(directive) for directive in arg.directives)))


def _parameter_text(param: Variable) -> str:
    return param.source_text or _declaration_text(param)


def _own_text(nodes: Sequence[Node], index: int) -> tuple[Origin | None, int]:
    """The place of the text that `nodes[index]` prints, and how many nodes that text says.

    Variables declared in one list print its text when all of them stand together.
    """
    origin = nodes[index].origin
    if origin is None or not isinstance(nodes[index], Variable):
        return origin, 1
    source, start, end = origin
    count = 1
    while source.text[end - 1] != ";":
        following = nodes[index + count].origin if index + count < len(nodes) else None
        comma = _gap_end(source, end)
        if following is None or following[0] is not source or source.text[comma : comma + 1] != ",":
            return None, 1
        if _gap_end(source, comma + 1) != following[1]:
            return None, 1
        end = following[2]
        count += 1
    return ((source, start, end), count) if source.text[start] == "." else (None, 1)


def _gap_end(source: Source, start: int) -> int:
    match = SPACES.match(source.text, start)
    return start if match is None else match.end()


def _rest_end(source: Source, start: int, stop: int) -> int:
    """End of the rest of a line that begins at `start`; `start` itself where the line holds another node."""
    match = _LINE_REST.match(source.text, start)
    end = start if match is None else match.end()
    return end if end < stop and source.text[end] in "\r\n" else start
