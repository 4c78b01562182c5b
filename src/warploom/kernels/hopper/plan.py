"""Plan of the Hopper GEMM kernel: the tile of a CTA, its shared memory and its registers.

A stage is a part of shared memory. It holds 128 bytes of K of the tiles of A and B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import gcd

from warploom.diagnostics.wording import one_of
from warploom.isa.model.capacity import shared_bytes
from warploom.kernels.plan import BLOCK, Epilogue, GemmPlan, size_of, tile_errors
from warploom.kernels.problem import Problem

SPAN = 128  # bytes of K in a stage, which are a row of the widest swizzle
STEP = 32  # bytes of a row of A that one instruction reads
SCALE_BLOCK = 128  # number of elements of K, and of columns of B, that may share a scale
METADATA = 512  # bytes of one metadata word for each thread of a consumer
HOPPER = "sm_90a"  # the target that has wgmma
SHARED = shared_bytes(90)  # shared memory of a CTA
# Most accumulator registers of a thread, by the number of consumers. With more, the assembler spills some.
_MOST_REGISTERS = {1: 192, 2: 192, 3: 96}
_RESERVED = 1024  # bytes of shared memory that the system takes from each CTA
_REGISTERS = 65536  # of a multiprocessor
_OTHER_REGISTERS = 40  # of a thread of an exchanged tile, in addition to the accumulators
_MAX_CTAS = 3  # of a multiprocessor, for which the number of stages of exchanged tiles is chosen
_EXCHANGED_NAMES = str.maketrans("ab", "ba")
VECTOR_THREADS = 128
"""Threads of a CTA whose tile has fewer than 8 columns."""
VECTOR_COLUMNS = (1, 2, 4)
"""Numbers of columns of exchanged tiles without tensor cores."""
_MOST_ROWS = 256  # of the box of a tensor copy
_CLUSTERS = (1, 2, 4, 8)  # numbers of neighbours in a cluster
_MOST_CTAS = 8  # of a cluster on every GPU
_MAX_LOADS = 24  # of 16 bytes that a thread has in flight
LOADS = 16
"""Loads of partial sums by a thread that are in flight."""
QUADS = 4
"""Quads whose partial sums a thread adds together."""
PROMOTION_STAGES = 4
"""Stages of 8-bit floats between promotions of accurate sums to f32: 512 elements of K."""


def exchanged_columns(type_word: str) -> tuple[int, ...]:
    """Return the numbers of columns of exchanged tiles for A and B of a type."""
    if type_word in ("s8", "u8"):
        return 8, 16, 24, 32, *range(48, 257, 16)
    return tuple(range(8, 257, 8))


def metadata_slots(type_word: str) -> tuple[tuple[int, int], ...]:
    """Return (index of a thread's metadata word, sparsity selector) for each instruction of a stage."""
    # For wider types, an instruction uses the words of half of the threads, which the selector chooses.
    return ((0, 0), (1, 0)) if size_of(type_word) == 1 else ((0, 0), (0, 1))


@dataclass(frozen=True, slots=True)
class Tile:
    """Tile of D that one CTA computes, with `rows` rows and `columns` columns.

    Each consumer warpgroup multiplies `blocks` blocks of 64 rows of the tile. With `pingpong` there are two consumers.
    Each multiplies every second tile alone. Shared memory has `stages` stages, and `buffers` store buffers for each
    consumer. A cluster has the tiles of `cluster` neighbours along M and of `across` neighbours along N. Its CTAs send
    their parts of A to all neighbours along N, and their parts of B to all neighbours along M. Consecutive clusters
    compute `group` tiles of a tile column before the next tile column.

    With `exchanged`, the kernel computes the transpose of D, for few rows of A: the rows of the tile are columns of B,
    and its columns are rows of A. `parts` CTAs of a cluster share one tile along K. If such a tile has fewer than 8
    columns, the kernel uses no tensor cores, and each thread has `stages` loads of each row in flight.
    """

    rows: int = 128
    columns: int = 256
    stages: int = 4
    cluster: int = 1
    group: int = 8
    pingpong: bool = False
    buffers: int = 2
    exchanged: bool = False
    blocks: int = 1
    across: int = 1
    parts: int = 1

    @property
    def ctas(self) -> int:
        """Number of CTAs of a cluster."""
        return self.cluster * self.across * self.parts

    @property
    def is_vector(self) -> bool:
        """True if the kernel of the tile uses no tensor cores."""
        return self.exchanged and self.columns < 8

    @property
    def consumers(self) -> int:
        """Number of consumer warpgroups of a CTA."""
        return 2 if self.pingpong else self.tile_consumers

    @property
    def tile_consumers(self) -> int:
        """Number of consumer warpgroups that share one tile."""
        return self.rows // (64 * self.blocks)

    @property
    def threads(self) -> int:
        """Number of threads of a CTA. The producer has a warpgroup, or one warp if the tile is exchanged."""
        if self.is_vector:
            return VECTOR_THREADS
        return 128 * self.consumers + (32 if self.exchanged else 128)


SMALL = Tile(64, 64, 2)
"""Tile that is legal in every plan."""


@dataclass(frozen=True, slots=True)
class BlockScales:
    """Presence of block scales. They multiply the sums over each 128 elements of K.

    If `rows`, each row of A has its own scales. `columns` is the number of columns of B that share a scale: 1 or 128,
    or 0 without scales of B.
    """

    rows: bool = False
    columns: int = 0

    def __bool__(self) -> bool:
        return self != BlockScales()


@dataclass(frozen=True, slots=True)
class Plan(GemmPlan):
    """Plan of one Hopper kernel.

    If `batched`, all matrices but those in `broadcast` ("a", "b", "c") have a batch axis. If `grouped`, the rows of A
    and D form groups, and each group has its own B. If `sparse`, A is compressed. If `cut`, tiles may be cut along K.
    The tensor cores sum `promotion_stages` stages, then each sum is added in f32. With 0 the tensor cores sum all
    stages. If the tile is exchanged, A and B are the transposes of the caller's B and A, and the fields of the plan
    describe these.

    Errors: UsageError kernels.plan if no kernel supports the plan.
    """

    batched: bool = False
    broadcast: str = ""
    grouped: bool = False
    promotion_stages: int = 0
    sparse: bool = False
    block_scales: BlockScales = BlockScales()
    cut: bool = False
    tile: Tile = field(default_factory=Tile)

    def errors(self) -> Iterator[str]:
        """Yield a message for each property of the plan that no kernel supports."""
        yield from GemmPlan.errors(self)
        if self.sparse and self.a_major != "k":
            yield "a sparse A is stored along K; a_major must be 'k'"
        if self.broadcast and (not self.batched or set(self.broadcast) - set("abc")):
            yield f"broadcast operands are '{self.broadcast}'; expected some of 'abc' in a batched plan"
        if self.grouped and self.a_major != "k":
            yield "a grouped A must be stored along K; a_major must be 'k'"
        if self.grouped and (self.batched or self.sparse or self.block_scales or self.cut):
            yield "a grouped plan has no batch, no sparse A, no block scales and no tiles that are cut along K"
        if self.block_scales:
            yield from self._scale_errors()
        elif self.promotion_stages and self.accumulator != "f32":
            yield f"promotion needs an f32 accumulator, not {self.accumulator}"
        if wrong := list(tile_errors(self.tile)):
            yield from wrong
        elif self.tile.exchanged:
            yield from self._exchanged_errors()
        else:
            yield from self._tile_errors()

    def _exchanged_errors(self) -> Iterator[str]:
        tile = self.tile
        if self.sparse or self.grouped or self.block_scales:
            yield "an exchanged tile has no sparse A, no groups of rows and no block scales"
        if tile.is_vector:
            yield from self._vector_errors()
            return
        if tile.parts not in _CLUSTERS or tile.cluster not in _CLUSTERS or tile.across != 1 or tile.ctas > _MOST_CTAS:
            yield (
                f"{tile.parts} CTAs share an exchanged tile, in clusters with {tile.cluster} tiles along its rows and"
                f" {tile.across} along its columns; expected 1, 2, 4 or 8 CTAs and tiles along the rows, 1 along the"
                f" columns, and at most {_MOST_CTAS} CTAs in all"
            )
        if tile.rows not in (64, 128) or tile.pingpong:
            yield f"the exchanged tile has {tile.rows} rows; expected 64 or 128, without pingpong"
        step = tile.cluster if self.b_major == "k" else 1
        widths = tuple(each for each in exchanged_columns(self.b) if each % step == 0)
        if tile.columns not in widths:
            yield f"the exchanged tile has {tile.columns} columns; expected {one_of(widths)}"
        yield from self._stage_errors()

    def _vector_errors(self) -> Iterator[str]:
        tile, types = self.tile, (self.a, self.b, self.accumulator)
        if types not in (("bf16", "bf16", "f32"), ("f16", "f16", "f32")) or (self.a_major, self.b_major) != ("k", "k"):
            yield (
                f"a tile of {tile.columns} columns multiplies {self.a} by {self.b} with {self.accumulator} accumulators"
                f" (contiguous along {self.a_major} and {self.b_major}); expected bf16 or f16 along k with f32"
            )
        if (
            tile.rows not in (4, 8, 16) or tile.columns not in VECTOR_COLUMNS or tile.ctas > 1 or tile.pingpong
            or (tile.rows + tile.columns) * tile.stages > _MAX_LOADS
        ):  # fmt: skip
            yield (
                f"the tile has {tile.rows} rows, {tile.columns} columns, {tile.stages} stages and clusters of"
                f" {tile.ctas}; expected 4, 8 or 16 rows, {one_of(VECTOR_COLUMNS)} columns, at most {_MAX_LOADS}"
                " rows and columns in all stages, and no cluster"
            )

    def _stage_errors(self) -> Iterator[str]:
        tile = self.tile
        if tile.stages < 2 or self.shared_bytes > SHARED:
            rest = self.shared_bytes - tile.stages * self.stage_bytes
            yield (
                f"the tile has {tile.stages} stages of {self.stage_bytes} bytes and {rest} other bytes; "
                f"expected at least 2 stages and at most {SHARED} bytes in all"
            )

    def _tile_errors(self) -> Iterator[str]:
        tile = self.tile
        if tile.cluster not in _CLUSTERS or tile.across not in _CLUSTERS or tile.ctas > _MOST_CTAS or tile.parts > 1:
            yield (
                f"a cluster has {tile.cluster} tiles along M, {tile.across} along N and {tile.parts} parts of K;"
                f" expected 1, 2, 4 or 8 tiles, 1 part, and at most {_MOST_CTAS} CTAs in all"
            )
            return
        if tile.blocks not in (1, 2) or (tile.blocks == 2 and (self.sparse or self.block_scales)):
            yield f"a consumer has {tile.blocks} blocks; expected 1, or 2 without a sparse A and block scales"
        counts = (1,) if tile.pingpong else (1, 2, 3)
        rows = [rows for count in counts if (rows := 64 * tile.blocks * count) <= _MOST_ROWS]
        if tile.rows not in rows:
            kind = "pingpong " if tile.pingpong else ""
            yield f"the {kind}tile has {tile.rows} rows in blocks of {64 * tile.blocks}; expected {one_of(rows)}"
            return
        if tile.buffers not in (1, 2):
            yield f"the tile has {tile.buffers} buffers; expected 1 or 2"
        if tile.columns % 16 or not 64 <= tile.columns <= 256:
            yield f"the tile has {tile.columns} columns; expected a multiple of 16 from 64 to 256"
        yield from self._stage_errors()
        scales = " and scales" if self.block_scales.columns == 1 else ""
        # As measured, column scales need a third of the registers of the accumulators.
        of_columns = self.accumulators // 3 if self.block_scales.columns == 1 else 0
        registers = self.accumulators * (2 if self.promotion_stages else 1) + of_columns
        most = _MOST_REGISTERS[tile.consumers]
        if registers > most:
            yield (
                f"each thread of {tile.consumers} consumers has {registers} registers of accumulators{scales};"
                f" expected at most {most}"
            )

    def _scale_errors(self) -> Iterator[str]:
        stages = SCALE_BLOCK // self.stage_k
        if self.accumulator != "f32":
            yield f"block scales need an f32 accumulator, not {self.accumulator}"
        elif self.promotion_stages != stages:
            yield f"promotion_stages is {self.promotion_stages}; expected {stages} with block scales"
        if self.block_scales.columns not in (0, 1, SCALE_BLOCK):
            yield f"{self.block_scales.columns} columns of B share a scale; expected 0, 1 or {SCALE_BLOCK}"
        for name, by_block, by_line in (
            ("rows", self.block_scales.rows, self.epilogue.row_scales),
            ("columns", self.block_scales.columns, self.epilogue.column_scales),
        ):
            if by_block and by_line:
                yield f"the {name} have both block scales and scales for all of K; expected one of them"

    def with_tile(self, tile: Tile) -> Plan:
        """Return the plan with another tile. Errors: UsageError kernels.plan."""
        if tile.exchanged == self.tile.exchanged:
            return replace(self, tile=tile)
        own = self.epilogue
        epilogue = replace(
            own,
            row_scales=own.column_scales,
            column_scales=own.row_scales,
            bias={"row": "column", "column": "row"}.get(own.bias, ""),
        )
        a_major, b_major = (
            "k" if major == "k" else other for major, other in ((self.b_major, "m"), (self.a_major, "n"))
        )
        return replace(
            self, a=self.b, b=self.a, a_major=a_major, b_major=b_major, epilogue=epilogue,
            broadcast=self.broadcast.translate(_EXCHANGED_NAMES), tile=tile,
        )  # fmt: skip

    # Derived sizes ------------------------------------------------------------------------------------------

    def rank(self, operand: str) -> int:
        """Return the number of dimensions of operand "a", "b", "c" or "d": 3 with batches or groups, else 2."""
        own = self.batched and operand not in self.broadcast
        return 3 if own or (self.grouped and operand == "b") else 2

    @property
    def stores_by_address(self) -> bool:
        """True if the kernel stores some elements of D by address, not through a tensor map."""
        return self.unaligned or self.grouped or self.cut

    @property
    def stage_k(self) -> int:
        """Number of elements of K in a stage."""
        return SPAN // size_of(self.a)

    @property
    def span_a(self) -> int:
        """Size of a row of A in a stage, which is half as long for a compressed A. Units: bytes."""
        return SPAN // 2 if self.sparse else SPAN

    @property
    def steps(self) -> int:
        """Number of multiply instructions along K in a stage."""
        return self.span_a // STEP

    @property
    def metadata_words(self) -> int:
        """Number of metadata words that a thread needs for a stage."""
        return 1 + max(word for word, _ in metadata_slots(self.a)) if self.sparse else 0

    @property
    def metadata_bytes(self) -> int:
        """Size of the metadata in a stage. Units: bytes."""
        return self.tile.tile_consumers * METADATA * self.metadata_words

    def stage_layout(self, name: str) -> tuple[int, int, bool]:
        """Return how operand "a" or "b" lies in a stage: (number of lines, bytes of a line, K is contiguous).

        A line is a row of A or a column of B.
        """
        if name == "a":
            return self.tile.rows, self.span_a, self.a_major == "k"
        return self.copied_columns, SPAN, self.b_major == "k"

    def sharers(self, name: str) -> int:
        """Return the number of CTAs of a cluster that have the same tiles of operand "a" or "b"."""
        return self.tile.across if name == "a" else self.tile.cluster

    @property
    def copied_columns(self) -> int:
        """Number of columns of B in a stage.

        If B is not contiguous along K, it is copied in boxes of 64 columns, of which the last may exceed the tile.
        """
        columns = self.tile.columns
        return columns if self.b_major == "k" else -(-columns // BLOCK) * BLOCK

    @property
    def stage_bytes(self) -> int:
        """Size of A, B and metadata in a stage. Units: bytes."""
        return self.tile.rows * self.span_a + self.copied_columns * SPAN + self.metadata_bytes

    @property
    def block_accumulators(self) -> int:
        """Number of accumulator registers of a thread for a block of 64 rows."""
        return self.tile.columns // (4 if self.accumulator == "f16" else 2)

    @property
    def accumulators(self) -> int:
        """Number of accumulator registers of a thread."""
        return self.tile.blocks * self.block_accumulators

    @property
    def subtile_columns(self) -> int:
        """Number of columns of D that a consumer stores at once."""
        return 32 if size_of(self.d) == 4 else 64

    @property
    def box_columns(self) -> int:
        """Number of columns of D that one tensor copy stores."""
        return gcd(self.tile.columns, self.subtile_columns)

    @property
    def box_row_bytes(self) -> int:
        """Size of a row of D that one tensor copy stores. Units: bytes."""
        return self.box_columns * size_of(self.d)

    @property
    def buffer_bytes(self) -> int:
        """Size of a store buffer: 64 rows of `subtile_columns` columns. Units: bytes."""
        return 64 * self.subtile_columns * size_of(self.d)

    @property
    def quad_registers(self) -> int:
        """Number of accumulator registers of a thread for 8 columns."""
        return 8 * self.block_accumulators // self.tile.columns

    @property
    def received_bytes(self) -> int:
        """Size of the sums that a CTA receives from the other CTAs that share an exchanged tile. Units: bytes."""
        tile = self.tile
        quads = -(-tile.columns // (8 * tile.parts))
        return quads * (tile.parts - 1) * tile.consumers * 128 * 4 * self.quad_registers

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a CTA, including its mbarriers. Units: bytes."""
        tile = self.tile
        if tile.is_vector:
            return 4 * tile.threads // 32 * tile.rows * tile.columns
        if tile.exchanged:
            return tile.stages * (self.stage_bytes + 16) + self.received_bytes + 8
        return tile.stages * (self.stage_bytes + 16) + tile.consumers * (tile.buffers * self.buffer_bytes + 8)

    @property
    def ctas_per_sm(self) -> int:
        """Number of CTAs of an exchanged tile that fit into a multiprocessor."""
        threads = -(-self.tile.threads // 128) * 128  # the assembler counts whole warpgroups
        registers = _REGISTERS // (threads * (self.accumulators + _OTHER_REGISTERS))
        return min((SHARED + _RESERVED) // (self.shared_bytes + _RESERVED), registers, _MAX_CTAS)

    @property
    def starts_late(self) -> bool:
        """True if the next grid of the stream starts after the last copy of this one, and then prefetches B."""
        # As measured, this is faster unless three CTAs fit: then two whole grids fit, and the next may start at once.
        return self.ctas_per_sm < _MAX_CTAS

    @property
    def max_stages(self) -> int:
        """Largest number of stages for which this tile fits into shared memory."""
        return self.max_stages_of(1)

    def max_stages_of(self, ctas: int) -> int:
        """Return the largest number of stages for which this number of CTAs fits into a multiprocessor."""
        room = (SHARED + _RESERVED) // ctas - _RESERVED
        return self.tile.stages + (room - self.shared_bytes) // (self.stage_bytes + 16)


def plan_for(
    problem: Problem,
    *,
    accumulator: str,
    result: str,
    epilogue: Epilogue = Epilogue(),  # noqa: B008 -- immutable
    promoted: bool = False,
    scales: BlockScales = BlockScales(),
) -> Plan:
    """Return a plan for a problem. The plan has the smallest tile. Errors: UsageError kernels.plan."""
    stages = SCALE_BLOCK * size_of(problem.a) // SPAN if scales else PROMOTION_STAGES if promoted else 0
    return Plan(
        problem.a, problem.b, accumulator, result, problem.a_major, problem.b_major, problem.is_unaligned(result),
        epilogue, batched=problem.batched, broadcast=problem.broadcast, grouped=problem.groups > 0,
        promotion_stages=stages, sparse=problem.sparse, block_scales=scales, tile=SMALL,
    )  # fmt: skip
