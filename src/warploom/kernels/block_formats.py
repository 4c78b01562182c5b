"""Block-scaled operands (mxfp8, mxfp4, nvfp4): packed 4-bit elements, and arrays of scale factors.

The kernels read scale factors in the layout of cuBLAS: atoms of 512 bytes for 128 rows and 4 factors of each row.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

import ml_dtypes
import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type
from warploom.kernels.plan import BLOCK_FORMATS
from warploom.kernels.problem import Operands, Problem, array_error, transposed
from warploom.layout import strided

ATOM_ROWS, ATOM_FACTORS = 128, 4
_ATOM = (32, 16)  # shape of an atom in bytes
_SCALE_TYPES = {"float8_e8m0fnu": "ue8m0", "float8_e4m3fn": "ue4m3"}
_FOUR_BITS = np.dtype(ml_dtypes.float4_e2m1fn)


def arrange_scales(scales: Any) -> Any:
    """Return scale factors in the layout that the kernels read, which is also that of cuBLAS and PyTorch.

    Row r and factor f of 128 rows and 4 factors become byte 16 (r % 32) + 4 (r // 32) + f of an atom. Zeros fill the
    last atoms. PyTorch keeps the same bytes in an array of one dimension: give it this shape with `view`.

    Shapes: scales (..., rows, factors) of float8_e8m0fnu or float8_e4m3fn; result (..., rows / 128, factors / 4, 32,
        16), rounded up. For `column_scales`, the rows are the columns of B.
    Errors: UsageError kernels.shape, kernels.type.
    """
    given = as_numpy(scales) if is_foreign_type(scales.__class__) else scales
    layout = strided(given)
    if layout.dtype.name not in _SCALE_TYPES or layout.ndim < 2:
        raise array_error("scales", layout, f"{' or '.join(_SCALE_TYPES)}, and at least two dimensions", "kernels.type")
    *planes, rows, factors = layout.shape
    high, wide = ceil(rows / ATOM_ROWS), ceil(factors / ATOM_FACTORS)
    padded = np.zeros((*planes, high * ATOM_ROWS, wide * ATOM_FACTORS), layout.dtype)
    padded[..., :rows, :factors] = given
    split = padded.reshape(*planes, high, 4, 32, wide, 4)
    axes = [*range(len(planes)), *(len(planes) + axis for axis in (0, 3, 2, 1, 4))]
    return np.ascontiguousarray(split.transpose(axes)).reshape(*planes, high, wide, *_ATOM)


def pack_e2m1(array: Any) -> Any:
    """Return an array of float4_e2m1fn with two elements in each byte, the first in the low bits.

    An odd number of columns is filled up with zeros. Rows start at multiples of 16 bytes.

    Shapes: array (..., K); result (..., K / 2) of uint8. Errors: UsageError kernels.type.
    """
    layout = strided(array)
    if layout.dtype != _FOUR_BITS or not layout.ndim:
        raise array_error("array", layout, f"elements of {_FOUR_BITS}, and at least one dimension", "kernels.type")
    *planes, columns = array.shape
    codes = np.zeros((*planes, ceil(columns / 32) * 32), np.uint8)
    codes[..., :columns] = array.view(np.uint8) & 15
    return (codes[..., ::2] | codes[..., 1::2] << 4)[..., : ceil(columns / 2)]


def host_operands(operands: Operands) -> Operands:
    """Return NumPy operands as the kernels read them: packed elements, and scale factors in atoms.

    Errors: UsageError kernels.shape, kernels.type.
    """
    if not all(hasattr(array, "shape") and len(array.shape) > 1 for array in operands[:2]):
        return operands  # `problem_of` reports it
    a, b = operands.a, transposed(operands.b)
    _check_four_bits(operands)
    row_scales, column_scales = (
        _arranged(name, scales, array)
        for name, scales, array in (
            ("row_scales", operands.row_scales, a),
            ("column_scales", operands.column_scales, b),
        )
    )
    a, b = (pack_e2m1(array) if array.dtype == _FOUR_BITS else array for array in (a, b))
    return operands._replace(a=a, b=transposed(b), row_scales=row_scales, column_scales=column_scales)


def _check_four_bits(operands: Operands) -> None:
    """Refuse elements of 4 bits without scale factors, or with other elements, before they are packed."""
    named = {"A": operands.a, "B": operands.b}
    found = [name for name, array in named.items() if array.dtype == _FOUR_BITS]
    if not found:
        return
    scales = operands.row_scales, operands.column_scales
    if any(each is None or strided(each).dtype.name not in _SCALE_TYPES for each in scales):
        expected = f"row_scales and column_scales of {' or '.join(_SCALE_TYPES)}"
        raise UsageError(f"elements of {_FOUR_BITS} need scale factors; expected {expected}", code="kernels.type")
    if any(array.dtype not in (_FOUR_BITS, np.uint8) for array in named.values()):
        types = " and ".join(f"{name} has elements of {array.dtype}" for name, array in named.items())
        raise UsageError(f"{types}; expected {_FOUR_BITS} for both", code="kernels.type")
    if operands.a.shape[-1] != operands.b.shape[-2] and len(found) == len(named):
        message = f"A has shape {operands.a.shape} and B has shape {operands.b.shape}; expected (M, K) and (K, N)"
        raise UsageError(message, code="kernels.shape")


def _arranged(name: str, scales: Any, array: Any) -> Any:
    """Return scale factors in atoms. The last two axes of `array` are the lines with these factors, and K."""
    if scales is None or strided(scales).dtype.name not in _SCALE_TYPES or scales.ndim > array.ndim + 1:
        return scales
    kind = _SCALE_TYPES[strided(scales).dtype.name]
    block = next(form.block for form in BLOCK_FORMATS.values() if form.scale == kind)
    *lines, k = array.shape
    shape = (*lines, ceil(k * (2 if array.dtype == np.uint8 else 1) / block))
    if scales.shape != shape:
        expected = f"shape {shape}, with one factor for {block} elements along K, or the result of arrange_scales"
        raise array_error(name, strided(scales), expected, "kernels.shape")
    return arrange_scales(scales)


def scaled_problem(problem: Problem, operands: Operands) -> Problem:
    """Return the problem with the block format of its operands, or unchanged without one.

    Errors: UsageError kernels.shape, kernels.type.
    """
    scales = [operands.row_scales, operands.column_scales]
    types = [None if each is None else _SCALE_TYPES.get(strided(each).dtype.name) for each in scales]
    if types == [None, None]:
        return problem
    four_bits = (problem.a, problem.b) == ("u8", "u8")
    elements = ("e2m1", "e2m1") if four_bits else (problem.a, problem.b)
    for name, form in BLOCK_FORMATS.items():
        if set(elements) <= set(form.elements) and types == [form.scale] * 2:
            k = 2 * problem.k if four_bits else problem.k
            found = replace(problem, a=elements[0], b=elements[1], k=k, scaling=name)
            for message in _wrong_scales(found, scales):
                raise message
            return found
    have = "; ".join(f"{name}: {', '.join(form.elements)} with {form.scale}" for name, form in BLOCK_FORMATS.items())
    given = " and ".join(each or "no factors" for each in types)
    raise UsageError(
        f"A is {elements[0]} and B is {elements[1]}, with scale factors of type {given}; expected one of {have}",
        code="kernels.type",
    )


def _wrong_scales(problem: Problem, scales: list[Any]) -> Iterator[UsageError]:
    """Yield an error for each array of scale factors that does not fit the problem."""
    factors = ceil(problem.k / BLOCK_FORMATS[problem.scaling].block)
    for name, operand, array, rows in zip(
        ("row_scales", "column_scales"), "ab", scales, (problem.m, problem.n), strict=True
    ):
        batch = (problem.batch,) if problem.batched and operand not in problem.broadcast else ()
        shape = (*batch, ceil(rows / ATOM_ROWS), ceil(factors / ATOM_FACTORS), *_ATOM)
        layout = strided(array)
        if layout.shape != shape or not layout.is_contiguous:
            plain = " by ".join(map(str, (*batch, rows, factors)))
            expected = f"the result of arrange_scales for {plain} factors: a contiguous array of shape {shape}"
            yield array_error(name, layout, expected, "kernels.shape")
