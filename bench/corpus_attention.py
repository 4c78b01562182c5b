"""Attention kernels of the test corpus at any length, for the benchmarks of whole kernels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from corpus_gemms import CORPUS
from numpy.typing import NDArray

import warploom as wl

Array = NDArray[Any]
_CONSTANTS = ("BM", "D", "CAUSAL")


@dataclass(frozen=True)
class Attention:
    """Attention kernel of the corpus.

    A CTA computes `rows` rows of one head, whose vectors have `width` elements.
    """

    file: str
    rows: int
    width: int
    causal: bool
    threads: int
    shared: int

    def operands(self, size: int, heads: int = 4) -> tuple[Array, Array, Array]:
        """Return Q, K and V with `size` vectors for each head. Shapes: (heads, size, width)."""
        q, k, v = np.random.default_rng(1).standard_normal((3, heads, size, self.width)).astype(np.float16)
        return q, k, v

    def arguments(self, q: Array, k: Array, v: Array, out: Array) -> tuple[tuple[int, ...], list[object]]:
        """Return the grid and the arguments of the launch that writes the result to `out`."""
        heads, size, width = q.shape
        return (size // self.rows, heads), [q, k, v, out, width**-0.5, size, None, None]

    def run(self, q: Array, k: Array, v: Array, workers: int | str, sanitize: bool = False) -> Array:
        """Parse the PTX, run the kernel on the emulator and return the output."""
        out = np.zeros_like(q)
        grid, arguments = self.arguments(q, k, v, out)
        done = wl.launch(
            CORPUS / self.file, grid=grid, block=self.threads, shared=self.shared, args=arguments, workers=workers,
            sanitize=sanitize,
        )  # fmt: skip
        assert not done.findings, done.findings
        return out

    def check(self, q: Array, k: Array, v: Array, out: Array, who: str) -> None:
        """Compare the output with float64; `who` names the run in the message.

        Errors: AssertionError if an element is wrong.
        """
        scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) * self.width**-0.5
        if self.causal:
            scores[:, np.triu(np.ones(scores.shape[1:], np.bool_), 1)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        expected = weights / weights.sum(axis=-1, keepdims=True) @ v
        np.testing.assert_allclose(out.astype(np.float64), expected, rtol=0, atol=2e-2, err_msg=f"{self.file}, {who}")


def corpus_attention(word: str = "") -> list[Attention]:
    """Return the attention kernels of the corpus whose file names contain `word`."""
    index = json.loads((CORPUS / "index.json").read_text(encoding="utf-8"))
    index = [entry for entry in index if entry["file"].startswith("flash") and word in entry["file"]]
    return [
        Attention(entry["file"], *(entry["consts"][name] for name in _CONSTANTS), entry["block"], entry["shared"])
        for entry in index
    ]
