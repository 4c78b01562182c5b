"""Definition of the matrix arithmetic: each sum that a matrix unit computes, in plain Python integers.

`fused.multiply` computes the same bits with compiled kernels; tests compare the two. `models.Model.formula` names the
function of an instruction with its arguments, and `docs/arithmetic.md` states the evidence.

Terms and parameters
    A sum is d = c + a[0]*b[0] + ... + a[K-1]*b[K-1]. Each function takes sequences `a` and `b` and an addend `c`, and
    returns d.
    L (`length`): number of products that one fused step adds.
    F (`fraction`): number of bits that a step keeps below its largest exponent. Lower bits are truncated toward zero.
    `emin`: least exponent to which a step aligns its terms; None if no bound is known.
    `result`: format to which each step rounds: "f32" and "e8m13" toward zero, "f16" to nearest, ties to even.

Special values
    Elements are decoded without normalisation: subnormals keep the least exponent of their format.
    A NaN, 0 * infinity, or infinities of both signs among the terms give the canonical NaN: 0x7FFFFFFF in f32 and
    0x7FFF in f16. Otherwise an infinity gives an infinity of its sign.
    A fused step that is zero or rounds to zero returns +0. Beyond the largest finite number it returns infinity.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics import formats
from warploom.numerics.formats import E8M13, F64, FORMATS, STORAGE, Format
from warploom.numerics.models import Model, Sum

Rounding = Literal["rn", "rz", "rm", "rp"]
Bits = NDArray[Any]

_FORMATS: dict[str, Format] = {**FORMATS, "f64": F64, "e8m13": E8M13}


class Float(NamedTuple):
    """Floating-point number: its pattern, and the name of its format."""

    bits: int
    type: str


class Term(NamedTuple):
    """Term of an exact sum: (-1)**negative * magnitude * 2**lowest, or the special value "nan" or "inf".

    `exponent` is the exponent by which T-FDPA (see `t_fdpa`) aligns the term. For a product, it is the sum of the
    exponents of the factors, without normalisation.
    """

    negative: bool
    magnitude: int
    lowest: int
    exponent: int
    special: str = ""

    @property
    def value(self) -> int:
        """Signed magnitude, in units of 2**lowest."""
        return -self.magnitude if self.negative else self.magnitude


# --- elements, products and rounding


@lru_cache(1 << 16)
def unpack(x: Float) -> Term:
    """Return a number as a term: (-1)**sign * significand * 2**(exponent - mantissa_bits)."""
    fmt = _FORMATS[x.type]
    code = x.bits >> fmt.padding
    negative, magnitude = bool(code & fmt.sign_bit), code & fmt.magnitude_mask
    if magnitude > fmt.max_code:
        return Term(negative, 0, 0, 0, "inf" if magnitude == fmt.inf_code else "nan")
    field = magnitude >> fmt.mantissa_bits
    exponent = max(field - fmt.bias, fmt.min_exponent)
    significand = magnitude & ((1 << fmt.mantissa_bits) - 1)
    if field or not fmt.mantissa_bits:
        significand |= 1 << fmt.mantissa_bits  # the implicit bit of a normal number
    return Term(negative, significand, exponent - fmt.mantissa_bits, exponent)


def product(x: Term, y: Term) -> Term:
    """Return the exact product x * y. Its exponent is the sum of the exponents, without normalisation."""
    negative = x.negative != y.negative
    if x.special or y.special:
        zero_times_infinity = any(not t.special and t.magnitude == 0 for t in (x, y))
        invalid = "nan" in (x.special, y.special) or zero_times_infinity
        return Term(negative, 0, 0, 0, "nan" if invalid else "inf")
    return Term(negative, x.magnitude * y.magnitude, x.lowest + y.lowest, x.exponent + y.exponent)


def truncated(term: Term, quantum: int) -> int:
    """Return the term in units of 2**quantum, truncated toward zero to an integer."""
    shift = term.lowest - quantum
    magnitude = term.magnitude << shift if shift >= 0 else term.magnitude >> -shift
    return -magnitude if term.negative else magnitude


def special_sum(terms: Sequence[Term], result: str) -> Float | None:
    """Return the NaN or infinity that special terms give, or None if all terms are finite."""
    fmt = _FORMATS[result]
    signs = {term.negative for term in terms if term.special == "inf"}
    if len(signs) == 2 or any(term.special == "nan" for term in terms):
        return Float(fmt.nan_code, result)
    if signs:
        return _signed(signs == {True}, fmt.inf_code, result)
    return None


def rounded(negative: bool, magnitude: int, lowest: int, result: str, rounding: Rounding) -> Float:
    """Return (-1)**negative * magnitude * 2**lowest, as `result`, rounded once. Overflow gives infinity."""
    fmt = _FORMATS[result]
    if magnitude == 0:
        return _signed(negative, 0, result)
    exponent = max(magnitude.bit_length() - 1 + lowest, fmt.min_exponent)
    shift = exponent - fmt.mantissa_bits - lowest  # number of magnitude bits below the last place of the result
    kept, lost = divmod(magnitude, 1 << shift) if shift > 0 else (magnitude << -shift, 0)
    if rounding == "rn":
        away = 2 * lost + (kept & 1) > 1 << max(shift, 0)
    else:
        away = lost > 0 and rounding == ("rm" if negative else "rp")
    # A carry out of the mantissa increments the exponent field.
    code = ((exponent - fmt.min_exponent) << fmt.mantissa_bits) + kept + away
    return _signed(negative, min(code, fmt.inf_code), result)


def _signed(negative: bool, code: int, type: str) -> Float:
    fmt = _FORMATS[type]
    return Float((code | fmt.sign_bit * negative) << fmt.padding, type)


# --- truncated fused dot products


def fused_step(terms: Sequence[Term], fraction: int, result: str, emin: int | None) -> Float:
    """Return d = round(sum(truncated(term, E - F)) * 2**(E - F)).

    E is the largest exponent of a nonzero term, or `emin` if that is larger. F is `fraction`. The truncated terms are
    added exactly. A zero result is +0.
    """
    if (special := special_sum(terms, result)) is not None:
        return special
    exponents = [term.exponent for term in terms if term.magnitude]
    if not exponents:
        return Float(0, result)
    quantum = max(exponents if emin is None else [*exponents, emin]) - fraction
    total = sum(truncated(term, quantum) for term in terms)
    d = rounded(total < 0, abs(total), quantum, result, "rn" if result == "f16" else "rz")
    is_zero = unpack(d).magnitude == 0 and not unpack(d).special
    return Float(0, result) if is_zero else d


def t_fdpa(
    a: Sequence[Float], b: Sequence[Float], c: Float,
    *, length: int, fraction: int, result: str = "f32", emin: int | None = None, divisor: int = 0,
) -> Float:  # fmt: skip
    """Return d = fused_step(d, a[k]*b[k], ..., a[k+L-1]*b[k+L-1]) for k = 0, L, 2L, ..., from d = c.

    T-FDPA(L, F) is the truncated fused dot product add. Each step adds L = `length` products, in ascending k, to the
    result of the previous step. The first step adds c * 2**-`divisor`, which is not rounded first.
    """
    return _chained(_products(a, b), c, length, fraction, result, emin, divisor)


def t_fdpa_converted(
    a: Sequence[Float], b: Sequence[Float], c: Float,
    *, length: int, fraction: int, result: str = "f32", emin: int | None = None,
) -> Float:  # fmt: skip
    """Return d = convert(t_fdpa(a, b, convert(c, "f32")), result), for c and d of different formats.

    An f16 addend is widened first. All steps round to f32. An f16 result is rounded to nearest even at the end.
    """
    d = t_fdpa(a, b, convert(c, "f32"), length=length, fraction=fraction, emin=emin)
    return convert(d, result)


def t_fdpa_split(
    a: Sequence[Float], b: Sequence[Float], c: Float,
    *, length: int, fraction: int, result: str = "f32", emin: int | None = None,
) -> Float:  # fmt: skip
    """Return d = t_fdpa(a2, b2, t_fdpa(a1, b1, +0)) + c.

    a1 and b1 have the elements with k % 4 < 2, and a2 and b2 the others. A unit without fp8 arithmetic executes fp8
    instructions in this way, after an exact conversion of the elements to f16. A step adds at most half of the K
    products. c is added last, by an IEEE 754 addition in the format of the result.
    """
    order = sorted(range(len(a)), key=lambda k: k % 4 // 2)
    left, right = ([convert(x[k], "f16") for k in order] for x in (a, b))
    step = min(length, len(a) // 2)
    total = t_fdpa(left, right, Float(0, result), length=step, fraction=fraction, result=result, emin=emin)
    return add(total, convert(c, result), result=result)


def t_fdpa_scaled(
    a: Sequence[Float], b: Sequence[Float], c: Float, scale_a: Sequence[Float], scale_b: Sequence[Float],
    *, length: int, fraction: int, result: str = "f32", emin: int | None = None,
) -> Float:  # fmt: skip
    """Return d = t_fdpa(a[k] * scale_a[s], b[k] * scale_b[s], c), where s = k * S // K for S scales.

    The scales are powers of two (ue8m0), so their exponents are added to the exponent of each product.
    """
    block = len(a) // len(scale_a)
    factors = _products(scale_a, scale_b)
    scaled = [product(term, factors[k // block]) for k, term in enumerate(_products(a, b))]
    return _chained(scaled, c, length, fraction, result, emin)


def t_fdpa_grouped(
    a: Sequence[Float], b: Sequence[Float], c: Float, scale_a: Sequence[Float], scale_b: Sequence[Float],
    *, length: int, fraction: int, result: str = "f32", emin: int | None = None,
) -> Float:  # fmt: skip
    """Return d = fused_step(d, g[i]*s[i], ..., g[i+L/16-1]*s[i+L/16-1]) for i = 0, L/16, ..., from d = c.

    L is `length`. g[i] is the exact sum of 16 products, and s[i] the product of the two scales of that group. The
    exponent of a term is that of s[i]. This exponent aligns the step even if g[i] is 0, unless all products of the
    group are 0.
    """
    factors, products = _products(scale_a, scale_b), _products(a, b)
    d = c
    for start in range(0, len(products), length):
        terms, exponents = [unpack(d)], [] if emin is None else [emin]
        for first in range(start, start + length, 16):
            group = products[first : first + 16]
            lowest = min(term.lowest for term in group)
            total = sum(term.value << (term.lowest - lowest) for term in group)
            factor = factors[first * len(factors) // len(products)]
            terms.append(product(Term(total < 0, abs(total), lowest, 0), factor))
            if factor.magnitude and any(term.magnitude for term in group):
                exponents.append(factor.exponent)
        d = fused_step(terms, fraction, result, max(exponents, default=None))
    return d


def _products(a: Sequence[Float], b: Sequence[Float]) -> list[Term]:
    return [product(unpack(x), unpack(y)) for x, y in zip(a, b, strict=True)]


def _chained(
    terms: Sequence[Term], c: Float, length: int, fraction: int, result: str, emin: int | None, divisor: int = 0
) -> Float:
    d, addend = c, unpack(c)
    addend = addend._replace(lowest=addend.lowest - divisor, exponent=addend.exponent - divisor)
    for first in range(0, len(terms), length):
        d = fused_step([*terms[first : first + length], addend], fraction, result, emin)
        addend = unpack(d)
    return d


# --- IEEE 754 operations


def fma(a: Float, b: Float, c: Float, *, result: str, rounding: Rounding = "rn") -> Float:
    """Return round(a*b + c), the fused multiply-add of IEEE 754.

    An exact zero is -0 if both terms are -0, or if their signs differ and `rounding` is "rm". A NaN result of f64 is
    the first NaN of b, c and a, made quiet, or 0xFFF8000000000000 if none of them is a NaN.
    """
    term, addend = product(unpack(a), unpack(b)), unpack(c)
    if (special := special_sum([term, addend], result)) is not None:
        return _nan64(b, c, a) if special == Float(F64.nan_code, "f64") else special
    lowest = min(term.lowest, addend.lowest)
    total = (term.value << (term.lowest - lowest)) + (addend.value << (addend.lowest - lowest))
    if total == 0:
        return _signed(term.negative if term.negative == addend.negative else rounding == "rm", 0, result)
    d = rounded(total < 0, abs(total), lowest, result, rounding)
    to_infinity = rounding in ("rn", "rm" if total < 0 else "rp")
    if unpack(d).special and not to_infinity:
        return _signed(total < 0, _FORMATS[result].max_code, result)
    return d


def _nan64(*operands: Float) -> Float:
    for x in operands:
        if unpack(x).special == "nan":
            return Float(x.bits | 1 << 51, "f64")
    return Float(F64.nan_code, "f64")


def add(x: Float, y: Float, *, result: str) -> Float:
    """Return round(x + y) in the format `result`: the addition of IEEE 754, to nearest even."""
    return fma(x, Float(0x3C00, "f16"), y, result=result)


def convert(x: Float, result: str) -> Float:
    """Return x in the format `result`, rounded to nearest even. A NaN becomes the canonical NaN."""
    value = formats.decode(np.array([x.bits]), _FORMATS[x.type])
    return Float(int(formats.encode(value, _FORMATS[result])[0]), result)


# --- other sums


def fma_chain(
    a: Sequence[Float], b: Sequence[Float], c: Float, *, result: str = "f64", rounding: Rounding = "rn"
) -> Float:
    """Return d = fma(a[k], b[k], d) for ascending k, starting with d = c. `rounding` applies to each step."""
    d = c
    for x, y in zip(a, b, strict=True):
        d = fma(x, y, d, result=result, rounding=rounding)
    return d


def fma_chain_plus_addend(a: Sequence[Float], b: Sequence[Float], c: Float) -> Float:
    """Return d = fma_chain(a, b, +0) + c in f32. Every operation rounds to nearest even."""
    return add(fma_chain(a, b, Float(0, "f32"), result="f32"), c, result="f32")


def paired_sum(a: Sequence[Float], b: Sequence[Float], c: Float) -> Float:
    """Return d = f16((c + (a[0]*b[0] + a[1]*b[1])) + (a[2]*b[2] + a[3]*b[3])), computed in f32.

    A pair is computed by one product and one fused multiply-add. Zeros keep their signs.
    """
    d = convert(c, "f32")
    for k in range(0, len(a), 2):
        pair = fma_chain(a[k : k + 2], b[k : k + 2], Float(0x80000000, "f32"), result="f32")
        d = add(d, pair, result="f32")
    return convert(d, "f16")


def integer_dot(a: Sequence[int], b: Sequence[int], c: int, *, satfinite: bool = False) -> int:
    """Return d = c + a[0]*b[0] + ... + a[K-1]*b[K-1], wrapped to s32, or clamped if `satfinite` is set."""
    total = c + sum(x * y for x, y in zip(a, b, strict=True))
    if satfinite:
        return max(-(1 << 31), min((1 << 31) - 1, total))
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)


def xor_popcount(a: Sequence[int], b: Sequence[int], c: int) -> int:
    """Return d = c + the sum of popcount(a[k] ^ b[k]) over all 32-bit words k."""
    return c + sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True))


def and_popcount(a: Sequence[int], b: Sequence[int], c: int) -> int:
    """Return d = c + the sum of popcount(a[k] & b[k]) over all 32-bit words k."""
    return c + sum((x & y).bit_count() for x, y in zip(a, b, strict=True))


# --- matrices


def multiply(
    a: Bits, b: Bits, c: Bits, model: Model,
    *,
    index: Bits | None = None,
    negate_a: bool = False, negate_b: bool = False, satfinite: bool = False, rounding: Rounding = "rn",
    scale_a: Bits | None = None, scale_b: Bits | None = None, divisor: int = 0,
) -> Bits:  # fmt: skip
    """Return D = A B + C, with each element computed by the function that `model.formula()` names.

    The operands are those of `fused.multiply`. `negate_a` and `negate_b` flip signs before all other operations.
    `divisor` applies to `t_fdpa`.

    Shapes: a (G, M, K), b (G, N, K), c and the result (G, M, N). For a sparse a, b is longer along K, and `index`
    (G, M, K) selects elements of b. Scales are (G, M, S) and (G, N, S).
    """
    define = globals()[model.sum.value]
    options: dict[str, Any] = dict(model.parameters)
    if model.sum is Sum.INTEGER:
        options["satfinite"] = satfinite
    if model.sum is Sum.FMA_CHAIN:
        options["rounding"] = rounding
    if divisor:
        options["divisor"] = divisor
    left, right = numbers(a, model.a_type, negate_a), numbers(b, model.b_type, negate_b)
    addend = numbers(c, model.c_type)
    scales: list[Any] = []
    if scale_a is not None and scale_b is not None:
        scales = [numbers(scale, str(model.scale_type)) for scale in (scale_a, scale_b)]
    d = np.zeros(c.shape, STORAGE[model.d_type])
    words = d.view(np.uint64) if model.d_type == "f64" else d
    for g, m, n in np.ndindex(*c.shape):
        chosen = right[g][n] if index is None else [right[g][n][k] for k in index[g, m]]
        factors = [scales[0][g][m], scales[1][g][n]] if scales else []
        value = define(left[g][m], chosen, addend[g][m][n], *factors, **options)
        words[g, m, n] = value.bits if isinstance(value, Float) else value
    return d


def numbers(array: Bits, type: str, negate: bool = False) -> Any:
    """Return the elements of an array as nested lists: integers for integer and bit types, else `Float`.

    `negate` flips the signs of the `Float` elements.
    """
    if array.ndim > 1:
        return [numbers(row, type, negate) for row in array]
    if type not in _FORMATS:
        return array.tolist()  # integers and words of bits
    fmt = _FORMATS[type]
    flip = (fmt.sign_bit << fmt.padding) * negate
    return [Float(word ^ flip, type) for word in array.view(f"u{array.itemsize}").tolist()]
