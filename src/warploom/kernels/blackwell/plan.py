"""Plan of the Blackwell GEMM kernel: the tile of a CTA or of a pair, and its memory.

A stage is a part of shared memory. It holds 128 bytes of K of the tiles of A and B, and the scale factors of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from warploom.diagnostics.wording import one_of
from warploom.isa.model.capacity import shared_bytes
from warploom.kernels.plan import BLOCK_FORMATS, Epilogue, GemmPlan, bits_of, tile_errors
from warploom.kernels.problem import Problem
from warploom.kernels.warp_store import buffer_bytes
from warploom.layout.tensor_memory import TENSOR_COLUMNS, TENSOR_LANES

ROWS = TENSOR_LANES
"""Rows of D that a CTA computes: one for each lane of tensor memory."""
SPAN = 128
"""Bytes of a row of A or B in a stage."""
TARGETS = ("sm_100a", "sm_103a")
"""Targets of the kernel."""
WARPS = 6
"""Warps of a CTA: one copies, one multiplies, and four store."""
ACCUMULATORS = 2
"""Accumulators of a CTA: one is stored while the next is computed."""
MULTIPROCESSORS = 148
"""Multiprocessors of a B200, for which tiles are chosen if the GPU is unknown."""
_INTEGER_TARGET = "sm_100a"  # the only one of the targets with integer multiplications
_OTHER_SHARED = 1024 + 512  # bytes for alignment, mbarriers and the address of the tensor memory
_MOST_STAGES = 8
_ATOM = 512  # bytes of the scale factors of 128 rows for 4 blocks


@dataclass(frozen=True, slots=True)
class TensorTile:
    """Tile of D that a CTA or a pair of CTAs computes, with 128 rows for each CTA, and `columns` columns.

    With `pair`, the two CTAs of a cluster multiply together: each holds half of B, so that less is copied. Shared
    memory has `stages` stages; 0 means as many as fit. Consecutive clusters compute `group` tiles of a tile column
    before the next tile column.
    """

    columns: int = 128
    pair: bool = False
    stages: int = 0
    group: int = 8

    @property
    def ctas(self) -> Literal[1, 2]:
        """Number of CTAs that compute a tile."""
        return 2 if self.pair else 1

    @property
    def rows(self) -> int:
        """Number of rows of the tile."""
        return ROWS * self.ctas

    @property
    def threads(self) -> int:
        """Number of threads of a CTA."""
        return 32 * WARPS


@dataclass(frozen=True, slots=True)
class TensorPlan(GemmPlan):
    """Plan of one Blackwell kernel.

    If `batched`, all matrices but those in `broadcast` ("a", "b", "c") have a batch axis.

    Errors: UsageError kernels.plan if no kernel supports the plan.
    """

    batched: bool = False
    broadcast: str = ""
    tile: TensorTile = field(default_factory=TensorTile)
    target: str = TARGETS[0]

    def errors(self) -> Iterator[str]:
        """Yield a message for each property of the plan that no kernel supports."""
        yield from GemmPlan.errors(self)
        tile, columns = self.tile, (64, 128, 192) if self.scaling else (64, 128, 192, 256)
        if self.target not in TARGETS:
            yield f"{self.target} has no kernel with tensor memory; expected {' or '.join(TARGETS)}"
        if self.accumulator == "s32" and self.target != _INTEGER_TARGET:
            yield f"{self.target} does not multiply integers in tensor memory; expected {_INTEGER_TARGET}"
        yield from tile_errors(replace(tile, stages=tile.stages or 1))
        if tile.columns not in columns:
            yield f"the tile has {tile.columns} columns; expected {one_of(columns)}"
        elif self.b_major == "n" and tile.columns // tile.ctas % 64:
            yield f"each CTA of a pair has {tile.columns // 2} columns of an N-major B; expected a multiple of 64"
        elif not 2 <= self.stages <= self.max_stages:
            yield f"the tile has {self.stages} stages; expected 2 to {self.max_stages}"

    def rank(self, operand: str) -> int:
        """Return the number of dimensions of operand "a", "b", "c" or "d": 3 with a batch axis, else 2."""
        return 3 if self.batched and operand not in self.broadcast else 2

    # Derived sizes ------------------------------------------------------------------------------------------

    @property
    def stages(self) -> int:
        """Number of stages."""
        return self.tile.stages or min(self.max_stages, _MOST_STAGES)

    @property
    def stage_k(self) -> int:
        """Number of elements of K in a stage."""
        return 8 * SPAN // bits_of(self.a)

    @property
    def blocks(self) -> int:
        """Number of scale factors of a row in a stage."""
        return self.stage_k // BLOCK_FORMATS[self.scaling].block if self.scaling else 0

    @property
    def scale_bytes(self) -> int:
        """Size of the scale factors in a stage. Units: bytes."""
        return self.blocks // 4 * _ATOM * (1 + -(-self.tile.columns // ROWS))

    @property
    def stage_bytes(self) -> int:
        """Size of a stage of one CTA. Units: bytes."""
        return (ROWS + self.tile.columns // self.tile.ctas) * SPAN + self.scale_bytes

    @property
    def subtile_columns(self) -> int:
        """Number of columns of D that a warp stores at once."""
        return 64

    @property
    def buffer_bytes(self) -> int:
        """Size of the shared memory through which a warp stores 16 rows of a subtile. Units: bytes."""
        return buffer_bytes(self, self.subtile_columns)

    @property
    def max_stages(self) -> int:
        """Largest number of stages that fit into shared memory."""
        return (shared_bytes(100) - _OTHER_SHARED - 4 * self.buffer_bytes) // self.stage_bytes

    @property
    def tensor_columns(self) -> int:
        """Number of columns of tensor memory that the kernel allocates."""
        needed = ACCUMULATORS * self.tile.columns + self.scale_bytes // 128
        return min(TENSOR_COLUMNS, 1 << (needed - 1).bit_length())


def plan_for(
    problem: Problem,
    target: str,
    *,
    accumulator: str,
    result: str,
    epilogue: Epilogue,
    tile: TensorTile | None,
    multiprocessors: int,
) -> TensorPlan:
    """Return the plan of a problem. Without `tile`, the tile with the shortest estimated time is chosen.

    Errors: UsageError kernels.plan.
    """
    plan = TensorPlan(
        problem.a, problem.b, accumulator, result, problem.a_major, problem.b_major,
        problem.is_unaligned(result) or problem.is_unaligned(epilogue.addend), epilogue, problem.batched,
        problem.broadcast, tile or TensorTile(), target, scaling=problem.scaling,
    )  # fmt: skip
    return plan if tile is not None else replace(plan, tile=choose_tile(problem, plan, multiprocessors))


def choose_tile(problem: Problem, plan: TensorPlan, multiprocessors: int) -> TensorTile:
    """Return the tile with the shortest estimated time on `multiprocessors` multiprocessors.

    The estimate counts the columns that a CTA multiplies, and the rows and columns that it copies, for each wave.
    """

    def cost(tile: TensorTile) -> int:
        waves = -(-tile_count(problem, tile) // (multiprocessors // tile.ctas))
        return waves * (tile.columns + ROWS + tile.columns // tile.ctas)

    tiles = (
        TensorTile(columns, pair)
        for columns in (256, 128, 64) if columns < 256 or not plan.scaling
        for pair in (True, False)
        if not pair or (problem.m > ROWS and (plan.b_major == "k" or columns > 64))
    )  # fmt: skip
    return min(tiles, key=cost)


def tile_count(problem: Problem, tile: TensorTile) -> int:
    """Return the number of tiles of D in all batches."""
    return problem.batch * -(-problem.m // tile.rows) * -(-problem.n // tile.columns)
