"""Reference results in float64, and bounds for the errors of kernels.

If each step of a sum of K products has a relative error of u, the error of the sum is at most K * u * (|A| |B|). The
bounds are worst cases: a result outside them is wrong.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.lazy_dataclass import dataclass
from warploom.runtime.buffers import Array, is_integer

Float = NDArray[np.float64]

# Relative error of each element of a sum: one unit in the last place, because tensor cores truncate.
# e8m13 sums 16 or more products at once and truncates each term and the result to 13 bits: 18 errors for 16 elements.
ACCUMULATORS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "e8m13": 9 * 2.0**-16, "int32": 0.0}
# Relative error of an operand that the hardware narrows before the multiplication.
MULTIPLICANDS = {"as-stored": 0.0, "tf32": 2.0**-10}
# Elements of K that a kernel may sum in any order.
_BLOCK = 64
# Approximate exponentials, reciprocals and the scalings around them, in float32.
_APPROXIMATE = 2.0**-20


class ShapeError(Exception):
    """Mismatch of the shapes of a reference's operands."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected values, and the largest allowed absolute error of each value.

    The values are float64, or integers that are compared exactly.
    """

    values: Array
    bound: Float


@dataclass(frozen=True, slots=True)
class Options:
    """Options of all reference computations. Each computation uses some of them."""

    transpose_a: bool = False
    transpose_b: bool = False
    alpha: float = 1.0
    add_initial: bool = False
    accumulator: str = "float32"
    multiplicand: str = "as-stored"
    causal: bool = False
    scale: float | None = None


Compute = Callable[[Mapping[str, Array], Array, Options], Expected]


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference computation: the names of its operands and options, and its function.

    The arguments of `compute` are the operands by name, the result's buffer before the launch, and the options.
    """

    operands: tuple[str, ...]
    options: tuple[str, ...]
    compute: Compute


def half_ulp(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the largest relative and the largest absolute error of rounding a value to a type."""
    if is_integer(dtype):
        return 0.0, 0.0
    if dtype.isbuiltin == 1:
        info = np.finfo(dtype)
    else:
        import ml_dtypes

        info = cast("np.finfo[np.float32]", ml_dtypes.finfo(dtype))
    return float(info.eps) / 2, float(info.smallest_subnormal) / 2


def exact_values(array: Array) -> Array:
    """Return an array of integers unchanged, and any other array in float64. Neither loses a bit."""
    return array if is_integer(array.dtype) else _wide(array)


def _stored(values: Array, error: Float, dtype: np.dtype[Any]) -> Expected:
    relative, absolute = half_ulp(dtype)
    return Expected(values, error + relative * (np.abs(values) + error) + absolute)


def _wide(array: Array) -> Float:
    return np.asarray(array, np.float64)


def _same_shape(first: Array, second: Array, names: str) -> None:
    if first.shape != second.shape:
        raise ShapeError(f"{names} have the shapes {first.shape} and {second.shape}; expected equal shapes")


def _matmul(operands: Mapping[str, Array], initial: Array, options: Options) -> Expected:
    a, b = _wide(operands["a"]), _wide(operands["b"])
    if a.ndim < 2 or b.ndim < 2:
        raise ShapeError(f"a and b have the shapes {a.shape} and {b.shape}; expected matrices")
    a = a.swapaxes(-1, -2) if options.transpose_a else a
    b = b.swapaxes(-1, -2) if options.transpose_b else b
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"after transpose_a and transpose_b, a is {a.shape} and b is {b.shape}; expected equal K, found "
            f"{a.shape[-1]} and {b.shape[-2]}"
        )
    unit = ACCUMULATORS[options.accumulator]
    narrowed = MULTIPLICANDS[options.multiplicand]
    values = options.alpha * (a @ b)
    size = abs(options.alpha) * (np.abs(a) @ np.abs(b))
    sums = _running(a, b) * abs(options.alpha) if options.accumulator == "e8m13" else a.shape[-1] * size
    error = unit * sums + 2 * narrowed * size
    if options.alpha != 1.0:
        error += unit * size
    if options.add_initial:
        start = _wide(initial)
        if start.shape != values.shape:
            raise ShapeError(f"the product has the shape {values.shape}; expected {start.shape}, as the result")
        values = values + start
        error += (a.shape[-1] + 1) * unit * np.abs(start)
    return _stored(values, error, initial.dtype)


def _running(a: Float, b: Float) -> Float:
    """Return, for each element of A B, an upper bound for the sum of |partial sum|."""
    # Each rounding error is proportional to a partial sum. For accumulators of 13 bits, K * (|A| |B|) would allow
    # nearly any result.
    total = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    sums = np.zeros_like(total)
    for start in range(0, a.shape[-1], _BLOCK):
        left, right = a[..., start : start + _BLOCK], b[..., start : start + _BLOCK, :]
        sums += left.shape[-1] * (np.abs(total) + np.abs(left) @ np.abs(right))
        total += left @ right
    return sums


def _attention(operands: Mapping[str, Array], initial: Array, options: Options) -> Expected:
    q, k, v = (_wide(operands[name]) for name in ("q", "k", "v"))
    _same_shape(k, v, "k and v")
    if q.ndim < 2 or q.shape[:-2] != k.shape[:-2] or q.shape[-1] != k.shape[-1]:
        raise ShapeError(f"q is {q.shape} and k is {k.shape}; expected [..., N, D] with the same D")
    unit = ACCUMULATORS[options.accumulator]
    depth, keys = q.shape[-1], k.shape[-2]
    scale = depth**-0.5 if options.scale is None else options.scale
    scores = scale * (q @ k.swapaxes(-1, -2))
    score_size = abs(scale) * (np.abs(q) @ np.abs(k).swapaxes(-1, -2))
    if options.causal:
        masked = np.triu(np.ones(scores.shape[-2:], bool), 1)
        scores = np.where(masked, -np.inf, scores)
        score_size = np.where(masked, 0.0, score_size)
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exponentials / exponentials.sum(-1, keepdims=True)
    values = weights @ v
    # An error of the scores, or of the maximum that is subtracted from them, is a relative error of the exponentials
    # in the numerator and in the denominator. Weights are narrowed to the type of v before the second product.
    score_error = (depth * unit + 4 * 2.0**-23) * score_size.max(-1, keepdims=True)
    narrow, least = half_ulp(operands["v"].dtype)
    relative = np.expm1(4 * score_error) + narrow + 2 * keys * unit + _APPROXIMATE
    error = relative * (weights @ np.abs(v)) + least * np.abs(v).sum(-2, keepdims=True)
    return _stored(values, error, initial.dtype)


def _softmax(operands: Mapping[str, Array], initial: Array, options: Options) -> Expected:
    x = _wide(operands["x"])
    shifted = x - x.max(-1, keepdims=True)
    exponentials = np.exp(shifted)
    values = exponentials / exponentials.sum(-1, keepdims=True)
    unit = 2.0**-23
    error = values * (x.shape[-1] * unit + _APPROXIMATE + np.expm1(4 * unit * (1 + np.abs(shifted))))
    # float32 represents exponentials above 2^-126 with full precision, and may flush smaller ones to zero.
    return _stored(values, error + 2.0**-126, initial.dtype)


def _elementwise(operation: Callable[..., Float]) -> Compute:
    def compute(operands: Mapping[str, Array], initial: Array, options: Options) -> Expected:
        found = [_wide(each) for each in operands.values()]
        _same_shape(found[0], found[-1], "a and b")
        values = operation(*found)
        return _stored(values, np.zeros_like(values), initial.dtype)

    return compute


_PRODUCT = ("transpose_a", "transpose_b", "alpha", "add_initial", "accumulator", "multiplicand")


def _copy(operands: Mapping[str, Array], initial: Array, options: Options) -> Expected:
    values = exact_values(operands["a"])
    return _stored(values, np.zeros(values.shape), initial.dtype)


REFERENCES: dict[str, Reference] = {
    "matmul": Reference(("a", "b"), _PRODUCT, _matmul),
    "attention": Reference(("q", "k", "v"), ("causal", "scale", "accumulator"), _attention),
    "softmax": Reference(("x",), (), _softmax),
    "add": Reference(("a", "b"), (), _elementwise(np.add)),
    "subtract": Reference(("a", "b"), (), _elementwise(np.subtract)),
    "multiply": Reference(("a", "b"), (), _elementwise(np.multiply)),
    "copy": Reference(("a",), (), _copy),
}
