"""The sums of the matrix units in plain Python integers: slow, short, and what the compiled kernels equal.

Every result is bits. A number is sign * significand * 2**exponent with the exponent that of its lowest bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics.elements import FLOATS, STORAGE, Element
from warploom.numerics.models import Model, Sum

Bits = NDArray[Any]

NAN32, NAN16 = 0x7FFFFFFF, 0x7FFF


@dataclass(frozen=True, slots=True)
class Term:
    """A product or an addend: `value` counts 2**`lowest`, `exponent` is what alignment sees.

    `special` is "" for a number, "nan", "inf" or "-inf".
    """

    value: int
    lowest: int
    exponent: int
    special: str = ""


def decode(bits: int, element: Element) -> Term:
    """One element's bits as a term; subnormals are not normalised."""
    magnitude = bits & element.magnitude_mask
    negative = bits & element.sign_bit != 0
    magnitude >>= element.ignored
    if magnitude >= element.first_special >> element.ignored:
        infinite = element.specials == "ieee" and magnitude == element.first_special >> element.ignored
        return Term(0, 0, 0, ("-inf" if negative else "inf") if infinite else "nan")
    field = magnitude >> element.mantissa_bits
    significand = magnitude & ((1 << element.mantissa_bits) - 1)
    if field:
        significand |= 1 << element.mantissa_bits
    exponent = max(field, 1) - element.bias
    return Term(
        -significand if negative else significand,
        exponent - element.mantissa_bits,
        exponent,
    )


def product(a: Term, b: Term) -> Term:
    """The exact product, not renormalised."""
    if not (a.special or b.special):
        return Term(a.value * b.value, a.lowest + b.lowest, a.exponent + b.exponent)
    zero = (not a.special and a.value == 0) or (not b.special and b.value == 0)
    if "nan" in (a.special, b.special) or zero:
        return Term(0, 0, 0, "nan")
    negative = (a.special == "-inf" or a.value < 0) != (b.special == "-inf" or b.value < 0)
    return Term(0, 0, 0, "-inf" if negative else "inf")


def fused(terms: list[Term], model: Model) -> int:
    """One fused step: the bits of D."""
    d_type = model.d_type
    specials = {term.special for term in terms} - {""}
    if "nan" in specials or len(specials) > 1:
        return NAN32 if d_type == "f32" else NAN16
    if specials:
        infinity = 0x7F800000 if d_type == "f32" else 0x7C00
        return infinity | (0x80000000 if d_type == "f32" else 0x8000) * ("-inf" in specials)
    numbers = [term for term in terms if term.value]
    if not numbers:
        return 0
    top = max(term.exponent for term in numbers)
    if model.emin is not None:
        top = max(top, model.emin)
    quantum = top - model.fraction
    total = 0
    for term in numbers:
        shift = term.lowest - quantum
        magnitude = abs(term.value) << shift if shift >= 0 else abs(term.value) >> -shift
        total += magnitude if term.value > 0 else -magnitude
    return rounded(total, quantum, model)


def rounded(total: int, lowest: int, model: Model) -> int:
    """`total` * 2**`lowest` as bits of D: f32 toward zero, f16 to nearest even."""
    if total == 0:
        return 0
    magnitude = abs(total)
    element = FLOATS[model.d_type]
    kept = model.kept if model.d_type == "f32" else element.mantissa_bits
    exponent = max(magnitude.bit_length() - 1 + lowest, element.emin)
    shift = exponent - kept - lowest
    if shift <= 0:
        quotient = magnitude << -shift
    else:
        quotient, rest = magnitude >> shift, magnitude & ((1 << shift) - 1)
        if model.d_type == "f16":
            quotient += 2 * rest + (quotient & 1) > 1 << shift
    if quotient == 0:
        return 0
    bits = ((exponent - element.emin) << element.mantissa_bits) + (quotient << (element.mantissa_bits - kept))
    return min(bits, element.first_special) | (element.sign_bit if total < 0 else 0)


def multiply(
    a: Bits,
    b: Bits,
    c: Bits,
    model: Model,
    *,
    index: Bits | None = None,
    negate_a: bool = False,
    negate_b: bool = False,
    satfinite: bool = False,
    scale_a: Bits | None = None,
    scale_b: Bits | None = None,
) -> Bits:
    """`fused.multiply`, one output after another. Direct sums only: what `fused` composes is not here.

    Shapes: a (G, M, K), b (G, N, K), c (G, M, N); `index` (G, M, K) gives the column of b for each stored
    element of a sparse a; scales (G, M, S) and (G, N, S), one for each K/S elements.
    """
    groups, rows, _ = a.shape
    columns = b.shape[1]
    d = np.zeros((groups, rows, columns), STORAGE[model.d_type])
    for g in range(groups):
        for m in range(rows):
            for n in range(columns):
                where = slice(None) if index is None else index[g, m]
                left, right = a[g, m].tolist(), b[g, n][where].tolist()
                scales: list[tuple[int, int]] = []
                if scale_a is not None and scale_b is not None:
                    scales = list(zip(scale_a[g, m].tolist(), scale_b[g, n].tolist(), strict=True))
                if model.sum is Sum.INTEGER:
                    d[g, m, n] = integer(left, right, int(c[g, m, n]), satfinite)
                else:
                    flip = (negate_a, negate_b)
                    d[g, m, n] = dot(left, right, int(c[g, m, n]), model, flip=flip, scales=scales)
    return d


def integer(a: list[int], b: list[int], c: int, satfinite: bool) -> int:
    """The sum of integer products, wrapped or clamped to 32 bits."""
    total = c + sum(x * y for x, y in zip(a, b, strict=True))
    if satfinite:
        return max(-(1 << 31), min((1 << 31) - 1, total))
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)


def dot(
    a: list[int],
    b: list[int],
    c: int,
    model: Model,
    *,
    flip: tuple[bool, bool],
    scales: list[tuple[int, int]],
) -> int:
    """One output of a fused or grouped sum: the steps in ascending k, each rounded to the type of D."""
    left, right = FLOATS[model.a_type], FLOATS[model.b_type]
    products = [
        product(
            decode(x ^ left.sign_bit * flip[0], left),
            decode(y ^ right.sign_bit * flip[1], right),
        )
        for x, y in zip(a, b, strict=True)
    ]
    if scales:
        return scaled(products, c, model, scales)
    if model.sum is Sum.CONVERTED:
        return _converted(products, c, model)
    accumulator, element = c, FLOATS[model.c_type]
    for k in range(0, len(products), model.length):
        step = [*products[k : k + model.length], decode(accumulator, element)]
        accumulator, element = fused(step, model), FLOATS[model.d_type]
    return accumulator


def _converted(products: list[Term], c: int, model: Model) -> int:
    """A sum from f32 to f32 between conversions of its addend and its result."""
    wide = replace(model, c_type="f32", d_type="f32")
    accumulator = c
    if model.c_type == "f16":
        accumulator = int(np.array(c, np.uint16).view(np.float16).astype(np.float32).view(np.uint32))
    for k in range(0, len(products), model.length):
        step = [*products[k : k + model.length], decode(accumulator, FLOATS["f32"])]
        accumulator = fused(step, wide)
    if model.d_type == "f32":
        return accumulator
    value = np.array(accumulator, np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        return NAN16 if np.isnan(value) else int(value.astype(np.float16).view(np.uint16))


def scaled(products: list[Term], c: int, model: Model, scales: list[tuple[int, int]]) -> int:
    """The block-scaled sums: each product, or each exact sum of sixteen, times its two scales."""
    assert model.scale_type is not None
    factors = [product(scale(x, model.scale_type), scale(y, model.scale_type)) for x, y in scales]
    addend = decode(c, FLOATS[model.c_type])
    if any(factor.special for factor in factors):
        return NAN32
    if model.sum is Sum.FUSED:
        size = len(products) // len(factors)
        terms = [_shifted(term, factors[k // size].exponent) for k, term in enumerate(products)]
        return fused([*terms, addend], model)
    terms: list[Term] = []
    for first in range(0, len(products), 16):
        group = products[first : first + 16]
        factor = factors[first * len(factors) // len(products)]
        total = sum(term.value << (term.lowest + 2) for term in group)
        terms.append(Term(total * factor.value, factor.lowest - 2, factor.exponent))
    return fused([*terms, addend], model)


def _shifted(term: Term, exponent: int) -> Term:
    if term.special:
        return term
    return Term(term.value, term.lowest + exponent, term.exponent + exponent)


def scale(bits: int, scale_type: str) -> Term:
    """A block scale; ue4m3 is e4m3 with its sign ignored."""
    if scale_type == "ue8m0":
        return Term(0, 0, 0, "nan") if bits == 255 else Term(1, bits - 127, bits - 127)
    return decode(bits & 0x7F, FLOATS["e4m3"])


def double(a: list[float], b: list[float], c: float) -> float:
    """A chain of correctly rounded f64 multiply-adds over finite numbers, in ascending k."""
    for x, y in zip(a, b, strict=True):
        exact = Fraction(x) * Fraction(y) + Fraction(c)
        c = exact.numerator / exact.denominator if exact else x * y + c
    return c
