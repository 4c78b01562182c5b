"""A kernel's text line by line, with what a profile says of every line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Source, UsageError
from warploom.observe.profile import Profile, Tile
from warploom.ptx import Block, Directive, Function, Integer, Module, Text


@dataclass(slots=True)
class Line:
    """A line of a text. `row` has the columns of `profile.ROW`, added up where several instructions stand in it;
    None where none does.

    `origin` is the place that the last `.loc` names; `plain` lines are blank, or hold nothing but a `.loc`.
    """

    number: int
    text: str
    opcode: str = ""
    row: dict[str, int] | None = None
    tiles: list[Tile] = field(default_factory=list[Tile])
    origin: str = ""
    plain: bool = False

    @property
    def words(self) -> str:
        """What there is to say of its accesses."""
        if self.row is None:
            return ""
        return "; ".join(filter(None, (shared_words(self.row), global_words(self.row), self.tile_words)))

    @property
    def tile_words(self) -> str:
        """The tiles that it uses, and the bytes that it copies."""
        kinds: dict[str, list[str]] = {}
        for tile in self.tiles:
            kinds.setdefault(_swizzle(tile), []).append(tile.what)
        said = [f"{', '.join(dict.fromkeys(what))}: {swizzle}" for swizzle, what in kinds.items()]
        if self.row is not None and self.row["bytes"]:
            said.append(f"{self.row['bytes']:,} bytes")
        return "; ".join(said)


def shared_words(row: dict[str, int]) -> str:
    """What the accesses of an instruction to shared memory cost."""
    if not row["shared"]:
        return ""
    least, taken = row["ideal_wavefronts"], row["wavefronts"]
    if taken == least:
        return "no bank conflict"
    return f"{row['ways']}-way bank conflict: {taken:,} wavefronts, {least:,} would do"


def global_words(row: dict[str, int]) -> str:
    """What the accesses of an instruction to global memory cost."""
    if not row["global"]:
        return ""
    least, touched = row["ideal_sectors"], row["sectors"]
    if touched == least:
        return "coalesced"
    return f"{touched:,} sectors, {least:,} would do ({least / touched:.0%} used)"


def _swizzle(tile: Tile) -> str:
    """The swizzle of a tile."""
    return f"swizzle of {tile.swizzle} bytes" if tile.swizzle else "no swizzle"


def lines_of(profile: Profile) -> list[Line]:
    """Every line of the text. Errors: UsageError report.text for a kernel that has none."""
    source = profile.program.source
    if source is None:
        raise UsageError(
            "a report shows the kernel's text, and this module was made by program",
            code="report.text",
            hint="launch its text, str(module)",
        )
    last = source.line_count - (0 if source.line_text(source.line_count) else 1)
    lines = [Line(number, source.line_text(number)) for number in range(1, last + 1)]
    _count(profile, lines)
    _name_origins(profile.program.module, source, lines)
    for line in lines:
        line.plain = line.plain or not line.text.strip()
    return lines


def _count(profile: Profile, lines: list[Line]) -> None:
    """Give every line what its instructions did."""
    names = profile.rows.dtype.names or ()
    for step, (number, opcode) in enumerate(zip(profile.lines, profile.opcodes, strict=True)):
        if number == 0:
            continue  # the end of a body, where nothing is written
        line = lines[number - 1]
        row: dict[str, int] = {name: int(profile.rows[name][step]) for name in names}
        if line.row is not None:
            for name in names:
                apart = name in ("executions", "ways")
                row[name] = max(row[name], line.row[name]) if apart else row[name] + line.row[name]
        line.row, line.opcode = row, line.opcode or opcode
    for tile in profile.tiles:
        if number := profile.lines[tile.step]:
            lines[number - 1].tiles.append(tile)


def _name_origins(module: Module, source: Source, lines: list[Line]) -> None:
    """Give every line the place in its compiler's source, as file and line."""
    files: dict[int, str] = {}
    for item in module.items:
        if isinstance(item, Directive) and item.name == ".file" and item.ints:
            files[item.ints[0]] = next((arg.value for arg in item.args if isinstance(arg, Text)), "")
    for function in module.functions.values():
        if function.body is None:
            continue
        marks = [(_line(source, each), each) for each in _locations(function.body)]
        ends = [*(line for line, _ in marks), _last_line(source, function) + 1][1:]
        for (line, mark), end in zip(marks, ends, strict=True):
            file, number = (arg.value for arg in mark.args[:2] if isinstance(arg, Integer))
            origin = f"{files.get(file, '') or f'file {file}'}:{number}"
            for each in lines[line - 1 : end - 1]:
                each.origin = origin
            lines[line - 1].plain = lines[line - 1].row is None


def _locations(block: Block) -> Iterator[Directive]:
    for statement in block.statements:
        if isinstance(statement, Block):
            yield from _locations(statement)
        elif isinstance(statement, Directive) and statement.name == ".loc" and len(statement.ints) > 1:
            yield statement


def _line(source: Source, directive: Directive) -> int:
    return source.position(directive.span.start)[0] if directive.span is not None else 1


def _last_line(source: Source, function: Function) -> int:
    return source.position(function.span.end)[0] if function.span is not None else 1


def heat(rows: NDArray[Any]) -> int:
    """The executions of what ran most often, at least 1."""
    return max(1, int(np.max(rows["executions"], initial=0)))
