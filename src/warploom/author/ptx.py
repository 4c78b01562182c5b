"""Every instruction of the language as a function: `ptx.mad_lo(a, b, c, type="u32")` (see `instructions`).

`ptx.pyi` beside this file, which editors read, is made from the Forms by `warploom-lab pages`.
"""

from __future__ import annotations

from warploom.author.catalogue import catalogue
from warploom.author.inline import inline
from warploom.author.instructions import Instruction, named

__all__ = ["inline"]


def __getattr__(name: str) -> Instruction:
    if name.startswith("__"):
        raise AttributeError(name)  # what Python itself looks for
    return named(name)


def __dir__() -> list[str]:
    return [*catalogue(), "inline"]
