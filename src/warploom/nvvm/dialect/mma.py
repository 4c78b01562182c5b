"""Warp-level multiplication: the operations whose names begin with nvvm.mma."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import ClassVar, Self

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, UnitAttr, VectorType, f16, f32, f64, i16, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from warploom.isa.binding.compose import rows_with, slots_of
from warploom.nvvm.dialect.attributes import (
    BitOperation,
    EnumAttribute,
    Layout,
    MmaKind,
    MmaType,
    Overflow,
    ScaleFormat,
    ScaleKind,
    ScaleVector,
    Shape,
)
from warploom.nvvm.dialect.lowering import Immediate, Lowering, OperandTemplate, Registers
from warploom.nvvm.dialect.operation import SEGMENTED, Operation, operation
from warploom.nvvm.forms import MMA_DENSE, MMA_SCALED, MMA_SPARSE, MMA_SPARSE_SCALED

_TYPES = ("multiplicandAPtxType", "multiplicandBPtxType")
_SEGMENTS = "operandSegmentSizes"
_NARROW_INTEGERS = ("s8", "u8", "s4", "u4")
_REGISTERS: Mapping[str, Attribute] = {"f16": VectorType(f16, [2]), "f32": f32, "f64": f64}
"""Type of a register by the type of its elements. A register of other elements has the type i32."""
_ACCUMULATORS = (*_REGISTERS, "s32")


def multiplicand_type(type: Attribute) -> str:
    """Return the PTX element type that the LLVM type of A or B implies, or "" if several are possible."""
    match type:
        case VectorType() if type.element_type == f16:
            return "f16"
        case _:
            return "f64" if type == f64 else ""


def accumulator_type(type: Attribute) -> str:
    """Return the PTX element type for the LLVM type of an accumulator or result."""
    match type:
        case LLVMStructType() if type.types.data:
            return accumulator_type(type.types.data[0])
        case VectorType():
            return accumulator_type(type.element_type)
        case IntegerType():
            return "s32"
        case _:
            return str(type)


def saturation_words(overflow: EnumAttribute | None) -> dict[str, str]:
    """Return the modifier `.satfinite` by name if `overflow` is "satfinite", else an empty dictionary."""
    return {"satfinite": "satfinite"} if overflow is not None and overflow.data == "satfinite" else {}


class Multiplication(Operation):
    """Base class of warp-level multiplications."""

    irdl_options = SEGMENTED
    assembly_format = None
    shape = prop_def(Shape)
    multiplicandAPtxType = opt_prop_def(MmaType)
    multiplicandBPtxType = opt_prop_def(MmaType)
    res = result_def(LLVMStructType)

    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = {}
    """Types of the operands after C, by the keyword that precedes the operands in the text."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        lists: list[list[UnresolvedOperand]] = []
        for name in ("A", "B", "C", *cls.NAMED):
            parser.parse_keyword(name)
            values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
            lists.append(values)
        attributes = dict(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        at = parser.pos
        # MLIR writes one type for each of A, B and C.
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        if len(types) != len("ABC"):
            parser.raise_error(f"expected one type for each operand segment but got {len(types)} types", at)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        for name, each in zip(_TYPES, types[:2], strict=True):
            if name not in attributes and (word := multiplicand_type(each)):
                attributes[name] = MmaType(word)
            if name not in attributes:
                parser.raise_error(f"attribute {name} is not provided explicitly and cannot be inferred", start)
        operands: list[Sequence[SSAValue]] = [
            parser.resolve_operands(values, [each] * len(values), start)
            for values, each in zip(lists[:3], types, strict=True)
        ]
        for each, named in zip(lists[3:], cls.NAMED.values(), strict=True):
            if len(each) != len(named):
                parser.raise_error(f"expected {len(named)} operands but got {len(each)}", start)
            operands += [[value] for value in parser.resolve_operands(each, named, start)]
        known = cls.get_irdl_definition().properties
        properties = {name: value for name, value in attributes.items() if name in known}
        rest = {name: value for name, value in attributes.items() if name not in known}
        properties[_SEGMENTS] = DenseArrayBase.from_list(i32, [len(each) for each in operands])
        return cls.create(
            operands=list(chain.from_iterable(operands)), result_types=[result], properties=properties, attributes=rest
        )

    def print(self, printer: Printer) -> None:
        values = list(self.operands)
        counts = {name: len(each) for name, each in zip("ABC", self.fragments, strict=True)}
        counts |= {name: len(types) for name, types in self.NAMED.items()}
        for name, count in counts.items():
            printer.print_string(f" {name}")
            with printer.in_square_brackets():
                printer.print_list(values[:count], printer.print_ssa_value)
            values = values[count:]
        types = [each[0].type for each in self.fragments]
        words = {name: multiplicand_type(each) for name, each in zip(_TYPES, types[:2], strict=True)}
        inferred = {name for name, word in words.items() if word and self.properties.get(name) == MmaType(word)}
        printer.print_op_attributes(self.attributes | self.properties, reserved_attr_names={_SEGMENTS, *inferred})
        printer.print_string(" : ")
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_attribute(self.res.type)

    # Instruction --------------------------------------------------------------------------------------------

    @property
    def fragments(self) -> tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]]:
        """Operands A, B and C."""
        sizes = self.properties[_SEGMENTS]
        assert isinstance(sizes, DenseArrayBase)
        a, b, c = (int(size) for size in sizes.get_values()[:3])
        values = tuple(self.operands)
        return values[:a], values[a : a + b], values[a + b : a + b + c]

    @property
    def words(self) -> dict[str, str]:
        """Modifiers of the instruction by name."""
        given = (self.multiplicandAPtxType, self.multiplicandBPtxType)
        a, b = (
            word.data if word is not None else multiplicand_type(values[0].type) if values else ""
            for word, values in zip(given, self.fragments[:2], strict=True)
        )
        accumulator = self.fragments[2]
        c = accumulator_type(accumulator[0].type) if accumulator else ""
        types = {"dtype": accumulator_type(self.res.type), "atype": a, "btype": b, "ctype": c}
        return {"shape": str(self.shape), **types}

    @property
    def further_operands(self) -> dict[str, OperandTemplate]:
        """Operands after C, by their names in the form."""
        return {}

    def check(self) -> None:
        for letter, values in zip("ABC", self.fragments, strict=True):
            if not values:
                raise self.error(f"has no {letter} operands")
        words = self.words
        for name, word in zip(_TYPES, ("atype", "btype"), strict=True):
            if not words[word]:
                raise self.error(f"requires attribute '{name}', which the type of its operand does not say")
        if not rows_with(self.FORMS, {slot: words[slot] for slot in ("shape", "atype", "btype")}):
            m, n, k = self.shape.extents
            types = " and ".join(dict.fromkeys((words["atype"], words["btype"])))
            raise self.error(f"unimplemented variant for MMA shape <{m}, {n}, {k}> of {types}")
        template = self.template(words)
        form, slots = template.form, slots_of(template.form, template.present_words)
        assert isinstance(self.res.type, LLVMStructType)
        found = {letter: [value.type for value in values] for letter, values in zip("abc", self.fragments, strict=True)}
        for letter, types in (*found.items(), ("d", self.res.type.types.data)):
            subject = "types for the result" if letter == "d" else f"types for the {letter.upper()} operands"
            word, got = words[f"{letter}type"], ", ".join(map(str, types))
            if letter in "cd" and word not in _ACCUMULATORS:
                raise self.error(f"Could not match {subject}; expected elements f16, f32, s32 or f64 but got {got}")
            register, count = _REGISTERS.get(word, i32), form.operands[letter].registers(slots)
            if list(types) != [register] * count:
                raise self.error(f"Could not match {subject}; expected {count} of type {register} but got {got}")

    def lower(self) -> Lowering:
        a, b, c = map(Registers, self.fragments)
        return self.instruction(self.words, d=Registers([self.res]), a=a, b=b, c=c, **self.further_operands)


class _Matrices(Operation):
    """Base class with the operands A, B and C."""

    operandA = var_operand_def()
    operandB = var_operand_def()
    operandC = var_operand_def()


class _Metadata(Multiplication):
    """Multiplication with a sparse A. The selector names the lanes that contain the metadata of A."""

    orderedMetadata = opt_prop_def(UnitAttr)
    sparseMetadata = operand_def(i32)
    sparsitySelector = operand_def(i32)

    @property
    def words(self) -> dict[str, str]:
        return super().words | {"spvariant": "sp" if self.orderedMetadata is None else "sp::ordered_metadata"}

    @property
    def further_operands(self) -> dict[str, OperandTemplate]:
        return {"e": self.sparseMetadata, "f": self.sparsitySelector, **super().further_operands}


class _Scales(Multiplication):
    """Multiplication with block scales."""

    scaleAData = operand_def(i32)
    # Byte and thread indices select the scales in the registers of lanes.
    byteIdA = operand_def(i16)
    threadIdA = operand_def(i16)
    scaleBData = operand_def(i32)
    byteIdB = operand_def(i16)
    threadIdB = operand_def(i16)
    scaleVecSize = prop_def(ScaleVector)
    blockScaleFormat = prop_def(ScaleFormat)
    kind = prop_def(ScaleKind)

    @property
    def words(self) -> dict[str, str]:
        return super().words | {
            "kind": self.kind.word,
            "scale_vec": f"scale_vec::{self.scaleVecSize.data[1:]}X",
            "stype": self.blockScaleFormat.data,
        }

    @property
    def further_operands(self) -> dict[str, OperandTemplate]:
        return {
            "scale_a_data": self.scaleAData,
            "byte_id_a": Immediate(self.byteIdA),
            "thread_id_a": Immediate(self.threadIdA),
            "scale_b_data": self.scaleBData,
            "byte_id_b": Immediate(self.byteIdB),
            "thread_id_b": Immediate(self.threadIdB),
        }


class _Integers(Multiplication):
    """Integer multiplication that saturates or wraps around."""

    intOverflowBehavior = opt_prop_def(Overflow)

    def check(self) -> None:
        if self.words["atype"] in _NARROW_INTEGERS and self.intOverflowBehavior is None:
            raise self.error("requires 'intOverflowBehavior' attribute")
        super().check()


_NAMED_METADATA: dict[str, tuple[Attribute, ...]] = {"sparseMetadata": (i32,), "selector": (i32,)}
_NAMED_SCALES: dict[str, tuple[Attribute, ...]] = {"scaleA": (i32, i16, i16), "scaleB": (i32, i16, i16)}


@operation("nvvm.mma.sync", *MMA_DENSE)
class MmaSync(_Matrices, _Integers):
    """Multiplication of dense matrices."""

    b1Op = opt_prop_def(BitOperation)
    layoutA = prop_def(Layout)
    layoutB = prop_def(Layout)

    def check(self) -> None:
        a, layout_a, layout_b = self.words["atype"], self.layoutA.data, self.layoutB.data
        if a == "b1" and self.b1Op is None:
            raise self.error("requires 'b1Op' attribute")
        if a and a != "f16" and (layout_a, layout_b) != ("row", "col"):
            raise self.error(
                f"layouts of A and B are {layout_a} and {layout_b}; expected row and col, because the elements are {a}"
            )
        super().check()

    @property
    def words(self) -> dict[str, str]:
        words = super().words
        if words["atype"] == "f16":
            return words | {"alayout": self.layoutA.data, "blayout": self.layoutB.data}
        if words["atype"] == "b1" and self.b1Op is not None:
            return words | {"bitOp": self.b1Op.data.removesuffix("_popc")}
        return words | saturation_words(self.intOverflowBehavior)


@operation("nvvm.mma.sp.sync", *MMA_SPARSE)
class MmaSparse(_Matrices, _Metadata, _Integers):
    """Multiplication of a sparse A and a dense B. The registers of A contain half of its elements."""

    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = _NAMED_METADATA
    kind = opt_prop_def(MmaKind)

    @property
    def words(self) -> dict[str, str]:
        kind = {} if self.kind is None else {"kind": self.kind.word}
        return super().words | kind | saturation_words(self.intOverflowBehavior)


@operation("nvvm.mma.block_scale", *MMA_SCALED)
class MmaBlockScale(_Matrices, _Scales):
    """Multiplication of dense matrices with block scales."""

    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = _NAMED_SCALES


@operation("nvvm.mma.sp.block_scale", *MMA_SPARSE_SCALED)
class MmaSparseBlockScale(_Matrices, _Metadata, _Scales):
    """Multiplication of a sparse A and a dense B with block scales."""

    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = _NAMED_METADATA | _NAMED_SCALES
