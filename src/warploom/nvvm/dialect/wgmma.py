"""Warpgroup multiplication: the operations whose names begin with nvvm.wgmma."""

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import I64, IntAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Block
from xdsl.ir import Operation as AnyOperation
from xdsl.irdl import BaseAttr, IRDLOperation, eq, operand_def, opt_prop_def, prop_def, result_def
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

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


@irdl_custom_directive
class Types(CustomDirective):
    """Assembly-format directive for the types of A (only in registers) and of the accumulator."""

    a: TypeDirective
    accumulator: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        self.accumulator.set(state, types[-1:])
        self.a.set(state, types[:-1] or [i64])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        types = [each for each in self.a.get(op) if each != i64]
        state.print_whitespace(printer)
        printer.print_list([*types, *self.accumulator.get(op)], printer.print_attribute)


@operation("nvvm.wgmma.fence.aligned", wgmma.FENCE)
class WgmmaFence(Operation):
    """Fence for the registers of a warpgroup before the warpgroup's next multiplication."""


@operation("nvvm.wgmma.commit.group.sync.aligned", wgmma.COMMIT)
class WgmmaCommitGroup(Operation):
    """Commit of the earlier multiplications to a group."""


@operation("nvvm.wgmma.wait.group.sync.aligned", wgmma.WAIT, names={"group": "N"})
class WgmmaWaitGroup(Operation):
    """Wait until at most the latest `group` groups are pending."""

    group = prop_def(IntegerAttr[I64])
    assembly_format = "attr-dict $group"


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


@operation("nvvm.wgmma.mma_async", *WGMMA_DESCRIPTORS, *WGMMA_REGISTERS)
class WgmmaMmaAsync(Operation):
    """Multiplication by a warpgroup. The accumulator is an operand and the result.

    B is a descriptor. A is a descriptor or a struct of registers. In MLIR, A is always a descriptor. In the text, the
    type of the struct stands before the type of the accumulator.
    """

    inouts = operand_def(LLVMStructType)
    descriptorA = operand_def(eq(i64) | BaseAttr(LLVMStructType))
    descriptorB = operand_def(i64)
    shape = prop_def(Shape)
    typeA = prop_def(WgmmaType)
    typeB = prop_def(WgmmaType)
    typeD = prop_def(WgmmaType)
    scaleD = prop_def(ScaleOut)
    scaleA = prop_def(ScaleIn)
    scaleB = prop_def(ScaleIn)
    layoutA = prop_def(Layout)
    layoutB = prop_def(Layout)
    satfinite = opt_prop_def(Overflow)
    results_ = result_def(LLVMStructType)

    custom_directives = (Types,)
    assembly_format = (
        "$descriptorA `,` $descriptorB `,` $inouts `,` $shape `,`"
        " `D` `[` $typeD `,` $scaleD (`,` $satfinite^)? `]` `,`"
        " `A` `[` $typeA `,` $scaleA `,` $layoutA `]` `,`"
        " `B` `[` $typeB `,` $scaleB `,` $layoutB `]`"
        " attr-dict `:` custom<Types>(type($descriptorA), type($inouts)) `->` type($results_)"
    )

    def check(self) -> None:
        struct = self.results_.type
        assert isinstance(struct, LLVMStructType)
        elements = struct.types.data
        if (other := next((element for element in elements if element != elements[0]), None)) is not None:
            raise self.error(f"all elements in struct must be same type but there is {other}")
        if struct != self.inouts.type:
            raise self.error(f"results are {struct}; expected those of the accumulator: {self.inouts.type}")
        self._check_types_and_shape()
        layouts = self.layoutA.data, self.layoutB.data
        if self.typeA.data not in _TRANSPOSABLE and layouts != ("row", "col"):
            raise self.error(
                f"given layouts layout_a = {layouts[0]} and layout_b = {layouts[1]} for input types"
                f" {self.typeA.data} and {self.typeB.data} requires transpose. However, this is only supported"
                f" for: {' and '.join(_TRANSPOSABLE)}"
            )
        if self.is_in_registers and layouts[0] != "row":
            raise self.error("expected layout_a to be row for A in registers")
        if self._saturation and self.typeD.data != "s32":
            raise self.error(
                "`satfinite` can be only used with s32 accumulator, however the current accumulator is"
                f" {self.typeD.data}"
            )
        form, words = self._multiplication.form, self._words
        if (expected := form.operands["d"].registers(slots_of(form, words))) != len(registers_of(struct)):
            raise self.error(f"results {expected}, however output struct has {len(elements)} elements")

    def _check_types_and_shape(self) -> None:
        d, a, b = self.typeD.data, self.typeA.data, self.typeB.data
        if not self._rows("dtype"):
            raise self.error(f"does not support the given output type {d}")
        if d == "s32" and "neg" in (self.scaleA.data, self.scaleB.data):
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
        return self.descriptorA.type != i64

    @property
    def _saturation(self) -> dict[str, str]:
        return saturation_words(self.satfinite)

    @property
    def _words(self) -> dict[str, str]:
        words = {
            "n": str(self.shape.n.data),
            "k": str(self.shape.k.data),
            "dtype": self.typeD.data,
            "atype": self.typeA.data,
            "btype": self.typeB.data,
        }
        return words | ({"bitOp": "and"} if self.typeA.data == "b1" else {})

    @property
    def _multiplication(self) -> InstructionTemplate:
        """Template of the multiplication, with the operands of all its forms."""
        scales = {"one": 1, "neg": -1}
        forms = WGMMA_REGISTERS if self.is_in_registers else WGMMA_DESCRIPTORS
        operands: dict[str, OperandTemplate] = {
            "d": Registers([self.results_]),
            "a": Registers([self.descriptorA]),
            "a_desc": self.descriptorA,
            "b_desc": self.descriptorB,
            "scale_d": Temporary("p"),
            "imm_scale_a": scales[self.scaleA.data],
            "imm_scale_b": scales[self.scaleB.data],
            "imm_trans_a": int(self.layoutA.data == "col"),
            "imm_trans_b": int(self.layoutB.data == "row"),
        }
        return InstructionTemplate(forms, self._words | self._saturation, operands, late=("satfinite",))

    def lower(self) -> Lowering:
        adds = InstructionTemplate(
            [compare.SETP],
            {"CmpOp": "ne", "type": "b32"},
            {"p": Temporary("p"), "a": int(self.scaleD.data == "one"), "b": 0},
        )
        return Lowering([adds, self._multiplication], [(self.inouts, self.results_)])


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
        match each:
            case WgmmaFence():
                fenced = True
            case WgmmaMmaAsync():
                # A multiplication reads its accumulator after its issue, when it executes.
                if not fenced and not isinstance(each.inouts.owner, WgmmaMmaAsync):
                    yield each, f"needs a '{WgmmaFence.name}' after the writes of its accumulator"
                group[each] = committed + 1
            case WgmmaCommitGroup():
                committed += 1
            case WgmmaWaitGroup():
                complete = max(complete, committed - each.group.value.data)
                fenced = False
            case _:
                pass
        for value in each.operands:
            writer = value.owner
            if not isinstance(writer, WgmmaMmaAsync) or isinstance(each, WgmmaMmaAsync):
                continue
            if group.get(writer, 0) > complete:
                missing = WgmmaWaitGroup.name if group[writer] <= committed else WgmmaCommitGroup.name
                yield (each, f"reads an accumulator before its multiplication is complete: add '{missing}'")
