"""Signatures: the name, operands, properties and results of an operation in one line of text.

    nvvm.vote.sync(mask as membermask: i32, pred as a: i1, kind as mode: vote_sync_kind) -> res as d: i32|i1

`as` precedes the PTX name of a field if the MLIR name differs. `in` precedes the name of the modifier that states the
state space of a pointer. `?` marks an optional field, and `*` any number of values. ` = ` precedes the default of a
property.

A field is a property if its type is an attribute of the dialect, `unit`, `bool`, `int16`, `int32`, `int64`, or `format`
with alternatives. Other types are those of operands and results: `i32`, `f16x2` (a vector), `i32&i1` (a struct of two
elements), `ptr3` (a pointer to an address space), `any`, and `ptr`, `struct` and `vector` for every type of a kind.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    eq,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.constraints import AttrSetConstraint

from warploom.nvvm.dialect.attributes import ATTRIBUTES, EnumAttribute
from warploom.nvvm.dialect.types import pointer_to

FORMATS: Mapping[Attribute, str] = {
    Float8E4M3FNType(): "e4m3",
    Float8E5M2Type(): "e5m2",
    Float8E8M0FNUType(): "ue8m0",
    Float6E2M3FNType(): "e2m3",
    Float6E3M2FNType(): "e3m2",
    Float4E2M1FNType(): "e2m1",
}
"""PTX names of MLIR's types of 8 bits or fewer."""
_FLOATS: Mapping[str, Attribute] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}
_KINDS: Mapping[str, AttrConstraint] = {
    "any": AnyAttr(),
    "ptr": BaseAttr(LLVMPointerType),
    "struct": BaseAttr(LLVMStructType),
    "vector": BaseAttr(VectorType),
}
_OPERANDS = {"": operand_def, "?": opt_operand_def, "*": var_operand_def}
_RESULTS = {"": result_def, "?": opt_result_def, "*": var_result_def}
_SIGNATURE = re.compile(r"(?P<name>[\w.]+)(?:\((?P<fields>.*)\))?(?: -> (?P<results>.*))?")
_FIELD = re.compile(
    r"(?P<name>\w+)(?: as (?P<ptx>\w+))?(?: in (?P<space>\w+))?(?P<count>[?*]?)"
    r": (?P<type>[^=]+?)(?: = (?P<default>\w+))?"
)
SEGMENTED = (AttrSizedOperandSegments(as_property=True),)
"""`irdl_options` of an operation with several optional or variadic operands."""


@dataclass
class Signature:
    """Parts of a signature.

    `members` are the fields as members of an xDSL class. `ptx_names` maps MLIR names to PTX names. `spaces` maps the
    name of a state-space modifier to the MLIR name of the pointer in that space.
    """

    name: str
    members: dict[str, object] = field(default_factory=dict[str, object])
    ptx_names: dict[str, str] = field(default_factory=dict[str, str])
    spaces: dict[str, str] = field(default_factory=dict[str, str])


def read_signature(text: str) -> Signature:
    """Return the parts of a signature."""
    whole = _SIGNATURE.fullmatch(text)
    assert whole is not None, text
    signature = Signature(whole["name"])
    variadic = 0
    for definitions, part in ((_OPERANDS, whole["fields"]), (_RESULTS, whole["results"])):
        for each in part.split(", ") if part else ():
            found = _FIELD.fullmatch(each)
            assert found is not None, each
            name, count, kind, default = found.group("name", "count", "type", "default")
            if ptx_name := found["ptx"]:
                signature.ptx_names[name] = ptx_name
            if space := found["space"]:
                signature.spaces[space] = name
            if (allowed := _property(kind)) is None:
                signature.members[name] = definitions[count](_constraint(kind))
                variadic += definitions is _OPERANDS and count != ""
            elif count:
                signature.members[name] = opt_prop_def(allowed)
            else:
                given = None if default is None else _default(kind, default)
                signature.members[name] = prop_def(allowed, default_value=given)
    if variadic > 1:
        signature.members["irdl_options"] = SEGMENTED
    return signature


def _property(kind: str) -> AttrConstraint | None:
    """Return the constraint of a property, or None for the type of an operand or result."""
    if kind in ATTRIBUTES:
        return BaseAttr(ATTRIBUTES[kind])
    if kind == "unit":
        return BaseAttr(UnitAttr)
    if kind.startswith("format "):
        words = kind.removeprefix("format ").split("|")
        return AttrSetConstraint.get(*(each for each, word in FORMATS.items() if word in words))
    return IntegerAttr.constr(IntegerType(_width(kind))) if kind == "bool" or kind.startswith("int") else None


def _default(kind: str, text: str) -> Attribute:
    attribute = ATTRIBUTES.get(kind)
    if attribute is not None and issubclass(attribute, EnumAttribute):
        return attribute(text)
    return IntegerAttr(int(text), _width(kind))


def _width(kind: str) -> int:
    return 1 if kind == "bool" else int(kind.removeprefix("int"))


def _constraint(text: str) -> AttrConstraint:
    """Return the constraint for the types of a value. `|` separates alternatives."""
    alternatives = text.split("|")
    if not any(each in _KINDS for each in alternatives):
        return AttrSetConstraint.get(*map(_type, alternatives))
    constraint, *others = (_KINDS[each] if each in _KINDS else eq(_type(each)) for each in alternatives)
    for each in others:
        constraint |= each
    return constraint


def _type(text: str) -> Attribute:
    if "&" in text:
        return LLVMStructType.from_type_list([_type(each) for each in text.split("&")])
    if text in _FLOATS:
        return _FLOATS[text]
    element, _, count = text.partition("x")
    if count:
        return VectorType(_type(element), [int(count)])
    if text.startswith("ptr"):
        return pointer_to(int(text.removeprefix("ptr")))
    return IntegerType(int(text.removeprefix("i")))
