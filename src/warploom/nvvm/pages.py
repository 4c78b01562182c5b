"""Pages about the dialect, made from its declarations and Forms: what `docs/nvvm/dialect` holds."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

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

from warploom.nvvm.alike import ALIKE
from warploom.nvvm.dialect import FAMILIES, Operation, operations_of
from warploom.nvvm.dialect.words import Extents, Word
from warploom.nvvm.wgmma_text import TABLES

_FOLDER = "nvvm/dialect"


def pages() -> dict[str, str]:
    """Every page, by its place in `docs`."""
    found = {f"{_FOLDER}/{name}.md": _family(name) for name in FAMILIES}
    found[f"{_FOLDER}/wgmma-text.md"] = _text()
    found[f"{_FOLDER}/lifting.md"] = _lifting()
    found[f"{_FOLDER}/README.md"] = _index()
    return found


def _index() -> str:
    lines = [
        "# The nvvm dialect",
        "",
        "Operations of MLIR 22's nvvm dialect that are read, verified and lowered here.",
        "",
    ]
    lines += [f"- [{name}]({name}.md): {_summary(family)}" for name, family in FAMILIES.items()]
    lines += [
        "- [wgmma-text](wgmma-text.md): the reference text's tables of wgmma, and what holds where they err",
        "- [lifting](lifting.md): from PTX up to these operations, and which of them have one PTX",
    ]
    return "\n".join(lines) + "\n"


def _summary(documented: object) -> str:
    """The first sentence of a docstring."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def _family(name: str) -> str:
    lines = [f"# {name}", "", _summary(FAMILIES[name]), ""]
    for operation in operations_of(FAMILIES[name]):
        lines += _operation(operation)
    return "\n".join(lines).rstrip() + "\n"


def _operation(operation: type[Operation]) -> list[str]:
    lines = [f"## {operation.name}", "", " ".join((inspect.getdoc(operation) or "").split()), ""]
    rows = list(_rows(operation))
    if rows:
        lines += _table(("position", "name", "type or words", ""), rows)
    else:
        lines += ["No operands, no properties, no result.", ""]
    return lines


def _rows(operation: type[Operation]) -> Iterable[tuple[str, str, str, str]]:
    definition = operation.get_irdl_definition()
    for number, (name, operand) in enumerate(definition.operands):
        count = (
            "may be left out"
            if isinstance(operand, OptOperandDef)
            else "any number"
            if isinstance(operand, VarOperandDef)
            else ""
        )
        yield f"operand {number}", name, _types(operand.constr), count
    for name, given in definition.properties.items():
        if name == "operandSegmentSizes":
            continue
        note = "may be left out" if isinstance(given, OptPropertyDef) else ""
        if given.default_value is not None:
            note = f"{_shown(given.default_value)} where nothing is said"
        yield "property", name, _words(given.constr), note
    for number, (name, result) in enumerate(definition.results):
        note = "may be left out" if isinstance(result, OptResultDef) else ""
        yield f"result {number}", name.rstrip("_"), _types(result.constr), note


def _shown(value: object) -> str:
    return f"`{value.data}`" if isinstance(value, Word) else f"`{value}`"


def _types(allowed: RangeConstraint) -> str:
    within = allowed.constraint if isinstance(allowed, RangeLengthConstraint) else allowed
    return _constraint(within.constr) if isinstance(within, RangeOf) else "any"


def _words(constraint: AttrConstraint) -> str:
    (base,) = constraint.get_bases() or {None}
    if base is not None and issubclass(base, Word):
        return ", ".join(f"`{word}`" for word in base.words)
    if base is not None and issubclass(base, Extents):
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


def _text() -> str:
    lines = [
        "# The text's tables of wgmma",
        "",
        "What the reference text says, and what holds where it errs.",
        "",
    ]
    for table in TABLES:
        rows = [(row.about, row.says, row.holds or "the same", row.known) for row in table.rows]
        lines += [f"## {table.title}", "", *_table(("", "the text", "what holds", "known from"), rows)]
    return "\n".join(lines).rstrip() + "\n"


_LIFTED = """\
# From PTX up to operations

`warploom lower KERNEL.ptx --to nvvm` gives the tensor-core skeleton of each kernel as IR. An operation says what it is
in PTX, and that is what an instruction is recognised by: each operation is described once and read both ways.

- The operations stand in the order of the text. Control flow is flattened: labels and branches are left out, and so
  are instructions that no operation is. What they compute are arguments of the function, a new one wherever a
  register was written again; so are the addresses of variables.
- A register that is set to a constant is that constant, past labels too where nothing else writes it.
- An instruction of the dialect's families that no operation expresses stands as `nvvm.inline_ptx`, with the values
  that it reads, changes and writes: what is under a predicate that no operation takes, the accumulator's scale of
  `nvvm.wgmma.mma_async` where it is computed, sparse multiplication of warpgroups, reductions in bulk, and generic
  addresses of mbarriers.
- What was lifted lowers again: to the same instructions of these families, in the same order, where words that say
  the same are one (`shared::cta` and `shared`, `tile` and nothing, an order that is the usual one and nothing).

## Operations with one PTX

What an operation is lowered to lifts back to it, attributes and operands, but for these:
"""


def _lifting() -> str:
    rows = [
        (", ".join(f"`{name}`" for name in each.operations), each.told, each.lifted, each.why)
        for each in ALIKE
    ]
    return "\n".join([_LIFTED, *_table(("operations", "with", "lift as", "because"), rows)]).rstrip() + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return [*lines, ""]
