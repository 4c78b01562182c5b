"""Operators from the chapters on mbarriers and asynchronous copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile

from observe.sanitize.protocol.engine import (
    Body,
    Changes,
    guarded,
    inserted,
    instructions,
    made,
    moved,
    names,
    opcode,
    operator,
    polling_loops,
    region_of,
    regions,
    replaced,
    shifted,
    stage_bytes,
    straight,
    with_opcode,
    with_operand,
)

from warploom.ptx import Address, Instruction, Integer, Name, Operand, Statement

UNAWAITED = ("copy/destination", "cp-async/wait", "race/shared", "race/cluster", "unwritten/shared")
WRONG_PHASE = ("mbarrier/parity", "mbarrier/arrivals", "mbarrier/short", "mbarrier/excess", "deadlock")
NO_MBARRIER = ("mbarrier/uninitialised", "mbarrier/init", "trap")
LOST_WAIT = ("copy/source", "copy/exit", "race/global")
COPIES = r"cp\.(reduce\.)?async\.bulk\.(tensor\.\dd\.)?shared::cluster"
PHASES, WAITS, COUNTS = "9.7.13.15.2", "9.7.13.15.16", "9.7.13.15.5"


@operator(WAITS, *UNAWAITED, *WRONG_PHASE)
def wait_once(body: Body) -> Changes:
    """Test an mbarrier once and ignore the result."""
    for loop in polling_loops(body):
        if opcode(body[loop.test]).startswith("mbarrier"):
            yield loop.branch, replaced(body, loop.branch)


@operator(WAITS, *UNAWAITED, *WRONG_PHASE, *NO_MBARRIER)
def wait_at_next_stage(body: Body) -> Changes:
    """Wait at the mbarrier of the following stage."""
    for index, wait in _of_stages(body, r"mbarrier\.try_wait"):
        yield index, replaced(body, index, with_operand(wait, 1, shifted(wait.operands[1], 8)))


@operator(PHASES, *UNAWAITED, *WRONG_PHASE, *NO_MBARRIER)
def arrive_at_next_stage(body: Body) -> Changes:
    """Arrive at the mbarrier of the following stage."""
    for index, arrival in _of_stages(body, r"mbarrier\.arrive|cp\.async\.mbarrier\.arrive"):
        position = len(arrival.operands) - 1 - ("expect_tx" in arrival.opcode)
        yield index, replaced(body, index, with_operand(arrival, position, shifted(arrival.operands[position], 8)))


@operator("9.7.9.25.5", *UNAWAITED, *WRONG_PHASE, *NO_MBARRIER)
def copy_signals_next_stage(body: Body) -> Changes:
    """Let a copy signal the mbarrier of the following stage."""
    for index, copy in _of_stages(body, COPIES):
        position = len(copy.operands) - 1
        yield index, replaced(body, index, with_operand(copy, position, shifted(copy.operands[position], 8)))


def _of_stages(body: Body, pattern: str) -> Iterator[tuple[int, Instruction]]:
    """Yield the instructions that use an mbarrier of an array of stages."""
    for index, instruction in instructions(body, pattern):
        if any(stage_bytes(body, operand) == 8 for operand in instruction.operands):
            yield index, instruction


@operator("9.7.9.25.5", *UNAWAITED, *WRONG_PHASE, "race/shared", "copy/source", "proxy/async", "proxy/refill", "trap")
def write_next_stage(body: Body) -> Changes:
    """Copy or store the data of a stage to the following stage."""
    for index, write in instructions(body, rf"{COPIES}|cp\.async\.c[ag]|st\.shared"):
        size = stage_bytes(body, write.operands[0])
        if size is not None:
            yield index, replaced(body, index, with_operand(write, 0, shifted(write.operands[0], size)))


@operator(PHASES, *UNAWAITED, "trap")
def read_next_stage(body: Body) -> Changes:
    """Read the data of the following stage."""
    for index, load in instructions(body, r"ld\.shared|ldmatrix"):
        size = stage_bytes(body, load.operands[1])
        if size is not None:
            yield index, replaced(body, index, with_operand(load, 1, shifted(load.operands[1], size)))


@operator(PHASES, *UNAWAITED, *WRONG_PHASE)
def exchange_full_and_empty(body: Body) -> Changes:
    """Use the mbarriers of empty stages in the place of those of full stages, or the reverse."""
    exchange = {"%full": "%empty", "%empty": "%full"}
    for index, address in instructions(body, r"mad\.lo"):
        base = address.operands[3]
        if isinstance(base, Name) and base.text in exchange and stage_bytes(body, address.operands[0]) == 8:
            yield index, replaced(body, index, with_operand(address, 3, Name(exchange[base.text])))


@operator(PHASES, *UNAWAITED, *WRONG_PHASE, "trap")
def wrap_one_stage_early(body: Body) -> Changes:
    """Return to the first stage one stage early, on one side of a ring."""
    for index, comparison in instructions(body, r"setp\.eq"):
        last = comparison.operands[2]
        if names(comparison.operands[0]) == {"%wrap"} and isinstance(last, Integer):
            yield index, replaced(body, index, with_operand(comparison, 2, Integer(last.value - 1)))


@operator(PHASES, *UNAWAITED, *WRONG_PHASE)
def parity_not_flipped(body: Body) -> Changes:
    """Keep the parity when a ring returns to its first stage."""
    for index, flip in instructions(body, r"xor"):
        if flip.guard is not None and names(flip.operands[0]) == {"%parity"}:
            yield index, replaced(body, index)


@operator(COUNTS, "mbarrier/excess", "copy/destination")
def expect_half(body: Body) -> Changes:
    """Expect half of the bytes, as for one of two operands."""
    yield from _expect(body, lambda size: size // 2)


@operator(COUNTS, "mbarrier/short", "deadlock")
def expect_twice_the_bytes(body: Body) -> Changes:
    """Expect twice the bytes."""
    yield from _expect(body, lambda size: size * 2)


def _expect(body: Body, change: Callable[[int], int]) -> Changes:
    for index, arrival in instructions(body, r"mbarrier\.arrive\.expect_tx"):
        size = arrival.operands[2]
        assert isinstance(size, Integer)
        yield index, replaced(body, index, with_operand(arrival, 2, Integer(change(size.value))))


@operator(COUNTS, *UNAWAITED, *WRONG_PHASE)
def arrive_before_expecting(body: Body) -> Changes:
    """Arrive first, which may complete the phase, and then expect the bytes."""
    for index, arrival in instructions(body, r"mbarrier\.arrive\.expect_tx"):
        arrive, expect = _split(arrival)
        yield index, replaced(body, index, arrive, expect)


@operator(COUNTS)
def expect_before_arriving(body: Body) -> Changes:
    """Expect the bytes with one instruction and arrive with the next."""
    for index, arrival in instructions(body, r"mbarrier\.arrive\.expect_tx"):
        arrive, expect = _split(arrival)
        yield index, replaced(body, index, expect, arrive)


def _split(arrival: Instruction) -> tuple[Instruction, Instruction]:
    """Return an arrival and an expectation that together equal `mbarrier.arrive.expect_tx`."""
    sink, address, size = arrival.operands
    return (
        made("mbarrier.arrive.shared::cta.b64", sink, address),
        made("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", address, size),
    )


@operator(COUNTS)
def expect_behind_copy(body: Body) -> Changes:
    """Issue the copies first and expect their bytes then. The pending arrival keeps the phase incomplete."""
    for index, _ in instructions(body, r"mbarrier\.arrive\.expect_tx"):
        end = index + 1
        while opcode(body[end]).startswith("cp.async.bulk"):
            end += 1
        if end > index + 1:
            yield index, moved(body, index, index, end)


@operator("9.7.13.15.9", *NO_MBARRIER, "race/shared", "race/cluster", "mbarrier/reinitialised")
def initialise_behind_barrier(body: Body) -> Changes:
    """Initialise an mbarrier after the barrier that should order the initialisation before all uses."""
    for index, initialisation in instructions(body, r"mbarrier\.init"):
        region = region_of(body, index)
        if region is None or not opcode(body[region.label + 1]).startswith("bar"):
            continue
        barrier = region.label + 1 + opcode(body[region.label + 1]).startswith("barrier.cluster.arrive")
        if _uses(body, region.branch, region.label, initialisation.operands[0]):
            continue
        late = region.only_inside(initialisation)
        yield index, (*body[:index], *body[index + 1 : barrier + 1], late, *body[barrier + 1 :])


def _uses(body: Body, start: int, end: int, address: Operand) -> bool:
    """Return True if an instruction other than an initialisation uses the mbarrier at `address`."""
    return any(
        address in statement.operands and not statement.opcode.startswith("mbarrier.init")
        for statement in body[start:end]
        if isinstance(statement, Instruction)
    )


@operator("9.7.13.15.10", "mbarrier/invalidated", "mbarrier/uninitialised", "race/shared", "trap")
def invalidate_before_barrier(body: Body) -> Changes:
    """Invalidate an mbarrier before the barrier behind which no thread uses it."""
    for index, invalidation in instructions(body, r"mbarrier\.inval"):
        region = region_of(body, index)
        assert region is not None
        early = region.only_inside(invalidation)
        barrier = region.branch - 1
        yield index, (*body[:barrier], early, *body[barrier:index], *body[index + 1 :])


@operator(
    PHASES, *WRONG_PHASE, "mbarrier/reinitialised", "mbarrier/lanes", "race/shared", "race/lanes", "copy/destination"
)
def all_threads_lead(body: Body) -> Changes:
    """Let all threads initialise, arrive at or signal an mbarrier instead of one thread."""
    for region in regions(body):
        inside = takewhile(lambda statement: not _leaves(statement), body[region.branch + 1 : region.label])
        if any(opcode(statement).startswith(("mbarrier.init", "mbarrier.arrive")) for statement in inside):
            yield region.branch, replaced(body, region.branch)


def _leaves(statement: Statement) -> bool:
    return isinstance(statement, Instruction) and statement.guard is None and statement.words[0] in ("bra", "ret")


@operator(PHASES, *UNAWAITED, "race/lanes")
def release_before_read(body: Body) -> Changes:
    """Arrive at the mbarrier of a stage directly after the wait, and read the stage then."""
    for loop in polling_loops(body):
        end = loop.branch + 1
        while straight(body[end]) and not opcode(body[end]).startswith("mbarrier.arrive"):
            end += 1
        read = any(opcode(statement).startswith("ld.shared") for statement in body[loop.branch + 1 : end])
        if opcode(body[end]).startswith("mbarrier.arrive") and read:
            yield end, moved(body, end, end, loop.branch + 1)


@operator("9.7.9.23", *UNAWAITED, *WRONG_PHASE, "cluster/exit")
def arrive_at_own_cta(body: Body) -> Changes:
    """Arrive at the mbarrier of the own CTA instead of that of another CTA."""
    for index, mapping in _mapped_for_arrivals(body):
        yield index, replaced(body, index, made("mov.u32", *mapping.operands[:2]))


@operator("9.7.9.23", *UNAWAITED, *WRONG_PHASE, "cluster/exit")
def arrive_at_another_cta(body: Body) -> Changes:
    """Arrive at the mbarrier of a wrong CTA of the cluster."""
    for index, mapping in _mapped_for_arrivals(body):
        rank = mapping.operands[2]
        wrong = Integer(1 - rank.value) if isinstance(rank, Integer) else Name("%rank")
        yield index, replaced(body, index, with_operand(mapping, 2, wrong))


def _mapped_for_arrivals(body: Body) -> Iterator[tuple[int, Instruction]]:
    """Yield the `mapa` instructions whose result is the address of an arrival."""
    arrivals = {name for _, arrival in instructions(body, r"mbarrier\.arrive") for name in names(arrival.operands[1])}
    for index, mapping in instructions(body, r"mapa"):
        if names(mapping.operands[0]) <= arrivals:
            yield index, mapping


# Completion of cp.async and of bulk groups.


@operator("9.7.9.25.3.2", "cp-async/wait")
def commit_behind_next_wait(body: Body) -> Changes:
    """Commit the copies of an iteration after the wait of the next iteration."""
    waits = [index for index, _ in instructions(body, r"cp\.async\.wait_group")]
    commits = [index for index, _ in instructions(body, r"cp\.async\.commit_group")]
    if waits and commits:
        yield commits[-1], moved(body, commits[-1], commits[-1], waits[0] + 1)


@operator("9.7.13.15.14", "cp-async/wait")
def arrival_that_ignores_copies(body: Body) -> Changes:
    """Arrive at an mbarrier at once instead of when the `cp.async` copies of the thread are complete."""
    for index, arrival in instructions(body, r"cp\.async\.mbarrier\.arrive"):
        yield index, replaced(body, index, made("mbarrier.arrive.shared::cta.b64", Name("_"), *arrival.operands))


@operator("9.7.13.15.14", "deadlock", "mbarrier/arrivals")
def arrival_that_counts_itself(body: Body) -> Changes:
    """Omit `.noinc`, so that the arrival increments the pending count before it decrements the count."""
    for index, arrival in instructions(body, r"cp\.async\.mbarrier\.arrive\.noinc"):
        yield index, replaced(body, index, with_opcode(arrival, r"\.noinc", ""))


@operator("9.7.13.15.14", "cp-async/wait")
def arrival_before_its_copy(body: Body) -> Changes:
    """Execute `cp.async.mbarrier.arrive` before the copy that it should track."""
    for index, _ in instructions(body, r"cp\.async\.mbarrier\.arrive"):
        yield index, moved(body, index, index, index - 1)


@operator("9.7.9.25.5.6", *LOST_WAIT)
def wait_by_other_threads(body: Body) -> Changes:
    """Let threads that issued no bulk copy wait for bulk groups, instead of the issuing thread."""
    for index, wait in instructions(body, r"cp\.async\.bulk\.wait_group"):
        region = region_of(body, index)
        if region is not None:
            outside = guarded(wait, region.guard.name, negated=region.guard.negated)
            yield index, (*body[:index], *body[index + 1 : region.label + 1], outside, *body[region.label + 1 :])


@operator("9.7.9.25.5.6", *LOST_WAIT)
def wait_before_bulk_commit(body: Body) -> Changes:
    """Wait for bulk groups before the last group is committed."""
    for index, _ in instructions(body, r"cp\.async\.bulk\.wait_group"):
        if opcode(body[index - 1]) == "cp.async.bulk.commit_group":
            yield index, moved(body, index, index, index - 1)


@operator("9.7.9.25.5.6", *LOST_WAIT)
def wait_behind_next_barrier(body: Body) -> Changes:
    """Wait for bulk groups after the barrier behind which other threads refill the source."""
    for index, wait in instructions(body, r"cp\.async\.bulk\.wait_group"):
        region = region_of(body, index)
        if region is not None and opcode(body[region.label + 1]).startswith("bar"):
            late = region.only_inside(wait)
            yield index, (*body[:index], *body[index + 1 : region.label + 2], late, *body[region.label + 2 :])


@operator("9.7.9.25.5.6", *LOST_WAIT)
def source_instead_of_completion(body: Body) -> Changes:
    """Wait until bulk copies have read their sources, although their results are published."""
    for index, wait in instructions(body, r"cp\.async\.bulk\.wait_group$"):
        yield index, replaced(body, index, with_opcode(wait, r"$", ".read"))


@operator("9.7.9.25.5")
def completion_instead_of_source(body: Body) -> Changes:
    """Wait for the completion of bulk copies where it is sufficient that they have read their sources."""
    for index, wait in instructions(body, r"cp\.async\.bulk\.wait_group\.read"):
        yield index, replaced(body, index, with_opcode(wait, r"\.read", ""))


@operator("9.7.9.25.5")
def wait_for_all_groups(body: Body) -> Changes:
    """Leave no group in flight where one may be."""
    for index, wait in instructions(body, r"(cp\.async(\.bulk)?|wgmma)\.wait_group"):
        if wait.operands == (Integer(1),):
            yield index, replaced(body, index, with_operand(wait, 0, Integer(0)))


@operator("9.7.9.25.5", "copy/source")
def source_overwritten_in_flight(body: Body) -> Changes:
    """Store to the source of a bulk copy directly after the copy is issued."""
    for index, copy in instructions(body, r"cp\.(reduce\.)?async\.bulk\..*\.shared::cta\."):
        source = next(operand for operand in copy.operands[1:] if isinstance(operand, Address))
        yield index, inserted(body, index + 1, made("st.shared.u32", source, Integer(7)))


@operator("9.7.9.25.5.2", "race/global", "race/cluster", "copy/destination")
def copy_instead_of_reduction(body: Body) -> Changes:
    """Overwrite elements with a bulk copy to which several CTAs add with bulk reductions."""
    for index, reduction in instructions(body, r"cp\.reduce\.async\.bulk"):
        copy = with_opcode(with_opcode(reduction, r"cp\.reduce", "cp"), r"\.add\.u32", "")
        yield index, replaced(body, index, copy)


@operator("9.7.9.25.5.1", "mbarrier/short", "deadlock")
def multicast_to_own_cta(body: Body) -> Changes:
    """Copy to the own CTA only, although both CTAs expect the bytes."""
    for index, copy in instructions(body, r".*multicast"):
        single = made(copy.opcode.replace(".multicast::cluster", ""), *copy.operands[:-1])
        yield index, replaced(body, index, single)


@operator("9.7.9.25.5.1", "race/cluster", "copy/destination", *WRONG_PHASE)
def stage_released_to_own_cta(body: Body) -> Changes:
    """Release a stage only to the own CTA, although another CTA refills a part of the stage."""
    remote = [index for index, _ in instructions(body, r"mbarrier\.arrive\..*shared::cluster")]
    if len(remote) < 2:
        return
    local = made("mbarrier.arrive.shared::cta.b64", Name("_"), Address(Name("%empty")))
    changed = replaced(replaced(body, remote[1]), remote[0], local)
    for index, initialisation in instructions(changed, r"mbarrier\.init"):
        if initialisation.operands[1] == Integer(4):
            yield remote[0], replaced(changed, index, with_operand(initialisation, 1, Integer(2)))


@operator(WAITS)
def test_instead_of_try(body: Body) -> Changes:
    """Poll with `test_wait` instead of `try_wait`."""
    for index, wait in instructions(body, r"mbarrier\.try_wait"):
        yield index, replaced(body, index, with_opcode(wait, "try_wait", "test_wait"))


@operator(WAITS)
def acquire_at_cluster_scope(body: Body) -> Changes:
    """Acquire at cluster scope where the scope of the CTA suffices."""
    for index, wait in instructions(body, r"mbarrier\.try_wait\.parity\.shared"):
        yield index, replaced(body, index, with_opcode(wait, r"parity", "parity.acquire.cluster"))
