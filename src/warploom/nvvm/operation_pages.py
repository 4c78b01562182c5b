"""Markdown pages about the operations of MLIR's nvvm dialect."""

import inspect
import re
from collections.abc import Iterable

from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import TypeAttribute
from xdsl.irdl import OptOperandDef, OptPropertyDef, OptResultDef, VarOperandDef
from xdsl.irdl.constraints import (
    AllOf,
    AnyOf,
    AttrConstraint,
    AttrSetConstraint,
    BaseAttr,
    EqAttrConstraint,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
)

from warploom.check.pages import table
from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.nvvm.dialect import OPERATIONS, Operation
from warploom.nvvm.dialect.attributes import EnumAttribute, ExtentsAttribute

_UNIT = "`unit`"
_ARGUMENTS = r"\(((?:[^()]|\([^()]*\))*)\)"
"""Regular expression for arguments in parentheses, as one group."""
_EMPTY = "This operation has no operands, properties or results.\n"
_LOWERED = (
    "An operation of MLIR's nvvm dialect. `warploom lower KERNEL.mlir` verifies the operation and translates it to PTX."
    " See `docs/nvvm/dialect`. In the syntax, `$name` is an operand or a property, `(…)?` is optional, and `attr-dict`"
    " is a dictionary of the other properties."
)


def operation_section(operation: type[Operation]) -> str:
    """Return the Markdown section of an operation: description, syntax, operands, properties, results."""
    described = " ".join((inspect.getdoc(operation) or "").split())
    rows = [list(row) for row in _rows(operation)]
    listed = table(["position", "name", "type or value", "note"], rows) if rows else _EMPTY
    return f"## {operation.name}\n\n{described}\n\n{_syntax(operation)}{listed}"


def _syntax(operation: type[Operation]) -> str:
    """Return the assembly format of an operation as a code block, or "" for a syntax without a format.

    Quotation marks stay only around parentheses, which otherwise enclose optional parts.
    """
    definition = operation.get_irdl_definition()
    if definition.assembly_format is None:
        return ""
    text = re.sub(rf"custom<OptionalTypes>{_ARGUMENTS}", r"(, \1)?", definition.assembly_format.replace("^", ""))
    text = re.sub(rf"custom<\w+>{_ARGUMENTS}", r"\1", text)
    text = re.sub(r"`([^`()]+)`|(`[()]`)", r"\1\2", text).replace(" ,", ",").replace("( ,", "(,")
    for name, given in definition.properties.items():
        if _words(given.constr) == _UNIT:  # only its keyword is written
            text = re.sub(rf" \${name}\b", "", text)
    results = "%result = " if definition.results else ""
    return f"```text\n{results}{operation.name} {' '.join(text.split())}\n```\n\n"


def operation_page(name: str) -> str:
    """Return the Markdown page of an operation, or of all operations in a group such as nvvm.wgmma.

    Errors: UsageError for an unknown operation.
    """
    named = [each for each in OPERATIONS if each.name == name]
    found = named or [each for each in OPERATIONS if each.name.startswith(f"{name}.")]
    if not found:
        hint = did_you_mean(name, [each.name for each in OPERATIONS])
        raise UsageError(f"unknown operation {name!r} of the nvvm dialect", hint=hint)
    sections = "\n".join(map(operation_section, found))
    return f"# {name}\n\n{_LOWERED}\n\n{sections}"


def _rows(operation: type[Operation]) -> Iterable[tuple[str, str, str, str]]:
    definition = operation.get_irdl_definition()
    for number, (name, operand) in enumerate(definition.operands):
        count = (
            "optional"
            if isinstance(operand, OptOperandDef)
            else "any number"
            if isinstance(operand, VarOperandDef)
            else ""
        )
        yield f"operand {number}", name, _types(operand.constr), count
    for name, given in definition.properties.items():
        if name == "operandSegmentSizes":
            continue
        note = "optional" if isinstance(given, OptPropertyDef) else ""
        if given.default_value is not None:
            note = f"default {_value(given.default_value)}"
        yield "property", name, _words(given.constr), note
    for number, (name, result) in enumerate(definition.results):
        note = "optional" if isinstance(result, OptResultDef) else ""
        yield f"result {number}", name.rstrip("_"), _types(result.constr), note


def _value(value: object) -> str:
    return f"`{value.data}`" if isinstance(value, EnumAttribute) else f"`{value}`"


def _types(allowed: RangeConstraint) -> str:
    within = allowed.constraint if isinstance(allowed, RangeLengthConstraint) else allowed
    return _constraint(within.constr) if isinstance(within, RangeOf) else "any"


def _words(constraint: AttrConstraint) -> str:
    bases = constraint.get_bases() or set()
    base = next(iter(bases)) if len(bases) == 1 else None
    if base is not None and issubclass(base, EnumAttribute):
        return ", ".join(f"`{word}`" for word in base.cases)
    if base is not None and issubclass(base, ExtentsAttribute):
        return f"`{base.name.removeprefix('nvvm.')}<{', '.join(base.FIELDS)}>`"
    return _constraint(constraint)


def _constraint(constraint: AttrConstraint) -> str:
    match constraint:
        case EqAttrConstraint():
            return f"`{constraint.attr}`"
        case AttrSetConstraint():
            return " or ".join(sorted(f"`{each}`" for each in constraint.values))
        case AllOf():
            return _constraint(constraint.attr_constrs[-1])
        case ParamAttrConstraint():
            return f"a constant of {_constraint(constraint.param_constrs[-1])}"
        case BaseAttr() if constraint.attr is LLVMPointerType:
            return "any pointer"
        case BaseAttr() if constraint.attr is UnitAttr:
            return _UNIT
        case BaseAttr():
            return f"`{'!' if issubclass(constraint.attr, TypeAttribute) else '#'}{constraint.attr.name}`"
        case AnyOf():
            return " or ".join(map(_constraint, constraint.attr_constrs))
        case _:
            return "any"
