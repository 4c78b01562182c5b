"""Chains of multiply-adds (f64, and f32 where the unit is none), integer sums and bit counts."""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportArgumentType=false
from __future__ import annotations

from typing import Any, Literal

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Rounding = Literal["rn", "rz", "rm", "rp"]

_SET_ROUNDING = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}
"""The operand of llvm.set.rounding."""
_QUIET = np.uint64(1 << 51)
_INVALID = np.uint64(0xFFF8 << 48)
"""What an operation without a NaN among its operands gives where it has no result."""

_jit = njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)


@intrinsic
def _fma(context, a, b, c):
    """The f32 or f64 a * b + c, rounded once to nearest even."""

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return a(a, a, a), generate


@intrinsic
def _directed_fma(context, a, b, c, mode):
    """The f64 a * b + c, rounded once in the direction of llvm.set.rounding's `mode`."""

    def generate(context, builder, signature, arguments):
        *operands, mode = arguments
        set_rounding = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [ir.IntType(32)]),
            "llvm.set.rounding",
        )
        kind, word = ir.DoubleType(), ir.MetaDataType()
        fma = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(kind, [kind, kind, kind, word, word]),
            "llvm.experimental.constrained.fma.f64",
        )
        builder.call(set_rounding, [builder.trunc(mode, ir.IntType(32))])
        how = [ir.MetaDataString(builder.module, text) for text in ("round.dynamic", "fpexcept.strict")]
        result = builder.call(fma, [*operands, *how])
        builder.call(set_rounding, [ir.Constant(ir.IntType(32), _SET_ROUNDING["rn"])])
        return result

    return types.float64(types.float64, types.float64, types.float64, types.int64), generate


@intrinsic
def _population(context, word):
    """The number of ones among 32 bits."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint32(types.uint32), generate


@_jit
def _nearest(a: Any, b: Any, d: Any) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[2]
    for g in range(groups):
        for m in range(rows):
            for k in range(depth):
                x = a[g, m, k]
                for n in range(columns):
                    d[g, m, n] = _fma(x, b[g, k, n], d[g, m, n])


@_jit
def _directed(a: Any, b: Any, d: Any, mode: int) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[2]
    for g in range(groups):
        for m in range(rows):
            for k in range(depth):
                for n in range(columns):
                    d[g, m, n] = _directed_fma(a[g, m, k], b[g, k, n], d[g, m, n], mode)


def multiply_add(
    a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], rounding: Rounding = "rn"
) -> NDArray[Any]:
    """C + A B by multiply-adds in ascending k, in the common type of the operands (f32 or f64).

    Shapes: a (G, M, K), b (G, N, K), c and the result (G, M, N).
    """
    d = c.copy()
    across = np.ascontiguousarray(b.swapaxes(1, 2))
    if rounding == "rn":
        _nearest(np.ascontiguousarray(a), across, d)
    else:
        _directed(np.ascontiguousarray(a), across, d, _SET_ROUNDING[rounding])
    return d


@_jit
def _nan(a: Any, b: Any, c: Any, where: Any, mode: int, found: Any) -> None:
    """The NaN of each chain at `where`: the first of b, the sum and a, made quiet, at its last such step."""
    value = np.empty(1, np.float64)
    bits = value.view(np.uint64)
    factor = np.empty(2, np.float64)
    words = factor.view(np.uint64)
    for i in range(len(where)):
        g, m, n = where[i]
        value[0] = c[g, m, n]
        for k in range(a.shape[2]):
            factor[0], factor[1] = b[g, n, k], a[g, m, k]
            if np.isnan(factor[0]):
                bits[0] = words[0] | _QUIET
            elif np.isnan(value[0]):
                bits[0] |= _QUIET
            elif np.isnan(factor[1]):
                bits[0] = words[1] | _QUIET
            else:
                value[0] = _directed_fma(factor[1], factor[0], value[0], mode)
                if np.isnan(value[0]):
                    bits[0] = _INVALID
        found[i] = bits[0]


def double(
    a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], rounding: Rounding = "rn"
) -> NDArray[np.float64]:
    """The f64 sum with the unit's NaNs: the operands' own, made quiet, b before the sum before a."""
    d = multiply_add(a, b, c, rounding)
    where = np.argwhere(np.isnan(d))
    if len(where):
        found = np.empty(len(where), np.uint64)
        _nan(a, b, c, where, _SET_ROUNDING[rounding], found)
        d.view(np.uint64)[tuple(where.T)] = found
    return d


@_jit
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


@_jit
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


@_jit
def _with_addend(total: Any, addend: Any, clamp: bool) -> Any:
    wide = np.int64(total) + np.int64(addend)
    if clamp:
        wide = min(max(wide, np.int64(-0x80000000)), np.int64(0x7FFFFFFF))
    return np.int32(wide)


def integer(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    index: NDArray[Any] | None,
    satfinite: bool,
) -> NDArray[np.int32]:
    """The sums of integer products with c, wrapped to 32 bits or clamped."""
    d = np.empty(c.shape, np.int32)
    left, right = np.ascontiguousarray(a, np.int16), np.ascontiguousarray(b, np.int16)
    addend = np.ascontiguousarray(c)
    if index is None:
        _products(left, right, addend, d, satfinite)
    else:
        _sparse_products(left, index, np.ascontiguousarray(right.swapaxes(1, 2)), addend, d, satfinite)
    return d


@_jit
def _bits(a: Any, b: Any, d: Any, exclusive: bool) -> None:
    groups, rows, depth = a.shape
    columns = b.shape[2]
    for g in range(groups):
        for m in range(rows):
            for k in range(depth):
                word = a[g, m, k]
                for n in range(columns):
                    other = b[g, k, n]
                    met = np.uint32(word ^ other) if exclusive else np.uint32(word & other)
                    d[g, m, n] += np.int32(_population(met))


def bits(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], exclusive: bool) -> NDArray[np.int32]:
    """C plus the number of ones in A xor B, or in A and B, over 32-bit words of K."""
    d = c.copy()
    _bits(np.ascontiguousarray(a), np.ascontiguousarray(b.swapaxes(1, 2)), d, exclusive)
    return d
