"""Search for waits and loads that order nothing because no instruction tests their results."""

from warploom.emulator.events import Launch
from warploom.isa.model.effects import Access, Wait
from warploom.observe.sanitize.registers import NONE, Registers, guard_registers, once_per_program, used_registers


@once_per_program
def untested_results(launch: Launch) -> frozenset[int]:
    """Return the program counters of waits and ordered loads whose results no instruction tests.

    A guard tests a register. Branches, calls and instructions that are not lane-wise also count as tests of their
    operands. Lane-wise instructions pass the result on to their own results. Loads include atomic operations.
    """
    return frozenset(
        pc for pc in range(len(launch.program.steps)) if _orders(launch, pc) and not _is_tested(launch, pc)
    )


def _orders(launch: Launch, pc: int) -> bool:
    binding = launch.program.steps[pc].binding
    wait = binding.form.effect(Wait)
    if wait is not None and wait.on == "mbarrier":
        return True
    accesses = binding.form.effects_of(Access)
    return any(access.kind != "write" and access.is_ordered(binding.slots) for access in accesses)


def _is_tested(launch: Launch, wait: int) -> bool:
    following = launch.program.following
    seen: dict[int, Registers] = {}
    results = used_registers(launch, wait)[1]
    pending = [(pc, results) for pc in following[wait]]
    while pending:
        pc, held = pending.pop()
        before = seen.get(pc, NONE)
        if pc < 0 or held <= before:
            continue
        held = seen[pc] = held | before
        form, guard = launch.program.steps[pc].binding.form, guard_registers(launch, pc)
        read, written = used_registers(launch, pc)
        if held & guard:
            return True
        if held & read:
            if not form.is_lanewise:
                return True
            held |= written
        elif not guard:
            held -= written
        if held:
            pending += [(after, held) for after in following[pc]]
    return False
