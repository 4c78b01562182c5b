"""Operators from the chapters on the memory consistency model and on barriers."""

from __future__ import annotations

import dataclasses
import re

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
    replaced,
    shifted,
    straight,
    with_opcode,
    with_operand,
)

from warploom.ptx import Instruction, Integer, Label, Name, Pair

GLOBAL = ("race/global",)
SHARED = ("race/shared", "race/lanes")
CLUSTER = ("race/cluster", "cluster/start", "cluster/exit")
UNSTARTED = ("mbarrier/init", "mbarrier/uninitialised")
RACES = (
    *GLOBAL,
    *SHARED,
    *CLUSTER,
    *UNSTARTED,
    "copy/destination",
    "copy/source",
    "proxy/async",
    "proxy/refill",
    "proxy/tensormap",
)
UNWRITTEN = ("unwritten/shared",)

BARRIERS = r"bar\.(warp\.)?sync|barrier\.cluster\.(arrive|wait)"
WRITTEN = {"%y", "%s", "%p", "%w", "%row"}
"""Registers with addresses of global memory that the kernel writes."""

MODEL, WARPS, CTAS, CLUSTERS = "8", "9.7.13.2", "9.7.13.1", "9.7.13.3"


# Flags in global memory.


@operator(MODEL, *GLOBAL)
def poll_once(body: Body) -> Changes:
    """Read a flag, or try to take a lock, once instead of until it has the awaited value."""
    for loop in polling_loops(body):
        if not opcode(body[loop.test]).startswith("mbarrier"):
            yield loop.branch, replaced(body, loop.branch)


@operator(MODEL, *GLOBAL)
def poll_weak(body: Body) -> Changes:
    """Poll a flag with weak loads."""
    for index, load in instructions(body, r"ld\.(acquire|relaxed)"):
        yield index, replaced(body, index, with_opcode(load, r"ld\.\w+\.gpu", "ld"))


@operator(MODEL, *GLOBAL)
def poll_volatile(body: Body) -> Changes:
    """Poll a flag with volatile loads, which are relaxed, instead of acquiring loads."""
    for index, load in instructions(body, r"ld\.acquire"):
        yield index, replaced(body, index, with_opcode(load, r"acquire\.gpu", "volatile"))


@operator(MODEL, *GLOBAL)
def flag_weak(body: Body) -> Changes:
    """Set a flag with a weak store."""
    for index, store in instructions(body, r"st\.(release|relaxed)"):
        yield index, replaced(body, index, with_opcode(store, r"st\.\w+\.gpu", "st"))


@operator(MODEL, *GLOBAL)
def flag_volatile(body: Body) -> Changes:
    """Set a flag with a volatile store, which is relaxed, instead of a releasing store."""
    for index, store in instructions(body, r"st\.release"):
        yield index, replaced(body, index, with_opcode(store, r"release\.gpu", "volatile"))


@operator(MODEL, *GLOBAL)
def flag_before_data(body: Body) -> Changes:
    """Set a flag before the store of the data that the flag announces."""
    for index, flag in instructions(body, r"(st|red)\.release"):
        if opcode(body[index - 1]).startswith("st.global"):
            yield index, replaced(replaced(body, index, body[index - 1]), index - 1, flag)


@operator(MODEL, *GLOBAL)
def scope_of_own_cluster(body: Body) -> Changes:
    """Narrow one side of a synchronization with another cluster from the GPU to the cluster."""
    for index, instruction in instructions(body, r"(ld|st|atom|red|fence)\.\w+\.gpu"):
        yield index, replaced(body, index, with_opcode(instruction, r"\.gpu", ".cluster"))


@operator(MODEL, *GLOBAL, "deadlock", "trap")
def flag_of_neighbour(body: Body) -> Changes:
    """Poll the flag that follows the right one in an array of flags."""
    arrays = {name for _, made_by in instructions(body, r"mad\.wide") for name in names(made_by.operands[0])}
    for loop in polling_loops(body):
        load = body[loop.test]
        if isinstance(load, Instruction) and load.words[0] == "ld" and names(load.operands[1]) <= arrays:
            yield loop.test, replaced(body, loop.test, with_operand(load, 1, shifted(load.operands[1], 4)))


@operator(MODEL, *GLOBAL, *CLUSTER)
def atomic_in_three_steps(body: Body) -> Changes:
    """Replace an atomic addition by a weak load, an addition and a weak store."""
    for index, atomic in instructions(body, r"(atom|red)\..*\.add"):
        address, value = atomic.operands[-2:]
        result = atomic.operands[0] if atomic.words[0] == "atom" else Name("%scratch")
        space = re.sub(r".*\.(global|shared::cluster)\..*", r"\1", atomic.opcode)
        steps = (
            made(f"ld.{space}.u32", result, address),
            made("add.u32", Name("%scratch"), result, value),
            made(f"st.{space}.u32", address, Name("%scratch")),
        )
        yield index, replaced(body, index, *steps)


@operator(MODEL, *GLOBAL, *CLUSTER)
def memory_fence_late(body: Body) -> Changes:
    """Execute a memory fence after the relaxed operation that it should precede."""
    for index, _ in instructions(body, r"fence\.acq_rel"):
        if re.match(r"st\.relaxed|barrier\.cluster\.arrive\.relaxed", opcode(body[index + 1])):
            yield index, moved(body, index, index, index + 2)


@operator(MODEL, *GLOBAL, *CLUSTER)
def memory_fence_early(body: Body) -> Changes:
    """Execute a memory fence before the poll or the wait that it should follow."""
    for index, _ in instructions(body, r"fence\.acq_rel"):
        if opcode(body[index - 1]).startswith("barrier.cluster.wait"):
            yield index, moved(body, index, index, index - 1)
    for loop in polling_loops(body):
        if opcode(body[loop.branch + 1]).startswith("fence.acq_rel"):
            yield loop.branch + 1, moved(body, loop.branch + 1, loop.branch + 1, loop.label)


@operator("8.1 and 9.7.9.8", "race/read-only")
def load_of_read_only_data(body: Body) -> Changes:
    """Load data that the kernel writes with `ld.global.nc`, which the consistency model does not cover."""
    for index, load in instructions(body, r"ld\.global"):
        if names(load.operands[1]) & WRITTEN:
            yield index, replaced(body, index, with_opcode(load, r"global", "global.nc"))


@operator(MODEL, *RACES, *UNWRITTEN, "cp-async/wait", "deadlock")
def read_above_poll(body: Body) -> Changes:
    """Load data before each test of the loop that waits for the data."""
    for loop in polling_loops(body):
        load = _first_load(body, loop.branch)
        if load is not None:
            yield load, moved(body, loop.branch + 1, load, loop.test)


def _first_load(body: Body, after: int) -> int | None:
    """Return the index of the first load after `after` if only arithmetic precedes the load."""
    for index in range(after + 1, len(body)):
        if re.match(r"ld\.(shared|global)|ldmatrix", opcode(body[index])):
            return index
        if not re.match(r"(mad|mul|add|sub|xor|mov|fence)\b", opcode(body[index])):
            return None
    return None


# Barriers.


@operator(CTAS, *RACES, *UNWRITTEN, "cp-async/wait")
def read_above_barrier(body: Body) -> Changes:
    """Load data before the barrier that orders the load after the store of the data."""
    for index, _ in instructions(body, r"bar\.(warp\.)?sync|barrier\.cluster\.wait"):
        load = _first_load(body, index)
        if load is not None:
            yield load, moved(body, index + 1, load, index)


@operator(CTAS, *RACES, *UNWRITTEN)
def store_below_barrier(body: Body) -> Changes:
    """Store data after the barrier or arrival that should order the store before other accesses."""
    for index, _ in instructions(body, rf"{BARRIERS}|mbarrier\.arrive\.shared::cta"):
        start = index
        while straight(body[start - 1]) and not re.match(BARRIERS, opcode(body[start - 1])):
            start -= 1
            if re.match(r"st(matrix)?\b", opcode(body[start])):
                yield start, moved(body, start, start, index + 1)
                break


@operator(CTAS, *RACES, *UNWRITTEN)
def arrive_instead_of_sync(body: Body) -> Changes:
    """Arrive at a CTA barrier without waiting for it."""
    threads = _block(body)
    for index, barrier in instructions(body, r"bar\.sync"):
        operands = barrier.operands if len(barrier.operands) == 2 else (*barrier.operands, Integer(threads))
        yield index, replaced(body, index, made("bar.arrive", *operands))


def _block(body: Body) -> int:
    """Return the number of threads of the CTA."""
    assert body[0].origin is not None
    found = re.search(r"\.reqntid (\d+)", body[0].origin[0].text)
    assert found is not None
    return int(found[1])


@operator(WARPS, *RACES, *UNWRITTEN)
def warp_barrier_instead_of_cta_barrier(body: Body) -> Changes:
    """Synchronize only the warp where the CTA must be synchronized."""
    for index, _ in instructions(body, r"bar\.sync"):
        yield index, replaced(body, index, made("bar.warp.sync", Integer(0xFFFFFFFF)))


@operator(WARPS, *RACES, *UNWRITTEN)
def election_instead_of_warp_barrier(body: Body) -> Changes:
    """Elect a lane, which orders no memory accesses, where the warp must be synchronized."""
    for index, barrier in instructions(body, r"bar\.warp\.sync"):
        elected = Pair(Name("_"), Name("%scratch_p"))
        yield index, replaced(body, index, made("elect.sync", elected, *barrier.operands))


@operator(WARPS, "warp/mask", "race/lanes")
def lanes_outside_the_mask(body: Body) -> Changes:
    """Leave the upper half of the warp out of the mask of a warp barrier."""
    for index, barrier in instructions(body, r"bar\.warp\.sync"):
        yield index, replaced(body, index, made(barrier.opcode, Integer(0xFFFF)))


@operator("9.7.9.6", "warp/mask")
def lane_outside_a_collective(body: Body) -> Changes:
    """Leave lane 0 out of the mask of a shuffle, vote, reduction or election that it executes."""
    for index, collective in instructions(body, r"(shfl|vote|redux|elect)\.sync"):
        last = len(collective.operands) - 1
        yield index, replaced(body, index, with_operand(collective, last, Integer(0xFFFFFFFE)))


@operator(CTAS, "race/shared", "deadlock", "barrier", "trap")
def barrier_of_one_warp(body: Body) -> Changes:
    """Give the waiting side of a named barrier a thread count that its own warp alone meets."""
    for index, barrier in instructions(body, r"bar\.sync"):
        if len(barrier.operands) == 2:
            yield index, replaced(body, index, with_operand(barrier, 1, Integer(32)))


@operator(CTAS, "race/shared", "deadlock", "barrier")
def barrier_of_the_next_turn(body: Body) -> Changes:
    """Use the named barrier of another warp's turn on one side."""
    swap = {"%turn": "%next", "%next": "%turn"}
    for index, barrier in instructions(body, r"bar\.(sync|arrive)"):
        number = barrier.operands[0]
        if isinstance(number, Name):
            yield index, replaced(body, index, with_operand(barrier, 0, Name(swap[number.text])))


@operator(CLUSTERS, *CLUSTER, *UNSTARTED, "copy/exit")
def cta_barrier_instead_of_cluster_barrier(body: Body) -> Changes:
    """Synchronize only the CTA where the cluster must be synchronized."""
    waits = [index for index, _ in instructions(body, r"barrier\.cluster\.wait")]
    for index, _ in instructions(body, r"barrier\.cluster\.arrive"):
        wait = next(wait for wait in waits if wait > index)
        yield index, replaced(replaced(body, wait, made("bar.sync", Integer(0))), index)


@operator("9.7.19.5", "registers/warpgroup", "barrier/divergence", "deadlock", "trap")
def register_change_of_three_warps(body: Body) -> Changes:
    """Let one warp of a warpgroup skip `setmaxnreg`."""
    for index, change in instructions(body, r"setmaxnreg"):
        yield index, replaced(body, index, *_unlike_in_last_warp(), guarded(change, "%scratch_p", negated=True))


@operator("9.7.19.5", "registers/warpgroup", "deadlock", "trap")
def register_change_of_two_sizes(body: Body) -> Changes:
    """Let one warp of a warpgroup execute `setmaxnreg` with another number of registers."""
    for index, change in instructions(body, r"setmaxnreg"):
        size = change.operands[0]
        assert isinstance(size, Integer)
        other = dataclasses.replace(change, operands=(Integer(size.value - 8),))
        skip, here = Label("skip_register_change"), Label("other_register_change")
        steps = (
            *_unlike_in_last_warp(),
            guarded(made("bra", Name(here.name)), "%scratch_p", negated=False),
            change,
            made("bra", Name(skip.name)),
            here,
            other,
            skip,
        )
        yield index, replaced(body, index, *steps)


@operator("9.7.19.5", "deadlock")
def register_request_above_the_pool(body: Body) -> Changes:
    """Request more registers than the warpgroups together have."""
    for index, change in instructions(body, r"setmaxnreg\.inc"):
        yield index, replaced(body, index, with_operand(change, 0, Integer(240)))


def _unlike_in_last_warp() -> tuple[Instruction, ...]:
    """Return instructions that set the scratch predicate in the last warp of each warpgroup."""
    scratch = Name("%scratch")
    return (
        made("mov.u32", scratch, Name("%tid.x")),
        made("and.b32", scratch, scratch, Integer(127)),
        made("setp.ge.u32", Name("%scratch_p"), scratch, Integer(96)),
    )


@operator(CTAS)
def barrier_twice(body: Body) -> Changes:
    """Execute a CTA barrier or a warp barrier twice."""
    for index, barrier in instructions(body, r"bar\.(warp\.)?sync"):
        if len(barrier.operands) == 1:
            yield index, inserted(body, index, made(barrier.opcode, *barrier.operands))


@operator(CTAS)
def sync_instead_of_arrive(body: Body) -> Changes:
    """Wait for a named barrier in addition to arriving at it."""
    for index, barrier in instructions(body, r"bar\.arrive"):
        yield index, replaced(body, index, with_opcode(barrier, "arrive", "sync"))


@operator(CTAS)
def barrier_spelled_out(body: Body) -> Changes:
    """Write `barrier.cta.sync` instead of `bar.sync`, or the default orders of cluster barriers."""
    for index, barrier in instructions(body, r"bar\.sync"):
        yield index, replaced(body, index, with_opcode(barrier, r"bar\.sync", "barrier.cta.sync.aligned"))
    for index, barrier in instructions(body, r"barrier\.cluster\.(arrive|wait)\.aligned"):
        order = "release" if "arrive" in barrier.opcode else "acquire"
        yield index, replaced(body, index, with_opcode(barrier, r"\.aligned", f".{order}.aligned"))


@operator(MODEL)
def scope_of_the_system(body: Body) -> Changes:
    """Widen a scope from the GPU to the system."""
    for index, instruction in instructions(body, r"(ld|st|atom|red|fence)\.\w+\.gpu"):
        yield index, replaced(body, index, with_opcode(instruction, r"\.gpu", ".sys"))


@operator(MODEL)
def stronger_order(body: Body) -> Changes:
    """Acquire, release or order sequentially where a weaker order suffices."""
    stronger = {
        r"ld\.relaxed": "ld.acquire",
        r"st\.relaxed": "st.release",
        r"atom\.(relaxed|acquire)": "atom.acq_rel",
        r"fence\.acq_rel": "fence.sc",
        r"barrier\.cluster\.arrive\.relaxed": "barrier.cluster.arrive.release",
    }
    for pattern, replacement in stronger.items():
        for index, instruction in instructions(body, pattern):
            yield index, replaced(body, index, with_opcode(instruction, pattern, replacement))
