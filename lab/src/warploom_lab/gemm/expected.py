"""Expected result of a case in float64, and the allowed error of each element.

The allowed error is half a step of the result type, plus a few roundings of the epilogue in f32, plus the error of the
sum of products. The last part is proportional to the magnitude of the sum: the root of the sum of the squared products.
"""

from math import ceil, sqrt
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from warploom.kernels.hopper.plan import HOPPER, SCALE_BLOCK
from warploom.kernels.plan import BLOCK_FORMATS, DTYPES
from warploom_lab.gemm.case import Case
from warploom_lab.gemm.inputs import Inputs
from warploom_lab.problems.results import Floats

_EPILOGUE = 2.0**-20  # allowed error of the epilogue, relative to the sum of all terms: it scales and adds in f32
_STEEPEST = 1.2  # largest slope of an activation
_ACTIVATED = 2.0**-9  # allowed error of an activation, relative to its input: tanh.approx has 11 bits
# Allowed error of a sum relative to its magnitude: a constant, and a part for each product. Both are four times the
# observed error.
_LOST = {
    "bf16": (2.0**-21, 1.5 * 2.0**-27),  # 16 products at a time, truncated to 25 bits
    "f16": (2.0**-21, 1.5 * 2.0**-27),
    "tf32": (2.0**-8, 0.0),  # 13 bits of each operand are ignored
    "f8": (2.0**-10, 2.0**-16),  # 32 products at a time, 14 bits; at most 512 products unless `fast`
    "sums in f16": (2.0**-9, 2.0**-15),  # rounded to 11 bits after every 16 or 32 products
}
_LENGTHS = {"bf16": 16, "f16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "e2m1": 64}  # products of a step
_FRACTION = 25  # bits that a step keeps; more for types of 4 bits
_LEAST = 2.0**-25  # half a step of the smallest f16 numbers, for sums of any magnitude
_AT_ONCE = 16  # products of f16 that are added before the sum is rounded
_TOGETHER = 512  # products of 8-bit floats that are added before the sum is promoted to f32


def expected(case: Case, inputs: Inputs) -> tuple[Floats, Floats]:
    """Return the expected D of a case in float64, and the allowed error of each element.

    Rows outside all groups keep their previous content.

    Shapes: both arrays have the shape of D.
    """
    arrays = inputs.arrays
    factors = (None, None) if case.scaling else _factors(case, inputs)
    if case.ends:
        sums, magnitudes = _grouped(case, inputs.a, arrays.b)
    else:
        a, b = _scaled(case, inputs) if case.scaling else (inputs.a, arrays.b)
        sums, magnitudes = _product(case, a, b, factors)
    factor = np.asarray(case.alpha)
    if not (case.row_scales == "block" or factors[0] is None):
        factor = factor * factors[0][..., :, None]
    if not (case.column_scales.startswith("block") or factors[1] is None):
        factor = factor * factors[1]
    value, magnitudes = sums * factor, (magnitudes + abs(sums)) * abs(factor)
    terms = abs(value)
    if arrays.c is not None:
        addend = case.beta * arrays.c.astype(np.float64)
        value, terms = value + addend, terms + abs(addend)
    if arrays.bias is not None:
        bias = _each_row(case, arrays.bias.astype(np.float64)) if case.ends else arrays.bias
        bias = bias[:, None] if case.bias == "row" else bias
        value, terms = value + bias, terms + abs(bias)
    wrong = _EPILOGUE * terms + _lost(case) * magnitudes
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


def _factors(case: Case, inputs: Inputs) -> tuple[Floats | None, Floats | None]:
    """Return the scale factors of rows and columns in float64."""
    rows, columns = inputs.arrays.row_scales, inputs.arrays.column_scales
    of_columns = None if columns is None else columns.astype(np.float64)
    if of_columns is not None and case.ends:
        # The factors of a group are repeated for each of its rows of D.
        of_columns = _each_row(case, of_columns)
    return None if rows is None else rows.astype(np.float64), of_columns


def _each_row(case: Case, of_groups: Floats) -> Floats:
    """Return, for each row of D, the value of its group."""
    group = np.searchsorted(case.ends, np.arange(case.m), side="right")
    # Rows outside all groups get the value of the last group.
    return of_groups[np.minimum(group, case.groups - 1)]


def _product(
    case: Case, a: NDArray[Any], b: NDArray[Any], factors: tuple[Floats | None, Floats | None]
) -> tuple[Floats, Floats]:
    """Return the matrix A @ B, and the magnitude of each element of this matrix.

    The magnitude of sum(x) is sqrt(sum(x**2)), or sum(abs(x)) for other targets than sm_90a. `factors` is the result of
    `_factors`. Only block factors are applied.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    if case.target != HOPPER:
        return a @ b, abs(a) @ abs(b)
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
    """Return the products of all groups, and the magnitude of each sum. Rows outside all groups are zero."""
    sums, magnitudes = np.zeros((2, case.m, case.n))
    begin = 0
    for number, end in enumerate(case.ends):
        rows, columns = a[begin:end].astype(np.float64), b[number].astype(np.float64)
        sums[begin:end], magnitudes[begin:end] = rows @ columns, np.sqrt(rows**2 @ columns**2)
        begin = end
    return sums, magnitudes


def _scaled(case: Case, inputs: Inputs) -> tuple[Floats, Floats]:
    """Return A and B, multiplied by the scale factors of their blocks."""
    block, arrays = BLOCK_FORMATS[case.scaling].block, inputs.arrays
    rows, columns = (
        np.repeat(each.astype(np.float64), block, axis=-1)[..., : case.k]
        for each in (arrays.row_scales, arrays.column_scales)
    )
    return inputs.a.astype(np.float64) * rows, arrays.b.astype(np.float64) * columns.swapaxes(-1, -2)


def _derived(case: Case) -> float:
    """Return the largest error of a sum in f32 on a target after sm_90a, relative to the sum of absolute products.

    A step adds L products to the sum. It truncates each of these L + 1 terms at F bits below the largest exponent, and
    the result to f32. Each term, and the sum, is at most the sum of all absolute products.
    """
    length = _LENGTHS[case.a]
    step = (length + 1) * 2.0 ** (1 - _FRACTION) + 2.0**-23
    return ceil(case.k / length) * step + (2.0**-9 if case.a == "tf32" else 0.0)


def _lost(case: Case) -> float:
    if case.sums == "s32":
        return 0.0
    if case.target != HOPPER and case.sums == "f32":
        return _derived(case)
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
    """Return D clamped to the range of its type, and the allowed error of each element.

    `wrong` is the allowed error before rounding.
    """
    if case.result == "s32":
        return d, np.zeros_like(d)
    about = cast("Any", ml_dtypes.finfo(DTYPES[case.result]))
    limit = float(about.max)
    if case.result in ("e4m3", "e5m2"):
        d = np.clip(d, -limit, limit)
    half = 0.5 * np.maximum(float(about.eps) * abs(d), float(about.smallest_subnormal))
    return d, half + wrong * (1 + float(about.eps))
