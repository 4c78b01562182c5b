"""Whole GEMM kernels, beside Triton's interpreter on the equivalent `tl.dot` kernel in the same run.

    python bench/end_to_end.py [--sizes 512 1024] [--rounds 5] [--workers 2]

Each row runs a compiled kernel of `examples/` from its PTX text on: parsing, linking, the whole grid. The two
take turns after a warm-up, and the median of the rounds counts. Results are checked against float64.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from mma import processor
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import warploom as wl

Array = NDArray[Any]
PTX = Path(__file__).parents[1] / "examples" / "ptx"


@dataclass(frozen=True)
class Case:
    """A GEMM: its PTX file, the types of its operands and result, and whether B is stored as N x K."""

    name: str
    file: str
    operand: Any
    result: Any
    transposed: bool
    relative: float  # of the largest element

    def operands(self, size: int) -> tuple[Array, Array]:
        """A and B, normal or over all of s8."""
        rng = np.random.default_rng(1)
        whole = self.operand is np.int8
        a, b = rng.integers(-128, 128, (2, size, size)) if whole else rng.standard_normal((2, size, size))
        return a.astype(self.operand), b.astype(self.operand)


HALF, FP8, BF16 = np.float16, ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16
SPECIALISED = Case(
    "f16, TMA, warps specialised, sm_90a", "gluon_gemm_f16_ws_128x128_sm90", HALF, HALF, True, 2e-3
)
CASES = (
    SPECIALISED,
    Case("f16, warp-level, sm_80", "gemm_f16_nn_sm80", HALF, HALF, False, 2e-3),
    Case("e4m3, warp-level, sm_89", "gemm_e4m3_tn_sm89", FP8, BF16, True, 2e-2),
    Case("s8, warp-level, sm_80", "gemm_s8_tn_sm80", np.int8, np.int32, True, 0.0),
)


def warploom(case: Case, a: Array, b: Array, workers: int) -> Array:
    """The kernel on the abstract machine."""
    size = len(a)
    c = np.zeros((size, size), case.result)
    grid = (size // 128, size // 128)
    if case is SPECIALISED:
        descriptors: list[object] = []
        for array in (a, b, c):
            descriptors += [wl.TensorMap.tiled(array, (128, 64), swizzle=128), size, size, size, 1]
        arguments, block, shared = [*descriptors, size, None, None], 256, 131132
    else:
        arguments, block, shared = [a, b, c, *[size] * 6, None, None], 128, 32768
    wl.launch(
        PTX / f"{case.file}.ptx", grid=grid, block=block, shared=shared, args=arguments, workers=workers
    )
    return c


def check(case: Case, a: Array, b: Array, c: Array, who: str) -> None:
    """Compare with float64; raises AssertionError."""
    right = b.astype(np.float64)
    expected = a.astype(np.float64) @ (right.T if case.transposed else right)
    allowed = case.relative * np.abs(expected).max()
    found = c.astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed, err_msg=f"{case.name}, {who}")


def medians(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Median seconds of each call; they take turns, so that a busy moment falls on all."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, spent in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            spent.append(time.perf_counter() - start)
    return [statistics.median(spent) for spent in times]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time whole GEMM kernels, and compare with Triton's.")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[512, 1024], help="M, N and K, multiples of 128"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    compared = find_spec("triton") is not None and find_spec("torch") is not None
    other: Any = import_module("triton_gemm") if compared else None
    versions = f"; {other.VERSIONS}" if compared else ""
    cores = f"{len(os.sched_getaffinity(0))} cores of {processor()}"
    what = f"GEMM in M MAC/s, median of {options.rounds} rounds"
    table = Table(title=f"{what} ({cores}{versions})")
    for heading in ("kernel", "M = N = K", "Warploom", "seconds", "Triton's interpreter", "seconds", "ratio"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    for size, case in product(options.sizes, CASES):
        a, b = case.operands(size)
        calls: list[Callable[[], Array]] = [lambda case=case, a=a, b=b: warploom(case, a, b, options.workers)]
        if compared:
            calls.append(lambda case=case, a=a, b=b: other.gemm(a, b, case.result, case.transposed))
        for who, call in zip(("Warploom", "Triton"), calls, strict=False):
            check(case, a, b, call(), who)
        spent = medians(calls, options.rounds)
        cells = [cell for s in spent for cell in (f"{size**3 / s / 1e6:,.0f}", f"{s:.3f}")]
        table.add_row(case.name, str(size), *cells, f"{spent[1] / spent[0]:.1f}" if compared else "")
    Console(width=130).print(table)
    if not compared:
        print("For Triton's columns: uv run --with triton --with torch python bench/end_to_end.py")


if __name__ == "__main__":
    main()
