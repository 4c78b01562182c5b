"""SSA values in PTX registers while a function is raised, with casts to the types of operations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, UnrealizedConversionCastOp, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from warploom.nvvm.dialect.types import elements_of, registers_of, width_of
from warploom.nvvm.match_operation import constant_of
from warploom.ptx import Address, Integer, Name, Operand


@dataclass(frozen=True, slots=True)
class _Element:
    """Register of a value that has several registers."""

    whole: SSAValue
    number: int


class ValueMap:
    """SSA values in the registers of a function while its instructions are raised.

    `declared` maps registers to their types, and variables to the types of their addresses.
    """

    def __init__(self, block: Block, declared: Mapping[str, Attribute]) -> None:
        self._block = block
        self._declared = declared
        self._values: dict[str, SSAValue | _Element | int] = {}
        self._elements: dict[SSAValue, Sequence[SSAValue]] = {}

    def has_value(self, operands: Sequence[Operand], type: Attribute) -> bool:
        """Return True if the method `value` accepts these arguments."""
        if isinstance(type, LLVMPointerType):
            (operand,) = operands
            base = operand.base if isinstance(operand, Address) else operand
            declared = self._declared.get(base.text) if isinstance(base, Name) else None
            if declared is None:
                return False
            return isinstance(declared, LLVMPointerType) or width_of(declared) in (32, 64)
        for operand, element in zip(operands, elements_of(type), strict=True):
            if isinstance(operand, Integer):
                if not width_of(element):
                    return False
                continue
            declared = self._declared.get(operand.text) if isinstance(operand, Name) else None
            if declared is None or _register_class(declared) != _register_class(element):
                return False
        return True

    def value(self, operands: Sequence[Operand], type: Attribute) -> SSAValue:
        """Return an SSA value of the type `type` that consists of the given operands.

        A pointer and a scalar have one operand. A struct and a vector have one operand for each element.
        """
        if isinstance(type, LLVMPointerType):
            return self._pointer(operands[0], type)
        if not isinstance(type, LLVMStructType) and len(operands) == 1:
            return self._read(operands[0], type)
        if (whole := self._whole(operands, type)) is not None:
            return whole
        elements = zip(operands, elements_of(type), strict=True)
        return self._combined([self._read(operand, element) for operand, element in elements], type)

    def assign(self, operands: Sequence[Operand], value: SSAValue) -> None:
        """Record that registers contain a value, or one element of the value each."""
        has_elements = len(operands) > 1 or isinstance(value.type, LLVMStructType)
        for number, operand in enumerate(operands):
            if isinstance(operand, Name) and operand != Name("_"):
                self._values[operand.text] = _Element(value, number) if has_elements else value

    def invalidate(self, name: str) -> None:
        """Remove the value of a register."""
        self._values.pop(name, None)

    def assign_constant(self, names: Sequence[str], number: int) -> None:
        """Record that each of some registers contains the constant `number`."""
        self._values.update(dict.fromkeys(names, number))

    def constant(self, name: str) -> int | None:
        """Return the constant in a register, or None if it is unknown."""
        value = self._values.get(name)
        return value if isinstance(value, int) else None

    def invalidate_constants(self, kept: Collection[str]) -> None:
        """Remove the constants of all registers except those in `kept`."""
        for name in [name for name, value in self._values.items() if isinstance(value, int)]:
            if name not in kept:
                del self._values[name]

    # Values -------------------------------------------------------------------------------------------------

    def _add(self, operation: Operation) -> SSAValue:
        self._block.add_op(operation)
        return operation.results[0]

    def _register(self, name: str) -> SSAValue:
        value, declared = self._values.get(name), self._declared[name]
        if isinstance(value, SSAValue):
            return value
        if isinstance(value, int) and width_of(declared):
            return self._constant(value, declared)
        if isinstance(value, _Element):
            found = self._element(value)
        else:
            # No raised instruction writes the register, so it is an argument of the function.
            found = self._block.insert_arg(declared, len(self._block.args))
            found.name_hint = name.strip("%").replace(".", "_").replace("$", "_")
        self._values[name] = found
        return found

    def _element(self, element: _Element) -> SSAValue:
        whole = element.whole
        if isinstance(whole.type, LLVMStructType):
            position = DenseArrayBase.from_list(i64, [element.number])
            return self._add(llvm.ExtractValueOp(position, whole, whole.type.types.data[element.number]))
        if whole not in self._elements:
            split = UnrealizedConversionCastOp.get([whole], elements_of(whole.type))
            self._block.add_op(split)
            self._elements[whole] = split.results
        return self._elements[whole][element.number]

    def _whole(self, operands: Sequence[Operand], type: Attribute) -> SSAValue | None:
        """Return an existing value with exactly these operands as its elements, or None."""
        values = [self._values.get(each.text) if isinstance(each, Name) else None for each in operands]
        first = values[0]
        if not isinstance(first, _Element) or first.whole.type != type:
            return None
        is_whole = values == [_Element(first.whole, number) for number in range(len(registers_of(type)))]
        return first.whole if is_whole else None

    def _read(self, operand: Operand, type: Attribute) -> SSAValue:
        if isinstance(operand, Integer):
            return self._constant(operand.value, type)
        assert isinstance(operand, Name)
        return self._cast(self._register(operand.text), type)

    def _constant(self, number: int, type: Attribute) -> SSAValue:
        return self._add(constant_of(number, type))

    def _pointer(self, operand: Operand, type: LLVMPointerType) -> SSAValue:
        offset = operand.offset if isinstance(operand, Address) else 0
        base = operand.base if isinstance(operand, Address) else operand
        assert isinstance(base, Name)
        value = self._register(base.text)
        if offset:
            integer = value.type if width_of(value.type) else i64
            value = self._add(llvm.AddOp(self._cast(value, integer), self._constant(offset, integer)))
        return self._cast(value, type)

    def _combined(self, values: Sequence[SSAValue], type: Attribute) -> SSAValue:
        if not isinstance(type, LLVMStructType):
            return self._add(UnrealizedConversionCastOp.get(values, [type]))
        struct = self._add(llvm.UndefOp(type))
        for number, value in enumerate(values):
            struct = self._add(llvm.InsertValueOp(DenseArrayBase.from_list(i64, [number]), struct, value))
        return struct

    def _cast(self, value: SSAValue, type: Attribute) -> SSAValue:
        if value.type == type:
            return value
        owner = value.owner
        if isinstance(owner, llvm.BitcastOp | llvm.IntToPtrOp) and owner.operands[0].type == type:
            return owner.operands[0]
        if isinstance(value.type, LLVMPointerType):
            bits = self._add(llvm.PtrToIntOp.create(operands=[value], result_types=[i64]))
            return self._cast(bits, type)
        if isinstance(type, LLVMPointerType):
            return self._add(llvm.IntToPtrOp.create(operands=[value], result_types=[type]))
        return self._add(llvm.BitcastOp(value, type))


def _register_class(type: Attribute) -> tuple[bool, str]:
    """Return the register class of a type: True for a predicate, and the width as text."""
    (word,) = registers_of(type)
    return word == "pred", word.lstrip("bf")
