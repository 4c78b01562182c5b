"""Positions of sparse metadata and of block scale factors in registers."""

import re
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.layout.element_map import read_only
from warploom.layout.fragment import FragmentMap
from warploom.layout.maps import TYPE_BITS
from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class MetadataMap:
    """Map of the metadata of a sparse multiplication: one nibble for each chunk of a row of A.

    A chunk consists of `chunk` consecutive elements. Most types have chunks of 4 elements with 2 stored (2:4). tf32 has
    chunks of 2 elements with 1 stored (1:2). 4-bit types have chunks of 8 elements with two pairs stored (4:8). `lane`
    is the lane that holds the nibble of a chunk, and `bit` the lowest bit of the nibble in the lane's register.

    Shapes: `lane` and `bit` are (rows, chunks).
    Source: PTX ISA 9.7.14.6.1 and 9.7.14.6.2 for a warp; the 16 rows of each warp of a warpgroup have the same layout.
    """

    name: str
    k: int
    chunk: int
    lane: NDArray[np.int32]
    bit: NDArray[np.int32]

    @property
    def rows(self) -> int:
        """Number of rows of A."""
        return self.lane.shape[0]

    @property
    def lanes(self) -> tuple[int, ...]:
        """Lanes that hold metadata, in ascending order."""
        return tuple(int(lane) for lane in np.unique(self.lane))

    def fragment(self) -> FragmentMap:
        """Return a fragment map with one 4-bit element for each row of A and chunk of the row."""
        legend = f"(T{len(self.lanes)},V8) -> (M{self.rows},chunks of {self.chunk} k)"
        return _register_map(self.name, legend, self.lane, self.bit // 4, bits=4, lanes=2 * self.rows)

    def nibbles(self, registers: NDArray[Any]) -> NDArray[np.uint8]:
        """Extract the nibble of each chunk from registers.

        Shapes: registers (batch, lanes) of 32 bits; the result is (batch, rows, chunks).
        """
        words = registers.view(np.uint32)[:, self.lane]
        return (words >> self.bit.astype(np.uint32) & 15).astype(np.uint8)

    def decode(self, registers: NDArray[Any]) -> NDArray[np.int16]:
        """Return the index along K of each stored element of A.

        Shapes: registers (batch, lanes) of 32 bits; the result is (batch, rows, K/2).
        """
        return self.indices(self.nibbles(registers))

    def indices(self, nibbles: NDArray[np.uint8]) -> NDArray[np.int16]:
        """Return the index along K of each stored element of A.

        Shapes: nibbles (…, rows, chunks); the result is (…, rows, K/2).
        """
        return self._k_of_nibble[np.arange(nibbles.shape[-1]), nibbles].reshape(*nibbles.shape[:-1], self.k // 2)

    def defined_nibbles(self, *, ordered: bool) -> NDArray[np.bool_]:
        """Return one flag for each nibble from 0 to 15: True if the nibble is defined metadata.

        The two 2-bit indices of a nibble must differ. With `ordered`, the first must be less than the second. tf32
        allows only 0b0100 and 0b1110.
        """
        nibble = np.arange(16)
        if self.chunk == 2:
            return np.isin(nibble, (0b0100, 0b1110))
        first, second = nibble & 3, nibble >> 2
        return first < second if ordered else first != second

    def undefined_lanes(self, registers: NDArray[Any], *, ordered: bool) -> NDArray[np.bool_]:
        """Return one flag for each lane in `lanes`: True if the lane's register holds undefined metadata.

        Shapes: registers (batch, lanes of the warps); the result is (batch, lanes that hold metadata).
        """
        words = registers.view(np.uint32)[:, list(self.lanes)]
        halves = _defined_halves(self.chunk, ordered)
        return ~(halves[words & 0xFFFF] & halves[words >> 16])

    @cached_property
    def _k_of_nibble(self) -> NDArray[np.int16]:
        # (chunks, 16, stored per chunk): the two 2-bit indices count halves of tf32, elements, or pairs.
        chunks = self.lane.shape[1]
        nibble = np.arange(16)
        indices = np.stack([nibble & 3, nibble >> 2], axis=1)
        if self.chunk == 2:
            within = indices[:, :1] >> 1
        elif self.chunk == 4:
            within = indices
        else:
            within = (2 * indices[:, :, None] + np.arange(2)).reshape(16, 4)
        table = np.zeros((chunks, 16, within.shape[1]), np.int16)
        table[:] = within[None] + self.chunk * np.arange(chunks)[:, None, None]
        return table


@cache
def _defined_halves(chunk: int, ordered: bool) -> NDArray[np.bool_]:
    """Return one flag for each 16-bit value: True if its four nibbles are defined metadata."""
    empty = np.zeros((0, 0), np.int32)
    defined = MetadataMap("", 0, chunk, empty, empty).defined_nibbles(ordered=ordered)
    values = np.arange(1 << 16)
    return np.logical_and.reduce([defined[values >> shift & 15] for shift in (0, 4, 8, 12)])


@cache
def metadata(instruction: str, shape: str, element: str, selector: int = 0) -> MetadataMap:
    """Return the metadata map of a sparse multiplication.

    `instruction` is only a name for messages. `shape` is a name such as "m16n8k32"; M is 16 for a warp and 64 for a
    warpgroup. `element` is the type of A. In each group of four lanes, `selector` selects the lanes with metadata.

    Errors: UsageError for an unknown shape, type or selector.
    """
    name = f"{instruction} sparse {shape} {element} metadata"
    found = re.fullmatch(r"m(\d+)n\d+k(\d+)", shape)
    height = int(found[1]) if found else 0
    if found is None or height not in (16, 64) or element not in TYPE_BITS:
        raise UsageError(f"{name} does not exist; expected M = 16 or 64 and names such as m16n8k32 s8")
    k = int(found[2])
    bits = 4 if element == "e2m1" and k == 128 else TYPE_BITS[element]
    chunk = {32: 2, 16: 4, 8: 4, 4: 8}.get(bits, 0)
    row_bits = 4 * k // chunk if chunk else 0
    wide = bits >= 16
    contributors = row_bits // 16
    if contributors not in ((1, 2) if wide else (2, 4)):
        raise UsageError(f"{name} does not exist: no sparse multiplication of this type has this K")
    if not 0 <= selector < 4 // contributors:
        legal = "0" if contributors == 4 else f"0 to {4 // contributors - 1}"
        raise UsageError(f"{name}: the selector is {selector}; expected {legal}")
    row, column = np.indices((height, row_bits // 4), dtype=np.int32)
    group, lower = row % 8, row // 8 % 2
    if wide:
        # (T(contributors,8),V8) -> (M16,chunks): a lane holds four chunks of row g, then those of row g + 8.
        thread, bit = column // 4, 16 * lower + 4 * (column % 4)
    else:
        # (T(2,contributors/2,8),V8) -> (M16,chunks): a lane holds eight chunks of row g, the next lane those of g + 8.
        thread, bit = lower + 2 * (column // 8), 4 * (column % 8)
    lane = 32 * (row // 16) + 4 * group + contributors * selector + thread
    return MetadataMap(name, k, chunk, lane.astype(np.int32), bit.astype(np.int32))


@dataclass(frozen=True, eq=False)
class ScaleMap:
    """Map of the scale factors of operand "A" or "B" of a block-scaled multiplication by one warp.

    A factor is one byte: byte `byte` of the register in lane `lane`.

    Shapes: `lane` and `byte` are (M or N, factors along K).
    Source: PTX ISA 9.7.14.3.
    """

    operand: str
    name: str
    lane: NDArray[np.int32]
    byte: NDArray[np.int32]

    def fragment(self) -> FragmentMap:
        """Return a fragment map of the factors: (M, factors along K) for A, and (factors along K, N) for B."""
        factors = self.lane.shape[1]
        extents = f"M16,{factors}" if self.operand == "A" else f"{factors},N8"
        legend = f"(T{np.unique(self.lane).size},V{factors}) -> ({extents})"
        lane, byte = (self.lane, self.byte) if self.operand == "A" else (self.lane.T, self.byte.T)
        return _register_map(self.name, legend, lane, byte, bits=8, lanes=32)

    def gather(self, registers: NDArray[Any]) -> NDArray[np.uint8]:
        """Extract the factors from a batch of registers.

        Shapes: registers (batch, 32) of 32 bits; the result is (batch, M or N, factors).
        """
        words = registers.view(np.uint32)[:, self.lane]
        return (words >> (8 * self.byte).astype(np.uint32) & 255).astype(np.uint8)


@cache
def scale_factors(operand: str, vectors: int, byte_id: int, thread_id: int) -> ScaleMap:
    """Return the map of the scale factors of A or B.

    `vectors` is the number of factors along K (1, 2 or 4), and `byte_id` the first byte of the factors in a register.
    In each group of four lanes, `thread_id` selects the lanes with factors: a pair of lanes (0 or 1) for A, one lane (0
    to 3) for B.

    Errors: UsageError for a selector outside the manual's table.
    """
    if operand not in ("A", "B") or vectors not in (1, 2, 4):
        raise UsageError(f"unknown operand {operand!r} with {vectors} scale factors; expected A or B with 1, 2 or 4")
    threads = range(2) if operand == "A" else range(4)
    if thread_id not in threads:
        raise UsageError(f"the thread id of scale {operand} is {thread_id}; expected 0 to {len(threads) - 1}")
    starts = tuple(range(0, 4, vectors))
    if byte_id not in starts:
        legal = ", ".join(str(start) for start in starts)
        raise UsageError(f"the byte id of scale {operand} is {byte_id}; expected {legal} with {vectors}X")
    extent, factor = np.indices((16 if operand == "A" else 8, vectors), dtype=np.int32)
    # A: (T(2,8),V(vectors)) -> (M16,K), lane 4g + 2*thread id + (row >> 3)
    # B: (T8,V(vectors)) -> (N8,K), lane 4g + thread id
    first = 2 * thread_id if operand == "A" else thread_id
    lane = 4 * (extent % 8) + first + extent // 8
    name = f"mma scale factors of {operand}, {vectors} from byte {byte_id} of thread {thread_id}"
    return ScaleMap(operand, name, lane.astype(np.int32), (factor + byte_id).astype(np.int32))


def _register_map(
    name: str, legend: str, lane: NDArray[np.int32], item: NDArray[np.int32], *, bits: int, lanes: int
) -> FragmentMap:
    """Return a fragment map of elements in only some lanes. Shapes: lane and item are (rows, cols)."""
    row, col = np.full((2, lanes, 32 // bits), -1, np.int32)
    row[lane, item], col[lane, item] = np.indices(lane.shape, dtype=np.int32)
    read_only(row, col)
    return FragmentMap(name, legend, lane.shape[0], lane.shape[1], bits, row, col)
