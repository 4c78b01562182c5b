"""Expected results of the Triton kernels, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def softmax(x: Array) -> Array:
    grown = np.exp(x - x.max(-1, keepdims=True))
    return grown / grown.sum(-1, keepdims=True)


def layer_norm(x: Array, weight: Array, bias: Array, eps: float) -> Array:
    x = x.astype(np.float64)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight + bias


def attention(q: Array, k: Array, v: Array, scale: float) -> Array:
    q, k, v = (part.astype(np.float64) for part in (q, k, v))
    score = q @ k.swapaxes(-1, -2) * scale
    causal = np.tril(np.ones(score.shape[-2:], bool))
    return softmax(np.where(causal, score, -np.inf)) @ v


def philox(seed: int, count: int, rounds: int = 10) -> Array:
    """Return the first word of Philox 4x32 for the counters 0, 1, ... with a key, as a number in [0, 1)."""
    low = np.uint64(0xFFFFFFFF)
    words = [np.arange(count, dtype=np.uint64), *np.zeros((3, count), np.uint64)]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(rounds):
        first = words[0] * np.uint64(0xD2511F53)
        third = words[2] * np.uint64(0xCD9E8D57)
        words = [
            (third >> np.uint64(32)) ^ words[1] ^ key[0],
            third & low,
            (first >> np.uint64(32)) ^ words[3] ^ key[1],
            first & low,
        ]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    signed = words[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def decaying_sums(decay: Array, x: Array) -> Array:
    out = np.zeros_like(x)
    held = np.zeros(x.shape[:-1], x.dtype)
    for step in range(x.shape[-1]):
        held = held * decay[..., step] + x[..., step]
        out[..., step] = held
    return out
