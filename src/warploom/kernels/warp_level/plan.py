"""What a warp-level GEMM kernel is built for: target and types, the tile of a CTA and of its warps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from warploom.check.header import find_target
from warploom.diagnostics import UsageError
from warploom.isa.model.capacity import shared_bytes
from warploom.kernels.plan import Epilogue, size_of, tile_refused, types_refused

CHUNK = 16  # bytes that a thread copies at once, and a row of the matrices that warps load
STEP = 32  # bytes of K that one instruction multiplies
BLOCK = 64  # elements of 16 bits in a row of 128 bytes, where neighbours stand along M or N
_RESERVED = 1024  # bytes of shared memory that a CTA has besides its own
_PRODUCTS = 64  # elements of a tile whose 32 bytes of K an SM multiplies in a clock
_BANKS = 128  # bytes of shared memory that are read or written in a clock
_SMALL_FLOATS = ("e4m3", "e5m2")
OLDEST = 80
"""The number of the first architecture that has such kernels."""
PROCESSORS = 108
"""Processors (SMs) of a GPU that nobody named: an A100's."""


@dataclass(frozen=True, slots=True)
class WarpTile:
    """What one CTA computes: `rows` of M by `columns` of N, dealt out to `down` by `across` warps.

    A stage holds `span` bytes of K of each row and column, 64 or 128. Neighbouring CTAs take `group` rows of tiles
    before the next column, so that they meet in the L2 cache.
    """

    rows: int = 128
    columns: int = 128
    down: int = 2
    across: int = 2
    span: int = 64
    stages: int = 4
    group: int = 8

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return 32 * self.down * self.across

    @property
    def warp_rows(self) -> int:
        """Rows of a warp."""
        return self.rows // self.down

    @property
    def warp_columns(self) -> int:
        """Columns of a warp."""
        return self.columns // self.across

    @property
    def stage_bytes(self) -> int:
        """Bytes of A and B in a stage."""
        return (self.rows + self.columns) * self.span

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a CTA."""
        return self.stages * self.stage_bytes

    def count(self, m: int, n: int, batch: int) -> int:
        """Tiles of a problem, which are the CTAs of its grid."""
        return batch * -(-m // self.rows) * -(-n // self.columns)

    def together(self, most: int) -> int:
        """CTAs that a processor has room for, by registers and by its shared memory, which is `most` for one CTA."""
        warps = 8 if self.warp_rows * self.warp_columns > 32 * 64 else 16
        return max(
            1, min(warps // (self.down * self.across), (most + _RESERVED) // (self.shared_bytes + _RESERVED))
        )

    @property
    def clocks(self) -> int:
        """What 32 bytes of K of a tile cost a processor of sm_80: its products, and what goes through shared memory."""
        warps = self.down * self.across
        lines = warps * (self.warp_rows + self.warp_columns) + self.rows + self.columns
        return self.rows * self.columns // _PRODUCTS + lines * STEP // _BANKS


TILES = (
    WarpTile(128, 256, 2, 4),
    WarpTile(128, 128, 2, 2),
    WarpTile(128, 64, 2, 2, span=128, stages=3),
    WarpTile(64, 64, 2, 2, span=128, stages=3),
)
"""Tiles that are chosen from, the largest first."""


def tile_for(m: int, n: int, batch: int, processors: int, most: int) -> WarpTile:
    """The tile that is done first, where a CTA may have `most` bytes of shared memory: rounds in which every
    processor has as many tiles as it has room for, and a last one in which they share what is left.
    """

    def cost(tile: WarpTile) -> int:
        together = tile.together(most)
        full, rest = divmod(tile.count(m, n, batch), processors * together)
        return (full * together - (-rest // processors)) * tile.clocks

    return min((tile for tile in TILES if tile.shared_bytes <= most), key=cost)


@dataclass(frozen=True, slots=True)
class Plan:
    """One kernel. `a_major` is "k" or "m", `b_major` "k" or "n": along what elements are neighbours in memory.

    `ragged`: the rows of D and C do not end with whole 16 bytes. `promoted`: the products of every instruction are
    summed from zero, and added up in f32 outside the tensor cores, which keep fewer bits. Of f32 elements of A and B,
    as of tf32, the tensor cores read the upper 19 bits.
    Errors: UsageError kernels.plan where the tensor cores or the CTA have no such kernel.
    """

    target: str = "sm_80"
    a: str = "bf16"
    b: str = "bf16"
    sums: str = "f32"
    d: str = "bf16"
    a_major: str = "k"
    b_major: str = "k"
    ragged: bool = False
    tile: WarpTile = field(default_factory=WarpTile)
    epilogue: Epilogue = field(default_factory=Epilogue)
    promoted: bool = False

    def __post_init__(self) -> None:
        for complaint in list(types_refused(self)) or (*self._of_target(), *self._of_tile()):
            raise UsageError(complaint, code="kernels.plan")

    def _of_target(self) -> tuple[str, ...]:
        number, found = find_target(self.target).number, list[str]()
        if self.promoted and self.sums != "f32":
            found.append(f"sums in {self.sums} are exact or chosen to be short; only f32 is promoted")
        if number < OLDEST:
            found.append(f"{self.target} has no asynchronous copies; expected sm_{OLDEST} or above")
        small = [each for each in (self.a, self.b, self.d, self.epilogue.addend) if each in _SMALL_FLOATS]
        if small and number < 89:
            found.append(f"{self.target} has no {small[0]}; expected sm_89 or above")
        if not found and self.tile.shared_bytes > (most := shared_bytes(number)):
            found.append(
                f"{self.tile.stages} stages of {self.tile.stage_bytes} bytes; a CTA of {self.target} has {most}"
            )
        return tuple(found)

    def _of_tile(self) -> tuple[str, ...]:
        tile, found = self.tile, list[str]()
        if wrong := tuple(tile_refused(tile)):
            return wrong
        if tile.span not in (64, 128):
            found.append(f"{tile.span} bytes of K in a stage; expected 64 or 128")
        if not 3 <= tile.stages <= 5:
            found.append(f"{tile.stages} stages; expected 3, 4 or 5")
        if tile.down * tile.across not in (4, 8):
            found.append(f"{tile.down} by {tile.across} warps; expected 4 or 8 in all")
        for name, extent, warps in (("rows", tile.rows, tile.down), ("columns", tile.columns, tile.across)):
            if extent not in (64, 128, 256) or extent // warps not in (32, 64):
                found.append(
                    f"{extent} {name} of a tile for {warps} warps; expected 64, 128 or 256, and 32 or 64 of a warp"
                )
        if not found and self.patch_bytes * tile.down * tile.across > tile.shared_bytes:
            found.append(f"{tile.shared_bytes} bytes of stages are too few to store D by way of them")
        return tuple(found)

    # What follows from it ---------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """Elements of K in a stage."""
        return self.tile.span // size_of(self.a)

    @property
    def steps(self) -> int:
        """Instructions along K in a stage."""
        return self.tile.span // STEP

    @property
    def word(self) -> str:
        """The type of a register of sums: two sums of f16 share one."""
        return "b32" if self.sums == "f16" else self.sums

    @property
    def words(self) -> int:
        """Registers of a thread for the sums of 16 rows by 8 columns."""
        return 2 if self.sums == "f16" else 4

    @property
    def row_bytes(self) -> int:
        """Bytes of a warp's columns of D."""
        return self.tile.warp_columns * size_of(self.d)

    @property
    def patch_bytes(self) -> int:
        """Shared memory by way of which a warp stores 16 rows of D."""
        return 16 * self.row_bytes


def mask(row: Any, span: int) -> Any:
    """What the numbers of a row's chunks are XORed with in shared memory, rows of `span` bytes one after the other.

    Eight rows in one column of chunks then lie in different banks.
    """
    above = (128 // span).bit_length() - 1  # rows that share a line of all banks share a mask
    return (row >> above if above else row) & (span // CHUNK - 1)
