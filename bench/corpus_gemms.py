"""GEMM kernels of the test corpus at any size, for the benchmarks of whole kernels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import warploom as wl

Array = NDArray[Any]
CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
TYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64, "i8": np.int8,
    "i32": np.int32, "fp8e4nv": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
_RELATIVE = {"fp16": 2e-3, "bf16": 2e-2, "fp32": 2e-3, "fp64": 1e-12, "i32": 0.0}  # of the largest element


@dataclass(frozen=True)
class Gemm:
    """GEMM kernel of the corpus.

    `blocks` are the extents of a CTA's tile along M, N and K. If `transposed`, B is stored as N x K.
    """

    file: str
    types: tuple[str, str, str]
    blocks: tuple[int, int, int]
    transposed: bool
    threads: int
    shared: int

    @property
    def by_tensors(self) -> bool:
        """True if the kernel copies through tensor maps."""
        return "_tma_" in self.file or "_ws_" in self.file

    def operands(self, rows: int, columns: int | None = None, depth: int | None = None) -> tuple[Array, Array]:
        """Return A and B with normally distributed values, or with values over the range of s8.

        M is `rows`, N is `columns` and K is `depth`. By default, N and K are equal to M.
        """
        columns, depth = rows if columns is None else columns, rows if depth is None else depth
        rng = np.random.default_rng(1)
        shapes = (rows, depth), ((columns, depth) if self.transposed else (depth, columns))
        whole = self.types[0] == "i8"
        a, b = (rng.integers(-128, 128, shape) if whole else rng.standard_normal(shape) for shape in shapes)
        return a.astype(TYPES[self.types[0]]), b.astype(TYPES[self.types[1]])

    def arguments(self, a: Array, b: Array, c: Array) -> tuple[tuple[int, ...], list[object]]:
        """Return the grid and the arguments of the launch that writes the product of A and B to C."""
        rows, columns, depth = self.blocks
        (M, N), K = c.shape, a.shape[1]
        grid: tuple[int, ...] = (M // rows, N // columns)
        if "persistent" in self.file:
            grid = (grid[0] * grid[1],)
        if "_devdesc_" in self.file:
            return grid, [a, b, c, M, N, K, np.zeros(384 * grid[0] * grid[1], np.uint8), None]
        if not self.by_tensors:
            return grid, [a, b, c, M, N, K, a.shape[1], b.shape[1], N, None, None]
        width = columns if "_hostdesc_" in self.file else depth
        maps = [
            part
            for array, box in ((a, (rows, depth)), (b, (columns, depth)), (c, (rows, min(width, 64))))
            for part in (wl.TensorMap.tiled(array, box, swizzle=128), *array.shape, array.shape[1], 1)
        ]
        return grid, [*maps, *([K] if "gluon" in self.file else [M, N, K]), None, None]

    def run(self, a: Array, b: Array, workers: int | str, sanitize: bool = False) -> Array:
        """Parse the PTX, run the kernel on the emulator and return C."""
        c = np.zeros((len(a), b.shape[0 if self.transposed else 1]), TYPES[self.types[2]])
        grid, arguments = self.arguments(a, b, c)
        done = wl.launch(
            CORPUS / self.file, grid=grid, block=self.threads, shared=self.shared, args=arguments, workers=workers,
            sanitize=sanitize,
        )  # fmt: skip
        assert not done.findings, done.findings
        return c

    def check(self, a: Array, b: Array, c: Array, who: str) -> None:
        """Compare C with float64; `who` names the run in the message.

        Errors: AssertionError if an element is wrong.
        """
        right = b.astype(np.float64)
        expected = a.astype(np.float64) @ (right.T if self.transposed else right)
        allowed = _RELATIVE[self.types[2]] * np.abs(expected).max()
        found = c.astype(np.float64)
        np.testing.assert_allclose(found, expected, rtol=0, atol=allowed, err_msg=f"{self.file}, {who}")


def corpus_gemms(word: str = "") -> list[Gemm]:
    """Return the GEMMs of the corpus whose file names contain `word`."""
    index = json.loads((CORPUS / "index.json").read_text(encoding="utf-8"))
    return [_gemm(entry) for entry in index if "gemm" in entry["file"] and word in entry["file"]]


def _gemm(entry: dict[str, Any]) -> Gemm:
    words = [word.lstrip("*").removeprefix("tensordesc<").partition("[")[0] for _, word in entry["args"][:3]]
    rows, columns, depth = (int(entry["consts"][name]) for name in ("BM", "BN", "BK"))
    return Gemm(
        entry["file"],
        (words[0], words[1], words[2]),
        (rows, columns, depth),
        "_nn_" not in entry["file"],
        entry["block"],
        entry["shared"],
    )
