"""Division of a program into basic blocks."""

from collections.abc import Iterator, Mapping

from warploom.emulator.program import Program, Step
from warploom.isa.model.effects import Multiply
from warploom.isa.model.form import Form
from warploom.ptx import Address, Element, Name, Negated, Operand, Symbol, Tuple, Vector
from warploom.ptx.flow import postdominators, successors


def find_blocks(program: Program, bodies: Mapping[str, tuple[int, int]]) -> None:
    """Set `block_end`, `reconvergence` and `following` of a program, and reorder instructions.

    `bodies` maps each function name to its range [start, end) of program counters.
    """
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
        following.append(successors(pc, end_of_body, targets, leaves=leaves, guarded=guarded, returns=returns))
        if form.control:
            leaders.add(pc + 1)
        if form.suspends:
            leaders.update((pc, pc + 1))
    program.reconvergence, program.following = postdominators(following), following
    _join_multiplications(steps, leaders)
    in_run = False
    for pc, step in enumerate(steps):
        in_run = in_run and pc not in leaders
        if not in_run and step.binding.form.collective == "warpgroup":
            leaders.add(pc)  # the four warps may arrive one by one and must continue as one batch
            in_run = True
    program.block_end = [0] * count
    end = count
    for pc in range(count - 1, -1, -1):
        program.block_end[pc] = end
        if pc in leaders:
            end = pc


def names_in(*operands: Operand) -> Iterator[str]:
    """Yield the names of registers, variables and functions in some operands."""
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
        if bound.spec.kind not in ("label", "symbol") or not isinstance(bound.operand, Name):
            continue
        table = step.scope.table(bound.operand.text)
        names = table.names if table is not None else (bound.operand.text,)
        found.extend(pc for name in names if (pc := step.scope.label(name)) is not None)
    return found


def _join_multiplications(steps: list[Step], leaders: set[int]) -> None:
    """Make warpgroup multiplications adjacent, so that they can run together.

    `leaders` contains the first program counter of each basic block.
    """
    pc = 0  # compilers place address computations between multiplications, which this function moves up
    while pc < len(steps):
        if not _multiplies(steps[pc]):
            pc += 1
            continue
        moved: list[Step] = []
        multiplications: list[Step] = []
        needed: set[tuple[int, int]] = set()
        end = pc
        while end < len(steps) and (end == pc or end not in leaders):
            step = steps[end]
            registers = _registers(step)
            if _multiplies(step):
                multiplications.append(step)
                needed |= registers
            elif _is_pure(step) and not needed & registers:
                moved.append(step)
            else:
                break
            end += 1
        steps[pc:end] = [*moved, *multiplications]
        pc = end


def _multiplies(step: Step) -> bool:
    form = step.binding.form
    return form.multiplies and form.collective == "warpgroup" and step.instruction.guard is None


def _is_pure(step: Step) -> bool:
    """Return True if a step only computes registers from its register operands."""
    operands = step.binding.operands.values()
    kinds = {bound.spec.kind for bound in operands}
    written = any(bound.spec.access in ("write", "both") for bound in operands)
    return step.binding.form.is_lanewise and written and kinds <= {"register", "predicate", "immediate", "any"}


def _registers(step: Step) -> set[tuple[int, int]]:
    names = list(names_in(*step.instruction.operands))
    if step.instruction.guard is not None:
        names.append(step.instruction.guard.name)
    found = [step.scope.location(name) for name in names]
    return {(each.width, each.index + k) for each in found if each for k in range(each.members)}


def continues_multiplication(program: Program) -> list[bool]:
    """Return True for each instruction that leads to a multiplication in tensor memory in its block.

    Only lane-wise instructions are before the multiplication. They cannot observe held multiplications.
    """
    found = [False] * len(program.steps)
    for pc in reversed(range(len(program.steps))):
        form = program.steps[pc].binding.form
        effect = form.effect(Multiply)
        is_last = program.block_end[pc] == pc + 1
        is_multiplication = effect is not None and effect.unit == "tensor memory"
        found[pc] = is_multiplication or (form.is_lanewise and not is_last and found[pc + 1])
    return found


def instructions_of_forms(program: Program) -> dict[Form, list[int]]:
    """Return the program counters of the instructions of each Form."""
    found: dict[Form, list[int]] = {}
    for pc, step in enumerate(program.steps):
        found.setdefault(step.binding.form, []).append(pc)
    return found
