"""Pages of `docs/nvvm/dialect`, generated from the operations of the dialect."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

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

from warploom.nvvm.dialect import FAMILIES, Operation, operations_of
from warploom.nvvm.dialect.attributes import EnumAttribute, ExtentsAttribute
from warploom_lab.pages.tables import markdown
from warploom_lab.pages.wgmma_text import TABLES

_FOLDER = "nvvm/dialect"


def pages() -> dict[str, str]:
    """Return every page in Markdown, by its path in `docs`."""
    found = {f"{_FOLDER}/{name}.md": _family(name) for name in FAMILIES}
    found[f"{_FOLDER}/wgmma-text.md"] = _corrections()
    found[f"{_FOLDER}/raising.md"] = _raising()
    found[f"{_FOLDER}/README.md"] = _index()
    return found


def _index() -> str:
    lines = [
        "# The nvvm dialect",
        "",
        "`warploom lower KERNEL.mlir` verifies a file with operations of MLIR 22's nvvm dialect and lowers it to PTX.",
        "These pages list the supported operations.",
        "",
    ]
    lines += [f"- [{name}]({name}.md): {_summary(family)}" for name, family in FAMILIES.items()]
    lines += [
        "- [wgmma-text](wgmma-text.md): Corrections of a reference text on the wgmma operations.",
        "- [raising](raising.md): Translation of PTX to these operations, and operations that have the same PTX.",
    ]
    return "\n".join(lines) + "\n"


def _summary(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def _family(name: str) -> str:
    lines = [f"# {name}", "", _summary(FAMILIES[name]), ""]
    for operation in operations_of(FAMILIES[name]):
        lines += _operation(operation)
    return "\n".join(lines).rstrip() + "\n"


def _operation(operation: type[Operation]) -> list[str]:
    lines = [f"## {operation.name}", "", " ".join((inspect.getdoc(operation) or "").split()), ""]
    if rows := list(_rows(operation)):
        lines += markdown(("position", "name", "type or words", ""), rows)
    else:
        lines += ["No operands, no properties, no result.", ""]
    return lines


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
    (base,) = constraint.get_bases() or {None}
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
        case BaseAttr():
            return f"`!{constraint.attr.name}`"
        case AnyOf():
            return " or ".join(map(_constraint, constraint.attr_constrs))
        case _:
            return "any"


def _corrections() -> str:
    lines = [
        "# Reference text on wgmma",
        "",
        "A reference text describes the wgmma operations of the nvvm dialect. These tables compare its statements with",
        "the dialect of MLIR 22 and with ptxas.",
        "",
    ]
    for table in TABLES:
        rows = [(row.subject, row.statement, row.correction or "the same", row.evidence) for row in table.rows]
        lines += [f"## {table.title}", "", *markdown(("", "the text", "correct", "known from"), rows)]
    return "\n".join(lines).rstrip() + "\n"


# Raising ----------------------------------------------------------------------------------------------------

_RAISING = """\
# Raise PTX to operations

`warploom lower KERNEL.ptx --to nvvm` prints the tensor-core instructions of each kernel as operations of the nvvm
dialect. Each instruction becomes the operation that lowers to it.

- The operations have the order of the instructions. The output has no control flow: labels and branches are left out.
- An instruction to which no operation lowers is left out. Each of its results becomes an argument of the function, with
  a new argument after each write. The addresses of variables become arguments too.
- A register that is set to a constant becomes the constant, also after a label if nothing else writes the register.
- Some instructions of the dialect's families have no operation. They become `nvvm.inline_ptx` with the values that they
  read, change and write. Examples are predicated instructions without a predicated operation, `nvvm.wgmma.mma_async`
  with a computed scale of the accumulator, sparse multiplications of warpgroups, bulk reductions, and mbarriers at
  generic addresses.
- The output lowers to the same instructions of these families in the same order. Synonyms count as equal:
  `shared::cta` and `shared`, `tile` and no modifier, the default memory order and no order.

## Operations with the same PTX

If the PTX was lowered from operations, raising restores these operations with their attributes and operands. The
following operations are exceptions:
"""
_ARRIVALS = (
    "nvvm.mbarrier.arrive",
    "nvvm.mbarrier.arrive_drop",
    "nvvm.mbarrier.arrive.expect_tx",
    "nvvm.mbarrier.arrive_drop.expect_tx",
)
ALIASES = (
    (
        ("nvvm.wgmma.mma_async",),
        "`satfinite` that is `wrapped`",
        "an operation without `satfinite`",
        "PTX has no word for wrapping",
    ),
    (
        (*_ARRIVALS, "nvvm.mbarrier.test.wait", "nvvm.mbarrier.try_wait"),
        "a generic address",
        "an operation with a shared address",
        "MLIR's intrinsics take only shared addresses, so a generic address is converted first",
    ),
    (
        _ARRIVALS[:2],
        "no count, and an order other than the default or the scope of the cluster",
        "an operation with a count of one",
        "MLIR's intrinsics for these orders have a count, and MLIR writes it to a register",
    ),
    (
        _ARRIVALS,
        "no result",
        "an operation with a result",
        "MLIR's PTX names a register for the state, and no instruction reads this register",
    ),
    (
        ("nvvm.mbarrier.try_wait.parity",),
        "the loop around it",
        "`nvvm.mbarrier.try_wait`, or inline PTX for a generic address",
        "the loop consists of several instructions, and branches are left out",
    ),
    (
        ("nvvm.tcgen05.commit",),
        "a generic address",
        "an operation with a shared address",
        "MLIR writes `.shared::cluster` for both",
    ),
    (("nvvm.memory.barrier",), "the scope `cluster`", "`nvvm.fence.sc.cluster`", "both have the PTX of that fence"),
)
"""Operations that raising from PTX replaces by others: names, condition, replacement and reason."""


def _raising() -> str:
    rows = [(", ".join(f"`{name}`" for name in names), *rest) for names, *rest in ALIASES]
    return "\n".join([_RAISING, *markdown(("operations", "with", "become", "because"), rows)]).rstrip() + "\n"
