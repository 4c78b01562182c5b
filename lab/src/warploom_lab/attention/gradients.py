"""Results of `attention_backward` in float64, and the allowed error of each element.

O and the logarithms are inputs. They are computed in float64 and rounded to their types. The kernels compute, with
u = 2^-24 as the error of an f32 operation:

Weights P
    P = ex2(score c - l), where c = scale log2(e) and l is the logarithm times log2(e), both in f32. The error of the
    exponent is that of the score (see `expected`), u |score c|, 2 u |l|, and u times the argument. P is rounded to the
    type of the arrays.

Slopes
    The slope is dP - D, where dP = dO V^T is a sum of the matrix unit, and D = dO O is a sum in f32: 8 products in a
    chain, and at most 4 additions across threads.

Changes
    dS = P (dP - D) is rounded to the type of the arrays. Its error has a part for the error of P, which is proportional
    to the slope, and a part for the error of the slope, which is proportional to P.

Sums
    dV = P^T dO, dK = scale dS^T Q and dQ = scale dS K are sums of the matrix unit, for which the errors are
    proportional to the sums of absolute products. dK and dV of a head of K include all heads of Q that share it. Each
    block of keys adds its part to dQ in f32, in any order.
"""

from math import ceil

import numpy as np

from warploom.kernels.hopper.backward_plan import BackwardPlan, plan_for
from warploom.kernels.plan import DTYPES
from warploom_lab.attention.case import Case
from warploom_lab.attention.expected import LN_2, LOG2_E, Bounded, KeyBlocks, Rows
from warploom_lab.attention.inputs import Inputs, Span, spans
from warploom_lab.problems.bounds import (
    EX2,
    F32,
    SMALLEST_F32,
    as_float64,
    final,
    repeated,
    rounding,
    sizes,
    smallest_normal,
    step_of,
)
from warploom_lab.problems.results import Array, Floats

_GRID = 2.0**40  # values are rounded to multiples of 1 / _GRID first, so that the inputs are equal on every computer
_CHAIN = 12  # operations of a sum of dO O in f32


def forward(case: Case, inputs: Inputs) -> tuple[Array, Array]:
    """Return O and the logarithms of a case, rounded to their types from float64."""
    assert inputs.do is not None
    o, lse = np.zeros(inputs.do.shape, DTYPES[case.type]), np.zeros(_lse_shape(case), np.float32)
    for span in spans(case):
        for head in range(case.heads):
            found = Rows(case, inputs, span, head, case.target).attend(KeyBlocks(1, 1))
            span.of_q(o, packed=case.packed)[:, head] = np.rint(found["o"][0] * _GRID) / _GRID
            span.of_lse(lse, packed=case.packed)[head] = np.rint(found["lse"][0] * _GRID) / _GRID
    return o, lse


def _lse_shape(case: Case) -> tuple[int, ...]:
    return (*(() if case.packed else (len(case.tokens),)), case.heads, case.q_tokens)


def expected_gradients(case: Case, inputs: Inputs, o: Array, lse: Array, arch: str) -> dict[str, Bounded]:
    """Return dQ, dK and dV in float64 by name, and their allowed errors.

    `o` and `lse` are those of `forward`.
    """
    operands = inputs.operands
    found: dict[str, Bounded] = {}
    for name, like in (("dq", operands.q), ("dk", operands.k), ("dv", operands.v)):
        given = inputs.results.get(name)
        content = np.zeros(like.shape) if given is None else as_float64(given.array)
        if not case.packed and name != "dq":
            content = np.zeros(like.shape)  # keys after the end have no gradient
        found[name] = content, np.zeros(like.shape)
    group = case.heads // case.heads_kv
    plan = plan_for(case.type, case.head)
    for span in spans(case):
        for head_kv in range(case.heads_kv):
            rows = [
                _Gradients(case, inputs, span, head, o, lse, arch, plan)
                for head in range(head_kv * group, (head_kv + 1) * group)
            ]
            for each in rows:
                _store(found["dq"], each.of_queries(), span, each.head, case, of_q=True)
            _store(
                found["dk"],
                _of_keys([each.for_keys() for each in rows], rows[0], rows[0].row.scale),
                span,
                head_kv,
                case,
            )
            _store(found["dv"], _of_keys([each.for_values() for each in rows], rows[0], 1.0), span, head_kv, case)
    return found


def _store(whole: Bounded, parts: Bounded, span: Span, head: int, case: Case, *, of_q: bool = False) -> None:
    """Write the values and allowed errors of a head of a sequence."""
    for array, part in zip(whole, parts, strict=True):
        view = span.of_q(array, packed=case.packed) if of_q else span.of_k(array, packed=case.packed)
        view[:, head] = part


_Terms = tuple[Floats, Floats, Floats]
"""Sum over the rows of a head, its error, and the sum of absolute products."""


class _Gradients:
    """Gradients of the rows of one head of Q of a sequence, with bounds on their errors."""

    def __init__(
        self, case: Case, inputs: Inputs, span: Span, head: int, o: Array, lse: Array, arch: str, plan: BackwardPlan
    ) -> None:
        assert inputs.do is not None
        row = Rows(case, inputs, span, head, arch)
        self.case, self.head, self.row, self.plan = case, head, row, plan
        self.length, self.step = step_of(case.type, arch)
        self.do, o = (as_float64(span.of_q(each, packed=case.packed)[:, head]) for each in (inputs.do, o))
        logarithm = as_float64(span.of_lse(lse, packed=case.packed)[head])[:, None]
        empty = np.isinf(logarithm)
        logarithm = np.where(empty, 0, logarithm)
        attends = row.seen & ~empty
        with np.errstate(over="ignore"):
            self.weights = np.where(attends, np.exp(np.where(attends, row.scores - logarithm, 0)), 0)
        exponents = LOG2_E * (
            row.score_errors * (1 + F32)
            + F32 * (abs(row.scores) + row.score_errors) + 2 * F32 * (1 + F32) * abs(logarithm)
            + F32 * (1 + F32) * (abs(row.scores - logarithm) + row.score_errors)
        )  # fmt: skip
        relative = np.expm1(LN_2 * exponents)
        relative = relative + (1 + relative) * EX2
        self.unit, self.least = rounding(case.type)
        relative = relative + (1 + relative) * self.unit
        self.weight_errors = np.where(attends, self.weights * relative + self.least + SMALLEST_F32, 0)

        slopes = self.do @ row.v.T - (self.do * o).sum(-1, keepdims=True)
        of_products = repeated(self.step, ceil(case.head / self.length)) * (
            sizes(self.do, case.type) @ sizes(row.v, case.type).T
        )
        errors = of_products + repeated(F32, _CHAIN) * abs(self.do * o).sum(-1, keepdims=True)
        errors = errors + F32 * (abs(slopes) + errors)
        self.changes = self.weights * slopes
        changed = self.weight_errors * (abs(slopes) + errors) + self.weights * errors
        changed = changed + (F32 + self.unit * (1 + F32)) * (abs(self.changes) + changed)
        self.change_errors = np.where(attends, changed + self.least + SMALLEST_F32, 0)

    def _sizes(self, values: Floats, errors: Floats) -> Floats:
        """Return the largest absolute values of rounded operands, as `sizes` returns them."""
        return np.where(errors == 0, 0, abs(values) + errors + smallest_normal(self.case.type))

    def for_values(self) -> _Terms:
        """Return the terms of dV."""
        sums = self.weights.T @ self.do, self.weight_errors.T @ abs(self.do)
        return *sums, self._sizes(self.weights, self.weight_errors).T @ sizes(self.do, self.case.type)

    def for_keys(self) -> _Terms:
        """Return the terms of dK, without the factor `scale`."""
        q = self.row.q
        sums = self.changes.T @ q, self.change_errors.T @ abs(q)
        return *sums, self._sizes(self.changes, self.change_errors).T @ sizes(q, self.case.type)

    def of_queries(self) -> Bounded:
        """Return dQ and its allowed errors."""
        case, k, plan = self.case, self.row.k, self.plan
        blocks = ceil(len(k) / plan.keys)
        value, error = self.changes @ k, self.change_errors @ abs(k)
        absolute = self._sizes(self.changes, self.change_errors) @ sizes(k, case.type)
        in_block = repeated(self.step, plan.keys / self.length)
        error = error + (in_block + (1 + in_block) * repeated(F32, blocks)) * absolute + blocks * SMALLEST_F32
        return _scaled(value, error, self.row.scale, case.type)


def _of_keys(terms: list[_Terms], one: _Gradients, scale: float) -> Bounded:
    """Return dK or dV of a head of K, and the allowed errors.

    `terms` are those of all heads of Q that share the head. `scale` is a factor of the sum.
    """
    value, error, absolute = (np.sum(each, axis=0) for each in zip(*terms, strict=True))
    blocks = ceil(len(one.row.q) / one.plan.rows) * len(terms)
    error = error + repeated(one.step, blocks * one.plan.rows / one.length) * absolute
    return _scaled(value, error, scale, one.case.type)


def _scaled(value: Floats, error: Floats, scale: float, word: str) -> Bounded:
    """Return a value times `scale`, and its allowed error after the product in f32 and rounding to a type."""
    value, error = value * scale, error * scale
    error = error + repeated(F32, 2) * (abs(value) + error) + SMALLEST_F32
    return value, final(value, error, word)
