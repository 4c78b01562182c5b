"""How long a plan takes on a GPU: a small model, and the tiles that it chooses among.

A CTA multiplies at the rate of the tensor cores, or waits for L2; all of them together wait for memory. What ends
a tile is paid where nothing hides it, and a wave that is not full costs as much as a full one. CTAs that are at
different places in K of tiles that are cut share nothing in L2. The constants were fitted to times on an H200
(`tests/evidence/kernels_speed/h200.json`), each the geometric mean of one at full power and one after a rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, prod

from warploom.diagnostics import UsageError
from warploom.kernels.hopper.plan import METADATA, SPAN, STEP, Plan, Tile, size_of
from warploom.kernels.problem import Problem


@dataclass(frozen=True, slots=True)
class Device:
    """What the model knows of a GPU. Units: clocks, their rate in GHz, bytes a clock, TB/s."""

    multiprocessors: int = 132
    clock: float = 1.5
    issue: float = 5.6  # of an instruction of wgmma, besides its products
    alone: float = 11.4  # the same where no other consumer's instructions come between
    waited: float = (
        37.0  # of a stage of a sparse A, for its products before the next metadata; of one measurement
    )
    promotion: float = 0.33  # for each column whose sums are added to others, by one consumer
    scaling: float = (
        0.53  # the same of blocks that have factors, where one consumer has the tensor cores alone
    )
    cache_bytes: float = 103.0  # of one multiprocessor
    cache: float = 50e6  # bytes of L2
    memory: float = 4.07
    end: float = 705.0  # of a tile, besides its products, before a column of D
    column: float = 3.14  # for each byte that a row of the tile has in D
    hidden: float = 0.27  # the part of it that consumers that alternate still pay
    cut: float = 6850.0  # of tiles that are cut along K
    piece: float = 0.15  # for each sum of a tile, when one more CTA has a part in it
    apart: float = (
        5.2e-5  # for each byte that is read for tiles that are cut, of matrices that L2 does not hold
    )
    launch: float = 1785.0


H200 = Device()
_BANKS = 128  # bytes of shared memory that are read in a clock
_ENOUGH = 9  # stages: with more nothing is gained
_BLEND = 3.6  # the norm of two times that hide each other in part


@dataclass(frozen=True, slots=True)
class Share:
    """How a launch deals out its tiles: `ctas` in the grid, and `split` tiles that are cut along K."""

    ctas: int
    split: int
    tiles: int
    stages: int

    @property
    def even(self) -> bool:
        """Whether no tile is cut."""
        return self.split == 0


def tiles_of(problem: Problem, plan: Plan) -> tuple[int, int]:
    """The tiles of a problem along M, counted by clusters, and along N."""
    tile = plan.tile
    return ceil(problem.m / (tile.rows * tile.cluster)), ceil(problem.n / tile.columns)


def shares(problem: Problem, plan: Plan, device: Device = H200) -> Iterator[Share]:
    """The ways to deal out the tiles of a problem."""
    tile = plan.tile
    tiles = prod(tiles_of(problem, plan)) * problem.batch
    stages = ceil(problem.k / plan.depth)
    clusters = device.multiprocessors // tile.cluster
    yield Share(min(tiles, clusters) * tile.cluster, 0, tiles, stages)
    left = tiles % clusters
    # One CTA after the other is at another place in K where tiles are cut: without clusters they leave the L2 cache.
    if left and stages > 1 and (tile.cluster > 1 or tiles < clusters):
        yield Share(clusters * tile.cluster, tiles if tiles < clusters else left + clusters, tiles, stages)


def microseconds(problem: Problem, plan: Plan, share: Share, device: Device = H200) -> float:
    """How long a launch takes."""
    tile, size, out = plan.tile, size_of(plan.a), size_of(plan.d)
    between = device.issue if tile.sharers > 1 else device.alone
    # An instruction of a sparse A reads twice as much of B as one of a dense A does, and shared memory gives it no more
    # than 128 bytes a clock.
    fed = (64 * STEP + tile.columns * SPAN / plan.steps) / _BANKS if plan.sparse else 0.0
    waited = device.waited if plan.sparse else 0.0
    products = (plan.steps * (max(tile.columns / 2, fed) + between) + waited) * tile.sharers
    if plan.promoted:
        each = device.promotion if tile.sharers > 1 or not plan.blocks else device.scaling
        products += each * tile.columns * tile.sharers * 4 / plan.promoted
    stored = (plan.span_a + plan.metadata_words * METADATA / 64) / SPAN  # of A
    copies = (tile.rows * stored + tile.columns / tile.cluster) * SPAN / device.cache_bytes
    stage = _blended(products, copies)
    end = device.end + device.column * tile.columns * out
    clusters = share.ctas // tile.cluster
    waves = ceil(share.tiles / clusters)
    operands = size * (problem.m * stored + problem.n) * problem.k * problem.batch
    clocks = (waves - 1) * (end * device.hidden if tile.alternate else end)
    if share.even:
        clocks += waves * share.stages * stage
    else:
        clocks += share.tiles * share.stages / clusters * stage
        clocks += device.cut + device.piece * max(clusters / share.split - 1, 0) * tile.rows * tile.columns
        read = share.split * share.stages * (tile.rows * tile.cluster * stored + tile.columns) * SPAN
        clocks += device.apart * read * min(1.0, operands / device.cache)
    carried = (operands + out * problem.m * problem.n * problem.batch) / (device.memory * 1e6)
    rate = device.clock * 1e3
    return _blended(clocks / rate, carried) + (end + device.launch) / rate


def _blended(first: float, second: float) -> float:
    return (first**_BLEND + second**_BLEND) ** (1 / _BLEND)


def tiles(plan: Plan) -> Iterator[Plan]:
    """The plan with each tile that suits its types, in as many stages as there is room for."""
    # Columns of one block share a factor: where a tile begins with a block, a thread has few factors to tell apart.
    step = 64 if plan.b_major == "n" or plan.blocks.columns else 16
    for columns in range(64, 257, step):
        yield from _filled(plan, Tile(128, columns, 2, 1))
        yield from _filled(plan, Tile(128, columns, 2, 2))
        yield from _filled(plan, Tile(64, columns, 2, 1))
        # Between blocks the tensor cores would wait for one consumer, if the other has to wait too.
        if not plan.blocks and (columns == 256 or columns <= 128):
            yield from _filled(plan, Tile(64, columns, 2, 2, 16, alternate=True, buffers=1))


def _filled(plan: Plan, tile: Tile) -> Iterator[Plan]:
    try:
        made = plan.with_tile(tile)
    except UsageError:
        return
    yield plan.with_tile(replace(tile, stages=min(_ENOUGH, made.most_stages)))


def ways(problem: Problem, plan: Plan, device: Device = H200) -> Iterator[tuple[Plan, Share]]:
    """The plan with each tile that it may have, and each way to deal such tiles out."""
    for tried in tiles(plan):
        if tried.tile.cluster > 1 and problem.m <= tried.tile.rows:
            continue  # the other CTA would have no rows
        for share in shares(problem, tried, device):
            yield tried, share


def choose(problem: Problem, plan: Plan, device: Device = H200) -> tuple[Plan, Share]:
    """The plan with the tile, and the share, that the model takes to be the quickest."""
    return min(ways(problem, plan, device), key=lambda way: microseconds(problem, *way, device))
