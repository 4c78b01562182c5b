"""Factors of blocks in the Hopper GEMM: bit for bit what f32 gives, legal, silent; what cannot be is refused."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import warploom as wl
from warploom.kernels import Plan, Tile, gemm
from warploom.kernels.hopper.cost_model import choose, schedules
from warploom.kernels.hopper.dispatch import HopperDispatch
from warploom.kernels.hopper.gemm import gemm as kernel
from warploom.kernels.hopper.plan import BlockScales
from warploom.kernels.plan import DTYPES, Epilogue
from warploom.kernels.problem import Operands, Problem, problem_of

E4M3, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16
OPERANDS: dict[str, Any] = {"e4m3": E4M3, "e5m2": ml_dtypes.float8_e5m2, "bf16": BF16, "tf32": np.float32}


def operands(a: str, b: str, m: int, n: int, k: int, *planes: int) -> tuple[Any, Any]:
    """A (M, K) and B (K, N) of small whole numbers, whose sums of a block are exact, along K."""

    def matrix(seed: int, rows: int, dtype: Any) -> Any:
        wide = (*planes, rows, ceil(k / 16) * 16)
        return np.random.default_rng(seed).integers(-2, 3, wide).astype(dtype)[..., :k]

    return matrix(1, m, OPERANDS[a]), matrix(2, n, OPERANDS[b]).swapaxes(-1, -2)


def factors(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 2, shape).astype(np.float32)


def modelled(a: Any, b: Any, rows: Any, columns: Any) -> Any:
    """The sums in f32: each block's, exact here, times its factor by one fused multiplication and addition."""
    total = np.zeros((*a.shape[:-1], b.shape[-1]), np.float32)
    for block in range(ceil(a.shape[-1] / 128)):
        here = slice(128 * block, 128 * block + 128)
        part = a[..., here].astype(np.float64) @ b[..., here, :].astype(np.float64)
        factor = np.ones((1, 1), np.float32)
        if rows is not None:
            factor = factor * rows[..., block, None]
        if columns is not None:
            of_columns = columns[..., block]
            if of_columns.shape[-1] != b.shape[-1]:
                of_columns = np.repeat(of_columns, 128, -1)[..., : b.shape[-1]]
            factor = factor * of_columns[..., None, :]
        # Exact in f64, which has more than twice the bits, but for the last rounding.
        total = (part * factor.astype(np.float64) + total).astype(np.float32)
    return total


@pytest.mark.parametrize(
    ("plan", "sizes", "batch", "cut", "schedule"),
    [
        (
            Plan("e4m3", "e5m2", promotion_stages=1, block_scales=BlockScales(True, 128), tile=Tile(128, 160, 2)),
            (130, 330, 260), 0, False, "lazy",
        ),
        (
            Plan("e4m3", "e4m3", promotion_stages=1, block_scales=BlockScales(True, 128), tile=Tile(64, 176, 2)),
            (70, 530, 140), 0, False, "random:1",
        ),
        (
            Plan(
                "e4m3", "e4m3", promotion_stages=1, block_scales=BlockScales(True, 1), tile=Tile(128, 80, 2, cluster=2)
            ),
            (130, 90, 300), 0, False, "random:2",
        ),
        (
            Plan("e4m3", "e4m3", promotion_stages=1, block_scales=BlockScales(False, 1), tile=Tile(192, 64, 2)),
            (100, 70, 140), 2, False, "lazy",
        ),
        (
            Plan(
                "bf16", "bf16", d="f32", promotion_stages=2, block_scales=BlockScales(True, 128), tile=Tile(64, 64, 2)
            ),
            (70, 100, 264), 0, True, "random:3",
        ),
        (
            Plan(
                "tf32", "tf32", d="f32", promotion_stages=4, block_scales=BlockScales(True),
                tile=Tile(64, 64, 2, pingpong=True),
            ),
            (70, 70, 300), 0, False, "lazy",
        ),
    ],
)  # fmt: skip
def test_kernels_are_legal_silent_and_exact(
    plan: Plan, sizes: tuple[int, int, int], batch: int, cut: bool, schedule: str
) -> None:
    """Ragged in all sizes; tiles that begin anywhere among 128 columns; pieces of K that begin inside a block."""
    m, n, k = sizes
    planes = (batch,) * bool(batch)
    first, second = operands(plan.a, plan.b, m, n, k, *planes)
    along, width = ceil(k / 128), plan.block_scales.columns
    rows = factors(3, *planes, m, along) if plan.block_scales.rows else None
    columns = factors(4, *planes, ceil(n / width), along) if width else None
    asked = problem_of(first, second)
    plan = replace(plan, batched=bool(batch), unaligned=asked.is_unaligned(plan.d), cut=cut)
    even = next(iter(schedules(asked, plan)))
    share = replace(even, ctas=3 * plan.tile.cluster, split=even.tiles if cut else 0)
    built = kernel.at(plan=plan)
    d = np.zeros((*planes, m, ceil(n / 16) * 16), DTYPES[plan.d])
    arrays = Operands(first, second, row_scales=rows, column_scales=columns)
    run = wl.launch(
        built.module,
        grid=share.ctas,
        block=plan.tile.threads,
        shared=built.shared,
        args=HopperDispatch(asked, plan, share).arguments(arrays, d[..., :n], d, 1.0, 1.0),
        schedule=schedule,
        sanitize=True,
    )
    assert wl.check(built.text).ok
    assert not run.findings
    wanted = modelled(first, second, rows, columns).astype(d.dtype)
    if cut:  # the sums of pieces are added in another order
        np.testing.assert_allclose(d[..., :n], wanted, rtol=1e-5, atol=1e-4)
    else:
        np.testing.assert_array_equal(d[..., :n], wanted)


def test_any_strides_and_a_batch_before_or_none_are_right(device: Any) -> None:
    """Factors with K, or M and N, side by side, with gaps, and the same for all of a batch."""
    first, second = operands("e4m3", "e4m3", 70, 144, 272, 2)
    rows = factors(3, 3, 70).T
    columns = factors(4, 2, 2, 5)[..., :3]
    d = gemm(first, second, row_scales=rows, column_scales=columns, result="f32", tile=Tile(64, 96, 2), device=device)
    np.testing.assert_array_equal(d, modelled(first, second, rows, columns))


def test_blocks_of_rows_go_with_scales_of_columns_and_an_epilogue(device: Any) -> None:
    first, second = operands("bf16", "bf16", 40, 72, 200)
    rows, columns, bias = factors(3, 40, 2), factors(4, 72), factors(5, 72)
    d = gemm(
        first, second, row_scales=rows, column_scales=columns, alpha=0.5, bias=bias, activation="relu",
        tile=Tile(64, 64, 2), device=device,
    )  # fmt: skip
    assert d.dtype == BF16
    wanted = np.maximum(modelled(first, second, rows, None).astype(np.float64) * columns * 0.5 + bias, 0)
    np.testing.assert_allclose(d.astype(np.float64), wanted, rtol=1e-2, atol=1e-2)


def test_a_scale_for_each_column_and_block_is_right(device: Any) -> None:
    first, second = operands("e5m2", "e4m3", 70, 72, 260)
    columns = factors(4, 3, 72).T
    d = gemm(first, second, column_scales=columns, result="f32", tile=Tile(64, 64, 2), device=device)
    np.testing.assert_array_equal(d, modelled(first, second, None, columns))


@pytest.mark.parametrize("columns", [1, 128])
def test_the_model_chooses_a_tile_that_has_room_for_factors(columns: int) -> None:
    plan = Plan("e4m3", "e4m3", promotion_stages=1, block_scales=BlockScales(True, columns), tile=Tile(64, 64, 2))
    for m, n, k in ((4096, 4096, 4096), (64, 24576, 1536)):
        chosen, _ = choose(Problem(m, n, k, 1, "e4m3", "e4m3", "k", "k"), plan)
        assert chosen.block_scales == plan.block_scales
        assert not chosen.tile.pingpong


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"row_scales": np.ones((64, 2), "f4")}, "strides of (8, 4) bytes; expected float32 of shape (64,)"),
        ({"row_scales": np.ones((64, 3), "f8")}, "row_scales is an array of float64 of shape (64, 3)"),
        ({"row_scales": np.ones((1, 64, 3), "f4")}, "or by blocks of 128 of shape (64, 3)"),
        ({"row_scales": np.ones((3, 64), "f4").T[::-1]}, "with strides of (-4, 256) bytes"),
        ({"column_scales": np.ones((3, 2), "f4")}, "or by blocks of 128 of shape (2, 3) or (136, 3)"),
        ({"row_scales": np.ones((64, 3), "f4"), "accumulator": "f16"}, "block scales need an f32 accumulator, not f16"),
    ],
)  # fmt: skip
def test_scales_that_cannot_be_are_refused_in_a_sentence(change: dict[str, Any], sentence: str) -> None:
    first, second = operands("e4m3", "e4m3", 64, 136, 300)
    with pytest.raises(wl.UsageError) as error:
        gemm(first, second, device="cpu", **change)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"promotion_stages": 4}, "promotion_stages is 4; expected 1 with block scales"),
        ({"block_scales": BlockScales(True, 64)}, "64 columns of B share a scale; expected 0, 1 or 128"),
        ({"epilogue": Epilogue(row_scales=True)}, "the rows have both block scales and scales for all of K"),
        ({"tile": Tile(128, 208, 2)}, "each thread of 2 consumers has 208 registers of accumulators; expected at most"),
        (
            {"tile": Tile(128, 176, 2), "block_scales": BlockScales(True, 1)},
            "each thread of 2 consumers has 205 registers of accumulators and scales; expected at most 192",
        ),
    ],
)  # fmt: skip
def test_plans_that_cannot_be_are_refused_in_a_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(wl.UsageError) as error:
        Plan("e4m3", "e4m3", **({"promotion_stages": 1, "block_scales": BlockScales(True, 128)} | change))
    assert error.value.diagnostics[0].code == "kernels.plan"
    assert sentence in str(error.value)
