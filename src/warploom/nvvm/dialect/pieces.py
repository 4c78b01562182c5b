"""What an operation is in PTX: statements over values, before the values have registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import arith, builtin
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.llvm import ConstantOp, LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrConstraint
from xdsl.irdl.constraints import AttrSetConstraint
from xdsl.utils.exceptions import VerifyException

TENSOR_SPACE = 6
"""The address space of tensor memory, whose addresses have 32 bits."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """All registers of some values in one vector; `bare` where a single one stands without braces."""

    values: tuple[SSAValue, ...]
    bare: bool = False

    @classmethod
    def of(cls, *values: SSAValue) -> Fragment:
        """The registers of some values."""
        return cls(values)


@dataclass(frozen=True, slots=True)
class At:
    """An address; `coordinates` are those of a tensor."""

    base: SSAValue | Local
    coordinates: tuple[SSAValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that stands in the text as the constant it is; in a register where it is none."""

    value: SSAValue

    @property
    def number(self) -> int | None:
        """The constant; None where the value is computed."""
        owner = self.value.owner
        attribute = owner.value if isinstance(owner, ConstantOp | arith.ConstantOp) else None
        return attribute.value.data if isinstance(attribute, IntegerAttr) else None


@dataclass(frozen=True, slots=True)
class Local:
    """A register, or label, that the operation has for itself."""

    name: str
    type: str = "pred"


@dataclass(frozen=True, slots=True)
class Sink:
    """A result that is not wanted."""


Piece: TypeAlias = "SSAValue | Fragment | At | Constant | Local | Sink | int"


@dataclass(frozen=True, slots=True)
class Statement:
    """One instruction: the forms that it may be of, its words by slot and its operands by place.

    Of several `forms` it is of the first that has a row for the words. The words of the `late` slots stand last,
    as MLIR writes them.
    """

    forms: tuple[str, ...]
    words: Mapping[str, str]
    operands: Mapping[str, Piece]
    guard: SSAValue | Local | None = None
    late: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A label that the operation has for itself."""

    name: str


@dataclass(frozen=True, slots=True)
class Code:
    """What an operation is in PTX. `same` are results that are the registers of an operand, in pairs: the
    operand is copied there first.
    """

    statements: Sequence[Statement | Mark]
    same: Sequence[tuple[SSAValue, SSAValue]] = field(default=())


def registers_of(type: Attribute) -> tuple[str, ...]:
    """The PTX types of the registers that hold a value.

    Errors: VerifyException for a type that registers cannot hold.
    """
    match type:
        case IntegerType():
            return _integer(type.width.data)
        case builtin.IndexType():
            return ("b64",)
        case Float16Type() | builtin.BFloat16Type():
            return ("b16",)
        case Float32Type():
            return ("f32",)
        case Float64Type():
            return ("f64",)
        case LLVMPointerType():
            return ("b32",) if type.addr_space == IntAttr(TENSOR_SPACE) else ("b64",)
        case LLVMStructType():
            return tuple(word for item in type.types for word in registers_of(item))
        case LLVMArrayType():
            return registers_of(type.type) * type.size.data
        case VectorType():
            return _vector(type)
        case _:
            raise VerifyException(f"values of type {type} have no registers")


def width_of(type: Attribute) -> int:
    """The bits of an integer; 0 for what is none."""
    match type:
        case IntegerType():
            return type.width.data
        case _:
            return 0


def elements_of(type: Attribute) -> Sequence[Attribute]:
    """What the registers of a value are: elements of a struct or vector, or the value itself."""
    match type:
        case LLVMStructType():
            return type.types.data
        case VectorType() if (count := len(registers_of(type))) > 1:
            return [type.element_type] * count
        case _:
            return [type]


def _integer(width: int) -> tuple[str, ...]:
    if width == 1:
        return ("pred",)
    for bits in (16, 32, 64, 128):
        if width <= bits:
            return (f"b{bits}",)
    raise VerifyException(f"integers of {width} bits have no registers")


def _vector(type: VectorType[Attribute]) -> tuple[str, ...]:
    """Elements narrower than a register of 32 bits share one."""
    element = registers_of(type.element_type)
    count = 1
    for extent in type.shape:
        count *= extent.data
    bits = 8 if type.element_type == IntegerType(8) else 16 if element == ("b16",) else 0
    if not bits:
        return element * count
    total = bits * count
    return ("b16",) if total == 16 else ("b32",) * -(-total // 32)


_SPACES = {
    0: "",
    1: "global",
    3: "shared",
    4: "const",
    5: "local",
    TENSOR_SPACE: "tensor",
    7: "shared::cluster",
}


def space_of(value: SSAValue) -> str:
    """The state space that a pointer is of; "" where any address may be meant."""
    found = value.type
    space = found.addr_space if isinstance(found, LLVMPointerType) else None
    number = space.data if isinstance(space, IntAttr) else 0
    return _SPACES.get(number, f"addrspace({number})")


def pointer_to(space: int) -> LLVMPointerType:
    """The type of a pointer to an address space; 0 is the generic one."""
    return LLVMPointerType(IntAttr(space)) if space else LLVMPointerType()


def pointer(*spaces: int) -> AttrConstraint:
    """The constraint of a pointer to one of some address spaces."""
    return AttrSetConstraint.get(*map(pointer_to, spaces))
