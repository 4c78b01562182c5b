"""Warp-level multiplication: the operations whose names begin with nvvm.mma."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, VectorType, f16, f32, f64, i16, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from warploom.isa.binding.compose import rows_with, slots_of
from warploom.isa.model.form import Form
from warploom.nvvm.dialect.attributes import MmaType
from warploom.nvvm.dialect.lowering import Immediate, Lowering, OperandTemplate, Registers
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.forms import MMA_DENSE, MMA_SCALED, MMA_SPARSE, MMA_SPARSE_SCALED

_TYPES = ("multiplicandAPtxType", "multiplicandBPtxType")
_SEGMENTS = "operandSegmentSizes"
_NAMED_METADATA: Mapping[str, tuple[Attribute, ...]] = {"sparseMetadata": (i32,), "selector": (i32,)}
_NAMED_SCALES: Mapping[str, tuple[Attribute, ...]] = {"scaleA": (i32, i16, i16), "scaleB": (i32, i16, i16)}
"""Types of the operands after C, by the keyword that precedes the operands in the text."""
_INDICES = ("byteIdA", "threadIdA", "byteIdB", "threadIdB")
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


def saturation_words(op: Operation, name: str) -> dict[str, str]:
    """Return the modifier `.satfinite` by name if the property `name` is "satfinite", else no modifier."""
    return {"satfinite": "satfinite"} if op.has(name) and op.text(name) == "satfinite" else {}


class _Multiplication(Operation):
    """Base class of warp-level multiplications."""

    @classmethod
    def _named(cls) -> Mapping[str, tuple[Attribute, ...]]:
        fields = dict(cls.get_irdl_definition().operands)
        return {
            **(_NAMED_METADATA if "sparseMetadata" in fields else {}),
            **(_NAMED_SCALES if "scaleAData" in fields else {}),
        }

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        lists: list[list[UnresolvedOperand]] = []
        for name in ("A", "B", "C", *cls._named()):
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
        for each, named in zip(lists[3:], cls._named().values(), strict=True):
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
        counts |= {name: len(types) for name, types in self._named().items()}
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
        printer.print_attribute(self.value("res").type)

    # Instruction --------------------------------------------------------------------------------------------

    @property
    def fragments(self) -> Sequence[Sequence[SSAValue]]:
        """Operands A, B and C."""
        return [self.values(f"operand{letter}") for letter in "ABC"]

    @property
    def words(self) -> dict[str, str]:
        """Modifiers of the instruction by name."""
        result = self.value("res").type
        *inputs, accumulator = self.fragments
        a, b = (
            self.text(name) or (multiplicand_type(values[0].type) if values else "")
            for name, values in zip(_TYPES, inputs, strict=True)
        )
        c = accumulator_type(accumulator[0].type) if accumulator else ""
        words = {"shape": str(self.properties["shape"]), "dtype": accumulator_type(result)}
        words |= {"atype": a, "btype": b, "ctype": c}
        if self.has("sparseMetadata"):
            words["spvariant"] = "sp::ordered_metadata" if self.has("orderedMetadata") else "sp"
        if self.has("scaleVecSize"):
            words["scale_vec"] = f"scale_vec::{self.text('scaleVecSize')[1:]}X"
        if self.has("layoutA") and a == "f16":
            return words | {"alayout": self.text("layoutA"), "blayout": self.text("layoutB")}
        if self.has("b1Op") and a == "b1":
            return words | {"bitOp": self.text("b1Op").removesuffix("_popc")}
        return words | saturation_words(self, "intOverflowBehavior")

    def check(self) -> None:
        for letter, values in zip("ABC", self.fragments, strict=True):
            if not values:
                raise self.error(f"has no {letter} operands")
        words = self.words
        a = words["atype"]
        if self.has("layoutA"):
            self._check_dense(a)
        if a in _NARROW_INTEGERS and not self.has("intOverflowBehavior") and not self.has("scaleVecSize"):
            raise self.error("requires 'intOverflowBehavior' attribute")
        for name, word in zip(_TYPES, ("atype", "btype"), strict=True):
            if not words[word]:
                raise self.error(f"requires attribute '{name}', which the type of its operand does not say")
        if not rows_with(self.FORMS, {slot: words[slot] for slot in ("shape", "atype", "btype")}):
            shape = ", ".join(map(str, self.extents("shape")))
            types = " and ".join(dict.fromkeys((a, words["btype"])))
            raise self.error(f"unimplemented variant for MMA shape <{shape}> of {types}")
        template = self.template(words)
        form, slots = template.form, slots_of(template.form, template.present_words)
        result = self.value("res").type
        assert isinstance(result, LLVMStructType)
        found = {letter: [value.type for value in values] for letter, values in zip("abc", self.fragments, strict=True)}
        for letter, types in (*found.items(), ("d", result.types.data)):
            subject = "types for the result" if letter == "d" else f"types for the {letter.upper()} operands"
            word, got = words[f"{letter}type"], ", ".join(map(str, types))
            if letter in "cd" and word not in _ACCUMULATORS:
                raise self.error(f"Could not match {subject}; expected elements f16, f32, s32 or f64 but got {got}")
            register, count = _REGISTERS.get(word, i32), form.operands[letter].registers(slots)
            if list(types) != [register] * count:
                raise self.error(f"Could not match {subject}; expected {count} of type {register} but got {got}")

    def _check_dense(self, element: str) -> None:
        if element == "b1" and not self.has("b1Op"):
            raise self.error("requires 'b1Op' attribute")
        layouts = self.text("layoutA"), self.text("layoutB")
        if element and element != "f16" and layouts != ("row", "col"):
            found = f"layouts of A and B are {' and '.join(layouts)}"
            raise self.error(f"{found}; expected row and col, because the elements are {element}")

    def lower(self) -> Lowering:
        operands: dict[str, OperandTemplate] = dict(zip("abc", map(Registers, self.fragments), strict=True))
        if self.has("scaleAData"):
            operands |= {self.NAMES[name]: Immediate(self.value(name)) for name in _INDICES}
        return self.instruction(self.words, d=Registers([self.value("res")]), **operands)


_OPERANDS = "operandA*: any, operandB*: any, operandC*: any"
_PROPERTIES = "shape: shape, multiplicandAPtxType?: mma_type, multiplicandBPtxType?: mma_type"
_METADATA = "sparseMetadata as e: i32, sparsitySelector as f: i32"
"""Metadata of a sparse A. The selector names the lanes that contain the metadata."""
_SCALES = (
    "scaleAData as scale_a_data: i32, byteIdA as byte_id_a: i16, threadIdA as thread_id_a: i16,"
    " scaleBData as scale_b_data: i32, byteIdB as byte_id_b: i16, threadIdB as thread_id_b: i16,"
    " scaleVecSize: scale_vec_size, blockScaleFormat as stype: block_scale_format, kind: block_scale_kind"
)
"""Block scales. Byte and thread indices select the scales in the registers of lanes."""


def _multiplication(name: str, description: str, forms: Sequence[Form], *fields: str) -> type[Operation]:
    signature = f"nvvm.mma.{name}({', '.join((_OPERANDS, *fields, _PROPERTIES))}) -> res: struct"
    return operation(signature, description, *forms, syntax=None, base=_Multiplication)


MmaSync = _multiplication(
    "sync",
    "Multiplication of dense matrices.",
    MMA_DENSE,
    "b1Op?: mma_b1op, layoutA: mma_layout, layoutB: mma_layout, intOverflowBehavior?: mma_int_overflow",
)
MmaSparse = _multiplication(
    "sp.sync",
    "Multiplication of a sparse A and a dense B. The registers of A contain half of its elements.",
    MMA_SPARSE,
    f"{_METADATA}, kind?: mma_kind, orderedMetadata?: unit, intOverflowBehavior?: mma_int_overflow",
)
MmaBlockScale = _multiplication(
    "block_scale", "Multiplication of dense matrices with block scales.", MMA_SCALED, _SCALES
)
MmaSparseBlockScale = _multiplication(
    "sp.block_scale",
    "Multiplication of a sparse A and a dense B with block scales.",
    MMA_SPARSE_SCALED,
    f"{_METADATA}, orderedMetadata?: unit, {_SCALES}",
)
