"""Attention of few tokens of Q over many keys, which are split among CTAs (decoding).

A tile has the rows of all tokens and heads of Q that share a head of K: row r is token r // sharing, and head
r % sharing. Each CTA computes the sums of some parts of the keys. Then all CTAs add the parts.
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
    forever,
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
from warploom.kernels.hopper.attention_values import Scales
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.ptx import ptx

_WARPS = 4  # of the consumer
_UNROLLED = 8  # parts whose loads are in flight together
_COMBINE = 8  # named barrier of the combination


@kernel(target=HOPPER)
def decode(
    q: tensor_map, k: tensor_map, v: tensor_map, sums: pointer("f32"), logarithms: pointer("f32"),
    counter: pointer("u32"), out: pointer("b8"), lse: pointer("f32"), k_lengths: pointer("u32"), table: pointer("u32"),
    pages: u32, scale: f32, q_tokens: s32, k_tokens: s32, heads: u32, splits: u32, lines: u32, left: s32, right: s32,
    out_batch: u64, out_token: u64, out_head: u64, *, plan: AttentionPlan,
) -> None:  # fmt: skip
    """Compute O = softmax(scale Q K^T) V.

    `heads` is the number of heads of K. A line is a head of one sequence, and has `splits` parts. `sums` receives the
    weighted mean of V of each part, and `logarithms` the base-2 logarithm of the sum of its weights. `counter` are
    three zeros. `table` has the numbers of the `pages` pages of each sequence. `out_batch`, `out_token` and `out_head`
    are strides of O in bytes. All CTAs of the grid must be resident together, since they wait for each other.

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
        consumer = PartConsumer(parts, group - 1, (q_tile, k_tile, v_tile), states, Scales(scale))
        with parts.each(parts.receive):
            consumer.compute()
            consumer.store_part(sums, logarithms)
        combination = Combination(parts, sums, logarithms, q_tile.address(), consumer.thread)
        combination.wait_for_parts()
        combination.store(out, (out_batch, out_token, out_head), lse)


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
        sizes = self.sizes
        line = self.number // sizes.blocks
        self.batch.set(line // sizes.heads)
        self.head.set(line - self.batch * sizes.heads)
        self.row.set(0)
        self._find_sequence()
        self.past.set(self.k_count - self.q_count)
        lowest, highest = self._block_range(self.k_count, self.q_count)
        share = self._share(highest - lowest + 1)
        self.first.set(lowest + (self.number - line * sizes.blocks).view("s32") * share)
        self.last.set(ptx.min(self.first + share - 1, highest, type=s32))
        # The rows of a part differ in their limits, and few blocks have limits, so all blocks are masked.
        self.upper.set(self.first)
        self.lower.set(self.first)

    def count_of(self, line: Register) -> Register:
        """Return the number of parts of a line that have keys."""
        count = new(s32, self.sizes.k_tokens)
        if self.plan.lengths:
            ptx.ld(self.sizes.k_ends.element(line // self.sizes.heads), type=s32, out=count)
        lowest, highest = self._block_range(count, self.sizes.q_tokens)
        blocks = highest - lowest + 1
        share = self._share(blocks)
        return ((blocks + share - 1) // share).view("u32")

    def _share(self, blocks: Register) -> Register:
        """Return the number of blocks of a part."""
        splits = self.sizes.blocks.view("s32")
        return (blocks + splits - 1) // splits

    def _block_range(self, k_count: Any, q_count: Any) -> tuple[Any, Any]:
        """Return the first and the last block of keys to which a row of a sequence attends."""
        plan, end = self.plan, k_count
        if plan.right:
            end = ptx.min(end, k_count + self.sizes.right, type=s32)
        highest = (ptx.max(end, 1, type=s32) - 1) // plan.keys
        if not plan.left:
            return new(s32, 0), highest
        oldest = ptx.max(k_count - q_count - self.sizes.left, 0, type=s32) // plan.keys
        return ptx.min(oldest, highest, type=s32), highest

    def pages_of(self, block: Any) -> Iterator[tuple[int, Any, Any]]:
        """Yield (first key in the block, first row in a page, number of the page) for each page of a block."""
        size = self.plan.page
        for start in range(0, self.plan.keys, min(size, self.plan.keys)):
            key = block * self.plan.keys + start
            # A block may go on after the last page.
            page = ptx.min(key, ptx.max(self.k_count - 1, 0, type=s32), type=s32) // size
            index = (self.batch * self.pages).view("s32") + page
            yield start, key - key // size * size, ptx.ld(self.table.element(index), type=s32)


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
        self._release(self.q_ring)


class Combination:
    """Addition of the parts of all lines.

    With few rows, each CTA of the grid adds the parts of one row: its warps add different parts, and exchange their
    sums through shared memory at `memory`. Otherwise each warp adds the parts of some rows. `thread` is the index of
    the thread in the consumer warpgroup.
    """

    def __init__(self, parts: Parts, sums: Any, logarithms: Any, memory: Any, thread: Register) -> None:
        self.plan, self.parts, self.sums, self.logarithms = parts.plan, parts, sums, logarithms
        self.thread, self.lane, self.warp = thread, thread & 31, thread >> 5
        self.memory, self.ctas = memory, special("nctaid.x")
        self.rows = (parts.sizes.q_tokens * parts.plan.sharing).view("u32")
        self.shares = parts.sizes.lines * self.rows <= self.ctas
        self.writes = (self.warp == 0) | ~self.shares

    def wait_for_parts(self) -> None:
        """Wait until all CTAs of the grid have stored their parts."""
        finished, left = self.parts.counter.element(1), self.parts.counter.element(2)
        ptx.bar(_COMBINE, 128)
        with when(self.thread == 0):
            count = special("nctaid.x")
            ptx.atom_add(finished, 1, type=u32, sem="release", scope="gpu")
            with forever() as waiting:
                waiting.leave(ptx.ld(finished, sem="acquire", scope="gpu", type=u32) == count)
            # The last CTA that leaves resets both counters for the next launch.
            passed = ptx.atom_add(left, 1, type=u32, sem="acq_rel", scope="gpu")
            with when(passed == count - 1):
                ptx.st(finished, 0, type=u32)
                ptx.st(left, 0, type=u32)
        ptx.bar(_COMBINE, 128)

    def store(self, out: Any, strides: tuple[Any, Any, Any], lse: Any) -> None:
        """Store the rows of this warp: the sums of the parts, weighted by their sums of exponentials."""
        sizes, plan = self.parts.sizes, self.plan
        number = new(u32, special("ctaid.x") + ptx.selp(0, self.warp * self.ctas, self.shares, type=u32))
        with while_(lambda: number < sizes.lines * self.rows):
            line = number // self.rows
            row = number - line * self.rows
            top, total, sums = self._sum(line, row)
            self._add_warps(total, *sums)
            with when(self.writes):
                batch, token = line // sizes.heads, row // plan.sharing
                member = (line - batch * sizes.heads) * plan.sharing + (row - token * plan.sharing)
                factor, start = inverse(total), out + ptx.mul_wide(self.lane, 4, type=u32)
                for index, stride in zip((batch, token, member), strides, strict=True):
                    start = start + ptx.cvt(index, dtype="u64") * stride
                for first in range(0, len(sums), 2):
                    word = pack(plan.result, *(each * factor for each in sums[first : first + 2]))
                    with guarded(self.lane * 2 < plan.head_v - 32 * first):
                        ptx.st(start.at(64 * first, "global"), word, type="b32")
                if plan.lse:
                    value = (top + ptx.lg2(total, approx=True, ftz=True, type=f32)) * LN_2
                    place = (batch * (sizes.heads * plan.sharing) + member) * sizes.q_tokens.view("u32") + token
                    location = lse.element(place)
                    with guarded(self.lane == 0):
                        ptx.st(location, value, type=f32)
            number += self.ctas * _WARPS  # a CTA that shares its rows has only one

    def _add_warps(self, *values: Register) -> None:
        """Add the values of all warps, if the warps share a row."""
        with when(self.shares):
            mine = self.memory + self.thread * 4
            for number, value in enumerate(values):
                ptx.st(mine.at(512 * number, "shared::cta"), value, type=f32)
            ptx.bar(_COMBINE, 128)
            theirs = self.memory + self.lane * 4
            for number, value in enumerate(values):
                found = [
                    ptx.ld(theirs.at(512 * number + 128 * warp, "shared::cta"), type=f32) for warp in range(_WARPS)
                ]
                value.set((found[0] + found[1]) + (found[2] + found[3]))

    def _sum(self, line: Register, row: Register) -> tuple[Register, Register, list[Register]]:
        """Return the largest logarithm of a row, the sum of the weights, and the sums of the lane's columns.

        The sums are those of the parts of this warp. A lane has two of every 64 columns.
        """
        plan, first = self.plan, line * self.parts.sizes.blocks * self.rows + row
        count = self.parts.count_of(line)
        top, total = new(f32, MINUS_INFINITY), new(f32, 0.0)
        for part in loop(self.lane, count, 32):
            top.set(ptx.max(top, self.logarithms[first + part * self.rows], type=f32))
        for lanes in (1, 2, 4, 8, 16):
            top.set(ptx.max(top, ptx.shfl_bfly(top.view("b32"), lanes, 31, -1).view("f32"), type=f32))
        top.set(ptx.selp(top, 0.0, top != MINUS_INFINITY, type=f32))
        sums = [new(f32, 0.0) for _ in range(plan.wide_v // 32)]
        step, start = (ptx.selp(each, other, self.shares, type=u32) for each, other in ((_WARPS, 1), (self.warp, 0)))
        mine = ptx.selp((count + (_WARPS - 1) - self.warp) >> 2, count, self.shares, type=u32)
        for index in loop(0, mine, unroll=_UNROLLED):
            place = first + (start + index * step) * self.rows
            weight = ptx.ex2(self.logarithms[place] - top, approx=True, ftz=True, type=f32)
            total += weight
            source = self.sums.element(place * plan.head_v + self.lane * 2)
            for number in range(0, len(sums), 2):
                pair = [new(f32, 0.0), new(f32, 0.0)]
                with guarded(self.lane * 2 < plan.head_v - 32 * number):
                    ptx.ld(source + 128 * number, vec="v2", type=f32, out=pair)
                for each, value in zip(sums[number : number + 2], pair, strict=True):
                    each.set(ptx.fma(weight, value, each, rnd="rn", type=f32))
        return top, total, sums
