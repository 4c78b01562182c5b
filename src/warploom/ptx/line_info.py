"""Source lines of compiled PTX, from its `.file` and `.loc` directives."""

from collections.abc import Iterator
from dataclasses import dataclass

from warploom.ptx.tree import Block, Directive, Integer, Module, Text


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Line of a source file, and the range of the PTX text that was compiled from it.

    `start` is the offset of the `.loc` directive. The line 0 stands for code without a source line.

    Units: `start` and `end` are characters of the PTX text
    """

    start: int
    end: int
    file: str
    line: int


def source_lines(module: Module) -> list[SourceLine]:
    """Return the source lines of all function bodies, in the order of the PTX text."""
    files: dict[int, str] = {}
    for item in module.items:
        if isinstance(item, Directive) and item.name == ".file" and item.ints:
            names = [arg.value for arg in item.args if isinstance(arg, Text)]
            files[item.ints[0]] = names[-1] if names else ""
    found: list[SourceLine] = []
    for function in module.functions.values():
        if function.body is None or function.span is None:
            continue
        marks = [(each.span.start, each) for each in _locations(function.body) if each.span is not None]
        ends = [*(start for start, _ in marks[1:]), function.span.end]
        for (start, mark), end in zip(marks, ends, strict=False):
            file, line = (arg.value for arg in mark.args[:2] if isinstance(arg, Integer))
            found.append(SourceLine(start, end, files.get(file, "") or f"file {file}", line))
    return sorted(found, key=lambda each: each.start)


def _locations(block: Block) -> Iterator[Directive]:
    for statement in block.statements:
        if isinstance(statement, Block):
            yield from _locations(statement)
        elif isinstance(statement, Directive) and statement.name == ".loc" and len(statement.ints) > 1:
            yield statement
