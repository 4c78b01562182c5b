"""Special function unit of sm_90: tables and quadratic interpolation with the bits of the hardware.

A function is divided into 64 intervals (the reciprocal into 128, the hyperbolic tangent into 51). With the offset `t`
into an interval, the unit computes `c0 + c1 * t + c2 * square(t)` exactly and truncates the sum. Its square keeps the
partial products of 17 bits that weigh 2**19 or more, 15 bits in all. Subnormal operands and results are flushed, except
by the tangent.

The coefficients in `data/sfu.npz` were solved from the outputs of an H200 over whole binades.
`tests/evidence/approximate` describes how, and what was compared.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warploom.numerics.formats import Array

_BITS = 17
_CUT = 19


@cache
def _kernels() -> Any:
    from warploom.numerics import sfu_kernels

    return sfu_kernels


@cache
def _table(name: str) -> Array:
    with np.load(Path(__file__).parent / "data" / "sfu.npz") as archive:
        return archive[name]


@cache
def _squares() -> Array:
    """Return the truncated square of every offset; the weight of its last bit is 1."""
    x = np.arange(1 << _BITS, dtype=np.uint64)
    total = np.zeros_like(x)
    one = np.uint64(1)
    for i in range(_BITS):
        bit = (x >> np.uint64(i)) & one
        # The square of bit i, and twice its products with the lower bits that weigh enough.
        lower = x & np.uint64((1 << i) - 1 & -(1 << max(_CUT - i - 1, 0)))
        total += bit * (lower << np.uint64(i + 1))
        if 2 * i >= _CUT:
            total += bit << np.uint64(2 * i)
    return (total >> np.uint64(_CUT)).astype(np.uint16)


def _evaluated(function: str, x: Array, table: str, more: int | Array = 0) -> Array:
    bits = np.ascontiguousarray(x).view(np.uint32)
    result = np.empty_like(bits)
    getattr(_kernels(), function)(bits.ravel(), result.ravel(), _table(table), _squares(), more)
    return result.view(x.dtype)


def rcp(x: Array) -> Array:
    """Return the reciprocal of f32 numbers."""
    return _evaluated("rcp", x, "rcp")


def rsqrt(x: Array) -> Array:
    """Return the reciprocal square root of f32 numbers."""
    return _evaluated("rsqrt", x, "rsqrt")


def sqrt(x: Array) -> Array:
    """Return the square root of f32 numbers."""
    return _evaluated("sqrt", x, "sqrt")


def ex2(x: Array) -> Array:
    """Return 2 to the power of f32 numbers."""
    return _evaluated("ex2", x, "ex2")


def lg2(x: Array) -> Array:
    """Return the binary logarithm of f32 numbers."""
    return _evaluated("lg2", x, "lg2")


def sin(x: Array) -> Array:
    """Return the sine of f32 radians."""
    return _evaluated("sine", x, "sin", 0)


def cos(x: Array) -> Array:
    """Return the cosine of f32 radians."""
    return _evaluated("sine", x, "sin", 1)


def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent of f32 numbers; operands below 2**-8 are returned unchanged."""
    return _evaluated("tanh", x, "tanh", _table("tanh_rows"))


def rcp_upper(x: Array) -> Array:
    """Return the upper word (uint32) of an f64 reciprocal, from the upper word of the operand."""
    return _evaluated("rcp_upper", x, "rcp")


def rsqrt_upper(x: Array) -> Array:
    """Return the upper word (uint32) of an f64 reciprocal square root, from the upper word of the operand."""
    return _evaluated("rsqrt_upper", x, "rsqrt")
