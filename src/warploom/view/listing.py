"""Lines of a kernel's PTX text with the costs from a profile."""

from dataclasses import dataclass, field

from warploom.diagnostics import Source, UsageError
from warploom.observe.profile import Profile, Tile


@dataclass(slots=True)
class Line:
    """Line of a kernel's PTX text.

    `row` has the sum of each counter in `profile.ROW` over the instructions of the line; for `executions` and `ways`
    the maximum. `row` is None for a line without instructions. `origin` is the file and line of the source code.
    `is_filler` is True for a line that is blank or contains only a `.loc` directive.
    """

    number: int
    text: str
    opcode: str = ""
    row: dict[str, int] | None = None
    tiles: list[Tile] = field(default_factory=list[Tile])
    origin: str = ""
    is_filler: bool = False

    @property
    def remark(self) -> str:
        """Text about the costs of the line's memory accesses."""
        if self.row is None:
            return ""
        return "; ".join(filter(None, (shared_cost(self.row), global_cost(self.row), self.tile_remark)))

    @property
    def tile_remark(self) -> str:
        """Text about the tiles in shared memory that the line uses, and about the copied bytes."""
        operands: dict[str, dict[str, None]] = {}
        for tile in self.tiles:
            swizzle = f"swizzle of {tile.swizzle} bytes" if tile.swizzle else "no swizzle"
            operands.setdefault(swizzle, {})[tile.what] = None
        words = [f"{', '.join(names)}: {swizzle}" for swizzle, names in operands.items()]
        if self.row is not None and self.row["bytes"]:
            words.append(f"{self.row['bytes']:,} bytes")
        return "; ".join(words)


def shared_cost(row: dict[str, int]) -> str:
    """Return a text about bank conflicts from the counters `row`, or "" without shared accesses."""
    ideal, actual = row["ideal_wavefronts"], row["wavefronts"]
    if not row["shared"]:
        return ""
    if actual == ideal:
        return "no bank conflict"
    return f"{row['ways']}-way bank conflict: {actual:,} wavefronts instead of {ideal:,}"


def global_cost(row: dict[str, int]) -> str:
    """Return a text about coalescing from the counters `row`, or "" without global accesses."""
    ideal, actual = row["ideal_sectors"], row["sectors"]
    if not row["global"]:
        return ""
    if actual == ideal:
        return "coalesced"
    return f"{actual:,} sectors instead of {ideal:,} ({ideal / actual:.0%} used)"


def lines_of(profile: Profile) -> list[Line]:
    """Return the lines of a profiled kernel's text. Errors: UsageError report.text if the kernel has none."""
    source = profile.program.source
    if source is None:
        raise UsageError(
            "a report needs the kernel's text, but this module was built in Python and not parsed",
            code="report.text",
            hint="launch its text, str(module)",
        )
    last = source.line_count - (0 if source.line_text(source.line_count) else 1)
    texts = [source.line_text(number) for number in range(1, last + 1)]
    lines = [Line(number, text, is_filler=_is_filler(text)) for number, text in enumerate(texts, 1)]
    _add_figures(profile, lines)
    _add_origins(source, lines)
    return lines


def _is_filler(text: str) -> bool:
    return not text.strip() or text.lstrip().startswith(".loc")


def _add_figures(profile: Profile, lines: list[Line]) -> None:
    names = profile.rows.dtype.names or ()
    for step, (number, opcode) in enumerate(zip(profile.lines, profile.opcodes, strict=True)):
        if number == 0:
            continue  # the implicit end of a body has no line
        line = lines[number - 1]
        row: dict[str, int] = {name: int(profile.rows[name][step]) for name in names}
        for name, value in (line.row or {}).items():
            row[name] = max(row[name], value) if name in ("executions", "ways") else row[name] + value
        line.row, line.opcode = row, line.opcode or opcode
    for tile in profile.tiles:
        if number := profile.lines[tile.step]:
            lines[number - 1].tiles.append(tile)


def _add_origins(source: Source, lines: list[Line]) -> None:
    for line in lines:
        compiled_from = source.compiled_from(source.line_start(line.number) + len(line.text.rstrip()))
        line.origin = "" if compiled_from is None else str(compiled_from)
