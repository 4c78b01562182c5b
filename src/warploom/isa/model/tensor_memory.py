"""Records of the asynchronous operations on tensor memory.

A record contains the values of the operands at the time of the instruction. Every array is (warps, 32), and each active
lane issues its own operation. Array elements of inactive lanes have no meaning. `TensorLoad` and `TensorStore` belong
to whole warps instead. `ctas` is 1, or 2 for an operation of a pair of CTAs.

The functions `ranges` return the parts of tensor memory that one operation uses. They have the value of the operand as
parameter, because the emulator and observers keep the operands of single operations.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.layout import FragmentMap, InstructionDescriptor, TensorMemoryMap, UmmaDescriptor
from warploom.layout.tensor_memory import accumulator, chunk_of, data_path, multiplicand, row_lanes, scales, sparsity
from warploom.lazy_dataclass import dataclass
from warploom.numerics import models
from warploom.numerics.models import Model

Words = NDArray[np.uint32]
Flags = NDArray[np.bool_]

LANE_SHIFT = 16
"""Position of the lane in an address of tensor memory; the low half is the column."""
COLUMN_MASK = 0xFFFF


class TensorRange(NamedTuple):
    """Rectangle of tensor memory that an operation uses, in each of its CTAs. Units: columns of 32 bits."""

    kind: Literal["read", "write", "update"]
    lane: int
    lanes: int
    column: int
    columns: int


class SharedRange(NamedTuple):
    """Shared addresses that an operation reads, in each of its CTAs. Units: bytes."""

    start: int
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Matrix in shared memory: its chunks, and the swizzle of their addresses (see `UmmaDescriptor`).

    `padded` is False if elements of 4 bits are packed. `second` is the address that `UmmaDescriptor.absolute` selects,
    or -1.

    Shapes: offsets (rows, chunks) if K-major, else (K, chunks).
    """

    offsets: NDArray[np.int64]
    exchange: tuple[int, int]
    phase: int
    element: str
    major: Literal["K", "MN"]
    padded: bool
    second: int

    @classmethod
    def of(cls, descriptor: int, rows: int, k: int, element: str, major: str, *, padded: bool) -> Matrix:
        """Return the matrix at a descriptor. The start address of the descriptor does not matter."""
        try:
            return _matrix(descriptor >> 14 << 14, rows, k, element, major, padded)
        except UsageError:
            UmmaDescriptor.decode(descriptor)  # may raise an error with the start address
            raise

    def range(self, start: int) -> SharedRange:
        """Return the addresses of the matrix, if it starts at the address `start`."""
        first, last = int(self.offsets.min()), int(self.offsets.max())
        return SharedRange(start + first, last + 16 - first)


@lru_cache(maxsize=1024)
def _matrix(descriptor: int, rows: int, k: int, element: str, major: Any, padded: bool) -> Matrix:
    found = UmmaDescriptor.decode(descriptor)
    chunks = found.chunks(rows, k, element, major, padded=padded)
    second = found.leading_byte_offset if found.absolute else -1
    return Matrix(chunks, found.exchange, found.base_offset, element, major, padded, second)


@dataclass(frozen=True, slots=True, eq=False)
class MultiplyPlan:
    """Facts about a multiplication that its modifiers and its instruction descriptor determine.

    `lanes` has the lane of each row of D and A in each group of lanes (see `row_lanes`). `alignments` are the legal
    lanes of the address of D.
    """

    fields: InstructionDescriptor
    path: str
    lanes: NDArray[np.int64]
    alignments: tuple[int, ...]
    metadata: TensorMemoryMap | None
    scales: tuple[TensorMemoryMap, TensorMemoryMap] | None
    factors: int

    @property
    def columns(self) -> int:
        """Number of columns of tensor memory that D occupies."""
        return self.fields.n // len(self.lanes)

    @property
    def columns_of_a(self) -> int:
        """Number of columns of tensor memory that A would occupy."""
        return self.fields.stored_k * self.bits_of_a // 32

    @property
    def bits_of_a(self) -> int:
        """Number of bits of an element of A in tensor memory."""
        return 4 if self.fields.is_packed_4bit else {"f16": 16, "tf32": 32}.get(self.fields.kind, 8)

    @property
    def chunk(self) -> int:
        """Number of elements of a sparse A that one nibble of metadata describes."""
        return chunk_of(self.fields)


@dataclass(frozen=True, slots=True, eq=False)
class TensorMultiply:
    """Multiplication D = A B or D = A B + D in tensor memory.

    - `kind`: kind of the multiplication, such as "f16"
    - `d`, `idesc`: address of D, and instruction descriptors
    - `a`: matrix descriptors or, if `a_in_tensor`, addresses of A in tensor memory; `b`: matrix descriptors
    - `keeps`: False if the product replaces D
    - `sparse`, `stationary`: True for `.sp` and for `.ws`
    - `metadata`: address of the metadata of a sparse A
    - `scales`: addresses of the scale factors of A and B; `block` is the modifier that selects their number
    - `scale_input_d`: D is divided by 2 to the power of this number before the sum
    - `disabled`: 32 bits for each 32 lanes, first those of the even CTA; D keeps its value in lanes with a 1
    - `zero_columns`: zero-column mask descriptors
    - `collector`: buffer and use, such as ("a", "fill")
    - `shifts_a`: True if row i of A is read from row i + 1, except the last row

    Shapes: disabled (4 * ctas, warps, 32).
    Source: PTX ISA 9.7.16.10.9.
    """

    kind: str
    ctas: int
    d: Words
    idesc: Words
    a: NDArray[Any]
    b: NDArray[np.uint64]
    keeps: Flags
    a_in_tensor: bool = False
    sparse: bool = False
    stationary: bool = False
    metadata: Words | None = None
    scales: tuple[Words, Words] | None = None
    block: str = ""
    scale_input_d: int = 0
    disabled: Words | None = None
    zero_columns: NDArray[np.uint64] | None = None
    collector: tuple[str, str] = ("a", "discard")
    shifts_a: bool = False

    def plan(self, idesc: int) -> MultiplyPlan:
        """Return the facts that an instruction descriptor determines.

        Errors: UsageError for an illegal instruction descriptor.
        """
        return _plan(
            self.kind, idesc, self.ctas, self.sparse, self.stationary, self.a_in_tensor, self.shifts_a,
            "" if self.scales is None else self.block or "default",
        )  # fmt: skip

    def matrix_a(self, plan: MultiplyPlan, descriptor: int) -> Matrix:
        """Return the part of A in the shared memory of each CTA."""
        fields = plan.fields
        return Matrix.of(
            descriptor, fields.m // self.ctas, fields.stored_k, fields.atype, fields.a_major,
            padded=not fields.is_packed_4bit,
        )  # fmt: skip

    def matrix_b(self, plan: MultiplyPlan, descriptor: int, shift: int = 0) -> Matrix:
        """Return the part of B in the shared memory of each CTA, with `shift` more columns."""
        fields = plan.fields
        return Matrix.of(
            descriptor, fields.n // self.ctas + shift, fields.k, fields.btype, fields.b_major,
            padded=not fields.is_packed_4bit,
        )  # fmt: skip

    def ranges(
        self, plan: MultiplyPlan, d: int, a: int, metadata: int, scale_a: int, scale_b: int
    ) -> list[TensorRange]:
        """Return the ranges of tensor memory.

        The parameters are addresses. Those of absent operands are ignored.
        """
        found = [_range("update", d, plan.lanes, plan.columns)]
        if self.a_in_tensor:
            found.append(_range("read", a, plan.lanes, plan.columns_of_a))
        maps = [(plan.metadata, metadata), *zip(plan.scales or (None, None), (scale_a, scale_b), strict=True)]
        found += [
            TensorRange(
                "read", (at >> LANE_SHIFT) + int(each.lane.min()), int(np.ptp(each.lane)) + 1,
                (at & COLUMN_MASK) + int(each.column.min()), int(np.ptp(each.column)) + 1,
            )
            for each, at in maps if each is not None
        ]  # fmt: skip
        return found


def _range(kind: Literal["read", "update"], at: int, lanes: NDArray[np.int64], columns: int) -> TensorRange:
    return TensorRange(kind, at >> LANE_SHIFT, int(lanes.max()) + 1, at & COLUMN_MASK, columns)


@lru_cache(maxsize=256)
def _plan(
    kind: str, idesc: int, ctas: int, sparse: bool, stationary: bool, a_in_tensor: bool, shifts_a: bool, block: str
) -> MultiplyPlan:
    fields = InstructionDescriptor.decode(idesc, kind)
    if fields.sparse != sparse:
        words = ("dense", "sparse")
        raise UsageError(
            f"A is {words[fields.sparse]} in the instruction descriptor, and {words[sparse]} in the opcode; expected"
            " the same"
        )
    path = data_path(fields, ctas, stationary=stationary)
    if a_in_tensor:
        multiplicand(fields, ctas, stationary=stationary)  # raises UsageError for an illegal A
    if shifts_a and fields.m < 128:
        raise UsageError(f"M is {fields.m} in a multiplication that shifts A; expected 128 or 256")
    if fields.b_major == "MN" and kind in ("f8f6f4", "mxf8f6f4", "i8") and fields.n % (16 * ctas):
        raise UsageError(f"N is {fields.n} with an N-major B of 8-bit elements; expected a multiple of {16 * ctas}")
    factors = factors_of(block, fields) if block else 0
    accumulator(fields, ctas, stationary=stationary)
    return MultiplyPlan(
        fields, path, row_lanes(fields, ctas, path), (0, 16) if path in "CF" else (0,),
        sparsity(fields, ctas, stationary=stationary) if sparse else None,
        (scales(fields, "A", factors, ctas), scales(fields, "B", factors, ctas)) if block else None,
        factors,
    )  # fmt: skip


def factors_of(block: str, fields: InstructionDescriptor) -> int:
    """Return the number of scale factors of a row of A, given the modifier `.scale_vec` or `.block`."""
    if block.startswith("scale_vec"):
        return int(block[-2])
    if fields.kind == "mxf8f6f4":
        return 1
    return fields.k // (1 + fields.sparse) // (16 if block == "block16" else 32)


_LONG_K = "sm_103a"
"""Only architecture with K = 96. Source: PTX ISA 9.7.16.2.1.1."""


@lru_cache(maxsize=256)
def model_of(fields: InstructionDescriptor, arch: str) -> Model:
    """Return the arithmetic of `arch` for a multiplication.

    Errors: NoModelError if the arithmetic is not known; UsageError for a K that only another architecture has.
    """
    if fields.k96 and arch != _LONG_K:
        raise UsageError(
            f"K is 96 in the instruction descriptor (bit 31) on {arch}; expected K = 64, or the architecture {_LONG_K}"
        )
    scaling: Any = (fields.kind, fields.scale_type) if fields.is_scaled else None
    return models.select(
        arch, "tensor memory", fields.atype, fields.btype, fields.dtype, k=fields.k, scaling=scaling
    )  # fmt: skip


@lru_cache(maxsize=64)
def zero_columns(descriptor: int, m: int, n: int) -> tuple[NDArray[np.bool_], int]:
    """Return the columns of B that count as zero, and the number of columns by which B is shifted.

    `descriptor` is a zero-column mask descriptor. A sub-mask alternates between runs of used and of zero columns. The
    first run is one of zero columns if the bit "first span" is set, and the mask lacks the first "start count" columns.
    The manual's table exchanges the two lengths; its examples agree with their names.

    Shapes: mask (N,).
    Source: PTX ISA 9.7.16.4.3.
    """
    shift = descriptor >> 56 & 63
    mask = np.zeros(n, np.bool_)
    parts = {128: 1, 64: 2, 32: 4}[m]
    skipped, used = (descriptor >> 40 & 255) + 1, (descriptor >> 48 & 255) + 1
    for part in range(parts if descriptor >> 39 & 1 else 0):
        at = np.arange(n // parts) + (descriptor >> 8 * part & 255)
        first = descriptor >> 32 + part & 1
        if first:
            zero = at % (skipped + used) < skipped
        else:
            zero = at % (skipped + used) >= used
        mask[part * (n // parts) : (part + 1) * (n // parts)] = zero
    return mask, shift


@dataclass(frozen=True, slots=True, eq=False)
class TensorMemoryCopy:
    """Copy of a matrix from shared to tensor memory (`cp`).

    `rows` and `bits` are those of the shape. Group g of 32 lanes receives the 32 rows from sources[g] on; with 4 rows,
    each group receives one row. `decompression` is "b4x16_p64", "b6x16_p32" or "".

    Source: PTX ISA 9.7.16.9.2; CUTLASS 4 (Copy_Traits of SM100_UTCCP).
    """

    ctas: int
    rows: int
    bits: int
    sources: tuple[int, int, int, int]
    decompression: str
    target: Words
    descriptor: NDArray[np.uint64]

    def matrix(self, descriptor: int) -> Matrix:
        """Return the source in the shared memory of each CTA, as a matrix of bytes."""
        return Matrix.of(descriptor, self.rows, self.bits // 8, "u8", "K", padded=True)

    def lanes(self, lane: int) -> NDArray[np.int64]:
        """Return the lane of each copied row, and the rows, as two rows of an array."""
        if self.rows == 4:
            row = np.arange(4)
            return np.stack([lane + 32 * row, row])
        target = np.arange(128)
        row = np.array(self.sources)[target // 32] + target % 32
        return np.stack([lane + target, row])

    def ranges(self, target: int) -> list[TensorRange]:
        """Return the ranges of tensor memory."""
        lanes = 97 if self.rows == 4 else 128
        return [TensorRange("write", target >> LANE_SHIFT, lanes, target & COLUMN_MASK, self.bits // 32)]


@dataclass(frozen=True, slots=True, eq=False)
class TensorMemoryShift:
    """Shift of 32 rows of 32 bytes by one row (`shift.down`).

    Lane i receives the row of lane i + 1, and the last lane keeps its row.
    The manual does not state the direction. CUTLASS refills the last lane of each group after a shift.

    Source: PTX ISA 9.7.16.9.3; CUTLASS 4 (SM100_UTCCP_4dp256bit_1cta).
    """

    ctas: int
    target: Words

    def ranges(self, target: int) -> list[TensorRange]:
        """Return the ranges of tensor memory."""
        return [TensorRange("update", target >> LANE_SHIFT, 32, target & COLUMN_MASK, 8)]


@dataclass(frozen=True, slots=True, eq=False)
class TensorCommit:
    """Arrival at an mbarrier when the earlier operations of the thread are complete (`commit`).

    `space` is that of the addresses `mbarrier`. `multicast` is a mask of the CTAs of the cluster whose mbarriers at the
    same offset receive the arrival, or None for the mbarrier at the address alone.

    Source: PTX ISA 9.7.16.12.1.
    """

    ctas: int
    space: str
    mbarrier: NDArray[np.uint64]
    multicast: NDArray[np.uint16] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TensorTransfer:
    """Copy between the registers of warps and tensor memory: a load (`ld`) or a store (`st`).

    `registers` is the vector operand. The second half of the lanes uses the address plus `split`, if `split` is not
    None. `reduction` has the operation, the type, and True for `.abs` and for `.NaN`; its result is written to
    `reduced`.

    Source: PTX ISA 9.7.16.8.3, 9.7.16.8.4.
    """

    action: Literal["load", "store"]
    map: FragmentMap
    registers: Any
    address: NDArray[np.uint64]
    packed: bool = False
    split: int | None = None
    reduction: tuple[str, str, bool, bool] | None = None
    reduced: Any = None

    @property
    def rows(self) -> int:
        """Number of lanes that one part of the transfer accesses."""
        return self.map.rows

    def columns(self) -> int:
        """Return the number of columns that one part of the transfer accesses."""
        return self.map.cols // (1 if self.split is None else 2)


TensorRecord = TensorMultiply | TensorMemoryCopy | TensorMemoryShift | TensorCommit | TensorTransfer
