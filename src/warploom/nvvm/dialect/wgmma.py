"""Warpgroup multiplication: the operations whose names begin with nvvm.wgmma."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    eq,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from warploom.isa.binding.compose import form_named, form_that_allows, rows_with, slots_of
from warploom.isa.model.table import Row
from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.pieces import Code, Fragment, Local, Piece, Statement, registers_of
from warploom.nvvm.dialect.vocabulary import Layout, Overflow, ScaleIn, ScaleOut, WgmmaType
from warploom.nvvm.dialect.words import Shape

_ROWS = 64
_TRANSPOSED = ("f16", "bf16")


@irdl_custom_directive
class Types(CustomDirective):
    """The type of the accumulator, after that of A where A is in registers."""

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


@irdl_op_definition
class WgmmaFence(Operation):
    """Orders the registers of a warpgroup before its next multiplication."""

    name = "nvvm.wgmma.fence.aligned"
    FORMS: ClassVar[tuple[str, ...]] = ("wgmma.fence",)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {}, {})])


@irdl_op_definition
class WgmmaCommitGroup(Operation):
    """Closes the group of the multiplications issued so far."""

    name = "nvvm.wgmma.commit.group.sync.aligned"
    FORMS: ClassVar[tuple[str, ...]] = ("wgmma.commit_group",)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {}, {})])


@irdl_op_definition
class WgmmaWaitGroup(Operation):
    """Waits until at most so many of the latest groups are in flight."""

    name = "nvvm.wgmma.wait.group.sync.aligned"
    FORMS: ClassVar[tuple[str, ...]] = ("wgmma.wait_group",)
    group = prop_def(IntegerAttr[I64])
    assembly_format = "attr-dict $group"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {}, {"N": self.group.value.data})])


@irdl_op_definition
class WgmmaMmaAsync(Operation):
    """Multiplies A and B, which lie behind descriptors, and adds the product to an accumulator.

    MLIR's operation has A behind a descriptor alone; here it may be a struct of registers too, whose type then
    stands before the accumulator's.
    """

    name = "nvvm.wgmma.mma_async"
    DESCRIBED: ClassVar[tuple[str, ...]] = ("wgmma.half", "wgmma.float", "wgmma.integer", "wgmma.bit")
    """Its forms with A behind a descriptor."""
    REGISTERED: ClassVar[tuple[str, ...]] = (
        "wgmma.half-registers",
        "wgmma.float-registers",
        "wgmma.integer-registers",
        "wgmma.bit-registers",
    )
    """Its forms with A in registers."""
    FORMS: ClassVar[tuple[str, ...]] = (*DESCRIBED, *REGISTERED)

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
        if any(element != elements[0] for element in elements):
            other = next(element for element in elements if element != elements[0])
            raise self.refuse(f"all elements in struct must be same type but there is {other}")
        if struct != self.inouts.type:
            raise self.refuse(f"results are {struct}; expected those of the accumulator: {self.inouts.type}")
        self._check_types()
        self._check_shape()
        if self.typeA.data not in _TRANSPOSED and (self.layoutA.data, self.layoutB.data) != ("row", "col"):
            raise self.refuse(
                f"given layouts layout_a = {self.layoutA.data} and layout_b = {self.layoutB.data} for input types"
                f" {self.typeA.data} and {self.typeB.data} requires transpose. However, this is only supported"
                f" for: {' and '.join(_TRANSPOSED)}"
            )
        if self.is_in_registers and self.layoutA.data != "row":
            raise self.refuse("has A in registers, where it lies by rows; layout_a must be row")
        if self._saturates and self.typeD.data != "s32":
            raise self.refuse(
                "`satfinite` can be only used with s32 accumulator, however the current accumulator is"
                f" {self.typeD.data}"
            )
        registers = len(registers_of(struct))
        form = form_that_allows(self._forms, self._words)
        if (expected := form.operands["d"].registers(slots_of(form, self._words))) != registers:
            raise self.refuse(f"results {expected}, however output struct has {len(elements)} elements")

    def _check_types(self) -> None:
        d, a, b = self.typeD.data, self.typeA.data, self.typeB.data
        if d not in {word for form in self.DESCRIBED for word in form_named(form).vocabulary["dtype"]}:
            raise self.refuse(f"does not support the given output type {d}")
        if d == "s32" and "neg" in (self.scaleA.data, self.scaleB.data):
            raise self.refuse("has s32 output, scaleA and scaleB cannot be neg")
        if not self._rows("dtype", "atype", "btype"):
            raise self.refuse(f"{d} += {a} * {b}, it is not supported.")

    def _check_shape(self) -> None:
        if self.shape.m.data != _ROWS:
            raise self.refuse(f"shape 'm' must be {_ROWS}")
        if not self._rows("dtype", "atype", "btype", "k"):
            expected = self._rows("dtype", "atype", "btype")[0].cells["k"][0]
            raise self.refuse(f"shape 'k' must be {expected} for input type {self.typeA.data}")
        if not self._rows("dtype", "atype", "btype", "k", "n"):
            n = self._rows("dtype", "atype", "btype", "k")[0].cells["n"]
            raise self.refuse(
                f"has input type {self.typeA.data} n is set to {self.shape.n.data}, it is not supported."
                f" Expected {', '.join(n)}."
            )

    def _rows(self, *columns: str) -> list[Row]:
        return rows_with(self.DESCRIBED, {column: self._words[column] for column in columns})

    @property
    def is_in_registers(self) -> bool:
        """Whether A is in registers."""
        return self.descriptorA.type != i64

    @property
    def _saturates(self) -> bool:
        return self.satfinite is not None and self.satfinite.data == "satfinite"

    @property
    def _forms(self) -> tuple[str, ...]:
        return self.REGISTERED if self.is_in_registers else self.DESCRIBED

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

    def code(self) -> Code:
        predicate = Local("p")
        scales = {"one": 1, "neg": -1}
        a: Piece = Fragment.of(self.descriptorA) if self.is_in_registers else self.descriptorA
        operands: dict[str, Piece] = {
            "d": Fragment.of(self.results_),
            "a" if self.is_in_registers else "a_desc": a,
            "b_desc": self.descriptorB,
            "scale_d": predicate,
            "imm_scale_a": scales[self.scaleA.data],
            "imm_scale_b": scales[self.scaleB.data],
            "imm_trans_a": int(self.layoutA.data == "col"),
            "imm_trans_b": int(self.layoutB.data == "row"),
        }
        compare = Statement(
            ("compare.setp",),
            {"CmpOp": "ne", "type": "b32"},
            {"p": predicate, "a": int(self.scaleD.data == "one"), "b": 0},
        )
        words = self._words | ({"satfinite": "satfinite"} if self._saturates else {})
        multiply = Statement(self._forms, words, operands, late=("satfinite",))
        return Code([compare, multiply], [(self.inouts, self.results_)])
