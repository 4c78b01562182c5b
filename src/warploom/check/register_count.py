"""Checks of the instructions that change the register count of a warp.

Source: PTX ISA 9.7.19.5
"""

from collections.abc import Iterator

from warploom.check.body import Body
from warploom.diagnostics import Diagnostic, Severity
from warploom.isa.binding.operands import Problem, Where
from warploom.isa.model.effects import Allocate, word
from warploom.isa.model.form import forms
from warploom.ptx import Integer

_CHANGES = {
    form: effect for form in forms() if (effect := form.effect(Allocate)) is not None and effect.resource == "registers"
}
_FORMS = frozenset(_CHANGES)


def register_counts(body: Body) -> Iterator[Diagnostic]:
    """Yield the diagnostics for instructions that change the register count of a warp.

    Errors: registers/entry, registers/count, registers/uniform
    """
    changes = sorted(body.with_forms(_FORMS))
    if not changes:
        return
    directives = {directive.name: directive for directive in body.function.directives}
    known = ".maxnreg" in directives or (
        ".minnctapersm" in directives and bool(directives.keys() & {".maxntid", ".reqntid"})
    )
    if body.function.kind == "entry" and not known:
        opcode = body.steps[changes[0]].instruction.opcode
        message = f"'{opcode}' may be ignored: ptxas cannot determine the register count at entry"
        hint = "add .maxnreg, or .minnctapersm together with .maxntid or .reqntid, to the kernel"
        yield _warning(body, changes[0], "registers/entry", message, ("opcode",), hint)
    limit = directives[".maxnreg"].ints[:1] if ".maxnreg" in directives else ()
    yield from _counts(body, changes, limit)
    for index in changes:
        if body.steps[index].instruction.guard is not None:
            message = "a guard may exclude warps; every warp of the warpgroup must execute this instruction"
            yield _warning(body, index, "registers/uniform", message, ("guard",))


def _warning(body: Body, index: int, code: str, message: str, where: Where, hint: str = "") -> Diagnostic:
    problem = Problem(code, message, where, hint, "PTX ISA 9.7.19.5", Severity.WARNING)
    return problem.at(body.steps[index].instruction)


def _counts(body: Body, changes: list[int], entry_limit: tuple[int, ...]) -> Iterator[Diagnostic]:
    counts: dict[int, tuple[str, int]] = {}
    for index in changes:
        bound = body.bound(index)
        if bound is None:
            continue
        match, operands = bound
        effect = _CHANGES[match.form]
        if isinstance(count := operands[effect.amount].operand, Integer):
            counts[index] = word(effect.action, match.slots), count.value
    if not entry_limit:
        return
    limit = max(*entry_limit, *(count for action, count in counts.values() if action == "take"), 0)
    for index, (action, count) in counts.items():
        if action == "release" and count > limit:
            message = f"the register count is decreased to {count}; expected at most {limit}, the kernel's limit"
            problem = Problem("registers/count", message, ("operand", 0), "", "PTX ISA 9.7.19.5")
            yield problem.at(body.steps[index].instruction)
