"""Record of a matrix multiplication, which the emulator executes and observers read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache, cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.semantics import Value
from warploom.layout import Descriptor, FragmentMap, MetadataMap, matrix_addresses
from warploom.layout.maps import TYPE_BITS
from warploom.lazy_dataclass import dataclass
from warploom.numerics import models
from warploom.numerics.formats import STORAGE
from warploom.numerics.models import Model, UnitKind
from warploom.numerics.spec import Rounding


@dataclass(frozen=True, slots=True, eq=False)
class RegisterMatrix:
    """Matrix in the registers of a warp or warpgroup. If `padded`, each element occupies 8 bits."""

    registers: Value
    map: FragmentMap
    element: str
    padded: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SharedMatrix:
    """Matrix in shared memory, described by a `wgmma` descriptor in a register.

    `rows` is the extent M or N. `k` is the number of stored elements along K. `major` is the contiguous dimension.
    """

    name: Literal["A", "B"]
    descriptor: Value
    rows: int
    k: int
    element: str
    major: Literal["K", "MN"] = "K"

    def chunks(self, fields: int) -> tuple[NDArray[np.int64], int, int]:
        """Return the offsets of the 16-byte chunks of the matrix, the swizzle, and the base offset.

        `fields` is the descriptor without its start address. The elements of a chunk are adjacent along `major`.

        Shapes: offsets (rows, chunks) if K-major, or (K, chunks) if MN-major. Units: bytes from the start address.
        """
        return _chunks(fields, self.rows, self.k, self.element, self.major)


@lru_cache(maxsize=256)
def _chunks(fields: int, rows: int, k: int, element: str, major: str) -> tuple[NDArray[np.int64], int, int]:
    found = Descriptor.decode(fields << 14)
    unit = np.dtype(STORAGE[element]).itemsize
    table = matrix_addresses(
        found.leading_byte_offset, found.stride_byte_offset, found.swizzle,
        rows=rows, k=k * TYPE_BITS[element] // (8 * unit), element_bytes=unit, major=major,
    )  # fmt: skip
    step = 16 // unit
    chunks = table[::step].T if major == "MN" else table[:, ::step]
    return np.ascontiguousarray(chunks, np.int64), found.swizzle, found.base_offset


@dataclass(frozen=True, slots=True, eq=False)
class Metadata:
    """Indices along K of the stored elements of a sparse matrix A.

    `operand` is the name of the metadata operand. If `ordered`, the two indices of a pair must be ascending.
    """

    operand: str
    registers: Value
    map: MetadataMap
    ordered: bool


@dataclass(frozen=True, slots=True, eq=False)
class BlockScales:
    """Scale factors of A or B in a block-scaled multiplication.

    Each row of A, or column of B, has `vectors` factors. `byte_id` and `thread_id` select the bytes and lanes of the
    factors.
    """

    operand: Literal["A", "B"]
    registers: Value
    byte_id: Value
    thread_id: Value
    vectors: int


@dataclass(frozen=True, eq=False)
class Multiplication:
    """Multiplication of matrices by each warp or warpgroup: d = a * b + c.

    - `unit`, `slots`: matrix unit, and modifiers of the instruction; both determine the arithmetic
    - `keeps`: predicate; if the predicate is false, c is replaced by zero
    - `scales`: scale factors of A and B
    - `negate_a`, `negate_b`: True if the signs of the elements of A or B change
    - `satfinite`: True if integer results are clamped
    - `rounding`: rounding mode of f64
    """

    unit: UnitKind
    slots: Mapping[str, str]
    a: RegisterMatrix | SharedMatrix
    b: RegisterMatrix | SharedMatrix
    c: RegisterMatrix
    d: RegisterMatrix
    keeps: Value | None = None
    metadata: Metadata | None = None
    scales: tuple[BlockScales, BlockScales] | None = None
    negate_a: bool = False
    negate_b: bool = False
    satfinite: bool = False
    rounding: Rounding = "rn"
    _models: dict[str, Model] = field(default_factory=dict[str, Model], init=False, repr=False)

    @cached_property
    def arithmetic(self) -> frozenset[tuple[str, str]]:
        """Modifiers of the instruction, which determine the arithmetic."""
        values: list[tuple[str, Any]] = [*self.slots.items()]  # the operands of the instruction may be among them
        return frozenset((name, word) for name, word in values if isinstance(word, str))

    @cached_property
    def k(self) -> int:
        """Extent K of the multiplication, including the zeros of a sparse A."""
        return k_of(self.slots["shape"])

    @cached_property
    def shared(self) -> tuple[SharedMatrix, ...]:
        """The operands A and B that are in shared memory."""
        return tuple(each for each in (self.a, self.b) if isinstance(each, SharedMatrix))

    def model(self, arch: str) -> Model:
        """Return the arithmetic that an architecture uses for this multiplication.

        Errors: NoModelError if the arithmetic is not known.
        """
        if arch not in self._models:
            self._models[arch] = select_model(self.unit, arch, self.slots)
        return self._models[arch]

    def continues(self, before: Multiplication) -> bool:
        """Return True if this multiplication adds to the result of `before` with the same arithmetic."""
        return (
            self.d.registers is before.d.registers
            and self.metadata is None
            and not self.satfinite
            and self._terms == before._terms
        )

    @cached_property
    def _terms(self) -> tuple[object, ...]:
        """Key that is equal for multiplications with the same arithmetic."""
        majors = tuple(each.major for each in self.shared)
        operation = self.slots.get("bitOp", "")
        types = tuple(each.element for each in (self.a, self.b, self.d))
        return (self.slots["shape"], types, operation, majors, self.negate_a, self.negate_b)


def element_of(slots: Mapping[str, str], operand: str) -> str:
    """Return the element type of operand "A", "B", "C" or "D". A type that the opcode omits is f16."""
    return slots.get(f"{operand.lower()}type", "f16")


def k_of(shape: str) -> int:
    """Return the extent K of a shape such as "m16n8k16"."""
    return int(shape.partition("k")[2])


def select_model(unit: UnitKind, arch: str, slots: Mapping[str, str]) -> Model:
    """Return the arithmetic of `arch` for a multiplication by `unit` with the modifiers `slots`.

    Errors: NoModelError if the arithmetic is not known.
    """
    a, b, d = (element_of(slots, operand) for operand in "ABD")
    c = slots.get("ctype") or d
    scaling = (slots["kind"].removeprefix("kind::"), slots["stype"]) if slots.get("stype") else None
    return _select(arch, unit, a, b, d, c, k_of(slots["shape"]), slots.get("bitOp", "xor"), scaling)


@cache
def _select(arch: str, unit: UnitKind, a: str, b: str, d: str, c: str, k: int, operation: Any, scaling: Any) -> Model:
    return models.select(arch, unit, a, b, d, c_type=c, k=k, operation=operation, scaling=scaling)
