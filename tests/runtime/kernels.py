"""The kernels of the corpus with arguments for them: what goes in, what should come out, and how near."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from runtime import sums
from runtime.sums import Array, Float, Unit

import warploom as wl
from warploom.ptx import Module
from warploom.runtime.api import Run

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
INDEX: dict[str, dict[str, Any]] = {
    entry["file"]: entry for entry in json.loads((CORPUS / "index.json").read_text(encoding="utf-8"))
}
DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64, "i8": np.int8,
    "i32": np.int32, "fp8e4nv": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}

_modules: dict[str, Module] = {}


def module(file: str) -> Module:
    """A corpus file, parsed once."""
    if file not in _modules:
        _modules[file] = wl.parse((CORPUS / file).read_text(encoding="utf-8"), file)
    return _modules[file]


@dataclass
class Problem:
    """A launch, ready: `result` is the part of a buffer that the kernel fills, `outside` the whole buffer.

    `bound` is how far a result may be from `expected`, both float64. `exactly`, where there is one, gives the
    very values of the rows it is asked for.
    """

    grid: tuple[int, ...]
    args: list[object]
    outside: Array
    result: Array
    expected: Float
    bound: Float
    exactly: Callable[[slice], Array] | None = None
    kept: Array = field(init=False)

    def __post_init__(self) -> None:
        self.kept = self.outside.copy()

    def untouched(self) -> bool:
        """Whether the buffer around the result is as it was."""
        start = (self.result.ctypes.data - self.outside.ctypes.data) // self.outside.itemsize
        inside = np.zeros(self.outside.shape, np.bool_)
        at = np.lib.stride_tricks.as_strided(
            inside.reshape(-1)[start:], self.result.shape,
            [step // self.outside.itemsize for step in self.result.strides],
        )  # fmt: skip
        at[...] = True
        return self.outside[~inside].tobytes() == self.kept[~inside].tobytes()


def run(file: str, problem: Problem, schedule: str = "eager", workers: int = 1) -> Run:
    """Launch a corpus kernel on a problem."""
    entry = INDEX[file]
    return wl.launch(
        module(file),
        grid=problem.grid,
        block=entry["block"],
        shared=entry["shared"],
        args=problem.args,
        schedule=schedule,
        workers=workers,
    )


def make(file: str, seed: int) -> Problem:
    """A small problem for a corpus kernel."""
    entry = INDEX[file]
    random = np.random.default_rng([seed, len(file)])
    for words, build in _BUILDERS:
        if any(word in file for word in words):
            return build(entry, random)
    raise KeyError(file)


def micro(
    file: str,
    kernel: str,
    args: Sequence[object],
    *,
    grid: int = 1,
    block: int = 32,
    shared: int = 0,
    schedules: tuple[str, ...] = ("lazy", "random:1", "random:2"),
) -> list[Any]:
    """Launch a small kernel on copies of the arrays, the same under every schedule; returns the copies."""

    def once(schedule: str) -> list[Any]:
        copies: list[Any] = [np.array(arg, order="C") if isinstance(arg, np.ndarray) else arg for arg in args]
        wl.launch(module(file), kernel, grid=grid, block=block, shared=shared, args=copies, schedule=schedule)
        return copies

    first = once("eager")
    for schedule in schedules:
        for one, other in zip(first, once(schedule), strict=True):
            if isinstance(one, np.ndarray):
                assert one.tobytes() == other.tobytes(), f"{kernel} differs under {schedule}"
    return first


# Pieces -----------------------------------------------------------------------------------------------------


def numbers(random: np.random.Generator, shape: tuple[int, ...], dtype: Any, pad: int = 0) -> Array:
    """Numbers of a type in rows of a wider buffer, the rest of which is poison."""
    wide = (*shape[:-1], shape[-1] + pad)
    if np.dtype(dtype).kind == "i":
        values = random.integers(-128, 128, wide).astype(dtype)
        values[..., shape[-1] :] = 99
    else:
        values = random.standard_normal(wide).astype(dtype)
        values[..., shape[-1] :] = np.nan
    return values[..., : shape[-1]]


def room(shape: tuple[int, ...], dtype: Any, pad: int = 0) -> tuple[Array, Array]:
    """A buffer full of a sentinel, and the part of it that is to be written."""
    wide = np.full((*shape[:-1], shape[-1] + pad), 77, dtype)
    return wide, wide[..., : shape[-1]]


def _unit(entry: dict[str, Any], types: dict[str, str]) -> Unit:
    if types["a"] == "fp8e4nv":
        return sums.ADA_FP8
    if types["a"] == "fp32":
        return sums.AMPERE_TF32
    return sums.AMPERE_HALF if entry["target"] == "sm_80" else sums.HOPPER_HALF


def _product(
    a: Array, b: Array, unit: Unit, dtype: Any, scales: tuple[Float, Float] | None = None
) -> tuple[Float, Float, Callable[[slice], Array]]:
    """a @ b.T in float64, the bound of a fused sum stored as `dtype`, and the fused sum itself."""
    name = np.dtype(dtype).name
    left, right = (sums.tf32(x) if x.dtype == np.float32 else x.astype(np.float64) for x in (a, b))
    least = sums.LEAST_EXPONENT[a.dtype.name]
    sizes = (sums.magnitude(left, least), sums.magnitude(right, least))
    if scales is not None:
        left, right = left * scales[0], right * scales[1]
        sizes = (sizes[0] * scales[0], sizes[1] * scales[1])
    zero = np.zeros((len(a), len(b)))
    expected = left @ right.T
    error = sums.chain_bound(left, right, zero, unit, sizes)
    if name != "float32":
        error = sums.rounding_bound(expected, error, MANTISSA[name], sums.LEAST_EXPONENT[name])

    def exactly(rows: slice) -> Array:
        part = (sizes[0][rows], sizes[1])
        return sums.chain(left[rows], right, zero[rows], unit, part).astype(np.float32).astype(dtype)

    return expected, error, exactly


def multiply_added(a: Float, b: Float, c: Float | None = None) -> Array:
    """Float64 multiply-adds from c in ascending k, each rounded once. `a` and `b` are (M, K) and (N, K)."""
    out = np.zeros((len(a), len(b))) if c is None else c.copy()
    for m, row in enumerate(a):
        for n, column in enumerate(b):
            total = float(out[m, n])
            for x, y in zip(row.tolist(), column.tolist(), strict=True):
                total = float(Fraction(x) * Fraction(y) + Fraction(total))
            out[m, n] = total
    return out


# Builders ---------------------------------------------------------------------------------------------------


def _pointers(entry: dict[str, Any], random: np.random.Generator) -> Problem:
    """GEMM through pointers; the rows of every matrix are longer than they need be."""
    consts, types = entry["consts"], {name: word.lstrip("*") for name, word in entry["args"]}
    BM, BN, BK = consts["BM"], consts["BN"], consts["BK"]
    tiles = (2, 1) if BM > 64 else (2, 3)
    M, N, K = tiles[0] * BM, tiles[1] * BN, 3 * BK if BM > 64 else 5 * BK
    across = "_nn_" in entry["file"]
    a = numbers(random, (M, K), DTYPES[types["a"]], 16)
    b = numbers(random, (K, N) if across else (N, K), DTYPES[types["b"]], 32)
    outside, c = room((M, N), DTYPES[types["c"]], 16)
    strides = [x.strides[0] // x.itemsize for x in (a, b, c)]
    args: list[object] = [a.base, b.base, outside, M, N, K, *strides, None, None]
    right = b.T if across else b
    if c.dtype == np.int32:
        expected = a.astype(np.float64) @ right.astype(np.float64).T
        return Problem(tiles, args, outside, c, expected, np.zeros_like(expected))
    if c.dtype == np.float64:
        bound = sums.fma_chain_bound(a, right)
        # Fractions are slow: the rows asked for, and every fifth column, stand for the rest.
        return Problem(tiles, args, outside, c, a @ right.T, bound, lambda rows: multiply_added(a[rows], right))
    expected, bound, exactly = _product(a, right, _unit(entry, types), c.dtype)
    return Problem(tiles, args, outside, c, expected, bound, exactly)


def _described(tensor: wl.TensorMap, array: Array) -> list[object]:
    """The five parameters of a tensor descriptor."""
    return [tensor, array.shape[0], array.shape[1], array.strides[0] // array.itemsize, 1]


def tensors(
    entry: dict[str, Any], random: np.random.Generator, tiles: tuple[int, int] = (2, 1), steps: int = 3
) -> Problem:
    """GEMM through tensor maps."""
    BM, BN, BK = (int(entry["consts"][name]) for name in ("BM", "BN", "BK"))
    M, N, K = tiles[0] * BM, tiles[1] * BN, steps * BK
    on_device = "devdesc" in entry["file"]
    pad = 0 if on_device else 8
    a, b = numbers(random, (M, K), np.float16, pad), numbers(random, (N, K), np.float16, pad)
    outside, c = room((M, N), np.float16, pad)
    args: list[object]
    if on_device:
        scratch = np.zeros(128 * 3 * tiles[0] * tiles[1], np.uint8)
        args = [a, b, c, M, N, K, scratch, None]
    else:
        args = []
        for array, rows in ((a, BM), (b, BN), (c, BM)):
            args += _described(wl.TensorMap.tiled(array, (rows, 64), swizzle=128), array)
        args += [K, None, None] if "gluon" in entry["file"] else [M, N, K, None, None]
    expected, bound, exactly = _product(a, b, sums.HOPPER_HALF, np.float16)
    grid = (tiles[0] * tiles[1],) if "persistent" in entry["file"] else tiles
    return Problem(grid, args, outside, c, expected, bound, exactly)


def _attention(entry: dict[str, Any], random: np.random.Generator) -> Problem:
    D, BM, causal = (entry["consts"][name] for name in ("D", "BM", "CAUSAL"))
    heads, N = (1, 2 * BM) if causal else (2, 3 * BM)
    q, k, v = (numbers(random, (heads, N, D), np.float16) for _ in range(3))
    outside, o = room((heads, N, D), np.float16)
    scale = float(np.float32(D**-0.5))
    mask = np.tril(np.ones((N, N), np.bool_)) if causal else np.ones((N, N), np.bool_)
    unit = sums.AMPERE_HALF if entry["target"] == "sm_80" else sums.HOPPER_HALF
    expected, bound = np.zeros(o.shape), np.zeros(o.shape)
    for head in range(heads):
        left, right, values = (x[head].astype(np.float64) for x in (q, k, v))
        scores = np.where(mask, scale * (left @ right.T), -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        expected[head] = weights @ values / weights.sum(-1, keepdims=True)
        error = sums.attention_bound(left, right, values, scale, unit, entry["consts"]["BN"], mask)
        bound[head] = sums.rounding_bound(expected[head], error, 10, -14)
    return Problem((N // BM, heads), [q, k, v, o, scale, N, None, None], outside, o, expected, bound)


def _softmax(entry: dict[str, Any], random: np.random.Generator) -> Problem:
    rows, n = 6, 1000
    x = numbers(random, (rows, n), ml_dtypes.bfloat16, 8)
    outside, y = room((rows, n), ml_dtypes.bfloat16, 8)
    wide = x.astype(np.float64)
    weights = np.exp(wide - wide.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True)
    bound = sums.rounding_bound(expected, sums.softmax_bound(wide), 7, -126)
    return Problem((rows,), [x.base, outside, n, n + 8, None, None], outside, y, expected, bound)


def _addition(entry: dict[str, Any], random: np.random.Generator) -> Problem:
    n = 3 * 1024 - 5
    x, y = (numbers(random, (n,), np.float32) for _ in range(2))
    outside, z = room((n,), np.float32, 5)
    expected = (x + y).astype(np.float64)
    return Problem((3,), [x, y, outside, n, None, None], outside, z, expected, np.zeros(n))


def _scaled(entry: dict[str, Any], random: np.random.Generator) -> Problem:
    K = 3 * entry["consts"]["BK"]
    a, b = (numbers(random, (128, K), ml_dtypes.float8_e4m3fn) for _ in range(2))
    scale_a, scale_b = (random.integers(120, 134, (128, K // 32)).astype(np.uint8) for _ in range(2))
    outside, c = room((128, 128), np.float32)
    wide = [np.repeat(2.0 ** (s.astype(np.float64) - 127), 32, 1) for s in (scale_a, scale_b)]
    expected, bound, exactly = _product(a, b, sums.RTX_BLACKWELL_FP8, np.float32, (wide[0], wide[1]))
    return Problem((1,), [a, scale_a, b, scale_b, c, K, None, None], outside, c, expected, bound, exactly)


def _small(entry: dict[str, Any], random: np.random.Generator) -> Problem:
    types = {name: word.lstrip("*") for name, word in entry["args"]}
    M, N, K = (int(entry["consts"][name]) for name in "MNK")
    a, b = numbers(random, (M, K), DTYPES[types["a"]]), numbers(random, (K, N), DTYPES[types["b"]])
    outside, d = room((M, N), np.float32)
    expected, bound, exactly = _product(a, b.T, sums.HOPPER_HALF, np.float32)
    return Problem((1,), [a, b, d, None, None], outside, d, expected, bound, exactly)


_BUILDERS: tuple[tuple[tuple[str, ...], Callable[[dict[str, Any], np.random.Generator], Problem]], ...] = (
    (("_tma_", "_ws_"), tensors),
    (("gemm",), _pointers),
    (("flash",), _attention),
    (("softmax",), _softmax),
    (("vadd",), _addition),
    (("mxfp8",), _scaled),
    (("gluon_wgmma",), _small),
)
