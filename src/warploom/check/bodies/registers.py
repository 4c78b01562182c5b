"""Changes of the register count: what must be known at entry, and who must agree.

Source: PTX ISA 9.7.19.5
"""

from __future__ import annotations

from collections.abc import Iterator

from warploom.check.bodies.body import Body
from warploom.check.found import Found
from warploom.diagnostics import Severity
from warploom.isa.binding.operands import Problem
from warploom.isa.instructions.control import SETMAXNREG
from warploom.ptx import Integer

_SECTION = "PTX ISA 9.7.19.5"
_FORM = frozenset({SETMAXNREG})


def register_counts(body: Body) -> Iterator[Found]:
    """What is wrong with changes of the register count. Errors: registers/entry, /count, /uniform."""
    places = sorted(body.with_forms(_FORM))
    if not places:
        return
    directives = {directive.name: directive for directive in body.function.directives}
    known = ".maxnreg" in directives or (
        ".minnctapersm" in directives and bool(directives.keys() & {".maxntid", ".reqntid"})
    )
    if body.function.kind == "entry" and not known:
        message = "the register count at entry is not known, so that this is ignored"
        hint = "give the kernel .maxnreg, or .minnctapersm with .maxntid or .reqntid"
        first = body.steps[places[0]].instruction
        yield Problem("registers/entry", message, ("opcode",), hint, _SECTION, Severity.WARNING).at(first)
    most = directives[".maxnreg"].ints[:1] if ".maxnreg" in directives else ()
    yield from _counts(body, places, most)
    for place in places:
        instruction = body.steps[place].instruction
        if instruction.guard is not None:
            message = "every warp of the warpgroup must execute this; a predicate guards it"
            yield Problem("registers/uniform", message, ("guard",), "", _SECTION, Severity.WARNING).at(
                instruction
            )


def _counts(body: Body, places: list[int], most: tuple[int, ...]) -> Iterator[Found]:
    """A decrease to more registers than there ever are."""
    counts: dict[int, tuple[str, int]] = {}
    for place in places:
        bound = body.bound(place)
        operand = bound[1]["imm_reg_count"].operand if bound is not None else None
        if bound is not None and isinstance(operand, Integer):
            counts[place] = bound[0].slots["action"], operand.value
    if not most:
        return
    limit = max(*most, *(count for action, count in counts.values() if action == "inc"), 0)
    for place, (action, count) in counts.items():
        if action == "dec" and count > limit:
            message = f"the register count is decreased to {count}; the kernel never has more than {limit}"
            yield Problem("registers/count", message, ("operand", 0), "", _SECTION).at(
                body.steps[place].instruction
            )
