"""The older warp-level multiplication with opaque fragments: the operations whose names begin with nvvm.wmma."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I32, IntegerAttr, VectorType, f16, f32, f64, i32
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    BaseAttr,
    eq,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from warploom.isa.binding.compose import form_that_allows, rows_with, slots_of
from warploom.nvvm.dialect.mma import accumulated, saturation
from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.pieces import At, Code, Fragment, Piece, Statement, space_of
from warploom.nvvm.dialect.vocabulary import BitOperation, Layout, MmaType, Overflow
from warploom.nvvm.dialect.vocabulary import Fragment as FragmentName

_LOAD = ("wmma.load",)
_STORE = ("wmma.store",)
_MULTIPLY = ("wmma.half", "wmma.float", "wmma.integer", "wmma.bit")
_SPACES = ("", "global", "shared")
_ELEMENTS: dict[str, Attribute] = {"f16": VectorType(f16, [2]), "f32": f32, "f64": f64}
"""What a register of a fragment is to LLVM; words of 32 bits where nothing else is said."""


def element_of(type: str) -> Attribute:
    """What LLVM calls a register of a fragment."""
    return _ELEMENTS.get(type, i32)


_TYPE_OF = {"d": "dtype", "a": "atype", "b": "btype", "c": "ctype", "r": "type"}
"""The slot that says what the elements of a fragment are."""
_UNSAID = {"atype": "f16", "btype": "f16"}


def element_at(place: str, slots: Mapping[str, str]) -> Attribute:
    """What LLVM calls a register at a place of an instruction."""
    slot = _TYPE_OF.get(place, "")
    return element_of(slots.get(slot) or _UNSAID.get(slot, ""))


def _shape(operation: WmmaLoad | WmmaStore | WmmaMma) -> str:
    return f"m{operation.m.value.data}n{operation.n.value.data}k{operation.k.value.data}"


def _moved(forms: tuple[str, ...], words: dict[str, str]) -> int:
    """The registers of what a form moves."""
    form = form_that_allows(forms, words)
    return form.operands["r"].registers(slots_of(form, words))


def _is_legal(forms: tuple[str, ...], words: dict[str, str]) -> bool:
    return bool(rows_with(forms, words))


@irdl_op_definition
class WmmaLoad(Operation):
    """Loads the fragment of a matrix."""

    name = "nvvm.wmma.load"
    FORMS: ClassVar[tuple[str, ...]] = _LOAD
    ptr = operand_def(LLVMPointerType)
    stride = operand_def(i32)
    m = prop_def(IntegerAttr[I32])
    n = prop_def(IntegerAttr[I32])
    k = prop_def(IntegerAttr[I32])
    layout = prop_def(Layout)
    eltype = prop_def(MmaType)
    frag = prop_def(FragmentName)
    res = result_def(BaseAttr(LLVMStructType) | eq(f64))
    assembly_format = "$ptr `,` $stride attr-dict `:` functional-type($ptr, $res)"

    def check(self) -> None:
        if space_of(self.ptr) not in _SPACES:
            raise self.refuse("expected source pointer in memory space 0, 1, 3")
        if not _is_legal(_LOAD, self._words):
            raise self.refuse("invalid attribute combination")
        count, element = _moved(_LOAD, self._words), element_of(self.eltype.data)
        if self.res.type not in _fragment_types(count, element):
            raise self.refuse(
                f"expected destination type is a structure of {count} elements of type {element}"
            )

    @property
    def _words(self) -> dict[str, str]:
        return {
            "matrix": self.frag.data,
            "aligned": "aligned",
            "layout": self.layout.data,
            "shape": _shape(self),
            "ss": space_of(self.ptr),
            "type": self.eltype.data,
        }

    def code(self) -> Code:
        operands: dict[str, Piece] = {"r": Fragment.of(self.res), "p": At(self.ptr), "stride": self.stride}
        return Code([Statement(self.FORMS, self._words, operands)])


def _fragment_types(count: int, element: Attribute) -> Sequence[Attribute]:
    """The types of a fragment: a struct, or the element itself where there is one."""
    struct = LLVMStructType.from_type_list([element] * count)
    return (element,) if count == 1 and element == f64 else (struct,)


@irdl_op_definition
class WmmaStore(Operation):
    """Stores the fragment of a result."""

    name = "nvvm.wmma.store"
    FORMS: ClassVar[tuple[str, ...]] = _STORE
    ptr = operand_def(LLVMPointerType)
    m = prop_def(IntegerAttr[I32])
    n = prop_def(IntegerAttr[I32])
    k = prop_def(IntegerAttr[I32])
    layout = prop_def(Layout)
    eltype = prop_def(MmaType)
    args = var_operand_def()
    stride = operand_def(i32)
    assembly_format = "$ptr `,` $stride `,` $args attr-dict `:` type($ptr) `,` type($args)"

    def check(self) -> None:
        if space_of(self.ptr) not in _SPACES:
            raise self.refuse("expected operands to be a source pointer in memory space 0, 1, 3")
        if not _is_legal(_STORE, self._words):
            raise self.refuse("invalid attribute combination")
        count, element = _moved(_STORE, self._words), element_of(self.eltype.data)
        if len(self.args) != count:
            raise self.refuse(f"expected {count} data operands")
        if any(value.type != element for value in self.args):
            raise self.refuse(f"expected data operands of type {element}")

    @property
    def _words(self) -> dict[str, str]:
        return {
            "aligned": "aligned",
            "layout": self.layout.data,
            "shape": _shape(self),
            "ss": space_of(self.ptr),
            "type": self.eltype.data,
        }

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "p": At(self.ptr),
            "r": Fragment(tuple(self.args)),
            "stride": self.stride,
        }
        return Code([Statement(self.FORMS, self._words, operands)])


@irdl_op_definition
class WmmaMma(Operation):
    """Multiplies fragments: A and B of `eltypeA`, the accumulator of `eltypeB`.

    MLIR's operation has neither `b1Op` nor `intOverflowBehavior`, and a result of the accumulator's type alone.
    """

    name = "nvvm.wmma.mma"
    FORMS: ClassVar[tuple[str, ...]] = _MULTIPLY
    m = prop_def(IntegerAttr[I32])
    n = prop_def(IntegerAttr[I32])
    k = prop_def(IntegerAttr[I32])
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
        if not _is_legal(_MULTIPLY, self._words):
            raise self.refuse("invalid attribute combination")
        expected = [element for count, element in self._fragments[:3] for _ in range(count)]
        if len(self.args) != len(expected):
            raise self.refuse(f"expected {len(expected)} arguments")
        for number, (value, element) in enumerate(zip(self.args, expected, strict=True)):
            if value.type != element:
                raise self.refuse(f"expected argument {number} to be of type {element}")
        count, element = self._fragments[3]
        if self.res.type != LLVMStructType.from_type_list([element] * count):
            raise self.refuse(
                f"expected destination type is a structure of {count} elements of type {element}"
            )

    @property
    def _words(self) -> dict[str, str]:
        words = {
            "aligned": "aligned",
            "alayout": self.layoutA.data,
            "blayout": self.layoutB.data,
            "shape": _shape(self),
            "dtype": accumulated(self.res.type),
            "ctype": self.eltypeB.data,
            **saturation(self.intOverflowBehavior),
        }
        if self.eltypeA.data == "f16":
            return words
        del words["aligned"]
        words |= {"atype": self.eltypeA.data, "btype": self.eltypeA.data}
        return words if self.b1Op is None else words | {"bitOp": self.b1Op.data.removesuffix("_popc")}

    @property
    def _fragments(self) -> tuple[tuple[int, Attribute], ...]:
        """Registers of A, B, C and D, and what each is."""
        form = form_that_allows(_MULTIPLY, self._words)
        slots = slots_of(form, self._words)
        types = (self.eltypeA.data, self.eltypeA.data, self.eltypeB.data, slots["dtype"])
        return tuple(
            (form.operands[name].registers(slots), element_of(word))
            for name, word in zip("abcd", types, strict=True)
        )

    def code(self) -> Code:
        operands: dict[str, Piece] = {"d": Fragment.of(self.res)}
        rest: tuple[SSAValue, ...] = tuple(self.args)
        for name, (count, _) in zip("abc", self._fragments[:3], strict=True):
            operands[name], rest = Fragment(rest[:count]), rest[count:]
        return Code([Statement(self.FORMS, self._words, operands)])
