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
    LOADS,
    METADATA,
    QUADS,
    SPAN,
    STEP,
    VECTOR_COLUMNS,
    Plan,
    Tile,
    exchanged_columns,
)
from warploom.kernels.plan import size_of
from warploom.kernels.problem import Problem


@dataclass(frozen=True, slots=True)
class Device:
    """Parameters of a GPU for the estimates.

    Units: clocks, except GHz for `clock`, bytes per clock for `receive`, `cache_rate` and `filled`, and TB/s for
    `memory` and `written`. `within_lines` and `within_sectors` are factors.
    """

    multiprocessors: int = 132
    clock: float = 1.518
    issue: float = 13.0  # per wgmma, in addition to its products
    turns: float = 2.0  # per wgmma in place of `issue`, if pingpong consumers have two blocks each
    metadata_wait: float = 37.0  # per stage of a sparse A, until the next metadata may be loaded
    promotion: float = 0.33  # per column whose sums are promoted, by one consumer
    scaling: float = 0.53  # per column with block scales, if one consumer has the tensor cores alone
    receive: float = 97.92  # by a multiprocessor, from its own copies and those of the cluster
    stage: float = 175.0  # least time of a stage of a CTA
    pair: float = 38.94  # per stage, if two CTAs copy for each other
    cache_rate: float = 10313.0  # from L2 to all multiprocessors
    within_lines: float = 1.833  # factor of the bytes from L2, if rows of A or B are no multiples of 128 bytes
    within_sectors: float = 2.811  # the same, if they are no multiples of 32 bytes
    memory: float = 5.0  # of A and B from memory
    spread: float = 0.1286  # exponent of the part of the multiprocessors that read from memory
    written: float = 4.5  # of D to memory
    filled: float = 9000.0  # into the first stages, and from the last tiles, of all multiprocessors
    end: float = 306.7  # per tile, in addition to its products and columns
    row: float = 0.5013  # per row of a box of D that a tensor copy stores
    cut: float = 1836.0  # per launch with tiles that are cut along K
    piece: float = 0.5299  # per element of a tile whose partial sums are stored
    round: float = 432.4  # per round of loads of partial sums
    launch: float = 2308.0
    exchanged_column: float = 7.178  # per column of an exchanged tile
    exchanged_word: float = 9.058  # per column of an exchanged tile with 32-bit elements of D
    exchange: float = 3.097  # per column of a tile, whose sums the CTAs of a cluster exchange


H200 = Device()
RESIDENT = {1: 132, 2: 132, 4: 120, 8: 112}
"""CTAs that run at once on an H200, one on a multiprocessor, by the number of CTAs of a cluster."""

# Exchanged tiles, measured on an H200.
_VECTOR_RATE = 4.45  # TB/s
_VECTOR_TIMES = {1: 1.0, 2: 1.04, 4: 1.27}  # by the number of columns, relative to one column
_VECTOR_LAUNCH = 1.2  # microseconds
_EXCHANGED_RATE = 3.995  # TB/s
_CLUSTER_LAUNCH = {1: 1.425, 2: 1.916, 4: 2.155, 8: 2.399}  # microseconds by the number of CTAs of a cluster
_SPLIT_LAUNCH = 4.638  # microseconds, with partial sums in global memory
_WAVE = 1.215  # microseconds for each further wave of CTAs
_MULTIPROCESSOR_RATE = 0.07546  # TB/s
_FEW_ROW_MISALIGNMENT = 1.071  # factor of the time to read B, if its rows are no multiples of 128 bytes
_IDLE = 0.4041  # exponent of the part of the multiprocessors that clusters use, if all are busy
_AGAIN = 0.04444  # microseconds per MB from L2
_FEW_COLUMNS = 64  # rows of A that are the columns of one exchanged tile
_MOST_WITH_ADDEND = 64  # columns of an exchanged tile without a cluster; with more, the assembler spills
_FEW = 32  # rows of A for which only exchanged tiles are considered
_SECTOR = 32  # bytes that L2 reads at once
_BANK_BYTES = 128  # bytes of shared memory that are read in a clock
_MAX_USEFUL_STAGES = 9
# Most CTAs of a cluster whose tiles are cut. CTAs that share a cut tile wait for each other. Every GPU runs a pair on
# two multiprocessors, but the number of larger clusters that run at once varies between GPUs.
_MOST_CUT = 2
_KINDS: dict[tuple[int, int, bool], tuple[tuple[int, int], ...]] = {
    (128, 1, False): ((1, 1), (2, 1), (4, 1), (1, 2), (1, 4), (2, 4)),
    (64, 1, False): ((1, 1), (2, 1), (4, 1), (1, 4), (2, 2)),
    (256, 2, False): ((1, 2), (2, 1)),
    (64, 1, True): ((2, 1), (1, 2), (4, 2)),
    (128, 2, True): ((1, 1), (2, 1), (1, 2)),
}
"""Tiles that are considered: neighbors along M and N, by rows, blocks of a consumer and pingpong.

Other tiles were rarely the fastest for random problems.
"""
_EXCHANGED_KINDS = {
    64: ((1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 2), (1, 4), (2, 4), (1, 8)),
    128: ((1, 1), (4, 1), (1, 4)),
}
"""Exchanged tiles that are considered: neighbors along the rows and parts of K, by rows."""
_OVERLAP_NORM = 2.843  # exponent of the norm that combines two partly overlapping times of a multiprocessor
_MEMORY_NORM = 2.69  # the same for all multiprocessors and the memory


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
        most = RESIDENT[tile.ctas] * multiprocessors // H200.multiprocessors // tile.ctas * tile.ctas
        return replace(self, ctas=min(self.ctas, most)) if self.split else self

    def workspace(self, plan: Plan) -> tuple[int, int] | None:
        """Return the numbers of 32-bit words and of flags for partial sums, or None without cut tiles.

        The flags are initially 0.
        """
        if self.split == 0:
            return None
        consumers = plan.tile.tile_consumers
        return 2 * self.ctas * consumers * 128 * plan.accumulators, self.split * plan.tile.ctas * consumers


def tile_counts(problem: Problem, plan: Plan) -> tuple[int, int]:
    """Return the numbers of tiles along M and N, counted in clusters."""
    tile = plan.tile
    rows, columns = tile.rows * tile.cluster, tile.columns * tile.across
    lines = (columns, rows) if tile.exchanged else (rows, columns)
    return ceil(problem.m / lines[0]), ceil(problem.n / lines[1])


def schedules(problem: Problem, plan: Plan) -> Iterator[TileSchedule]:
    """Yield a schedule without tiles that are cut along K. If useful, also yield one with such tiles."""
    tile = plan.tile
    tiles = prod(tile_counts(problem, plan)) * problem.batch
    stages = ceil(problem.k / plan.stage_k)
    if tile.parts > 1 or tile.is_vector:
        yield TileSchedule(tiles * tile.ctas, 0, tiles, stages)
        return
    clusters = RESIDENT[tile.ctas] * (plan.ctas_per_sm if tile.exchanged else 1) // tile.ctas
    yield TileSchedule(min(tiles, clusters) * tile.ctas, 0, tiles, stages)
    left = tiles % clusters
    if not left or stages == 1 or (tile.exchanged and plan.ctas_per_sm > 1) or tile.ctas > _MOST_CUT:
        return
    # CTAs that read different parts of K share nothing in L2, so without clusters only few tiles are cut.
    if tile.ctas > 1 or tile.exchanged or tiles < clusters:
        split = tiles if tile.exchanged or tiles < clusters else left + clusters
        yield TileSchedule(min(clusters, split * stages) * tile.ctas, split, tiles, stages)


def microseconds(problem: Problem, plan: Plan, schedule: TileSchedule) -> float:
    """Return the estimated time of a launch. Units: microseconds."""
    device, tile = H200, plan.tile
    if tile.exchanged and problem.m <= _FEW_COLUMNS:
        return _few_row_microseconds(problem, plan, schedule)
    stored = _stored_fraction(plan)
    operands = size_of(plan.a) * (problem.m * stored + problem.n) * problem.k * problem.batch
    if tile.exchanged:
        store = 0.0
        each = device.exchanged_column if size_of(plan.d) < 4 else device.exchanged_word
        end, launch = each * tile.columns, _CLUSTER_LAUNCH[tile.ctas]
    else:
        store = device.row * tile.rows * tile.columns / plan.box_columns
        end = device.end + store
        launch = device.launch / (device.clock * 1e3)
    stage = _stage_clocks(problem, plan, schedule)
    if schedule.split:
        clusters = schedule.ctas // tile.ctas
        clocks = schedule.tiles * schedule.stages / clusters * stage + _cut_clocks(plan, clusters, schedule.split)
        clocks += end * (ceil(schedule.tiles / clusters) - 1)
    elif tile.exchanged:
        units = schedule.tiles * tile.ctas
        resident = RESIDENT[tile.ctas]
        clocks = ceil(units / resident) * ceil(schedule.stages / tile.parts) * stage
        clocks += end * (ceil(units / (resident * plan.ctas_per_sm)) - 1)
        clocks += device.exchange * (tile.parts - 1) / tile.parts * tile.columns * tile.rows / 64
    else:
        waves = ceil(schedule.tiles / (schedule.ctas // tile.ctas))
        products = schedule.stages * stage
        if tile.pingpong:
            clocks = waves * _overlapped(products, store, _OVERLAP_NORM)
        else:
            clocks = waves * products + (waves - 1) * end
    result = size_of(plan.d) * problem.m * problem.n * problem.batch
    active = min(schedule.ctas, device.multiprocessors)
    # Few multiprocessors do not use the whole bandwidth of the memory.
    idle = (device.multiprocessors / active) ** device.spread
    transfer = (operands / device.memory * idle + result / device.written) / 1e6
    # The first stages and the last tiles are copied while nothing is multiplied.
    first = SPAN * (tile.rows * stored / tile.across + plan.copied_columns / tile.cluster)
    end += (first + size_of(plan.d) * tile.rows * tile.columns) * active / device.filled
    rate = device.clock * 1e3
    time = _overlapped(clocks / rate, transfer, _MEMORY_NORM) + end / rate + launch
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
    overhead = device.turns if tile.pingpong and blocks > 1 else device.issue
    # An instruction of a sparse A reads twice as much of B as one of a dense A, and is limited by shared memory.
    fed = (64 * STEP + tile.columns * SPAN / plan.steps) / _BANK_BYTES if plan.sparse else 0.0
    wait = device.metadata_wait if plan.sparse else 0.0
    products = (plan.steps * (max(tile.columns / 2, fed) + overhead) + wait) * blocks
    if plan.promotion_stages:
        each = device.promotion if tile.tile_consumers > 1 or not plan.block_scales else device.scaling
        products += each * tile.columns * blocks * 4 / plan.promotion_stages
    stored = _stored_fraction(plan)
    rows, columns = tile.rows / tile.across * stored * SPAN, plan.copied_columns / tile.cluster * SPAN
    a, b = (_misalignment(problem, name) for name in ("ba" if tile.exchanged else "ab"))
    active = min(schedule.ctas, device.multiprocessors)
    received = (tile.rows * stored + plan.copied_columns) * SPAN / device.receive
    copies = max(received, (rows * a + columns * b) * active / device.cache_rate)
    if tile.cluster * tile.across == 2:
        copies += device.pair
    neighbors = min(plan.ctas_per_sm, ceil(schedule.ctas / RESIDENT[tile.ctas])) if tile.exchanged else 1
    return max(_overlapped(products, copies, _OVERLAP_NORM), device.stage / neighbors)


def _misalignment(problem: Problem, operand: str) -> float:
    """Return the factor of the bytes of A or B from L2.

    Rows that begin within a sector or within a line of L2 need more accesses.
    """
    major, lines = (problem.a_major, problem.m) if operand == "a" else (problem.b_major, problem.n)
    pitch = (problem.k if major == "k" else lines) * size_of(problem.a)
    return H200.within_sectors if pitch % _SECTOR else H200.within_lines if pitch % SPAN else 1.0


def _few_row_microseconds(problem: Problem, plan: Plan, schedule: TileSchedule) -> float:
    """Return the estimated time of a launch whose tiles have all rows of A. Units: microseconds."""
    tile, size = plan.tile, size_of(plan.a)
    m, n, k = problem.m, problem.n, problem.k
    weights, tokens = (size * lines * k * problem.batch / 1e6 for lines in (n, m))
    stored = size_of(plan.d) * m * n * problem.batch / 1e6
    if tile.is_vector:
        slower = _VECTOR_TIMES[tile.columns]
        return (weights + tokens + stored) / _VECTOR_RATE * slower + _VECTOR_LAUNCH
    # Each cluster reads all of its rows of A from L2.
    copied = tokens if problem.a_major == "k" else tokens / m * plan.copied_columns
    again = copied * ceil(n / (tile.rows * tile.cluster)) * _misalignment(problem, "a")
    if _misalignment(problem, "b") > 1.0:
        weights *= _FEW_ROW_MISALIGNMENT
    time = (weights + tokens + stored) / _EXCHANGED_RATE + again * _AGAIN
    if schedule.split:
        return time + _SPLIT_LAUNCH
    waves = 1 if tile.parts == 1 else ceil(schedule.ctas / (RESIDENT[tile.ctas] * plan.ctas_per_sm))
    launch = _CLUSTER_LAUNCH[tile.ctas] + _WAVE * (waves - 1)
    units = schedule.tiles * tile.ctas
    stage_bytes = (tile.rows + tile.columns / tile.cluster) * SPAN
    busiest = ceil(units / RESIDENT[tile.ctas]) * ceil(schedule.stages / tile.parts) * stage_bytes / 1e6
    if units > RESIDENT[tile.ctas]:
        time *= (H200.multiprocessors / RESIDENT[tile.ctas]) ** _IDLE
    return max(time * _unevenness(units), busiest / _MULTIPROCESSOR_RATE) + launch


def _unevenness(tiles: int) -> float:
    """Return the factor by which few tiles, some of which share a multiprocessor, take longer to read B."""
    share = tiles / H200.multiprocessors
    # A multiprocessor with more tiles than others gets a larger part of the bandwidth of the memory.
    return (ceil(share) / share) ** 0.15


def _overlapped(first: float, second: float, norm: float) -> float:
    return (first**norm + second**norm) ** (1 / norm)


def tiled_plans(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with each legal tile. Each tile has as many stages as are useful and fit."""
    # If tiles start with a scale block, a thread needs fewer scales.
    step = 64 if plan.block_scales.columns else 16
    for columns in range(64, 257, step):
        for (rows, blocks, pingpong), neighbors in _KINDS.items():
            # With block scales, the tensor cores would wait for one consumer while the other waits too.
            if plan.block_scales and blocks + pingpong > 1:
                continue
            group, buffers = (16, 1) if pingpong else (8, 2)
            tile = Tile(rows, columns, 2, 1, group, pingpong, buffers, blocks=blocks)
            with suppress(UsageError):
                stages = min(_MAX_USEFUL_STAGES, plan.with_tile(tile).max_stages)
                for cluster, across in neighbors:
                    with suppress(UsageError):
                        yield plan.with_tile(replace(tile, stages=stages, cluster=cluster, across=across))


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
        for rows, kinds in _EXCHANGED_KINDS.items():
            tiles = ceil(problem.n / rows) * ceil(problem.m / columns) * problem.batch
            for cluster, parts in kinds:
                if parts > 1 and tiles * parts > 2 * H200.multiprocessors:
                    continue
                if parts == 1 and plan.epilogue.addend and columns > _MOST_WITH_ADDEND:
                    continue
                with suppress(UsageError):
                    made = plan.with_tile(Tile(rows, columns, 2, cluster, exchanged=True, parts=parts))
                    for ctas in {1, made.ctas_per_sm} if tiles * parts > H200.multiprocessors else (1,):
                        stages = min(_MAX_USEFUL_STAGES, max(2, made.max_stages_of(ctas)))
                        yield made.with_tile(replace(made.tile, stages=stages))


def _few_row_plans(problem: Problem, plan: Plan) -> Iterator[Plan]:
    columns = _exchanged_columns(problem, problem.m)
    tiles = ceil(problem.n / 64) * problem.batch
    for cluster, parts in _EXCHANGED_KINDS[64]:
        with suppress(UsageError):
            made = plan.with_tile(Tile(64, columns, 2, cluster, exchanged=True, parts=parts))
            share = tiles * parts / H200.multiprocessors
            if parts == 1:
                counts = (1, 3 if 2 < share <= 3 else 2)
            else:  # with three CTAs for each multiprocessor, all CTAs of two launches fit
                counts = (1 if share <= 1 else 3 if share <= 1.5 or parts == 4 else 2,)
            for ctas in counts:
                yield made.with_tile(replace(made.tile, stages=max(2, made.max_stages_of(ctas))))


def _exchanged_columns(problem: Problem, most: int) -> int:
    """Return the smallest number of columns of an exchanged tile for `most` rows of A."""
    return next(each for each in exchanged_columns(problem.a) if each >= most)


def configurations(problem: Problem, plan: Plan) -> Iterator[tuple[Plan, TileSchedule]]:
    """Yield (plan, schedule) for each legal tile of the plan and each schedule of the tile."""
    exchanged = list(exchanged_plans(problem, plan))
    # Tiles whose rows are mostly beyond the last row of A are slow.
    for tiled in exchanged if exchanged and problem.m <= _FEW else (*exchanged, *tiled_plans(plan)):
        if _is_idle(problem, tiled.tile):
            continue
        for schedule in schedules(problem, tiled):
            # With one tile for each CTA, one of two pingpong consumers would be idle.
            if not tiled.tile.pingpong or schedule.tiles * tiled.tile.ctas > schedule.ctas:
                yield tiled, schedule


def _is_idle(problem: Problem, tile: Tile) -> bool:
    """Return True if a CTA of each cluster would have no rows or no columns of D."""
    m, n = (problem.n, problem.m) if tile.exchanged else (problem.m, problem.n)
    return m <= tile.rows * (tile.cluster - 1) or n <= tile.columns * (tile.across - 1)


def choose(problem: Problem, plan: Plan) -> tuple[Plan, TileSchedule]:
    """Return the plan and the schedule with the shortest estimated time."""
    return min(configurations(problem, plan), key=lambda each: microseconds(problem, *each))
