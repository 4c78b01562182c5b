"""Syntax of the llvm dialect of MLIR 22 for operations that xDSL lacks or parses in part.

The operations have no verifier: LLVM verifies their translation. They are printed in MLIR's generic syntax, with MLIR's
names of properties.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnregisteredAttr,
    VectorType,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute, Operation, OpTraits, Region
from xdsl.parser import Parser
from xdsl.traits import IsTerminator, NoTerminator, SymbolTable

from warploom.nvvm.mlir.llvm_formats import (
    ATOMICS,
    COMDATS,
    COMPARISONS,
    CONVENTIONS,
    DYNAMIC,
    FORMATS,
    INTEGER_COMPARISONS,
    LINKAGES,
    ORDERINGS,
    WRAPS,
)
from warploom.nvvm.mlir.llvm_values import PackedStructType, numbers_of


class LlvmOperation(Operation):
    """Operation of the llvm dialect without a verifier."""

    traits = OpTraits(lambda: ())

    @classmethod
    def parse(cls, parser: Parser) -> LlvmOperation:
        """Parse the custom syntax of MLIR."""
        parts = _Parts(parser)
        for word in FORMATS.get(cls.name, ["@intrinsic", "{}"]):
            parts.parse(word)
        operands = parser.resolve_operands(parts.names, parts.types, parser.pos)
        return cls.create(
            operands=[*operands[1::-1], *operands[2:]] if cls.name.startswith("llvm.insert") else operands,
            result_types=parts.results,
            properties=parts.properties,
            attributes=parts.attributes,
            successors=parts.successors,
            regions=parts.regions,
        )


@cache
def operation_class(name: str) -> type[LlvmOperation]:
    """Return the class of an operation, such as `llvm.add`."""
    traits: dict[str, OpTraits] = {}
    if name in {"llvm.br", "llvm.cond_br", "llvm.switch", "gpu.return"}:
        traits["traits"] = OpTraits(lambda: (IsTerminator(),))
    elif name in {"gpu.module", "llvm.comdat"}:
        traits["traits"] = OpTraits(lambda: (NoTerminator(), SymbolTable()))
    return type(name, (LlvmOperation,), {"name": name, **traits})


_SYMBOL_WORDS = {
    "visibility_": ("", "hidden", "protected"),
    "thread_local_": ("thread_local",),
    "unnamed_addr": ("", "local_unnamed_addr", "unnamed_addr"),
    "constant": ("constant",),
}
"""Keywords before the name of a variable or function, by property."""


def _unregistered(name: str, words: str, *, is_opaque: bool = False) -> Attribute:
    """Return an attribute such as `#llvm.cconv<fastcc>`, or the opaque `#gpu<dim x>`, as MLIR prints it."""
    return UnregisteredAttr.with_name_and_type(name, is_type=False)(name, False, is_opaque, words)


class _Parts:
    """Parser state of one operation.

    `FORMATS` names the methods. Each method parses one part of the text and adds it to `types`, `results`, `properties`
    and the other lists.
    """

    def __init__(self, parser: Parser) -> None:
        self.parser: Any = parser  # the methods of xDSL's parser accept only literal punctuation
        self.names: list[Any] = []
        self.types: list[Attribute] = []
        self.results: list[Attribute] = []
        self.properties: dict[str, Attribute] = {}
        self.attributes: dict[str, Attribute] = {}
        self.successors: list[Any] = []
        self.regions: list[Region] = []
        self._arguments: list[Any] = []
        self.counts: list[int] = []  # numbers of arguments of the successors

    def parse(self, word: str) -> None:
        """Parse one element of a format."""
        parser = self.parser
        if word[0] == "@":
            method, *arguments = word[1:].split(":")
            getattr(self, method)(*arguments)
        elif word[0] == "?":
            keyword, _, name = word[1:].partition(":")
            if parser.parse_optional_keyword(keyword) is not None:
                self.properties[name] = UnitAttr()
        elif word[0] == "'":
            parser.parse_keyword(word[1:])
        elif word == "%":
            self.names.append(parser.parse_unresolved_operand())
        elif word == "{}":
            for name, value in parser.parse_optional_attr_dict().items():
                (self.attributes if "." in name else self.properties)[name] = value
        elif re.fullmatch("[rt]+", word):
            found = parser.parse_type()
            self.results += [found] * word.count("r")
            self.types += [found] * word.count("t")
        else:
            parser.parse_punctuation(word)

    def _choice(self, name: str, words: Sequence[str], word: str | None) -> None:
        if not word or word not in words:
            self.parser.raise_error(f"expected {name} to be one of {', '.join(filter(None, words))}")
        self.properties[name] = IntegerAttr(words.index(word), i64)

    def ordering(self, name: str) -> None:
        self._choice(name, ORDERINGS, self.parser.parse_optional_identifier())

    def atomicrmw(self, name: str) -> None:
        self._choice(name, ATOMICS, self.parser.parse_optional_identifier())

    def comparison(self) -> None:
        self._choice("predicate", COMPARISONS, self.parser.parse_optional_str_literal())

    def integer_comparison(self) -> None:
        self._choice("predicate", INTEGER_COMPARISONS, self.parser.parse_optional_str_literal())

    def scope(self) -> None:
        if self.parser.parse_optional_keyword("syncscope") is not None:
            self.parser.parse_punctuation("(")
            self.properties["syncscope"] = StringAttr(self.parser.parse_str_literal())
            self.parser.parse_punctuation(")")

    def atomic(self) -> None:
        if self.parser.parse_optional_keyword("atomic") is not None:
            self.scope()
            self.ordering("ordering")

    def overflow(self) -> None:
        if self.parser.parse_optional_keyword("overflow") is not None:
            parse = self.parser.parse_identifier
            words = self.parser.parse_comma_separated_list(Parser.Delimiter.ANGLE, parse)
            self.properties["overflowFlags"] = _unregistered("llvm.overflow", ", ".join(words))

    def selector(self) -> None:
        self._choice("comdat", COMDATS, self.parser.parse_optional_identifier())

    def gpu_word(self, name: str, kind: str) -> None:
        words = f" {self.parser.parse_identifier()}"
        self.properties[name] = _unregistered(f"gpu.{kind}", words, is_opaque=True)

    def bound(self) -> None:
        if self.parser.parse_optional_keyword("upper_bound") is not None:
            self.properties["upper_bound"] = IntegerAttr(self.parser.parse_integer(), i64)

    def index(self) -> None:
        self.results = [IndexType()]
        if self.parser.parse_optional_punctuation(":") is not None:
            self.parser.parse_type()

    def returned(self) -> None:
        none = Parser.Delimiter.NONE
        names = self.parser.parse_optional_undelimited_comma_separated_list(
            self.parser.parse_optional_unresolved_operand, self.parser.parse_unresolved_operand
        )
        if names:
            self.names = names
            self.parser.parse_punctuation(":")
            self.types = self.parser.parse_comma_separated_list(none, self.parser.parse_type)

    def shuffled_values(self) -> None:
        kind = self.parser.parse_type()
        self.types, self.results = [kind, i32, i32], [kind, i1]

    def type(self, name: str) -> None:
        self.properties[name] = self.parser.parse_type()

    def assembly(self) -> None:
        """Parse the kind of tail call, the dialect and the attributes of the operands."""
        parser, found = self.parser, self.properties
        for name in ("tail_call_kind", "asm_dialect", "operand_attrs"):
            if parser.parse_optional_keyword(name) is not None:
                self.parse("=")
                if name == "operand_attrs":
                    found[name] = parser.parse_attribute()
                elif name == "asm_dialect":
                    found[name] = IntegerAttr(("att", "intel").index(parser.parse_identifier()), i64)
                else:
                    self.parse("<")
                    found[name] = _unregistered("llvm.tailcallkind", parser.parse_identifier())
                    self.parse(">")

    def operands(self) -> None:
        self.names += (
            self.parser.parse_optional_undelimited_comma_separated_list(
                self.parser.parse_optional_unresolved_operand, self.parser.parse_unresolved_operand
            )
            or ()
        )

    def function(self) -> None:
        found = self.parser.parse_function_type()
        self.types += found.inputs.data
        self.results += [each for each in found.outputs.data if not isinstance(each, LLVMVoidType)]

    def wraps(self) -> None:
        flags = 0
        while (word := self.parser.parse_optional_keyword_in(WRAPS)) is not None:
            flags |= WRAPS[word]
            self.parser.parse_optional_punctuation("|")
        self.properties["noWrapFlags"] = IntegerAttr(flags, i32)

    def indices(self) -> None:
        def index() -> int:
            if (name := self.parser.parse_optional_unresolved_operand()) is None:
                return self.parser.parse_integer()
            self.names.append(name)
            return DYNAMIC

        found = self.parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, index)
        self.properties["rawConstantIndices"] = DenseArrayBase.from_list(i32, found)

    def callee(self) -> None:
        parser = self.parser
        if (convention := parser.parse_optional_keyword_in(CONVENTIONS)) is not None:
            self.properties["CConv"] = _unregistered("llvm.cconv", convention)
        if (kind := parser.parse_optional_keyword_in(("tail", "musttail", "notail"))) is not None:
            self.properties["TailCallKind"] = _unregistered("llvm.tailcallkind", kind)
        if (symbol := parser.parse_optional_symbol_name()) is not None:
            self.properties["callee"] = SymbolRefAttr(symbol)
        else:
            self.parse("%")
        self.arguments()
        if parser.parse_optional_keyword("vararg") is not None:
            parser.parse_punctuation("(")
            self.type("var_callee_type")
            parser.parse_punctuation(")")

    def called(self) -> None:
        """Parse the type of a call: inputs and results may have attributes."""
        parser = self.parser
        if not {"callee", "intrin"} & self.properties.keys():
            self.parse("t")
            parser.parse_punctuation(",")
        inputs = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, self._typed)
        parser.parse_punctuation("->")
        outputs = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, self._typed)
        if outputs is None:
            outputs = [(parser.parse_type(), DictionaryAttr({}))]
        self.types += [*(each for each, _ in inputs), *self._bundled]
        self.results += [each for each, _ in outputs if not isinstance(each, LLVMVoidType)]
        self._keep_attributes(inputs, outputs)

    def _typed(self) -> tuple[Attribute, DictionaryAttr]:
        return self.parser.parse_type(), DictionaryAttr(self.parser.parse_optional_attr_dict())

    def _keep_attributes(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Set the attributes of parameters and results, if one has any."""
        for name, items in (("arg_attrs", inputs), ("res_attrs", outputs)):
            if any(attributes.data for _, attributes in items):
                self.properties[name] = ArrayAttr([attributes for _, attributes in items])

    def compared(self) -> None:
        self.parse("tt")
        operand = self.types[0]
        self.results = [VectorType(i1, operand.get_shape()) if isinstance(operand, VectorType) else i1]

    def weights(self) -> None:
        self.types = [i1]
        if self.parser.parse_optional_keyword("weights") is not None:
            self.parser.parse_punctuation("(")
            parse = self.parser.parse_integer
            found = self.parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parse)
            self.properties["branch_weights"] = DenseArrayBase.from_list(i32, found)
            self.parser.parse_punctuation(")")

    def successor(self) -> None:
        parser, none = self.parser, Parser.Delimiter.NONE
        self.successors.append(parser.parse_successor())
        names: list[Any] = []
        if parser.parse_optional_punctuation("(") is not None:
            names = parser.parse_comma_separated_list(none, parser.parse_unresolved_operand)
            parser.parse_punctuation(":")
            self.names += names
            self.types += parser.parse_comma_separated_list(none, parser.parse_type)
            parser.parse_punctuation(")")
        self.counts.append(len(names))

    def branches(self) -> None:
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [1, *self.counts])

    def cases(self) -> None:
        def case() -> int:
            number = self.parser.parse_integer()
            self.parser.parse_punctuation(":")
            self.successor()
            return number

        values = self.parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, case)
        default, *counts = self.counts
        if values:
            kind: Any = VectorType(self.types[0], [len(values)])
            self.properties["case_values"] = DenseIntOrFPElementsAttr.from_list(kind, values)
        self.properties["case_operand_segments"] = DenseArrayBase.from_list(i32, counts)
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [1, default, sum(counts)])

    def exchanged(self) -> None:
        self.parse("tt")
        self.results = [LLVMStructType.from_type_list([self.types[-1], i1])]

    def position(self) -> None:
        self._position = self.parser.parse_type()

    def _vector(self) -> tuple[Attribute, Attribute]:
        """Parse a vector type. Return it and its element type."""
        found: Any = self.parser.parse_type()
        if not isinstance(found, VectorType):
            self.parser.raise_error(f"expected a vector, got {found}")
        return found, found.element_type  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def extracted(self) -> None:
        vector, element = self._vector()
        self.types, self.results = [vector, self._position], [element]

    def inserted(self) -> None:
        vector, element = self._vector()
        self.types, self.results = [element, vector, self._position], [vector]

    def positions(self) -> None:
        found = self.parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, self.parser.parse_integer)
        self.properties["position"] = DenseArrayBase.from_list(i64, found)

    def element(self) -> None:
        """Parse an aggregate type, and derive the type of the element from the position."""
        container = part = self.parser.parse_type()
        for number in numbers_of(self.properties["position"]):
            match part:
                case LLVMArrayType():
                    part = part.type
                case LLVMStructType() | PackedStructType() if number < len(part.types):
                    part = part.types.data[number]
                case _:
                    self.parser.raise_error(f"{part} has no element {number}")
        is_read = len(self.names) == 1
        self.types, self.results = ([container], [part]) if is_read else ([part, container], [container])

    def mask(self) -> None:
        found = self.parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, self.parser.parse_integer)
        self.properties["mask"] = DenseArrayBase.from_list(i32, found)
        self._count = len(found)

    def shuffled(self) -> None:
        vector, element = self._vector()
        self.types, self.results = [vector, vector], [VectorType(element, [self._count])]

    def attribute(self, name: str) -> None:
        self.properties[name] = self.parser.parse_attribute()

    def probability(self) -> None:
        self.properties["prob"] = FloatAttr(float(self.parser.parse_number()), f64)

    def string(self, name: str) -> None:
        self.properties[name] = StringAttr(self.parser.parse_str_literal())

    def name(self) -> None:
        self.properties["sym_name"] = StringAttr(self.parser.parse_symbol_name().data)

    def dereferenceable(self) -> None:
        if self.parser.parse_optional_keyword("dereferenceable") is not None:
            for word in ("<", "'bytes", "="):
                self.parse(word)
            words = f"bytes = {self.parser.parse_integer()}"
            if self.parser.parse_optional_punctuation(",") is not None:
                self.parser.parse_keyword("mayBeNull")
                self.parse("=")
                words += ", mayBeNull = true" * self.parser.parse_boolean()
            self.parse(">")
            self.properties["dereferenceable"] = _unregistered("llvm.dereferenceable", words)

    def condition(self) -> None:
        self.parse("t")
        self.types += self._bundled
        del self.properties["operandSegmentSizes"]

    def arguments(self) -> None:
        parse = self.parser.parse_unresolved_operand
        self.names += self.parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parse)

    def bundles(self) -> None:
        """Parse operand bundles, whose operands follow those of the call."""
        parser, tags, sizes = self.parser, list[Attribute](), list[int]()

        def bundle() -> None:
            tags.append(StringAttr(parser.parse_str_literal()))
            parser.parse_punctuation("(")
            before = len(self.names)
            if parser.parse_optional_punctuation(")") is None:
                none = Parser.Delimiter.NONE
                self.names += parser.parse_comma_separated_list(none, parser.parse_unresolved_operand)
                parser.parse_punctuation(":")
                self._bundled += parser.parse_comma_separated_list(none, parser.parse_type)
                parser.parse_punctuation(")")
            sizes.append(len(self.names) - before)

        self._bundled: list[Attribute] = []
        if parser.parse_optional_comma_separated_list(Parser.Delimiter.SQUARE, bundle):
            self.properties["op_bundle_tags"] = ArrayAttr(tags)
        segments = [len(self.names) - sum(sizes), sum(sizes)]
        self.properties["op_bundle_sizes"] = DenseArrayBase.from_list(i32, sizes)
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, segments)

    def symbol(self) -> None:
        """Parse the keywords before the name of a variable or function, and the name."""
        parser, found = self.parser, self.properties
        linkage = parser.parse_optional_keyword_in(LINKAGES) or "external"
        found["linkage"] = llvm.LinkageAttr(linkage)
        for name, words in _SYMBOL_WORDS.items():
            if (word := parser.parse_optional_keyword_in([word for word in words if word])) is not None:
                found[name] = IntegerAttr(words.index(word), i64) if len(words) > 1 else UnitAttr()
        if (convention := parser.parse_optional_keyword_in(CONVENTIONS)) is not None:
            found["CConv"] = _unregistered("llvm.cconv", convention)
        self.name()

    def variable(self) -> None:
        parser, found = self.parser, self.properties
        self.symbol()
        parser.parse_punctuation("(")
        if parser.parse_optional_punctuation(")") is None:
            found["value"] = parser.parse_attribute()
            parser.parse_punctuation(")")
        self.comdat()

    def comdat(self) -> None:
        if self.parser.parse_optional_keyword("comdat") is not None:
            self.parser.parse_punctuation("(")
            self.properties["comdat"] = self.parser.parse_attribute()
            self.parser.parse_punctuation(")")

    def variable_type(self) -> None:
        value = self.properties.get("value")
        if self.parser.parse_optional_punctuation(":") is not None:
            self.type("global_type")
        elif isinstance(value, StringAttr):
            self.properties["global_type"] = LLVMArrayType(len(value.data.encode()), i8)
        else:
            self.parser.raise_error("expected the type of the variable after ':'")
        region = self.parser.parse_optional_region()
        self.regions = [Region() if region is None else region]

    def module(self) -> None:
        parser = self.parser
        self.name()
        if targets := parser.parse_optional_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_attribute):
            self.properties["targets"] = ArrayAttr(targets)

    def signature(self) -> None:
        """Parse the parameters and the result of a function."""
        parser = self.parser
        self._arguments = []
        is_variadic = False

        def parameter() -> tuple[Attribute, DictionaryAttr] | None:
            nonlocal is_variadic
            if parser.parse_optional_characters("...") is not None:
                is_variadic = True
                return None
            if (argument := parser.parse_optional_argument()) is not None:
                self._arguments.append(argument)
            kind = parser.parse_type() if argument is None else argument.type
            return kind, DictionaryAttr(parser.parse_optional_attr_dict())

        found: list[Any] = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parameter)
        inputs: list[Any] = [each for each in found if each is not None]
        outputs: list[tuple[Attribute, DictionaryAttr]] = []
        if parser.parse_optional_punctuation("->") is not None:
            outputs = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, self._typed)
            outputs = outputs or [(parser.parse_type(), DictionaryAttr({}))]
        result = outputs[0][0] if outputs else LLVMVoidType()
        types: list[Attribute] = [each for each, _ in inputs]
        self.properties["function_type"] = LLVMFunctionType(types, result, is_variadic)
        self._keep_attributes(inputs, outputs)

    def gpu_function(self) -> None:
        """Set the type of `gpu.func`, which is not that of `llvm.func`, and its attributes."""
        found: Any = self.properties["function_type"]
        outputs = [] if isinstance(found.output, LLVMVoidType) else [found.output]
        self.properties["function_type"] = FunctionType.from_lists(found.inputs.data, outputs)
        moved = {"sym_name", "gpu.kernel"} & self.properties.keys()
        self.attributes |= {name: self.properties.pop(name) for name in sorted(moved)}

    def function_attributes(self) -> None:
        if self.parser.parse_optional_keyword("vscale_range") is not None:
            parse = self.parser.parse_integer
            first, last = self.parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parse)
            words = f"minRange = {first} : i32, maxRange = {last} : i32"
            self.properties["vscale_range"] = _unregistered("llvm.vscale_range", words)
        self.comdat()
        if self.parser.parse_optional_keyword("attributes") is not None:
            self.parse("{}")

    def body(self) -> None:
        self.regions = [self.parser.parse_optional_region(self._arguments or None) or Region()]

    def intrinsic(self) -> None:
        """Parse `llvm.intr.*`: operands, and a function type or the types of the operands."""
        parser = self.parser
        parse = parser.parse_unresolved_operand
        names = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parse)
        if names is None:
            self.operands()
        else:
            self.names += names
        self.parse("{}")
        parser.parse_punctuation(":")
        found = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
        self.types += found[0].inputs if isinstance(found[0], FunctionType) else found
        self.results += found[0].outputs if isinstance(found[0], FunctionType) else ()
