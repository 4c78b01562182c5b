"""Pages in `docs/nvvm` that correct the reference text on cicc's builtins."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


class TableError(Exception):
    """Error for a row or correction that does not fit the columns of its table."""


@dataclass(frozen=True, slots=True)
class Table:
    """Table of the reference text, with corrections.

    A key of `corrections` is a pair: the first cell of a row, and the heading of a column.
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    corrections: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    why: str = ""
    lead: str = ""

    def corrected(self) -> list[dict[str, str]]:
        """Return the corrected rows. Each row maps headings to cells."""
        return [
            {head: self.corrections.get((row[0], head), cell) for head, cell in zip(self.heads, row, strict=True)}
            for row in self.rows
        ]

    def markdown(self) -> str:
        """Return the table in Markdown. Each wrong cell is struck out and followed by its correction."""
        lines = [" | ".join(self.heads), " | ".join("---" for _ in self.heads)]
        for row in self.rows:
            shown = [
                f"~~{cell}~~ **{right}**" if (right := self.corrections.get((row[0], head))) is not None else cell
                for head, cell in zip(self.heads, row, strict=True)
            ]
            lines.append(" | ".join(shown))
        body = "\n".join(f"| {line} |" for line in lines)
        parts = (f"## {self.title}", self.lead, body, self.why)
        return "\n\n".join(part for part in parts if part) + "\n"


@cache
def tables() -> dict[str, Table]:
    """Return the tables by name."""
    source = files("warploom_lab.pages").joinpath("cicc.toml").read_text(encoding="utf-8")
    return {name: _table(name, entry) for name, entry in tomllib.loads(source).items()}


def _table(name: str, entry: dict[str, str | dict[str, dict[str, str]]]) -> Table:
    title, rows = entry["title"], entry["rows"]
    why, lead = entry.get("why", ""), entry.get("lead", "")
    assert isinstance(title, str)
    assert isinstance(rows, str)
    assert isinstance(why, str)
    assert isinstance(lead, str)
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
    return Table(name, title, heads, body, corrections, why.strip(), lead.strip())


def pages() -> dict[str, str]:
    """Return the index of `docs/nvvm` and the pages with tables, by their path in `docs`."""
    body = "\n".join(table.markdown() for table in tables().values())
    return {"nvvm/cicc.md": f"{_NOTE}\n{body}", "nvvm/README.md": _INDEX}


_NOTE = """# Builtin tables of cicc

Use this page to look up the number, the name or the encoding of a tensor-core builtin of cicc. cicc is the LLVM-based
compiler in NVIDIA's nvcc. A *builtin* is a function such as `__hmma_m16n16k16_ld_a` or `__wgmma_mma_async_f16`, which a
CUDA program can call without a declaration. `warploom lower CALL.cu` translates calls of these builtins to PTX.
`warploom explain 765` describes the builtin with this number.

The tables are from the reference text "Tensor Core / MMA Builtins", a description of the disassembled cicc. The text
does not state the version of cicc. The text was compared with the output of nvcc 13.0, with ptxas 13.0
and 13.1, and with the *Forms*, Warploom's descriptions of the PTX instructions. If a cell is wrong, the text of the
cell is struck out, and the correction follows in bold.

These terms are used in all tables:

- D, A, B and C are the matrices of a multiplication D = A B + C.
- HMMA, IMMA, BMMA, DMMA, TF32, BF16 and WGMMA are the *units*, which are groups of builtins. HMMA multiplies f16, IMMA
  multiplies integers, BMMA multiplies single bits, DMMA multiplies f64, TF32 and BF16 multiply these types, and WGMMA
  is the group of the warpgroup builtins.
- The builtins 678 to 744 are the *first generation*, and the builtins 745 to 764 are the *second generation*. Both are
  warp-level builtins. The builtins 765 to 768 are the warpgroup builtins.
- An *intrinsic* is an LLVM function into which cicc translates a builtin. Intrinsics have numbers of their own.
- A *descriptor word* is a number of 64 bits that states the shape, types and layouts of a multiplication, a load or a
  store. cicc passes it to the intrinsics of the second generation.
"""

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
