"""Input arrays of a case: random matrices inside larger arrays of NaNs."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from warploom.kernels.hopper.plan import SCALE_BLOCK
from warploom.kernels.plan import BLOCK_FORMATS, DTYPES
from warploom.kernels.problem import Operands
from warploom.kernels.sparse import compress, prune
from warploom_lab.gemm.case import Case
from warploom_lab.problems.results import Array, described_digest, filled

_OPERANDS: dict[str, np.dtype[Any]] = {
    **DTYPES,
    "tf32": np.dtype(np.float32),
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
}
_ROW = 16  # alignment of rows in bytes


@dataclass(frozen=True, slots=True)
class Inputs:
    """Operands of one test case of a matrix multiplication."""

    arrays: Operands
    a: Array  # A before the compression, if A is sparse
    memory: Array | None  # contains `arrays.out`; None for a case without an array for the result
    inside: NDArray[np.bool_] | None  # True at the elements of `memory` that belong to `arrays.out`

    @property
    def digest(self) -> str:
        """SHA-256 of the elements of all input arrays."""
        return described_digest(self.arrays._replace(out=None)._asdict())


def make_inputs(case: Case) -> Inputs:
    """Return the input arrays of a case."""
    draw = np.random.default_rng([case.seed, case.number])
    batch = (case.batch,) if case.batch else ()
    m, n, k = case.m, case.n, case.k

    def planes(name: str) -> tuple[int, ...]:
        return () if name in case.common else batch

    a = _operand(draw, case.a, (*planes("a"), m, k), case.a_major == "m", case.a_storage)
    values, metadata = a, None
    if case.sparse:
        a = prune(a)
        compressed = compress(a)
        values, metadata = compressed.values, compressed.metadata
    of_groups = (case.groups,) if case.ends else planes("b")
    b = _operand(draw, case.b, (*of_groups, n, k), case.b_major == "n", case.b_storage).swapaxes(-1, -2)
    c = _operand(draw, case.result, (*planes("c"), m, n), False, case.c_storage) if case.added else None
    out = memory = inside = None
    if case.out_storage:
        dtype = DTYPES[case.result]
        place = _placement((*batch, m, n), dtype.itemsize, case.out_storage)
        memory = filled(place.shape, dtype)
        out, inside = place.cut(memory), np.zeros(place.shape, bool)
        place.cut(inside)[...] = True
    scales = _factors(draw, case)
    bias = None
    if case.bias:
        counts = (case.groups, n) if case.ends else (m if case.bias == "row" else n,)
        bias = draw.standard_normal(counts, np.float32)
    ends = np.array(case.ends, np.int32) if case.ends else None
    arrays = Operands(values, b, c, out, scales[0], scales[1], bias=bias, metadata=metadata, ends=ends)
    return Inputs(arrays, a, memory, inside)


def _factors(draw: np.random.Generator, case: Case) -> tuple[Array | None, Array | None]:
    """Return random scale factors for the rows of A and the columns of B, or None for each that is absent."""
    if case.scaling:
        return _block_factors(draw, case, "a", case.m), _block_factors(draw, case, "b", case.n)
    planes = (case.batch,) if case.scales_batched else ()
    blocks = ceil(case.k / SCALE_BLOCK)

    def made(shape: tuple[int, ...], transposed: bool) -> Array:
        values = draw.uniform(0.5, 2.0, shape).astype(np.float32) * draw.choice((-1, 1), shape).astype("f4")
        return np.asfortranarray(values) if transposed and values.ndim == 2 else values

    # Factors of blocks are a matrix with a random memory order.
    across = bool(draw.integers(2))
    rows = columns = None
    if case.row_scales:
        rows = made((case.m,) if case.row_scales == "row" else (*planes, case.m, blocks), across)
    if case.column_scales == "column":
        columns = made((case.groups, case.n) if case.ends else (case.n,), False)
    elif case.column_scales:
        count = case.n if case.column_scales == "blocks" else ceil(case.n / SCALE_BLOCK)
        columns = made((*planes, count, blocks), across)
    return rows, columns


def _block_factors(draw: np.random.Generator, case: Case, operand: str, rows: int) -> Array:
    """Return random scale factors of a block format for operand "a" or "b"."""
    form = BLOCK_FORMATS[case.scaling]
    planes = (case.batch,) if case.batch and operand not in case.common else ()
    shape = (*planes, rows, ceil(case.k / form.block))
    if form.scale == "ue8m0":
        return np.exp2(draw.integers(-3, 4, shape)).astype(ml_dtypes.float8_e8m0fnu)
    return draw.uniform(0.25, 4.0, shape).astype(ml_dtypes.float8_e4m3fn)


def _operand(draw: np.random.Generator, word: str, shape: tuple[int, ...], swapped: bool, storage: str) -> Array:
    """Return a random matrix. With `swapped`, its last two axes are exchanged in memory.

    `word` is the element type. `storage` is a value of `Case.a_storage`.
    """
    dtype = _OPERANDS[word]
    stored = (*shape[:-2], shape[-1], shape[-2]) if swapped else shape
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = draw.integers(limits.min, limits.max, stored, endpoint=True, dtype=dtype)
    else:
        values = draw.standard_normal(stored, np.float32).astype(dtype)
    place = _placement(stored, dtype.itemsize, storage)
    cut = place.cut(filled(place.shape, dtype))
    cut[...] = values
    return cut.swapaxes(-1, -2) if swapped else cut


@dataclass(frozen=True, slots=True)
class _Placement:
    """Shape of a memory array, and position of a matrix inside it."""

    shape: tuple[int, ...]
    first: tuple[int, int]  # row and column
    sizes: tuple[int, int]
    between: bool  # rows of the matrices of a batch are interleaved

    def cut(self, memory: Array) -> Array:
        """Return the view of the matrix in a memory array."""
        if self.between:
            memory = memory.swapaxes(0, 1)
        (row, column), (rows, columns) = self.first, self.sizes
        return memory[..., row : row + rows, column : column + columns]


def _placement(shape: tuple[int, ...], itemsize: int, storage: str) -> _Placement:
    """Return the placement of a matrix for a value of `Case.out_storage`. Rows are aligned to 16 bytes."""
    *planes, rows, columns = shape
    step = _ROW // itemsize
    pitch = ceil(columns / step) * step
    sizes = rows, columns
    if storage == "rows":
        return _Placement((*planes, rows, pitch + 3 * step), (0, 0), sizes, False)
    if storage == "wide":
        return _Placement((*planes, rows + 3, pitch + 2 * step), (2, step), sizes, False)
    if storage == "between" and planes:
        return _Placement((rows, *planes, pitch), (0, 0), sizes, True)
    return _Placement((*planes, rows, pitch), (0, 0), sizes, False)
