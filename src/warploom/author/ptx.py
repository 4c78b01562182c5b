"""The instructions of PTX as functions: `ptx.mad_lo(a, b, c, type="u32")` (see `instructions`).

`tools/make_stubs.py` generates `ptx.pyi` beside this file from the Forms, for editors and type checkers.
"""

from __future__ import annotations

from warploom.author.catalogue import catalogue
from warploom.author.inline import inline
from warploom.author.instructions import Instruction, instruction

__all__ = ["inline"]


def __getattr__(name: str) -> Instruction:
    if name.startswith("__"):
        raise AttributeError(name)  # Python looks up dunder names of modules
    return instruction(name)


def __dir__() -> list[str]:
    return [*catalogue(), "inline"]
