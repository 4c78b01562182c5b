"""Definitions of MLIR's nvvm operations, read from the JSON that llvm-tblgen prints for them.

    for definition in read(Path("nvvm.json")): print(definition.name, definition.attributes)

The JSON is the output of `llvm-tblgen --dump-json mlir/Dialect/LLVMIR/NVVMOps.td -I INCLUDE`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCALARS = ("i1", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "f64")
POINTERS = ("!llvm.ptr", *(f"!llvm.ptr<{space}>" for space in (1, 3, 4, 5, 6, 7)))
VECTORS = (
    "vector<2xf16>", "vector<2xbf16>", "vector<2xi8>", "vector<4xi8>", "vector<2xi16>", "vector<2xi32>",
    "vector<4xi32>", "vector<8xi32>", "vector<4xf32>",
)  # fmt: skip
STRUCTS = (
    "!llvm.struct<(i32, i32)>", "!llvm.struct<(i32, i1)>", "!llvm.struct<(f32, i1)>",
    "!llvm.struct<(i32, i32, i32, i32)>", "!llvm.struct<(f32, f32, f32, f32)>",
    "!llvm.struct<(vector<2xf16>, vector<2xf16>)>",
)  # fmt: skip
TYPES = (*SCALARS, *POINTERS, *VECTORS, *STRUCTS)
"""Types that are tried for every operand and result."""
INTEGERS = (-1, 0, 1, 2, 3, 4, 7, 8, 15, 16, 24, 32, 64, 127, 128, 232, 256, 300)
"""Values that are tried for every integer attribute."""
_ELEMENT_TYPES = (
    "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f8E4M3", "f8E3M4", "f16", "f32", "i8",
)  # fmt: skip
_EXTENTS = ((8, 8, 4), (8, 8, 16), (8, 8, 32), (8, 8, 128), (16, 8, 4), (16, 8, 8), (16, 8, 16), (16, 8, 32),
            (16, 8, 64), (16, 8, 128), (16, 8, 256), (64, 8, 16), (64, 256, 8), (64, 8, 32), (64, 12, 16))  # fmt: skip
_OTHERS: Mapping[str, Sequence[str]] = {
    "BoolAttr": ("false", "true"),
    "UnitAttr": ("unit",),
    "StrAttr": ('"/* {$r0} */"', '"/* {$w0} */"', '"/* {$rw0} */"', '""'),
    "TypeAttr": _ELEMENT_TYPES,
    "NVVM_MMAShapeAttr": tuple(f"#nvvm.shape<m = {m}, n = {n}, k = {k}>" for m, n, k in _EXTENTS),
    "LdStMatrixShapeAttr": tuple(
        f"#nvvm.ld_st_matrix_shape<m = {m}, n = {n}>" for m, n in ((8, 8), (8, 16), (16, 16), (16, 8), (32, 8))
    ),
    "LLVM_ConstantRangeAttr": tuple(
        f"#llvm.constant_range<{kind}, {lower}, {upper}>"
        for kind, lower, upper in (("i32", 0, 32), ("i32", 32, 32), ("i32", 5, 1), ("i64", 0, 32), ("i32", 0, 0))
    ),
}
"""Values of attributes that are neither enumerations nor integers."""


@dataclass(frozen=True)
class Value:
    """Operand or result: its name, the types that MLIR allows, and whether it is optional or variadic."""

    name: str
    types: Sequence[str]
    is_optional: bool
    is_variadic: bool


@dataclass(frozen=True)
class Definition:
    """Operands, results and attributes of an operation."""

    name: str
    operands: Sequence[Value]
    results: Sequence[Value]
    attributes: Mapping[str, Sequence[str]]  # values of each attribute
    optional: frozenset[str]  # names of the optional attributes
    has_segments: bool  # the attribute operandSegmentSizes states the number of values of each operand


def read(path: Path) -> list[Definition]:
    """Return the definitions of all operations of the nvvm dialect, in the order of their names."""
    records: dict[str, Any] = json.loads(path.read_text())
    every: list[dict[str, Any]] = [records[each] for each in records["!instanceof"]["Op"]]
    operations = [each for each in every if each["opDialect"]["def"] == "NVVM_Dialect"]
    return sorted((_definition(records, each) for each in operations), key=lambda each: each.name)


def _definition(records: Mapping[str, Any], record: Mapping[str, Any]) -> Definition:
    operands: list[Value] = []
    attributes: dict[str, Sequence[str]] = {}
    optional: set[str] = set()
    attribute_names = set(records["!instanceof"]["Attr"])
    for found, name in record["arguments"]["args"]:
        constraint = records[found["def"]]
        if found["def"] in attribute_names:
            attributes[name] = _values(records, constraint)
            if {"OptionalAttr", "DefaultValuedAttr", "UnitAttr"} & {*constraint["!superclasses"], found["def"]}:
                optional.add(name)
        else:
            operands.append(_value(name, constraint))
    results = [_value(name, records[found["def"]]) for found, name in record["results"]["args"]]
    traits = {each["def"] for each in record["traits"]}
    has_segments = "AttrSizedOperandSegments" in traits
    return Definition(f"nvvm.{record['opName']}", operands, results, attributes, frozenset(optional), has_segments)


def _value(name: str, constraint: Mapping[str, Any]) -> Value:
    classes = constraint["!superclasses"]
    types = tuple(dict.fromkeys(each for part in constraint["summary"].split(" or ") for each in _types(part)))
    return Value(name, types, "Optional" in classes, "Variadic" in classes)


_WORDS = (
    (r"(\d+)-bit signless integer", "i{}"),
    (r"(\d+)-bit float", "f{}"),
    (r"bfloat16 type", "bf16"),
    (r"LLVM pointer in address space (\d+)", "!llvm.ptr<{}>"),
)


def _types(summary: str) -> Sequence[str]:
    """Return the types that a phrase of a constraint's summary stands for."""
    if lengths := re.search(r"vector of (.*) values of length ([\d/]+)", summary):
        (element,) = _types(lengths[1])
        return [f"vector<{length}x{element}>" for length in lengths[2].split("/")]
    for phrase, pattern in _WORDS:
        if found := re.search(phrase, summary):
            return [pattern.format(*found.groups()).replace("ptr<0>", "ptr")]
    for word, types in (("pointer", POINTERS), ("struct", STRUCTS)):
        if word in summary:
            return types
    return TYPES


def _values(records: Mapping[str, Any], constraint: Mapping[str, Any]) -> Sequence[str]:
    """Return the values of an attribute that are tried."""
    while "enum" not in constraint and constraint.get("baseAttr"):
        constraint = records[constraint["baseAttr"]["def"]]
    if "enum" in constraint:
        cases = [records[each["def"]]["str"] for each in records[constraint["enum"]["def"]]["enumerants"]]
        mnemonic = constraint["mnemonic"]
        angles = "<" in constraint["assemblyFormat"]
        return [f"#nvvm.{mnemonic}<{case}>" if angles else f"#nvvm<{mnemonic} {case}>" for case in cases]
    if width := re.match(r"(\d+)-bit signless integer attribute", constraint["summary"]):
        if width[1] == "1":
            return _OTHERS["BoolAttr"]
        return [f"{number} : i{width[1]}" for number in INTEGERS]
    return _OTHERS[constraint["!name"]]
