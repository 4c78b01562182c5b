"""Records of the asynchronous operations on tensor memory.

A record describes the operations that one instruction issues, one for each active lane of a batch of warps. It has the
values of the operands at the issue as arrays of the shape (warps, 32), whose elements for inactive lanes have no
meaning. `TensorTransfer` is an exception: a whole warp issues a transfer. `ctas` is the number of CTAs that execute an
operation together, 1 or 2.

The methods `ranges` return the parts of tensor memory that a single operation uses. Their parameters are the operands
of this operation.
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
"""Number of the lowest bit of the lane in an address of tensor memory. The lower bits are the column."""
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
    """Matrix in shared memory, except its start address: the layout that a matrix descriptor describes.

    The matrix consists of 16-byte chunks. `offsets` has the distances of the chunks from the start address before the
    swizzle. `exchange` and `phase` are `UmmaDescriptor.exchange` and the base offset, which define the swizzle. With
    `padded`, elements of 4 bits occupy half of their chunk. With an absolute leading address
    (`UmmaDescriptor.absolute`), `second` is this address, otherwise -1.

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
        """Return the matrix that a descriptor describes. The result does not depend on the start address."""
        try:
            return _matrix(descriptor >> 14 << 14, rows, k, element, major, padded)
        except UsageError:
            UmmaDescriptor.decode(descriptor)  # may raise an error with the start address
            raise

    def range(self, start: int) -> SharedRange:
        """Return the range of addresses of the matrix for a start address."""
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
    """Shape of a multiplication, and locations of its operands in tensor memory.

    The modifiers and the instruction descriptor determine them. `fields` is the decoded instruction descriptor, and
    `path` the letter of the data path (see `data_path`). `lanes` has the lane of each row of D and A relative to the
    address, for each group of lanes (see `row_lanes`). `alignments` are the legal lanes of the addresses of D and A.
    `metadata` and `scales` are the locations of the metadata of A and of the scale factors of A and B. `factors` is the
    number of scale factors of a row of A.

    Shapes: lanes (groups of lanes, rows of a CTA).
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
        """Number of columns that A occupies if it is in tensor memory."""
        return self.fields.stored_k * self.bits_of_a // 32

    @property
    def bits_of_a(self) -> int:
        """Number of bits that an element of A occupies in tensor memory."""
        return 4 if self.fields.is_packed_4bit else {"f16": 16, "tf32": 32}.get(self.fields.kind, 8)

    @property
    def chunk(self) -> int:
        """Number of elements of a sparse A that one nibble of metadata describes."""
        return chunk_of(self.fields)


@dataclass(frozen=True, slots=True, eq=False)
class TensorMultiply:
    """Multiplication D = A B or D = A B + D in tensor memory.

    - `kind`: kind of the multiplication, such as "f16"
    - `d`, `idesc`: addresses of D, and instruction descriptors
    - `a`: matrix descriptors or, if `a_in_tensor`, addresses of A in tensor memory; `b`: matrix descriptors
    - `keeps`: operand enable-input-d; False if the product replaces D
    - `sparse`, `stationary`: True for `.sp` and for `.ws`
    - `metadata`: addresses of the metadata of a sparse A
    - `scales`: addresses of the scale factors of A and of B; `block` is the modifier that selects their number
    - `scale_input_d`: D is divided by 2 to the power of this number before the addition
    - `disabled`: 32-bit masks of lanes, first those of the even CTA; the multiplication does not write to these lanes
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
        """Return the plan of the multiplication with an instruction descriptor.

        Errors: UsageError for an illegal instruction descriptor.
        """
        return _plan(
            self.kind, idesc, self.ctas, self.sparse, self.stationary, self.a_in_tensor, self.shifts_a,
            "" if self.scales is None else self.block or "default",
        )  # fmt: skip

    def matrix_a(self, plan: MultiplyPlan, descriptor: int) -> Matrix:
        """Return the part of A that each CTA has in its shared memory."""
        fields = plan.fields
        return Matrix.of(
            descriptor, fields.m // self.ctas, fields.stored_k, fields.atype, fields.a_major,
            padded=not fields.is_packed_4bit,
        )  # fmt: skip

    def matrix_b(self, plan: MultiplyPlan, descriptor: int, shift: int = 0) -> Matrix:
        """Return the part of B that each CTA has in its shared memory, with `shift` more columns."""
        fields = plan.fields
        return Matrix.of(
            descriptor, fields.n // self.ctas + shift, fields.k, fields.btype, fields.b_major,
            padded=not fields.is_packed_4bit,
        )  # fmt: skip

    def ranges(
        self, plan: MultiplyPlan, d: int, a: int, metadata: int, scale_a: int, scale_b: int
    ) -> list[TensorRange]:
        """Return the ranges of tensor memory that an operation with these addresses uses.

        The addresses of absent operands are ignored.
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
    """Return the arithmetic that the architecture `arch` uses for a multiplication.

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
    """Return a mask of the columns of B that count as zero, and the distance by which B is shifted.

    `descriptor` is a zero-column mask descriptor. It has 128 / M sub-masks for equal parts of the columns. A sub-mask
    consists of alternating runs of zero columns and of used columns. The bit "first span" selects the kind of the first
    run, and the first "start count" columns of the sequence are left out. The manual's table exchanges the lengths of
    the two kinds of runs. Its examples agree with the names of the fields.

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

    The matrix has `rows` rows of `bits` bits. Group g of 32 lanes receives 32 rows, from row sources[g] on. Of a matrix
    with 4 rows, each group receives one row. `decompression` is "b4x16_p64", "b6x16_p32" or "".

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
        """Return the source as a matrix of bytes in shared memory."""
        return Matrix.of(descriptor, self.rows, self.bits // 8, "u8", "K", padded=True)

    def lanes(self, lane: int) -> NDArray[np.int64]:
        """Return the target lanes for an address in lane `lane`, and their source rows. Shapes: (2, lanes)."""
        if self.rows == 4:
            row = np.arange(4)
            return np.stack([lane + 32 * row, row])
        target = np.arange(128)
        row = np.array(self.sources)[target // 32] + target % 32
        return np.stack([lane + target, row])

    def ranges(self, target: int) -> list[TensorRange]:
        """Return the ranges of tensor memory that a copy to the address `target` uses."""
        lanes = 97 if self.rows == 4 else 128
        return [TensorRange("write", target >> LANE_SHIFT, lanes, target & COLUMN_MASK, self.bits // 32)]


@dataclass(frozen=True, slots=True, eq=False)
class TensorMemoryShift:
    """Shift of 32 rows of 32 bytes by one row (`shift.down`).

    Lane i receives the row of lane i + 1, and the last lane keeps its row. The manual does not state this direction. It
    is inferred from CUTLASS, which refills the last lane of each group after a shift.

    Source: PTX ISA 9.7.16.9.3; CUTLASS 4 (SM100_UTCCP_4dp256bit_1cta).
    """

    ctas: int
    target: Words

    def ranges(self, target: int) -> list[TensorRange]:
        """Return the ranges of tensor memory that a shift at the address `target` uses."""
        return [TensorRange("update", target >> LANE_SHIFT, 32, target & COLUMN_MASK, 8)]


@dataclass(frozen=True, slots=True, eq=False)
class TensorCommit:
    """Arrival at an mbarrier when the earlier operations of the thread are complete (`commit`).

    `mbarrier` has addresses in the state space `space`. `multicast` is None or a mask of CTAs of the cluster. In each
    CTA of the mask, the mbarrier at the same offset receives an arrival.

    Source: PTX ISA 9.7.16.12.1.
    """

    ctas: int
    space: str
    mbarrier: NDArray[np.uint64]
    multicast: NDArray[np.uint16] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TensorTransfer:
    """Copy between the registers of a warp and tensor memory: a load (`ld`) or a store (`st`).

    `map` gives the lane and the column of each register, and `registers` is the vector operand. With `packed`, two
    columns of 16 bits share a register. A transfer uses one range of lanes and columns at `address`. If `split` is not
    None, it uses two ranges: threads 16 to 31 of the warp access the range at `address` plus `split`. `reduction`
    contains the operation, the type, and True for `.abs` and for `.NaN`. The operand `reduced` receives its result.

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
        """Number of lanes of a range."""
        return self.map.rows

    def columns(self) -> int:
        """Return the number of columns of a range."""
        return self.map.cols // (1 if self.split is None else 2)


TensorRecord = TensorMultiply | TensorMemoryCopy | TensorMemoryShift | TensorCommit | TensorTransfer
