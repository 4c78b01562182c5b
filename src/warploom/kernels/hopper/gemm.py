"""GEMM kernel for Hopper: D = epilogue(A B).

One producer warpgroup copies tiles of A and B to shared memory by TMA. The consumer warpgroups multiply by wgmma.
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

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
    ring,
    shared,
    special,
    tensor_map,
    u16,
    u32,
    u64,
    when,
    while_,
)
from warploom.kernels.epilogue import EpilogueArguments
from warploom.kernels.hopper.block_scales import BlockScaling, ScaleArray
from warploom.kernels.hopper.mainloop import MainLoop, SparseMetadata, releases
from warploom.kernels.hopper.partial_sums import PartialSums
from warploom.kernels.hopper.plan import HOPPER, SPAN, Plan
from warploom.kernels.hopper.store import Store
from warploom.kernels.hopper.tile_scheduler import GroupedTileScheduler, Scheduler, Sizes, TileScheduler, cluster_place
from warploom.kernels.plan import BLOCK
from warploom.kernels.ptx import ptx

_PINGPONG_BARRIERS = 4  # first of two named barriers; the stores use the barriers before
_PRODUCER_REGISTERS = {1: 40, 2: 40, 3: 32}  # registers of a thread, by the number of consumers
_CONSUMER_REGISTERS = {1: 232, 2: 232, 3: 160}
_DEFAULT = Plan()


@kernel(target=HOPPER)
def gemm(
    a: tensor_map, b: tensor_map, c: tensor_map, d: tensor_map, partial: pointer("b32"), flags: pointer("u32"),
    row_scales: pointer("f32"), column_scales: pointer("f32"), bias: pointer("f32"), metadata: pointer("b32"),
    ends: pointer("u32"), alpha: f32, beta: f32,
    d_start: pointer("b8"), d_stride: u64, d_plane: u64, m: u32, n: u32, m_tiles: u32, n_tiles: u32, k_tiles: u32,
    split: u32, tiles: u32, groups: u32,
    row_step: u64, row_block: u64, row_plane: u64, column_step: u64, column_block: u64, column_plane: u64,
    *, plan: Plan = _DEFAULT,
) -> None:  # fmt: skip
    """Compute D = epilogue(A B).

    `split` tiles are cut along K. `partial` and `flags` are memory for their partial sums. `ends` has the end row of
    each of `groups` groups of rows. `metadata` belong to a compressed A. `d_start` is the address of D. `Epilogue`
    describes the scales, `bias`, `alpha` and `beta`. `Sizes` describes `m` and `m_tiles` to `groups`.

    Units: `d_stride`, `d_plane` and the strides of block scales, from `row_step` on, are bytes.
    """
    tile, consumers = plan.tile, plan.tile.consumers
    bounds(threads=tile.threads, cluster=(tile.ctas, 1, 1), ctas_per_sm=1)
    tile_a = shared(tile.stages * tile.rows * plan.span_a, align=1024)
    tile_b = shared(tile.stages * plan.copied_columns * SPAN, align=1024)
    buffers = shared(consumers * tile.buffers * plan.buffer_bytes, align=1024)
    metadata_stages = shared(tile.stages * plan.metadata_bytes)
    arrivals = tile.tile_consumers * releases(plan)
    stages = ring(tile.stages, consumers=arrivals, cluster=tile.cluster, across=tile.across)
    addend_barriers = shared(consumers * 8, align=8)

    thread = special("tid.x")
    group = ptx.shfl_idx(thread >> 7, 0, 31, -1)
    with when(thread == 0):
        for tensor in (a, b, d):
            ptx.prefetch(Location(tensor), level="tensormap")
        stages.start()
        if plan.epilogue.addend:
            for number in range(consumers):
                ptx.mbarrier_init(addend_barriers.at(8 * number), 1)
        ptx.fence_proxy(proxykind="async")
    if tile.ctas > 1:
        ptx.barrier_cluster_arrive(aligned=True)
        ptx.barrier_cluster_wait(aligned=True)
    else:
        ptx.bar(0)
    # The previous grid of the stream may still write A or B until here.
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    sizes = Sizes(m, m_tiles, n_tiles, k_tiles, split, tiles, groups)
    scheduler = GroupedTileScheduler(ends, sizes, tile) if plan.grouped else TileScheduler(sizes, tile, plan.cut)
    state = stages.state()
    start_a, start_b = tile_a.address(), tile_b.address()
    sparse = SparseMetadata(plan, metadata, metadata_stages, m, k_tiles) if plan.sparse else None

    with when(group == 0):
        ptx.setmaxnreg_dec(_PRODUCER_REGISTERS[consumers])
        with when(thread == 0):
            produce(plan, scheduler, state, a, b, start_a, start_b, sparse)
    with otherwise():
        ptx.setmaxnreg_inc(_CONSUMER_REGISTERS[consumers])
        number, mine = group - 1, thread & 127
        sums = [new(plan.register_type) for _ in range(plan.accumulators)]
        arguments = EpilogueArguments(alpha, beta, row_scales, column_scales, bias, m, n, d_start, d_stride, d_plane)
        store = Store(plan, d, c, buffers, addend_barriers, number, mine, arguments)
        partial_sums = None
        if plan.cut and isinstance(scheduler, TileScheduler):
            partial_sums = PartialSums(plan, scheduler, partial, flags, number, mine)
        rank = special("cluster_ctarank") if tile.ctas > 1 else 0
        block = 0 if tile.pingpong else number * tile.blocks  # index of the first 64 rows in the tile
        scaling = None
        if plan.block_scales:
            of_rows = ScaleArray(row_scales, row_step, row_block, row_plane)
            of_columns = ScaleArray(column_scales, column_step, column_block, column_plane)
            scaling = BlockScaling(plan, of_rows, of_columns, m, n, mine)
        multiply = MainLoop(plan, state, block, mine, start_a, start_b, sparse, scaling)
        origin = new(u32), new(u32), new(u32)

        def locate() -> None:
            row, column, batch = scheduler.origin(rank)
            for register, value in zip(origin, (row + block * 64, column, batch), strict=True):
                register.set(value)

        def compute(issued: Callable[[], None]) -> None:
            def last() -> None:
                if scaling is None:
                    locate()  # computes the origin while the tensor cores multiply
                issued()

            if scaling is not None:
                locate()
                scaling.start(*origin, scheduler.first)
            multiply(scheduler, sums, last)
            if partial_sums is None:
                store(sums, *origin, scheduler.bottom)
                return
            with when(scheduler.last - scheduler.first != k_tiles):
                partial_sums.store(sums)
            with otherwise():
                store(sums, *origin, scheduler.bottom)

        if tile.pingpong:
            _pingpong(scheduler, state, number, compute)
        else:
            with while_(scheduler.has_next):
                scheduler.take()
                compute(scheduler.prefetch_group)
        if partial_sums is not None:
            items = partial_sums.scheduler

            def place(tile: Any) -> Any:
                row, column, batch = items.origin(rank, tile)
                return store.columns(row + block * 64, column, batch, m)

            partial_sums.finish(place)
        store.finish()


def _pingpong(
    scheduler: Scheduler, ring: RingState, number: Any, compute: Callable[[Callable[[], None]], None]
) -> None:
    """Let two consumers compute work items in turn. This consumer has the index `number`, 0 or 1.

    `compute` must call its argument after it has waited for the last stage of an item.
    """
    turn, waits = new(u32, 0), new(u32, 0)
    with while_(scheduler.has_next):
        scheduler.take()
        scheduler.prefetch_group()

        # Otherwise a consumer could fall two phases behind. The parity of an mbarrier cannot distinguish these phases.
        def hand_over() -> None:
            with when(scheduler.has_next()):
                ptx.bar_arrive((number ^ 1) + _PINGPONG_BARRIERS, 256)

        with when(turn == number):
            with when(waits != 0):
                ptx.bar(number + _PINGPONG_BARRIERS, 256)
            compute(hand_over)
        with otherwise():
            ring.skip(scheduler.last - scheduler.first)
        turn ^= 1
        waits.set(1)


def produce(
    plan: Plan,
    scheduler: Scheduler,
    ring: RingState,
    a: Any,
    b: Any,
    start_a: Any,
    start_b: Any,
    metadata: SparseMetadata | None,
) -> None:
    """Copy the tiles of A and B to shared memory for all work items of this CTA.

    `a` and `b` are tensor maps. The stages of A start at address `start_a`, and those of B at `start_b`.
    """
    tile = plan.tile
    rank = special("cluster_ctarank") if tile.ctas > 1 else 0
    of_m, of_n = cluster_place(rank, tile)
    # Each CTA copies a part of A for its neighbours along N, and a part of B for those along M.
    copy_a = OperandCopy(plan, "a", a, start_a, of_n, neighbors(of_m, range(0, tile.ctas, tile.cluster)))
    copy_b = OperandCopy(plan, "b", b, start_b, of_m, neighbors(of_n * tile.cluster, range(tile.cluster)))
    with while_(scheduler.has_next):
        scheduler.take()
        scheduler.prefetch_group()
        top, left, batch = scheduler.origin(rank)
        row, column = copy_a.first_line(top), copy_b.first_line(left)
        k_tile = new(u32, scheduler.first)
        k = new(u32, scheduler.first * plan.stage_k)
        with while_(lambda: k_tile < scheduler.last):
            ring.wait_empty()
            ptx.mbarrier_arrive_expect_tx(ring.barrier(), plan.stage_bytes)
            copy_a(ring, k >> 1 if plan.sparse else k, row, batch)
            copy_b(ring, k, column, batch)
            if metadata is not None:
                metadata.copy(ring, top, k_tile, 0 if "a" in plan.broadcast else batch)
            k += plan.stage_k
            k_tile += 1
            ring.advance()
    if tile.ctas > 1:
        wait_for_releases(ring)


def wait_for_releases(ring: RingState) -> None:
    """Wait until all stages are released, because a peer must not arrive at a CTA that has exited."""
    for _ in range(ring.ring.stages):
        ring.wait_empty()
        ring.advance()


def neighbors(first: Any, ranks: range) -> Any:
    """Return the mask of the CTAs `first` + each of `ranks` of a cluster, or None for only one CTA."""
    return None if len(ranks) == 1 else ptx.shl(new(u16, sum(1 << each for each in ranks)), first, type="b16")


class OperandCopy:
    """Copies of the stages of operand "a" or "b" of a plan to shared memory.

    `tensor` is the tensor map of the operand, and `start` the address of its first stage. A line is a row of A or a
    column of B. If several CTAs of a cluster have the same lines, `mask` contains them. The CTA with the index `place`
    among them copies a part of the stage for all of them: some of the lines, or some of K if K is not contiguous.
    """

    def __init__(self, plan: Plan, name: str, tensor: Any, start: Any, place: Any, mask: Any) -> None:
        self.lines, self.span, self.is_along_k = plan.stage_layout(name)
        self.tensor, self.start, self.place, self.mask, self.rank = tensor, start, place, mask, plan.rank(name)
        # Lines or elements of K that this CTA copies.
        self.part = (self.lines if self.is_along_k else plan.stage_k) // plan.sharers(name)

    def first_line(self, line: Any) -> Any:
        """Return the first line that this CTA copies for the tile that starts at `line`."""
        return line + self.place * self.part if self.is_along_k and self.mask is not None else line

    def __call__(self, ring: RingState, k: Any, line: Any, batch: Any) -> None:
        """Copy this CTA's part of the stage that starts at element `k` of K.

        `line` is a result of `first_line`.
        """
        target = self.start + ring.stage * (self.lines * self.span)
        words: dict[str, Any] = {"dim": f"{self.rank}d"}
        if self.mask is not None:
            words |= {"multicast": "multicast::cluster", "ctaMask": self.mask}
            target = target + self.place * (self.part * self.span)
            k = k if self.is_along_k else k + self.place * self.part
        for block in range(1 if self.is_along_k else self.lines // BLOCK):
            inner, outer = (k, line) if self.is_along_k else (line + block * BLOCK if block else line, k)
            source = Location(self.tensor, coordinates=(inner, outer, batch)[: self.rank])
            to = target.at(block * BLOCK * SPAN, "shared::cluster")
            ptx.cp_async_bulk_tensor(to, source, ring.barrier("shared::cluster"), dst="shared::cluster", **words)
