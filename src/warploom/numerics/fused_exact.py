"""The fused sums over any bits, one dot product at a time, in 64-bit integers.

Where the vector kernels do not reach (NaN, infinities, exponents at the ends of f32, block scales) these
do. Everything is compiled for unsigned 32-bit operand words, so that one compilation serves all types.
"""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportArgumentType=false
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from warploom.numerics.elements import FLOATS, Element
from warploom.numerics.models import Model, Sum

Words = NDArray[np.uint32]
Numbers = NDArray[np.int64]

_NAN, _INFINITE, _NUMBER = 2, 1, 0
_NO_EXPONENT = -(1 << 30)


def layout(element: Element) -> Numbers:
    """What the kernels need to know of an element type."""
    fields = (
        element.mantissa_bits,
        element.bias,
        element.magnitude_mask,
        element.sign_bit,
        element.first_special,
        element.specials == "ieee",
        element.ignored,
    )
    return np.array(fields, np.int64)


@njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)
def _decode(word: int, layout: Numbers) -> tuple[int, int, int, bool]:
    """Kind, significand, exponent and sign of one element."""
    magnitude = word & layout[2]
    negative = word & layout[3] != 0
    if magnitude >= layout[4]:
        infinite = layout[5] and magnitude >> layout[6] == layout[4] >> layout[6]
        return (1 if infinite else 2), 0, 0, negative
    magnitude >>= layout[6]
    field = magnitude >> layout[0]
    significand = magnitude & ((1 << layout[0]) - 1)
    if field:
        significand |= 1 << layout[0]
    return 0, significand, max(field, 1) - layout[1], negative


@njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)
def _aligned(magnitude: int, shift: int) -> int:
    """`magnitude` * 2**`shift`, truncated."""
    if shift >= 0:
        return magnitude << shift
    return magnitude >> -shift if shift > -63 else 0


@njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)
def _rounded(total: int, lowest: int, layout: Numbers, kept: int, nearest: bool) -> int:
    """`total` * 2**`lowest` as bits of D, whose mantissa holds `kept` bits."""
    if total == 0:
        return 0
    magnitude = abs(total)
    length = 0
    while magnitude >> length:
        length += 1
    emin = 1 - layout[1]
    exponent = max(length - 1 + lowest, emin)
    shift = exponent - kept - lowest
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
    bits = ((exponent - emin) << layout[0]) + (quotient << (layout[0] - kept))
    bits = min(bits, layout[4])
    return bits | layout[3] if total < 0 else bits


@njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)
def _fused(
    values: Numbers, lowest: Numbers, exponents: Numbers, count: int,
    fraction: int, emin: int, layout: Numbers, kept: int, nearest: bool,
) -> int:  # fmt: skip
    """One step over `count` finite terms values * 2**lowest."""
    top = _NO_EXPONENT
    for i in range(count):
        if values[i] and exponents[i] > top:
            top = exponents[i]
    if top == _NO_EXPONENT:
        return 0
    quantum = max(top, emin) - fraction
    total = 0
    for i in range(count):
        part = _aligned(abs(values[i]), lowest[i] - quantum) if values[i] else 0
        total += part if values[i] > 0 else -part
    return _rounded(total, quantum, layout, kept, nearest)


@njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)
def _dots(
    a: Words, b: Words, c: Words, a_scales: Words, b_scales: Words,
    a_layout: Numbers, b_layout: Numbers, c_layout: Numbers, d_layout: Numbers, scale_layout: Numbers,
    length: int, fraction: int, kept: int, emin: int, grouped: bool,
) -> Words:  # fmt: skip
    count, depth = a.shape
    scales = a_scales.shape[1]
    nearest = d_layout[0] == 10
    nan = d_layout[3] - 1
    powers = scale_layout[0] == 0
    d = np.empty(count, np.uint32)
    values = np.zeros(length + 1, np.int64)
    lowest = np.zeros(length + 1, np.int64)
    exponents = np.zeros(length + 1, np.int64)
    for i in range(count):
        word = np.int64(c[i])
        word_layout = c_layout
        for first in range(0, depth, length):
            kind, significand, exponent, negative = _decode(word, word_layout)
            word_layout = d_layout
            bad = kind == 2
            plus = kind == 1 and not negative
            minus = kind == 1 and negative
            values[0] = -significand if negative else significand
            exponents[0] = exponent
            lowest[0] = exponent - (c_layout[0] if first == 0 else d_layout[0])
            terms = 1
            for k in range(first, min(first + length, depth)):
                a_kind, a_value, a_exponent, a_negative = _decode(np.int64(a[i, k]), a_layout)
                b_kind, b_value, b_exponent, b_negative = _decode(np.int64(b[i, k]), b_layout)
                negative = a_negative != b_negative
                if a_kind or b_kind:
                    zero = (a_kind == 0 and a_value == 0) or (b_kind == 0 and b_value == 0)
                    if a_kind == 2 or b_kind == 2 or zero:
                        bad = True
                    elif negative:
                        minus = True
                    else:
                        plus = True
                scaled, exponent = 1, a_exponent + b_exponent
                low = exponent - a_layout[0] - b_layout[0]
                if scales:
                    s = k * scales // depth
                    x_kind, x, x_exponent, _ = _decode(np.int64(a_scales[i, s]), scale_layout)
                    y_kind, y, y_exponent, _ = _decode(np.int64(b_scales[i, s]), scale_layout)
                    bad = bad or x_kind == 2 or y_kind == 2
                    if powers:
                        x, y = 1, 1
                        x_exponent = np.int64(a_scales[i, s]) - 127
                        y_exponent = np.int64(b_scales[i, s]) - 127
                    if grouped:
                        scaled = x * y
                        low += x_exponent + y_exponent - 2 * scale_layout[0]
                        exponent = x_exponent + y_exponent
                    else:
                        low += x_exponent + y_exponent
                        exponent += x_exponent + y_exponent
                value = a_value * b_value * scaled
                if grouped:
                    # The sixteen share their scales: their exact sum is one term, counted in quarters.
                    base = exponent - 2 * scale_layout[0] - 2
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
                word = nan
            elif plus:
                word = d_layout[4]
            elif minus:
                word = d_layout[4] | d_layout[3]
            else:
                word = _fused(
                    values,
                    lowest,
                    exponents,
                    terms,
                    fraction,
                    emin,
                    d_layout,
                    kept,
                    nearest,
                )
        d[i] = word
    return d


_UE8M0 = np.array((0, 127, 0xFF, 0, 0xFF, 0, 0), np.int64)
_UE4M3 = np.array((3, 7, 0x7F, 0, 0x7F, 0, 0), np.int64)
_CHUNK = 1 << 20


def dots(
    a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], model: Model,
    a_scales: NDArray[Any] | None = None, b_scales: NDArray[Any] | None = None,
) -> Words:  # fmt: skip
    """The bits of D for dot products laid out row by row.

    Shapes: a and b (P, K), c (P,), scales (P, S), result (P,).
    """
    count = len(a)
    none = np.zeros((count, 0), np.uint32)
    emin = _NO_EXPONENT if model.emin is None else model.emin
    return _dots(
        a.astype(np.uint32), b.astype(np.uint32), c.astype(np.uint32),
        none if a_scales is None else a_scales.astype(np.uint32),
        none if b_scales is None else b_scales.astype(np.uint32),
        layout(FLOATS[model.a_type]), layout(FLOATS[model.b_type]),
        layout(FLOATS[model.c_type]), layout(FLOATS[model.d_type]),
        _UE4M3 if model.scale_type == "ue4m3" else _UE8M0,
        model.length, model.fraction,
        model.kept if model.d_type == "f32" else FLOATS[model.d_type].mantissa_bits,
        emin, model.sum is Sum.GROUPS,
    )  # fmt: skip


def outputs(
    positions: Numbers, d: NDArray[Any], a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None,
    model: Model, index: NDArray[Any] | None = None,
    a_scales: NDArray[Any] | None = None, b_scales: NDArray[Any] | None = None,
) -> None:  # fmt: skip
    """Recomputes the outputs at flat `positions` of d (G, M, N) in place."""
    _, rows, columns = d.shape
    flat = d.reshape(-1)
    step = max(1, _CHUNK // a.shape[2])
    for first in range(0, len(positions), step):
        where = positions[first : first + step]
        g, rest = np.divmod(where, rows * columns)
        m, n = np.divmod(rest, columns)
        right = b[g, n] if index is None else np.take_along_axis(b[g, n], index[g, m], 1)
        addend = np.zeros(len(where), np.uint32) if c is None else c[g, m, n]
        left_scales = None if a_scales is None else a_scales[g, m]
        right_scales = None if b_scales is None else b_scales[g, n]
        flat[where] = dots(a[g, m], right, addend, model, left_scales, right_scales)
