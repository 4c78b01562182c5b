"""Operators from the chapters on proxies, tensor maps and warpgroup multiplications."""

from __future__ import annotations

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
    replaced,
    straight,
    with_opcode,
    with_operand,
)

from warploom.ptx import Address, Float, Instruction, Integer, Name

ASYNC, TENSORMAP = ("proxy/async", "proxy/refill"), ("proxy/tensormap",)
FENCE = r"fence\.proxy\.async"
PROXIES, WARPGROUPS = "8.6 and 9.7.13.4", "9.7.15"


@operator(PROXIES, *ASYNC)
def fence_of_other_kind(body: Body) -> Changes:
    """Execute a fence of the alias proxy instead of the async proxy."""
    for index, _ in instructions(body, FENCE):
        yield index, replaced(body, index, made("fence.proxy.alias"))


@operator(PROXIES, *ASYNC)
def fence_of_other_space(body: Body) -> Changes:
    """Execute a proxy fence for global memory where shared memory is accessed, or the reverse."""
    for index, fence in instructions(body, FENCE):
        other = "shared::cta" if fence.opcode.endswith("global") else "global"
        yield index, replaced(body, index, made(f"fence.proxy.async.{other}"))


@operator(PROXIES, *ASYNC)
def fence_without_proxy(body: Body) -> Changes:
    """Execute a sequentially consistent fence, which is not a proxy fence."""
    for index, _ in instructions(body, FENCE):
        yield index, replaced(body, index, made("fence.sc.gpu"))


@operator(PROXIES, *ASYNC)
def fence_by_one_thread(body: Body) -> Changes:
    """Let only a part of the threads that access the bytes execute the proxy fence."""
    for index, fence in instructions(body, FENCE):
        earlier = {
            name for statement in body[:index] if isinstance(statement, Instruction) for name in _first(statement)
        }
        predicate = next(name for name in ("%silent", "%other", "%idle") if name in earlier)
        yield index, replaced(body, index, guarded(fence, predicate, negated=True))


def _first(instruction: Instruction) -> set[str]:
    return names(instruction.operands[0]) if instruction.operands else set()


@operator(PROXIES, *ASYNC)
def fence_behind_the_copy(body: Body) -> Changes:
    """Execute the proxy fence after the asynchronous operation that accesses the bytes."""
    for index, _ in instructions(body, FENCE):
        following = (i for i, _ in instructions(body, r"cp\.(reduce\.)?async\.bulk\.(tensor|global|shared)|wgmma\.mma"))
        operation = next((i for i in following if i > index), None)
        if operation is not None:
            yield index, moved(body, index, index, operation + 1)


@operator(PROXIES)
def fence_of_all_spaces(body: Body) -> Changes:
    """Execute a proxy fence for all state spaces."""
    for index, _ in instructions(body, FENCE):
        yield index, replaced(body, index, made("fence.proxy.async"))


@operator(PROXIES, *TENSORMAP)
def tensor_map_acquired_before_barrier(body: Body) -> Changes:
    """Acquire a tensor map before the barrier that orders its release."""
    for index, _ in instructions(body, r"fence\.proxy\.tensormap.*acquire"):
        if opcode(body[index - 1]).startswith("bar"):
            yield index, moved(body, index, index, index - 1)


@operator(PROXIES, *TENSORMAP)
def other_tensor_map_acquired(body: Body) -> Changes:
    """Acquire the 128 bytes at another address than that of the tensor map."""
    for index, fence in instructions(body, r"fence\.proxy\.tensormap.*acquire"):
        yield index, replaced(body, index, with_operand(fence, 0, Address(Name("%other"))))


@operator(PROXIES, *TENSORMAP)
def tensor_map_acquired_by_other_fence(body: Body) -> Changes:
    """Execute a memory fence, or a fence of the async proxy, where a tensor map must be acquired."""
    for index, _ in instructions(body, r"fence\.proxy\.tensormap.*acquire"):
        for other in ("fence.acq_rel.gpu", "fence.proxy.async"):
            yield index, replaced(body, index, made(other))


@operator(PROXIES, *TENSORMAP)
def tensor_map_released_by_other_fence(body: Body) -> Changes:
    """Copy a tensor map with loads, stores and a memory fence, without a release of its proxy."""
    for index, copy in instructions(body, r"tensormap\.cp_fenceproxy"):
        target, source, _ = copy.operands
        assert isinstance(target, Address)
        cell = Address(Name("%scratch_d"))
        steps = (
            made("ld.shared.u32", Name("%scratch"), Address(Name("%word"))),
            made("mad.wide.u32", Name("%scratch_d"), Name("%lane"), Integer(4), Name("%map")),
            made("st.global.u32", cell, Name("%scratch")),
            made("fence.acq_rel.gpu"),
        )
        assert names(source) == {"%draft"}
        yield index, replaced(body, index, *steps)


@operator(WARPGROUPS, "wgmma/fence")
def register_written_behind_fence(body: Body) -> Changes:
    """Write a register of a multiplication after `wgmma.fence`."""
    for index, _ in instructions(body, r"wgmma\.fence"):
        multiplication = body[index + 1]
        assert isinstance(multiplication, Instruction)
        used = set[str]().union(*map(names, multiplication.operands[:2]))
        writes = [
            i
            for i in range(index)
            if isinstance(write := body[i], Instruction) and straight(write) and _first(write) & used
        ]
        write = body[writes[-1]] if writes else None
        if isinstance(write, Instruction) and re.match(r"mov|ld", write.opcode):
            yield writes[-1], moved(body, writes[-1], writes[-1], index + 1)


@operator(WARPGROUPS, "wgmma/registers")
def accumulator_written_in_flight(body: Body) -> Changes:
    """Write an accumulator while the multiplication is in flight."""
    yield from _after_commit(body, 0, "mov.f32", Float.decimal(0.0))


@operator(WARPGROUPS, "wgmma/registers")
def fragment_written_in_flight(body: Body) -> Changes:
    """Write a register of A while the multiplication is in flight."""
    yield from _after_commit(body, 1, "mov.u32", Integer(0))


def _after_commit(body: Body, position: int, move: str, value: Float | Integer) -> Changes:
    """Insert a write of the last register of an operand after the commit of its multiplication."""
    for index, multiplication in instructions(body, r"wgmma\.mma_async"):
        registers = sorted(names(multiplication.operands[position]))
        if len(registers) > 1:
            yield index, inserted(body, index + 2, made(move, Name(registers[-1]), value))


@operator(WARPGROUPS, "wgmma/operand", "race/shared", "proxy/async", "proxy/refill")
def tile_written_in_flight(body: Body) -> Changes:
    """Store to a tile while a multiplication may read the tile."""
    for index, _ in instructions(body, r"wgmma\.commit_group"):
        last, store = list(instructions(body[:index], r"st\.shared"))[-1]
        later = {name for i, write in instructions(body[:index], r"") if i > last for name in _first(write)}
        if not later & names(store.operands[0]):
            yield index, inserted(body, index + 1, guarded(store, "%idle", negated=True))


@operator(WARPGROUPS, "wgmma/wait", "wgmma/registers", "wgmma/commit", "wgmma/operand")
def wait_before_commit(body: Body) -> Changes:
    """Wait for multiplications before their group is committed."""
    for index, _ in instructions(body, r"wgmma\.wait_group"):
        commits = [i for i, _ in instructions(body, r"wgmma\.commit_group") if i < index]
        yield index, moved(body, index, index, commits[-1])


@operator(WARPGROUPS)
def fence_before_each_multiplication(body: Body) -> Changes:
    """Execute `wgmma.fence` before a multiplication that follows another one."""
    for index, _ in list(instructions(body, r"wgmma\.mma_async"))[1:]:
        yield index, inserted(body, index, made("wgmma.fence.sync.aligned"))


@operator(WARPGROUPS)
def empty_group(body: Body) -> Changes:
    """Commit an empty group before the multiplications."""
    for index, fence in instructions(body, r"wgmma\.fence"):
        yield index, replaced(body, index, fence, with_opcode(fence, "fence", "commit_group"))
