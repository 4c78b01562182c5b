"""The special function unit of sm_90, bit for bit: tables and quadratic interpolation.

A function is cut into 64 intervals (the reciprocal into 128, the hyperbolic tangent into 51).  With ``t`` the
offset into one, the unit sums ``c0 + c1 * t + c2 * square(t)`` exactly and cuts the sum; its square keeps of
the partial products of 17 bits those that weigh 2**19 or more, 15 bits in all.  The coefficients, in
``data/unit.npz``, were solved from the outputs of an H200 over whole binades; ``tests/evidence/approximate``
says how, and what was compared.  Subnormals are flushed on both sides, but for the tangent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warploom.numerics.formats import Array

_BITS = 17
_CUT = 19


@cache
def _kernels() -> Any:
    from warploom.numerics import unit_kernels

    return unit_kernels


@cache
def _table(name: str) -> Array:
    with np.load(Path(__file__).parent / "data" / "unit.npz") as archive:
        return archive[name]


@cache
def _squares() -> Array:
    """The truncated square of every offset, its last bit 1."""
    x = np.arange(1 << _BITS, dtype=np.uint64)
    total = np.zeros_like(x)
    one = np.uint64(1)
    for i in range(_BITS):
        bit = (x >> np.uint64(i)) & one
        # The square's own term of bit i, and twice its products with the lower bits that weigh enough.
        lower = x & np.uint64((1 << i) - 1 & -(1 << max(_CUT - i - 1, 0)))
        total += bit * (lower << np.uint64(i + 1))
        if 2 * i >= _CUT:
            total += bit << np.uint64(2 * i)
    return (total >> np.uint64(_CUT)).astype(np.uint16)


def _looked_up(kernel: Callable[..., None], x: Array, table: str, *more: int | Array) -> Array:
    bits = np.ascontiguousarray(x).view(np.uint32)
    result = np.empty_like(bits)
    kernel(bits.ravel(), result.ravel(), _table(table), _squares(), *more)
    return result.view(x.dtype)


def rcp(x: Array) -> Array:
    """Reciprocal of f32."""
    return _looked_up(_kernels().rcp, x, "rcp")


def rsqrt(x: Array) -> Array:
    """Reciprocal square root of f32."""
    return _looked_up(_kernels().rsqrt, x, "rsqrt")


def sqrt(x: Array) -> Array:
    """Square root of f32."""
    return _looked_up(_kernels().sqrt, x, "sqrt")


def ex2(x: Array) -> Array:
    """2 to the power of f32."""
    return _looked_up(_kernels().ex2, x, "ex2")


def lg2(x: Array) -> Array:
    """Binary logarithm of f32."""
    return _looked_up(_kernels().lg2, x, "lg2")


def sin(x: Array) -> Array:
    """Sine of f32 radians."""
    return _looked_up(_kernels().sine, x, "sin", 0)


def cos(x: Array) -> Array:
    """Cosine of f32 radians."""
    return _looked_up(_kernels().sine, x, "sin", 1)


def tanh(x: Array) -> Array:
    """Hyperbolic tangent of f32; an operand below 2**-8, subnormal or not, is its own."""
    return _looked_up(_kernels().tanh, x, "tanh", _table("tanh_rows"))


def rcp_upper(x: Array) -> Array:
    """The upper word (uint32) of an f64 reciprocal, from the upper word of its operand."""
    return _looked_up(_kernels().rcp_upper, x, "rcp")


def rsqrt_upper(x: Array) -> Array:
    """The upper word (uint32) of an f64 reciprocal square root, from the upper word of its operand."""
    return _looked_up(_kernels().rsqrt_upper, x, "rsqrt")
