"""Block-scaled fused dot products (T-FDPA) in 64-bit integers: a fast reference for the compiled vectors."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportCallIssue=false
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit
from warploom.numerics.formats import E8M13, FORMATS, STORAGE, Array
from warploom.numerics.models import Model, Sum

Words = NDArray[np.uint32]
Numbers = NDArray[np.int64]

_NUMBER, _INFINITY, _NAN = 0, 1, 2
_NO_EXPONENT = -(1 << 30)


class Layout(NamedTuple):
    """Fields of a number format for compiled code. The masks apply to stored patterns."""

    mantissa_bits: int
    bias: int
    magnitude_mask: int
    sign: int
    first_special: int
    has_infinity: bool
    padding: int


@cache
def layout(name: str) -> Layout:
    """Return the layout of a format, given by its PTX type name or "e8m13"."""
    fmt = E8M13 if name == "e8m13" else FORMATS[name]
    magnitude, sign, special = (code << fmt.padding for code in (fmt.magnitude_mask, fmt.sign_bit, fmt.max_code + 1))
    infinity = fmt.specials == "ieee"
    return Layout(fmt.mantissa_bits, fmt.bias, magnitude, sign, special, infinity, fmt.padding)


@njit
def _decode(word: Any, layout: Layout) -> tuple[int, int, int, bool]:
    """Return the class (number, infinity or NaN), significand, exponent and sign of a stored element."""
    magnitude = word & layout.magnitude_mask
    negative = word & layout.sign != 0
    if magnitude >= layout.first_special:
        infinite = layout.has_infinity and magnitude == layout.first_special
        return (_INFINITY if infinite else _NAN), 0, 0, negative
    magnitude >>= layout.padding
    field = magnitude >> layout.mantissa_bits
    if layout.mantissa_bits == 0:
        return _NUMBER, 1, field - layout.bias, negative
    significand = magnitude & ((1 << layout.mantissa_bits) - 1)
    if field:
        significand |= 1 << layout.mantissa_bits
    return _NUMBER, significand, max(field, 1) - layout.bias, negative


@njit
def _truncated(magnitude: int, shift: int) -> int:
    if shift >= 0:
        return magnitude << shift
    return magnitude >> -shift if shift > -63 else 0


@njit
def _rounded(total: int, lowest: int, layout: Layout, nearest: bool) -> int:
    """Return the pattern of `total` * 2**`lowest`, rounded to nearest even or toward zero."""
    if total == 0:
        return 0
    magnitude = abs(total)
    length = 0
    while magnitude >> length:
        length += 1
    emin = 1 - layout.bias
    exponent = max(length - 1 + lowest, emin)
    shift = exponent - layout.mantissa_bits - lowest
    if shift <= 0:
        quotient = magnitude << -shift
    elif shift > 62:
        quotient = 0
    else:
        quotient = magnitude >> shift
        if nearest:
            rest = magnitude - (quotient << shift)
            if 2 * rest + (quotient & 1) > 1 << shift:
                quotient += 1
    if quotient == 0:
        return 0
    bits = (((exponent - emin) << layout.mantissa_bits) + quotient) << layout.padding
    bits = min(bits, layout.first_special)
    return bits | layout.sign if total < 0 else bits


@njit
def _step(
    values: Numbers, lowest: Numbers, exponents: Numbers, count: int,
    fraction: int, emin: int, layout: Layout, nearest: bool,
) -> int:  # fmt: skip
    """Return the pattern of `spec.fused_step` for finite terms values[i] * 2**lowest[i], i < `count`.

    `exponents` are the exponents that align the terms.
    """
    top = _NO_EXPONENT
    for i in range(count):
        if values[i] and exponents[i] > top:
            top = exponents[i]
    if top == _NO_EXPONENT:
        return 0
    quantum = max(top, emin) - fraction
    total = 0
    for i in range(count):
        part = _truncated(abs(values[i]), lowest[i] - quantum) if values[i] else 0
        total += part if values[i] > 0 else -part
    return _rounded(total, quantum, layout, nearest)


@njit
def _dots(
    a: Words, b: Words, c: Words, a_scales: Words, b_scales: Words,
    a_layout: Layout, b_layout: Layout, c_layout: Layout, d_layout: Layout, scale_layout: Layout,
    length: int, fraction: int, emin: int, grouped: bool, nearest: bool,
) -> Words:  # fmt: skip
    count, depth = a.shape
    scales = a_scales.shape[1]
    d = np.empty(count, np.uint32)
    values = np.zeros(length + 1, np.int64)
    lowest = np.zeros(length + 1, np.int64)
    exponents = np.zeros(length + 1, np.int64)
    for i in range(count):
        word = np.int64(c[i])
        word_layout = c_layout
        for first in range(0, depth, length):
            kind, significand, exponent, negative = _decode(word, word_layout)
            values[0] = -significand if negative else significand
            exponents[0] = exponent
            lowest[0] = exponent - word_layout.mantissa_bits
            word_layout = d_layout
            bad = kind == _NAN
            plus = kind == _INFINITY and not negative
            minus = kind == _INFINITY and negative
            terms = 1
            least = emin
            for k in range(first, min(first + length, depth)):
                a_kind, a_value, a_exponent, a_negative = _decode(np.int64(a[i, k]), a_layout)
                b_kind, b_value, b_exponent, b_negative = _decode(np.int64(b[i, k]), b_layout)
                negative = a_negative != b_negative
                if a_kind or b_kind:
                    zero = (a_kind == _NUMBER and a_value == 0) or (b_kind == _NUMBER and b_value == 0)
                    if _NAN in (a_kind, b_kind) or zero:
                        bad = True
                    elif negative:
                        minus = True
                    else:
                        plus = True
                value, exponent = a_value * b_value, a_exponent + b_exponent
                low = exponent - a_layout.mantissa_bits - b_layout.mantissa_bits
                s = k * scales // depth
                x_kind, x, x_exponent, _ = _decode(np.int64(a_scales[i, s]), scale_layout)
                y_kind, y, y_exponent, _ = _decode(np.int64(b_scales[i, s]), scale_layout)
                bad = bad or _NAN in (x_kind, y_kind)
                value *= x * y
                low += x_exponent + y_exponent - 2 * scale_layout.mantissa_bits
                exponent = x_exponent + y_exponent + (0 if grouped else exponent)
                if grouped:
                    if value:
                        least = max(least, exponent)  # also if the sum of the group is zero
                    # The 16 products of a group share their scales. One term is their exact sum, in units of 1/4.
                    base = exponent - 2 * scale_layout.mantissa_bits - 2
                    value <<= low - base
                    low = base
                    if k % 16:
                        values[terms - 1] += -value if negative else value
                        continue
                values[terms] = -value if negative else value
                lowest[terms] = low
                exponents[terms] = exponent
                terms += 1
            if bad or (plus and minus):
                word = d_layout.sign - 1
            elif plus:
                word = d_layout.first_special
            elif minus:
                word = d_layout.first_special | d_layout.sign
            else:
                word = _step(values, lowest, exponents, terms, fraction, least, d_layout, nearest)
        d[i] = word
    return d


_CHUNK = 1 << 20


def multiply(a: Array, b: Array, c: Array | None, model: Model, scale_a: Array, scale_b: Array) -> Array:
    """Return D = A B + C of block-scaled operands. Shapes: as in `fused.Multiplier`."""
    shape = len(a), a.shape[1], b.shape[1]
    d = np.empty(shape, STORAGE[model.d_type])
    flat = d.reshape(-1)
    formats = layout(model.a_type), layout(model.b_type), layout(model.c_type), layout(model.result)
    scale_format = layout(str(model.scale_type))
    emin = _NO_EXPONENT if model.emin is None else model.emin
    step = max(1, _CHUNK // a.shape[2])
    for first in range(0, d.size, step):
        positions = np.arange(first, min(first + step, d.size))
        g, m, n = np.unravel_index(positions, shape)
        addend = np.zeros(len(positions), np.uint32) if c is None else c[g, m, n]
        # With uint32 for all types, Numba compiles the code only once.
        operands = [each.astype(np.uint32) for each in (a[g, m], b[g, n], addend, scale_a[g, m], scale_b[g, n])]
        flat[positions] = _dots(
            *operands, *formats, scale_format, model.length, model.fraction,
            emin, model.sum is Sum.T_FDPA_GROUPED, model.result == "f16",
        )  # fmt: skip
    return d
