"""LLVM IR of Warploom and of MLIR for the same operations."""

import re
from collections.abc import Iterator, Sequence

from warploom.diagnostics import WarploomError
from warploom.nvvm import lower
from warploom_lab.mlir.cases import Case
from warploom_lab.mlir.tools import Tools

_NAME = re.compile(r"%[\w.]+")


def ir_differences(tools: Tools, cases: Sequence[Case]) -> Iterator[str]:
    """Yield a text for each case that MLIR refuses, that Warploom refuses, or whose LLVM IR differs."""
    texts = [case.text for case in cases]
    translated = tools.translated(tools.printed(texts, "-convert-nvvm-to-llvm"))
    for text, theirs in zip(texts, translated, strict=True):
        if not theirs:
            yield f"{text}refused by MLIR: {tools.message(text) or 'no LLVM IR'}\n"
            continue
        try:
            ours = lower(text, to="llvm")
        except WarploomError as error:
            yield f"{text}refused by Warploom: {error}\n"
            continue
        if (mine := normalized(ours)) != (other := normalized(theirs)):
            yield "\n".join((text, "LLVM IR of Warploom:", *mine, "LLVM IR of MLIR:", *other, ""))


def normalized(llvm_ir: str) -> list[str]:
    """Return the instructions of a module of LLVM IR, with names in the order of their first occurrence."""
    names: dict[str, str] = {}
    return [
        _NAME.sub(lambda found: names.setdefault(found[0], f"%{len(names)}"), line.strip())
        for line in llvm_ir.splitlines()
        if line.startswith(("  ", "define"))
    ]
