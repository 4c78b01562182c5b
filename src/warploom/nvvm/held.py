"""What registers hold while instructions become operations: the value of each, and casts to the types asked for.

A register that something else wrote is an argument of the function, and so is the address of a variable. Parts of a
result are taken out of it where they are first asked for; where all of them are asked for together, it is itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Block, SSAValue

from warploom.nvvm.dialect.pieces import elements_of, registers_of, width_of
from warploom.nvvm.recognise import constant_of
from warploom.ptx import Address, Integer, Name, Operand

_SINK = "_"


@dataclass(frozen=True, slots=True)
class _Part:
    """One register of a value of several."""

    whole: SSAValue
    number: int


class Held:
    """The values of a function's registers. `declared` are the types of registers, and of variables' addresses."""

    def __init__(self, block: Block, declared: Mapping[str, Attribute]) -> None:
        self._block = block
        self._declared = declared
        self._values: dict[str, SSAValue | _Part | int] = {}
        self._parts: dict[SSAValue, Sequence[SSAValue]] = {}

    def can_take(self, operands: Sequence[Operand], type: Attribute) -> bool:
        """Whether `take` has a value of a type for some operands."""
        if isinstance(type, LLVMPointerType):
            (operand,) = operands
            base = operand.base if isinstance(operand, Address) else operand
            held = self._declared.get(base.text) if isinstance(base, Name) else None
            return held is not None and (isinstance(held, LLVMPointerType) or width_of(held) in (32, 64))
        for operand, element in zip(operands, elements_of(type), strict=True):
            if isinstance(operand, Integer):
                if not width_of(element):
                    return False
                continue
            held = self._declared.get(operand.text) if isinstance(operand, Name) else None
            if held is None or _bits(held) != _bits(element):
                return False
        return True

    def take(self, operands: Sequence[Operand], type: Attribute) -> SSAValue:
        """The value of a type that some operands are: a pointer, one register, or all the parts of one."""
        if isinstance(type, LLVMPointerType):
            return self._pointer(operands[0], type)
        if not isinstance(type, LLVMStructType) and len(operands) == 1:
            return self._read(operands[0], type)
        if (whole := self._whole(operands, type)) is not None:
            return whole
        parts = zip(operands, elements_of(type), strict=True)
        return self._packed([self._read(operand, element) for operand, element in parts], type)

    def give(self, operands: Sequence[Operand], value: SSAValue) -> None:
        """Registers hold the parts of a value."""
        in_parts = len(operands) > 1 or isinstance(value.type, LLVMStructType)
        for number, operand in enumerate(operands):
            if isinstance(operand, Name) and operand.text != _SINK:
                self._values[operand.text] = _Part(value, number) if in_parts else value

    def forget(self, name: str) -> None:
        """Something else wrote a register."""
        self._values.pop(name, None)

    def know(self, names: Sequence[str], number: int) -> None:
        """Registers hold a constant."""
        self._values.update(dict.fromkeys(names, number))

    def constant(self, name: str) -> int | None:
        """The constant that a register holds, if it is known."""
        held = self._values.get(name)
        return held if isinstance(held, int) else None

    def forget_constants(self, kept: Collection[str]) -> None:
        """Other ways lead here, on which registers that are not `kept` may hold something else."""
        for name in [name for name, held in self._values.items() if isinstance(held, int)]:
            if name not in kept:
                del self._values[name]

    def is_register(self, name: str) -> bool:
        """Whether a name is that of a register, or of a variable."""
        return name in self._declared

    def type_of(self, name: str) -> Attribute:
        """The type that a register is declared with."""
        return self._declared[name]

    # Values -------------------------------------------------------------------------------------------------

    def _value(self, name: str) -> SSAValue:
        held = self._values.get(name)
        if isinstance(held, SSAValue):
            return held
        if isinstance(held, int) and width_of(self._declared[name]):
            return self._constant(held, self._declared[name])
        if held is None or isinstance(held, int):
            found: SSAValue = self._block.insert_arg(self._declared[name], len(self._block.args))
            found.name_hint = name.strip("%").replace(".", "_").replace("$", "_")
        else:
            found = self._part(held)
        self._values[name] = found
        return found

    def _part(self, part: _Part) -> SSAValue:
        whole = part.whole
        if isinstance(whole.type, LLVMStructType):
            place = DenseArrayBase.from_list(i64, [part.number])
            taken = llvm.ExtractValueOp(place, whole, whole.type.types.data[part.number])
            self._block.add_op(taken)
            return taken.res
        if whole not in self._parts:
            apart = UnrealizedConversionCastOp.get([whole], elements_of(whole.type))
            self._block.add_op(apart)
            self._parts[whole] = apart.results
        return self._parts[whole][part.number]

    def _whole(self, operands: Sequence[Operand], type: Attribute) -> SSAValue | None:
        """The value whose parts are some operands, all of them in their order."""
        held = [self._values.get(each.text) if isinstance(each, Name) else None for each in operands]
        first = held[0]
        if not isinstance(first, _Part) or first.whole.type != type:
            return None
        same = all(each == _Part(first.whole, number) for number, each in enumerate(held))
        return first.whole if same and len(held) == len(registers_of(type)) else None

    def _read(self, operand: Operand, type: Attribute) -> SSAValue:
        if isinstance(operand, Integer):
            return self._constant(operand.value, type)
        assert isinstance(operand, Name)
        return self._cast(self._value(operand.text), type)

    def _constant(self, number: int, type: Attribute) -> SSAValue:
        constant = constant_of(number, type)
        self._block.add_op(constant)
        return constant.result

    def _pointer(self, operand: Operand, type: LLVMPointerType) -> SSAValue:
        offset = operand.offset if isinstance(operand, Address) else 0
        base = operand.base if isinstance(operand, Address) else operand
        assert isinstance(base, Name)
        value = self._value(base.text)
        if offset:
            number = value.type if width_of(value.type) else i64
            total = llvm.AddOp(self._cast(value, number), self._constant(offset, number))
            self._block.add_op(total)
            value = total.res
        return self._cast(value, type)

    def _packed(self, values: Sequence[SSAValue], type: Attribute) -> SSAValue:
        """A struct or vector of values."""
        if not isinstance(type, LLVMStructType):
            together = UnrealizedConversionCastOp.get(values, [type])
            self._block.add_op(together)
            return together.results[0]
        start = llvm.UndefOp(type)
        self._block.add_op(start)
        struct: SSAValue = start.res
        for number, value in enumerate(values):
            put = llvm.InsertValueOp(DenseArrayBase.from_list(i64, [number]), struct, value)
            self._block.add_op(put)
            struct = put.res
        return struct

    def _cast(self, value: SSAValue, type: Attribute) -> SSAValue:
        if value.type == type:
            return value
        owner = value.owner
        if isinstance(owner, llvm.BitcastOp | llvm.IntToPtrOp) and owner.operands[0].type == type:
            return owner.operands[0]
        if isinstance(value.type, LLVMPointerType):
            bits = llvm.PtrToIntOp.create(operands=[value], result_types=[i64])
            self._block.add_op(bits)
            return self._cast(bits.output, type)
        if isinstance(type, LLVMPointerType):
            cast = llvm.IntToPtrOp.create(operands=[value], result_types=[type])
            self._block.add_op(cast)
            return cast.output
        same = llvm.BitcastOp(value, type)
        self._block.add_op(same)
        return same.result


def _bits(type: Attribute) -> tuple[bool, str]:
    """What decides whether a register may hold a value as it is: its width, and whether it is a predicate."""
    (word,) = registers_of(type)
    return word == "pred", word.lstrip("bf")
