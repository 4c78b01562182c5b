"""Parameters of kernels: values with types, pointers, tensor maps, and parameters declared in PTX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from warploom.author import ptx
from warploom.author.errors import author_error
from warploom.author.inline import read_parameter
from warploom.author.values import Location, Register
from warploom.isa.model.types import TYPES
from warploom.ptx import Symbol, Variable


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a kernel: a value, a pointer to elements of a type, a tensor map, or a PTX declaration.

    `type` is the type of the value or of the elements. `text` is the PTX declaration.
    """

    kind: Literal["value", "pointer", "tensor map", "declared"]
    type: str = "u64"
    text: str = ""

    def declare(self, name: str) -> Variable:
        """Return the PTX declaration of the parameter with the given name. Errors: AuthorError."""
        if self.kind == "declared":
            return read_parameter(self.text)
        if self.kind == "tensor map":
            return Variable("param", "b8", name, align=64, shape=(128,))
        return Variable("param", self.type if self.kind == "value" else "u64", name)

    def load(self, name: str) -> Any:
        """Emit the loads of the parameter. Return the value that the Python function receives."""
        location, type_word = Location(name, 0, "param"), self.type
        if self.kind == "declared":
            return location
        if self.kind == "tensor map":
            return ptx.cvta(ptx.mov(Symbol(name), type="b64"), space="param", size="u64")
        if self.kind == "value":
            return _load(location, type_word)
        address = ptx.cvta_to(ptx.ld(location, type="u64"), space="global", size="u64")
        return Pointer(address.name, type_word)


def pointer(type: str) -> Parameter:
    """Return a parameter for the address of elements in global memory. Errors: AuthorError author.type."""
    if type not in TYPES or TYPES[type].bits < 8:
        message = f"unknown element type '{type}'; expected a type such as f32, u8 or bf16"
        raise author_error(message, "author.type")
    return Parameter("pointer", type)


def parameter(text: str) -> Parameter:
    """Return a parameter from PTX such as `.param .b8 sizes[24]`. The function receives its location."""
    return Parameter("declared", text=text)


tensor_map = Parameter("tensor map")
"""Parameter that is a tensor map."""


class Pointer(Register):
    """Address of elements of one type: `x[i]` loads an element, and `x[i] = v` stores an element."""

    __slots__ = ("element_type",)

    def __init__(self, name: str, element_type: str) -> None:
        super().__init__(name, "u64")
        self.element_type = element_type

    def element(self, index: Any) -> Location:
        """Return the location of the element with an index. Errors: AuthorError author.index."""
        size = TYPES[self.element_type].bytes
        if isinstance(index, int):
            return Location(self, index * size, "global")
        if not isinstance(index, Register) or TYPES[index.type].kind not in ("signed", "unsigned", "bits"):
            found = f"a register of {index.type}" if isinstance(index, Register) else repr(index)
            message = f"the index is {found}; expected an integer or an integer register"
            raise author_error(message, "author.index")
        type_word: Any = index.type
        wide = ptx.mul_wide(index, size, type=type_word) if type_word in ("u32", "s32") else index * size
        return Location(ptx.add(self, wide, type="u64"), 0, "global")

    def __getitem__(self, index: Any) -> Register:
        return _load(self.element(index), self.element_type)

    def __setitem__(self, index: Any, value: Any) -> None:
        type_word: Any = self.element_type
        ptx.st(self.element(index), value, type=type_word)


def _load(location: Location, type_word: Any) -> Register:
    return ptx.ld(location, type=type_word)
