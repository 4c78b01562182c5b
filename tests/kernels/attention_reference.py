"""Attention in float64, with bounds on the errors of a kernel, and random problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from warploom.kernels.attention_api import plan_attention
from warploom.kernels.attention_launch import run_on_numpy
from warploom.kernels.attention_problem import AttentionOperands

DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "e4m3": ml_dtypes.float8_e4m3fn}
ROUNDOFF = {"bf16": 2.0**-8, "f16": 2.0**-11, "e4m3": 2.0**-4}
_SMALLEST_BLOCK = 32  # keys of the smallest block of a plan
_UNTOUCHED = 7
_MULTIPROCESSORS = 2  # so few that CTAs compute several tiles


@dataclass(frozen=True)
class Case:
    """An attention problem: sequences with `tokens` and `keys`, padded to the longest unless packed."""

    type: str = "bf16"
    head: int = 64
    head_v: int = 64
    heads: int = 1
    heads_kv: int = 1
    tokens: tuple[int, ...] = (40,)
    keys: tuple[int, ...] = (100,)
    packed: bool = False
    left: int | None = None
    right: int | None = None
    scale: float | None = None
    page: int = 0
    fused: bool = False  # Q, K and V are parts of one array

    @property
    def result(self) -> str:
        """Type of O."""
        return "bf16" if self.type == "e4m3" else self.type


def draw(seed: int) -> Case:
    """A random small problem."""
    rng = np.random.default_rng(seed)
    head = int(rng.choice([8, 40, 64, 64, 96, 128]))
    fused = bool(rng.random() < 0.4)
    heads_kv, sharing = ((1, 1), (1, 2), (2, 1), (1, 3))[int(rng.integers(4))]
    sequences = int(rng.integers(1, 4))
    packed = seed % 2 > 0
    tokens = rng.integers(0 if packed else 1, 50, sequences)
    tokens[0] = max(tokens[0], 1)
    if not packed:
        tokens[:] = tokens[0]
    keys = rng.integers(0, 140, sequences)
    keys[0] = max(keys[0], 1)
    if fused:
        keys = tokens
    limits = [int(each) if rng.random() < 0.5 else None for each in rng.integers(0, 40, 2)]
    return Case(
        type=str(rng.choice(["bf16", "f16"])),
        head=head,
        head_v=head if fused or rng.random() < 0.6 else int(rng.choice([16, 72, 128])),
        heads=heads_kv * sharing,
        heads_kv=heads_kv,
        tokens=tuple(map(int, tokens)),
        keys=tuple(map(int, keys)),
        packed=packed,
        left=limits[0],
        right=0 if rng.random() < 0.4 else limits[1],
        scale=None if rng.random() < 0.7 else 0.3,
        fused=fused,
    )


def operands_of(case: Case, seed: int = 0) -> AttentionOperands:
    """Random arrays of a case. Keys and values after the end of a padded sequence, and gaps of O, are not numbers."""
    rng, dtype = np.random.default_rng(seed), DTYPES[case.type]
    count = len(case.tokens)
    total_q, total_k = (sum if case.packed else max)(case.tokens), (sum if case.packed else max)(case.keys)
    batch = () if case.packed else (count,)

    def random(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(dtype)

    table = None
    if case.fused:
        heads, heads_kv = case.heads, case.heads_kv
        whole = random(*batch, total_q, heads + 2 * heads_kv, case.head)
        q, k, v = np.split(whole, [heads, heads + heads_kv], axis=-2)
    elif case.page:
        q = random(*batch, total_q, case.heads, case.head)
        pages = -(-total_k // case.page)
        table = rng.permutation(count * pages + 1)[: count * pages].astype(np.int32).reshape(count, pages)
        k, v = (random(count * pages + 1, case.page, case.heads_kv, size) for size in (case.head, case.head_v))
    else:
        q = random(*batch, total_q, case.heads, case.head)
        k, v = (random(*batch, total_k, case.heads_kv, size) for size in (case.head, case.head_v))
    lengths = None
    if not case.packed and (len(set(case.keys)) > 1 or case.page):
        lengths = np.array(case.keys, np.int32)
        for number, length in enumerate([] if case.page or case.fused else case.keys):
            k[number, length:] = v[number, length:] = np.nan
    wide = np.full((*batch, total_q, case.heads, case.head_v + 8), _UNTOUCHED, DTYPES[case.result])
    out, lse = wide[..., : case.head_v], np.full((*batch, case.heads, total_q), np.nan, np.float32)
    q_ends, k_ends = (np.cumsum(each).astype(np.int32) if case.packed else None for each in (case.tokens, case.keys))
    return AttentionOperands(q, k, v, out, lse, q_ends, k_ends, lengths, table)


def run(case: Case, operands: AttentionOperands, target: str, **options: Any) -> list[Any]:
    """Run the kernels of a case. Return the findings of the sanitizer."""
    settings = False, (case.left, case.right), case.scale, None, True, target, (1.0, 1.0, 1.0)
    made = plan_attention(operands, settings, target, _MULTIPROCESSORS)
    runs = run_on_numpy(made, operands, "cpu", **options)
    assert (operands.out.base[..., case.head_v :] == _UNTOUCHED).all()  # nothing is stored between the rows
    return [finding for each in runs for finding in each.findings or ()]


def sequences(case: Case, operands: AttentionOperands) -> list[tuple[Any, ...]]:
    """Q, K, V, O and the logarithms of each sequence."""
    found: list[tuple[Any, ...]] = []
    q, k, v, out, lse = operands[:5]
    for number, (tokens, keys) in enumerate(zip(case.tokens, case.keys, strict=True)):
        if case.packed:
            after_q, after_k = sum(case.tokens[: number + 1]), sum(case.keys[: number + 1])
            of_q, of_k = slice(after_q - tokens, after_q), slice(after_k - keys, after_k)
            found.append((q[of_q], k[of_k], v[of_k], out[of_q], lse[:, of_q]))
        elif case.page:
            pages = operands.table[number]
            both = (each[pages].reshape(-1, *each.shape[2:])[:keys] for each in (k, v))
            found.append((q[number], *both, out[number], lse[number]))
        else:
            found.append((q[number], k[number, :keys], v[number, :keys], out[number], lse[number]))
    return found


def exact(case: Case, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """O and the logarithms of one sequence in float64, and bounds on the errors of a kernel.

    The error of a score is bounded by the sums of the tensor cores, which keep at least 22 bits. Each block of keys
    rounds the shift of the exponents, and ex2 has a relative error of at most 2^-22. The weights and O are rounded to
    the types of V and O. A weight of e4m3 has a unit of at least 2^-9, and the largest weight is 2^8.

    A tensor core adds 32 products of e4m3 to a sum. It truncates these 33 terms and the result, each by less than 2^-13
    of the largest of them.
    """
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    k, v = (np.repeat(each, case.heads // case.heads_kv, 1) for each in (k, v))
    scale = case.head**-0.5 if case.scale is None else case.scale
    scores = np.einsum("qhd,khd->hqk", q, k) * scale
    sizes = np.einsum("qhd,khd->hqk", abs(q), abs(k)) * scale
    distance = np.arange(len(k)) - (np.arange(len(q))[:, None] + len(k) - len(q))
    inside = np.ones(distance.shape, bool)
    if case.right is not None:
        inside &= distance <= case.right
    if case.left is not None:
        inside &= distance >= -case.left
    scores = np.where(inside, scores, -np.inf)
    top = scores.max(-1, keepdims=True, initial=-1e300)
    weights = np.exp(scores - top)
    totals = weights.sum(-1, keepdims=True)
    weights = weights / np.where(totals == 0, 1, totals)
    with np.errstate(divide="ignore"):
        lse = np.where(totals == 0, -np.inf, top + np.log(totals))[..., 0]
    out = np.einsum("hqk,khd->qhd", weights, v)

    size = np.where(inside, sizes, 0).max(-1, initial=0)
    blocks = len(k) // _SMALLEST_BLOCK + 2
    error = size * (case.head * 2.0**-22 + blocks * 2.0**-22) + blocks * 2.0**-21 + len(k) * 2.0**-23
    least = 2.0**-24
    if case.type == "e4m3":
        error += np.where(inside, _byte_sum_errors(q, k) * scale, 0).max(-1, initial=0)
        least = 2.0**-18
    absolute = np.einsum("hqk,khd->qhd", weights, abs(v))
    unit = ROUNDOFF[case.type] + (_BYTE_STEP * (len(k) / 32 + blocks) if case.type == "e4m3" else 0)
    out_error = 1.01 * ((unit + 2 * error.T[..., None]) * absolute + ROUNDOFF[case.result] * abs(out))
    out_error += least * (1 + abs(v).sum(0))
    return out, lse, out_error, error + 2.0**-21 * (1 + abs(np.where(np.isinf(lse), 0, lse)))


_BYTE_STEP = 34 * 2.0**-13
"""Bound on the error of a sum of 32 products of e4m3, relative to the largest term."""


def _byte_sum_errors(q: Any, k: Any) -> Any:
    """Bounds on the errors of the sums of products of e4m3, with shape (heads, tokens, keys)."""
    products = np.einsum("qhd,khd->hqkd", q, k)
    padded = np.pad(products, [(0, 0)] * 3 + [(0, -products.shape[-1] % 32)])
    steps = padded.reshape(*padded.shape[:3], -1, 32)
    sums = abs(steps.sum(-1).cumsum(-1))
    largest = np.maximum(abs(steps).max(-1), np.maximum(sums, np.roll(sums, 1, -1)))
    return 1.05 * _BYTE_STEP * largest.sum(-1)  # the errors of earlier sums are below 5 %


def assert_near(case: Case, operands: AttentionOperands) -> None:
    """Compare the results of a run with float64."""
    for q, k, v, out, lse in sequences(case, operands):
        exact_out, exact_lse, out_error, lse_error = exact(case, q, k, v)
        assert (abs(out.astype(np.float64) - exact_out) <= out_error).all()
        np.testing.assert_array_equal(np.isinf(lse), np.isinf(exact_lse))
        finite = np.isfinite(exact_lse)
        assert (abs(lse[finite] - exact_lse[finite]) <= lse_error[finite]).all()
