"""Attention for sm_80 and later: O = softmax(scale Q K^T) V.

Each CTA computes one tile of O, and each warp 16 rows of it, as in "FlashAttention-2" (Dao, 2023). All threads copy
blocks of K and V to shared memory. Two blocks of K and two of V alternate: a block is copied while the warps compute
with the block before.
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warploom.author import (
    Kernel,
    Register,
    Tile,
    bounds,
    f32,
    guarded,
    kernel,
    new,
    pointer,
    s32,
    shared_tile,
    special,
    u32,
    u64,
    when,
    while_,
)
from warploom.kernels.ampere.attention_plan import STAGES, WARP_ROWS, WarpAttentionPlan
from warploom.kernels.attention_plan import SPAN
from warploom.kernels.attention_softmax import Softmax
from warploom.kernels.attention_tiles import Sizes, TilePosition
from warploom.kernels.epilogue import pack
from warploom.kernels.plan import CHUNK
from warploom.kernels.ptx import ptx

_ROW = 128  # bytes of a part of a row in shared memory, which has `SPAN` columns
_CHUNKS = _ROW // CHUNK
_COLUMNS = CHUNK // 2  # of a chunk
_STEP = 16  # columns of Q or rows of V that an instruction multiplies
_ALL_LANES = 0xFFFFFFFF


@kernel(target="sm_80")
def warp_attention(
    q: pointer("b8"), k: pointer("b8"), v: pointer("b8"), out: pointer("b8"), lse: pointer("f32"),
    q_ends: pointer("u32"), k_ends: pointer("u32"), table: pointer("u32"), pages: u32, q_token: u64, q_head: u64,
    q_plane: u64, k_token: u64, k_head: u64, k_plane: u64, v_token: u64, v_head: u64, v_plane: u64, out_token: u64,
    out_head: u64, out_plane: u64, scale: f32, q_tokens: s32, k_tokens: s32, heads: u32, sharing: u32, blocks: u32,
    lines: u32, section: u32, left: s32, right: s32, *, plan: WarpAttentionPlan,
) -> None:  # fmt: skip
    """Compute O = softmax(scale Q K^T) V. The grid has a CTA for each tile.

    `lse` receives the logarithm of the sum of the exponentials of each row. `scale` contains the factor log2(e).
    `table` has the numbers of the `pages` pages of each sequence. The strides of tokens, heads and sequences (or pages)
    are in bytes. `Sizes` describes the other parameters.
    """
    bounds(threads=plan.threads)
    q_tile = shared_tile(plan.rows, plan.wide_q, plan.type)
    k_tile = shared_tile(plan.keys, plan.wide, plan.type, stages=STAGES)
    v_tile = shared_tile(plan.keys, plan.wide_v, plan.type, stages=STAGES)
    tile = TilePosition(
        plan, Sizes(q_ends, k_ends, q_tokens, k_tokens, heads, sharing, blocks, lines, section, left, right)
    )
    tile.number.set(special("ctaid.x"))
    tile.locate()
    with when(tile.token(0) < tile.q_count, uniform=True):
        of_q = Matrix(tile, q, (q_token, q_head, q_plane), tile.q_first)
        of_k = Matrix(tile, k, (k_token, k_head, k_plane), tile.k_first, paged=plan.page > 0)
        of_v = Matrix(tile, v, (v_token, v_head, v_plane), tile.k_first, paged=plan.page > 0)
        copy_queries(plan, tile, of_q, q_tile)
        keys = BlockCopies(plan, tile, of_k, k_tile, plan.head, (table, pages))
        values = BlockCopies(plan, tile, of_v, v_tile, plan.head_v, (table, pages))
        warp = Warp(plan, tile, (q_tile, k_tile, v_tile), scale)
        warp.compute(keys, values)
        warp.store(Matrix(tile, out, (out_token, out_head, out_plane), tile.q_first), lse)


def kernel_of(plan: WarpAttentionPlan) -> Kernel:
    """Return the kernel of a plan."""
    return replace(warp_attention, target=plan.target, constants={"plan": plan})


class Matrix:
    """Matrix of Q, K, V or O in global memory.

    `start` is its address. `first` is the first token of the tile's sequence, if sequences are packed. `strides` are
    the strides of tokens, heads and sequences (or pages, if `paged`). Units: bytes.
    """

    def __init__(
        self, tile: TilePosition, start: Any, strides: Sequence[Any], first: Register, *, paged: bool = False
    ) -> None:
        self.token, self.head, self.plane = strides
        if paged:
            self.start = start
        elif tile.plan.packed:
            self.start = start + _wide(first) * self.token
        else:
            self.start = start + ptx.cvt(tile.batch, dtype="u64") * self.plane

    def at(self, token: Any, head: Any, chunk: Any) -> Register:
        """Return the address of a chunk of a row."""
        row = self.start + _wide(token) * self.token + ptx.cvt(head, dtype="u64") * self.head
        return row + ptx.mul_wide(chunk, CHUNK, type=u32)


def copy_queries(plan: WarpAttentionPlan, tile: TilePosition, matrix: Matrix, target: Tile) -> None:
    """Start to copy the rows of the tile. Rows and columns that do not exist become zero."""
    line, chunk = special("tid.x") // _CHUNKS, special("tid.x") % _CHUNKS
    place = target.row(line).chunk(chunk)
    step = plan.threads // _CHUNKS  # rows that all threads together copy at once
    for below in range(0, plan.rows, step):
        row = line.view("s32") + below
        token = tile.token(row)
        source = matrix.at(token, tile.head_of(row, token), chunk)
        size = ptx.selp(CHUNK, 0, token < tile.q_count, type=s32)
        for part in range(plan.wide // SPAN):
            _copy(place + (part * plan.rows + below) * _ROW, source, part, chunk, size, plan.head)


class BlockCopies:
    """Copies of blocks of K or V to shared memory by one thread.

    Block n is copied to stage n % `STAGES`. `pages` are the address of the table of pages, and the number of pages of a
    sequence.
    """

    def __init__(
        self, plan: WarpAttentionPlan, tile: TilePosition, matrix: Matrix, target: Tile, head: int,
        pages: tuple[Any, Any],
    ) -> None:  # fmt: skip
        self.plan, self.tile, self.matrix, self.head, self.pages = plan, tile, matrix, head, pages
        self.line, self.chunk = special("tid.x") // _CHUNKS, special("tid.x") % _CHUNKS
        self.start, self.target = matrix.at(0, tile.head_kv, self.chunk), target
        self.place: Any = target.row(self.line).chunk(self.chunk).base
        self.step = plan.threads // _CHUNKS  # keys that all threads together copy at once

    def start_block(self, block: Any) -> None:
        """Start to copy a block. Keys and columns that do not exist become zero."""
        keys, page = self.plan.keys, self.plan.page
        key = block * keys + self.line.view("s32")
        source = self.start + _wide(key) * self.matrix.token
        left = self.tile.k_count - key
        place = stage_of(self.place, block, self.target).at(0, "shared")
        for below in range(0, keys, self.step):
            size = ptx.selp(CHUNK, 0, left > below, type=s32)
            if page:
                source = self._in_page(key + below, left > below)
            for part in range(self.target.columns // SPAN):
                _copy(place + (part * keys + below) * _ROW, source, part, self.chunk, size, self.head)
            if not page and below + self.step < keys:
                source = source + self.matrix.token * self.step

    def _in_page(self, key: Register, exists: Register) -> Register:
        """Return the address of the thread's chunk of a key in the key's page."""
        (table, pages), size = self.pages, self.plan.page
        within = key // size
        place, number = table.element((self.tile.batch * pages).view("s32") + within), new("u32", 0)
        with guarded(exists):
            ptx.ld(place, type=u32, out=number)
        page = self.start + ptx.cvt(number, dtype="u64") * self.matrix.plane
        return page + _wide(key - within * size) * self.matrix.token


class Warp:
    """Computation of 16 rows of the tile by one warp."""

    def __init__(self, plan: WarpAttentionPlan, tile: TilePosition, blocks: Sequence[Tile], scale: Any) -> None:
        self.plan, self.tile = plan, tile
        self.q_tile, self.k_tile, self.v_tile = blocks
        self.lane = lane = special("tid.x") & 31
        self.first_row = (special("tid.x") >> 5) * WARP_ROWS
        self.softmax = Softmax(tile, self.first_row + (lane >> 2), (lane & 3) * 2, scale)
        self.head, self.head_v = (-(-size // _STEP) * _STEP for size in (plan.head, plan.head_v))
        self.sums = [new(f32, 0.0) for _ in range(self.head_v // 2)]
        # Each lane passes the address of one row of one of four 8 x 8 matrices to ldmatrix.
        self.from_q = self._place(self.q_tile, self.first_row + (lane & 15), lane >> 4)
        self.from_k = self._place(self.k_tile, (lane & 7) + (lane >> 4) * 8, (lane >> 3) & 1)
        self.from_v = self._place(self.v_tile, lane & 15, lane >> 4)
        self.queries: list[Sequence[Register]] = []
        self.block = new(s32)

    @staticmethod
    def _place(block: Tile, row: Register, half: Register) -> Any:
        """Return the address of chunk `half`, 0 or 1, of a row."""
        return block.row(row).chunk(half).base

    @staticmethod
    def _pairs(place: Register) -> list[Register]:
        """Return the addresses of the chunks in steps of two from `place` on, which is a result of `_place`."""
        return [place ^ chunk * CHUNK if chunk else place for chunk in range(0, _CHUNKS, 2)]

    # Main loop ----------------------------------------------------------------------------------------------

    def compute(self, keys: BlockCopies, values: BlockCopies) -> None:
        """Compute the weighted sums of V, and the sums of the weights."""
        tile, plan = self.tile, self.plan
        self.block.set(tile.last)
        for each in (keys, values):
            each.start_block(self.block)
            ptx.cp_async_commit_group()
        self.softmax.start()
        if plan.keeps_queries:
            self._wait()
            self.queries = self._queries()
        for end, masked in ((tile.upper, True), (tile.lower, False), (tile.first, True)):
            if end is tile.first and not plan.left:
                break
            low = ptx.max(end, tile.first, type=s32)
            with while_(lambda low=low: self.block >= low):
                self._step(keys, values, masked=masked)
        ptx.cp_async_wait_group(0)

    def _step(self, keys: BlockCopies, values: BlockCopies, *, masked: bool) -> None:
        """Add the weighted values of the current block."""
        following = self.block - 1
        exists = following >= self.tile.first
        self._wait()
        self._start(keys, following, exists)
        self._multiply_keys()
        if masked:
            self.softmax.mask(self.block)
        factors = self.softmax.update()
        for number, each in enumerate(self.sums):
            each.set(each * factors[number >> 1 & 1])
        self.softmax.pack()
        self._wait()
        self._start(values, following, exists)
        self._multiply_values()
        self.block.set(following)

    @staticmethod
    def _wait() -> None:
        """Wait until the older of two blocks is copied, and until all warps have read the block before it."""
        ptx.cp_async_wait_group(1)
        ptx.bar(0)

    @staticmethod
    def _start(copies: BlockCopies, block: Register, exists: Register) -> None:
        with when(exists, uniform=True):
            copies.start_block(block)
        ptx.cp_async_commit_group()  # the group may be empty, so that the number of groups in flight stays the same

    def _queries(self) -> list[Sequence[Register]]:
        """Load the fragments of Q, which have 16 columns each."""
        found: list[Sequence[Register]] = []
        places = self._pairs(self.from_q)
        for k in range(0, self.head, _STEP):
            part, inside = divmod(k, SPAN)
            place = places[inside // _STEP].at(part * self.plan.rows * _ROW, "shared")
            found.append(ptx.ldmatrix(place, shape="m8n8", num="x4", type="b16"))
        return found

    def _multiply_keys(self) -> None:
        """Compute scores = Q K^T for the current block of K."""
        plan, scores = self.plan, self.softmax.scores
        for each in scores:
            each.set(0.0)
        places = self._pairs(stage_of(self.from_k, self.block, self.k_tile))
        fragments = self.queries if plan.keeps_queries else self._queries()
        for k in range(0, self.head, _STEP):
            part, inside = divmod(k, SPAN)
            for key in range(0, plan.keys, 16):
                place = places[inside // _STEP].at((part * plan.keys + key) * _ROW, "shared")
                found = ptx.ldmatrix(place, shape="m8n8", num="x4", type="b16")
                self._multiply(fragments[k // _STEP], found, scores[key // 2 : key // 2 + 8])

    def _multiply_values(self) -> None:
        """Add the product of the weights and the current block of V to the sums."""
        plan = self.plan
        places = self._pairs(stage_of(self.from_v, self.block, self.v_tile))
        for key in range(0, plan.keys, _STEP):
            weights = self.softmax.weights[key // 4 : key // 4 + 4]
            for column in range(0, self.head_v, 16):
                part, inside = divmod(column, SPAN)
                place = places[inside // 16].at((part * plan.keys + key) * _ROW, "shared")
                found = ptx.ldmatrix(place, shape="m8n8", num="x4", trans=True, type="b16")
                self._multiply(weights, found, self.sums[column // 2 : column // 2 + 8])

    def _multiply(self, a: Sequence[Register], b: Sequence[Register], sums: Sequence[Register]) -> None:
        """Add the product of a fragment of A and two fragments of B, each with 8 columns, to the sums."""
        words = {"shape": "m16n8k16", "dtype": "f32", "atype": self.plan.type, "btype": self.plan.type, "ctype": "f32"}
        for half in (0, 1):
            totals = list(sums[4 * half : 4 * half + 4])
            ptx.mma(list(a), list(b[2 * half : 2 * half + 2]), totals, **words, out=totals)

    # Result -------------------------------------------------------------------------------------------------

    def store(self, out: Matrix, lse: Any) -> None:
        """Divide the sums by the sums of weights, and store them.

        O goes through the memory of Q, which the warp no longer needs.
        """
        plan, tile, lane = self.plan, self.tile, self.lane
        totals, inverses = self.softmax.totals()
        if plan.lse:
            self.softmax.store_logarithms(lse, totals)
        row = self.q_tile.row(self.first_row + (lane >> 2))
        starts: list[Any] = [row.chunk(chunk).base for chunk in range(_CHUNKS)]
        places = [start + (lane & 3) * 4 for start in starts]
        ptx.bar_warp(_ALL_LANES)
        for column in range(0, self.head_v, _COLUMNS):
            part, inside = divmod(column, SPAN)
            quad = self.sums[column // 2 : column // 2 + 4]
            for below in (0, 1):
                word = pack(plan.result, *(each * inverses[below] for each in quad[2 * below : 2 * below + 2]))
                offset = (part * plan.rows + 8 * below) * _ROW
                ptx.st(places[inside // _COLUMNS].at(offset, "shared"), word, type="b32")
        ptx.bar_warp(_ALL_LANES)
        chunk = lane % _CHUNKS
        for below in range(0, WARP_ROWS, 32 // _CHUNKS):
            line = self.first_row + lane // _CHUNKS + below
            token = tile.token(line.view("s32"))
            target = out.at(token, tile.head_of(line.view("s32"), token), chunk)
            source = self.q_tile.row(line).chunk(chunk)
            for part in range(plan.wide_v // SPAN):
                exists = token < tile.q_count
                if (left := plan.head_v - part * SPAN) < SPAN:
                    exists = exists & (chunk * _COLUMNS < left)
                with when(exists):
                    words = ptx.ld(source + part * plan.rows * _ROW, vec="v4", type="b32")
                    ptx.st(target.at(part * _ROW, "global"), words, vec="v4", type="b32")


def stage_of(place: Register, block: Any, target: Tile) -> Register:
    """Return the address that `place` of stage 0 has in the stage of a block."""
    return place + (block.view("u32") % STAGES) * target.bytes


def _copy(place: Any, source: Register, part: int, chunk: Register, size: Register, head: int) -> None:
    """Start to copy a chunk of part `part` of a row. A chunk beyond the head becomes zero."""
    if (left := head - part * SPAN) < SPAN:
        size = ptx.selp(size, 0, chunk * _COLUMNS < left, type=s32)
    origin = source.at(part * _ROW, "global")
    ptx.cp_async(place, origin, CHUNK, size, cop="cg", level_prefetch_size="L2::128B", shared_space="shared")


def _wide(number: Any) -> Any:
    """Return an integer as an unsigned integer of 64 bits."""
    return ptx.cvt(number, dtype="s64").view("u64") if isinstance(number, Register) else number
