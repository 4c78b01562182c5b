"""Types of values: their PTX registers, their elements, and the address spaces of pointers."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IndexType, IntAttr, IntegerType, VectorType, bf16, f16, f32, f64
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

SHARED_SPACE, TENSOR_SPACE = 3, 6
"""LLVM address spaces of shared memory and of tensor memory."""
STATE_SPACES = {0: "", 1: "global", 3: "shared", 4: "const", 5: "local", TENSOR_SPACE: "tensor", 7: "shared::cluster"}
"""PTX state space of each LLVM address space; 0 is the generic space."""
ADDRESS_SPACES = {word: number for number, word in STATE_SPACES.items()}
"""LLVM address space of each PTX state space."""
CONSTRAINTS = {"pred": "b", "b16": "h", "b32": "r", "b64": "l", "b128": "q", "f32": "f", "f64": "d"}
"""Constraint letter of a register in LLVM's inline assembly, by its PTX type."""
_SCALARS: dict[Attribute, str] = {IndexType(): "b64", f16: "b16", bf16: "b16", f32: "f32", f64: "f64"}
"""PTX register of each type that is no integer and needs one register."""


def registers_of(type: Attribute) -> tuple[str, ...]:
    """Return the PTX types of the registers for a value of an LLVM type.

    Errors: VerifyException for a type that registers cannot contain
    """
    if (word := _SCALARS.get(type)) is not None:
        return (word,)
    match type:
        case IntegerType():
            return _integer_registers(type.width.data)
        case LLVMPointerType():
            return ("b32",) if type.addr_space == IntAttr(TENSOR_SPACE) else ("b64",)
        case LLVMStructType():
            return tuple(word for item in type.types for word in registers_of(item))
        case LLVMArrayType():
            return registers_of(type.type) * type.size.data
        case VectorType():
            return _vector_registers(type)
        case _:
            raise _no_registers(str(type))


def _integer_registers(width: int) -> tuple[str, ...]:
    if width == 1:
        return ("pred",)
    for bits in (16, 32, 64, 128):
        if width <= bits:
            return (f"b{bits}",)
    raise _no_registers(f"i{width}")


def _no_registers(type: str) -> VerifyException:
    expected = "an integer of at most 128 bits, a float, a pointer, or a struct, array or vector of them"
    return VerifyException(f"PTX registers cannot contain a value of type {type}; expected {expected}")


def _vector_registers(type: VectorType[Attribute]) -> tuple[str, ...]:
    element = registers_of(type.element_type)
    count = prod(extent.data for extent in type.shape)
    bits = 8 if type.element_type == IntegerType(8) else 16 if element == ("b16",) else 0
    if not bits:
        return element * count
    total = bits * count
    return ("b16",) if total == 16 else ("b32",) * -(-total // 32)


def width_of(type: Attribute) -> int:
    """Return the number of bits of an integer type, or 0 for another type."""
    match type:
        case IntegerType():
            return type.width.data
        case _:
            return 0


def elements_of(type: Attribute) -> Sequence[Attribute]:
    """Return one type for each register of a struct or vector, or the type itself for one register."""
    match type:
        case LLVMStructType():
            return type.types.data
        case VectorType() if (count := len(registers_of(type))) > 1:
            return [type.element_type] * count
        case _:
            return [type]


def struct_of(element: Attribute, count: int) -> LLVMStructType:
    """Return the type of a struct with `count` elements of one type."""
    return LLVMStructType.from_type_list([element] * count)


def space_of(value: SSAValue) -> str:
    """Return the state space of a pointer, or "" for a generic pointer."""
    number = address_space_of(value)
    return STATE_SPACES.get(number, f"addrspace({number})")


def address_space_of(value: SSAValue) -> int:
    """Return the number of the address space of a pointer. The generic space has the number 0."""
    found = value.type
    space = found.addr_space if isinstance(found, LLVMPointerType) else None
    return space.data if isinstance(space, IntAttr) else 0


def pointer_to(space: int) -> LLVMPointerType:
    """Return the type of a pointer to an address space. The generic space has the number 0."""
    return LLVMPointerType(IntAttr(space)) if space else LLVMPointerType()


_CONSTRAINTS: dict[Attribute, str] = {
    VectorType(f16, [2]): "f", VectorType(bf16, [2]): "f", pointer_to(3): "r", IntegerType(8): ""
}  # fmt: skip
"""Constraint letters that MLIR defines otherwise than for the registers of the type."""


def parts_of(type: Attribute) -> Sequence[Attribute]:
    """Return the element types of a struct, or the type itself."""
    return type.types.data if isinstance(type, LLVMStructType) else [type]


def constraint_of(type: Attribute) -> str:
    """Return the constraint letter of a value in LLVM's inline assembly.

    Errors: VerifyException for a value that needs no or several registers
    """
    registers = registers_of(type)
    letter = _CONSTRAINTS.get(type, CONSTRAINTS[registers[0]] if len(registers) == 1 else "")
    if not letter:
        raise VerifyException(f"inline PTX cannot have a value of type {type}; expected a value of one register")
    return letter
