"""Truncated fused dot products (T-FDPA) with array operations, for a host without Numba.

`spec` defines the results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warploom.numerics.formats import E8M13, F16, FORMATS, STORAGE, Array, Format, decode
from warploom.numerics.models import Model, Sum

_NO_EXPONENT = -4000
"""Exponent below those of all terms."""


class _Terms(NamedTuple):
    """Numbers (-1)**negative * magnitude * 2**lowest. `exponent` is the exponent for their alignment."""

    negative: Array
    magnitude: Array
    lowest: Array
    exponent: Array
    is_infinite: Array
    is_nan: Array


def fused_sums(
    a: Array, b: Array, c: Array | None, index: Array | None, model: Model,
    negate_a: bool, negate_b: bool, divisor: int,
) -> Array:  # fmt: skip
    """Return D = A B + C for the fused sums of `model`. `fused.Multiplier` describes the arguments.

    Shapes: a (G, M, K); b (G, N, K), or longer along K with `index` (G, M, K); c and the result (G, M, N).
    """
    left, right = (
        _elements(bits, name, model, negate)
        for bits, name, negate in ((a, model.a_type, negate_a), (b, model.b_type, negate_b))
    )
    left = _Terms(*[part[:, :, None, :] for part in left])
    right = _Terms(*[part[:, None] for part in right])
    if index is not None:
        shape = (len(a), a.shape[1], b.shape[1], a.shape[2])
        chosen = np.broadcast_to(index[:, :, None, :], shape)
        rows = _Terms(*[np.broadcast_to(part, (*shape[:3], b.shape[2])) for part in right])
        right = _Terms(*[np.take_along_axis(part, chosen, axis=3) for part in rows])
    result = {"f16": F16, "e8m13": E8M13}.get(model.result, FORMATS["f32"])
    sums = np.zeros((len(a), a.shape[1], b.shape[1]), STORAGE[model.d_type])
    addend = _unpack(sums, result) if c is None else _unpack(c, FORMATS[model.c_type])
    addend = addend._replace(lowest=addend.lowest - divisor, exponent=addend.exponent - divisor)
    for first in range(0, a.shape[2], model.length):
        part = slice(first, first + model.length)
        products = _product(_Terms(*[x[..., part] for x in left]), _Terms(*[x[..., part] for x in right]))
        terms = _Terms(*[np.concatenate([x, y[..., None]], axis=3) for x, y in zip(products, addend, strict=True)])
        sums = _step(terms, model, result).astype(STORAGE[model.d_type])
        addend = _unpack(sums, result)
    return sums


def _elements(bits: Array, name: str, model: Model, negate: bool) -> _Terms:
    fmt = FORMATS[name]
    if model.sum is Sum.T_FDPA_SPLIT:  # the unit converts the elements to f16, which normalizes subnormal numbers
        bits, fmt = decode(bits, fmt).astype(np.float16).view(np.uint16), F16
    found = _unpack(bits, fmt)
    return found._replace(negative=found.negative != negate)


def _unpack(bits: Array, fmt: Format) -> _Terms:
    """Return patterns as terms. See `spec.unpack`."""
    code = bits.astype(np.int64) >> fmt.padding
    magnitude = code & fmt.magnitude_mask
    field = magnitude >> fmt.mantissa_bits
    exponent = np.maximum(field - fmt.bias, fmt.min_exponent)
    one = ((field != 0) | (fmt.mantissa_bits == 0)).astype(np.int64) << fmt.mantissa_bits
    significand = magnitude & ((1 << fmt.mantissa_bits) - 1) | one
    is_special = magnitude > fmt.max_code
    is_infinite = is_special & (magnitude == fmt.inf_code)
    return _Terms(
        code & fmt.sign_bit != 0, np.where(is_special, 0, significand), exponent - fmt.mantissa_bits, exponent,
        is_infinite, is_special & ~is_infinite,
    )  # fmt: skip


def _product(x: _Terms, y: _Terms) -> _Terms:
    """Return the products of terms. See `spec.product`."""
    zero_times_infinity = (x.is_infinite & _is_zero(y)) | (y.is_infinite & _is_zero(x))
    is_nan = x.is_nan | y.is_nan | zero_times_infinity
    return _Terms(
        x.negative != y.negative, x.magnitude * y.magnitude, x.lowest + y.lowest, x.exponent + y.exponent,
        (x.is_infinite | y.is_infinite) & ~is_nan, is_nan,
    )  # fmt: skip


def _is_zero(x: _Terms) -> Array:
    return (x.magnitude == 0) & ~x.is_infinite & ~x.is_nan


def _step(terms: _Terms, model: Model, result: Format) -> Array:
    """Return the patterns of fused steps over the last axis. See `spec.fused_step`."""
    exponents = np.where(terms.magnitude != 0, terms.exponent, _NO_EXPONENT)
    largest = exponents.max(axis=3)
    if model.emin is not None:
        largest = np.maximum(largest, model.emin)
    quantum = largest - model.fraction
    shift: Array = np.clip(terms.lowest - quantum[..., None], -63, 63)
    aligned: Array = np.where(
        shift >= 0, terms.magnitude << np.maximum(shift, 0), terms.magnitude >> np.maximum(-shift, 0)
    )
    total: Array = np.where(terms.negative, -aligned, aligned).sum(axis=3)
    code = _rounded(np.abs(total), quantum, result)
    pattern: Array = np.where(code != 0, code | np.where(total < 0, result.sign_bit, 0), 0) << result.padding
    plus, minus = ((terms.is_infinite & (terms.negative == sign)).any(axis=3) for sign in (False, True))
    infinity = (result.inf_code | np.where(minus, result.sign_bit, 0)) << result.padding
    pattern = np.where(plus | minus, infinity, pattern)
    return np.where(terms.is_nan.any(axis=3) | (plus & minus), result.nan_code, pattern)


def _rounded(magnitude: Array, lowest: Array, fmt: Format) -> Array:
    """Return the codes of magnitude * 2**lowest.

    The codes of f16 are rounded to nearest, ties to even, and those of other formats toward zero.
    """
    length = np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)  # exact, because magnitude is less than 2**53
    exponent = np.maximum(length - 1 + lowest, fmt.min_exponent)
    shift = np.clip(exponent - fmt.mantissa_bits - lowest, -63, 62)
    down, up = np.maximum(shift, 0), np.maximum(-shift, 0)
    kept = np.where(shift > 0, magnitude >> down, magnitude << up)
    if fmt is F16:
        lost = np.where(shift > 0, magnitude - (kept << down), 0)
        kept += 2 * lost + (kept & 1) > np.int64(1) << down
    code = ((exponent - fmt.min_exponent) << fmt.mantissa_bits) + kept
    return np.where(magnitude == 0, 0, np.minimum(code, fmt.inf_code))
