"""Special function unit of sm_90, with the bits of the hardware.

The unit divides the domain of a function into intervals. From the offset `t` into an interval, the unit computes the
sum `c0 + c1 * t + c2 * square(t)` exactly. It then truncates the sum. Subnormal operands and results are flushed to
zero, except by the hyperbolic tangent. `tests/evidence/approximate` describes the method and the comparisons with the
GPU.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from warploom.numerics.formats import Array
from warploom.numerics.lazy_module import LazyModule

sfu_kernels = LazyModule("warploom.numerics.sfu_kernels")
_BITS = 17
_CUT = 19


# The coefficients were solved from the outputs of an H200 over whole binades.
@cache
def _table(name: str) -> Array:
    with np.load(Path(__file__).parent / "data" / "sfu.npz") as archive:
        return archive[name]


@cache
def _coefficients(name: str) -> tuple[Array, Array]:
    """Return the coefficients of all intervals: constants, of the offset, and of its square.

    Shapes: int64 (intervals,), int32 (2, intervals).
    """
    table = _table(name)
    return table[:, 0].copy(), np.ascontiguousarray(table[:, 1:].T.astype(np.int32))


@cache
def _squares() -> Array:
    """Return the truncated square of every offset into an interval, in units of 2**19."""
    x = np.arange(1 << _BITS, dtype=np.uint64)
    total = np.zeros_like(x)
    one = np.uint64(1)
    for i in range(_BITS):
        bit = (x >> np.uint64(i)) & one
        # Add the square of bit i, and twice its products with the lower bits that weigh at least 2**_CUT.
        lower = x & np.uint64((1 << i) - 1 & -(1 << max(_CUT - i - 1, 0)))
        total += bit * (lower << np.uint64(i + 1))
        if 2 * i >= _CUT:
            total += bit << np.uint64(2 * i)
    return (total >> np.uint64(_CUT)).astype(np.uint16)


def _function(name: str, table: str, more: int | str = 0) -> Callable[[Array], Array]:
    """Return a function of arrays that calls the kernel `name` of `sfu_kernels`.

    `table` is the name of the kernel's table. `more` is the last argument of the kernel: a number, or the name of a
    second table.
    """

    def evaluate(x: Array) -> Array:
        further = _table(more) if isinstance(more, str) else more
        kernel = getattr(sfu_kernels, name)
        return kernel(x.view(np.uint32), *_coefficients(table), _squares(), further).view(x.dtype)

    return evaluate


rcp = _function("rcp", "rcp")
"""Reciprocal of f32 numbers."""
rsqrt = _function("rsqrt", "rsqrt")
"""Reciprocal square root of f32 numbers."""
sqrt = _function("sqrt", "sqrt")
"""Square root of f32 numbers."""
ex2 = _function("ex2", "ex2")
"""Power of 2 of f32 numbers."""
lg2 = _function("lg2", "lg2")
"""Binary logarithm of f32 numbers."""
sin = _function("sine", "sin", 0)
"""Sine of f32 radians."""
cos = _function("sine", "sin", 1)
"""Cosine of f32 radians."""
tanh = _function("tanh", "tanh", "tanh_rows")
"""Hyperbolic tangent of f32 numbers. Operands below 2**-8 are returned unchanged."""
rcp_upper = _function("rcp_upper", "rcp")
"""Upper word (uint32) of the reciprocal of an f64 number with the given upper word."""
rsqrt_upper = _function("rsqrt_upper", "rsqrt")
"""Upper word (uint32) of the reciprocal square root of an f64 number with the given upper word."""
