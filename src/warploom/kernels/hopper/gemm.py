"""The GEMM kernel for Hopper: D = epilogue(A B).

One warpgroup brings tiles of A and B into a ring of stages by TMA; the others multiply them by wgmma, 64 rows
each, and store D by TMA. CTAs are persistent, and the last tiles are cut along K so that all end together.
"""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warploom.author import (
    Location,
    RingState,
    bounds,
    f32,
    kernel,
    new,
    otherwise,
    pointer,
    ptx,
    ring,
    shared,
    special,
    tensor_map,
    u32,
    u64,
    when,
    while_,
)  # fmt: skip
from warploom.kernels.epilogue import Factors
from warploom.kernels.hopper.block_scales import BlockFactors, Lines
from warploom.kernels.hopper.mainloop import Products, releases
from warploom.kernels.hopper.plan import SPAN, Plan
from warploom.kernels.hopper.producer import produce
from warploom.kernels.hopper.sparse_metadata import Metadata
from warploom.kernels.hopper.split_k import Exchange
from warploom.kernels.hopper.store import Store
from warploom.kernels.hopper.tile_scheduler import Groups, Sizes, Work

_TURNS = 4  # the first of two named barriers: those before serve the ways to D
_FEW = {1: 40, 2: 40, 3: 32}  # registers of a producer's thread, by the number of consumers
_MANY = {1: 232, 2: 232, 3: 160}  # and of a consumer's


_PLAIN = Plan()


@kernel(target="sm_90a")
def gemm(
    a: tensor_map, b: tensor_map, c: tensor_map, d: tensor_map, partial: pointer("b32"), flags: pointer("u32"),
    row_scales: pointer("f32"), column_scales: pointer("f32"), bias: pointer("f32"), metadata: pointer("b32"),
    ends: pointer("u32"), alpha: f32, beta: f32,
    d_start: pointer("b8"), d_stride: u64, d_plane: u64, m: u32, n: u32, m_tiles: u32, n_tiles: u32, k_tiles: u32,
    split: u32, tiles: u32, groups: u32,
    row_step: u64, row_block: u64, row_plane: u64, column_step: u64, column_block: u64, column_plane: u64,
    *, plan: Plan = _PLAIN,
) -> None:  # fmt: skip
    """D = epilogue(A B). `partial` and `flags` serve tiles that are cut along K; sizes are of tiles, D's in bytes, as
    are the strides of factors of blocks. Where rows go by groups, `ends` says where each of `groups` ends.
    """
    tile, consumers = plan.tile, plan.tile.warpgroups
    bounds(threads=tile.threads, cluster=(tile.cluster, 1, 1), ctas_per_sm=1)
    tile_a = shared(tile.stages * tile.rows * plan.span_a, align=1024)
    tile_b = shared(tile.stages * tile.columns * SPAN, align=1024)
    patches = shared(consumers * tile.buffers * plan.turn_bytes, align=1024)
    held = shared(tile.stages * plan.metadata_bytes)
    stages = ring(tile.stages, consumers=tile.sharers * releases(plan), cluster=tile.cluster)
    arrivals = shared(consumers * 8, align=8)

    thread = special("tid.x")
    group = ptx.shfl_idx(thread >> 7, 0, 31, -1)
    with when(thread == 0):
        for tensor in (a, b, d):
            ptx.prefetch(Location(tensor), level="tensormap")
        stages.start()
        if plan.epilogue.addend:
            for number in range(consumers):
                ptx.mbarrier_init(arrivals.at(8 * number), 1)
        ptx.fence_proxy(proxykind="async")
    if tile.cluster > 1:
        ptx.barrier_cluster_arrive(aligned=True)
        ptx.barrier_cluster_wait(aligned=True)
    else:
        ptx.bar(0)
    # The grid before this one in the stream may still run until here, where it may be what made A or B.
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    sizes = Sizes(m, m_tiles, n_tiles, k_tiles, split, tiles, groups)
    work = Groups(ends, sizes, tile) if plan.grouped else Work(sizes, tile)
    place = stages.state()
    start_a, start_b = tile_a.address(), tile_b.address()
    indices = Metadata(plan, metadata, held, m, k_tiles) if plan.sparse else None

    with when(group == 0):
        ptx.setmaxnreg_dec(_FEW[consumers])
        with when(thread == 0):
            produce(plan, work, place, a, b, start_a, start_b, indices)
    with otherwise():
        ptx.setmaxnreg_inc(_MANY[consumers])
        number, mine = group - 1, thread & 127
        sums = [new(plan.word) for _ in range(plan.words)]
        factors = Factors(alpha, beta, row_scales, column_scales, bias, m, n, d_start, d_stride, d_plane)
        store = Store(plan, d, c, patches, arrivals, number, mine, factors)
        exchange = None if isinstance(work, Groups) else Exchange(plan, work, partial, flags, number, mine)
        rank = special("cluster_ctarank") if tile.cluster > 1 else 0
        block = 0 if tile.alternate else number  # of the tile's rows
        of_blocks = None
        if plan.blocks:
            of_rows = Lines(row_scales, row_step, row_block, row_plane)
            of_columns = Lines(column_scales, column_step, column_block, column_plane)
            of_blocks = BlockFactors(plan, of_rows, of_columns, m, n, mine)
        products = Products(plan, place, block, mine, start_a, start_b, indices, of_blocks)

        corner = [new(u32) for _ in range(3)]

        def locate() -> None:
            row, column, batch = work.corner(rank)
            for held, found in zip(corner, (row + block * 64, column, batch), strict=True):
                held.set(found)

        def compute(begun: Callable[[], None]) -> None:
            def last() -> None:
                if of_blocks is None:
                    locate()  # its divisions take as long as the tensor cores are still at work
                begun()

            if of_blocks is not None:
                locate()
                of_blocks.start(*corner, work.first)
            products(work, sums, last)
            if exchange is None:
                store(sums, *corner, work.bottom)
                return
            with when(work.last != k_tiles):
                exchange.leave(sums)
            with otherwise():
                with when(work.first != 0):
                    exchange.collect(sums)
                store(sums, *corner, work.bottom)

        if tile.alternate:
            by_turns(work, place, number, compute)
        else:
            with while_(work.left):
                work.take()
                compute(work.walk)
        store.finish()


def by_turns(
    work: Work | Groups, place: RingState, number: Any, compute: Callable[[Callable[[], None]], None]
) -> None:
    """Two consumers take a piece of work each by turns. One begins when the other has seen the last of its stages:
    a parity tells one phase of a stage from the next alone.
    """
    turn, waits = new(u32, 0), new(u32, 0)
    with while_(work.left):
        work.take()
        work.walk()

        def hand_over() -> None:
            with when(work.left()):
                ptx.bar_arrive((number ^ 1) + _TURNS, 256)

        with when(turn == number):
            with when(waits != 0):
                ptx.bar(number + _TURNS, 256)
            compute(hand_over)
        with otherwise():
            place.skip(work.last - work.first)
        turn ^= 1
        waits.set(1)
