"""Line information of authored modules: `.loc` directives with the Python lines."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile

from warploom.diagnostics import SourceLine
from warploom.isa.model.availability import Version
from warploom.ptx import Block, Directive, Instruction, Label, Statement, TopLevel

_INLINED = (7, 2)
"""First PTX version with `function_name` and `inlined_at`. Source: PTX ISA 11.5.4."""
_MARGIN = " " * 4
_LOCATED = (Instruction, Block)


class LineDirectives:
    """Writer of the line information of one module.

    `declared` contains the items of the module. The writer does not use the file numbers of its `.file` directives.
    """

    def __init__(self, version: Version, declared: Iterable[TopLevel]) -> None:
        items = [item for item in declared if isinstance(item, Directive) and item.name == ".file"]
        self._first = 1 + max((item.ints[0] for item in items), default=0)
        self._has_inlining = version >= _INLINED
        self._files: dict[str, int] = {}
        self._names: dict[str, str] = {}  # labels of the names of functions

    def body(self, statements: Sequence[tuple[Statement, SourceLine | None]]) -> Iterator[str]:
        """Yield the text of the body of a kernel, line by line. `statements` have their Python lines.

        A body that contains `.loc` directives gets no others.
        """
        is_located = any(isinstance(each, Directive) and each.name == ".loc" for each, _ in statements)
        before: SourceLine | None = None
        texts: dict[int, str] = {}  # by the identity of the line
        for statement, line in statements:
            if isinstance(statement, Label):
                yield f"{statement.name}:"
                continue
            if line is not None and line is not before and not is_located and isinstance(statement, _LOCATED):
                for each in self._new_lines(line, before):
                    text = texts.get(id(each))
                    if text is None:
                        text = texts[id(each)] = self._location(each)
                    yield text
                before = line
            for part in str(statement).rstrip().splitlines():
                yield f"{_MARGIN}{part}".expandtabs(4)

    def _new_lines(self, line: SourceLine, before: SourceLine | None) -> Sequence[SourceLine]:
        """Return a line and the calls that lead to it, outermost first.

        Calls that also lead to the line `before` are omitted, because their directives still apply.
        """
        found = [line]
        if self._has_inlining:
            known = set[int]() if before is None else set(map(id, before.chain()))
            found += takewhile(lambda call: id(call) not in known, islice(line.chain(), 1, None))
        return found[::-1]

    def _location(self, line: SourceLine) -> str:
        call = line.inlined_at if self._has_inlining else None
        text = f"{_MARGIN}.loc {self._position(line)}"
        comment = f"// {line}"
        if call is not None:
            text += f", function_name {self._name(line.function)}, inlined_at {self._position(call)}"
            comment += f" @[ {call} ]"
        return f"{text} {comment}"

    def _position(self, line: SourceLine) -> str:
        number = self._files.setdefault(line.file, self._first + len(self._files))
        return f"{number} {line.line} 0"

    def _name(self, function: str) -> str:
        return self._names.setdefault(function, f"$L__info_string{len(self._names)}")

    def module_items(self) -> Iterator[str]:
        """Yield the items of the module to which the `.loc` directives refer."""
        for file, number in self._files.items():
            yield f'.file {number} "{file.replace(chr(34), chr(39))}"'
        if self._names:
            strings = map(_string, self._names.values(), self._names)
            yield "\n".join((".section .debug_str", "{", *strings, "}"))


def _string(label: str, text: str) -> str:
    return f"{label}:\n.b8 {', '.join(map(str, (*text.encode(), 0)))}"
