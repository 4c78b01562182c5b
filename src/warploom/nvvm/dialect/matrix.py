"""Moves of matrices between shared memory and registers: nvvm.ldmatrix and nvvm.stmatrix."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I32, IntegerAttr, i32
from xdsl.irdl import operand_def, prop_def, result_def, var_operand_def

from warploom.isa.binding.compose import rows_with
from warploom.isa.instructions import matrix
from warploom.nvvm.dialect.attributes import Layout, MatrixElement, MatrixShape
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import pointer, space_of, struct_of


def _type_words(element: str) -> dict[str, str]:
    # In `b8x16.b6x16_p32`, the first part is the format in registers, the second that in memory.
    unpacked, _, packed = element.partition(".")
    return {"dst_fmt": unpacked, "src_fmt": packed} if packed else {"type": element}


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


class _MatrixMove(Operation):
    """Load or store of matrices of 8-bit or 16-bit elements."""

    layout = prop_def(Layout)
    shape = prop_def(MatrixShape)
    eltType = prop_def(MatrixElement)

    def words(self, count: int) -> dict[str, str]:
        """Return the modifiers by name for a load or store of `count` matrices."""
        return {
            "shape": str(self.shape),
            "num": f"x{count}",
            "trans": "trans" if self.layout.data == "col" else "",
            **_type_words(self.eltType.data),
        }

    def check_words(self, count: int) -> None:
        """Raise VerifyException with MLIR's message for an illegal attribute."""
        words = self.words(count)
        shape = words["shape"]
        if not (rows := rows_with(self.FORMS, {"shape": shape})):
            legal = dict.fromkeys(
                each[1:].replace("n", "x") for row in rows_with(self.FORMS, {}) for each in row.cells["shape"]
            )
            raise self.error(f"expected shape to be {_listed(list(legal))}")
        name = f"{self.shape.m.data}x{self.shape.n.data} matrix"
        if words["num"] not in (numbers := rows[0].cells["num"]):
            legal = [each[1:] for each in numbers]
            raise self.error(f"expected num attribute to be {_listed(legal)} for {name}")
        if not any(row.allows("trans", words["trans"]) for row in rows):
            legal = ["col" if each else "row" for each in rows[0].cells["trans"]]
            raise self.error(f"expected layout to be {_listed(legal)} for {name}")
        elements = [
            each for each in MatrixElement.cases if rows_with(self.FORMS, {"shape": shape, **_type_words(each)})
        ]
        if self.eltType.data not in elements:
            raise self.error(f"expected element type to be {_listed(elements)} for {name}")


@operation("nvvm.ldmatrix", matrix.LDMATRIX, matrix.LDMATRIX_WIDENED)
class LdMatrix(_MatrixMove):
    """Load of matrices from shared memory; each lane supplies the address of one row."""

    ptr = operand_def(pointer(3))
    num = prop_def(IntegerAttr[I32])
    res = result_def()
    assembly_format = "$ptr attr-dict `:` functional-type($ptr, $res)"

    def check(self) -> None:
        number = self.num.value.data
        self.check_words(number)
        count = number * (2 if self.shape.extents == (16, 16) else 1)
        if self.res.type != (i32 if count == 1 else struct_of(i32, count)):
            expected = "i32" if count == 1 else f"a structure of {count} elements of type i32"
            raise self.error(f"expected destination type is {expected}")

    def lower(self) -> Lowering:
        words = self.words(self.num.value.data) | {"ss": space_of(self.ptr)}
        return self.instruction(words, r=Registers([self.res]), p=self.ptr)


@operation("nvvm.stmatrix", matrix.STMATRIX)
class StMatrix(_MatrixMove):
    """Store of matrices to shared memory; each lane supplies the address of one row."""

    ptr = operand_def(pointer(3))
    sources = var_operand_def(i32)
    assembly_format = "$ptr `,` $sources attr-dict `:` type(operands)"

    def check(self) -> None:
        self.check_words(len(self.sources))

    def lower(self) -> Lowering:
        words = self.words(len(self.sources)) | {"ss": space_of(self.ptr)}
        return self.instruction(words, p=self.ptr, r=Registers(self.sources))
