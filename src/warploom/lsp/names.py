"""Names in a document: their declarations and occurrences.

The incremental parse splits a text into pieces. A piece is one item of the module with the comments before the item.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from warploom.diagnostics import Span, UsageError
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.lsp.document import View
from warploom.ptx import Block, Directive, Function, Instruction, Label, Variable
from warploom.ptx.incremental_parse import Piece
from warploom.ptx.lexer import COMMENT, NAME, STRING, TRIVIA
from warploom.ptx.scopes import Scope

_TOKEN = re.compile(rf"{COMMENT}|{STRING}|(?<![\w$%.])(?<!::)({NAME})", re.ASCII)
_GUARD = re.compile(rf"@{TRIVIA}!?{TRIVIA}{NAME}{TRIVIA}", re.ASCII)
_WHOLE_NAME = re.compile(NAME, re.ASCII)

Declaration = Variable | Label | Function
Declared = Scope[Variable, Variable, Label | Function]
Token = tuple[int, int, str]
"""Occurrence of a name: its start and end in a piece of the incremental parse, and its text."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """Variable, register, label or function.

    `piece` is the index of the piece with the declaration. `text` is the name. A range of registers such as `%r<8>` is
    a symbol `%r`, and each of its registers is another symbol. `local` is True if the name is visible only in its
    function.
    """

    declaration: Declaration
    piece: int
    text: str
    local: bool

    @property
    def is_of_range(self) -> bool:
        """True for a register of a range, such as `%r3` of `%r<8>`."""
        node = self.declaration
        return isinstance(node, Variable) and node.count is not None and node.name != self.text


@dataclass(frozen=True, slots=True)
class _PieceNames:
    """Names in one piece of a text.

    `scopes` has (start, end, declarations) of each function and block, outermost first. `declared` has the declarations
    by the offset of the name. Offsets count from the start of the piece.
    """

    tokens: tuple[Token, ...]
    scopes: tuple[tuple[int, int, Declared], ...]
    declared: dict[int, Declaration]

    def scopes_at(self, offset: int) -> Iterator[Declared]:
        """Return the scopes that contain an offset, innermost first."""
        return (scope for start, end, scope in reversed(self.scopes) if start <= offset < end)


class Names:
    """Names of one version of a text. Offsets are indices of characters in the text."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._pieces = view.pieces()
        self._known: dict[int, _PieceNames] = {}

    def symbol_at(self, offset: int) -> Symbol | None:
        """Return the symbol of the name at an offset, or None."""
        found = self.token_at(offset)
        return None if found is None else self._resolve(*found)

    def token_at(self, offset: int) -> tuple[int, Token] | None:
        """Return (index of the piece, token) for the name at an offset, or None without a name."""
        if not self._pieces:
            return None
        k = self.view.parsed.piece_at(offset)
        # A name may end where a piece begins.
        for index in (k, k - 1) if k else (k,):
            within = offset - self._pieces[index][1]
            for token in self._names(index).tokens:
                if token[0] <= within <= token[1]:
                    return index, token
        return None

    def definition(self, symbol: Symbol) -> Span | None:
        """Return the span of the name in the declaration of a symbol.

        If the declaration lacks the name, return the span of the declaration.
        """
        node, start = symbol.declaration, self._pieces[symbol.piece][1]
        for begin, declared in self._names(symbol.piece).declared.items():
            if declared is node:
                return Span(start + begin, start + begin + len(node.name))
        return None if node.span is None else Span(start + node.span.start, start + node.span.end)

    def references(self, symbol: Symbol) -> list[Span]:
        """Return the spans of all occurrences of a symbol, including the declaration."""
        node = symbol.declaration
        ranged = isinstance(node, Variable) and node.count is not None
        stem = symbol.text if ranged and symbol.text == node.name else ""
        found: list[Span] = []
        for k in [symbol.piece] if symbol.local else range(len(self._pieces)):
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
        """Return the symbols that are visible at an offset.

        Only those registers of a range that the text uses are included.
        """
        if not self._pieces:
            return []
        k = self.view.parsed.piece_at(offset)
        within = offset - self._pieces[k][1]
        scopes = (self._module_scope, *self._names(k).scopes_at(within))
        words = {token[2] for token in self._names(k).tokens}.union(*(scope.names() for scope in scopes))
        symbols = (self._find(k, within, word) for word in sorted(words))
        return [symbol for symbol in symbols if symbol is not None]

    # Renaming -----------------------------------------------------------------------------------------------

    def rename(self, symbol: Symbol, name: str) -> list[tuple[Span, str]]:
        """Return the edits that rename a symbol, each as a span and its new text.

        A register of a range such as `%r<8>` gets a separate declaration.

        Errors: UsageError lsp.rename if the new name is illegal or already declared, or if the symbol occurs in code
            with syntax errors
        """
        if _WHOLE_NAME.fullmatch(name) is None or name in SPECIAL_REGISTERS:
            raise _refusal(f"'{name}' is not a legal name")
        spans = self.references(symbol)
        touched = {self.view.parsed.piece_at(span.start) for span in spans}
        if any(self._pieces[k][0].errors for k in touched):
            raise _refusal(f"'{symbol.text}' is used in code with syntax errors; correct them first")
        if any(self._find(k, span.start - self._pieces[k][1], name) for k in touched for span in spans):
            raise _refusal(f"'{name}' is declared already")
        if isinstance(symbol.declaration, Label) and self._is_in_section(symbol.text):
            raise _refusal(f"'{symbol.text}' is also used in a .section, which cannot be renamed")
        node = symbol.declaration
        if not symbol.is_of_range:
            return [(Span(span.start, span.start + len(node.name)), name) for span in spans]
        declared = self.definition(symbol)
        changes = [(span, name) for span in spans if span != declared]
        assert isinstance(node, Variable)
        assert node.span is not None
        # The new declaration follows the old one, which may declare several names.
        text = self.view.text
        end = text.index(";", self._pieces[symbol.piece][1] + node.span.end - 1) + 1
        line = text[text.rfind("\n", 0, end) + 1 : end]
        indent = line[: len(line) - len(line.lstrip())]
        return [*changes, (Span(end, end), f"\n{indent}{replace(node, name=name, count=None)}")]

    def _is_in_section(self, name: str) -> bool:
        return any(
            token[2] == name
            for k, (piece, _) in enumerate(self._pieces)
            if any(isinstance(item, Directive) and item.body is not None for item in piece.items)
            for token in self._names(k).tokens
        )

    # Scopes -------------------------------------------------------------------------------------------------

    def _names(self, k: int) -> _PieceNames:
        if k not in self._known:
            self._known[k] = _names_of(self._pieces[k][0])
        return self._known[k]

    @cached_property
    def _module_scope(self) -> Declared:
        """Scope of the module, with functions in `labels`."""
        scope: Declared = Scope(None)
        for item in (item for piece, _ in self._pieces for item in piece.items):
            if isinstance(item, Directive):
                continue
            if isinstance(item, Variable):
                _declare(scope, item)
            elif item.body is not None or item.name not in scope.labels:
                scope.labels[item.name] = item
        return scope

    @cached_property
    def _piece_of(self) -> dict[int, int]:
        return {id(item): k for k, (piece, _) in enumerate(self._pieces) for item in piece.items}

    def _resolve(self, k: int, token: Token) -> Symbol | None:
        node = self._names(k).declared.get(token[0])
        if node is not None:
            local = not any(node is item for item in self._pieces[k][0].items)
            return Symbol(node, k, token[2], local)
        return self._find(k, token[0], token[2])

    def _find(self, k: int, within: int, text: str) -> Symbol | None:
        for scope in (*self._names(k).scopes_at(within), self._module_scope):
            register = scope.own_register(text)
            node = register[0] if register is not None else scope.variables.get(text) or scope.labels.get(text)
            if node is not None:
                local = scope is not self._module_scope
                return Symbol(node, k if local else self._piece_of[id(node)], text, local)
        return None


def _refusal(message: str) -> UsageError:
    return UsageError(message, code="lsp.rename")


def _declare(scope: Declared, node: Variable) -> None:
    if node.space == "reg" and node.count is not None:
        scope.ranges.setdefault(node.name, (node.count, node))
    else:
        (scope.registers if node.space == "reg" else scope.variables).setdefault(node.name, node)


def _names_of(piece: Piece) -> _PieceNames:
    """Collect the names, scopes and declarations of a piece."""
    text = piece.source.text
    scopes: list[tuple[int, int, Declared]] = []
    nodes: list[Declaration] = []
    opcodes: set[int] = set()

    def visit(parent: Function | Block, outer: Declared | None) -> None:
        scope: Declared = Scope(outer)
        if parent.span is not None:
            scopes.append((parent.span.start, parent.span.end, scope))
        is_function = isinstance(parent, Function)
        for node in (*parent.returns, *parent.params, parent.body) if is_function else parent.statements:
            match node:
                case Instruction():
                    start = 0 if node.span is None else node.span.start
                    guard = _GUARD.match(text, start) if node.guard is not None else None
                    opcodes.add(start if guard is None else guard.end())
                case Label(name):
                    scope.labels.setdefault(name, node)
                    nodes.append(node)
                case Variable():
                    _declare(scope, node)
                    nodes.append(node)
                case Block():
                    visit(node, scope)
                case _:
                    pass

    for item in piece.items:
        if not isinstance(item, Directive):
            nodes.append(item)
        if isinstance(item, Function):
            visit(item, None)
    tokens = tuple(
        (match.start(1), match.end(1), match[1])
        for match in _TOKEN.finditer(text)
        if match[1] is not None and match.start(1) not in opcodes
    )
    starts: dict[str, list[int]] = {}
    for start, _, name in tokens:
        starts.setdefault(name, []).append(start)
    declared: dict[int, Declaration] = {}
    for node in nodes:
        begin = _name_start(node, starts.get(node.name, []))
        if begin is not None:
            declared.setdefault(begin, node)
    return _PieceNames(tokens, tuple(scopes), declared)


def _name_start(node: Declaration, starts: list[int]) -> int | None:
    """Return the offset of the name in a declaration.

    `starts` has the offsets of all occurrences of the name.
    """
    span = node.span
    if span is None:
        return None
    first = span.start
    if isinstance(node, Function) and node.returns and (last := node.returns[-1].span) is not None:
        first = last.end  # the results of a function precede its name
    return next((start for start in starts if first <= start < span.end), None)
