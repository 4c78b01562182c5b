"""Dynamic shared memory, and matrix tiles in it: swizzled addresses, descriptors and tensor copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from warploom.author import ptx
from warploom.author.builder import current
from warploom.author.errors import author_error, errors_at_caller
from warploom.author.values import DYNAMIC, Location, Register
from warploom.isa.model.capacity import SHARED_KIB
from warploom.isa.model.types import TYPES
from warploom.layout import Descriptor
from warploom.layout.swizzle import chunk_mask
from warploom.ptx import Symbol

Origin = tuple[Register | int, Register | int]
"""Column and row in the tensor of the first element of a tile."""
_PATTERN = 1024  # bytes after which every swizzle pattern repeats
_CORE_ROWS = 8  # rows of a core matrix
_CHUNK = 16  # bytes that a swizzle moves together


class Shared:
    """Range of the dynamic shared memory. Units: bytes."""

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size

    def at(self, offset: int = 0) -> Location:
        """Return the location `offset` bytes after the start of the range. Errors: AuthorError author.shared."""
        last = max(self.size, 1) - 1
        if not 0 <= offset <= last:
            message = f"byte {offset} is outside {self.size} bytes of shared memory; expected 0 to {last}"
            raise author_error(message, "author.shared")
        return Location(DYNAMIC, self.offset + offset, "shared::cta")

    def address(self, offset: int = 0) -> Register:
        """Return a new 32-bit register with the address of byte `offset` of the range."""
        return ptx.mov(Symbol(DYNAMIC, self.offset + offset), type="u32")


def shared(size: int, *, align: int = 16) -> Shared:
    """Allocate `size` bytes of shared memory, aligned to `align` bytes. Errors: AuthorError author.shared."""
    if size < 0 or align < 1 or align & (align - 1):
        message = f"size is {size} and align is {align}; expected a size of at least 0 and a power of two"
        raise author_error(message, "author.shared")
    builder = current()
    start = -(-builder.shared_bytes // align) * align
    limit = 1024 * SHARED_KIB.get(builder.target.number, max(SHARED_KIB.values()))
    if start + size > limit:
        raise author_error(
            f"the shared memory of a CTA grows to {start + size} bytes; "
            f"expected at most {limit} on {builder.target.name}",
            "author.shared",
        )
    builder.shared_bytes = start + size
    builder.shared_align = max(builder.shared_align, align)
    return Shared(start, size)


@dataclass(frozen=True, slots=True)
class Tile:
    """Matrix tiles in shared memory, one for each of `stages` stages.

    A tile has `rows` x `columns` elements. Columns run along K, the reduction dimension of a GEMM. A row is divided
    into parts of `span` bytes. The first parts of all rows come first, then the second parts of all rows. Tensor copies
    write this layout if a box contains one part of each row.
    """

    rows: int
    columns: int
    type: str
    swizzle: int
    stages: int
    memory: Shared

    @property
    def span(self) -> int:
        """Size of the parts of a row: the swizzle span, or 16 without swizzle. Units: bytes."""
        return self.swizzle or _CHUNK

    @property
    def bytes(self) -> int:
        """Size of one tile. Units: bytes."""
        return self.rows * self.columns * TYPES[self.type].bits // 8

    def address(self, stage: Register | int = 0, *, row: int = 0) -> Register:
        """Return the address of a row of a stage. `row` must be a multiple of 8.

        Errors: AuthorError author.tile.
        """
        if row % _CORE_ROWS or not 0 <= row < self.rows:
            message = f"row is {row} in a tile of {self.rows} rows; expected a multiple of {_CORE_ROWS} inside the tile"
            raise author_error(message, "author.tile")
        if isinstance(stage, int):
            return self.memory.address(stage * self.bytes + row * self.span)
        return self.memory.address(row * self.span) + stage * self.bytes

    def descriptor(self, *, row: Register | int = 0) -> TileDescriptor:
        """Return the matrix descriptor of the first stage, from row `row` on.

        `row` must be a multiple of 8. Errors: AuthorError author.tile.
        """
        start = self.address(row=row) if isinstance(row, int) else self.address() + row * self.span
        with errors_at_caller():
            word = Descriptor(0, self.rows * self.span, _CORE_ROWS * self.span, 0, self.swizzle).encode()
        return TileDescriptor(self, (start >> 4) | (word & 0xFFFFFFFF), word >> 32)

    def row(self, row: Register, stage: Register | int = 0) -> TileRow:
        """Return a `TileRow` for access to the elements of row `row` of a stage."""
        offset = row * self.span
        mask = chunk_mask(self.swizzle)
        return TileRow(self, self.address(stage) + offset, (offset >> 7) & mask if mask else None)

    def load(
        self,
        tensor: Register,
        origin: Origin,
        barrier: Location,
        stage: Register | int = 0,
        *,
        multicast: Register | int | None = None,
    ) -> None:
        """Copy the tile at `origin` (column, row) of a tensor into a stage. `barrier` counts the bytes.

        The box of the tensor map must have all rows of the tile and the columns of one swizzle span. `multicast` is a
        mask of CTAs of the cluster: each of them receives the tile in the same stage.
        """
        extra: dict[str, Any] = {} if multicast is None else {"ctaMask": multicast}
        for box, place in self._boxes(origin, stage, "shared::cluster"):
            source = Location(tensor, coordinates=box)
            ptx.cp_async_bulk_tensor(place, source, barrier, dim="2d", dst="shared::cluster", **extra)

    def store(self, tensor: Register, origin: Origin, stage: Register | int = 0) -> None:
        """Copy a stage to `origin` (column, row) of a tensor. Commit the copies as a bulk group."""
        for box, place in self._boxes(origin, stage, "shared::cta"):
            target = Location(tensor, coordinates=box)
            ptx.cp_async_bulk_tensor(target, place, dim="2d", src="shared::cta")
        ptx.cp_async_bulk_commit_group()

    def _boxes(self, origin: Origin, stage: Register | int, space: str) -> Iterator[tuple[Origin, Location]]:
        """Yield the boxes of a stage: their origins in the tensor and their locations in shared memory."""
        start = self.address(stage)
        size = self.rows * self.span
        for number in range(self.bytes // size):
            column = origin[0] + number * (8 * self.span // TYPES[self.type].bits) if number else origin[0]
            yield (column, origin[1]), start.at(number * size, space)


@dataclass(frozen=True, slots=True)
class TileDescriptor:
    """Matrix descriptor of a tile. `low` is the lower word in a register, `high` the upper word."""

    tile: Tile
    low: Register
    high: int

    def stage(self, number: Register | int) -> TileDescriptor:
        """Return the descriptor of the stage that comes `number` stages after this stage."""
        return TileDescriptor(self.tile, self.low + number * (self.tile.bytes // _CHUNK), self.high)

    def at(self, k: int = 0) -> Register:
        """Return the 64-bit descriptor that starts `k` elements along K. Errors: AuthorError author.tile."""
        tile = self.tile
        byte = k * TYPES[tile.type].bits // 8
        if byte % _CHUNK or not 0 <= k < tile.columns:
            raise author_error(
                f"k is {k} ({byte} bytes) in a row of {tile.columns} elements; "
                f"expected a multiple of {_CHUNK} bytes inside the row",
                "author.tile",
            )
        start = byte // tile.span * tile.rows * tile.span + byte % tile.span
        return ptx.mov((self.low + start // 16 if start else self.low, self.high), type="b64")


@dataclass(frozen=True, slots=True)
class TileRow:
    """Row of a tile. `start` is its address. `mask` swizzles the numbers of 16-byte chunks."""

    tile: Tile
    start: Register
    mask: Register | None

    def at(self, column: int) -> Location:
        """Return the location of the element in column `column`. Errors: AuthorError author.tile."""
        tile = self.tile
        if not 0 <= column < tile.columns:
            message = f"column is {column} in a tile of {tile.columns} columns; expected 0 to {tile.columns - 1}"
            raise author_error(message, "author.tile")
        span, byte = divmod(column * TYPES[tile.type].bits // 8, tile.span)
        return self.chunk(byte // _CHUNK) + (span * tile.rows * tile.span + byte % _CHUNK)

    def chunk(self, number: Register | int) -> Location:
        """Return the location of 16-byte chunk `number`, counted in the first `Tile.span` bytes of the row."""
        swizzled = number if self.mask is None else self.mask ^ number
        return (self.start + swizzled * _CHUNK).at(space="shared::cta")


def shared_tile(rows: int, columns: int, type: str, *, swizzle: int = 128, stages: int = 1) -> Tile:
    """Allocate `stages` K-major tiles of `rows` x `columns` elements in shared memory.

    `swizzle` is the swizzle span in bytes, or 0. Errors: AuthorError author.{tile, shared, type}.
    """
    if type not in TYPES or TYPES[type].bits < 8:
        raise author_error(f"unknown element type '{type}'; expected a type such as bf16", "author.type")
    with errors_at_caller():
        chunk_mask(swizzle)
    row, span = columns * TYPES[type].bits // 8, swizzle or _CHUNK
    if rows < 1 or rows % _CORE_ROWS or row < span or row % span or stages < 1:
        raise author_error(
            f"a tile has {stages} stages of {rows} rows of {row} bytes; expected at least 1 stage, a multiple of "
            f"{_CORE_ROWS} rows, and a multiple of {span} bytes in a row",
            "author.tile",
        )
    made = Tile(rows, columns, type, swizzle, stages, shared(stages * rows * row, align=_PATTERN))
    if made.bytes % _PATTERN and stages > 1 and swizzle:
        message = f"a stage of a swizzled tile has {made.bytes} bytes; expected a multiple of {_PATTERN}"
        raise author_error(message, "author.tile")
    return made
