"""Quick fixes for diagnostics."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warploom.diagnostics import Diagnostic, Span
from warploom.isa.binding.bind import changes_of_one_word, nearest_fixes
from warploom.isa.binding.nearest import spell
from warploom.isa.model.form import LONGEST_OPCODE, match_opcode
from warploom.lsp.document import View
from warploom.lsp.names import Names
from warploom.ptx import Instruction, Variable
from warploom.ptx.cursor import MISSING_SEMICOLON
from warploom.ptx.lexer import COMMENT

_FOUND = re.compile(r"'([^']+)'")
_SIMILAR = re.compile(r"did you mean '?([^'?]+)'?\?")
_BEFORE = re.compile(r"put '([^']+)' before it")
_ENDS = re.compile(r"'([^'<]+)<(\d+)>' (?:ends with|is empty)")
_DECLARE = re.compile(r"declare it (\.\w+)")
_RANGE_SIZE = re.compile(r"\s*<\s*(\d+)\s*>")
_CODE = re.compile(rf'{COMMENT}|"[^"\n]*"|[^\s/]+|/', re.ASCII)
_MOST = 3
_MOST_REGISTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class Fix:
    """Edit that resolves the diagnostic `finding`. The edit replaces the text at `span` by `text`."""

    title: str
    finding: Diagnostic
    span: Span
    text: str


def fixes_in(view: View, start: int, end: int) -> list[Fix]:
    """Return fixes for the diagnostics between the offsets `start` and `end`."""
    return [
        Fix(title, finding, span, text)
        for finding in view.report
        if finding.span is not None and finding.span.start <= end and start <= finding.span.end
        for title, span, text in _fixes(view, finding, finding.span)
    ]


_Change = tuple[str, Span, str]


def _fixes(view: View, finding: Diagnostic, span: Span) -> Iterator[_Change]:
    hint = finding.hint
    if (similar := _SIMILAR.fullmatch(hint)) is not None:
        yield from _renamed(view, finding, span, similar[1])
    elif (before := _BEFORE.fullmatch(hint)) is not None:
        yield _inserted(view, span, before[1])
    elif (ends := _ENDS.match(hint)) is not None:
        yield from _enlarged(view, finding, span, ends[1])
    elif (declare := _DECLARE.fullmatch(hint)) is not None:
        yield from _declared(view, finding, span, declare[1])
    elif hint == MISSING_SEMICOLON:
        end = _end_of_code(view, span.start)
        yield "End the statement before with ';'", Span(end, end), ";"
    else:
        yield from _of_opcode(view, finding, span)


def _renamed(view: View, finding: Diagnostic, span: Span, name: str) -> Iterator[_Change]:
    found = _FOUND.search(finding.message)
    if found is None:
        return
    old = found[1].partition(".")[0] if finding.code == "isa.unknown" else found[1]
    named = re.compile(rf"(?<![\w$%]){re.escape(old)}(?![\w$])").search(view.text, span.start, span.end)
    if named is not None:
        yield f"Change '{old}' to '{name}'", Span(*named.span()), name


def _inserted(view: View, span: Span, statement: str) -> _Change:
    begin = view.text.rfind("\n", 0, span.start) + 1
    before = view.text[begin : span.start]
    indent = before[: len(before) - len(before.lstrip())]
    return f"Put '{statement}' before it", Span(begin, begin), f"{indent}{statement};\n"


def _enlarged(view: View, finding: Diagnostic, span: Span, stem: str) -> Iterator[_Change]:
    """Yield the edit that enlarges a range of registers, such as `%r<4>`, for the register of `finding`.

    `stem` is the name of the range, such as `%r`.
    """
    found = _FOUND.search(finding.message)
    digits = found[1].removeprefix(stem) if found is not None else ""
    count = int(digits) + 1 if digits.isdecimal() and len(digits) < 10 else 0
    names = Names(view)
    for symbol in names.visible(span.start) if 0 < count <= _MOST_REGISTERS else ():
        node = symbol.declaration
        if isinstance(node, Variable) and node.name == stem and node.count is not None:
            name = names.definition(symbol)
            size = None if name is None else _RANGE_SIZE.match(view.text, name.end)
            if size is not None:
                yield f"Declare '{stem}<{count}>'", Span(*size.span(1)), str(count)
            return


def _declared(view: View, finding: Diagnostic, span: Span, word: str) -> Iterator[_Change]:
    declared = re.search(r"declared (\.\w+)", finding.message)
    at = -1 if declared is None else view.text.find(declared[1], span.start, span.end)
    if declared is not None and at >= 0:
        yield f"Declare it {word}", Span(at, at + len(declared[1])), word


def _end_of_code(view: View, offset: int) -> int:
    """Return the end of the last token before an offset. Comments are no tokens."""
    start = view.parsed.starts[view.parsed.piece_at(offset)] if view.parsed.starts else 0
    found = _CODE.finditer(view.text, start, offset)
    return max((match.end() for match in found if not match[0].startswith(("//", "/*"))), default=offset)


def _of_opcode(view: View, finding: Diagnostic, span: Span) -> Iterator[_Change]:
    """Yield edits that replace the opcode of an instruction by a legal opcode."""
    found = view.instruction_at(span.start)
    if found is None or "/" not in finding.code:
        return
    instruction, start = found
    words = instruction.word_spans
    if not words:
        return
    whole = Span(start + words[0].start, start + words[-1].end)
    for opcode in list(dict.fromkeys(_legal_opcodes(instruction, finding)))[:_MOST]:
        yield f"Change to '{opcode}'", whole, opcode


def _legal_opcodes(instruction: Instruction, finding: Diagnostic) -> Iterator[str]:
    opcode = instruction.opcode
    if len(opcode) > LONGEST_OPCODE:
        return
    matches = match_opcode(opcode)
    if not matches:
        yield from (fix.nearest or spell(fix.match) for fix in nearest_fixes(opcode, instruction.operands))
    for match in matches:
        for shown, changed in changes_of_one_word(match):
            if finding.hint == f"the operands fit {shown}":
                yield spell(changed)
