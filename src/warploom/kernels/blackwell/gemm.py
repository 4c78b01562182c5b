"""GEMM kernel for Blackwell: D = epilogue(A B), with accumulators in tensor memory.

Each CTA has six warps. The first copies tiles of A and B to shared memory by TMA. The second multiplies them. The other
four store the accumulators. While they store one tile, the second warp computes the next. With pairs of CTAs, the
second warp of the even CTA multiplies for both.
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownVariableType=false

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from warploom.author import (
    Accumulator,
    Kernel,
    Register,
    Ring,
    SharedScales,
    TensorMemory,
    Tile,
    bounds,
    cluster_rank,
    elected,
    f32,
    guarded,
    kernel,
    new,
    pointer,
    ring,
    shared,
    shared_scales,
    shared_tile,
    special,
    tensor_map,
    tensor_memory,
    u32,
    u64,
    warp,
    when,
    while_,
)
from warploom.kernels.blackwell.plan import ACCUMULATORS, ROWS, SPAN, TARGETS, TensorPlan
from warploom.kernels.epilogue import EpilogueArguments
from warploom.kernels.plan import BLOCK_FORMATS, bits_of, tile_position
from warploom.kernels.ptx import ptx
from warploom.kernels.warp_store import Store

_BLOCK_VERSION = "8.8"  # the PTX version that introduced blocks of 16 elements
_STORING = 4  # warps that store
_BOTH = 3  # mask of the CTAs of a pair
_DEFAULT = TensorPlan()


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Tiles of A and B in shared memory and, for block formats, their scale factors."""

    a: Tile
    b: Tile
    scales: tuple[SharedScales, SharedScales] | None

    @classmethod
    def allocate(cls, plan: TensorPlan) -> "_Tiles":
        tile = plan.tile

        def of(rows: int, type_word: str, major: str) -> Tile:
            words: Any = {"major": "k" if major == "k" else "mn"}
            return shared_tile(rows, plan.stage_k, type_word, stages=plan.stages, **words)

        a, b = of(ROWS, plan.a, plan.a_major), of(tile.columns // tile.ctas, plan.b, plan.b_major)
        if not plan.scaling:
            return cls(a, b, None)
        scale = BLOCK_FORMATS[plan.scaling].scale
        rows, columns = (shared_scales(each, plan.blocks, scale, stages=plan.stages) for each in (ROWS, tile.columns))
        return cls(a, b, (rows, columns))


@dataclass(frozen=True, slots=True)
class _Work:
    """Tiles of D that a cluster computes. `rank` is the rank of this CTA."""

    plan: TensorPlan
    rank: Any
    m_tiles: Any
    n_tiles: Any
    k_tiles: Any
    tiles: Any

    def each(self, compute: Callable[[Any, Any, Any], None]) -> None:
        """Call `compute` with the first row of this CTA, the column and the batch of each tile."""
        tile, step = new(u32, special("clusterid.x")), special("nclusterid.x")
        shape = self.plan.tile
        with while_(lambda: tile < self.tiles):
            row, column, batch = tile_position(tile, self.m_tiles, self.n_tiles, shape.group)
            row = row * shape.rows + self.rank * ROWS if shape.pair else row * ROWS
            compute(row, column * shape.columns, batch)
            tile += step

    def each_stage(self, compute: Callable[[Register], None]) -> None:
        """Call `compute` for each stage of K, with its number."""
        k_tile = new(u32, 0)
        with while_(lambda: k_tile < self.k_tiles):
            compute(k_tile)
            k_tile += 1


@cache
def kernel_of(plan: TensorPlan) -> Kernel:
    """Return the kernel of a plan."""
    factors = tensor_map if plan.scaling else pointer("f32")

    @kernel(target=TARGETS[0])
    def tensor_gemm(
        a: tensor_map, b: tensor_map, c: pointer("b8"), d: pointer("b8"), row_scales: factors, column_scales: factors,
        bias: pointer("f32"), alpha: f32, beta: f32,
        c_stride: u32, d_stride: u32, c_plane: u64, d_plane: u64, m: u32, n: u32,
        m_tiles: u32, n_tiles: u32, k_tiles: u32, tiles: u32,
        *, plan: TensorPlan = _DEFAULT,
    ):  # fmt: skip
        """Compute D = epilogue(A B).

        `Epilogue` describes the scales, `bias`, `alpha` and `beta`. For block formats, `row_scales` and
        `column_scales` are tensor maps of scale factors. Units: bytes for strides (of rows) and planes (of batches).
        """
        tile = plan.tile
        bounds(threads=tile.threads, cluster=(tile.ctas, 1, 1), ctas_per_sm=1)
        operands = _Tiles.allocate(plan)
        buffers = shared(_STORING * plan.buffer_bytes, align=128)
        stages = ring(plan.stages, consumers=1)
        accumulators = ring(ACCUMULATORS, consumers=_STORING * tile.ctas)
        with when(special("tid.x") == 0):
            stages.start()
            accumulators.start()
        with tensor_memory(plan.tensor_columns, warp=1, ctas=tile.ctas) as memory:
            accumulator: Any = plan.accumulator
            sums = memory.accumulator(tile.columns, accumulator, stages=ACCUMULATORS)
            role = warp()
            rank: Any = cluster_rank() if tile.pair else 0
            work = _Work(plan, rank, m_tiles, n_tiles, k_tiles, tiles)
            with when(role == 0, uniform=True), when(elected()):
                _produce(work, stages, operands, a, b, row_scales, column_scales)
            leads = when(rank == 0) if tile.pair else nullcontext()
            with when(role == 1, uniform=True), when(elected()), leads:
                _multiply(work, memory, stages, accumulators, operands, sums)
            with when(role >= 2, uniform=True):
                arguments = EpilogueArguments(alpha, beta, row_scales, column_scales, bias, m, n, d, d_stride, d_plane)
                _store(work, accumulators, sums, buffers.address(), arguments, (c, c_stride, c_plane))

    version = _BLOCK_VERSION if plan.scaling else ""
    return replace(tensor_gemm, target=plan.target, version=version, constants={"plan": plan})


def _produce(work: _Work, stages: Ring, tiles: _Tiles, a: Any, b: Any, row_scales: Any, column_scales: Any) -> None:
    """Copy the tiles of A and B, and the scale factors, for all tiles of this cluster."""
    plan, rank = work.plan, work.rank
    pair, ctas = plan.tile.pair, plan.tile.ctas
    state = stages.state()
    if pair:  # the mbarriers of the even CTA count the copies of both
        state = replace(state, full=ptx.mapa(state.full, 0, space="shared::cluster", type="u32"))
    step = plan.stage_k if bits_of(plan.a) >= 8 else SPAN  # elements of the tensor map

    def copy(row: Any, column: Any, batch: Any) -> None:
        first = column + rank * (plan.tile.columns // ctas) if pair else column

        def load(k_tile: Register) -> None:
            state.wait_empty()
            barrier, k = state.barrier("shared::cluster"), k_tile * step
            with when(rank == 0) if pair else nullcontext():
                own = (stages.full.address() + state.stage * 8).at(space="shared::cta")
                ptx.mbarrier_arrive_expect_tx(own, ctas * plan.stage_bytes)
            tiles.a.load(a, (k, row, batch)[: plan.rank("a")], barrier, state.stage, pair=pair)
            tiles.b.load(b, (k, first, batch)[: plan.rank("b")], barrier, state.stage, pair=pair)
            if tiles.scales is not None:
                atom = k_tile * (plan.blocks // 4)
                for name, map_, shared_factors, line in zip(
                    "ab", (row_scales, column_scales), tiles.scales, (row, column), strict=True
                ):
                    origin = (atom, line >> 7, batch)[: plan.rank(name)]
                    shared_factors.load(map_, origin, barrier, state.stage, pair=pair)
            state.advance()

        work.each_stage(load)

    work.each(copy)
    # The CTA must not exit before the last arrivals at its mbarriers.
    for _ in range(plan.stages):
        state.wait_empty()
        state.advance()


def _multiply(
    work: _Work, memory: TensorMemory, stages: Ring, accumulators: Ring, tiles: _Tiles, sums: Accumulator
) -> None:
    """Multiply all tiles of this cluster."""
    state, target = stages.state(), accumulators.state()
    a, b = tiles.a.descriptor(), tiles.b.descriptor()
    factors = None
    if tiles.scales is not None:
        factors = memory.scales(tiles.scales[0]), memory.scales(tiles.scales[1])
    mask = new("u16", _BOTH) if work.plan.tile.pair else None

    def compute(_row: Any, column: Any, _batch: Any) -> None:
        used = factors
        if used is not None and work.plan.tile.columns % ROWS:  # the tile may begin within 128 columns
            used = used[0], used[1].from_row(column & ROWS - 1)
        target.wait_empty()
        ptx.tcgen05_fence_after_thread_sync()

        def multiply(k_tile: Register) -> None:
            state.wait_full()
            for each in factors or ():
                each.copy(state.stage)
            accumulate = k_tile != 0
            here = a.stage(state.stage), b.stage(state.stage)
            sums.multiply(*here, accumulate=accumulate, stage=target.stage, scales=used)
            memory.commit(state.barrier("shared::cluster", empty=True), multicast=mask)
            state.advance()

        work.each_stage(multiply)
        memory.commit(target.barrier("shared::cluster"), multicast=mask)
        target.advance()

    work.each(compute)


def _store(
    work: _Work, accumulators: Ring, sums: Accumulator, buffers: Any, arguments: EpilogueArguments, addend: Any
) -> None:
    """Apply the epilogue to all tiles of this cluster, and store them. Each warp stores 32 rows."""
    plan = work.plan
    state = accumulators.state()
    quarter, lane = warp() & 3, special("tid.x") & 31
    store = Store(plan, plan.subtile_columns, buffers + quarter * plan.buffer_bytes, lane, arguments, addend)
    empty = state.empty
    if plan.tile.pair:
        empty = ptx.mapa(empty, 0, space="shared::cluster", type="u32")

    def compute(row: Any, column: Any, batch: Any) -> None:
        state.wait_full()
        ptx.tcgen05_fence_after_thread_sync()
        for first in range(0, plan.tile.columns, plan.subtile_columns):
            found = [
                _registers(plan, sums.load(first, plan.subtile_columns, stage=state.stage, shape="16x256b", half=half))
                for half in (0, 1)
            ]
            if first + plan.subtile_columns == plan.tile.columns:
                ptx.tcgen05_fence_before_thread_sync()
                ptx.bar_warp(0xFFFFFFFF)
                with guarded(lane == 0):
                    space = "shared::cluster" if plan.tile.pair else "shared::cta"
                    ptx.mbarrier_arrive((empty + state.stage * 8).at(space=space))
            ptx.bar_warp(0xFFFFFFFF)  # the buffer of the last subtile has been read
            store(found, row + quarter * 32, column + first, batch)
        state.advance()

    work.each(compute)


def _registers(plan: TensorPlan, loaded: list[Register]) -> list[Register]:
    """Return loaded accumulators as the epilogue expects them: two f16 in a register, or one element."""
    if plan.accumulator == "f16":
        pairs = zip(loaded[::2], loaded[1::2], strict=True)
        return [ptx.prmt(low, high, 0x5410) for low, high in pairs]
    return [each.view(plan.accumulator) for each in loaded]
