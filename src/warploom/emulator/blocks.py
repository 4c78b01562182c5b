"""The basic blocks of a program, and the order of instructions in them.

What addresses the matrices of one warpgroup multiplication stands between it and the next: it is moved before
the first, so that multiplications are neighbours and can be done together (`link.Linker.find_runs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from warploom.ptx import (
    Address,
    Element,
    Instruction,
    Name,
    Negated,
    Operand,
    Symbol,
    Tuple,
    Vector,
)
from warploom.ptx.flow import postdominators, successors

if TYPE_CHECKING:
    from warploom.emulator.program import Program, Step

Registers = set[tuple[int, int]]


def find_blocks(program: Program, bodies: Mapping[str, tuple[int, int]]) -> None:
    """Order the steps in their blocks, and fill in `block_end`, `meet` and `following`."""
    steps = program.steps
    count = len(steps)
    leaders = {start for start, _ in bodies.values()}
    following: list[list[int]] = []
    for pc, step in enumerate(steps):
        end_of_body = bodies[step.function][1]
        targets = _targets(step)
        form = step.binding.form
        leaders.update(targets)
        guarded = step.instruction.guard is not None
        leaves, returns = form.ends_thread, form.control == "call"
        following.append(
            successors(pc, end_of_body, targets, leaves=leaves, guarded=guarded, returns=returns)
        )
        if form.control:
            leaders.add(pc + 1)
        if form.suspends:
            leaders.update((pc, pc + 1))
    program.meet, program.following = postdominators(following), following
    _bring_together(steps, leaders)
    together = False
    for pc, step in enumerate(steps):
        together = together and pc not in leaders
        if not together and step.binding.form.collective == "warpgroup":
            leaders.add(pc)  # the four warps may come one by one, and are to go on as one batch
            together = True
    program.block_end = [0] * count
    end = count
    for pc in range(count - 1, -1, -1):
        program.block_end[pc] = end
        if pc in leaders:
            end = pc


def names_of(instruction: Instruction) -> Iterator[str]:
    """The names that stand in an instruction's operands."""
    return names_in(*instruction.operands)


def names_in(*operands: Operand) -> Iterator[str]:
    """The names that stand in operands."""
    pending = list(operands)
    while pending:
        operand = pending.pop()
        match operand:
            case Name(text):
                yield text
            case Symbol(name) | Element(name) | Negated(name):
                yield name
            case Vector(items) | Tuple(items):
                pending.extend(items)
            case Address(base, _, extra):
                pending.extend(part for part in (base, *extra) if part is not None)
            case _:
                pass


def _targets(step: Step) -> list[int]:
    found: list[int] = []
    if step.binding.form.control != "jump":
        return found
    for bound in step.binding.operands.values():
        if bound.place.kind not in ("label", "symbol") or not isinstance(bound.operand, Name):
            continue
        table = step.scope.table(bound.operand.text)
        names = table.names if table is not None else (bound.operand.text,)
        found.extend(pc for name in names if (pc := step.scope.label(name)) is not None)
    return found


def _bring_together(steps: list[Step], leaders: set[int]) -> None:
    """Move instructions that do nothing but compute before the multiplications they stand between."""
    pc = 0
    while pc < len(steps):
        if not _multiplies(steps[pc]):
            pc += 1
            continue
        moved: list[Step] = []
        products: list[Step] = []
        needed: Registers = set()
        end = pc
        while end < len(steps) and (end == pc or end not in leaders):
            step = steps[end]
            touched = _registers(step)
            if _multiplies(step):
                products.append(step)
                needed |= touched
            elif _computes(step) and not needed & touched:
                moved.append(step)
            else:
                break
            end += 1
        steps[pc:end] = [*moved, *products]
        pc = end


def _multiplies(step: Step) -> bool:
    form = step.binding.form
    return form.multiplies and form.collective == "warpgroup" and step.instruction.guard is None


def _computes(step: Step) -> bool:
    """Whether an instruction reads and writes registers and has no other effect, whenever it does so."""
    operands = step.binding.operands.values()
    kinds = {bound.place.kind for bound in operands}
    written = any(bound.place.access in ("write", "both") for bound in operands)
    return (
        step.binding.form.is_lanewise and written and kinds <= {"register", "predicate", "immediate", "any"}
    )


def _registers(step: Step) -> Registers:
    names = list(names_of(step.instruction))
    if step.instruction.guard is not None:
        names.append(step.instruction.guard.name)
    places = [step.scope.place(name) for name in names]
    return {(place.width, place.index + k) for place in places if place for k in range(place.members)}
