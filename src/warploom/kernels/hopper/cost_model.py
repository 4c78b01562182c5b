"""Estimated times of the Hopper kernel, by which tiles and schedules are chosen.

The constants were fitted to times on an H200 (`tests/evidence/kernels_speed/random_h200.json`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil, prod

from warploom.diagnostics import UsageError
from warploom.kernels.hopper.plan import (
    EXCHANGED_COLUMNS,
    LOADS,
    METADATA,
    QUADS,
    SPAN,
    STEP,
    VECTOR_COLUMNS,
    Plan,
    Tile,
)
from warploom.kernels.plan import BLOCK, size_of
from warploom.kernels.problem import Problem


@dataclass(frozen=True, slots=True)
class Device:
    """Parameters of a GPU for the estimates.

    Units: clocks, except GHz for `clock`, bytes per clock for `port` and `cache_rate`, and TB/s for `memory`.
    `misaligned` and `exposed` are factors.
    """

    multiprocessors: int = 132
    clock: float = 1.61
    issue: float = 10.4  # per wgmma, in addition to its products
    alone: float = 19.9  # per wgmma in place of `issue`, if only one consumer multiplies a tile
    metadata_wait: float = 37.0  # per stage of a sparse A, until the next metadata may be loaded
    promotion: float = 0.33  # per column whose sums are promoted, by one consumer
    scaling: float = 0.53  # per column with block scales, if one consumer has the tensor cores alone
    port: float = 100.0  # from L2 to a multiprocessor
    cache_rate: float = 10110.0  # from L2 to all multiprocessors
    misaligned: float = 1.93  # factor of the bytes from L2, if the rows of an operand are no multiples of 128 bytes
    memory: float = 3.51
    end: float = 118.8  # per tile, in addition to its products and columns
    row: float = 1.11  # per row of a box of D that a tensor copy stores
    exposed: float = 2.0  # factor of a tile's end that pingpong consumers do not overlap
    cut: float = 2288.0  # per launch with tiles that are cut along K
    piece: float = 0.468  # per element of a tile whose partial sums are stored
    round: float = 939.7  # per round of loads of partial sums
    launch: float = 2946.0
    exchanged_end: float = 25.5  # per exchanged tile
    exchanged_column: float = 3.05  # per column of an exchanged tile
    exchange: float = 12.6  # per column of a tile, whose sums the CTAs of a cluster exchange


H200 = Device()
RESIDENT = {1: 132, 2: 132, 4: 120, 8: 112}
"""CTAs that run at once on an H200, one on a multiprocessor, by the number of CTAs of a cluster."""

# Exchanged tiles, measured on an H200.
_VECTOR_RATE = 4.45  # TB/s
_VECTOR_TIMES = {1: 1.0, 2: 1.04, 4: 1.27}  # by the number of columns, relative to one column
_VECTOR_LAUNCH = 1.2  # microseconds
_EXCHANGED_RATE = 4.29  # TB/s
_CLUSTER_LAUNCH = {1: 2.19, 2: 2.46, 4: 2.53, 8: 2.78}  # microseconds by the number of CTAs of a cluster
_SPLIT_LAUNCH = 4.5  # microseconds, with partial sums in global memory
_WAVE = 1.53  # microseconds for each further wave of CTAs
_MULTIPROCESSOR_RATE = 0.0882  # TB/s
_AGAIN = 0.082  # microseconds per MB from L2
_FEW_COLUMNS = 64  # rows of A that are the columns of one exchanged tile
_MOST_WITH_ADDEND = 64  # columns of an exchanged tile without a cluster; with more, the assembler spills
_FEW = 32  # rows of A for which only exchanged tiles are considered
_BANK_BYTES = 128  # bytes of shared memory that are read in a clock
_MAX_USEFUL_STAGES = 9
_OVERLAP_NORM = 3.01  # exponent of the norm that combines two partly overlapping times


@dataclass(frozen=True, slots=True)
class TileSchedule:
    """Distribution of tiles over CTAs.

    `ctas` is the size of the grid. `split` is the number of tiles that are cut along K, and `tiles` the number of all
    tiles. `stages` is the number of stages of a tile.
    """

    ctas: int
    split: int
    tiles: int
    stages: int

    def limited(self, tile: Tile, multiprocessors: int) -> TileSchedule:
        """Return the schedule for a GPU with this number of multiprocessors.

        CTAs that share a cut tile wait for each other, so all CTAs of the launch must run at once.
        """
        most = RESIDENT[tile.cluster] * multiprocessors // H200.multiprocessors // tile.cluster * tile.cluster
        return replace(self, ctas=min(self.ctas, most)) if self.split else self

    def workspace(self, plan: Plan) -> tuple[int, int] | None:
        """Return the numbers of 32-bit words and of flags for partial sums, or None without cut tiles.

        The flags are initially 0.
        """
        if self.split == 0:
            return None
        consumers = plan.tile.tile_consumers
        return 2 * self.ctas * consumers * 128 * plan.accumulators, self.split * plan.tile.cluster * consumers


def tile_counts(problem: Problem, plan: Plan) -> tuple[int, int]:
    """Return the number of tiles along M, counted in clusters, and the number of tiles along N."""
    tile = plan.tile
    if tile.exchanged:
        return ceil(problem.m / tile.columns), ceil(problem.n / tile.rows)
    return ceil(problem.m / (tile.rows * tile.cluster)), ceil(problem.n / tile.columns)


def schedules(problem: Problem, plan: Plan) -> Iterator[TileSchedule]:
    """Yield a schedule without tiles that are cut along K. If useful, also yield one with such tiles."""
    tile = plan.tile
    tiles = prod(tile_counts(problem, plan)) * problem.batch
    stages = ceil(problem.k / plan.stage_k)
    if tile.exchanged:
        slots = H200.multiprocessors * plan.ctas_per_sm
        if tile.cluster > 1 or tile.is_vector:
            yield TileSchedule(tiles * tile.cluster, 0, tiles, stages)
        elif plan.ctas_per_sm == 1 and tiles % slots and stages > 1:
            yield TileSchedule(min(tiles * stages, slots), tiles, tiles, stages)
        else:
            yield TileSchedule(min(tiles, slots), 0, tiles, stages)
        return
    clusters = RESIDENT[tile.cluster] // tile.cluster
    yield TileSchedule(min(tiles, clusters) * tile.cluster, 0, tiles, stages)
    left = tiles % clusters
    # CTAs that read different parts of K share nothing in L2, so without clusters only few tiles are cut.
    if left and stages > 1 and (tile.cluster > 1 or tiles < clusters):
        split = tiles if tiles < clusters else left + clusters
        yield TileSchedule(min(clusters, split * stages) * tile.cluster, split, tiles, stages)


def microseconds(problem: Problem, plan: Plan, schedule: TileSchedule) -> float:
    """Return the estimated time of a launch. Units: microseconds."""
    device, tile = H200, plan.tile
    if tile.exchanged and problem.m <= _FEW_COLUMNS:
        return _few_row_microseconds(problem, plan, schedule)
    stored = _stored_fraction(plan)
    operands = size_of(plan.a) * (problem.m * stored + problem.n) * problem.k * problem.batch
    if tile.exchanged:
        store = 0.0
        end, launch = device.exchanged_end + device.exchanged_column * tile.columns, _CLUSTER_LAUNCH[tile.cluster]
    else:
        store = device.row * tile.rows * tile.columns / plan.box_columns
        end = device.end + store
        launch = device.launch / (device.clock * 1e3)
    stage = _stage_clocks(problem, plan, schedule)
    if schedule.split:
        clusters = schedule.ctas // tile.cluster
        clocks = schedule.tiles * schedule.stages / clusters * stage + _cut_clocks(plan, clusters, schedule.split)
        clocks += end * (ceil(schedule.tiles / clusters) - 1)
    elif tile.exchanged:
        units = schedule.tiles * tile.cluster
        resident = RESIDENT[tile.cluster]
        clocks = ceil(units / resident) * ceil(schedule.stages / tile.cluster) * stage
        clocks += end * (ceil(units / (resident * plan.ctas_per_sm)) - 1)
        if tile.cluster > 1:
            clocks += device.exchange * (tile.cluster - 1) / tile.cluster * tile.columns * tile.rows / 64
    else:
        waves = ceil(schedule.tiles / (schedule.ctas // tile.cluster))
        products = schedule.stages * stage
        if tile.pingpong:
            clocks = waves * (_overlapped(products, store) + device.end * device.exposed)
        else:
            clocks = waves * products + (waves - 1) * end
    transfer = (operands + size_of(plan.d) * problem.m * problem.n * problem.batch) / (device.memory * 1e6)
    rate = device.clock * 1e3
    time = _overlapped(clocks / rate, transfer) + end / rate + launch
    return time * _unevenness(schedule.tiles) if problem.m <= 64 and schedule.split == 0 else time


def _cut_clocks(plan: Plan, clusters: int, split: int) -> float:
    """Return the time to store partial sums and to add them. Units: clocks."""
    device, quads = H200, plan.accumulators // plan.quad_registers
    parts = clusters // split + 2 if clusters % split else clusters // split  # of a tile
    pieces = 2 if clusters % split else 1  # cut tiles of a cluster
    mine = ceil(quads / parts)
    rounds = ceil(mine / QUADS) * ceil(parts * QUADS / LOADS) if mine > 1 else ceil(parts / LOADS)
    return device.cut + pieces * (device.piece * plan.tile.rows * plan.tile.columns + device.round * rounds)


def _stored_fraction(plan: Plan) -> float:
    """Return the size of A with its metadata, relative to that of a dense A."""
    return (plan.span_a + plan.metadata_words * METADATA / 64) / SPAN


def _stage_clocks(problem: Problem, plan: Plan, schedule: TileSchedule) -> float:
    """Return the time of a stage of a tile on a multiprocessor. Units: clocks."""
    device, tile = H200, plan.tile
    blocks = tile.rows // 64
    overhead = device.issue if blocks > 1 else device.alone
    # An instruction of a sparse A reads twice as much of B as one of a dense A, and is limited by shared memory.
    fed = (64 * STEP + tile.columns * SPAN / plan.steps) / _BANK_BYTES if plan.sparse else 0.0
    wait = device.metadata_wait if plan.sparse else 0.0
    products = (plan.steps * (max(tile.columns / 2, fed) + overhead) + wait) * blocks
    if plan.promotion_stages:
        each = device.promotion if tile.tile_consumers > 1 or not plan.block_scales else device.scaling
        products += each * tile.columns * blocks * 4 / plan.promotion_stages
    rows, columns = tile.rows * _stored_fraction(plan) * SPAN, tile.columns * SPAN
    sharing = 1 if tile.exchanged else tile.cluster
    a, b = (device.misaligned if _is_misaligned(problem, name) else 1.0 for name in ("ba" if tile.exchanged else "ab"))
    active = min(schedule.ctas, device.multiprocessors)
    copies = max(
        (rows + columns / sharing) / device.port, (rows * a + columns / sharing * b) * active / device.cache_rate
    )
    return _overlapped(products, copies)


def _is_misaligned(problem: Problem, operand: str) -> bool:
    """Return True if the rows of A or B in memory are no multiples of 128 bytes."""
    major, lines = (problem.a_major, problem.m) if operand == "a" else (problem.b_major, problem.n)
    return (problem.k if major == "k" else lines) * size_of(problem.a) % SPAN != 0


def _few_row_microseconds(problem: Problem, plan: Plan, schedule: TileSchedule) -> float:
    """Return the estimated time of a launch whose tiles have all rows of A. Units: microseconds."""
    tile, size = plan.tile, size_of(plan.a)
    m, n, k = problem.m, problem.n, problem.k
    weights, tokens = (size * lines * k * problem.batch / 1e6 for lines in (n, m))
    stored = size_of(plan.d) * m * n * problem.batch / 1e6
    if tile.is_vector:
        slower = _VECTOR_TIMES[tile.columns]
        return (weights + tokens + stored) / _VECTOR_RATE * slower + _VECTOR_LAUNCH
    again = tokens * ceil(n / tile.rows)  # each tile reads all of its rows of A from L2
    time = (weights + tokens + stored) / _EXCHANGED_RATE + again * _AGAIN
    if schedule.split:
        return time + _SPLIT_LAUNCH
    waves = 1 if tile.cluster == 1 else ceil(schedule.ctas / (RESIDENT[tile.cluster] * plan.ctas_per_sm))
    launch = _CLUSTER_LAUNCH[tile.cluster] + _WAVE * (waves - 1)
    units = schedule.tiles * tile.cluster
    busiest = ceil(units / RESIDENT[tile.cluster]) * ceil(schedule.stages / tile.cluster) * plan.stage_bytes / 1e6
    return max(time * _unevenness(units), busiest / _MULTIPROCESSOR_RATE) + launch


def _unevenness(tiles: int) -> float:
    """Return the factor by which few tiles, some of which share a multiprocessor, take longer to read B."""
    share = tiles / H200.multiprocessors
    # A multiprocessor with more tiles than others gets a larger part of the bandwidth of the memory.
    return (ceil(share) / share) ** 0.15


def _overlapped(first: float, second: float) -> float:
    return (first**_OVERLAP_NORM + second**_OVERLAP_NORM) ** (1 / _OVERLAP_NORM)


def tiled_plans(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with each legal tile. Each tile has as many stages as are useful and fit."""
    # If tiles start with a scale block, a thread needs fewer scales.
    step = 64 if plan.b_major == "n" or plan.block_scales.columns else 16
    for columns in range(64, 257, step):
        yield from _with_max_stages(plan, Tile(128, columns, 2, 1))
        yield from _with_max_stages(plan, Tile(128, columns, 2, 2))
        yield from _with_max_stages(plan, Tile(64, columns, 2, 1))
        yield from _with_max_stages(plan, Tile(256, columns, 2, 1, blocks=2))
        yield from _with_max_stages(plan, Tile(256, columns, 2, 2, blocks=2))
        # With block scales, the tensor cores would wait for one consumer while the other waits too.
        if not plan.block_scales:
            yield from _with_max_stages(plan, Tile(64, columns, 2, 2, 16, pingpong=True, buffers=1))
            yield from _with_max_stages(plan, Tile(128, columns, 2, 1, 16, pingpong=True, buffers=1, blocks=2))
            yield from _with_max_stages(plan, Tile(128, columns, 2, 2, 16, pingpong=True, buffers=1, blocks=2))


def exchanged_plans(problem: Problem, plan: Plan) -> Iterator[Plan]:
    """Yield the plan with the exchanged tiles that suit the problem."""
    if plan.sparse or plan.grouped or plan.block_scales:
        return
    if problem.m <= VECTOR_COLUMNS[-1]:
        columns = next(each for each in VECTOR_COLUMNS if each >= problem.m)
        with suppress(UsageError):  # for other types
            yield plan.with_tile(Tile(4, columns, 4 if columns == 1 else 2, exchanged=True))
    if problem.m <= _FEW_COLUMNS:
        yield from _few_row_plans(problem, plan)
        return
    widths = {_exchanged_columns(problem, ceil(problem.m / parts)) for parts in range(ceil(problem.m / 256), 33)}
    for columns in sorted(widths):
        for rows in (64, 128):
            tiles = ceil(problem.n / rows) * ceil(problem.m / columns) * problem.batch
            for cluster in (1, 2, 4, 8):
                if cluster > 1 and tiles * cluster > 2 * H200.multiprocessors:
                    break
                if cluster == 1 and plan.epilogue.addend and columns > _MOST_WITH_ADDEND:
                    continue
                made = plan.with_tile(Tile(rows, columns, 2, cluster, exchanged=True))
                for ctas in {1, made.ctas_per_sm} if tiles * cluster > H200.multiprocessors else (1,):
                    stages = min(_MAX_USEFUL_STAGES, max(2, made.max_stages_of(ctas)))
                    yield made.with_tile(replace(made.tile, stages=stages))


def _few_row_plans(problem: Problem, plan: Plan) -> Iterator[Plan]:
    columns = _exchanged_columns(problem, problem.m)
    tiles = ceil(problem.n / 64) * problem.batch
    for cluster in (1, 2, 4, 8):
        made = plan.with_tile(Tile(64, columns, 2, cluster, exchanged=True))
        share = tiles * cluster / H200.multiprocessors
        if cluster == 1:
            counts = (1, 3 if 2 < share <= 3 else 2)
        else:  # with three CTAs for each multiprocessor, all CTAs of two launches fit
            counts = (1 if share <= 1 else 3 if share <= 1.5 or cluster == 4 else 2,)
        for ctas in counts:
            yield made.with_tile(replace(made.tile, stages=max(2, made.max_stages_of(ctas))))


def _exchanged_columns(problem: Problem, most: int) -> int:
    """Return the smallest number of columns of an exchanged tile for `most` rows of A."""
    step = BLOCK if problem.a_major == "m" else 1
    return next(each for each in EXCHANGED_COLUMNS if each >= most and each % step == 0)


def _with_max_stages(plan: Plan, tile: Tile) -> Iterator[Plan]:
    try:
        made = plan.with_tile(tile)
    except UsageError:
        return
    yield plan.with_tile(replace(tile, stages=min(_MAX_USEFUL_STAGES, made.max_stages)))


def configurations(problem: Problem, plan: Plan) -> Iterator[tuple[Plan, TileSchedule]]:
    """Yield (plan, schedule) for each legal tile of the plan and each schedule of the tile."""
    exchanged = list(exchanged_plans(problem, plan))
    # Tiles whose rows are mostly beyond the last row of A are slow.
    for tiled in exchanged if exchanged and problem.m <= _FEW else (*exchanged, *tiled_plans(plan)):
        if tiled.tile.cluster > 1 and not tiled.tile.exchanged and problem.m <= tiled.tile.rows:
            continue  # the other CTA would have no rows
        yield from ((tiled, schedule) for schedule in schedules(problem, tiled))


def choose(problem: Problem, plan: Plan) -> tuple[Plan, TileSchedule]:
    """Return the plan and the schedule with the shortest estimated time."""
    return min(configurations(problem, plan), key=lambda each: microseconds(problem, *each))
