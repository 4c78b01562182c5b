"""Kernels before and after the main kernel of the gradients of attention.

`prepare` computes the terms of each row of O, and sets the sums of dQ to zero. `finish` converts the sums to dQ. A CTA
handles one block of rows of a head.
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from collections.abc import Sequence as Items
from contextlib import nullcontext
from typing import Any

from warploom.author import Location, Register, bounds, f32, guarded, kernel, new, pointer, s32, special, u32, u64, when
from warploom.kernels.epilogue import LOG2_E, pack, unpack
from warploom.kernels.hopper.backward_blocks import Sequence, Sizes
from warploom.kernels.hopper.backward_plan import BackwardPlan
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.ptx import ptx

THREADS = 256
"""Threads of a CTA of both kernels."""
_CHUNK = 8  # elements of 16 bytes
_MINUS_INFINITY = float("-inf")


@kernel(target=HOPPER)
def prepare(
    do: pointer("b8"), o: pointer("b8"), lse: pointer("f32"), terms: pointer("f32"), sums: pointer("f32"),
    turns: pointer("u32"), q_ends: pointer("u32"), k_ends: pointer("u32"), do_token: u64, do_head: u64, do_plane: u64,
    o_token: u64, o_head: u64, o_plane: u64, batch: u32, q_tokens: s32, k_tokens: s32, heads: u32, row_blocks: u32,
    *, plan: BackwardPlan,
) -> None:  # fmt: skip
    """Compute the terms of each row: -log2(e) lse, and the sum of dO O. Set dQ and its turns to zero.

    The terms of a block are adjacent: those of all rows, and then the sums of all rows. `token`, `head` and `plane` are
    strides in bytes. `Sizes` describes the other parameters.
    """
    bounds(threads=THREADS)
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    head, thread = special("ctaid.y"), special("tid.x")
    sequence = _sequence(plan, Sizes(q_ends, k_ends, batch, q_tokens, k_tokens, heads, row_blocks))
    block = sequence.block_of(head, sequence.block)
    start = sequence.block * plan.rows
    with when(start < sequence.q_count):
        lanes = plan.head // _CHUNK  # threads of a row
        chunk, row = thread % lanes, thread // lanes
        line = (head if plan.packed else sequence.index * heads + head).view("s32")
        for first in range(0, plan.rows, THREADS // lanes):
            inside = row + first
            local = start + inside.view("s32")
            token = sequence.q_first + local
            shift, total = new(f32, _MINUS_INFINITY), new(f32, 0.0)
            with when(local < sequence.q_count):
                pairs = [
                    _load_chunk(each, token, head, sequence.index, chunk, plan)
                    for each in ((do, do_token, do_head, do_plane), (o, o_token, o_head, o_plane))
                ]
                for a, b in zip(*pairs, strict=True):
                    ptx.fma(a, b, total, rnd="rn", type=f32, out=total)
                logarithm = ptx.ld(lse.element(ptx.mad_lo(line, q_tokens, token, type=s32)), type=f32)
                # A row without keys has the logarithm minus infinity.
                shift.set(ptx.selp(logarithm * -LOG2_E, _MINUS_INFINITY, logarithm != _MINUS_INFINITY, type=f32))
            for step in (1, 2, 4, 8)[: lanes.bit_length() - 1]:
                total += ptx.shfl_bfly(total.view("b32"), step, 31, -1).view("f32")
            place = terms.element(block * (2 * plan.rows) + inside)
            with guarded(chunk == 0):
                ptx.st(place, shift, type=f32)
                ptx.st(place + 4 * plan.rows, total, type=f32)
        place = _sums_of(sums, block, plan) + ptx.mul_wide(thread, 16, type=u32)
        for first in range(0, plan.block_elements, 4 * THREADS):
            ptx.st(place.at(4 * first, "global"), [0.0] * 4, vec="v4", type=f32)
        if plan.deterministic:
            place = turns.element(block * plan.consumers + thread)
            with guarded(thread < plan.consumers):
                ptx.st(place, 0, type=u32)


@kernel(target=HOPPER)
def finish(
    dq: pointer("b8"), sums: pointer("f32"), q_ends: pointer("u32"), k_ends: pointer("u32"), dq_token: u64,
    dq_head: u64, dq_plane: u64, scale: f32, batch: u32, q_tokens: s32, k_tokens: s32, heads: u32, row_blocks: u32,
    *, plan: BackwardPlan,
) -> None:  # fmt: skip
    """Store dQ = scale `sums`. The sums are in the order in which the main kernel's threads hold them."""
    bounds(threads=THREADS)
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    head, thread = special("ctaid.y"), special("tid.x")
    sequence = _sequence(plan, Sizes(q_ends, k_ends, batch, q_tokens, k_tokens, heads, row_blocks))
    block = sequence.block_of(head, sequence.block)
    start = sequence.block * plan.rows
    base = _sums_of(sums, block, plan)

    def store(row: Register, column: Register, words: Items[Register]) -> None:
        """Store words of one row of the block, from `column` on."""
        local = start + row.view("s32")
        target = _row(dq, (dq_token, dq_head, dq_plane), sequence.q_first + local, head, sequence.index, plan)
        target = target + ptx.mul_wide(column, 2, type=u32)
        with when(local < sequence.q_count):
            for first in range(0, len(words), 4):
                ptx.st(target.at(4 * first, "global"), words[first : first + 4], vec="v4", type="b32")

    with when(start < sequence.q_count):
        units = plan.block_elements // 16
        for first in range(0, units, THREADS):
            with when(thread + first < units) if first + THREADS > units else nullcontext():
                _convert(plan, base, thread + first, scale, store)


def _convert(plan: BackwardPlan, base: Register, unit: Register, scale: Any, store: Any) -> None:
    """Convert 16 sums: 8 columns of two rows."""
    groups = plan.sums // 4  # of four sums of a thread
    part, line = unit % groups, unit // groups
    quad, consumer = line % 32, line // 32
    place = base + ptx.mul_wide(((consumer * groups + part) * 128 + quad * 4), 16, type=u32)
    values = [ptx.ld(place.at(16 * n, "global"), vec="v4", type=f32) for n in range(4)]
    row = (quad >> 3) * 16 + (quad & 7)
    column = part * 8
    if plan.splits_rows:
        row = row + consumer * 64
    else:
        column = column + consumer * 64
    for below in (0, 1):
        pairs = [each[2 * below : 2 * below + 2] for each in values]
        store(row + 8 * below, column, [pack(plan.type, *(each * scale for each in pair)) for pair in pairs])


def _sequence(plan: BackwardPlan, sizes: Sizes) -> Sequence:
    return Sequence(plan, sizes, special("ctaid.x"), special("ctaid.z"), of_keys=False)


def _sums_of(sums: Any, block: Register, plan: BackwardPlan) -> Register:
    """Return the address of the sums of a block."""
    return sums + ptx.mul_wide(block, 4 * plan.block_elements, type=u32)


def _row(
    start: Any, strides: tuple[Any, Any, Any], token: Register, head: Register, index: Register, plan: BackwardPlan
) -> Register:
    """Return the address of a row of an array with the strides (token, head, plane)."""
    place = start + ptx.cvt(token, dtype="s64").view("u64") * strides[0] + ptx.cvt(head, dtype="u64") * strides[1]
    return place if plan.packed else place + ptx.cvt(index, dtype="u64") * strides[2]


def _load_chunk(
    array: tuple[Any, Any, Any, Any], token: Register, head: Register, index: Register, chunk: Register,
    plan: BackwardPlan,
) -> list[Register]:  # fmt: skip
    """Return 8 elements of a row in f32."""
    place = _row(array[0], array[1:], token, head, index, plan) + ptx.mul_wide(chunk, 2 * _CHUNK, type=u32)
    words = ptx.ld(Location(place, 0, "global"), vec="v4", type="b32")
    return [each for word in words for each in unpack(plan.type, word)]
