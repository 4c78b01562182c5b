"""Special operands of matrix multiplications: matrices behind descriptors, and metadata of sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.instructions.fragments import k_of
from warploom.isa.instructions.wgmma import tile_offsets
from warploom.isa.model.semantics import Value
from warploom.layout import MetadataMap
from warploom.layout import metadata as metadata_map


@dataclass(frozen=True, slots=True)
class DescribedMatrix:
    """Matrix in shared memory that a warpgroup multiplication reads through the descriptor in an operand.

    `name` is "A" or "B". `rows` and `k` are the extents of the stored elements.
    """

    name: str
    descriptor: Value
    rows: int
    k: int
    element: str
    transposed: bool

    def chunks(self, fields: int) -> tuple[NDArray[np.int64], int, int]:
        """Return the offsets of the 16-byte chunks of the matrix, the swizzle and the base offset.

        `fields` is the descriptor without its start address. Units: bytes from the start address.
        """
        return _chunks(fields, self.rows, self.k, self.element, self.transposed)


@lru_cache(maxsize=256)
def _chunks(fields: int, rows: int, k: int, element: str, transposed: bool) -> tuple[NDArray[np.int64], int, int]:
    table, swizzle, base_offset = tile_offsets(fields, rows, k, element, transposed)
    return np.unique(table.astype(np.int64) >> 4) << 4, swizzle, base_offset


def described_matrices(i: Any) -> tuple[DescribedMatrix, ...]:
    """Return the matrices that a warpgroup multiplication reads through descriptors."""
    k = k_of(i.shape)
    stored = k // 2 if getattr(i, "sp_meta", None) is not None else k
    found: list[DescribedMatrix] = []
    if getattr(i, "a_desc", None) is not None:
        transposed = bool(getattr(i, "imm_trans_a", 0))
        found.append(DescribedMatrix("A", i.a_desc, 64, stored, i.atype, transposed))
    if getattr(i, "b_desc", None) is not None:
        transposed = bool(getattr(i, "imm_trans_b", 0))
        found.append(DescribedMatrix("B", i.b_desc, int(i.n), k, i.btype, transposed))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SparseMetadata:
    """Metadata of a sparse multiplication: the name of their operand, and their layout."""

    operand: str
    map: MetadataMap


def sparse_metadata(i: Any) -> SparseMetadata | None:
    """Return the metadata of a sparse multiplication, or None for other instructions."""
    if getattr(i, "sp_meta", None) is not None:
        return SparseMetadata("sp_meta", metadata_map("wgmma", i.shape, i.atype, i.sp_sel))
    if hasattr(i, "spvariant"):
        return SparseMetadata("e", metadata_map("mma", i.shape, i.atype, i.f))
    return None
