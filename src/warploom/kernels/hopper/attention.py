"""Attention for Hopper: O = softmax(scale Q K^T) V.

One thread of the producer copies blocks of Q, K and V to shared memory by TMA. Each consumer warpgroup computes 64 rows
of O. It starts the multiplication of Q by the next block of K before the multiplication of the current weights by V.
The tensor cores therefore work on the second multiplication while the threads compute the next weights, as in
"FlashAttention-3" (Shah et al., 2024).
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from warploom.author import (
    Barrier,
    Location,
    Register,
    RingState,
    Tile,
    arrive,
    barrier,
    bounds,
    f32,
    guarded,
    kernel,
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
from warploom.kernels.attention_softmax import Softmax
from warploom.kernels.attention_tiles import Sizes
from warploom.kernels.epilogue import pack
from warploom.kernels.hopper.attention_plan import AttentionPlan
from warploom.kernels.hopper.attention_tiles import Tiles, clear_rows
from warploom.kernels.hopper.attention_values import ByteValues, Scales, Values
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.ptx import ptx

_TURN, _STORE, _CLEAR = 1, 4, 7  # first named barriers of the turns, of the stores and for the end of a sequence
_PART = 64  # columns of a row that one tensor copy writes
_ROW = 128  # bytes of these columns


@kernel(target=HOPPER)
def attention(
    q: tensor_map, k: tensor_map, v: tensor_map, out: tensor_map, out_start: pointer("b8"), lse: pointer("f32"),
    counter: pointer("u32"), q_ends: pointer("u32"), k_ends: pointer("u32"), q_scale: pointer("f32"),
    k_scale: pointer("f32"), v_scale: pointer("f32"), out_token: u64, out_head: u64, scale: f32, value_scale: f32,
    scale_batch: u32, scale_head: u32, q_tokens: s32, k_tokens: s32, heads: u32, sharing: u32, blocks: u32, lines: u32,
    section: u32, left: s32, right: s32, *, plan: AttentionPlan,
) -> None:  # fmt: skip
    """Compute O = softmax(scale Q K^T) V.

    `lse` receives the logarithm of the sum of the exponentials of each row. `scale` contains the factor log2(e).
    `out_start` is the address of O. `out_token` and `out_head` are the strides of its tokens and heads in bytes.
    `Scales` describes the parameters with `scale` in their names, and `Sizes` the others.
    """
    bounds(threads=plan.threads, ctas_per_sm=1)
    q_tile = shared_tile(plan.rows, plan.wide_q, plan.type, stages=plan.q_stages)
    k_tile = shared_tile(plan.keys, plan.wide, plan.type, swizzle=plan.k_swizzle, stages=plan.stages)
    values = (ByteValues if plan.size == 1 else Values)(plan)
    numbers = shared(4 * plan.q_stages)
    rings = [ring(stages, consumers=plan.consumers) for stages in (plan.q_stages, plan.stages)]
    with when(special("tid.x") == 0):
        for tensor in (q, k, v, out):
            ptx.prefetch(Location(tensor), level="tensormap")
        for each in rings:
            each.start()
        values.start()
        ptx.fence_proxy(proxykind="async")
    ptx.bar(0)
    # The previous grid of the stream may still write Q, K and V until here.
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    states = [each.state() for each in rings]
    sizes = Sizes(q_ends, k_ends, q_tokens, k_tokens, heads, sharing, blocks, lines, section, left, right)
    tiles = Tiles(plan, states[0], numbers.address(), counter, sizes)
    group = warpgroup()
    with when(group == 0):
        ptx.setmaxnreg_dec(plan.producer_registers)
        with when(special("tid.x") == 0):
            produce(tiles, (q, k, v), (q_tile, k_tile), states, values)
        values.transpose()
    with otherwise():
        ptx.setmaxnreg_inc(plan.consumer_registers)
        scales = Scales(scale, value_scale, (q_scale, k_scale, v_scale), (scale_batch, scale_head))
        consumer = Consumer(tiles, group - 1, (q_tile, k_tile, values.tile), (*states, values.state), scales)
        with tiles.each(tiles.receive):
            consumer.compute()
            consumer.store(out, out_start, (out_token, out_head), lse)
        with guarded(consumer.thread == 0):
            ptx.cp_async_bulk_wait_group(0)


def produce(tiles: Tiles, maps: Sequence[Any], blocks: Sequence[Tile], states: Sequence[RingState], v: Values) -> None:
    """Copy Q, K and V of all tiles of the CTA to shared memory."""
    keys = tiles.plan.keys
    batch = 0 if tiles.plan.packed else tiles.batch
    blocks, states, q_ring = (*blocks, v.source), (*states, v.filled), states[0]

    def load(number: int, row: Any, head: Any) -> None:
        tensor, block, state = maps[number], blocks[number], states[number]
        state.wait_empty()
        if state is q_ring:
            tiles.publish()
        if state is v.filled:
            v.announce(tiles, row)
        ptx.mbarrier_arrive_expect_tx(state.barrier(), block.bytes)
        origin = (row, 0) if block.major == "mn" else (0, row)
        block.load(tensor, (*origin, head, batch), state.barrier("shared::cluster"), state.stage)
        state.advance()

    with tiles.each(tiles.fetch):
        key = new(s32, tiles.k_first + tiles.last * keys)
        first = tiles.k_first + tiles.first * keys
        load(1, key, tiles.head_kv)
        load(0, tiles.q_first + tiles.row, tiles.head)
        with while_(lambda: key > first):
            load(1, key - keys, tiles.head_kv)
            load(2, key, tiles.head_kv)
            key -= keys
        load(2, key, tiles.head_kv)
    q_ring.wait_empty()
    tiles.publish()
    arrive(q_ring.barrier())
    v.finish()


class Consumer:
    """Computation of 64 rows of each tile by the warpgroup `number`."""

    def __init__(
        self, tiles: Tiles, number: Any, blocks: Sequence[Tile], states: Sequence[RingState], scales: Scales
    ) -> None:
        plan = tiles.plan
        self.plan, self.tiles, self.number, self.scales = plan, tiles, number, scales
        self.q_tile, k_tile, self.v_tile = blocks
        self.q_ring, self.k_ring, self.v_ring = states
        self.thread = special("tid.x") & 127
        lane = self.thread & 31
        self.first_row = number * 64 + (self.thread >> 5) * 16  # of the warp in the tile
        self.softmax = Softmax(tiles, self.first_row + (lane >> 2), (lane & 3) * 2, scales.score)
        self.from_q = self.q_tile.descriptor(row=number * 64)
        self.from_k, self.from_v = k_tile.descriptor(), self.v_tile.descriptor()
        self.sums = [new(f32) for _ in range(plan.wide_v // 2)]
        self.added = [new(f32) for _ in self.sums] if plan.promotes else self.sums  # accumulators of wgmma
        self.factors = [new(f32), new(f32)] if plan.promotes else []  # of the sums of earlier blocks
        self.block = new(s32)  # block of keys of the current weights
        self.stored = new(s32, -1)  # stage of Q that holds the previous tile of O
        following = number + 1
        self.following = ptx.selp(0, following, following == plan.consumers, type=u32)
        if plan.takes_turns:
            with when(number == plan.consumers - 1):
                self._turn(0).arrive()

    def _turn(self, number: Any) -> Barrier:
        return barrier(_TURN + number, 256)

    # Main loop ----------------------------------------------------------------------------------------------

    def compute(self) -> None:
        """Compute the weighted sums of V, and the sums of the weights."""
        tiles, plan = self.tiles, self.plan
        self.block.set(tiles.last)
        if plan.scaled:
            self.scales.load(tiles)
        self.softmax.start()
        for each in (*self.sums, *self.factors):
            each.set(0.0)
        self.k_ring.wait_full()
        self._multiply_keys()
        ptx.wgmma_wait_group(0)
        self._release(self.k_ring)
        self.softmax.mask(self.block)
        self.softmax.update()
        self.softmax.pack()
        if (plan.packed or plan.lengths) and plan.size == 2:
            self._clear_values()
        if plan.q_stages > 1:
            with when((self.thread == 0) & (self.stored >= 0)):
                ptx.cp_async_bulk_wait_group(0, read=True)
                self.q_ring.release(self.stored.view("u32"), self.thread)
        for end, masked in ((tiles.upper, True), (tiles.lower, False), (tiles.first, True)):
            if end is tiles.first and not plan.left:
                break
            low = ptx.max(end, tiles.first, type=s32)
            with while_(lambda low=low: self.block > low):
                self._step(masked=masked)
        self.v_ring.wait_full()
        self._multiply_values()
        ptx.wgmma_wait_group(0)
        self._release(self.v_ring)
        if plan.promotes:
            self._add_block()

    def _clear_values(self) -> None:
        """Set the rows of V after the end of the sequence to zero. Memory there may contain NaN."""
        tiles, keys = self.tiles, self.plan.keys
        with when(tiles.k_count < (tiles.last + 1) * keys):
            self.v_ring.wait_full()
            first, start = tiles.k_count - tiles.last * keys, self.v_tile.address(self.v_ring.stage)
            clear_rows(start, first, (keys, self.plan.wide_v), self.number, self.plan.consumers)
            ptx.fence_proxy(proxykind="async", space="shared::cta")
            ptx.bar(_CLEAR, 128 * self.plan.consumers)

    def _step(self, *, masked: bool) -> None:
        """Add the weights of the current block times V, and compute the weights of the block before it."""
        self.block -= 1
        self.k_ring.wait_full()
        if self.plan.takes_turns:
            self._turn(self.number).wait()
        self._multiply_keys()
        self.v_ring.wait_full()
        self._multiply_values()
        if self.plan.takes_turns:
            self._turn(self.following).arrive()
        ptx.wgmma_wait_group(1)
        self._release(self.k_ring)
        if masked:
            self.softmax.mask(self.block)
        factors = self.softmax.update()
        ptx.wgmma_wait_group(0)
        self._release(self.v_ring)
        if self.plan.promotes:
            self._add_block()
            for each, factor in zip(self.factors, factors, strict=True):
                each.set(factor)
        else:
            for number, each in enumerate(self.sums):
                each.set(each * factors[number >> 1 & 1])
        self.softmax.pack()

    def _add_block(self) -> None:
        """Multiply the sums of earlier blocks by `factors`, and add this block's weights times V in f32."""
        for number, (each, added) in enumerate(zip(self.sums, self.added, strict=True)):
            ptx.fma(each, self.factors[number >> 1 & 1], added, rnd="rn", type=f32, out=each)

    def _release(self, state: RingState) -> None:
        state.release(state.stage, self.thread)
        state.advance()

    def _multiply_keys(self) -> None:
        """Start scores = Q K^T for the next block of K."""
        plan, scores = self.plan, self.softmax.scores
        words = {"dtype": "f32", "atype": plan.type, "btype": plan.type}
        queries, keys = self.from_q.stage(self.q_ring.stage), self.from_k.stage(self.k_ring.stage)
        ptx.wgmma_fence()
        majors = (0, 0) if plan.size == 2 else ()
        for k in range(0, plan.wide, plan.depth):
            ptx.wgmma_mma_async(scores, queries.at(k), keys.at(k), int(k > 0), 1, 1, *majors, n=plan.keys, **words)
        ptx.wgmma_commit_group()

    def _multiply_values(self) -> None:
        """Start sums += weights V for the next block of V."""
        plan, words = self.plan, {"dtype": "f32", "atype": self.plan.type, "btype": self.plan.type}
        values = self.from_v.stage(self.v_ring.stage)
        ptx.wgmma_fence()
        majors = (1,) if plan.size == 2 else ()
        for number, k in enumerate(range(0, plan.keys, plan.depth)):
            weights = self.softmax.weights[4 * number : 4 * number + 4]
            keeps = int(number > 0 or not plan.promotes)
            ptx.wgmma_mma_async(self.added, weights, values.at(k), keeps, 1, 1, *majors, n=plan.wide_v, **words)
        ptx.wgmma_commit_group()

    # Result -------------------------------------------------------------------------------------------------

    def store(self, out: Any, out_start: Any, strides: tuple[Any, Any], lse: Any) -> None:
        """Divide the sums by the sums of weights, and store them.

        O goes through the memory of Q, which the tile no longer needs.
        """
        plan, tiles = self.plan, self.tiles
        totals, inverses = self.softmax.totals()
        if plan.size == 1:
            inverses = [each * self.scales.value for each in inverses]
        if plan.lse:
            self.softmax.store_logarithms(lse, totals)
        lane = self.thread & 31
        row = self.q_tile.row(self.first_row + (lane & 15), self.q_ring.stage)
        places = [row.chunk((lane >> 4) | chunk) for chunk in range(0, _ROW // 16, 2)]
        for first in range(0, plan.wide_v // 2, 8):
            pairs = [self.sums[at : at + 2] for at in range(first, first + 8, 2)]
            words = [pack(plan.result, *(each * inverses[n & 1] for each in pair)) for n, pair in enumerate(pairs)]
            part, inside = divmod(2 * first, _PART)
            place = places[inside // 16] + part * plan.rows * _ROW
            ptx.stmatrix(place, words, shape="m8n8", num="x4", type="b16")
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        ptx.bar(self.number + _STORE, 128)
        start = tiles.row + (self.number * 64).view("s32")
        with when(start + 64 <= tiles.q_count) if plan.packed else nullcontext(), when(self.thread == 0):
            for source, column in self._parts():
                at = (column, tiles.q_first + start, tiles.head, 0 if plan.packed else tiles.batch)
                ptx.cp_async_bulk_tensor(Location(out, coordinates=at), source, dim="4d", src="shared::cta")
            ptx.cp_async_bulk_commit_group()
        if plan.packed:
            with otherwise():
                self._store_last_rows(out_start, strides, start)
        if plan.q_stages == 1:
            with when(self.thread == 0):
                ptx.cp_async_bulk_wait_group(0, read=True)
            self._release(self.q_ring)
        else:
            self.stored.set(self.q_ring.stage)
            self.q_ring.advance()

    def _parts(self) -> Iterator[tuple[Location, int]]:
        """Yield the location of each part of the consumer's rows of O in shared memory, and its first column."""
        start = self.q_tile.address(self.q_ring.stage) + self.number * (64 * _ROW)
        for part in range(self.plan.wide_v // _PART):
            yield start.at(part * self.plan.rows * _ROW, "shared::cta"), part * _PART

    def _store_last_rows(self, out_start: Any, strides: tuple[Any, Any], start: Register) -> None:
        """Store the last rows of a packed sequence. A tensor copy would also write rows of the next sequence."""
        tiles, plan = self.tiles, self.plan
        line, chunk = self.thread >> 3, self.thread & 7
        source = self.q_tile.row(self.number * 64 + line, self.q_ring.stage).chunk(chunk)
        token = tiles.q_first + start + line.view("s32")
        target = out_start + ptx.cvt(tiles.head, dtype="u64") * strides[1] + ptx.mul_wide(chunk, 16, type=u32)
        target = target + ptx.cvt(token, dtype="s64").view("u64") * strides[0]
        for below in range(0, 64, 16):
            with when(start + line.view("s32") + below < tiles.q_count):
                for part in range(plan.wide_v // _PART):
                    words = ptx.ld(source + (below + part * plan.rows) * _ROW, vec="v4", type="b32")
                    with guarded(chunk * 8 < plan.head_v - part * _PART):
                        ptx.st(target.at(part * _ROW, "global"), words, vec="v4", type="b32")
            target = target + strides[0] * 16
        # The reads precede the next copy into this stage of Q, which uses the async proxy.
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        ptx.bar(self.number + _STORE, 128)
