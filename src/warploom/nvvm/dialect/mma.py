"""Warp-level multiplication: the operations whose names begin with nvvm.mma.

Their text is MLIR's own: `A[...] B[...] C[...]` and further operands by name, then the attributes, and one type
for each of A, B and C. What the operands are in PTX, and how many, is the Forms'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    UnitAttr,
    VectorType,
    i16,
    i32,
)
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from warploom.isa.binding.compose import form_that_allows, rows_with, slots_of
from warploom.nvvm.dialect.operation import SEGMENTED, Operation
from warploom.nvvm.dialect.pieces import Code, Constant, Fragment, Piece, Statement, registers_of
from warploom.nvvm.dialect.vocabulary import (
    BitOperation,
    Layout,
    MmaKind,
    MmaType,
    Overflow,
    ScaleFormat,
    ScaleKind,
    ScaleVector,
)
from warploom.nvvm.dialect.words import Shape

_TYPES = ("multiplicandAPtxType", "multiplicandBPtxType")
_SEGMENTS = "operandSegmentSizes"


def multiplied(type: Attribute) -> str:
    """The elements that a type says A or B has; "" where it does not."""
    match type:
        case VectorType() if isinstance(type.element_type, Float16Type):
            return "f16"
        case Float64Type():
            return "f64"
        case _:
            return ""


def accumulated(type: Attribute) -> str:
    """The elements of an accumulator, or of a result, of a type."""
    match type:
        case LLVMStructType() if type.types.data:
            return accumulated(type.types.data[0])
        case VectorType():
            element = type.element_type
            return "f16" if isinstance(element, Float16Type) else accumulated(element)
        case Float32Type():
            return "f32"
        case Float64Type():
            return "f64"
        case IntegerType():
            return "s32"
        case _:
            return str(type)


def segments(counts: Iterable[int]) -> dict[str, Attribute]:
    """The property that says how many operands each group has."""
    return {_SEGMENTS: DenseArrayBase.from_list(i32, list(counts))}


class Multiplication(Operation):
    """What the multiplications of a warp share: their text, and how their operands are verified."""

    irdl_options = SEGMENTED
    shape = prop_def(Shape)
    multiplicandAPtxType = opt_prop_def(MmaType)
    multiplicandBPtxType = opt_prop_def(MmaType)
    res = result_def(LLVMStructType)

    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = {}
    """The operands after C, by the name they stand under, and their types."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        lists = [cls._values_under(parser, name) for name in ("A", "B", "C", *cls.NAMED)]
        attributes = dict(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        at = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        if len(types) != len("ABC"):
            parser.raise_error(f"expected one type for each operand segment but got {len(types)} types", at)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        for name, each in zip(_TYPES, types[:2], strict=True):
            if name not in attributes and (word := multiplied(each)):
                attributes[name] = MmaType(word)
            if name not in attributes:
                parser.raise_error(
                    f"attribute {name} is not provided explicitly and cannot be inferred", start
                )
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
            operands=list(chain.from_iterable(operands)),
            result_types=[result],
            properties=properties,
            attributes=rest,
        )

    @staticmethod
    def _values_under(parser: Parser, name: str) -> list[UnresolvedOperand]:
        parser.parse_keyword(name)
        return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)

    def print(self, printer: Printer) -> None:
        values = list(self.operands)
        counts = [len(each) for each in self.fragments]
        names = {"A": counts[0], "B": counts[1], "C": counts[2]}
        names |= {name: len(types) for name, types in self.NAMED.items()}
        for name, count in names.items():
            printer.print_string(f" {name}")
            with printer.in_square_brackets():
                printer.print_list(values[:count], printer.print_ssa_value)
            values = values[count:]
        types = [each[0].type for each in self.fragments]
        inferred = {name for name, each in zip(_TYPES, types[:2], strict=True) if self._says(name, each)}
        printer.print_op_attributes(
            self.attributes | self.properties, reserved_attr_names={_SEGMENTS, *inferred}
        )
        printer.print_string(" : ")
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_attribute(self.res.type)

    def _says(self, name: str, type: Attribute) -> bool:
        """Whether the type of A or B says what its elements are."""
        word = self.properties.get(name)
        return isinstance(word, MmaType) and word.data == multiplied(type)

    # What a multiplication is -------------------------------------------------------------------------------

    @property
    def fragments(self) -> tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]]:
        """The operands A, B and C."""
        sizes = self.properties[_SEGMENTS]
        assert isinstance(sizes, DenseArrayBase)
        a, b, c = (int(size) for size in sizes.get_values()[:3])
        values = tuple(self.operands)
        return values[:a], values[a : a + b], values[a + b : a + b + c]

    @property
    def types(self) -> dict[str, str]:
        """The element types of D, A, B and C, by slot."""
        given = (self.multiplicandAPtxType, self.multiplicandBPtxType)
        a, b = (
            word.data if word is not None else multiplied(values[0].type) if values else ""
            for word, values in zip(given, self.fragments[:2], strict=True)
        )
        accumulator = self.fragments[2]
        c = accumulated(accumulator[0].type) if accumulator else ""
        return {"dtype": accumulated(self.res.type), "atype": a, "btype": b, "ctype": c}

    @property
    def words(self) -> dict[str, str]:
        """The words of the instruction, by slot."""
        return {"shape": str(self.shape), **self.types}

    @property
    def others(self) -> dict[str, Piece]:
        """The operands after C, by place."""
        return {}

    def check(self) -> None:
        words = self.words
        for name, word in zip(_TYPES, ("atype", "btype"), strict=True):
            if not words[word]:
                raise self.refuse(f"requires attribute '{name}', which the type of its operand does not say")
        if not rows_with(self.FORMS, {slot: words[slot] for slot in ("shape", "atype", "btype")}):
            m, n, k = self.shape.numbers
            types = " and ".join(dict.fromkeys((words["atype"], words["btype"])))
            raise self.refuse(f"unimplemented variant for MMA shape <{m}, {n}, {k}> of {types}")
        form = form_that_allows(self.FORMS, words)
        slots = slots_of(form, {slot: word for slot, word in words.items() if word})
        for letter, values in zip("abc", self.fragments, strict=True):
            expected = form.operands[letter].registers(slots)
            found = sum(len(registers_of(value.type)) for value in values)
            if found != expected:
                types = ", ".join(str(value.type) for value in values)
                raise self.refuse(
                    f"Could not match types for the {letter.upper()} operands; expected {expected} registers"
                    f" but got {found}: {types}"
                )
        expected, found = form.operands["d"].registers(slots), len(registers_of(self.res.type))
        if found != expected:
            raise self.refuse(
                f"Could not match allowed types for the result; expected {expected} registers but got {found}:"
                f" {self.res.type}"
            )

    def code(self) -> Code:
        operands: dict[str, Piece] = {"d": Fragment.of(self.res)}
        for letter, values in zip("abc", self.fragments, strict=True):
            operands[letter] = Fragment(tuple(values))
        return Code([Statement(self.FORMS, self.words, operands | self.others)])


@irdl_op_definition
class MmaSync(Multiplication):
    """Multiplies dense matrices."""

    name = "nvvm.mma.sync"
    FORMS: ClassVar[tuple[str, ...]] = ("mma.half", "mma.float", "mma.double", "mma.integer", "mma.bit")

    operandA = var_operand_def()
    operandB = var_operand_def()
    operandC = var_operand_def()
    b1Op = opt_prop_def(BitOperation)
    intOverflowBehavior = opt_prop_def(Overflow)
    layoutA = prop_def(Layout)
    layoutB = prop_def(Layout)

    def check(self) -> None:
        a = self.types["atype"]
        if a == "b1" and self.b1Op is None:
            raise self.refuse("requires 'b1Op' attribute")
        if a in _NARROW and self.intOverflowBehavior is None:
            raise self.refuse("requires 'intOverflowBehavior' attribute")
        if a != "f16" and (self.layoutA.data, self.layoutB.data) != ("row", "col"):
            raise self.refuse(
                f"has layouts {self.layoutA.data} and {self.layoutB.data}; A of {a} lies by rows and B by columns"
            )
        super().check()

    @property
    def words(self) -> dict[str, str]:
        words = super().words
        if words["atype"] == "f16":
            return words | {"alayout": self.layoutA.data, "blayout": self.layoutB.data}
        if words["atype"] == "b1" and self.b1Op is not None:
            return words | {"bitOp": self.b1Op.data.removesuffix("_popc")}
        return words | saturation(self.intOverflowBehavior)


_NARROW = ("s8", "u8", "s4", "u4")


def saturation(overflow: Overflow | None) -> dict[str, str]:
    """The word of integers that stop at the ends of their range."""
    return {"satfinite": "satfinite"} if overflow is not None and overflow.data == "satfinite" else {}


@irdl_op_definition
class MmaSparse(Multiplication):
    """Multiplies a sparse A, of which two elements of four are stored, and a dense B."""

    name = "nvvm.mma.sp.sync"
    FORMS: ClassVar[tuple[str, ...]] = ("sparse.float", "sparse.integer")
    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = {"sparseMetadata": (i32,), "selector": (i32,)}

    operandA = var_operand_def()
    operandB = var_operand_def()
    operandC = var_operand_def()
    intOverflowBehavior = opt_prop_def(Overflow)
    orderedMetadata = opt_prop_def(UnitAttr)
    kind = opt_prop_def(MmaKind)
    sparseMetadata = operand_def(i32)
    sparsitySelector = operand_def(i32)

    def check(self) -> None:
        if self.types["atype"] in _NARROW and self.intOverflowBehavior is None:
            raise self.refuse("requires 'intOverflowBehavior' attribute")
        super().check()

    @property
    def words(self) -> dict[str, str]:
        kind = {} if self.kind is None else {"kind": f"kind::{self.kind.data}"}
        variant = {"spvariant": sparse_variant(ordered=self.orderedMetadata is not None)}
        return super().words | variant | kind | saturation(self.intOverflowBehavior)

    @property
    def others(self) -> dict[str, Piece]:
        return {"e": self.sparseMetadata, "f": Constant(self.sparsitySelector)}


def sparse_variant(*, ordered: bool) -> str:
    """The word of a sparse multiplication."""
    return "sp::ordered_metadata" if ordered else "sp"


class Scaled(Multiplication):
    """What multiplications with block scales share."""

    scaleVecSize = prop_def(ScaleVector)
    blockScaleFormat = prop_def(ScaleFormat)
    kind = prop_def(ScaleKind)

    @property
    def words(self) -> dict[str, str]:
        return super().words | {
            "kind": f"kind::{self.kind.data}",
            "scale_vec": f"scale_vec::{self.scaleVecSize.data[1:]}X",
            "stype": self.blockScaleFormat.data,
        }


_SCALES: dict[str, tuple[Attribute, ...]] = {"scaleA": (i32, i16, i16), "scaleB": (i32, i16, i16)}


@irdl_op_definition
class MmaBlockScale(Scaled):
    """Multiplies dense matrices whose blocks have scales."""

    name = "nvvm.mma.block_scale"
    FORMS: ClassVar[tuple[str, ...]] = ("mma.scaled",)
    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = _SCALES

    operandA = var_operand_def()
    operandB = var_operand_def()
    operandC = var_operand_def()
    scaleAData = operand_def(i32)
    byteIdA = operand_def(i16)
    threadIdA = operand_def(i16)
    scaleBData = operand_def(i32)
    byteIdB = operand_def(i16)
    threadIdB = operand_def(i16)

    @property
    def others(self) -> dict[str, Piece]:
        return _scales(self)


@irdl_op_definition
class MmaSparseBlockScale(Scaled):
    """Multiplies a sparse A and a dense B whose blocks have scales."""

    name = "nvvm.mma.sp.block_scale"
    FORMS: ClassVar[tuple[str, ...]] = ("sparse.scaled",)
    NAMED: ClassVar[Mapping[str, tuple[Attribute, ...]]] = {
        "sparseMetadata": (i32,),
        "selector": (i32,),
        **_SCALES,
    }

    operandA = var_operand_def()
    operandB = var_operand_def()
    operandC = var_operand_def()
    orderedMetadata = opt_prop_def(UnitAttr)
    sparseMetadata = operand_def(i32)
    sparsitySelector = operand_def(i32)
    scaleAData = operand_def(i32)
    byteIdA = operand_def(i16)
    threadIdA = operand_def(i16)
    scaleBData = operand_def(i32)
    byteIdB = operand_def(i16)
    threadIdB = operand_def(i16)

    @property
    def words(self) -> dict[str, str]:
        return super().words | {"spvariant": sparse_variant(ordered=self.orderedMetadata is not None)}

    @property
    def others(self) -> dict[str, Piece]:
        return {"e": self.sparseMetadata, "f": Constant(self.sparsitySelector), **_scales(self)}


def _scales(operation: MmaBlockScale | MmaSparseBlockScale) -> dict[str, Piece]:
    return {
        "scale_a_data": operation.scaleAData,
        "byte_id_a": Constant(operation.byteIdA),
        "thread_id_a": Constant(operation.threadIdA),
        "scale_b_data": operation.scaleBData,
        "byte_id_b": Constant(operation.byteIdB),
        "thread_id_b": Constant(operation.threadIdB),
    }
