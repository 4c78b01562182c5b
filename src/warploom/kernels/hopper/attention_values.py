"""Blocks of V in the Hopper attention kernel, and scales of e4m3.

wgmma multiplies 8-bit elements only if they are contiguous along the inner dimension, which is that of the keys in the
multiplication by V. Three warps therefore transpose each block of V, so that its keys are contiguous.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Sequence
from typing import Any

from warploom.author import (
    Location,
    Register,
    arrive,
    f32,
    guarded,
    loop,
    new,
    ring,
    s32,
    shared,
    shared_tile,
    special,
    warp,
    when,
    while_,
)
from warploom.kernels.attention_tiles import TilePosition
from warploom.kernels.hopper.attention_plan import AttentionPlan, swizzle_of
from warploom.kernels.ptx import ptx

_FIRST_WARP, _WARPS = 1, 3  # that transpose; the warp before them is the producer's
_TRANSPOSED = 8  # named barrier
_KEYS, _COLUMNS = 32, 16  # of V that a warp transposes at once
_EVEN, _ODD = 0x6420, 0x7531  # bytes that prmt selects from two registers


class Values:
    """Rings of blocks of V in shared memory.

    Tensor copies write `source`, and `filled` is the state of its ring. wgmma reads `tile`, and `state` is the state of
    its ring. 16-bit elements need no transposition, so both are the same, and `announce`, `finish` and `transpose` do
    nothing.
    """

    def __init__(self, plan: AttentionPlan) -> None:
        self.plan = plan
        self.source = self.tile = shared_tile(plan.wide_v, plan.keys, plan.type, stages=plan.stages, major="mn")
        self.filled = self.state = ring(plan.stages, consumers=plan.consumers).state()

    def start(self) -> None:
        """Initialise the mbarriers. Only one thread may execute this, before a barrier of the CTA."""
        self.state.ring.start()

    def announce(self, tile: TilePosition, key: Any) -> None:
        """Tell the transposing warps how many keys of the next block are valid. `key` is its first key."""

    def finish(self) -> None:
        """Tell the transposing warps that no block follows. The producer executes this."""

    def transpose(self) -> None:
        """Transpose all blocks in the warps of the producer that do not copy."""


class ByteValues(Values):
    """Rings of blocks of V with 8-bit elements. Three warps transpose `source` to `tile`.

    `source` has a row for each key, and `tile` a row for each column of V. In each 16 keys, `tile` has keys 0, 1, 8, 9,
    then 2, 3, 10, 11, and so on. This is the order in which threads have the scores of 16 keys.
    """

    def __init__(self, plan: AttentionPlan) -> None:
        self.plan = plan
        self.source = shared_tile(plan.keys, plan.wide_v, plan.type, swizzle=plan.v_swizzle, stages=plan.copies)
        span = swizzle_of(plan.type, plan.keys)
        self.tile = shared_tile(plan.wide_v, plan.keys, plan.type, swizzle=span, stages=plan.stages)
        self.filled = ring(plan.copies, consumers=1).state()
        self.state = ring(plan.stages, consumers=plan.consumers).state()
        # 16 bytes of zeros, and the number of keys from each block in `source` to the end of its sequence.
        self.memory = shared(16 + 4 * plan.copies)
        self.zeros, self.counts = self.memory.address(), self.memory.address(16)

    def start(self) -> None:
        """Initialise shared memory. Only one thread may execute this, before a barrier of the CTA."""
        super().start()
        self.filled.ring.start()
        ptx.st(self.memory.at(), [0, 0, 0, 0], vec="v4", type="b32")

    def announce(self, tile: TilePosition, key: Any) -> None:
        """Tell the transposing warps how many keys of the next block are valid. `key` is its first key."""
        ptx.st(self._count(), tile.k_first + tile.k_count - key, type=s32)

    def finish(self) -> None:
        """Tell the transposing warps that no block follows. The producer executes this."""
        self.filled.wait_empty()
        ptx.st(self._count(), -1, type=s32)
        arrive(self.filled.barrier())

    def transpose(self) -> None:
        """Transpose all blocks in the warps of the producer that do not copy."""
        with when(warp() >= _FIRST_WARP):
            self._transpose_blocks()

    def _count(self) -> Location:
        return (self.counts + self.filled.stage * 4).at(0, "shared::cta")

    def _transpose_blocks(self) -> None:
        thread, lane = special("tid.x") - 32 * _FIRST_WARP, special("tid.x") & 31
        first, count = warp() - _FIRST_WARP, new(s32)
        # A lane has bytes of an even and of an odd column. The upper lanes store the odd column first. The eight rows
        # that stmatrix writes at once are then in different banks.
        upper, line = lane >= 16, lane & 7
        selectors = [ptx.selp(a, b, upper, type="b32") for a, b in ((_ODD, _EVEN), (_EVEN, _ODD))]
        column = line * 2 + ((lane >> 3 & 1) ^ (line >> 2))  # to which the lane's row of stmatrix belongs
        source: Any = self.source.row(lane).chunk(0).base

        def has_block() -> Register:
            self.filled.wait_full()
            ptx.ld(self._count(), type=s32, out=count)
            return count >= 0

        with while_(has_block):
            self.state.wait_empty()
            for group in loop(first, self.plan.keys // _KEYS, _WARPS):
                row = source + self.filled.stage * self.source.bytes + group * (_KEYS * self.source.span)
                is_inside = (group * _KEYS + lane).view("s32") < count
                self._transpose(row, is_inside, self._place(group * 2 + (lane >> 4), column), selectors)
            ptx.fence_proxy(proxykind="async", space="shared::cta")
            ptx.bar(_TRANSPOSED, 32 * _WARPS)
            self.filled.release(self.filled.stage, thread)
            with guarded(thread == 0):
                arrive(self.state.barrier())
            self.filled.advance()
            self.state.advance()

    def _place(self, chunk: Register, column: Register) -> Location:
        """Return the location in `tile` of 16 keys of a column of V. `chunk` is the index of these keys."""
        tile = self.tile
        part = chunk // (tile.span // 16)
        inside: Any = tile.row(column, self.state.stage).chunk(chunk - part * (tile.span // 16)).base
        return (inside + part * (tile.rows * tile.span)).at(0, "shared::cta")

    def _transpose(self, row: Register, is_inside: Register, place: Location, selectors: Sequence[Register]) -> None:
        """Transpose 32 keys.

        `row` and `place` are the lane's rows of ldmatrix and of stmatrix for the first columns. `is_inside` is False if
        the key of `row` comes after the end of the sequence.
        """
        plan, source, width = self.plan, self.source, self.plan.wide_v
        # The columns at the same byte of all parts of a row follow each other, since their addresses share registers.
        columns = [column for byte in range(0, source.span, _COLUMNS) for column in range(byte, width, source.span)]
        for column in columns:
            part, byte = divmod(column, source.span)
            chunk = (row ^ byte) + part * source.rows * source.span
            if plan.packed or plan.lengths:
                chunk = ptx.selp(chunk, self.zeros, is_inside, type="b32")  # memory after the end may contain NaN
            words = ptx.ldmatrix(chunk.at(0, "shared::cta"), shape="m8n8", num="x4", trans=True, type="b16")
            found = [ptx.prmt(*halves, selector) for halves in (words[:2], words[2:]) for selector in selectors]
            ptx.stmatrix(place + column * self.tile.span, found, shape="m8n8", num="x4", type="b16")


class Scales:
    """Factors of the scores and of O.

    They are the constants `score` and `value` times the scales of a tile. `arrays` are pointers to the scales of Q, K
    and V. `strides` are the distances, in elements, between the scales of neighbouring sequences and of neighbouring
    heads of K. A null pointer stands for scales of 1.
    """

    def __init__(
        self, score: Any, value: Any = 1.0, arrays: Sequence[Any] = (), strides: tuple[Any, Any] = (0, 0)
    ) -> None:
        self.score, self.value = new(f32, score), new(f32, value)
        self.constants, self.arrays, self.strides = (score, value), arrays, strides

    def load(self, tile: TilePosition) -> None:
        """Load the scales for a tile."""
        index = tile.batch * self.strides[0] + tile.head_kv * self.strides[1]
        self.score.set(self.constants[0])
        self.value.set(self.constants[1])
        for array, factor in zip(self.arrays, (self.score, self.score, self.value), strict=True):
            scale = new(f32, 1.0)
            with guarded(ptx.setp(array, 0, CmpOp="ne", type="u64")):
                ptx.ld(array.element(index), type=f32, out=scale)
            factor.set(factor * scale)
