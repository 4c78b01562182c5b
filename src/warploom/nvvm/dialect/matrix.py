"""Moves of matrices between shared memory and registers: nvvm.ldmatrix and nvvm.stmatrix."""

from collections.abc import Sequence

from xdsl.dialects.builtin import i32

from warploom.isa.binding.compose import rows_with
from warploom.isa.instructions import matrix
from warploom.nvvm.dialect.attributes import MatrixElement
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import struct_of

_FIELDS = "layout: mma_layout, shape: ld_st_matrix_shape, eltType: ld_st_matrix_elt_type"


def _type_words(element: str) -> dict[str, str]:
    # In `b8x16.b6x16_p32`, the first part is the format in registers, the second that in memory.
    unpacked, _, packed = element.partition(".")
    return {"dst_fmt": unpacked, "src_fmt": packed} if packed else {"type": element}


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


class _MatrixMove(Operation):
    """Base class of loads and stores of matrices of elements with 4, 6, 8 or 16 bits."""

    @property
    def words(self) -> dict[str, str]:
        """Modifiers of the instruction by name."""
        count = self.number("num") if "num" in self.properties else len(self.values("sources"))
        transposed = "trans" if self.text("layout") == "col" else ""
        return {
            "shape": str(self.properties["shape"]),
            "num": f"x{count}",
            "trans": transposed,
            **_type_words(self.text("eltType")),
        }

    def lower(self) -> Lowering:
        moved = self.values("sources") if self.has("sources") else [self.value("res")]
        return self.instruction(self.words, r=Registers(moved))

    def check(self) -> None:
        words = self.words
        shape = words["shape"]
        if not (rows := rows_with(self.FORMS, {"shape": shape})):
            legal = dict.fromkeys(
                each[1:].replace("n", "x") for row in rows_with(self.FORMS, {}) for each in row.cells["shape"]
            )
            raise self.error(f"expected shape to be {_listed(list(legal))}")
        name = f"{'x'.join(map(str, self.extents('shape')))} matrix"
        if words["num"] not in (numbers := rows[0].cells["num"]):
            legal = [each[1:] for each in numbers]
            raise self.error(f"expected num attribute to be {_listed(legal)} for {name}")
        if not any(row.allows("trans", words["trans"]) for row in rows):
            legal = ["col" if each else "row" for each in rows[0].cells["trans"]]
            raise self.error(f"expected layout to be {_listed(legal)} for {name}")
        elements = [
            each for each in MatrixElement.cases if rows_with(self.FORMS, {"shape": shape, **_type_words(each)})
        ]
        if self.text("eltType") not in elements:
            raise self.error(f"expected element type to be {_listed(elements)} for {name}")
        super().check()


def _result_error(op: Operation) -> str:
    count = op.number("num") * (2 if str(op.properties["shape"]) == "m16n16" else 1)
    if op.value("res").type == (i32 if count == 1 else struct_of(i32, count)):
        return ""
    expected = "i32" if count == 1 else f"a structure of {count} elements of type i32"
    return f"expected destination type is {expected}"


LdMatrix = operation(
    f"nvvm.ldmatrix(ptr as p in ss: ptr3, num: int32, {_FIELDS}) -> res: any",
    "Load of 1, 2 or 4 matrices from shared memory."
    " For 8x8 matrices, lanes 8k to 8k+7 supply the row addresses of matrix k.",
    *(matrix.LDMATRIX, matrix.LDMATRIX_WIDENED),
    syntax="$ptr attr-dict `:` functional-type($ptr, $res)",
    rules=[_result_error],
    base=_MatrixMove,
)
StMatrix = operation(
    f"nvvm.stmatrix(ptr as p in ss: ptr3, sources*: i32, {_FIELDS})",
    "Store of 1, 2 or 4 matrices to shared memory."
    " For 8x8 matrices, lanes 8k to 8k+7 supply the row addresses of matrix k.",
    matrix.STMATRIX,
    syntax="$ptr `,` $sources attr-dict `:` type(operands)",
    base=_MatrixMove,
)
