"""Pages in `docs/nvvm` with the tables of the reference text on cicc's builtins, and with corrections.

The tables are in `cicc.toml`: the rows of the reference text, corrections by row and column, and reasons.
"""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


class TableError(Exception):
    """Error for a table whose rows or corrections do not fit its columns."""


@dataclass(frozen=True, slots=True)
class Table:
    """Table of the reference text, with corrections.

    A correction belongs to the first cell of a row and the heading of a column.
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    corrections: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    why: str = ""

    def corrected(self) -> list[dict[str, str]]:
        """Return the corrected rows, each as a dictionary from heading to cell."""
        return [
            {head: self.corrections.get((row[0], head), cell) for head, cell in zip(self.heads, row, strict=True)}
            for row in self.rows
        ]

    def markdown(self) -> str:
        """Return the table in Markdown, in which a wrong cell is struck out and followed by its correction."""
        lines = [" | ".join(self.heads), " | ".join("---" for _ in self.heads)]
        for row in self.rows:
            shown = [
                f"~~{cell}~~ **{right}**" if (right := self.corrections.get((row[0], head))) is not None else cell
                for head, cell in zip(self.heads, row, strict=True)
            ]
            lines.append(" | ".join(shown))
        body = "\n".join(f"| {line} |" for line in lines)
        return f"## {self.title}\n\n{body}\n" + (f"\n{self.why}\n" if self.why else "")


@cache
def tables() -> dict[str, Table]:
    """Return the tables by name."""
    source = files("warploom_lab.pages").joinpath("cicc.toml").read_text(encoding="utf-8")
    return {name: _table(name, entry) for name, entry in tomllib.loads(source).items()}


def _table(name: str, entry: dict[str, str | dict[str, dict[str, str]]]) -> Table:
    title, rows, why = entry["title"], entry["rows"], entry.get("why", "")
    assert isinstance(title, str)
    assert isinstance(rows, str)
    assert isinstance(why, str)
    lines = [tuple(cell.strip() for cell in line.split("|")) for line in rows.strip().splitlines()]
    heads, body = lines[0], tuple(lines[1:])
    if wrong := [line for line in body if len(line) != len(heads)]:
        raise TableError(f"table {name}: row {wrong[0]} has {len(wrong[0])} cells; expected {len(heads)}")
    corrections: dict[tuple[str, str], str] = {}
    given = entry.get("right", {})
    assert isinstance(given, dict)
    for row, cells in given.items():
        for head, right in cells.items():
            if head not in heads or all(line[0] != row for line in body):
                raise TableError(f"table {name}: cannot correct column {head!r} of row {row!r}: no such cell")
            corrections[row, head] = right
    return Table(name, title, heads, body, corrections, why.strip())


def pages() -> dict[str, str]:
    """Return the pages with the tables and the index of `docs/nvvm`, by their path in `docs`."""
    body = "\n".join(table.markdown() for table in tables().values())
    note = (
        "This page lists the tensor-core builtins of cicc, the LLVM-based compiler in NVIDIA's nvcc. The tables state"
        " the numbers, names, intrinsics and encodings of the builtins. They are from a reference text that describes"
        " the disassembled compiler. Errors of the reference text are struck out. The bold corrections come from the"
        " output of nvcc, from ptxas, or from the Forms, which are Warploom's descriptions of the PTX instructions. On"
        " this page, *the compiler* is cicc."
    )
    return {"nvvm/cicc.md": f"# Builtin tables of cicc\n\n{note}\n\n{body}", "nvvm/README.md": _INDEX}


_INDEX = """# Lower and raise code

These commands translate code between compiler builtins, the nvvm dialect of MLIR, and PTX:

    warploom lower CALL.cu                    # translate calls of builtins in C to PTX
    warploom lower CALL.cu --to nvvm          # translate calls of builtins to operations of the nvvm (or llvm) dialect
    warploom lower KERNEL.mlir                # translate operations of the nvvm or llvm dialect to PTX
    warploom lower KERNEL.ptx --to nvvm       # translate PTX to operations of the nvvm dialect
    warploom explain 0x60704000000            # describe the builtin, the intrinsic or the encoded word with this number

To *lower* means to translate towards PTX, and to *raise* means to translate PTX to operations of the nvvm dialect.

- [Operations of the nvvm dialect](dialect/README.md) lists the operations that Warploom lowers.
- [Raise PTX to operations](dialect/raising.md) describes the translation of PTX to operations.
- [Builtin tables of cicc](cicc.md) lists the tensor-core builtins of NVIDIA's compiler.
"""
