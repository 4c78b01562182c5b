"""Warpgroup multiplication: the operations whose names begin with nvvm.wgmma."""

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import IntAttr, ModuleOp, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Block
from xdsl.ir import Operation as AnyOperation

from warploom.isa.binding.compose import rows_with, slots_of
from warploom.isa.instructions import compare, wgmma
from warploom.isa.model.table import Row
from warploom.nvvm.dialect.attributes import Layout, Overflow, ScaleIn, ScaleOut, Shape, WgmmaType
from warploom.nvvm.dialect.lowering import InstructionTemplate, Lowering, OperandTemplate, Registers, Temporary
from warploom.nvvm.dialect.mma import saturation_words
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import registers_of
from warploom.nvvm.forms import WGMMA_DESCRIPTORS, WGMMA_REGISTERS

_ROWS = 64
_TRANSPOSABLE = ("f16", "bf16")


WgmmaFence = operation(
    "nvvm.wgmma.fence.aligned",
    "Fence for the registers of a warpgroup before the warpgroup's next multiplication.",
    wgmma.FENCE,
)
WgmmaCommitGroup = operation(
    "nvvm.wgmma.commit.group.sync.aligned", "Commit of the earlier multiplications to a group.", wgmma.COMMIT
)
WgmmaWaitGroup = operation(
    "nvvm.wgmma.wait.group.sync.aligned(group as N: int64)",
    "Wait until at most the latest `group` groups are pending.",
    wgmma.WAIT,
    syntax="attr-dict $group",
)


def multiplication_properties(
    words: dict[str, str], *, adds: bool, negates: tuple[bool, bool], transposes: tuple[bool, bool]
) -> dict[str, Attribute]:
    """Return the properties of a `WgmmaMmaAsync` operation.

    `words` are the instruction's modifiers by name. `adds` is True if the product is added to the accumulator.
    `negates` and `transposes` have one element for A and one for B. A transposed matrix is contiguous along M or N.
    """
    signs = [ScaleIn("neg" if each else "one") for each in negates]
    properties: dict[str, Attribute] = {
        "shape": Shape(*(IntAttr(int(each)) for each in re.findall(r"\d+", words["shape"]))),
        "typeA": WgmmaType(words["atype"]),
        "typeB": WgmmaType(words["btype"]),
        "typeD": WgmmaType(words["dtype"]),
        "scaleD": ScaleOut("one" if adds else "zero"),
        "scaleA": signs[0],
        "scaleB": signs[1],
        "layoutA": Layout("col" if transposes[0] else "row"),
        "layoutB": Layout("row" if transposes[1] else "col"),
    }
    return properties | ({"satfinite": Overflow("satfinite")} if words.get("satfinite") else {})


class _Multiplication(Operation):
    @property
    def shape(self) -> Shape:
        """Extents of the multiplication."""
        found = self.properties["shape"]
        assert isinstance(found, Shape)
        return found

    def check(self) -> None:
        struct = self.value("results_").type
        assert isinstance(struct, LLVMStructType)
        elements = struct.types.data
        if (other := next((element for element in elements if element != elements[0]), None)) is not None:
            raise self.error(f"all elements in struct must be same type but there is {other}")
        if struct != self.value("inouts").type:
            raise self.error(f"results are {struct}; expected those of the accumulator: {self.value('inouts').type}")
        self._check_types_and_shape()
        layouts = self.text("layoutA"), self.text("layoutB")
        if self.text("typeA") not in _TRANSPOSABLE and layouts != ("row", "col"):
            raise self.error(
                f"given layouts layout_a = {layouts[0]} and layout_b = {layouts[1]} for input types"
                f" {self.text('typeA')} and {self.text('typeB')} requires transpose. However, this is only supported"
                f" for: {' and '.join(_TRANSPOSABLE)}"
            )
        if self.is_in_registers and layouts[0] != "row":
            raise self.error("expected layout_a to be row for A in registers")
        if self._saturation and self.text("typeD") != "s32":
            raise self.error(
                "`satfinite` can be only used with s32 accumulator, however the current accumulator is"
                f" {self.text('typeD')}"
            )
        form, words = self._multiplication.form, self._words
        if (expected := form.operands["d"].registers(slots_of(form, words))) != len(registers_of(struct)):
            raise self.error(f"results {expected}, however output struct has {len(elements)} elements")

    def _check_types_and_shape(self) -> None:
        d, a, b = self.text("typeD"), self.text("typeA"), self.text("typeB")
        if not self._rows("dtype"):
            raise self.error(f"does not support the given output type {d}")
        if d == "s32" and "neg" in (self.text("scaleA"), self.text("scaleB")):
            raise self.error("has s32 output, scaleA and scaleB cannot be neg")
        if not (rows := self._rows("dtype", "atype", "btype")):
            raise self.error(f"{d} += {a} * {b}, it is not supported.")
        if self.shape.m.data != _ROWS:
            raise self.error(f"shape 'm' must be {_ROWS}")
        if not (rows_of_k := self._rows("dtype", "atype", "btype", "k")):
            raise self.error(f"shape 'k' must be {rows[0].cells['k'][0]} for input type {a}")
        if not self._rows("dtype", "atype", "btype", "k", "n"):
            raise self.error(
                f"has input type {a} n is set to {self.shape.n.data}, it is not supported."
                f" Expected {', '.join(rows_of_k[0].cells['n'])}."
            )

    def _rows(self, *columns: str) -> list[Row]:
        return rows_with(WGMMA_DESCRIPTORS, {column: self._words[column] for column in columns})

    @property
    def is_in_registers(self) -> bool:
        """True if A is in registers."""
        return self.value("descriptorA").type != i64

    @property
    def _saturation(self) -> dict[str, str]:
        return saturation_words(self, "satfinite")

    @property
    def _words(self) -> dict[str, str]:
        words = {
            "n": str(self.shape.n.data),
            "k": str(self.shape.k.data),
            "dtype": self.text("typeD"),
            "atype": self.text("typeA"),
            "btype": self.text("typeB"),
        }
        return words | ({"bitOp": "and"} if self.text("typeA") == "b1" else {})

    @property
    def _multiplication(self) -> InstructionTemplate:
        """Template of the multiplication, with the operands of all its forms."""
        scales = {"one": 1, "neg": -1}
        forms = WGMMA_REGISTERS if self.is_in_registers else WGMMA_DESCRIPTORS
        operands: dict[str, OperandTemplate] = {
            "d": Registers([self.value("results_")]),
            "a": Registers([self.value("descriptorA")]),
            "a_desc": self.value("descriptorA"),
            "b_desc": self.value("descriptorB"),
            "scale_d": Temporary("p"),
            "imm_scale_a": scales[self.text("scaleA")],
            "imm_scale_b": scales[self.text("scaleB")],
            "imm_trans_a": int(self.text("layoutA") == "col"),
            "imm_trans_b": int(self.text("layoutB") == "row"),
        }
        return InstructionTemplate(forms, self._words | self._saturation, operands, late=("satfinite",))

    def lower(self) -> Lowering:
        adds = InstructionTemplate(
            [compare.SETP],
            {"CmpOp": "ne", "type": "b32"},
            {"p": Temporary("p"), "a": int(self.text("scaleD") == "one"), "b": 0},
        )
        return Lowering([adds, self._multiplication], [(self.value("inouts"), self.value("results_"))])


WgmmaMmaAsync = operation(
    "nvvm.wgmma.mma_async(inouts: struct, descriptorA: i64|struct, descriptorB: i64, shape: shape, typeA: wgmma_type,"
    " typeB: wgmma_type, typeD: wgmma_type, scaleD: wgmma_scale_out, scaleA: wgmma_scale_in, scaleB: wgmma_scale_in,"
    " layoutA: mma_layout, layoutB: mma_layout, satfinite?: mma_int_overflow) -> results_: struct",
    "Multiplication by a warpgroup. The accumulator is an operand and the result."
    " B is a descriptor. A is a descriptor or a struct of registers. In MLIR, A is always a descriptor."
    " In the text, the type of the struct stands before the type of the accumulator.",
    *(*WGMMA_DESCRIPTORS, *WGMMA_REGISTERS),
    syntax="$descriptorA `,` $descriptorB `,` $inouts `,` $shape `,`"
    " `D` `[` $typeD `,` $scaleD (`,` $satfinite^)? `]` `,`"
    " `A` `[` $typeA `,` $scaleA `,` $layoutA `]` `,`"
    " `B` `[` $typeB `,` $scaleB `,` $layoutB `]`"
    " attr-dict `:` custom<WgmmaTypes>(type($descriptorA), type($inouts)) `->` type($results_)",
    base=_Multiplication,
)

# Protocol --------------------------------------------------------------------------------------------------


def protocol_violations(module: ModuleOp) -> Iterator[tuple[AnyOperation, str]]:
    """Yield each operation that lacks a wgmma fence, commit or wait before it, with the error message.

    Each MLIR block is checked separately.
    """
    for each in module.walk():
        for region in each.regions:
            for block in region.blocks:
                yield from _block_violations(block)


def _block_violations(block: Block) -> Iterator[tuple[AnyOperation, str]]:
    fenced = False
    committed = complete = 0
    group: dict[AnyOperation, int] = {}
    for each in block.ops:
        if isinstance(each, WgmmaFence):
            fenced = True
        elif isinstance(each, WgmmaMmaAsync):
            # A multiplication reads its accumulator after its issue, when it executes.
            if not fenced and not isinstance(each.value("inouts").owner, WgmmaMmaAsync):
                yield each, f"needs a '{WgmmaFence.name}' after the writes of its accumulator"
            group[each] = committed + 1
        elif isinstance(each, WgmmaCommitGroup):
            committed += 1
        elif isinstance(each, WgmmaWaitGroup):
            complete = max(complete, committed - each.number("group"))
            fenced = False
        for value in each.operands:
            writer = value.owner
            if not isinstance(writer, WgmmaMmaAsync) or isinstance(each, WgmmaMmaAsync):
                continue
            if group.get(writer, 0) > complete:
                missing = WgmmaWaitGroup.name if group[writer] <= committed else WgmmaCommitGroup.name
                yield (each, f"reads an accumulator before its multiplication is complete: add '{missing}'")
