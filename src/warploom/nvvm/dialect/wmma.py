"""Warp-level multiplication of opaque fragments: the operations whose names begin with nvvm.wmma."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import I32, IntegerAttr, VectorType, f16, f32, f64, i32
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import BaseAttr, eq, operand_def, opt_prop_def, prop_def, result_def, var_operand_def

from warploom.isa.binding.compose import rows_with, slots_of
from warploom.isa.instructions import wmma
from warploom.nvvm.dialect.attributes import BitOperation, Layout, MmaFragment, MmaType, Overflow
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.mma import accumulator_type, saturation_words
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import space_of, struct_of
from warploom.nvvm.forms import WMMA

_SPACES = ("", "global", "shared")
_REGISTER_TYPES: dict[str, Attribute] = {"f16": VectorType(f16, [2]), "f32": f32, "f64": f64}
"""LLVM type of a register of a fragment; the other elements are packed in 32-bit integers."""
_TYPE_SLOTS = {"d": "dtype", "a": "atype", "b": "btype", "c": "ctype", "r": "type"}
"""Name of the modifier with the element type of each operand."""
_DEFAULT_TYPES = {"atype": "f16", "btype": "f16"}
"""Element types of forms without a modifier for them."""


def register_type(element: str) -> Attribute:
    """Return the LLVM register type for a PTX element type."""
    return _REGISTER_TYPES.get(element, i32)


def register_type_of(operand: str, slots: Mapping[str, str]) -> Attribute:
    """Return the LLVM register type of an operand. `slots` are the modifiers by name."""
    slot = _TYPE_SLOTS.get(operand, "")
    return register_type(slots.get(slot) or _DEFAULT_TYPES.get(slot, ""))


class _Shaped(Operation):
    """Operation on fragments of matrices. The extents of the matrices are attributes."""

    m = prop_def(IntegerAttr[I32])
    n = prop_def(IntegerAttr[I32])
    k = prop_def(IntegerAttr[I32])

    @property
    def shape_word(self) -> str:
        """Shape as PTX spells it, such as `m16n16k16`."""
        return f"m{self.m.value.data}n{self.n.value.data}k{self.k.value.data}"

    def registers(self, operands: str, words: dict[str, str]) -> Sequence[int]:
        """Return the number of registers of each operand in `operands`, such as "abc".

        Errors: VerifyException for illegal modifiers
        """
        if not rows_with(self.FORMS, words):
            raise self.error("invalid attribute combination")
        form = self.template(words).form
        slots = slots_of(form, words)
        return [form.operands[letter].registers(slots) for letter in operands]


class _Move(_Shaped):
    """Load or store of a fragment."""

    layout = prop_def(Layout)
    eltype = prop_def(MmaType)

    if TYPE_CHECKING:
        ptr: SSAValue

    @property
    def words(self) -> dict[str, str]:
        """Modifiers of the instruction by name."""
        return {
            "aligned": "aligned",
            "layout": self.layout.data,
            "shape": self.shape_word,
            "ss": space_of(self.ptr),
            "type": self.eltype.data,
        }


@operation("nvvm.wmma.load", wmma.LOAD)
class WmmaLoad(_Move):
    """Load of the fragment of a matrix."""

    ptr = operand_def(LLVMPointerType)
    stride = operand_def(i32)
    frag = prop_def(MmaFragment)
    res = result_def(BaseAttr(LLVMStructType) | eq(f64))
    assembly_format = "$ptr `,` $stride attr-dict `:` functional-type($ptr, $res)"

    def check(self) -> None:
        if space_of(self.ptr) not in _SPACES:
            raise self.error("expected source pointer in memory space 0, 1, 3")
        element = register_type(self.eltype.data)
        (count,) = self.registers("r", self.words)
        expected = element if count == 1 and element == f64 else struct_of(element, count)
        if self.res.type != expected:
            raise self.error(f"expected destination type is a structure of {count} elements of type {element}")

    @property
    def words(self) -> dict[str, str]:
        return {**super().words, "matrix": self.frag.data}

    def lower(self) -> Lowering:
        return self.instruction(self.words, r=Registers([self.res]), p=self.ptr, stride=self.stride)


@operation("nvvm.wmma.store", wmma.STORE)
class WmmaStore(_Move):
    """Store of the fragment of a result."""

    ptr = operand_def(LLVMPointerType)
    args = var_operand_def()
    stride = operand_def(i32)
    assembly_format = "$ptr `,` $stride `,` $args attr-dict `:` type($ptr) `,` type($args)"

    def check(self) -> None:
        if space_of(self.ptr) not in _SPACES:
            raise self.error("expected operands to be a source pointer in memory space 0, 1, 3")
        (count,) = self.registers("r", self.words)
        element = register_type(self.eltype.data)
        if len(self.args) != count:
            raise self.error(f"expected {count} data operands")
        if any(value.type != element for value in self.args):
            raise self.error(f"expected data operands of type {element}")

    def lower(self) -> Lowering:
        return self.instruction(self.words, p=self.ptr, r=Registers(self.args), stride=self.stride)


@operation("nvvm.wmma.mma", *WMMA)
class WmmaMma(_Shaped):
    """Multiplication of fragments: A and B of `eltypeA`, the accumulator of `eltypeB`.

    MLIR lacks `b1Op` and `intOverflowBehavior`. In MLIR, the result has the type of the accumulator.
    """

    layoutA = prop_def(Layout)
    layoutB = prop_def(Layout)
    eltypeA = prop_def(MmaType)
    eltypeB = prop_def(MmaType)
    b1Op = opt_prop_def(BitOperation)
    intOverflowBehavior = opt_prop_def(Overflow)
    args = var_operand_def()
    res = result_def(LLVMStructType)
    assembly_format = "$args attr-dict `:` functional-type($args, $res)"

    def check(self) -> None:
        counts = dict(zip("abcd", self.registers("abcd", self._words), strict=True))
        types = (self.eltypeA.data, self.eltypeA.data, self.eltypeB.data)
        expected = [register_type(word) for name, word in zip("abc", types, strict=True) for _ in range(counts[name])]
        if len(self.args) != len(expected):
            raise self.error(f"expected {len(expected)} arguments")
        for number, (value, element) in enumerate(zip(self.args, expected, strict=True)):
            if value.type != element:
                raise self.error(f"expected argument {number} to be of type {element}")
        element = register_type(self._words["dtype"])
        if self.res.type != struct_of(element, counts["d"]):
            raise self.error(f"expected destination type is a structure of {counts['d']} elements of type {element}")

    @property
    def _words(self) -> dict[str, str]:
        a = self.eltypeA.data
        words = {
            "alayout": self.layoutA.data,
            "blayout": self.layoutB.data,
            "shape": self.shape_word,
            "dtype": accumulator_type(self.res.type),
            "ctype": self.eltypeB.data,
            **saturation_words(self.intOverflowBehavior),
        }
        if a == "f16":
            return words | {"aligned": "aligned"}
        words |= {"atype": a, "btype": a}
        return words if self.b1Op is None else words | {"bitOp": self.b1Op.data.removesuffix("_popc")}

    def lower(self) -> Lowering:
        a, b, _ = self.registers("abc", self._words)
        args = tuple(self.args)
        return self.instruction(
            self._words,
            d=Registers([self.res]),
            a=Registers(args[:a]),
            b=Registers(args[a : a + b]),
            c=Registers(args[a + b :]),
        )
