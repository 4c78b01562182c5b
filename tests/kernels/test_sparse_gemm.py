"""The kernel with a 2:4 sparse A on the abstract machine: every type, exact, under the sanitizer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kernels.operand_types import OPERANDS

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.kernels.hopper.cost_model import TileSchedule
from warploom.kernels.hopper.gemm import gemm
from warploom.kernels.hopper.plan import BlockScales, Plan, Tile
from warploom.kernels.plan import Epilogue, size_of
from warploom.kernels.sparse import compress, prune

TYPES: dict[str, Any] = OPERANDS | {"f32": np.float32, "s32": np.int32}
SMALL = Tile(64, 64, 3)
HALF = Plan("f16", "f16", d="f32", sparse=True, tile=SMALL)
BYTE = Plan("e4m3", "e5m2", d="f32", sparse=True, tile=SMALL)
INTEGER = Plan("s8", "u8", "s32", "s32", sparse=True, tile=SMALL)


def numbers(random: np.random.Generator, element: str, *shape: int) -> Any:
    """Integers so small that sums of their products are exact, in rows that begin at multiples of 16 bytes."""
    step = 16 // size_of(element)
    whole = random.integers(0 if element == "u8" else -2, 3, (*shape[:-1], -(-shape[-1] // step) * step))
    return whole.astype(TYPES[element])[..., : shape[-1]]


def tensor(array: Any, element: str, box: tuple[int, int], swizzle: int) -> wl.TensorMap:
    whole = (1,) * (array.ndim - 2) + box
    named = {"dtype": "tf32"} if element == "tf32" else {}
    return wl.TensorMap.tiled(array, whole, swizzle=swizzle, **named)


def check(
    plan: Plan, m: int, n: int, k: int, *, clusters: int, split: int = 0, batch: int = 1, schedule: str = "lazy"
) -> None:
    """Launch it over so many clusters, `split` tiles cut along K, and compare D with the sums of whole numbers."""
    plan = replace(plan, batched=batch > 1, unaligned=n * size_of(plan.d) % 16 != 0, cut=split > 0)
    tile, random, planes = plan.tile, np.random.default_rng(5), (batch,) if batch > 1 else ()
    a = prune(numbers(random, plan.a, *planes, m, k))
    b = numbers(random, plan.b, *planes, *((n, k) if plan.b_major == "k" else (k, n)))
    d = numbers(random, plan.d, *planes, m, n)
    stored = compress(a)
    box_b = (tile.columns // tile.cluster, plan.stage_k) if plan.b_major == "k" else (plan.stage_k, 64)
    map_d = tensor(d, plan.d, (64, plan.box_columns), plan.box_row_bytes)
    m_tiles, n_tiles = -(-m // (tile.rows * tile.cluster)), -(-n // tile.columns)
    grid = clusters * tile.cluster
    tiles = TileSchedule(grid, split, m_tiles * n_tiles * batch, -(-k // plan.stage_k))
    partial, flags = (np.zeros(count, np.uint32) for count in tiles.workspace(plan) or (0, 0))
    built = gemm.at(plan=plan)
    run = wl.launch(
        built.module,
        grid=grid,
        block=tile.threads,
        shared=built.shared,
        schedule=schedule,
        sanitize=True,
        args=[
            tensor(stored.values, plan.a, (tile.rows, plan.stage_k // 2), 64),
            tensor(b, plan.b, box_b, 128), map_d, map_d,
            partial, flags,
            *(np.full(1, value, np.float32) for value in (2, 0.5, 0)), stored.metadata, None,
            np.float32(1), np.float32(0),
            d.base,
            d.strides[-2], d.strides[0], m, n, m_tiles, n_tiles, tiles.stages, tiles.split, tiles.tiles, 0,
            *[0] * 6,  # all factors of blocks are one number
        ],
    )  # fmt: skip
    assert not list(run.findings)
    assert not flags.any()
    across = b.swapaxes(-1, -2) if plan.b_major == "k" else b
    np.testing.assert_array_equal(d.astype(np.int64), a.astype(np.int64) @ across.astype(np.int64))


@pytest.mark.parametrize(
    ("a", "b", "sums"),
    [
        ("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"),
        ("e4m3", "e5m2", "f32"), ("e5m2", "e4m3", "f16"), ("s8", "u8", "s32"), ("u8", "s8", "s32"),
    ],
)  # fmt: skip
def test_every_type(a: str, b: str, sums: str) -> None:
    """Ragged in all sizes: rows, columns and K end inside a tile."""
    plan = Plan(a, b, sums, sums, sparse=True, tile=SMALL)
    check(plan, 70, 44, 150 // size_of(a) + 1, clusters=2)


def test_two_consumers_and_b_along_n() -> None:
    check(replace(HALF, b_major="n", tile=Tile(128, 64, 2)), 200, 72, 136, clusters=2, schedule="random:1")


@pytest.mark.parametrize("plan", [HALF, INTEGER], ids=["f16", "s8"])
def test_clusters_share_b(plan: Plan) -> None:
    check(replace(plan, tile=Tile(64, 64, 3, cluster=2)), 130, 72, 200, clusters=2)


@pytest.mark.parametrize("plan", [HALF, BYTE], ids=["f16", "e4m3"])
def test_consumers_alternate(plan: Plan) -> None:
    check(replace(plan, tile=Tile(64, 64, 3, pingpong=True)), 150, 72, 200, clusters=1, batch=2)


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:7"])
def test_tiles_are_cut_along_k(schedule: str) -> None:
    check(BYTE, 70, 64, 600, clusters=3, split=2, schedule=schedule)


def test_sums_are_promoted() -> None:
    check(replace(BYTE, promotion_stages=2), 64, 64, 600, clusters=1)


def test_blocks_are_multiplied_by_factors() -> None:
    """By 2, of every row, times a half, of all columns."""
    check(replace(BYTE, promotion_stages=1, block_scales=BlockScales(True, 128)), 64, 64, 300, clusters=1)


def test_three_consumers_get_their_registers() -> None:
    check(replace(HALF, tile=Tile(192, 64, 2)), 180, 64, 64, clusters=1)


@pytest.mark.parametrize("plan", [HALF, replace(INTEGER, tile=Tile(64, 64, 3, cluster=2))], ids=["f16", "s8"])
def test_the_checker_has_nothing_to_say(plan: Plan) -> None:
    assert not list(wl.check(gemm.at(plan=plan).text))


# Plans ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        HALF,
        Plan(),
        replace(INTEGER, tile=Tile(192, 96, 2, buffers=1)),
        replace(BYTE, d="bf16", tile=Tile(128, 256, 5, buffers=1), epilogue=Epilogue(scaled=True, addend="bf16")),
        replace(BYTE, tile=Tile(64, 80, 4, pingpong=True)),
    ],
    ids=str,
)
def test_a_plan_knows_its_shared_memory(plan: Plan) -> None:
    assert gemm.at(plan=plan).shared == plan.shared_bytes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a_major": "m"}, "a sparse A is stored along K; a_major must be 'k'"),
        (
            {"tile": Tile(192, 208, 2)},
            "each thread of 3 consumers has 104 registers of accumulators; expected at most 96",
        ),
        (
            {"tile": Tile(128, 224, 2), "promotion_stages": 4},
            "each thread of 2 consumers has 224 registers of accumulators; expected at most 192",
        ),
        (
            {"tile": Tile(128, 256, 6, buffers=1)},
            (
                "the tile has 6 stages of 41984 bytes and 16496 other bytes; "
                "expected at least 2 stages and at most 232448 bytes in all"
            ),
        ),
    ],
)
def test_what_the_hardware_lacks_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        replace(HALF, **change)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("kernels.plan", message)
