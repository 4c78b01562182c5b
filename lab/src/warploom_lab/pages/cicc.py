"""Pages in `docs/nvvm` about two reference texts on NVIDIA's compiler, with corrections."""

from warploom.nvvm.reference import CORRECTION, Table, tables


def pages() -> dict[str, str]:
    """Return the index of `docs/nvvm` and the pages about the texts, by their path in `docs`."""
    return {
        "nvvm/cicc.md": _page(_CICC, "cicc"),
        "nvvm/dialect/wgmma-text.md": _page(_WGMMA, "wgmma"),
        "nvvm/README.md": _INDEX,
    }


def _page(lead: str, source: str) -> str:
    return f"{lead}\n" + "\n".join(section(table) for table in tables().values() if table.source == source)


def section(table: Table) -> str:
    """Return a table in Markdown. Each wrong statement is struck out and followed by its correction."""
    lines = [" | ".join(table.heads), " | ".join("---" for _ in table.heads)]
    lines += [" | ".join(map(_cell, row)) for row in table.rows]
    body = "\n".join(f"| {line} |" for line in lines)
    lead, notes = ("\n".join(map(_escaped, part)) for part in (table.lead, table.notes))
    return "\n\n".join(part for part in (f"## {table.title}", lead, body, notes) if part) + "\n"


def _cell(text: str) -> str:
    wrong, found, right = map(str.strip, _escaped(text).partition(CORRECTION))
    return f"{f'~~{wrong}~~ ' * bool(wrong)}**{right}**" if found else wrong


def _escaped(text: str) -> str:
    return text.replace("*", "\\*")


_CICC = """# Builtin tables of cicc

Use this page to look up the number, the name or the encoding of a tensor-core builtin of cicc. cicc is the LLVM-based
compiler in NVIDIA's nvcc. A *builtin* is a function such as `__hmma_m16n16k16_ld_a` or `__wgmma_mma_async_f16`, which a
CUDA program can call without a declaration. `warploom lower CALL.cu` translates calls of these builtins to PTX.
`warploom explain 765` describes the builtin with this number.

The facts are from the reference text "Tensor Core / MMA Builtins", a description of the disassembled cicc. The text
does not state the version of cicc. The text was compared with the output of nvcc 13.0, with ptxas 13.0
and 13.1, and with the *Forms*, Warploom's descriptions of the PTX instructions. If a statement is wrong, it is struck
out, and the correction follows in bold. The last tables are not from the text but from the code of Warploom.
`warploom explain` searches all tables: give it an address such as `sub_953BA0`, a message, a field, or several words.

These terms are used in all tables:

- D, A, B and C are the matrices of a multiplication D = A B + C.
- HMMA, IMMA, BMMA, DMMA, TF32, BF16 and WGMMA are the *units*, which are groups of builtins. HMMA multiplies f16, IMMA
  multiplies integers, BMMA multiplies single bits, DMMA multiplies f64, TF32 and BF16 multiply these types, and WGMMA
  is the group of the warpgroup builtins.
- The builtins 678 to 744 are the *first generation*, and the builtins 745 to 764 are the *second generation*. Both are
  warp-level builtins. The builtins 765 to 768 are the warpgroup builtins.
- An *intrinsic* is an LLVM function into which cicc translates a builtin. Intrinsics have numbers of their own.
- The *EDG side* of cicc is its C++ front end, and the *NVVM side* generates code. Both translate the builtins. A name
  such as `sub_953BA0` is the address of a function, and `dword_3F14840` is the address of a table.
- A *descriptor word* is a number of 64 bits that states the shape, types and layouts of a multiplication, a load or a
  store. cicc passes it to the intrinsics of the second generation.
"""

_WGMMA = """# Reference text on wgmma

This page lists the statements of the text "NVVM WGMMA Ops" about the wgmma operations of NVVM, with corrections. The
text does not state a version. The tables compare its statements with the nvvm dialect of MLIR 22 and with ptxas 13.1.
Wrong statements are struck out, and the correction follows in bold. `warploom explain` searches these tables, too.
"""

_INDEX = """# Reference of NVVM: operations and builtins

- [Operations of the nvvm dialect](dialect/README.md) lists the operations that Warploom lowers.
- [Builtin tables of cicc](cicc.md) lists the tensor-core builtins of NVIDIA's compiler.

[Lower and lift code](../lowering/README.md) describes the use of both.
"""
