"""Results of `attention` in float64, and the allowed error of each element.

The allowed errors follow from the operations of the kernels. Let u = 2^-24 be the error of an f32 operation.

Scores
    The matrix unit adds the products of Q and K in steps, each with an error relative to the sum of the absolute
    products (`bounds.step_of`). The error of a score is therefore proportional to this sum, computed in float64.

Weights
    A weight is ex2(score c - m c), where c = scale log2(e) in f32 and m is the maximum of the row so far. Each later
    block of keys multiplies it by ex2(m c - m' c), where m' is the new maximum. With X as the largest |score c| of the
    row and B blocks of keys, three kinds of roundings change the exponent of a weight by at most (B + 5) u X in all:

    - of c: u X
    - of the products m c: B u X
    - of the arguments of ex2: 2 u X for the weight, and 2 u X for its later factors, because the arguments of these
      factors also add up to at most 2 X

    A common shift of all keys of a row has no effect. Each of the at most B exponentials has the error of ex2.approx,
    and each product with a factor has the error u. Weights below 2^-126 become zero.

Sums
    Before the multiplication by V, the weights are rounded to the type of V. The matrix unit adds the products in
    steps, as for the scores. The sum of the weights is in f32: each thread adds its part of a block in two chains, adds
    these, multiplies and adds the earlier sum, and four threads add their sums.

Quotient
    O is the sum of the products, times rcp.approx of the sum of the weights, rounded to the type of O. If N and D are
    the errors of both sums, relative to the exact sum of the weights, the error of O is (N + |O| D) / (1 - D).

Parts of the keys
    CTAs may compute parts of the keys. Each part has a quotient, and the logarithm of its sum. The weight of a part is
    ex2 of the difference of its logarithm and the largest one. A part contributes weight times quotient. An error of
    the sum of the part divides the quotient and multiplies the weight, so it cancels. The roundings of logarithms and
    differences, at most X + log2(keys) each, remain.

Elements of e4m3
    The error of a step of the matrix unit is relative to the largest magnitude among the products and partial sums
    (`bounds.sum_errors`). If the plan promotes sums, the unit adds the products of one block of keys, and f32 additions
    add the blocks. Weights are 2^8 times larger: the addition of 8 to the exponent and the larger argument add at most
    u (X + 16). Scale factors add 2 u X for c, and three roundings for O. The bound for the exponent is
    (B + 9) u (X + 8).

Logarithms
    The logarithm of the sum is (m c + lg2.approx(sum)) ln(2). Its error is that of the logarithm of 1 + D, of
    lg2.approx, and of at most four roundings.
"""

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from warploom.kernels.attention_api import plan_attention
from warploom.kernels.hopper.attention_dispatch import HopperDecode
from warploom_lab.attention.case import Case
from warploom_lab.attention.inputs import Inputs, Span, keys_of, spans
from warploom_lab.problems.bounds import (
    EX2,
    F32,
    LG2,
    RCP,
    SMALLEST_F32,
    as_float64,
    final,
    repeated,
    rounding,
    sizes,
    smallest_normal,
    step_of,
    sum_errors,
)
from warploom_lab.problems.results import Array, Floats

LOG2_E = float(np.log2(np.e))
LN_2 = float(np.log(2))
Bounded = tuple[Floats, Floats]
"""Values and their allowed errors."""


@dataclass(frozen=True, slots=True)
class KeyBlocks:
    """Blocks and parts into which a kernel splits the keys of a row of Q.

    A block has `keys` keys. Different CTAs compute the `parts` parts. `shift` is the base-2 logarithm of the largest
    weight. If `promotes`, the matrix unit adds the products of the weights and V of one block only.
    """

    keys: int
    parts: int
    shift: int = 0
    promotes: bool = False

    def per_part(self, count: int) -> int:
        """Return the number of blocks in a part of `count` keys, rounded up."""
        return ceil(ceil(count / self.keys) / self.parts)

    def groups(self, count: int) -> list[slice]:
        """Return the keys of each sum of products that the matrix unit computes alone."""
        return [slice(at, at + self.keys) for at in range(0, count, self.keys)] if self.promotes else [slice(0, count)]

    def steps(self, count: int, length: int) -> list[slice]:
        """Return the keys of each step with `length` products, from the last block of keys to the first."""
        starts = [block + at for block in reversed(range(0, count, self.keys)) for at in range(0, self.keys, length)]
        return [slice(start, start + length) for start in starts]


def key_blocks(case: Case, inputs: Inputs) -> KeyBlocks:
    """Return the blocks and parts into which the kernel for a case splits the keys."""
    made: Any = plan_attention(inputs.operands, options_of(case), case.target, case.multiprocessors)
    parts = made.splits if isinstance(made, HopperDecode) else 1
    return KeyBlocks(made.plan.keys, parts, made.plan.shift, getattr(made.plan, "promotes", False))


def options_of(case: Case) -> tuple[Any, ...]:
    """Return the options of `plan_attention`: those of the call, and the factors of Q, K and V."""
    numbers = tuple(1.0 if name in case.factor_arrays else each for name, each in zip("qkv", case.factors, strict=True))
    return case.causal, (case.left, case.right), case.scale, None, bool(case.lse), case.target, numbers


def expected(case: Case, inputs: Inputs, arch: str) -> dict[str, Bounded]:
    """Return the expected results in float64 by name, and their allowed errors on the architecture `arch`.

    Rows of no sequence keep their previous content, or are zero in a new array.

    Shapes: those of O and of the logarithms.
    """
    q = inputs.operands.q
    found = {"o": _unwritten(inputs, "o", (*q.shape[:-1], case.head_v))}
    if case.lse:
        found["lse"] = _unwritten(inputs, "lse", (*q.shape[:-3], case.heads, q.shape[-3]))
    blocks = key_blocks(case, inputs)
    for span in spans(case):
        for head in range(case.heads):
            row = Rows(case, inputs, span, head, arch)
            values = row.attend(blocks)
            for name, pair in values.items():
                if name not in found:
                    continue
                for whole, part in zip(found[name], pair, strict=True):
                    if name == "o":
                        span.of_q(whole, packed=case.packed)[:, head] = part
                    else:
                        span.of_lse(whole, packed=case.packed)[head] = part
    return found


def _unwritten(inputs: Inputs, name: str, shape: tuple[int, ...]) -> Bounded:
    """Return the content of the array for a result before the call, or zeros, without an allowed error."""
    given = inputs.results.get(name)
    content = np.zeros(shape) if given is None else as_float64(given.array)
    return content, np.zeros(shape)


class Rows:
    """Rows of one head of Q of a sequence, and the scores of all its keys, in float64.

    `distance` is the number of keys from the diagonal of a row to a key. `seen` is True if the row attends to the key.
    `score_errors` are bounds on the errors of the scores.
    """

    def __init__(self, case: Case, inputs: Inputs, span: Span, head: int, arch: str) -> None:
        self.case, self.arch = case, arch
        all_k, all_v = keys_of(case, inputs.operands, span)
        head_kv = head // (case.heads // case.heads_kv)
        self.q = as_float64(span.of_q(inputs.operands.q, packed=case.packed)[:, head])
        self.k, self.v = (as_float64(each[:, head_kv]) for each in (all_k, all_v))
        self.length, self.step = step_of(case.type, arch)
        factors = [
            number if array is None else float(array[span.index, head_kv])
            for number, array in zip(case.factors, inputs.operands[-3:], strict=True)
        ]
        self.scale = (case.head**-0.5 if case.scale is None else case.scale) * factors[0] * factors[1]
        self.factor = factors[2]
        diagonal = np.arange(len(self.q))[:, None] + len(self.k) - len(self.q)
        self.seen = seen(np.arange(len(self.k)) - diagonal, case.left, case.last)
        self.scores = self.q @ self.k.T * self.scale
        q_sizes, k_sizes = sizes(self.q, case.type), sizes(self.k, case.type).T
        if case.type == "e4m3":
            steps = [slice(at, at + self.length) for at in range(0, case.head, self.length)]
            errors = sum_errors(self.q, self.k.T, q_sizes, k_sizes, steps, self.step, 0.0)
        else:
            errors = repeated(self.step, ceil(case.head / self.length)) * (q_sizes @ k_sizes)
        self.score_errors = errors * self.scale + SMALLEST_F32

    def attend(self, blocks: KeyBlocks) -> dict[str, Bounded]:
        """Return O and the logarithms of the sums, with their allowed errors."""
        case, count = self.case, len(self.k)
        scores = np.where(self.seen, self.scores, -np.inf)
        top = scores.max(-1, keepdims=True, initial=-1e300)
        weights = np.exp(scores - top)
        totals = weights.sum(-1, keepdims=True)
        empty = totals == 0
        safe = np.where(empty, 1, totals)
        weights = weights / safe
        values = weights @ self.v
        with np.errstate(divide="ignore"):
            logarithms = np.where(empty, -np.inf, top + np.log(totals))[:, 0]

        number, bits = blocks.per_part(count), max(1.0, log2(max(count, 1)))
        largest = np.where(self.seen, abs(self.scores) + self.score_errors, 0).max(-1, keepdims=True, initial=0)
        largest = largest * LOG2_E * (1 + 2 * F32)
        roundings = number + (9 if blocks.shift else 5)
        exponents = LOG2_E * self.score_errors + roundings * F32 * (1 + number * F32) * (largest + blocks.shift)
        exponentials = number
        if blocks.parts > 1:
            # The logarithm of a part, its difference from the largest one, and the shift of the part's maximum.
            exponents = exponents + F32 * (1 + F32) * (4 * largest + 3 * bits) + LG2 * bits
            exponentials += 1
        relative = np.expm1(LN_2 * exponents)
        relative = relative + (1 + relative) * repeated(EX2, exponentials)
        relative = relative + (1 + relative) * repeated(F32, number + blocks.parts)

        rounded = relative + (1 + relative) * rounding(case.type)[0]
        numerator = self._value_errors(weights, rounded, safe, blocks)
        chains = repeated(F32, blocks.keys / 8 + 2 * number + 2)
        divisor = (weights * (relative + (1 + relative) * chains)).sum(-1, keepdims=True)
        divisor = divisor + count * (number + 1) * SMALLEST_F32
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.where(divisor < 1, (numerator + abs(values) * divisor) / (1 - divisor), np.inf)
            in_logarithm = np.where(divisor < 1, -np.log1p(-divisor), np.inf)[:, 0]
        quotients = 1 + (blocks.parts > 1)
        quotient = repeated(RCP, quotients) + repeated(F32, quotients + (3 if case.type == "e4m3" else 0))
        errors = errors + (abs(values) + errors) * quotient * (1 + quotient)
        values, errors = values * self.factor, errors * self.factor
        allowed = np.where(empty, 0, final(values, errors, case.result_type))

        finite = np.where(np.isinf(logarithms), 0, abs(logarithms))
        of_sum = (
            in_logarithm + LN_2 * ((LG2 + F32) * (bits + blocks.shift) + F32 * largest[:, 0]) + F32 * finite * (1 + F32)
        )
        lse_allowed = of_sum + 2 * F32 * (finite + of_sum)
        return {"o": (values, allowed), "lse": (logarithms, np.where(empty[:, 0], 0, lse_allowed))}

    def _value_errors(self, weights: Floats, rounded: Floats, totals: Floats, blocks: KeyBlocks) -> Floats:
        """Return bounds on the errors of the weighted sums of V, relative to the sums of the weights.

        `rounded` are the relative errors of the weights, without those of subnormal weights. `totals` are the sums of
        the weights, in which the largest weight is 1.
        """
        case, count, number = self.case, len(self.k), blocks.per_part(len(self.k))
        magnitudes, v_sizes = abs(self.v), sizes(self.v, case.type)
        # Weights that are subnormal in the type, or zero because of .ftz, have absolute errors.
        lost = (rounding(case.type)[1] * 2.0**-blocks.shift + (number + 1) * SMALLEST_F32) / totals
        smallest = smallest_normal(case.type) * 2.0**-blocks.shift / totals
        errors = (weights * rounded) @ magnitudes + lost * magnitudes.sum(0)
        if case.type != "e4m3":
            steps = number * ceil(blocks.keys / self.length)
            absolute = (weights * (1 + rounded)) @ v_sizes + smallest * v_sizes.sum(0) + lost * magnitudes.sum(0)
            return errors + repeated(self.step, steps) * absolute
        largest, found = weights * (1 + rounded) + smallest, np.zeros_like(errors)
        for keys in blocks.groups(count):
            parts, v = weights[:, keys], self.v[keys]
            first = (parts * rounded[:, keys]) @ abs(v) + lost * abs(v).sum(0)
            steps = blocks.steps(len(v), self.length)
            found += sum_errors(parts, v, largest[:, keys], v_sizes[keys], steps, self.step, first)
        return found * (1 + repeated(F32, number))


def seen(distance: Array, left: int | None, right: int | None) -> Array:
    """Return True for each distance of a key from the diagonal within a window."""
    inside = np.ones(distance.shape, bool)
    if right is not None:
        inside &= distance <= right
    if left is not None:
        inside &= distance >= -left
    return inside
