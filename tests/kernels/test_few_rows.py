"""The Hopper kernels for few rows of A: exact for every type, layout and epilogue, and silent under the sanitizer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kernels.operand_types import OPERANDS

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.kernels import Plan, Tile, gemm
from warploom.kernels.hopper.cost_model import TileSchedule, choose, schedules
from warploom.kernels.hopper.dispatch import dispatch_of
from warploom.kernels.hopper.kernel_of import kernel_of
from warploom.kernels.hopper.plan import SMALL, BlockScales
from warploom.kernels.plan import ACCUMULATORS, DTYPES, Epilogue
from warploom.kernels.problem import Operands, Problem, problem_of

SHARED_TILE = Tile(64, 8, 3, exchanged=True)
CLUSTERED = Tile(64, 16, 3, exchanged=True, parts=4)
WIDE = Tile(64, 176, 2, exchanged=True, parts=4)
VECTOR = Tile(8, 4, 2, exchanged=True)


def matrix(seed: int, dtype: Any, *shape: int) -> Any:
    """Return small integers, whose sums are exact. Other values, beyond the rows, must not be read."""
    per_row = 16 // np.dtype(dtype).itemsize
    wide = (*shape[:-1], -(-shape[-1] // per_row) * per_row)
    made = np.random.default_rng(seed).integers(0, 3, wide).astype(dtype)
    made[..., shape[-1] :] = 77
    return made[..., : shape[-1]]


def operands(
    a: str, b: str, m: int, n: int, k: int, majors: str = "kk", planes_a: tuple[int, ...] = (),
    planes_b: tuple[int, ...] = (),
) -> tuple[Any, Any]:  # fmt: skip
    first = matrix(1, OPERANDS[a], *planes_a, *((m, k) if majors[0] == "k" else (k, m)))
    second = matrix(2, OPERANDS[b], *planes_b, *((n, k) if majors[1] == "k" else (k, n)))
    return (
        first if majors[0] == "k" else first.swapaxes(-1, -2),
        second.swapaxes(-1, -2) if majors[1] == "k" else second,
    )


def product(a: Any, b: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64)


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(found.dtype).astype(np.float64))


@pytest.mark.parametrize("tile", [SHARED_TILE, CLUSTERED], ids=["persistent", "cluster"])
@pytest.mark.parametrize(
    ("a", "b", "sums"), [(a, b, s) for (a, b), each in ACCUMULATORS.items() for s in each if a not in ("e5m2", "u8")]
)
def test_every_type_is_right(a: str, b: str, sums: str, tile: Tile, device: Any) -> None:
    first, second = operands(a, b, 11, 77, 300)
    same(gemm(first, second, accumulator=sums, fast=True, tile=tile, device=device), product(first, second))


@pytest.mark.parametrize(("a", "b"), [("e4m3", "e5m2"), ("e5m2", "e4m3")])
def test_promoted_sums_are_right(a: str, b: str, device: Any) -> None:
    first, second = operands(a, b, 5, 70, 1300)
    same(gemm(first, second, result="f32", tile=replace(CLUSTERED, parts=2), device=device), product(first, second))


@pytest.mark.parametrize(
    "tile", [Tile(64, 72, 2, exchanged=True, parts=2), Tile(64, 24, 2, 8, exchanged=True)], ids=str
)
@pytest.mark.parametrize("majors", ["kk", "kn", "mk", "mn"])
@pytest.mark.parametrize("planes", [((2,), (2,)), ((), (2,)), ((2,), ())], ids=["both", "of B", "of A"])
def test_every_major_and_batch_is_right(majors: str, planes: Any, tile: Tile, device: Any) -> None:
    """If K is not contiguous, a stage holds 64 columns or a multiple, and CTAs share it along K."""
    first, second = operands("f16", "f16", 41, 72, 200, majors, *planes)
    same(gemm(first, second, result="f32", tile=tile, device=device), product(first, second))


@pytest.mark.parametrize("planes", [((2,), (2,)), ((), (2,)), ((2,), ())], ids=["both", "of B", "of A"])
def test_vectors_of_a_batch_are_right(planes: Any, device: Any) -> None:
    first, second = operands("f16", "f16", 2, 19, 200, "kk", *planes)
    same(gemm(first, second, result="f32", tile=VECTOR, device=device), product(first, second))


def test_vectors_of_padded_rows_are_right(device: Any) -> None:
    """The rows of A and B need not be as close as their alignment allows."""
    first, second = operands("bf16", "bf16", 2, 19, 208)
    same(
        gemm(first[:, :200], second[:200], result="f32", tile=VECTOR, device=device),
        product(first[:, :200], second[:200]),
    )


@pytest.mark.parametrize("bias_along", ["row", "column"])
@pytest.mark.parametrize(("result", "n"), [("f32", 71), ("bf16", 71), ("bf16", 72), ("e4m3", 71)])
@pytest.mark.parametrize("tile", [SHARED_TILE, CLUSTERED, VECTOR], ids=["persistent", "cluster", "vector"])
def test_an_epilogue_is_right(tile: Tile, result: str, n: int, bias_along: Any, device: Any) -> None:
    """If the rows of D are aligned, the threads store two elements of 16 bits at once."""
    m = 3
    first, second = operands("bf16", "bf16", m, n, 96)
    rows, columns = (np.arange(count, dtype=np.float32) % 5 - 2 for count in (m, n))
    bias = np.arange(m if bias_along == "row" else n, dtype=np.float32) % 7
    c = matrix(3, DTYPES[result], m, n)
    d = gemm(
        first, second, c=c, alpha=0.5, beta=2.0, row_scales=rows, column_scales=columns, bias=bias,
        bias_along=bias_along, activation="relu", result=result, tile=tile, device=device,
    )  # fmt: skip
    wanted = product(first, second) * 0.5 * rows[:, None] * columns + 2 * c.astype(np.float64)
    wanted += bias[:, None] if bias_along == "row" else bias
    limit = 448 if result == "e4m3" else np.inf
    same(d, np.clip(wanted, 0, limit))


@settings(max_examples=25, deadline=None)
@given(
    m=st.integers(1, 9), n=st.integers(1, 40), k=st.integers(1, 2500), element=st.sampled_from(["bf16", "f16"]),
    rows=st.sampled_from([4, 8, 16]), columns=st.sampled_from([1, 2, 4]), stages=st.sampled_from([1, 2]),
)  # fmt: skip
def test_vectors_of_every_size_are_right(m: int, n: int, k: int, element: str, rows: int, columns: int, stages: int):
    """Elements beyond K, N and M are not read, or do not matter."""
    assume((rows + columns) * stages <= 24)  # more loads need too many registers
    first, second = operands(element, element, m, n, k)
    tile = Tile(rows, columns, stages, exchanged=True)
    same(gemm(first, second, result="f32", tile=tile, device="cpu"), product(first, second))


@pytest.mark.parametrize("schedule", ["lazy", "random:4"])
@pytest.mark.parametrize(
    ("tile", "sizes", "ctas", "split"),
    [
        (SHARED_TILE, (13, 150, 1000), 5, 6),  # parts of tiles, and tiles that span CTAs
        (SHARED_TILE, (13, 150, 300), 2, 0),
        (replace(SHARED_TILE, rows=128, columns=24), (20, 150, 700), 3, 2),
        (CLUSTERED, (13, 70, 1000), 8, 0),
        (replace(CLUSTERED, parts=8), (13, 70, 300), 16, 0),  # some CTAs have no stages
        (VECTOR, (3, 19, 1500), 3, 0),
        (WIDE, (200, 150, 300), 24, 0),
        (replace(WIDE, parts=2), (150, 70, 200), 4, 0),  # the last CTA adds fewer columns
        (replace(WIDE, rows=128, parts=1), (200, 150, 300), 3, 4),
        (replace(WIDE, columns=256, parts=1), (250, 70, 1000), 12, 2),  # six or seven parts of each tile
        # The tiles of a cluster share the rows of A.
        (Tile(64, 104, 3, 2, exchanged=True), (200, 300, 300), 4, 0),
        (Tile(64, 40, 2, 4, exchanged=True), (40, 450, 700), 8, 2),
        (Tile(128, 56, 2, 2, exchanged=True, parts=4), (50, 200, 600), 8, 0),
        (Tile(64, 16, 2, 4, exchanged=True, parts=2), (13, 300, 50), 16, 0),  # CTAs without stages, rows or columns
    ],
)  # fmt: skip
def test_kernels_are_legal_and_silent(tile: Tile, sizes: Any, ctas: int, split: int, schedule: str) -> None:
    first, second = operands("bf16", "bf16", *sizes)
    asked = problem_of(first, second)
    plan = Plan(d="f32", tile=SMALL).with_tile(tile)
    even = list(schedules(asked, plan))[-1]
    dispatch = dispatch_of(asked, plan, replace(even, ctas=ctas, split=split))
    built = kernel_of(dispatch.plan)
    d = np.zeros((sizes[0], -(-sizes[1] // 4) * 4), np.float32)
    given_d = d[:, : sizes[1]]
    run = wl.launch(
        built.module, grid=ctas, block=plan.tile.threads, shared=built.shared,
        args=dispatch.arguments(Operands(first, second), given_d, d, 1.0, 1.0), schedule=schedule, sanitize=True,
    )  # fmt: skip
    assert wl.check(built.text).ok
    assert not run.findings
    same(given_d, product(first, second))


@pytest.mark.parametrize("tile", [SHARED_TILE, replace(CLUSTERED, columns=8), VECTOR])
def test_a_row_has_the_same_bits_in_every_batch_of_rows(tile: Tile) -> None:
    """The order of the sums of a row does not depend on the number of rows or on the position of the row."""
    rng = np.random.default_rng(5)
    a = rng.standard_normal((4, 1000)).astype(OPERANDS["f16"])
    b = rng.standard_normal((1000, 72)).astype(OPERANDS["f16"]).T.copy().T
    b = np.asfortranarray(b)
    whole = gemm(a, b, result="f32", tile=tile, device="cpu")
    for row in range(4):
        one = gemm(a[row : row + 1], b, result="f32", tile=tile, device="cpu")
        np.testing.assert_array_equal(one[0], whole[row])


# Plans and the choice of the kernel -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        Plan("e4m3", "e5m2", promotion_stages=4, tile=SMALL),
        Plan(a_major="m", tile=SMALL),
        Plan(b_major="n", tile=SMALL),
        Plan(epilogue=Epilogue(row_scales=True, bias="column"), batched=True, broadcast="ac", tile=SMALL),
    ],
)
def test_exchanging_twice_gives_the_same_plan(plan: Plan) -> None:
    exchanged = plan.with_tile(Tile(64, 64, 2, exchanged=True))
    assert exchanged != plan
    assert exchanged.with_tile(SMALL) == plan


@pytest.mark.parametrize(
    ("plan", "tile", "message"),
    [
        (Plan(tile=SMALL), replace(SHARED_TILE, columns=42), "has 42 columns; expected 8, 16, 24, 32, 40, .* or 256"),
        (Plan("s8", "s8", "s32", "s32", tile=SMALL), replace(SHARED_TILE, columns=40), "expected 8, 16, 24, 32, 48,"),
        (Plan(tile=SMALL), replace(SHARED_TILE, columns=40, cluster=4, parts=4), "4 CTAs share an exchanged tile"),
        (Plan(tile=SMALL), replace(SHARED_TILE, rows=192), "has 192 rows; expected 64 or 128"),
        (Plan(tile=SMALL), replace(SHARED_TILE, cluster=3), "clusters with 3 tiles along its rows"),
        (Plan(tile=SMALL), replace(SHARED_TILE, stages=40), "40 stages of 9216 bytes"),
        (Plan(sparse=True, tile=SMALL), SHARED_TILE, "an exchanged tile has no sparse A"),
        (Plan(grouped=True, tile=SMALL), SHARED_TILE, "no groups of rows"),
        (
            Plan("e4m3", "e4m3", promotion_stages=1, block_scales=BlockScales(rows=True), tile=SMALL),
            SHARED_TILE, "no block scales",
        ),
        (Plan("s8", "s8", "s32", "s32", tile=SMALL), VECTOR, "multiplies s8 by s8 with s32 accumulators"),
        (Plan(b_major="n", tile=SMALL), VECTOR, "along m and k.; expected bf16 or f16 along k"),
        (Plan(tile=SMALL), replace(VECTOR, columns=3), "3 columns"),
        (Plan(tile=SMALL), replace(VECTOR, rows=16, stages=4), "at most 24 rows and columns in all stages"),
    ],
)  # fmt: skip
def test_an_illegal_tile_is_refused(plan: Plan, tile: Tile, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan.with_tile(tile)


@pytest.mark.parametrize("m", [1, 5, 17, 32])
@pytest.mark.parametrize(("n", "k"), [(6144, 4096), (8192, 28672), (1000, 300)])
def test_few_rows_have_an_exchanged_tile(m: int, n: int, k: int) -> None:
    plan, schedule = choose(Problem(m, n, k, 1, "bf16", "bf16", "k", "k"), Plan(tile=SMALL))
    assert plan.tile.exchanged
    assert plan.tile.columns >= m
    assert isinstance(schedule, TileSchedule)


@pytest.mark.parametrize("plan", [
    Plan(sparse=True, tile=SMALL),
    Plan("e4m3", "e4m3", promotion_stages=1, block_scales=BlockScales(rows=True), tile=SMALL),
])  # fmt: skip
def test_other_plans_have_no_exchanged_tile(plan: Plan) -> None:
    problem = Problem(8, 6144, 4096, 1, plan.a, plan.b, "k", "k", sparse=plan.sparse)
    assert not choose(problem, plan)[0].tile.exchanged
