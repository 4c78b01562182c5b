"""Parser of PTX: from text to a tree.

After an error, the parser continues with the next statement.
"""

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from warploom.diagnostics import Diagnostic, Source, UsageError
from warploom.diagnostics.wording import os_reason
from warploom.ptx import declarations, lexer
from warploom.ptx.constants import literal
from warploom.ptx.cursor import Cursor, ParsingStopped, PtxSyntaxError, Unreadable, describe
from warploom.ptx.lexer import LINKAGE, MODULE_WORDS, STATE_SPACES
from warploom.ptx.line_info import line_table
from warploom.ptx.node import Node
from warploom.ptx.operand_parser import OperandCache, operands
from warploom.ptx.operands import Integer, Name, Symbol
from warploom.ptx.spans import continues_opcode
from warploom.ptx.tree import (
    Argument,
    Block,
    Directive,
    Function,
    Guard,
    Instruction,
    Label,
    Module,
    Statement,
    Text,
    TopLevel,
)

_HEADER = (".version", ".target", ".address_size")
_ENDED_BY_SEMICOLON = frozenset((".pragma", ".branchtargets", ".calltargets", ".alias"))

_NodeT = TypeVar("_NodeT", bound=Node)
_set_attribute = object.__setattr__


def parse(text: str, name: str = "<ptx>") -> Module:
    """Parse a PTX module. `str()` of the result equals `text`.

    Errors: UsageError ptx.text; every code of `PtxSyntaxError`
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- any object
        raise UsageError(f"text is {text!r}; expected a string", code="ptx.text")
    module, found = parse_readable(text, name)
    if found or module is None:
        raise PtxSyntaxError(found)
    return module


def parse_readable(text: str, name: str = "<ptx>") -> tuple[Module | None, list[Diagnostic]]:
    """Parse a PTX module without the statements that have errors. Return the module and the errors.

    The module is None if too many errors or too deep nesting stopped the parser.
    """
    parser = Parser(Source(name, text))
    try:
        module = parser.module()
    except ParsingStopped:
        module = None
    found = parser.cursor.diagnostics
    return module, sorted(found, key=lambda error: error.span.start if error.span else 0)


def read(ptx: str | Path) -> Module:
    """Parse a PTX text or a PTX file.

    A string that contains a line break or `.version` is a text. Any other string is a path.

    Errors: ptx.file, ptx.text; every code of `PtxSyntaxError`
    """
    return parse(*text_of(ptx))


def is_text(ptx: str) -> bool:
    """Return True if a string is a PTX text: it is empty, or it contains a line break or `.version`."""
    return not ptx or "\n" in ptx or ".version" in ptx


def text_of(ptx: str | Path) -> tuple[str, str]:
    """Return a PTX text and its name. `ptx` is the text or the path of a file.

    Errors: ptx.file, ptx.text
    """
    if isinstance(ptx, str) and is_text(ptx):
        return ptx, "<ptx>"
    if not isinstance(ptx, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance] -- any object
        raise UsageError(f"ptx is {ptx!r}; expected a text, a path or a Module", code="ptx.text")
    path = Path(ptx)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except FileNotFoundError:
        message = f"there is no file {path}"
    except UnicodeDecodeError:
        message = f"{path} is not a PTX text: it is not UTF-8"
    except OSError as error:
        message = f"{path} cannot be read: {os_reason(error)}"
    except ValueError:
        message = "a path cannot contain a zero byte"
    raise UsageError(message, code="ptx.file")


class Parser:
    """Parser of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.cursor = Cursor(source)
        self._operands = OperandCache()
        self._guards: dict[str, Guard] = {}
        self._directives: dict[str, Callable[[], Directive]] = {
            ".loc": self._location,
            ".file": self._file,
            ".section": self._section,
            ".callprototype": lambda: Directive(".callprototype", (declarations.prototype(self.cursor),)),
        }

    # Module scope -------------------------------------------------------------------------------------------

    def module(self) -> Module:
        """Parse the whole source."""
        items: list[TopLevel] = []
        self.header(items)
        while self.item(items):
            pass
        module = Module(tuple(items))
        _set_attribute(module, "origin", (self.source, 0, len(self.source.text)))
        self.source.read_line_table = partial(line_table, module)
        return module

    def item(self, items: list[TopLevel]) -> bool:
        """Parse the next item of the module into `items`. Return False at the end of the text."""
        cursor = self.cursor
        start = cursor.pos
        try:
            start = cursor.peek().start
            if cursor.peek().kind == "end":
                return False
            self._top_level(items)
        except Unreadable:
            cursor.recover(start, body=False)
        return True

    def header(self, items: list[TopLevel]) -> None:
        """Parse the version, target and address-size directives of the module into `items`."""
        cursor = self.cursor
        readers = (self._version, self._target, self._address_size)
        for word, reader in zip(_HEADER, readers, strict=True):
            start = cursor.pos
            try:
                token = cursor.peek()
                if token.text == word:
                    cursor.take()
                    items.append(self._with_origin(Directive(word, reader()), token.start))
                elif word != ".address_size":
                    what = "the first directive" if word == ".version" else "the directive after .version"
                    message = f"found {describe(token)}; expected {word} as {what}"
                    cursor.report("header", message, token.span)
                    return
            except Unreadable:
                cursor.recover(start, body=False)

    def _version(self) -> tuple[Argument, ...]:
        text = self.cursor.peek().text
        major, _, minor = text.partition(".")
        if not (major.isdecimal() and minor.isdecimal() and len(text) < 10):
            self.cursor.expected("a version such as 8.7")
        self.cursor.take()
        return Integer(int(major)), Integer(int(minor))

    def _target(self) -> tuple[Argument, ...]:
        names: list[Argument] = [Name(self.cursor.expect_kind("name", "a target such as sm_90a").text)]
        while self.cursor.accept(","):
            names.append(Name(self.cursor.expect_kind("name", "a target or mode").text))
        return tuple(names)

    def _address_size(self) -> tuple[Argument, ...]:
        if not self.cursor.at("32", "64"):
            self.cursor.expected("32", "64")
        return (Integer(int(self.cursor.take().text)),)

    def _top_level(self, items: list[TopLevel]) -> None:
        cursor = self.cursor
        start = cursor.peek().start
        linkage = self._linkage()
        token = cursor.peek()
        if token.text in (".entry", ".func"):
            self._function(items, start, linkage)
        elif token.text in STATE_SPACES:
            items.extend(declarations.variables(cursor, start, linkage))
        elif linkage:
            cursor.expected("'.entry'", "'.func'", "a state space such as .global")
        elif token.text in _HEADER:
            cursor.take()
            message = f"found a second {token.text}; expected it once, at the head of the module"
            cursor.fail("header", message, token.span)
        elif token.kind == "word":
            items.append(self._directive())
        else:
            cursor.expected("a directive", "a function", "a variable")

    def _linkage(self) -> tuple[str, ...]:
        words: list[str] = []
        while self.cursor.peek().text in LINKAGE:
            words.append(self.cursor.take().text[1:])
        return tuple(words)

    # Functions ----------------------------------------------------------------------------------------------

    def _function(self, items: list[TopLevel], start: int, linkage: tuple[str, ...]) -> None:
        cursor = self.cursor
        try:
            function = self._signature(linkage)
        except Unreadable:
            # The body is parsed because it may have errors of its own.
            cursor.skip_to("{", ";")
            if cursor.at("{"):
                self._block(0)
            return
        if not cursor.accept(";"):
            function = replace(function, body=self._block(0))
        items.append(self._with_origin(function, start))

    def _signature(self, linkage: tuple[str, ...]) -> Function:
        cursor = self.cursor
        kind = cursor.take().text[1:]
        attributes: list[str] = []
        while cursor.at(".attribute"):
            attributes.append(declarations.attribute(cursor))
        returns = declarations.parameters(cursor) if kind == "func" and cursor.at("(") else ()
        name = cursor.expect_kind("name", "a function's name").text
        params = declarations.parameters(cursor) if cursor.at("(") else ()
        directives = declarations.function_directives(cursor, "{", ";")
        return Function(kind, name, params, returns, directives, None, linkage, tuple(attributes))

    def _block(self, depth: int) -> Block:
        cursor = self.cursor
        depth = cursor.nest(depth, "blocks")
        start = cursor.expect("{").start
        statements: list[Statement] = []
        while self._more(statements, depth, start):
            pass
        return self._with_origin(Block(tuple(statements)), start)

    def _more(self, statements: list[Statement], depth: int, start: int, until: int = sys.maxsize) -> bool:
        """Parse more statements of a block before the offset `until`. Return False at the end of the block.

        `start` is the offset of the block's `{`, for messages.
        """
        cursor = self.cursor
        self._usual_statements(statements, until)
        at = cursor.pos
        if at >= until:
            return True
        try:
            token = cursor.peek()
            at = token.start
            if token.text == "}":
                cursor.take()
                return False
            if token.kind == "end" or token.text in MODULE_WORDS:
                line, _ = self.source.position(start)
                message = f"found {describe(token)}; expected '}}' to close the '{{' of line {line}"
                cursor.report("expected", message, token.span)
                return False
            self._statement(statements, depth)
        except Unreadable:
            cursor.recover(at, body=True)
        return True

    # Statements ---------------------------------------------------------------------------------------------

    def _usual_statements(self, statements: list[Statement], until: int) -> None:
        """Append common statements before the offset `until`, up to the first one of another form."""
        match_statement = lexer.STATEMENT.match
        parse_operands = self._operands.parse
        source, text = self.source, self.source.text
        append = statements.append
        pos = self.cursor.pos
        while pos < until and (match := match_statement(text, pos)) is not None:
            last = match.lastindex
            if last == lexer.LAST_GROUP_OF_INSTRUCTION:
                guard, opcode, words = match.group(1, 2, 3)
                operands = parse_operands(words)
                if operands is None:
                    break
                node = Instruction(None if guard is None else self._guard(guard), opcode, operands)
                start = match.start(2 if guard is None else 1)
            elif last == lexer.LAST_GROUP_OF_LABEL:
                node = Label(match[4])
                start = match.start(4)
            else:
                node = Directive(".loc", self._usual_location(match))
                start = match.start(5)
            pos = match.end()
            _set_attribute(node, "origin", (source, start, pos))
            append(node)
        self.cursor.seek(pos)

    def _usual_location(self, match: re.Match[str]) -> tuple[Argument, ...]:
        known = self._operands.__getitem__
        line: list[Argument] = [known(text) for text in match.group(6, 7, 8)]
        name, offset = match.group(9, 10)
        if name is None:
            return tuple(line)
        function = Name(name) if offset in (None, "0") else Symbol(name, int(offset))
        call = [known(text) for text in match.group(11, 12, 13)]
        return (*line, Name("function_name"), function, Name("inlined_at"), *call)

    def _guard(self, text: str) -> Guard | None:
        guard = self._guards.get(text)
        if guard is None:
            negated = text[1] == "!"
            guard = self._guards[text] = Guard(text[2 if negated else 1 :], negated)
        return guard

    def _statement(self, statements: list[Statement], depth: int) -> None:
        cursor = self.cursor
        token = cursor.peek()
        if token.text == "{":
            statements.append(self._block(depth))
        elif token.text in STATE_SPACES or token.text in LINKAGE:
            statements.extend(declarations.variables(cursor, token.start, self._linkage()))
        elif token.kind == "word":
            statements.append(self._directive())
        elif token.text == "@" or token.kind == "name":
            self._instruction_or_label(statements)
        else:
            cursor.expected("an instruction", "a label", "a directive", "'}'")

    def _instruction_or_label(self, statements: list[Statement]) -> None:
        cursor = self.cursor
        token = cursor.peek()
        guard: Guard | None = None
        if cursor.accept("@"):
            negated = cursor.accept("!")
            guard = Guard(cursor.expect_kind("name", "a predicate").text, negated)
        name = cursor.peek()
        opcode = lexer.OPCODE_PATTERN.match(self.source.text, name.start)
        if name.kind == "name" and guard is None and "." not in name.text:
            cursor.take()
            if cursor.accept(":"):
                statements.append(self._with_origin(Label(name.text), token.start))
                return
            cursor.seek(token.start)
        if opcode is None:
            cursor.expected("an instruction")
        cursor.seek(opcode.end())
        words = opcode[0]
        while continues_opcode(cursor):
            words += cursor.take().text
        statements.append(self._with_origin(Instruction(guard, words, operands(cursor, ";")), token.start))

    # Directives ---------------------------------------------------------------------------------------------

    def _directive(self) -> Directive:
        cursor = self.cursor
        token = cursor.take()
        reader = self._directives.get(token.text)
        if reader is not None:
            return self._with_origin(reader(), token.start)
        if token.text in _ENDED_BY_SEMICOLON:
            args = declarations.arguments(cursor, ";")
            cursor.expect(";", ",")
        else:
            # The arguments of an unknown directive end with its line.
            args = () if cursor.breaks_line() else declarations.arguments(cursor, ";", "{", "}")
            cursor.accept(";")
        return self._with_origin(Directive(token.text, args), token.start)

    def _location(self) -> Directive:
        args: list[Argument] = [self._integer() for _ in range(3)]
        while self.cursor.accept(","):
            word = self.cursor.expect_kind("name", "'function_name'").text
            args.append(Name(word))
            if word == "inlined_at":
                args += [self._integer() for _ in range(3)]
            else:
                args.append(declarations.argument(self.cursor))
        return Directive(".loc", tuple(args))

    def _file(self) -> Directive:
        args: list[Argument] = [self._integer()]
        args.append(Text(self.cursor.expect_kind("string", "a file name in quotes").text[1:-1]))
        while self.cursor.accept(","):
            args.append(self._integer())
        return Directive(".file", tuple(args))

    def _integer(self) -> Integer:
        token = self.cursor.expect_kind("integer", "an integer")
        return Integer.spelled(literal(self.cursor, token), token.text)

    def _section(self) -> Directive:
        cursor = self.cursor
        token = cursor.peek()
        if token.kind not in ("word", "name"):
            cursor.expected("a section's name")
        name = Name(cursor.take().text)
        cursor.expect("{")
        body: list[Label | Directive] = []
        while True:
            self._data_lines(body)
            if cursor.accept("}"):
                return Directive(".section", (name,), tuple(body))
            token = cursor.peek()
            if token.kind == "name":
                cursor.take()
                cursor.expect(":")
                body.append(self._with_origin(Label(token.text), token.start))
            elif token.text in lexer.DATA_DIRECTIVES:
                cursor.take()
                data = declarations.argument_list(cursor)
                body.append(self._with_origin(Directive(token.text, data), token.start))
            else:
                cursor.expected("data such as .b8", "a label", "'}'")

    def _data_lines(self, body: list[Label | Directive]) -> None:
        """Append the lines of plain integers at the cursor to the body of a section."""
        pos = self.cursor.pos
        while (match := lexer.DATA_LINE.match(self.source.text, pos)) is not None:
            values = self._operands.parse(match[2])
            if values is None:
                break
            pos = match.end()
            body.append(self._with_origin(Directive(match[1], values), match.start(1), match.end(2)))
        self.cursor.seek(pos)

    def _with_origin(self, node: _NodeT, start: int, end: int = -1) -> _NodeT:
        _set_attribute(node, "origin", (self.source, start, self.cursor.pos if end < 0 else end))
        return node
