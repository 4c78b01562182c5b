"""Instructions of PTX as functions: `ptx.mad_lo(a, b, c, type="u32")` (see `instructions`).

Editors read the file `ptx.pyi` beside this file. `warploom-lab pages` generates it from the forms.
"""

from warploom.author.inline import inline
from warploom.author.instructions import Instruction, instruction
from warploom.author.overloads import catalogue

__all__ = ["inline"]


def __getattr__(name: str) -> Instruction:
    if name.startswith("__"):
        raise AttributeError(name)  # Python looks up dunder names of modules
    found = globals()[name] = instruction(name)  # Python looks up the next access without this function
    return found


def __dir__() -> list[str]:
    return [*catalogue(), "inline"]
