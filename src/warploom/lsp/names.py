"""Names in a document: what each stands for, where that is declared, and where it is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from warploom.diagnostics import Span, UsageError
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.lsp.document import View
from warploom.ptx import Block, Directive, Function, Instruction, Label, Statement, Variable
from warploom.ptx.incremental_parse import Piece
from warploom.ptx.lexer import COMMENT, NAME, STRING, TRIVIA
from warploom.ptx.scopes import Scope

_TOKEN = re.compile(rf"{COMMENT}|{STRING}|(?<![\w$%.])(?<!::)({NAME})", re.ASCII)
_GUARD = re.compile(rf"@{TRIVIA}!?{TRIVIA}{NAME}{TRIVIA}", re.ASCII)
_WHOLE_NAME = re.compile(NAME, re.ASCII)

Declaration = Variable | Label | Function
Declared = Scope[Variable, Variable, Label]


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """What a name stands for: its declaration, the number of the piece that holds it, and the text that names it.

    Of a range such as `%r<8>` each register is a symbol of its own, and so is the range: its `text` is `%r`.
    `local` where the name is known in its function alone.
    """

    declaration: Declaration
    piece: int
    text: str
    local: bool

    @property
    def is_of_range(self) -> bool:
        """Whether it is one register of a range."""
        node = self.declaration
        return isinstance(node, Variable) and node.count is not None and node.name != self.text


@dataclass(frozen=True, slots=True)
class _Names:
    """The names in one piece: where they stand, and the scopes between braces, the outermost first."""

    tokens: tuple[tuple[int, int, str], ...]
    scopes: tuple[tuple[int, int, Declared], ...]
    declared: dict[int, Declaration]

    def scopes_at(self, offset: int) -> Iterator[Declared]:
        """The scopes that an offset is in, the innermost first."""
        return (scope for start, end, scope in reversed(self.scopes) if start <= offset < end)


class Names:
    """The names of one version of a text. Units: offsets of the text."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._pieces = view.pieces()
        self._known: dict[int, _Names] = {}

    def symbol_at(self, offset: int) -> Symbol | None:
        """What the name at an offset stands for."""
        found = self.token_at(offset)
        return None if found is None else self._resolve(found[0], found[1])

    def token_at(self, offset: int) -> tuple[int, tuple[int, int, str]] | None:
        """The name at an offset: the number of its piece, and where in it the name begins and ends."""
        if not self._pieces:
            return None
        k = self.view.reading.piece_at(offset)
        # At the end of a piece the name before it is meant.
        for number in (k, k - 1) if k else (k,):
            within = offset - self._pieces[number][1]
            for token in self._names(number).tokens:
                if token[0] <= within <= token[1]:
                    return number, token
        return None

    def definition(self, symbol: Symbol) -> Span | None:
        """Where a symbol is declared: its name there, or all of a declaration whose name is run into others."""
        node, start = symbol.declaration, self._pieces[symbol.piece][1]
        for begin, declared in self._names(symbol.piece).declared.items():
            if declared is node:
                return Span(start + begin, start + begin + len(node.name))
        return None if node.span is None else Span(start + node.span.start, start + node.span.end)

    def references(self, symbol: Symbol) -> list[Span]:
        """Where a symbol is named, its declaration among them."""
        numbers = [symbol.piece] if symbol.local else range(len(self._pieces))
        node = symbol.declaration
        ranged = isinstance(node, Variable) and node.count is not None
        stem = symbol.text if ranged and symbol.text == node.name else ""
        found: list[Span] = []
        for k in numbers:
            start = self._pieces[k][1]
            for token in self._names(k).tokens:
                if token[2] != symbol.text and not (stem and token[2].startswith(stem)):
                    continue
                other = self._resolve(k, token)
                if other is not None and self._is_same(symbol, other):
                    found.append(Span(start + token[0], start + token[1]))
        definition = self.definition(symbol)
        if symbol.is_of_range and definition is not None:
            found = sorted({*found, definition}, key=lambda span: span.start)
        return found

    @staticmethod
    def _is_same(symbol: Symbol, other: Symbol) -> bool:
        one, node = symbol.declaration, other.declaration
        if not symbol.local and not other.local:  # functions and variables may be declared several times
            same = type(one) is type(node) and one.name == node.name
        else:
            same = one is node
        return same and (not symbol.is_of_range or symbol.text == other.text)

    def visible(self, offset: int) -> list[Symbol]:
        """What can be named at an offset: of a range, the registers that are in use."""
        if not self._pieces:
            return []
        k = self.view.reading.piece_at(offset)
        within = offset - self._pieces[k][1]
        words = {token[2] for token in self._names(k).tokens}
        for scope in self._names(k).scopes_at(within):
            words |= scope.names()
        words |= set(self._module)
        symbols = (self._find(k, within, word) for word in sorted(words))
        return [symbol for symbol in symbols if symbol is not None]

    # Renaming -----------------------------------------------------------------------------------------------

    def rename(self, symbol: Symbol, name: str) -> list[tuple[Span, str]]:
        """The changes that give a symbol another name. A register of a range gets a declaration of its own.

        Errors: UsageError where the name is none, is taken, or the text around cannot be read
        """
        if _WHOLE_NAME.fullmatch(name) is None or name in SPECIAL_REGISTERS:
            raise UsageError(f"'{name}' is no name that can be declared", code="lsp.rename")
        places = self.references(symbol)
        touched = {self.view.reading.piece_at(place.start) for place in places}
        if any(self._pieces[k][0].errors for k in touched):
            raise UsageError(
                f"'{symbol.text}' stands in a text that cannot be read: mend its syntax first",
                code="lsp.rename",
            )
        if any(self._find(k, place.start - self._pieces[k][1], name) for k in touched for place in places):
            raise UsageError(f"'{name}' is declared already", code="lsp.rename")
        if isinstance(symbol.declaration, Label) and self._in_section(symbol.text):
            raise UsageError(
                f"'{symbol.text}' is named in a .section too, which is not renamed", code="lsp.rename"
            )
        declared = self.definition(symbol)
        if not symbol.is_of_range:
            length = len(symbol.declaration.name)
            return [(Span(place.start, place.start + length), name) for place in places]
        changes = [(place, name) for place in places if place != declared]
        node = symbol.declaration
        assert isinstance(node, Variable)
        assert node.span is not None
        at = self._pieces[symbol.piece][1] + node.span.end
        alone = str(replace(node, name=name, count=None))
        while self.view.text[at - 1] != ";":  # behind the whole declaration, where it declares several
            at += 1
        return [*changes, (Span(at, at), f"\n{self._indent(at)}{alone}")]

    def _in_section(self, name: str) -> bool:
        sections = (
            (k, item)
            for k, (piece, _) in enumerate(self._pieces)
            for item in piece.items
            if isinstance(item, Directive) and item.body is not None
        )
        return any(token[2] == name for k, _ in sections for token in self._names(k).tokens)

    def _indent(self, offset: int) -> str:
        line = self.view.text[self.view.text.rfind("\n", 0, offset) + 1 : offset]
        return line[: len(line) - len(line.lstrip())]

    # Scopes -------------------------------------------------------------------------------------------------

    def _names(self, k: int) -> _Names:
        if k not in self._known:
            self._known[k] = _names_of(self._pieces[k][0])
        return self._known[k]

    @cached_property
    def _module(self) -> dict[str, tuple[int, Declaration]]:
        """What is declared at the scope of the module; a definition goes before a declaration."""
        found: dict[str, tuple[int, Declaration]] = {}
        for k, (piece, _) in enumerate(self._pieces):
            for item in piece.items:
                if isinstance(item, Variable):
                    found.setdefault(item.name, (k, item))
                elif isinstance(item, Function) and (item.body is not None or item.name not in found):
                    found[item.name] = k, item
        return found

    @cached_property
    def _outermost(self) -> Declared:
        """The registers of the module's scope, and its variables."""
        scope: Declared = Scope(None)
        for _, node in self._module.values():
            if isinstance(node, Variable):
                _declare(scope, node)
        return scope

    def _resolve(self, k: int, token: tuple[int, int, str]) -> Symbol | None:
        node = self._names(k).declared.get(token[0])
        if node is not None:
            local = not any(node is item for item in self._pieces[k][0].items)
            return Symbol(node, k, token[2], local)
        return self._find(k, token[0], token[2])

    def _find(self, k: int, within: int, text: str) -> Symbol | None:
        for scope in self._names(k).scopes_at(within):
            node = _own(scope, text)
            if node is not None:
                return Symbol(node, k, text, local=True)
        node = _own(self._outermost, text)
        if node is None and text in self._module:
            node = self._module[text][1]
        return None if node is None else Symbol(node, self._module[node.name][0], text, local=False)


def _own(scope: Declared, text: str) -> Declaration | None:
    register = scope.own_register(text)
    return register[0] if register is not None else scope.variables.get(text) or scope.labels.get(text)


def _declare(scope: Declared, node: Variable) -> None:
    if node.space == "reg" and node.count is not None:
        scope.ranges.setdefault(node.name, (node.count, node))
    else:
        (scope.registers if node.space == "reg" else scope.variables).setdefault(node.name, node)


@dataclass(slots=True)
class _Reader:
    """Collects scopes, and where in the text of a piece declarations and opcodes begin."""

    text: str
    scopes: list[tuple[int, int, Declared]] = field(default_factory=list[tuple[int, int, Declared]])
    nodes: list[Declaration] = field(default_factory=list[Declaration])
    opcodes: set[int] = field(default_factory=set[int])

    def function(self, function: Function) -> None:
        scope = self._scope(function, None)
        self.nodes.append(function)
        for parameter in (*function.returns, *function.params):
            self._variable(scope, parameter)
        if function.body is not None:
            self.block(function.body, scope)

    def block(self, block: Block, parent: Declared) -> None:
        scope = self._scope(block, parent)
        for statement in block.statements:
            self._statement(statement, scope)

    def _statement(self, statement: Statement, scope: Declared) -> None:
        match statement:
            case Instruction():
                start = 0 if statement.span is None else statement.span.start
                guard = _GUARD.match(self.text, start) if statement.guard is not None else None
                self.opcodes.add(start if guard is None else guard.end())
            case Label(name):
                scope.labels.setdefault(name, statement)
                self.nodes.append(statement)
            case Variable():
                self._variable(scope, statement)
            case Block():
                self.block(statement, scope)
            case _:
                return

    def _variable(self, scope: Declared, variable: Variable) -> None:
        _declare(scope, variable)
        self.nodes.append(variable)

    def _scope(self, node: Function | Block, parent: Declared | None) -> Declared:
        scope: Declared = Scope(parent)
        if node.span is not None:
            self.scopes.append((node.span.start, node.span.end, scope))
        return scope


def _names_of(piece: Piece) -> _Names:
    reader = _Reader(piece.source.text)
    for item in piece.items:
        if isinstance(item, Function):
            reader.function(item)
        elif isinstance(item, Variable):
            reader.nodes.append(item)
    tokens = tuple(
        (match.start(1), match.end(1), match[1])
        for match in _TOKEN.finditer(piece.source.text)
        if match[1] is not None and match.start(1) not in reader.opcodes
    )
    starts: dict[str, list[int]] = {text: [] for _, _, text in tokens}
    for start, _, text in tokens:
        starts[text].append(start)
    declared: dict[int, Declaration] = {}
    for node in reader.nodes:
        place = _name_place(node, starts.get(node.name, []))
        if place is not None:
            declared.setdefault(place, node)
    return _Names(tokens, tuple(reader.scopes), declared)


def _name_place(node: Declaration, starts: list[int]) -> int | None:
    """Where the name of a declaration stands; the results of a function stand before its name."""
    span = node.span
    if span is None:
        return None
    first = span.start
    if isinstance(node, Function) and node.returns and (last := node.returns[-1].span) is not None:
        first = last.end
    return next((start for start in starts if first <= start < span.end), None)
