"""Attention of few tokens of Q over many keys, which are split among CTAs (decoding).

A tile has the rows of all tokens and heads of Q that share a head of K: row r is token r // sharing, and head
r % sharing. Each CTA computes the sums of one part of the keys. `combine` adds the parts.
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from warploom.author import (
    Location,
    Register,
    RingState,
    Tile,
    arrive,
    bounds,
    f32,
    guarded,
    kernel,
    loop,
    new,
    otherwise,
    pointer,
    ring,
    s32,
    shared,
    shared_tile,
    special,
    tensor_map,
    u32,
    u64,
    warpgroup,
    when,
    while_,
)
from warploom.kernels.attention_softmax import LN_2, MINUS_INFINITY, inverse
from warploom.kernels.attention_tiles import Sizes
from warploom.kernels.epilogue import pack
from warploom.kernels.hopper.attention import Consumer
from warploom.kernels.hopper.attention_plan import AttentionPlan
from warploom.kernels.hopper.attention_tiles import Tiles
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.ptx import ptx

_COMBINE_WARPS = 4
COMBINE_THREADS = 32 * _COMBINE_WARPS
"""Threads of a CTA of `combine`. Each stores two columns of a row."""


@kernel(target=HOPPER)
def decode(
    q: tensor_map, k: tensor_map, v: tensor_map, sums: pointer("f32"), logarithms: pointer("f32"),
    counter: pointer("u32"), k_lengths: pointer("u32"), table: pointer("u32"), pages: u32, scale: f32, q_tokens: s32,
    k_tokens: s32, heads: u32, splits: u32, lines: u32, left: s32, right: s32, *, plan: AttentionPlan,
) -> None:  # fmt: skip
    """Compute the weighted mean of V of each part, and the base-2 logarithm of the sum of the weights.

    `heads` is the number of heads of K. A line is a head of one sequence, and has `splits` parts. `table` has the
    numbers of the `pages` pages of each sequence.

    Shapes: sums (lines, splits, rows, head size), logarithms (lines, splits, rows).
    """
    bounds(threads=plan.threads, ctas_per_sm=1)
    q_tile = shared_tile(plan.rows, plan.wide, plan.type)
    k_tile = shared_tile(plan.keys, plan.wide, plan.type, stages=plan.stages)
    v_tile = shared_tile(plan.wide_v, plan.keys, plan.type, stages=plan.stages, major="mn")
    slot = shared(4)
    rings = [ring(stages, consumers=plan.consumers) for stages in (1, plan.stages, plan.stages)]
    with when(special("tid.x") == 0):
        for tensor in (q, k, v):
            ptx.prefetch(Location(tensor), level="tensormap")
        for each in rings:
            each.start()
    _clear_unused_rows(plan, q_tile)
    ptx.fence_proxy(proxykind="async")
    ptx.bar(0)
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    states = [each.state() for each in rings]
    sizes = Sizes(None, k_lengths, q_tokens, k_tokens, heads, 1, splits, lines, lines, left, right)
    parts = Parts(plan, states[0], slot.address(), counter, sizes, table, pages)
    group = warpgroup()
    with when(group == 0):
        ptx.setmaxnreg_dec(plan.producer_registers)
        with when(special("tid.x") == 0):
            produce(parts, (q, k, v), (q_tile, k_tile, v_tile), states)
    with otherwise():
        ptx.setmaxnreg_inc(plan.consumer_registers)
        consumer = PartConsumer(parts, group - 1, (q_tile, k_tile, v_tile), states, scale)
        with parts.each(parts.receive):
            consumer.compute()
            consumer.store_part(sums, logarithms)


def _clear_unused_rows(plan: AttentionPlan, tile: Tile) -> None:
    """Set the rows of Q to zero that no tensor copy writes."""
    thread, start = special("tid.x"), tile.address()
    count = (plan.rows - plan.q_box_rows) * 8  # 16-byte chunks of the rows in one part of the tile
    with when(thread < count) if count else nullcontext():
        for part in range(plan.wide // 64 if count else 0):
            place = start + thread * 16
            offset = (part * plan.rows + plan.q_box_rows) * 128
            ptx.st(place.at(offset, "shared::cta"), [0, 0, 0, 0], vec="v4", type="b32")


class Parts(Tiles):
    """Parts of the keys of all lines. The blocks of a line are divided equally among its parts."""

    def __init__(
        self, plan: AttentionPlan, ring: RingState, slots: Register, counter: Any, sizes: Sizes, table: Any, pages: Any
    ) -> None:
        super().__init__(plan, ring, slots, counter, sizes)
        self.table, self.pages = table, pages

    def fetch(self) -> None:
        """Take the next part that has keys."""
        self._fetch()
        with while_(lambda: (self.number < self.count) & (self.first > self.last)):
            self._fetch()

    def locate(self) -> None:
        """Compute the position of the part, and its blocks of keys."""
        sizes, plan = self.sizes, self.plan
        line = self.number // sizes.blocks
        self.batch.set(line // sizes.heads)
        self.head.set(line - self.batch * sizes.heads)
        self.row.set(0)
        self._find_sequence()
        self.past.set(self.k_count - self.q_count)
        lowest, highest = block_range(plan, self.k_count, self.q_count, sizes.left, sizes.right)
        share = (highest - lowest + sizes.blocks.view("s32")) // sizes.blocks.view("s32")
        self.first.set(lowest + (self.number - line * sizes.blocks).view("s32") * share)
        self.last.set(ptx.min(self.first + share - 1, highest, type=s32))
        # The rows of a part differ in their limits, and few blocks have limits, so all blocks are masked.
        self.upper.set(self.first)
        self.lower.set(self.first)

    def pages_of(self, block: Any) -> Iterator[tuple[int, Any, Any]]:
        """Yield (first key in the block, first row in a page, number of the page) for each page of a block."""
        size = self.plan.page
        for start in range(0, self.plan.keys, min(size, self.plan.keys)):
            key = block * self.plan.keys + start
            # A block may go on after the last page.
            page = ptx.min(key, ptx.max(self.k_count - 1, 0, type=s32), type=s32) // size
            index = (self.batch * self.pages).view("s32") + page
            yield start, key - key // size * size, ptx.ld(self.table.element(index), type=s32)


def block_range(plan: AttentionPlan, k_count: Any, q_count: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Return the first and the last block of keys to which a row of a sequence attends."""
    end = k_count
    if plan.right:
        end = ptx.min(end, k_count + right, type=s32)
    highest = (ptx.max(end, 1, type=s32) - 1) // plan.keys
    if not plan.left:
        return new(s32, 0), highest
    oldest = ptx.max(k_count - q_count - left, 0, type=s32) // plan.keys
    return ptx.min(oldest, highest, type=s32), highest


def produce(parts: Parts, maps: Sequence[Any], tiles: Sequence[Tile], states: Sequence[RingState]) -> None:
    """Copy Q, K and V of all parts of the CTA to shared memory."""
    plan, (q_ring, *_) = parts.plan, states

    def load(number: int, block: Any) -> None:
        state, tile, tensor = states[number], tiles[number], maps[number]
        state.wait_empty()
        ptx.mbarrier_arrive_expect_tx(state.barrier(), tile.bytes)
        target, full = tile.address(state.stage), state.barrier("shared::cluster")
        pages = parts.pages_of(block) if plan.page else [(0, block * plan.keys, parts.batch)]
        for start, row, page in pages:
            for part in range((plan.wide if number == 1 else plan.wide_v) // 64):
                where = target.at((part * plan.keys + start) * 128, "shared::cluster")
                source = Location(tensor, coordinates=(part * 64, row, parts.head, page))
                ptx.cp_async_bulk_tensor(where, source, full, dim="4d", dst="shared::cluster")
        state.advance()

    with parts.each(parts.fetch):
        block = new(s32, parts.last)
        load(1, block)
        q_ring.wait_empty()
        parts.publish()
        # The tensor copies of Q have fewer rows than a tile if the number of heads does not divide the rows.
        ptx.mbarrier_arrive_expect_tx(q_ring.barrier(), plan.q_box_rows * plan.wide * 2)
        start = tiles[0].address()
        for part in range(plan.wide // 64):
            where = start.at(part * plan.rows * 128, "shared::cluster")
            source = Location(maps[0], coordinates=(part * 64, 0, 0, parts.head, parts.batch))
            ptx.cp_async_bulk_tensor(where, source, q_ring.barrier("shared::cluster"), dim="5d", dst="shared::cluster")
        q_ring.advance()
        with while_(lambda: block > parts.first):
            load(1, block - 1)
            load(2, block)
            block -= 1
        load(2, block)
    q_ring.wait_empty()
    parts.publish()
    arrive(q_ring.barrier())


class PartConsumer(Consumer):
    """Computation of 64 rows of each part."""

    def store_part(self, sums: Any, logarithms: Any) -> None:
        """Store the sums of the part, divided by the sums of weights, and the logarithms of the latter."""
        plan, parts = self.plan, self.tiles
        rows = (parts.q_count * plan.sharing).view("u32")
        softmax, column = self.softmax, self.softmax.column.view("u32")
        for below, (row, top, total, factor) in enumerate(
            zip(softmax.rows, softmax.top, *softmax.totals(), strict=True)
        ):
            row = row.view("u32")
            place = parts.number * rows + row
            with when(row < rows):
                start = sums.element(place * plan.head_v + column)
                for number in range(below * 2, plan.wide_v // 2, 4):
                    first = number // 4 * 8
                    if first < plan.head_v:
                        pair = [each * factor for each in self.sums[number : number + 2]]
                        ptx.st(start + first * 4, pair, vec="v2", type=f32)
                with guarded(column == 0):
                    ptx.st(logarithms.element(place), softmax.logarithm(top, total), type=f32)
        self.release_queries()


@kernel(target=HOPPER)
def combine(
    sums: pointer("f32"), logarithms: pointer("f32"), out: pointer("b8"), lse: pointer("f32"),
    k_lengths: pointer("u32"), out_batch: u64, out_token: u64, out_head: u64, q_tokens: s32, k_tokens: s32,
    heads: u32, splits: u32, left: s32, right: s32, *, plan: AttentionPlan,
) -> None:  # fmt: skip
    """Add the parts of each row, weighted by the sums of their weights.

    A CTA computes one row of one line. `out_batch`, `out_token` and `out_head` are strides of O in bytes. `decode`
    describes the other parameters.
    """
    bounds(threads=COMBINE_THREADS)
    row, line = special("ctaid.x"), special("ctaid.y")
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    batch = line // heads
    head, rows = line - batch * heads, special("nctaid.x")
    k_count = new(s32, k_tokens)
    if plan.lengths:
        ptx.ld(k_lengths.element(batch), type=s32, out=k_count)
    lowest, highest = block_range(plan, k_count, q_tokens, left, right)
    blocks = highest - lowest + 1
    share = (blocks + splits.view("s32") - 1) // splits.view("s32")
    count = ((blocks + share - 1) // share).view("u32")
    first = line * splits * rows + row
    thread = special("tid.x")
    warp, lane = thread >> 5, thread & 31
    top = new(f32, MINUS_INFINITY)
    for part in loop(lane, count, 32):
        top.set(ptx.max(top, logarithms[first + part * rows], type=f32))
    for lanes in (1, 2, 4, 8, 16):
        top.set(ptx.max(top, ptx.shfl_bfly(top.view("b32"), lanes, 31, -1).view("f32"), type=f32))
    top.set(ptx.selp(top, 0.0, top != MINUS_INFINITY, type=f32))
    # Each warp adds a quarter of the parts.
    mine = [new(f32, 0.0) for _ in range(plan.wide_v // 32)]
    share_of_total = new(f32, 0.0)
    for part in loop(warp, count, _COMBINE_WARPS, unroll=4):
        place = first + part * rows
        weight = ptx.ex2(logarithms[place] - top, approx=True, ftz=True, type=f32)
        share_of_total += weight
        start = sums.element(place * plan.head_v + lane * 2)
        for number in range(0, len(mine), 2):
            pair = [new(f32, 0.0), new(f32, 0.0)]
            with guarded(lane * 2 < plan.head_v - 32 * number):
                ptx.ld(start + 128 * number, vec="v2", type=f32, out=pair)
            for each, value in zip(mine[number : number + 2], pair, strict=True):
                each.set(ptx.fma(weight, value, each, rnd="rn", type=f32))
    parts = shared(_COMBINE_WARPS * plan.wide_v * 4)
    totals = shared(_COMBINE_WARPS * 4)
    start = parts.address() + warp * (plan.wide_v * 4) + lane * 8
    for number in range(0, len(mine), 2):
        ptx.st(start.at(128 * number, "shared::cta"), mine[number : number + 2], vec="v2", type=f32)
    ptx.st((totals.address() + warp * 4).at(0, "shared::cta"), share_of_total, type=f32)
    ptx.bar(0)
    column = thread * 2
    inside = column < plan.wide_v
    total, result = new(f32, 0.0), [new(f32, 0.0), new(f32, 0.0)]
    for number in range(_COMBINE_WARPS):
        total += ptx.ld(totals.at(4 * number), type=f32)
        pair = [new(f32, 0.0), new(f32, 0.0)]
        with guarded(inside):
            place = (parts.address() + column * 4).at(number * plan.wide_v * 4, "shared::cta")
            ptx.ld(place, vec="v2", type=f32, out=pair)
        for each, value in zip(result, pair, strict=True):
            each += value
    factor = inverse(total)
    token = row // plan.sharing
    member = head * plan.sharing + (row - token * plan.sharing)
    with when(column < plan.head_v):
        place = out + ptx.cvt(batch, dtype="u64") * out_batch + ptx.cvt(token, dtype="u64") * out_token
        place = place + ptx.cvt(member, dtype="u64") * out_head + ptx.mul_wide(column, 2, type=u32)
        ptx.st(place.at(0, "global"), pack(plan.type, *(each * factor for each in result)), type="b32")
    if plan.lse:
        value = (top + ptx.lg2(total, approx=True, ftz=True, type=f32)) * LN_2
        index = (batch * (heads * plan.sharing) + member) * q_tokens.view("u32") + token
        place = lse.element(index)
        with guarded(thread == 0):
            ptx.st(place, value, type=f32)
