"""Matrix products by chains of multiply-adds, and integer matrix products."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from typing import Any, Literal

import numpy as np

from warploom.numerics._compile import NEAREST, njit
from warploom.numerics.float_kernels import nan64
from warploom.numerics.formats import Array
from warploom.numerics.intrinsics import ROUNDING, directed_fma, fma, popcount, set_rounding

Rounding = Literal["rn", "rz", "rm", "rp"]


@njit
def _nearest(a: Any, b: Any, d: Any) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[2]
    for g in range(groups):
        for m in range(rows):
            for k in range(depth):
                x = a[g, m, k]
                for n in range(columns):
                    d[g, m, n] = fma(x, b[g, k, n], d[g, m, n])


@njit
def _directed(a: Any, b: Any, d: Any, mode: int) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[2]
    set_rounding(mode)
    for g in range(groups):
        for m in range(rows):
            for k in range(depth):
                for n in range(columns):
                    d[g, m, n] = directed_fma(a[g, m, k], b[g, k, n], d[g, m, n])
    set_rounding(NEAREST)


def multiply_add(a: Array, b: Array, c: Array, rounding: Rounding = "rn") -> Array:
    """Return C + A B by fused multiply-adds in ascending k. All operands are f32, or all are f64.

    Shapes: a (G, M, K), b (G, N, K), c and the result (G, M, N).
    """
    d = c.copy()
    across = np.ascontiguousarray(b.swapaxes(1, 2))
    if rounding == "rn":
        _nearest(np.ascontiguousarray(a), across, d)
    else:
        _directed(np.ascontiguousarray(a), across, d, ROUNDING[rounding])
    return d


@njit
def _chains_with_nan(a: Any, b: Any, c: Any, positions: Any, mode: int, found: Any) -> None:
    """Compute the elements (g, m, n) of D at `positions`, with the GPU's NaN patterns, into `found`."""
    set_rounding(mode)
    for i in range(len(positions)):
        g, m, n = positions[i]
        value = c[g, m, n]
        for k in range(a.shape[2]):
            x, y = a[g, m, k], b[g, n, k]
            result = directed_fma(x, y, value)
            # The GPU returns the first NaN of the element of B, the running sum and the element of A.
            value = result if result == result else nan64(y, value, x)
        found[i] = value
    set_rounding(NEAREST)


def double(a: Array, b: Array, c: Array, rounding: Rounding = "rn") -> Array:
    """Return C + A B of f64 numbers, with the NaN patterns of the GPU.

    Shapes: as in `multiply_add`.
    """
    d = multiply_add(a, b, c, rounding)
    positions = np.argwhere(np.isnan(d))
    if len(positions):
        found = np.empty(len(positions))
        _chains_with_nan(a, b, c, positions, ROUNDING[rounding], found)
        d[tuple(positions.T)] = found
    return d


@njit
def _products(a: Any, b: Any, c: Any, d: Any, clamp: bool) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[1]
    for g in range(groups):
        for m in range(rows):
            for n in range(columns):
                total = np.int32(0)
                for k in range(depth):
                    total = np.int32(total + np.int32(a[g, m, k]) * np.int32(b[g, n, k]))
                d[g, m, n] = _with_addend(total, c[g, m, n], clamp)


@njit
def _sparse_products(a: Any, index: Any, b: Any, c: Any, d: Any, clamp: bool) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[2]
    for g in range(groups):
        for m in range(rows):
            for n in range(columns):
                d[g, m, n] = 0
            for k in range(depth):
                x, row = np.int32(a[g, m, k]), index[g, m, k]
                for n in range(columns):
                    d[g, m, n] = np.int32(d[g, m, n] + np.int32(x * np.int32(b[g, row, n])))
            for n in range(columns):
                d[g, m, n] = _with_addend(d[g, m, n], c[g, m, n], clamp)


@njit
def _with_addend(total: Any, addend: Any, clamp: bool) -> Any:
    wide = np.int64(total) + np.int64(addend)
    if clamp:
        wide = min(max(wide, np.int64(-0x80000000)), np.int64(0x7FFFFFFF))
    return np.int32(wide)


def integer(a: Array, b: Array, c: Array, index: Array | None, satfinite: bool) -> Array:
    """Return C + A B of integers, wrapped to 32 bits. `satfinite` clamps the sums instead.

    `index` contains the index along K of each stored element of a sparse A. Shapes: as in `fused.multiply`.
    """
    d = np.empty(c.shape, np.int32)
    left, right = np.ascontiguousarray(a, np.int16), np.ascontiguousarray(b, np.int16)
    addend = np.ascontiguousarray(c)
    if index is None:
        _products(left, right, addend, d, satfinite)
    else:
        _sparse_products(left, index, np.ascontiguousarray(right.swapaxes(1, 2)), addend, d, satfinite)
    return d


@njit
def _bits(a: Any, b: Any, d: Any, exclusive: bool) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[2]
    for g in range(groups):
        for m in range(rows):
            for k in range(depth):
                x = a[g, m, k]
                for n in range(columns):
                    y = b[g, k, n]
                    combined = np.uint32(x ^ y) if exclusive else np.uint32(x & y)
                    d[g, m, n] += np.int32(popcount(combined))


def bits(a: Array, b: Array, c: Array, exclusive: bool) -> Array:
    """Return C plus the numbers of one bits in a & b, summed along K. `exclusive` selects a ^ b.

    Shapes: as in `multiply_add`, with one 32-bit word of b1 elements per index along K.
    """
    d = c.copy()
    _bits(np.ascontiguousarray(a), np.ascontiguousarray(b.swapaxes(1, 2)), d, exclusive)
    return d
