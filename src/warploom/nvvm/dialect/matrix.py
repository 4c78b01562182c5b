"""Matrices between shared memory and registers: nvvm.ldmatrix and nvvm.stmatrix."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I32, IntegerAttr, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def

from warploom.isa.binding.compose import rows_with
from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.pieces import At, Code, Fragment, Statement, pointer, space_of
from warploom.nvvm.dialect.vocabulary import Layout, MatrixElement
from warploom.nvvm.dialect.words import MatrixShape

_LOAD = ("matrix.ldmatrix", "matrix.ldmatrix-widened")
_STORE = ("matrix.stmatrix",)
_SQUARE = "m16n16"
"""The shape that has two registers for each matrix."""


def _formats(element: str) -> dict[str, str]:
    """The words of an element type: one, or what it becomes and what it is in memory."""
    becomes, _, source = element.partition(".")
    return {"dst_fmt": becomes, "src_fmt": source} if source else {"type": element}


def _joined(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


@irdl_op_definition
class LdMatrix(Operation):
    """Loads matrices whose rows the lanes of a warp address."""

    name = "nvvm.ldmatrix"
    FORMS: ClassVar[tuple[str, ...]] = _LOAD
    ptr = operand_def(pointer(3))
    num = prop_def(IntegerAttr[I32])
    layout = prop_def(Layout)
    shape = prop_def(MatrixShape)
    eltType = prop_def(MatrixElement)
    res = result_def()
    assembly_format = "$ptr attr-dict `:` functional-type($ptr, $res)"

    def check(self) -> None:
        _check_words(self, _LOAD, self.num.value.data)
        count = self.num.value.data * (2 if str(self.shape) == _SQUARE else 1)
        expected = i32 if count == 1 else LLVMStructType.from_type_list([i32] * count)
        if self.res.type != expected:
            what = "i32" if count == 1 else f"a structure of {count} elements of type i32"
            raise self.refuse(f"expected destination type is {what}")

    def code(self) -> Code:
        words = _words(self, self.num.value.data) | {"ss": space_of(self.ptr)}
        return Code([Statement(self.FORMS, words, {"r": Fragment.of(self.res), "p": At(self.ptr)})])


@irdl_op_definition
class StMatrix(Operation):
    """Stores matrices whose rows the lanes of a warp address."""

    name = "nvvm.stmatrix"
    FORMS: ClassVar[tuple[str, ...]] = _STORE
    ptr = operand_def(pointer(3))
    sources = var_operand_def(i32)
    layout = prop_def(Layout)
    shape = prop_def(MatrixShape)
    eltType = prop_def(MatrixElement)
    assembly_format = "$ptr `,` $sources attr-dict `:` type(operands)"

    def check(self) -> None:
        _check_words(self, _STORE, len(self.sources))

    def code(self) -> Code:
        words = _words(self, len(self.sources)) | {"ss": space_of(self.ptr)}
        return Code([Statement(self.FORMS, words, {"p": At(self.ptr), "r": Fragment(tuple(self.sources))})])


def _words(operation: LdMatrix | StMatrix, count: int) -> dict[str, str]:
    trans = "trans" if operation.layout.data == "col" else ""
    return {
        "shape": str(operation.shape),
        "num": f"x{count}",
        "trans": trans,
        **_formats(operation.eltType.data),
    }


def _check_words(operation: LdMatrix | StMatrix, forms: tuple[str, ...], count: int) -> None:
    """What the rows of the forms say, one word after another, as MLIR does."""
    words = _words(operation, count)
    shape = words["shape"]
    if not (rows := rows_with(forms, {"shape": shape})):
        legal = dict.fromkeys(
            each[1:].replace("n", "x") for row in rows_with(forms, {}) for each in row.cells["shape"]
        )
        raise operation.refuse(f"expected shape to be {_joined(list(legal))}")
    name = f"{operation.shape.m.data}x{operation.shape.n.data} matrix"
    if words["num"] not in (numbers := rows[0].cells["num"]):
        legal = [each[1:] for each in numbers]
        raise operation.refuse(f"expected num attribute to be {_joined(legal)} for {name}")
    if not any(row.allows("trans", words["trans"]) for row in rows):
        legal = ["col" if each else "row" for each in rows[0].cells["trans"]]
        raise operation.refuse(f"expected layout to be {_joined(legal)} for {name}")
    elements = [
        element for element in MatrixElement.words if rows_with(forms, {"shape": shape, **_formats(element)})
    ]
    if operation.eltType.data not in elements:
        raise operation.refuse(f"expected element type to be {_joined(elements)} for {name}")
