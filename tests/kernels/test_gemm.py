"""The Hopper GEMM on the abstract machine: right for every type, layout and epilogue, silent under the sanitizer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernels.operand_types import OPERANDS

import warploom as wl
from warploom.kernels import Plan, Tile, gemm
from warploom.kernels.hopper.cost_model import TileSchedule, choose, configurations, microseconds, schedules
from warploom.kernels.hopper.dispatch import HopperDispatch
from warploom.kernels.hopper.gemm import gemm as kernel
from warploom.kernels.plan import ACCUMULATORS, DTYPES, Epilogue
from warploom.kernels.problem import Operands, Problem, problem_of

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
SMALL = Tile(64, 64, 2)


def matrix(seed: int, rows: int, columns: int, dtype: Any, *planes: int) -> Any:
    """Small whole numbers, whose sums are exact in every type, in rows that begin at whole 16 bytes."""
    per_row = 16 // np.dtype(dtype).itemsize
    wide = (*planes, rows, -(-columns // per_row) * per_row)
    return np.random.default_rng(seed).integers(0, 3, wide).astype(dtype)[..., :columns]


def operands(
    a: str, b: str, m: int, n: int, k: int, a_major: str = "k", b_major: str = "k", planes: tuple[int, ...] = ()
) -> tuple[Any, Any]:
    """A and B, stored along K or across."""
    first = matrix(1, *((m, k) if a_major == "k" else (k, m)), OPERANDS[a], *planes)
    second = matrix(2, *((n, k) if b_major == "k" else (k, n)), OPERANDS[b], *planes)
    return (first if a_major == "k" else first.swapaxes(-1, -2), second.swapaxes(-1, -2) if b_major == "k" else second)


def product(a: Any, b: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize(
    ("a", "b", "sums"), [(a, b, s) for (a, b), each in ACCUMULATORS.items() for s in each if a != "e5m2"]
)
def test_every_type_is_right(a: str, b: str, sums: str, device: Any) -> None:
    """Ragged in all sizes."""
    first, second = operands(a, b, 70, 45, 77)
    d = gemm(first, second, accumulator=sums, fast=True, tile=SMALL, device=device)
    np.testing.assert_array_equal(d.astype(np.float64), product(first, second).astype(d.dtype).astype(np.float64))


@pytest.mark.parametrize("majors", ["kk", "kn", "mk", "mn"])
def test_every_major_and_a_batch_are_right(majors: str, device: Any) -> None:
    first, second = operands("f16", "f16", 70, 72, 40, *majors, planes=(2,))
    d = gemm(first, second, result="f32", tile=SMALL, device=device)
    np.testing.assert_array_equal(d, product(first, second))


@pytest.mark.parametrize("result", ["f32", "bf16", "e4m3"])
def test_an_epilogue_is_right(result: str, device: Any) -> None:
    first, second = operands("bf16", "bf16", 66, 49, 64)
    rows, columns, bias = (np.arange(count, dtype=np.float32) % 5 - 2 for count in (66, 49, 49))
    c = matrix(3, 66, 49, DTYPES[result])
    d = gemm(
        first, second, c=c, alpha=0.5, beta=2.0, row_scales=rows, column_scales=columns, bias=bias, activation="relu",
        result=result, tile=SMALL, device=device,
    )  # fmt: skip
    wanted = product(first, second) * 0.5 * rows[:, None] * columns + 2 * c.astype(np.float64) + bias
    limit = 448 if result == "e4m3" else np.inf
    np.testing.assert_array_equal(d.astype(np.float64), np.clip(wanted, 0, limit).astype(d.dtype).astype(np.float64))


@pytest.mark.parametrize(("name", "function"), [
    ("gelu", lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    ("silu", lambda x: x / (1 + np.exp(-x))),
])  # fmt: skip
def test_an_activation_is_right(name: str, function: Any, device: Any) -> None:
    first, second = operands("bf16", "bf16", 8, 8, 8)
    d = gemm(first, second, alpha=0.1, activation=name, result="f32", tile=SMALL, device=device)
    np.testing.assert_allclose(d, function(0.1 * product(first, second)), rtol=2e-3, atol=1e-5)


TALL = Tile(128, 64, 2, blocks=2)
TURNS = Tile(64, 80, 3, pingpong=True, buffers=1)
ADDED = Epilogue(addend="bf16")


@pytest.mark.parametrize("schedule", ["lazy", "random:4"])
@pytest.mark.parametrize(
    ("plan", "sizes", "clusters", "cut"),
    [
        (Plan(tile=Tile(128, 64, 2)), (200, 130, 200), 4, 6),
        (Plan(tile=Tile(128, 64, 2, cluster=2), b_major="k"), (500, 100, 200), 3, 4),
        (Plan("tf32", "tf32", d="f32", tile=TURNS), (130, 200, 100), 3, 0),
        (Plan("tf32", "tf32", d="f32", tile=TURNS, epilogue=Epilogue(addend="f32")), (130, 200, 100), 4, 5),
        (Plan(d="e4m3", epilogue=Epilogue(addend="e4m3"), tile=SMALL), (70, 72, 64), 3, 0),
        (Plan("e4m3", "e4m3", promotion_stages=2, tile=SMALL), (64, 64, 700), 3, 1),
        # Two blocks of 64 rows for each consumer.
        (Plan(tile=TALL), (200, 130, 130), 2, 0),
        (Plan(a_major="m", b_major="n", tile=replace(TALL, rows=256), epilogue=ADDED), (300, 72, 136), 2, 0),
        (Plan(tile=replace(TALL, cluster=2), epilogue=ADDED), (300, 100, 200), 2, 3),
        (Plan(d="f32", tile=replace(TALL, pingpong=True, buffers=1)), (200, 130, 130), 2, 0),
        (Plan(tile=replace(TALL, pingpong=True, buffers=1), epilogue=ADDED), (200, 130, 200), 4, 5),
        # Clusters with neighbors along N, and along M and N.
        (Plan(tile=Tile(64, 64, 2, across=2), a_major="k"), (100, 200, 300), 2, 0),
        (Plan(tile=Tile(128, 64, 3, across=4), epilogue=ADDED), (300, 450, 200), 2, 3),
        (Plan(a_major="m", b_major="n", tile=Tile(128, 80, 2, cluster=2, across=4)), (300, 300, 136), 2, 0),
        (Plan(b_major="n", tile=Tile(64, 208, 2, cluster=4)), (300, 300, 200), 3, 2),
        (Plan(tile=replace(TURNS, columns=64, cluster=4, across=2)), (300, 500, 200), 2, 0),
        (Plan(tile=Tile(64, 64, 2, cluster=2, across=4)), (250, 200, 300), 3, 2),
        # Tiles with as many parts as quads, with fewer, and with more. A quad consists of 8 columns of a block.
        (Plan(tile=SMALL), (64, 64, 512), 8, 1),
        (Plan(tile=SMALL), (64, 130, 192), 3, 1),
        (Plan(tile=SMALL, epilogue=ADDED), (70, 64, 640), 20, 2),
        (Plan("f16", "f16", "f16", "f16", tile=SMALL), (64, 45, 640), 10, 1),
    ],
)  # fmt: skip
def test_kernels_are_legal_and_silent(
    plan: Plan, sizes: tuple[int, int, int], clusters: int, cut: int, schedule: str
) -> None:
    """The first `cut` tiles are cut along K. Afterwards their counters are 0 again."""
    m, n, k = sizes
    first, second = operands(plan.a, plan.b, m, n, k, plan.a_major, plan.b_major)
    asked = problem_of(first, second)
    plan = replace(plan, unaligned=asked.is_unaligned(plan.d), cut=cut > 0)
    even = next(iter(schedules(asked, plan)))
    assert cut <= even.tiles
    share = replace(even, ctas=clusters * plan.tile.ctas, split=cut)
    dispatch, built = HopperDispatch(asked, plan, share), kernel.at(plan=plan)
    d = matrix(0, m, n, DTYPES[plan.d])
    c = matrix(4, m, n, DTYPES[plan.d]) if plan.epilogue.addend else None
    args = dispatch.arguments(Operands(first, second, c), d, d if d.base is None else d.base, 1.0, 1.0)
    run = wl.launch(
        built.module,
        grid=share.ctas,
        block=plan.tile.threads,
        shared=built.shared,
        args=args,
        schedule=schedule,
        sanitize=True,
    )
    assert wl.check(built.text).ok
    assert not run.findings
    wanted = product(first, second) + (0 if c is None else c.astype(np.float64))
    limit = 448 if plan.d == "e4m3" else np.inf
    np.testing.assert_array_equal(d.astype(np.float64), np.minimum(wanted, limit).astype(d.dtype).astype(np.float64))
    partial, flags = args[4:6]
    assert (flags.size, flags.any(), partial.any()) == (cut * plan.tile.ctas * plan.tile.tile_consumers, False, cut > 0)


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        (Tile(128, 64, 2, blocks=3), "a consumer has 3 blocks; expected 1, or 2 without a sparse A and block scales"),
        (Tile(64, 64, 2, blocks=2), "the tile has 64 rows in blocks of 128; expected 128 or 256"),
        (Tile(384, 64, 2, blocks=2), "the tile has 384 rows in blocks of 128; expected 128 or 256"),
        (replace(TALL, rows=256, pingpong=True), "the pingpong tile has 256 rows in blocks of 128; expected 128"),
        (replace(TALL, columns=208), "each thread of 1 consumers has 208 registers of accumulators; expected at most"),
    ],
)  # fmt: skip
def test_tiles_with_two_blocks_that_are_refused(tile: Tile, message: str) -> None:
    with pytest.raises(wl.UsageError) as error:
        Plan(tile=tile)
    assert message in str(error.value)


PAIRS = (
    "f16 by f16, bf16 by bf16, tf32 by tf32, e4m3 by e4m3 or e5m2, e5m2 by e4m3 or e5m2, s8 by s8 or u8, "
    "u8 by s8 or u8, or e2m1 by e2m1 with scale factors"
)
TYPES = "float16, bfloat16, float8_e4m3fn, float8_e5m2, float32, int8, uint8, or float4_e2m1fn with scale factors"


@pytest.mark.parametrize(
    ("call", "code", "sentence"),
    [
        (lambda a, b: gemm(a, b.T, device="cpu"), "kernels.shape", "A has shape (64, 32) and B has shape (48, 32)"),
        (lambda a, b: gemm(a[:, ::2], b[::2], device="cpu"), "kernels.layout", "with strides of (64, 4) bytes"),
        (lambda a, b: gemm(a.astype(float), b, device="cpu"), "kernels.type", "A has elements of type float64"),
        (lambda a, b: gemm(a, b, activation="tanh", device="cpu"), "kernels.plan", "expected relu, gelu or silu"),
        (lambda a, b: gemm(a, b, bias=np.zeros(64, "f4"), device="cpu"), "kernels.shape", "expected 48 of float32"),
        (lambda a, b: gemm(a, b, tile=Tile(cluster=3), device="cpu"), "kernels.plan", "a cluster has 3 tiles along M"),
        (lambda a, b: gemm(a, b, tile=Tile(group=0), device="cpu"), "kernels.plan", "group of a tile is 0; expected"),
        (lambda a, b: gemm(a, b, out=np.zeros((64, 48)), device="cpu"), "kernels.type", "out has elements of type"),
        (lambda a, b: gemm(a, b.astype(np.float16), device="cpu"), "kernels.type", f"bf16 by f16; expected {PAIRS}"),
        (lambda a, b: gemm(a.astype("i4"), b, device="cpu"), "kernels.type", f"of type int32; expected one of {TYPES}"),
        (lambda a, b: gemm(a[::-1], b, device="cpu"), "kernels.layout", "(-64, 2) bytes; expected contiguous elements"),
        (lambda a, b: gemm(a[::-1], b, device="cpu"), "kernels.layout", "a stride above 0, a multiple of 16"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(call: Any, code: str, sentence: str) -> None:
    a, b = operands("bf16", "bf16", 64, 48, 32)
    with pytest.raises(wl.UsageError) as error:
        call(a, b)
    assert error.value.diagnostics[0].code == code
    assert sentence in str(error.value)


@pytest.mark.parametrize("sizes", [(4096, 4096, 4096), (128, 7168, 16384), (64, 24576, 1536), (1, 8, 8)])
def test_the_model_takes_the_quickest_of_what_it_knows(sizes: tuple[int, int, int]) -> None:
    asked = Problem(*sizes, 1, "bf16", "bf16", "k", "k")
    plan, share = choose(asked, Plan())
    chosen = microseconds(asked, plan, share)
    assert all(chosen <= microseconds(asked, Plan(), each) for each in schedules(asked, Plan()))
    assert share.ctas <= 132 * (plan.ctas_per_sm if plan.tile.exchanged else 1)


def test_a_schedule_with_cut_tiles_fits_a_smaller_gpu() -> None:
    """All CTAs that wait for each other must run at once, in whole clusters. Other launches may have more CTAs."""
    cut = TileSchedule(ctas=132, split=40, tiles=40, stages=64)
    assert cut.limited(Tile(), 132) == cut
    assert cut.limited(Tile(), 114).ctas == 114
    # On an H200, 120 CTAs of clusters of four run at once: 103.6 of 114 multiprocessors.
    assert cut.limited(Tile(cluster=4), 114).ctas == 100
    assert replace(cut, ctas=32).limited(Tile(cluster=2), 20).ctas == 20
    whole = replace(cut, split=0)
    assert whole.limited(Tile(cluster=4), 20) == whole


@pytest.mark.parametrize("sizes", [(4096, 2112, 7168), (128, 7168, 16384), (48, 4096, 4096), (2, 512, 512)])
def test_the_number_of_cut_tiles_distinguishes_the_schedules_of_a_tile(sizes: tuple[int, int, int]) -> None:
    """Files of tuned tiles name a schedule by this number."""
    asked = Problem(*sizes, 1, "bf16", "bf16", "k", "k")
    tiles = {plan for plan, _ in configurations(asked, Plan(tile=SMALL))}
    assert tiles
    for plan in tiles:
        splits = [each.split for each in schedules(asked, plan)]
        assert len(splits) == len(set(splits))
