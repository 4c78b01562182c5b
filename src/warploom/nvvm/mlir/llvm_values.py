"""Types and constants of MLIR as text of LLVM IR."""

import re
import struct
from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnregisteredAttr,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, parse_llvm_type
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_NAMED = {
    "f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double", "f128": "fp128", "index": "i64", "none": "void",
    "!llvm.void": "void",
}  # fmt: skip
_WORDS = {"undef": "undef", "poison": "poison", "zero": "zeroinitializer"}
_BYTE = re.compile(rb"[^ !#-\[\]-~]")


@irdl_attr_definition
class PackedStructType(ParametrizedAttribute, TypeAttribute):
    """Struct without padding."""

    name = "llvm.struct"
    types: ArrayAttr[Attribute]

    def print_parameters(self, printer: Printer) -> None:
        """Print the types in the syntax of MLIR."""
        with printer.in_angle_brackets():
            printer.print_string("packed ")
            with printer.in_parens():
                printer.print_list(self.types.data, printer.print_attribute)


class StructParser(ParametrizedAttribute):
    """Parser of struct types that accepts packed structs, which xDSL lacks."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Any:
        """Parse `<"name", packed (types)>`. Return the name, the types and, for a packed struct, "packed"."""
        parser.parse_characters("<")
        name = parser.parse_optional_str_literal()
        if name is not None:
            parser.parse_characters(",")
        packed = parser.parse_optional_keyword("packed")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_llvm_type(parser))
        parser.parse_characters(">")
        return (StringAttr(name or ""), ArrayAttr(types), *[packed] * bool(packed))

    @classmethod
    def new(cls, params: Sequence[Attribute]) -> Any:
        """Return an `LLVMStructType`, or a `PackedStructType` if `params` has three items."""
        return LLVMStructType.new(params) if len(params) == 2 else PackedStructType.new(params[1:2])


def type_word(name: str) -> str:
    """Return the LLVM name of a scalar MLIR type, such as "half" for "f16"."""
    return _NAMED.get(name, "ptr" if name.startswith("!llvm.ptr") else name)


def type_text(type: Attribute) -> str:
    """Return an LLVM type. Errors: VerifyException for a type that LLVM lacks."""
    match type:
        case IntegerType():
            return f"i{type.width.data}"
        case LLVMPointerType():
            space = type.addr_space.data if isinstance(type.addr_space, IntAttr) else 0
            return f"ptr addrspace({space})" if space else "ptr"
        case LLVMStructType() | PackedStructType():
            items = f"{{ {', '.join(map(type_text, type.types))} }}" if len(type.types) else "{}"
            return f"<{items}>" if isinstance(type, PackedStructType) else items
        case LLVMArrayType() if type.size.data >= 1 << 64:
            raise VerifyException(f"has an array of {type.size.data} elements; expected fewer than 2^64")
        case LLVMArrayType():
            return f"[{type.size.data} x {type_text(type.type)}]"
        case VectorType() if len(type.get_shape()) == 1:
            return f"<{type.get_shape()[0]} x {type_text(type.element_type)}>"
        case LLVMFunctionType():
            items = [*map(type_text, type.inputs), *["..."] * type.is_variadic]
            return f"{type_text(type.output)} ({', '.join(items)})"
        case ComplexType():
            return f"{{ {type_text(type.element_type)}, {type_text(type.element_type)} }}"
        case _ if (name := _NAMED.get(str(type))) is not None:
            return name
        case _ if str(type).startswith("f8"):
            return "i8"
        case _:
            raise VerifyException(f"LLVM has no type {type}")


def items_of(attribute: Attribute | None) -> Sequence[Attribute]:
    """Return the items of an array attribute. The result is empty for another attribute."""
    found: Any = attribute
    return found.data if isinstance(attribute, ArrayAttr) else ()


def numbers_of(attribute: Attribute | None) -> Sequence[int]:
    """Return the integers of an array or vector. The result is empty for another attribute."""
    found: Any = attribute.get_values() if isinstance(attribute, DenseArrayBase | DenseIntOrFPElementsAttr) else ()
    return [int(number) for number in found]


def constant_text(value: Attribute | None, type: Attribute) -> str:
    """Return a constant as text of LLVM IR without its type. Errors: VerifyException."""
    match value:
        case IntegerAttr() if str(type) == "i1":
            return "true" if value.value.data & 1 else "false"
        case IntegerAttr() if isinstance(type, IntegerType | IndexType):
            return str(value.value.data)
        case FloatAttr() if isinstance(type, AnyFloat):
            return float_text(value.value.data, type)
        case StringAttr() if isinstance(type, LLVMArrayType):
            return string_text(value.data)
        case SymbolRefAttr():
            return symbol_text(value.root_reference.data)
        case DenseIntOrFPElementsAttr():
            return _elements(value, type)
        case ArrayAttr():
            items = [
                f"{type_text(part)} {constant_text(item, part)}"
                for item, part in zip(value, parts_of(type, len(value)), strict=True)
            ]
            return bracketed(items, type)
        case UnregisteredAttr() if (word := _WORDS.get(value.attr_name.data.rpartition(".")[2])) is not None:
            return word
        case _:
            raise VerifyException(f"expected a constant of type {type}, got {value}")


def parts_of(type: Attribute, count: int) -> Sequence[Attribute]:
    """Return the element types of a struct, array or complex type, or `count` times another type.

    For a vector, `count` replaces its length. For an array, it does so unless it is 0.
    """
    found: Any = type
    match type:
        case LLVMStructType() | PackedStructType():
            return type.types.data
        case LLVMArrayType():
            return [type.type] * (count or type.size.data)
        case VectorType():
            return [found.element_type] * count
        case ComplexType():
            return [found.element_type] * 2
        case _:
            return [type] * count


def bracketed(items: Sequence[str], type: Attribute) -> str:
    """Return the constant of an aggregate type with the given elements."""
    first, last = (
        ("<", ">") if isinstance(type, VectorType) else ("[", "]") if isinstance(type, LLVMArrayType)
        else ("<{ ", " }>") if isinstance(type, PackedStructType) else ("{ ", " }")
    )  # fmt: skip
    return f"{first}{', '.join(items)}{last}"


def _elements(value: DenseIntOrFPElementsAttr, type: Attribute) -> str:
    """Return a dense constant of a vector, or of nested arrays."""
    data = value.data.data
    if data.count(0) == len(data):
        return "zeroinitializer"
    kind: Any = value.get_type()
    found: list[Any] = list(value.get_values())
    if len(found) == 1:
        found *= prod(kind.get_shape())

    def part(numbers: Sequence[Any], type: Any) -> str:
        if not isinstance(type, LLVMArrayType | VectorType):
            element = kind.element_type
            is_float = isinstance(element, AnyFloat)
            return float_text(numbers[0], type) if is_float else constant_text(IntegerAttr(numbers[0], element), type)
        inner = parts_of(type, 1)[0]  # pyright: ignore[reportUnknownArgumentType]
        count = type.size.data if isinstance(type, LLVMArrayType) else type.get_shape()[0]
        size = len(numbers) // count
        parts = [part(numbers[size * k : size * (k + 1)], inner) for k in range(count)]
        return bracketed([f"{type_text(inner)} {each}" for each in parts], type)  # pyright: ignore[reportUnknownArgumentType]

    return part(found, type)


def float_text(number: float, type: Attribute) -> str:
    """Return a floating-point constant in LLVM's hexadecimal notation."""
    if isinstance(type, BFloat16Type):
        return f"0xR{struct.unpack('<I', struct.pack('<f', number))[0] >> 16:04X}"
    match str(type):
        case "f16":
            return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
        case "f32":
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        case _:
            pass
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def string_text(text: str) -> str:
    """Return a string constant, such as `c"abc"`."""
    return f'c"{escaped(text)}"'


def escaped(text: str) -> str:
    """Return the bytes of a string with the escapes of LLVM."""
    return _BYTE.sub(lambda found: b"\\%02X" % ord(found[0]), text.encode()).decode()


def symbol_text(name: str) -> str:
    """Return the name of a function or variable."""
    return f"@{name}" if re.fullmatch(r"[A-Za-z$._-][\w$.-]*", name, re.ASCII) else f'@"{escaped(name)}"'
