"""Inputs and NumPy results of the drivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_BF16, _FP8 = np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)
_BF16_ERROR, _FP8_ERROR = 2.0**-6, 2.0**-4  # attention rounds the weights to the type of V before the second product
_HEADS, _KEY_DIMENSION, _VALUE_DIMENSION = 64, 576, 512  # of multi-head latent attention


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments of a test program in `drivers/`, and the expected results.

    `arrays` are the arrays, and `numbers` the further arguments. `expected` has the results by the number of the array.

    `tolerance` is the allowed error of a result, relative to its largest element.
    """

    arrays: tuple[Array, ...]
    expected: Mapping[int, Array]
    numbers: tuple[int, ...] = ()
    tolerance: float = _BF16_ERROR

    def problem(self, results: Mapping[int, Array]) -> str:
        """Return a sentence about the first wrong result, or ""."""
        for number, expected in self.expected.items():
            error = np.abs(results[number].astype(np.float64) - expected)
            # A comparison with NaN is false.
            if not error.max() <= self.tolerance * np.abs(expected).max():
                return f"array {number} has an error of {error.max():.3g}"
        return ""


def _normal(*shape: int, dtype: np.dtype[Any] = _BF16, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def gemm_nt() -> Case:
    """Return a product of A and the transpose of B."""
    a, b = _normal(256, 512, seed=1), _normal(256, 512, seed=2)
    return Case((a, b, np.zeros((256, 256), _BF16)), {2: a.astype(np.float64) @ b.astype(np.float64).T})


def gemm_nn() -> Case:
    """Return a product of A and B."""
    a, b = _normal(256, 384, seed=1), _normal(384, 512, seed=2)
    return Case((a, b, np.zeros((256, 512), _BF16)), {2: a.astype(np.float64) @ b.astype(np.float64)})


def scaled_gemm() -> Case:
    """Return a product of fp8 matrices with scales for 1 x 128 elements of A and 128 x 128 of B."""
    m, n, k, span = 256, 256, 896, 128
    a, b = _normal(m, k, dtype=_FP8, seed=1), _normal(n, k, dtype=_FP8, seed=2)
    random = np.random.default_rng(3)
    scales_a = random.uniform(0.5, 2, (k // span, m)).astype(np.float32)
    scales_b = random.uniform(0.5, 2, (n // span, k // span)).astype(np.float32)
    left = a.astype(np.float64) * np.repeat(scales_a.T, span, 1)
    right = b.astype(np.float64) * np.repeat(np.repeat(scales_b, span, 0), span, 1)
    return Case((a, b, scales_a, scales_b, np.zeros((m, n), _BF16)), {4: left @ right.T})


def _softmax(q: Array, k: Array, v: Array, causal: bool = False) -> tuple[Array, Array]:
    """Return the result of attention and the logarithms of the sums."""
    logits = q.astype(np.float64) @ k.astype(np.float64).T / np.sqrt(q.shape[-1])
    if causal:
        logits = np.where(np.tril(np.ones(logits.shape, np.bool_)), logits, -np.inf)
    largest = logits.max(-1, keepdims=True)
    weights = np.exp(logits - largest)
    sums = weights.sum(-1, keepdims=True)
    return weights / sums @ v.astype(np.float64), (np.log(sums) + largest)[:, 0]


def kittens_attention(dimension: int, causal: bool) -> Case:
    """Return attention over 384 positions."""
    q, k, v = (_normal(384, dimension, seed=seed) for seed in range(3))
    result, _ = _softmax(q, k, v, causal)
    return Case((q, k, v, np.zeros_like(q), np.zeros(384, np.float32)), {3: result})


def flash_attention(element: str, dimension: int, causal: bool) -> Case:
    """Return attention with a result in bf16. The last array is the counter of the tile scheduler."""
    dtype = _FP8 if "e4m3" in element else _BF16
    queries, keys = (512, 512) if causal else (256, 704)
    q, k, v = (_normal(n, dimension, dtype=dtype, seed=seed) for seed, n in enumerate((queries, keys, keys)))
    result, sums = _softmax(q, k, v, causal)
    outputs = np.zeros((queries, dimension), _BF16), np.zeros(queries, np.float32), np.zeros(4, np.int32)
    tolerance = _FP8_ERROR if dtype == _FP8 else _BF16_ERROR
    return Case((q, k, v, *outputs), {3: result, 4: sums}, (queries, keys), tolerance)


def mla_decoding() -> Case:
    """Return multi-head latent attention of two requests over paged keys.

    The lengths make the scheduler split the first request.
    """
    page, lengths = 64, np.array([788, 20], np.int32)
    table = np.random.default_rng(3).permutation(26).reshape(2, 13).astype(np.int32)
    q, pages = _normal(2, _HEADS, _KEY_DIMENSION, seed=1), _normal(table.size, page, _KEY_DIMENSION, seed=2)
    results: list[tuple[Array, Array]] = []
    for number, length in enumerate(lengths):
        keys = pages[table[number]].reshape(-1, _KEY_DIMENSION)[:length]
        results.append(_softmax(q[number], keys, keys[:, :_VALUE_DIMENSION]))
    outputs = np.zeros((2, _HEADS, _VALUE_DIMENSION), _BF16), np.zeros((2, _HEADS), np.float32)
    schedule = np.zeros((2, 8), np.int32), np.zeros(3, np.int32)
    partial = np.zeros((4, _HEADS), np.float32), np.zeros((4, _HEADS, _VALUE_DIMENSION), np.float32)
    expected = {2: np.stack([each[0] for each in results]), 3: np.stack([each[1] for each in results])}
    return Case((q, pages, *outputs, table, lengths, *schedule, *partial), expected, (len(pages), table.shape[1]))


def mla_sparse() -> Case:
    """Return multi-head latent attention of one query to 200 of 300 keys. The index -1 means no key."""
    keys, chosen, used = 300, 256, 200
    q, kv = _normal(1, _HEADS, _KEY_DIMENSION, seed=1), _normal(keys, _KEY_DIMENSION, seed=2)
    indices = np.full((1, chosen), -1, np.int32)
    indices[0, :used] = np.random.default_rng(3).permutation(keys)[:used]
    picked = kv[indices[0, :used]]
    result, _ = _softmax(q[0], picked, picked[:, :_VALUE_DIMENSION])
    outputs = np.zeros((1, _HEADS, _VALUE_DIMENSION), _BF16), *(np.zeros((1, _HEADS), np.float32) for _ in range(2))
    return Case((q, kv, indices, *outputs), {3: result[None]}, (1, keys, chosen))
