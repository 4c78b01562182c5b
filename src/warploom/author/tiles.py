"""Tiles of matrices in shared memory: their bytes, swizzled addresses, matrix descriptors and tensor copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warploom.author.building import misuse, on_its_line
from warploom.author.instructions import named
from warploom.author.memory import Shared, shared
from warploom.author.values import Location, Register
from warploom.isa.model.types import TYPES
from warploom.layout import Descriptor
from warploom.layout.swizzle import chunk_mask

Corner = tuple[Register | int, Register | int]
_ANCHOR = 1024  # bytes after which every swizzle begins again
_ROWS = 8  # of a core matrix
_CHUNK = 16  # bytes that a swizzle moves together


@dataclass(frozen=True, slots=True)
class Tile:
    """`stages` tiles of `rows` x `columns` elements in shared memory, row by row along K.

    A row is cut into spans of `span` bytes (those of the swizzle, 16 without one); all rows of the first span
    come first, then those of the next, as a tensor copy of boxes one span wide leaves them and warpgroup
    multiplications read them, K-major.

    Units: `span` and `bytes` are bytes; `bytes` are those of one stage
    """

    rows: int
    columns: int
    type: str
    swizzle: int
    stages: int
    memory: Shared

    @property
    def span(self) -> int:
        """Bytes of a row that lie together."""
        return self.swizzle or _CHUNK

    @property
    def bytes(self) -> int:
        """Bytes of one stage."""
        return self.rows * self.columns * TYPES[self.type].bits // 8

    def address(self, stage: Register | int = 0, *, row: int = 0) -> Register:
        """The address of a stage, or of a row of it that begins a core matrix. Errors: AuthorError author.tile."""
        self._whole(row)
        if isinstance(stage, int):
            return self.memory.address(stage * self.bytes + row * self.span)
        return self.memory.address(row * self.span) + stage * self.bytes

    def descriptor(self, *, row: Register | int = 0) -> Matrix:
        """What warpgroup multiplications are told of the first stage, from a row that begins a core matrix.

        Errors: AuthorError author.tile
        """
        start = self.address(row=row) if isinstance(row, int) else self.address() + row * self.span
        with on_its_line():
            word = Descriptor(0, self.rows * self.span, _ROWS * self.span, 0, self.swizzle).encode()
        return Matrix(self, (start >> 4) | (word & 0xFFFFFFFF), word >> 32)

    def line(self, row: Register, stage: Register | int = 0) -> Line:
        """A row of a stage, for the addresses of its elements."""
        place = row * self.span
        mask = chunk_mask(self.swizzle)
        return Line(self, self.address(stage) + place, (place >> 7) & mask if mask else None)

    def load(
        self,
        tensor: Register,
        corner: Corner,
        barrier: Location,
        stage: Register | int = 0,
        *,
        multicast: Register | int | None = None,
    ) -> None:
        """Copy what a tensor map has at `corner`, (column, row), into a stage; `barrier` counts its bytes.

        The map's boxes are all rows of one span. With `multicast`, a mask of CTAs of the cluster, into that of each.
        """
        extra = {} if multicast is None else {"ctaMask": multicast}
        for box, place in self._boxes(corner, stage, "shared::cluster"):
            source = Location(tensor, coordinates=box)
            named("cp_async_bulk_tensor")(place, source, barrier, dim="2d", dst="shared::cluster", **extra)

    def store(self, tensor: Register, corner: Corner, stage: Register | int = 0) -> None:
        """Copy a stage to where a tensor map has `corner`, (column, row), and close the group of copies."""
        for box, place in self._boxes(corner, stage, "shared::cta"):
            target = Location(tensor, coordinates=box)
            named("cp_async_bulk_tensor")(target, place, dim="2d", src="shared::cta")
        named("cp_async_bulk_commit_group")()

    def _boxes(self, corner: Corner, stage: Register | int, space: str) -> Iterator[tuple[Corner, Location]]:
        """The spans of a stage: the corner of each in the tensor, and its place."""
        start = self.address(stage)
        size = self.rows * self.span
        for number in range(self.bytes // size):
            column = corner[0] + number * (8 * self.span // TYPES[self.type].bits) if number else corner[0]
            yield (column, corner[1]), start.at(number * size, space)

    def _whole(self, row: int) -> None:
        if row % _ROWS or not 0 <= row < self.rows:
            raise misuse(
                f"row {row} of a tile of {self.rows} rows; expected one of them, a multiple of {_ROWS}",
                "author.tile",
            )


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix descriptor in registers: `low` holds its address, `high` is the same for every address."""

    tile: Tile
    low: Register
    high: int

    def stage(self, number: Register | int) -> Matrix:
        """The same of another stage, `number` stages on."""
        return Matrix(self.tile, self.low + number * (self.tile.bytes // _CHUNK), self.high)

    def at(self, k: int = 0) -> Register:
        """The descriptor in 64 bits, `k` elements along K. Errors: AuthorError author.tile."""
        tile = self.tile
        byte = k * TYPES[tile.type].bits // 8
        if byte % _CHUNK or not 0 <= k < tile.columns:
            raise misuse(
                f"{k} elements along K are {byte} bytes of a row of {tile.columns} elements; "
                f"expected a multiple of {_CHUNK} bytes within it",
                "author.tile",
            )
        start = byte // tile.span * tile.rows * tile.span + byte % tile.span
        return named("mov")((self.low + start // 16 if start else self.low, self.high), type="b64")


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a tile: `start` is the address of its first span, `key` what the swizzle does to its chunks."""

    tile: Tile
    start: Register
    key: Register | None

    def at(self, column: int) -> Location:
        """The place of an element. Errors: AuthorError author.tile."""
        tile = self.tile
        if not 0 <= column < tile.columns:
            raise misuse(
                f"column {column} of a tile of {tile.columns} columns; expected one of them", "author.tile"
            )
        span, byte = divmod(column * TYPES[tile.type].bits // 8, tile.span)
        return self.chunk(byte // _CHUNK) + (span * tile.rows * tile.span + byte % _CHUNK)

    def chunk(self, number: Register | int) -> Location:
        """The place of a chunk of 16 bytes of the row's first span."""
        if self.key is None:
            start = self.start + number * _CHUNK
        else:
            start = self.start + (self.key ^ number) * _CHUNK
        return start.at(space="shared::cta")


def shared_tile(rows: int, columns: int, type: str, *, swizzle: int = 128, stages: int = 1) -> Tile:
    """Reserve shared memory for tiles of a matrix, K-major. Errors: AuthorError author.tile, author.shared."""
    if type not in TYPES or TYPES[type].bits < 8:
        raise misuse(f"there are no elements of '{type}'; expected a type such as bf16", "author.type")
    with on_its_line():
        chunk_mask(swizzle)
    row, span = columns * TYPES[type].bits // 8, swizzle or _CHUNK
    if rows < 1 or rows % _ROWS or row < span or row % span or stages < 1:
        raise misuse(
            f"{stages} x {rows} rows of {row} bytes; expected a multiple of {_ROWS} rows of a multiple of {span} bytes",
            "author.tile",
        )
    made = Tile(rows, columns, type, swizzle, stages, shared(stages * rows * row, align=_ANCHOR))
    if made.bytes % _ANCHOR and stages > 1 and swizzle:
        raise misuse(
            f"stages of {made.bytes} bytes do not begin where the swizzle does; expected a multiple of {_ANCHOR}",
            "author.tile",
        )
    return made
