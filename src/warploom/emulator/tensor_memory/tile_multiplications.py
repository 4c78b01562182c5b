"""Multiplications that one compiled call executes without copies of B and D.

The call reads A and B from shared memory, and adds to D in tensor memory. D has 128 rows of 32-bit elements in each
CTA. The two CTAs of a pair are two chains with the same B. For other multiplications, `multiplications` first copies
the operands to arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START
from warploom.emulator.shared_memory import SharedMemory
from warploom.emulator.tensor_memory.storage import TensorStorage
from warploom.isa.model.tensor_memory import Matrix, MultiplyPlan, TensorMultiply, model_of
from warploom.layout.tensor_memory import TENSOR_COLUMNS, TENSOR_LANES
from warploom.numerics import fused_fast, tile_products
from warploom.numerics._numba import INSTALLED
from warploom.numerics.formats import STORAGE
from warploom.numerics.models import Sum
from warploom.numerics.tile_products import Memory, Tiles

Numbers = NDArray[np.int64]
_WORD = 4
_NARROW = ("e2m1", "e2m3", "e3m2")
_NO_TILES = Tiles(np.zeros((0, 0, 0), np.uint64), np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64), 0, 0, 0)


def is_direct(record: TensorMultiply, plan: MultiplyPlan, matrices: Sequence[Matrix], arch: str) -> bool:
    """Return True if `execute` supports a multiplication. `matrices` are its operands in shared memory."""
    fields = plan.fields
    return (
        INSTALLED
        and plan.lanes.shape == (1, TENSOR_LANES)
        and record.disabled is None and record.zero_columns is None and not record.sparse
        and STORAGE[fields.dtype].itemsize == _WORD
        and fields.btype not in _NARROW and (record.a_in_tensor or fields.atype not in _NARROW)
        and all(each.exchange[1] == 4 and each.second < 0 for each in matrices)
        and model_of(fields, arch).sum is Sum.T_FDPA
    )  # fmt: skip


def execute(
    record: TensorMultiply, plan: MultiplyPlan, arch: str, storage: TensorStorage, shared: SharedMemory, ctas: Numbers,
    d: tuple[Numbers, Numbers], keeps: NDArray[np.bool_], matrices: Sequence[tuple[Matrix, NDArray[np.uint64]]],
    a: NDArray[Any] | None,
) -> int:  # fmt: skip
    """Execute a chain in each of G CTAs or pairs. Where `keeps` is False, the product replaces D.

    Return -1, or the index in `ctas` of a CTA or pair with a matrix that is out of bounds; D is then unchanged.

    `d` has the lane and the column of D, which the caller has checked. `matrices` pairs each operand in shared memory,
    A first, with its matrix descriptors. If A is in tensor memory, `a` has the matrices A of the chain, joined along K.

    Shapes: ctas (G, CTAs of an operation); keeps (G,); d: two of (G,); descriptors (G, steps); a (G, M, steps * K).
    """
    fields = plan.fields
    lanes, columns = (each[:, None] for each in d)
    steps = matrices[-1][1].shape[1]
    words = storage.words
    sums = words.ctypes.data + _WORD * ((ctas * TENSOR_LANES + lanes) * TENSOR_COLUMNS + columns)
    origins = ctas * shared.stride
    tiles = [
        Tiles(
            np.repeat(descriptors[:, None], record.ctas, axis=1), origins, matrix.offsets, matrix.exchange[0],
            matrix.phase, int(matrix.major == "MN"),
        )
        for matrix, descriptors in matrices
    ]  # fmt: skip
    elements = _elements(fields.atype, fields.btype, fields.dtype)
    depth = fields.k * steps
    registers = np.zeros((0, 0, 0), elements[0].dtype)
    if a is not None:
        registers = np.ascontiguousarray(a).reshape(-1, TENSOR_LANES, depth)
    found = tile_products.fused(
        Memory(shared.bytes, SHARED_START, shared.end), tiles[0] if a is None else _NO_TILES, tiles[-1], registers,
        sums, np.repeat(keeps[:, None].astype(np.int64), record.ctas, axis=1),
        (TENSOR_LANES, fields.n, depth, TENSOR_COLUMNS), elements, fused_fast.strip(fields.n // record.ctas),
        _parameters(plan, arch, record.scale_input_d),
    )  # fmt: skip
    return -1 if found == tile_products.COMPUTED else found // 2 // steps % len(ctas)


@lru_cache(maxsize=64)
def _elements(*names: str) -> Any:
    return tuple(np.empty(0, STORAGE[name]) for name in names)


@lru_cache(maxsize=256)
def _parameters(plan: MultiplyPlan, arch: str, divisor: int) -> Any:
    fields = plan.fields
    return fused_fast.parameters(model_of(fields, arch), fields.negate_a, fields.negate_b, divisor=divisor)
