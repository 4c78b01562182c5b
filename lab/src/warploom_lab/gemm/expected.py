"""What a case's result is in float64, and how far from it each element may be.

An element may be away from the exact result by half a step of its type, by a few roundings of the epilogue in f32,
and by what its sum lost. That grows with the sum's size: the root of the sum of its products' squares, which is how
large sums of numbers with random signs are, also where they happen to cancel.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from warploom.kernels.hopper.plan import SCALE_BLOCK
from warploom.kernels.plan import DTYPES
from warploom_lab.gemm.case import Case
from warploom_lab.gemm.given import Given

Floats = NDArray[np.float64]

_EPILOGUE = 2.0**-20  # of all its terms: factors are multiplied, C and a bias added, in f32
_STEEPEST = 1.2  # how much an activation may enlarge what was wrong before it
_ACTIVATED = 2.0**-9  # of what goes in: tanh of the special function unit has 11 bits
# What a sum may lose, of its own value and its size: once, and for each product; four times what a sum of many lost.
_LOST = {
    "bf16": (2.0**-21, 1.5 * 2.0**-27),  # 16 products at a time are added to 25 bits, the rest is cut off
    "f16": (2.0**-21, 1.5 * 2.0**-27),
    "tf32": (2.0**-8, 0.0),  # 13 bits of each number are not read
    "f8": (2.0**-10, 2.0**-16),  # 32 products at a time to 14 bits; where not fast, 512 of K at most
    "sums in f16": (2.0**-9, 2.0**-15),  # rounded to 11 bits after every 16 or 32 products
}
_LEAST = 2.0**-25  # half a step of the smallest numbers in f16, however small a sum is
_AT_ONCE = 16  # products of f16, after which a sum is rounded
_TOGETHER = 512  # products of 8-bit floats whose sums are added in f32


def expected(case: Case, given: Given) -> tuple[Floats, Floats]:
    """The result in float64, and how far an element may be from it; both of D's shape.

    Rows of no group have what was there before.
    """
    arrays = given.arrays
    factors = _factors(case, given)
    if case.ends:
        sums, sizes = _grouped(case, given.a, arrays.b)
    else:
        sums, sizes = _product(case, given.a, arrays.b, factors)
    factor = np.asarray(case.alpha)
    if not (case.row_scales == "block" or factors[0] is None):
        factor = factor * factors[0][..., :, None]
    if not (case.column_scales.startswith("block") or factors[1] is None):
        factor = factor * factors[1]
    value, sizes = sums * factor, (sizes + abs(sums)) * abs(factor)
    terms = abs(value)
    if arrays.c is not None:
        addend = case.beta * arrays.c.astype(np.float64)
        value, terms = value + addend, terms + abs(addend)
    if arrays.bias is not None:
        bias = _each_row(case, arrays.bias.astype(np.float64)) if case.ends else arrays.bias
        bias = bias[:, None] if case.bias == "row" else bias
        value, terms = value + bias, terms + abs(bias)
    wrong = _EPILOGUE * terms + _lost(case) * sizes
    if case.sums == "f16":
        wrong = wrong + _LEAST * ceil(case.k / _AT_ONCE) * abs(factor)
    d = _activated(case.activation, value)
    if case.activation:
        wrong = _STEEPEST * wrong + (_ACTIVATED * abs(value) if case.activation != "relu" else 0.0)
    d, allowed = _rounded(case, d, wrong)
    if case.ends:
        rest = slice(case.ends[-1], None)
        d[rest] = 0.0 if arrays.out is None else arrays.out[rest].astype(np.float64)
        allowed[rest] = 0.0
    return d, allowed


def ratio(result: NDArray[Any], wanted: Floats, allowed: Floats) -> float:
    """The largest distance of an element, in units of what is allowed; infinity where it is a NaN or should be one."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        far = abs(result.astype(np.float64) - wanted)
        same = (far == 0) | (np.isnan(wanted) & np.isnan(result.astype(np.float64)))
        share = np.where(same, 0.0, far / allowed)
    return float(np.where(np.isnan(share), np.inf, share).max(initial=0.0))


def _factors(case: Case, given: Given) -> tuple[Floats | None, Floats | None]:
    """The factors of rows and of columns in float64; those of groups for each row of D."""
    rows, columns = given.arrays.row_scales, given.arrays.column_scales
    of_columns = None if columns is None else columns.astype(np.float64)
    if of_columns is not None and case.ends:
        of_columns = _each_row(case, of_columns)
    return None if rows is None else rows.astype(np.float64), of_columns


def _each_row(case: Case, of_groups: Floats) -> Floats:
    """For each row of D what its group has; rows of no group have some group's."""
    group = np.searchsorted(case.ends, np.arange(case.m), side="right")
    return of_groups[np.minimum(group, case.groups - 1)]


def _product(
    case: Case, a: NDArray[Any], b: NDArray[Any], factors: tuple[Floats | None, Floats | None]
) -> tuple[Floats, Floats]:
    """A B with factors of blocks, and the size of each sum."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    if not case.blocked:
        return a @ b, np.sqrt(a**2 @ b**2)
    sums = squares = np.zeros(1)
    for block, first in enumerate(range(0, case.k, SCALE_BLOCK)):
        along = slice(first, first + SCALE_BLOCK)
        part_a, part_b = a[..., along], b[..., along, :]
        if case.row_scales == "block" and factors[0] is not None:
            part_a = part_a * factors[0][..., block, None]
        if case.column_scales.startswith("block") and factors[1] is not None:
            of_columns = factors[1][..., block]
            if case.column_scales == "block":
                of_columns = np.repeat(of_columns, SCALE_BLOCK, axis=-1)[..., : case.n]
            part_b = part_b * of_columns[..., None, :]
        sums, squares = sums + part_a @ part_b, squares + part_a**2 @ part_b**2
    return sums, np.sqrt(squares)


def _grouped(case: Case, a: NDArray[Any], b: NDArray[Any]) -> tuple[Floats, Floats]:
    """Each group's rows by its matrix, and the size of each sum; zeros in rows of no group."""
    sums, sizes = np.zeros((2, case.m, case.n))
    begin = 0
    for number, end in enumerate(case.ends):
        rows, columns = a[begin:end].astype(np.float64), b[number].astype(np.float64)
        sums[begin:end], sizes[begin:end] = rows @ columns, np.sqrt(rows**2 @ columns**2)
        begin = end
    return sums, sizes


def _lost(case: Case) -> float:
    """What a sum may lose, of its value and its size."""
    if case.sums == "s32":
        return 0.0
    small = case.a in ("e4m3", "e5m2")
    once, each = _LOST["sums in f16" if case.sums == "f16" else "f8" if small else case.a]
    promoted = small and case.sums == "f32" and (case.blocked or not case.fast)
    return once + each * (min(case.k, _TOGETHER) if promoted else case.k)


def _activated(name: str, x: Floats) -> Floats:
    with np.errstate(over="ignore"):
        if name == "relu":
            return np.maximum(x, 0.0)
        if name == "silu":
            return x / (1 + np.exp(-x))
        if name == "gelu":
            return 0.5 * x * (1 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x


def _rounded(case: Case, d: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """D within the limits of its type, and how far it may be: half a step besides what is wrong before."""
    if case.result == "s32":
        return d, np.zeros_like(d)
    about = cast("Any", ml_dtypes.finfo(DTYPES[case.result]))
    limit = float(about.max)
    if case.result in ("e4m3", "e5m2"):
        d = np.clip(d, -limit, limit)
    half = 0.5 * np.maximum(float(about.eps) * abs(d), float(about.smallest_subnormal))
    return d, half + wrong * (1 + float(about.eps))
