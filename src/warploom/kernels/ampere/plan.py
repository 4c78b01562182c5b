"""Plan of the GEMM kernel for sm_80 and later: the types, and the tile of a CTA."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.check.header import find_target
from warploom.diagnostics import UsageError
from warploom.isa.model.capacity import SHARED_KIB, shared_bytes
from warploom.kernels.plan import BLOCK_FORMATS, Epilogue, GemmPlan, bits_of, tile_errors
from warploom.kernels.problem import Problem
from warploom.kernels.warp_store import buffer_bytes

STEP = 32  # bytes of K that one instruction multiplies
OLDEST = 80
"""Architecture number of the first supported target."""
MULTIPROCESSORS = 108
"""Multiprocessors of an A100, for which tiles are chosen if the GPU is unknown."""
BLOCK_TARGETS = ("sm_120a", "sm_121a")
"""Targets that multiply block formats."""
_RESERVED = 1024  # bytes of shared memory that the system takes from each CTA
_PRODUCTS = 64  # elements of D for which an SM multiplies 32 bytes of K in a clock
_BANK_BYTES = 128  # bytes of shared memory that are accessed in a clock
_WIDE = 128  # bytes of K in a stage of a block format: whole words of scale factors
_MAX_ROW = 2**31 - 256  # bytes along K that 32-bit counters can address


@dataclass(frozen=True, slots=True)
class WarpTile:
    """Tile of D that one CTA computes, with `rows` rows and `columns` columns.

    The CTA has `down` times `across` warps. Each warp computes an equal part of the tile. Shared memory has `stages`
    stages of `span` bytes of K, 64 or 128. Consecutive CTAs compute `group` tiles of a tile column before the next
    tile column.
    """

    rows: int = 128
    columns: int = 128
    down: int = 2
    across: int = 2
    span: int = 64
    stages: int = 4
    # With such a group, the operands of neighbouring tiles meet in the L2 cache.
    group: int = 8

    @property
    def threads(self) -> int:
        """Number of threads of a CTA."""
        return 32 * self.down * self.across

    @property
    def warp_rows(self) -> int:
        """Number of rows of a warp's tile."""
        return self.rows // self.down

    @property
    def warp_columns(self) -> int:
        """Number of columns of a warp's tile."""
        return self.columns // self.across

    @property
    def stage_bytes(self) -> int:
        """Size of a stage: the parts of A and B in it. Units: bytes."""
        return (self.rows + self.columns) * self.span

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a CTA. Units: bytes."""
        return self.stages * self.stage_bytes

    def count(self, problem: Problem) -> int:
        """Return the number of tiles of D in all batches."""
        return problem.batch * -(-problem.m // self.rows) * -(-problem.n // self.columns)

    def ctas_per_sm(self, most: int) -> int:
        """Return the number of CTAs that fit on a multiprocessor.

        `most` is the shared memory that a CTA may use. Units: bytes.
        """
        warps = 8 if self.warp_rows * self.warp_columns > 32 * 64 else 16
        by_shared = (most + _RESERVED) // (self.shared_bytes + _RESERVED)
        return max(1, min(warps // (self.down * self.across), by_shared))

    @property
    def clocks(self) -> int:
        """Estimated clocks of an sm_80 multiprocessor for 32 bytes of K."""
        warps = self.down * self.across
        lines = warps * (self.warp_rows + self.warp_columns) + self.rows + self.columns
        return self.rows * self.columns // _PRODUCTS + lines * STEP // _BANK_BYTES


TILES = (
    WarpTile(128, 256, 2, 4),
    WarpTile(128, 128, 2, 2),
    WarpTile(128, 64, 2, 2, span=128, stages=3),
    WarpTile(64, 64, 2, 2, span=128, stages=3),
)
"""Tiles from which `choose_tile` chooses, the largest first."""


def choose_tile(problem: Problem, multiprocessors: int, most: int) -> WarpTile:
    """Return the tile with the shortest estimated time.

    `most` is the shared memory that a CTA may use. Units: bytes.
    """

    def cost(tile: WarpTile) -> int:
        resident = tile.ctas_per_sm(most)
        waves, rest = divmod(tile.count(problem), multiprocessors * resident)
        # All waves but the last fill all multiprocessors. The tiles of the last wave are spread evenly.
        return (waves * resident - (-rest // multiprocessors)) * tile.clocks

    legal = (tile for tile in TILES if tile.shared_bytes <= most and (tile.span == _WIDE or not problem.scaling))
    return min(legal, key=cost)


@dataclass(frozen=True, slots=True)
class WarpPlan(GemmPlan):
    """Plan of one Ampere kernel.

    If `promoted`, each instruction sums from zero, and a separate addition in f32 adds its result. This is more exact,
    because the tensor cores keep fewer bits than f32. For type tf32, A and B hold f32 elements.

    Errors: UsageError kernels.plan if no kernel supports the plan.
    """

    promoted: bool = False
    tile: WarpTile = field(default_factory=WarpTile)
    target: str = "sm_80"

    def errors(self) -> Iterator[str]:
        """Yield a message for each property of the plan that no kernel supports."""
        yield from GemmPlan.errors(self)
        tile, number = self.tile, find_target(self.target).number
        if self.promoted and self.accumulator != "f32":
            yield f"promotion needs an f32 accumulator, not {self.accumulator}"
        if number < OLDEST:
            yield f"{self.target} has no asynchronous copies; expected sm_{OLDEST} or above"
        types = (self.a, self.b, self.d, self.epilogue.addend)
        if number < 89 and (small := [each for each in types if each in ("e4m3", "e5m2")]):
            yield f"{self.target} has no {small[0]}; expected sm_89 or above"
        yield from tile_errors(tile)
        if tile.shared_bytes > (most := shared_bytes(number)):
            yield f"{tile.stages} stages have {tile.shared_bytes} bytes; expected at most {most} bytes on {self.target}"
        if self.scaling and self.target not in BLOCK_TARGETS:
            yield f"{self.target} does not multiply {self.scaling}; expected {' or '.join(BLOCK_TARGETS)}"
        if self.scaling and tile.span != _WIDE:
            yield f"a stage of {self.scaling} has {tile.span} bytes of K; expected {_WIDE}"
        if tile.span not in (64, 128):
            yield f"a stage has {tile.span} bytes of K; expected 64 or 128"
        if not 3 <= tile.stages <= 5:
            yield f"the tile has {tile.stages} stages; expected 3, 4 or 5"
        if tile.down * tile.across not in (4, 8):
            yield f"the tile has {tile.down} by {tile.across} warps; expected 4 or 8 warps"
        for name, extent, warps in (("rows", tile.rows, tile.down), ("columns", tile.columns, tile.across)):
            if extent not in (64, 128, 256) or extent // warps not in (32, 64):
                yield f"the tile has {extent} {name} for {warps} warps; expected 64, 128 or 256, and 32 or 64 per warp"
        if self.buffer_bytes * tile.down * tile.across > tile.shared_bytes:
            yield f"the store buffers of D need more than the {tile.shared_bytes} bytes of the stages"

    # Derived sizes ------------------------------------------------------------------------------------------

    @property
    def stage_k(self) -> int:
        """Number of elements of K in a stage."""
        return 8 * self.tile.span // bits_of(self.a)

    @property
    def steps(self) -> int:
        """Number of steps of a stage. A step has 32 bytes of K."""
        return self.tile.span // STEP

    @property
    def factors(self) -> int:
        """Number of scale factors of a row for one step, or 0 without a block format."""
        return self.stage_k // self.steps // BLOCK_FORMATS[self.scaling].block if self.scaling else 0

    @property
    def accumulators(self) -> int:
        """Number of accumulator registers that a thread has for 16 rows by 8 columns."""
        return 2 if self.accumulator == "f16" else 4

    @property
    def buffer_bytes(self) -> int:
        """Size of the shared memory through which a warp stores 16 rows of D. Units: bytes."""
        return buffer_bytes(self, self.tile.warp_columns)


def plan_for(
    problem: Problem,
    target: str,
    *,
    accumulator: str = "",
    result: str = "",
    epilogue: Epilogue,
    promoted: bool = False,
    tile: WarpTile | None = None,
    multiprocessors: int = MULTIPROCESSORS,
) -> WarpPlan:
    """Return the plan of a problem.

    `accumulator` and `result` are types. If one is "", the problem determines it. Without `tile`, the tile with the
    shortest estimated time on `multiprocessors` multiprocessors is chosen. `WarpPlan` describes `promoted`.

    Errors: UsageError kernels.plan, kernels.type.
    """
    accumulator = problem.accumulator(accumulator)
    result = result or problem.result(accumulator)
    row = problem.k * bits_of(problem.a) // 8
    if row > _MAX_ROW:
        raise UsageError(f"a row along K has {row} bytes; expected at most {_MAX_ROW}", code="kernels.plan")
    number = find_target(target).number
    if tile is None and number >= OLDEST:
        if number not in SHARED_KIB:
            known = ", ".join(f"sm_{each}" for each in SHARED_KIB if each >= OLDEST)
            message = f"the size of shared memory is not known for {target}; expected one of {known}"
            raise UsageError(message, code="kernels.target")
        tile = choose_tile(problem, multiprocessors, shared_bytes(number))
    return WarpPlan(
        problem.a, problem.b, accumulator, result, problem.a_major, problem.b_major,
        problem.is_unaligned(result) or problem.is_unaligned(epilogue.addend), epilogue, promoted, tile or WarpTile(),
        target, scaling=problem.scaling,
    )  # fmt: skip
