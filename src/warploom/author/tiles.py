"""Dynamic shared memory, and matrix tiles in it: swizzled addresses, descriptors and tensor copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from warploom.author import ptx
from warploom.author.builder import current
from warploom.author.errors import author_error, errors_at_caller
from warploom.author.values import DYNAMIC, Location, Register
from warploom.isa.model.capacity import SHARED_KIB
from warploom.isa.model.types import TYPES
from warploom.layout import Descriptor, UmmaDescriptor
from warploom.layout.swizzle import chunk_mask
from warploom.ptx import Symbol

Origin = tuple[Register | int, ...]
"""Column and row of the first element of a tile in the tensor, and further coordinates."""
_PATTERN = 1024  # bytes after which every swizzle pattern repeats
_CORE_ROWS = 8  # rows of a core matrix
_CHUNK = 16  # bytes that a swizzle moves together
_CTA_ADDRESS = 0x3FFFF  # bits of a shared address in its CTA; in a cluster, others have the rank of the CTA
_MN_SPAN = 128  # swizzle span of an MN-major tile
_SWIZZLES = (0, 32, 64, 128)  # spans that matrix descriptors have
_TENSOR_MEMORY = 100  # first architecture number whose matrix descriptors are those of tensor memory


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

    A tile has `rows` x `columns` elements. The column is the index along K, the reduction dimension of a GEMM. A line
    is a row or, if `major` is "mn", a column. A line is divided into parts of `span` bytes. In memory, the first parts
    of all lines precede the second parts of all lines, and so on. Tensor copies write this layout if a box contains one
    part of each line.
    """

    rows: int
    columns: int
    type: str
    swizzle: int
    stages: int
    memory: Shared
    major: Literal["k", "mn"] = "k"

    @property
    def bits(self) -> int:
        """Size of an element. Two elements of type e2m1 are packed in a byte. Units: bits."""
        return element_bits(self.type)

    @property
    def lines(self) -> int:
        """Number of lines: rows, or columns if the tile is MN-major."""
        return self.rows if self.major == "k" else self.columns

    @property
    def span(self) -> int:
        """Size of the parts of a line: the swizzle span, or 16 without swizzle. Units: bytes."""
        return self.swizzle or _CHUNK

    @property
    def bytes(self) -> int:
        """Size of one tile. Units: bytes."""
        return self.rows * self.columns * self.bits // 8

    def address(self, stage: Register | int = 0, *, row: int = 0) -> Register:
        """Return the address of a row of a stage. `row` must be a multiple of 8.

        Errors: AuthorError author.tile.
        """
        unit = _CORE_ROWS if self.major == "k" else 8 * self.span // self.bits
        if row % unit or not 0 <= row < self.rows:
            message = f"row is {row} in a tile of {self.rows} rows; expected a multiple of {unit} inside the tile"
            raise author_error(message, "author.tile")
        if not isinstance(stage, Register) and stage not in range(self.stages):
            message = f"stage is {stage!r} in a tile of {self.stages} stages; expected 0 to {self.stages - 1}"
            raise author_error(message, "author.tile")
        offset = row * self.span if self.major == "k" else row // unit * self.lines * self.span
        if isinstance(stage, int):
            return self.memory.address(stage * self.bytes + offset)
        return self.memory.address(offset) + stage * self.bytes

    def descriptor(self, *, row: Register | int = 0) -> TileDescriptor:
        """Return the matrix descriptor of the first stage, from row `row` on.

        The descriptor has the format of the target: that of wgmma, or that of tensor memory from sm_100 on. `row` must
        be a multiple of 8. Errors: AuthorError author.tile.
        """
        start = self.address(row=row) if isinstance(row, int) else self.address() + row * self.span
        kind = UmmaDescriptor if current().target.number >= _TENSOR_MEMORY else Descriptor
        with errors_at_caller():
            word = kind(0, self.lines * self.span, _CORE_ROWS * self.span, 0, self.swizzle).encode()
        return TileDescriptor(self, ((start & _CTA_ADDRESS) >> 4) | (word & 0xFFFFFFFF), word >> 32)

    def row(self, row: Register, stage: Register | int = 0) -> TileRow:
        """Return a `TileRow` for access to row `row` of a stage. Errors: AuthorError author.tile."""
        if self.major != "k":
            raise author_error("an MN-major tile has no contiguous rows; expected a K-major tile", "author.tile")
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
        pair: bool = False,
    ) -> None:
        """Copy the tile at `origin` (column, row) of a tensor into a stage. `barrier` counts the bytes.

        The box of the tensor map must have all lines of the tile and the elements of one swizzle span. If the tensor
        has more dimensions, `origin` has more coordinates. Columns of type e2m1 count bytes. `multicast` is a mask of
        CTAs of the cluster: each of them receives the tile in the same stage. With `pair`, `barrier` may be in the
        other CTA of the pair.
        """
        extra: dict[str, Any] = {} if multicast is None else {"ctaMask": multicast}
        if pair:
            extra["cta_group"] = "cta_group::2"
        for box, place in self._boxes(origin, stage, "shared::cluster"):
            source = Location(tensor, coordinates=box)
            extra["dim"] = f"{len(box)}d"
            ptx.cp_async_bulk_tensor(place, source, barrier, dst="shared::cluster", **extra)

    def store(self, tensor: Register, origin: Origin, stage: Register | int = 0) -> None:
        """Copy a stage to `origin` (column, row) of a tensor. Commit the copies as a bulk group."""
        for box, place in self._boxes(origin, stage, "shared::cta"):
            target = Location(tensor, coordinates=box)
            dim: Any = f"{len(box)}d"
            ptx.cp_async_bulk_tensor(target, place, dim=dim, src="shared::cta")
        ptx.cp_async_bulk_commit_group()

    def _boxes(self, origin: Origin, stage: Register | int, space: str) -> Iterator[tuple[Origin, Location]]:
        """Yield the boxes of a stage: their origins in the tensor and their locations in shared memory."""
        start = self.address(stage)
        size = self.lines * self.span
        column, row, *more = origin
        inner, outer = (column, row) if self.major == "k" else (row, column)
        for number in range(self.bytes // size):
            first = inner + number * (8 * self.span // max(self.bits, 8)) if number else inner
            yield (first, outer, *more), start.at(number * size, space)


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
        byte = k * (tile.bits if tile.major == "k" else 8 * tile.span) // 8
        step = 8 * _CHUNK // tile.bits if tile.major == "k" else _CORE_ROWS
        if k % step or not 0 <= k < tile.columns:
            raise author_error(
                f"k is {k} in a row of {tile.columns} elements; expected a multiple of {step} inside the row",
                "author.tile",
            )
        start = byte // tile.span * tile.rows * tile.span + byte % tile.span if tile.major == "k" else byte
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
        span, byte = divmod(column * tile.bits // 8, tile.span)
        return self.chunk(byte // _CHUNK) + (span * tile.rows * tile.span + byte % _CHUNK)

    def chunk(self, number: Register | int) -> Location:
        """Return the location of 16-byte chunk `number`, counted in the first `Tile.span` bytes of the row."""
        swizzled = number if self.mask is None else self.mask ^ number
        return (self.start + swizzled * _CHUNK).at(space="shared::cta")


def element_bits(type: str) -> int:
    """Return the size of an element in a tile. Units: bits. Two elements of e2m1 share a byte."""
    return 4 if type == "e2m1" else TYPES[type].bits


def shared_tile(
    rows: int, columns: int, type: str, *, swizzle: int = 128, stages: int = 1, major: Literal["k", "mn"] = "k"
) -> Tile:
    """Allocate `stages` tiles of `rows` x `columns` elements in shared memory.

    `swizzle` is the swizzle span in bytes, or 0. The elements of a row are contiguous or, if `major` is "mn", the
    elements of a column. MN-major tiles have elements of 16 bits and a swizzle of 128 bytes.

    Errors: AuthorError author.{tile, shared, type}.
    """
    if type not in TYPES or TYPES[type].bits < 8:
        raise author_error(f"unknown element type '{type}'; expected a type such as bf16", "author.type")
    if swizzle not in _SWIZZLES:
        raise author_error(f"unknown swizzle of {swizzle} bytes; expected 0, 32, 64 or 128", "author.tile")
    bits, span = element_bits(type), swizzle or _CHUNK
    if major != "k" and (bits, swizzle) != (16, _MN_SPAN):
        raise author_error(
            f"an MN-major tile has elements of {bits} bits and a swizzle of {swizzle} bytes; "
            f"expected 16 bits and {_MN_SPAN} bytes",
            "author.tile",
        )
    lines, row = (rows, columns * bits // 8) if major == "k" else (columns, rows * bits // 8)
    if lines < 1 or lines % _CORE_ROWS or row < span or row % span or stages < 1:
        names = ("rows", "row") if major == "k" else ("columns", "column")
        raise author_error(
            f"a tile has {stages} stages of {lines} {names[0]} of {row} bytes; expected at least 1 stage, a multiple of"
            f" {_CORE_ROWS} {names[0]}, and a multiple of {span} bytes in a {names[1]}",
            "author.tile",
        )
    made = Tile(rows, columns, type, swizzle, stages, shared(stages * lines * row, align=_PATTERN), major)
    if made.bytes % _PATTERN and stages > 1 and swizzle:
        message = f"a stage of a swizzled tile has {made.bytes} bytes; expected a multiple of {_PATTERN}"
        raise author_error(message, "author.tile")
    return made
