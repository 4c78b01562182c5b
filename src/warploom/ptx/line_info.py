"""Source lines of compiled PTX, from its `.file` and `.loc` directives."""

from collections.abc import Iterator
from dataclasses import replace

from warploom.diagnostics import SourceLine
from warploom.diagnostics.source import LineTable
from warploom.diagnostics.symbols import readable_name
from warploom.ptx.operands import Name, Symbol
from warploom.ptx.tree import Block, Directive, Label, Module, Text

_Position = tuple[int, ...]
"""Index of a file, line and column."""


def line_table(module: Module) -> LineTable:
    """Return the source lines of a parsed module (see `Source.compiled_from`).

    A `.loc` directive applies up to the next one, or to the end of its function. Line 0 stands for code without a
    source line.

    Source: PTX ISA 11.5.3, 11.5.4
    """
    directives = [item for item in module.items if isinstance(item, Directive)]
    files = {each.ints[0]: text for each in directives if each.name == ".file" and (text := _file_name(each))}
    names = {label: name for each in directives if each.name == ".section" for label, name in _strings(each)}
    found: list[tuple[int, SourceLine | None]] = []
    for function in module.functions.values():
        if function.body is not None and function.span is not None:
            known: dict[_Position, SourceLine] = {}
            found += ((start, _source_line(each, files, names, known)) for start, each in _locations(function.body))
            found.append((function.span.end, None))
    return sorted(found, key=lambda each: each[0])


def _file_name(directive: Directive) -> str:
    return next((arg.value for arg in directive.args if isinstance(arg, Text)), "")


def _strings(section: Directive) -> Iterator[tuple[str, bytes]]:
    """Yield each label of a section of strings, and the bytes from the label on."""
    content = bytearray()
    labels: list[tuple[str, int]] = []
    for each in section.body or ():
        if isinstance(each, Label):
            labels.append((each.name, len(content)))
        elif each.name == ".b8":
            content += bytes(value & 0xFF for value in each.ints)
    for label, start in labels:
        yield label, bytes(content[start:])


def _locations(block: Block) -> Iterator[tuple[int, Directive]]:
    """Yield the `.loc` directives of a block with their offsets in the text."""
    for statement in block.statements:
        if isinstance(statement, Block):
            yield from _locations(statement)
        elif isinstance(statement, Directive) and statement.name == ".loc" and statement.span is not None:
            yield statement.span.start, statement


def _source_line(
    directive: Directive, files: dict[int, str], names: dict[str, bytes], known: dict[_Position, SourceLine]
) -> SourceLine | None:
    """Return the source line of a `.loc` directive, and add it to the lines `known` by position."""
    position, caller = directive.ints[:3], directive.ints[3:6]
    file, line, column = position
    if not line:
        return None
    label = next((arg for arg in directive.args if isinstance(arg, Name | Symbol) and _text(arg) in names), None)
    function, inlined_at = "", known.get(caller)
    if label is not None:
        offset = label.offset if isinstance(label, Symbol) else 0
        function = readable_name(names[_text(label)][offset:].partition(b"\0")[0].decode(errors="replace"))
    if caller and inlined_at is None:
        inlined_at = SourceLine(files.get(caller[0], f"file {caller[0]}"), caller[1], caller[2])
    found = SourceLine(files.get(file, f"file {file}"), line, column, function, inlined_at)
    if inlined_at is not None and any(
        each.column == column and each.place == found.place for each in inlined_at.chain()
    ):
        found = replace(found, inlined_at=None)  # a chain that contains itself would never end
    known[position] = found
    return found


def _text(label: Name | Symbol) -> str:
    return label.text if isinstance(label, Name) else label.name
