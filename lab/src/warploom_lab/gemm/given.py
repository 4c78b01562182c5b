"""The arrays of a case: random numbers, cut from memory whose other bytes betray who reads or writes them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.kernels.hopper.plan import SCALE_BLOCK
from warploom.kernels.plan import DTYPES
from warploom.kernels.problem import Operands
from warploom.kernels.sparse import compress, prune
from warploom_lab.gemm.case import Case

Array = NDArray[Any]

_OPERANDS: dict[str, np.dtype[Any]] = {
    **DTYPES,
    "tf32": np.dtype(np.float32),
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
}
_BESIDE = 0xFF  # every byte that is not the matrix's: NaN in all floats
_ROW = 16  # bytes that rows begin at multiples of


@dataclass(frozen=True, slots=True)
class Given:
    """A case's arrays. `a` is A with all its zeros, where it is sparse.

    `whole` is the memory that `arrays.out` is cut from, `within` says which of its elements it is.

    Both are None where the case has no `out`.
    """

    arrays: Operands
    a: Array
    whole: Array | None
    within: NDArray[np.bool_] | None

    @property
    def digest(self) -> str:
        """SHA-256 of all that goes in, but for the bytes beside it."""
        held = sha256()
        for name, array in zip(Operands._fields, self.arrays, strict=True):
            if array is not None and name != "out":
                held.update(f"{name} {array.dtype} {array.shape} ".encode())
                held.update(array.tobytes())
        return held.hexdigest()


def given(case: Case) -> Given:
    """The arrays of a case, the same every time."""
    draw = np.random.default_rng([case.seed, case.number])
    batch = (case.batch,) if case.batch else ()
    m, n, k = case.m, case.n, case.k

    def planes(name: str) -> tuple[int, ...]:
        return () if name in case.common else batch

    a = _operand(draw, case.a, (*planes("a"), m, k), case.a_major == "m", case.a_lies)
    values, metadata = a, None
    if case.sparse:
        a = prune(a)
        compressed = compress(a)
        values, metadata = compressed.values, compressed.metadata
    of_groups = (case.groups,) if case.ends else planes("b")
    b = _operand(draw, case.b, (*of_groups, n, k), case.b_major == "n", case.b_lies).swapaxes(-1, -2)
    c = _operand(draw, case.result, (*planes("c"), m, n), False, case.c_lies) if case.added else None
    out = whole = within = None
    if case.out_lies:
        dtype = DTYPES[case.result]
        place = _place((*batch, m, n), dtype.itemsize, case.out_lies)
        whole = _filled(place.shape, dtype)
        out, within = place.cut(whole), np.zeros(place.shape, bool)
        place.cut(within)[...] = True
    scales = _factors(draw, case)
    bias = None
    if case.bias:
        counts = (case.groups, n) if case.ends else (m if case.bias == "row" else n,)
        bias = draw.standard_normal(counts, np.float32)
    ends = np.array(case.ends, np.int32) if case.ends else None
    arrays = Operands(values, b, c, out, scales[0], scales[1], bias=bias, metadata=metadata, ends=ends)
    return Given(arrays, a, whole, within)


def _factors(draw: np.random.Generator, case: Case) -> tuple[Array | None, Array | None]:
    """Factors of rows and of columns: those of blocks side by side along either axis."""
    planes = (case.batch,) if case.scales_batched else ()
    blocks = ceil(case.k / SCALE_BLOCK)

    def made(shape: tuple[int, ...], transposed: bool) -> Array:
        values = draw.uniform(0.5, 2.0, shape).astype(np.float32) * draw.choice((-1, 1), shape).astype("f4")
        return np.asfortranarray(values) if transposed and values.ndim == 2 else values

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


def _operand(draw: np.random.Generator, word: str, shape: tuple[int, ...], swapped: bool, lies: str) -> Array:
    """Random numbers of a type; with `swapped` stored with their last two axes exchanged."""
    dtype = _OPERANDS[word]
    stored = (*shape[:-2], shape[-1], shape[-2]) if swapped else shape
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = draw.integers(limits.min, limits.max, stored, endpoint=True, dtype=dtype)
    else:
        values = draw.standard_normal(stored, np.float32).astype(dtype)
    place = _place(stored, dtype.itemsize, lies)
    cut = place.cut(_filled(place.shape, dtype))
    cut[...] = values
    return cut.swapaxes(-1, -2) if swapped else cut


def _filled(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Memory in which nothing of a matrix is yet."""
    return np.full((*shape[:-1], shape[-1] * dtype.itemsize), _BESIDE, np.uint8).view(dtype)


@dataclass(frozen=True, slots=True)
class _Place:
    """Memory of a shape, and how to cut a matrix from it."""

    shape: tuple[int, ...]
    first: tuple[int, int]  # row and column
    sizes: tuple[int, int]
    between: bool

    def cut(self, whole: Array) -> Array:
        """The matrix in memory of this shape."""
        if self.between:
            whole = whole.swapaxes(0, 1)
        (row, column), (rows, columns) = self.first, self.sizes
        return whole[..., row : row + rows, column : column + columns]


def _place(shape: tuple[int, ...], itemsize: int, lies: str) -> _Place:
    """The place of a matrix whose rows begin at multiples of 16 bytes."""
    *planes, rows, columns = shape
    step = _ROW // itemsize
    pitch = ceil(columns / step) * step
    sizes = rows, columns
    if lies == "rows":
        return _Place((*planes, rows, pitch + 3 * step), (0, 0), sizes, False)
    if lies == "wide":
        return _Place((*planes, rows + 3, pitch + 2 * step), (2, step), sizes, False)
    if lies == "between" and planes:
        return _Place((rows, *planes, pitch), (0, 0), sizes, True)
    return _Place((*planes, rows, pitch), (0, 0), sizes, False)
