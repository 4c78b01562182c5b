"""Rows by groups on the abstract machine: exact for every type, nothing written beside a group, no race."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kernels.operand_types import OPERANDS

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.kernels import Epilogue, Plan, Tile, gemm, grouped_gemm
from warploom.kernels.api import grouped_schedule
from warploom.kernels.hopper.dispatch import HopperDispatch
from warploom.kernels.hopper.gemm import gemm as kernel
from warploom.kernels.plan import DTYPES
from warploom.kernels.problem import Operands, grouped_problem, problem_of

UNTOUCHED = 7
SMALL = Tile(64, 64, 2)
UNEVEN = (3, 3, 70, 135)  # an empty group, and one that a tile and a part of one hold


def numbers(seed: int, dtype: Any, *shape: int) -> Any:
    """Small whole numbers, whose sums are exact in every type, in rows that begin at whole 16 bytes."""
    per_row = 16 // np.dtype(dtype).itemsize
    wide = (*shape[:-1], -(-shape[-1] // per_row) * per_row)
    return np.random.default_rng(seed).integers(0, 3, wide).astype(dtype)[..., : shape[-1]]


def untouched(m: int, n: int, dtype: Any) -> Any:
    """A D whose elements, and whose padding at the ends of the rows, tell whether somebody wrote there."""
    out = numbers(0, dtype, m, n)
    (out if out.base is None else out.base)[...] = UNTOUCHED
    return out


def operands(a: str, b: str, m: int, groups: int, n: int, k: int, b_major: str = "k") -> tuple[Any, Any]:
    if b_major == "n":
        return numbers(1, OPERANDS[a], m, k), numbers(2, OPERANDS[b], groups, k, n)
    return numbers(1, OPERANDS[a], m, k), numbers(2, OPERANDS[b], groups, n, k).swapaxes(1, 2)


def products(a: Any, b: Any, ends: Any) -> Any:
    """In float64; rows of no group are untouched."""
    wanted, begin = np.full((a.shape[0], b.shape[2]), float(UNTOUCHED)), 0
    for number, end in enumerate(ends):
        wanted[begin:end] = a[begin:end].astype(np.float64) @ b[number].astype(np.float64)
        begin = end
    return wanted


def same(out: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(out.astype(np.float64), wanted.astype(out.dtype).astype(np.float64))
    if out.base is not None:
        assert (out.base[:, out.shape[1] :].astype(np.float64) == UNTOUCHED).all()


@pytest.mark.parametrize(
    ("a", "b", "sums", "result", "n"),
    [
        ("bf16", "bf16", "f32", "bf16", 48),
        ("f16", "f16", "f16", "f16", 45),
        ("tf32", "tf32", "f32", "f32", 44),
        ("e4m3", "e5m2", "f32", "e4m3", 45),
        ("s8", "u8", "s32", "s32", 45),
    ],
)
def test_every_type_is_right(a: str, b: str, sums: str, result: str, n: int, device: Any) -> None:
    """And rows behind the last group stay as they are."""
    first, second = operands(a, b, 140, 4, n, 77)
    out = untouched(140, n, DTYPES[result])
    ends = np.array(UNEVEN, np.int32)
    grouped_gemm(first, second, ends, out=out, accumulator=sums, fast=True, tile=SMALL, device=device)
    same(out, np.minimum(products(first, second, UNEVEN), 448 if result == "e4m3" else np.inf))


@pytest.mark.parametrize(
    ("ends", "m"),
    [
        ((100,), 100),  # one group
        ((0, 0, 0, 5), 5),
        ((0, 0), 9),  # no row at all
        (tuple(np.cumsum(np.arange(64) % 5)), 130),
    ],
)
def test_groups_are_of_any_size(ends: tuple[int, ...], m: int, device: Any) -> None:
    first, second = operands("bf16", "bf16", m, len(ends), 40, 64)
    out = untouched(m, 40, np.float32)
    grouped_gemm(first, second, np.array(ends, np.int32), out=out, device=device)
    same(out, products(first, second, ends))


def test_each_group_has_its_columns_scaled_and_biased(device: Any) -> None:
    first, second = operands("bf16", "bf16", 135, 4, 45, 64, "n")
    rows, (scales, bias) = (np.arange(135, dtype="f4") % 3, (np.arange(360, dtype="f4") % 7 - 2).reshape(2, 4, 45))
    c = numbers(3, OPERANDS["bf16"], 135, 45)
    d = grouped_gemm(
        first, second, np.array(UNEVEN, np.int32), c=c, alpha=0.5, beta=2.0, row_scales=rows, column_scales=scales,
        bias=bias, activation="relu", tile=SMALL, device=device,
    )  # fmt: skip
    group = np.searchsorted(UNEVEN, np.arange(135), side="right")
    wanted = products(first, second, UNEVEN) * 0.5 * rows[:, None] * scales[group]
    np.testing.assert_array_equal(
        d.astype(np.float64),
        np.maximum(wanted + 2 * c.astype(np.float64) + bias[group], 0).astype(d.dtype).astype(np.float64),
    )


CLUSTERED = Plan(b_major="n", tile=Tile(64, 128, 2, cluster=2))
TWO_BLOCKS = Plan(tile=Tile(128, 64, 2, blocks=2), epilogue=Epilogue(addend="bf16"))
ALTERNATING = Plan(tile=Tile(64, 64, 2, pingpong=True, buffers=1), epilogue=Epilogue(addend="bf16"))


@pytest.mark.parametrize(
    ("plan", "n", "schedule"),
    [
        (Plan(tile=Tile(128, 64, 2)), 72, "eager"),
        (CLUSTERED, 45, "lazy"),
        (CLUSTERED, 45, "random:4"),
        (ALTERNATING, 72, "lazy"),
        (ALTERNATING, 72, "random:4"),
        (TWO_BLOCKS, 72, "lazy"),
        (Plan(tile=Tile(64, 64, 2, cluster=2, across=2)), 100, "lazy"),
        (replace(TWO_BLOCKS, tile=Tile(128, 64, 2, 2, pingpong=True, buffers=1, blocks=2)), 45, "random:4"),
        (Plan("e4m3", "e4m3", d="e4m3", promotion_stages=1, tile=Tile(64, 80, 2)), 80, "lazy"),
    ],
)
def test_kernels_are_legal_and_silent(plan: Plan, n: int, schedule: str) -> None:
    """Each cluster has several tiles, so that it walks over groups, empty ones among them."""
    ends = np.array((2, 2, 70, 71, 139), np.int32)
    first, second = operands(plan.a, plan.b, 140, len(ends), n, 130, plan.b_major)
    asked = grouped_problem(first, second)
    plan = replace(plan, grouped=True, unaligned=asked.is_unaligned(plan.d))
    dispatch = HopperDispatch(asked, plan, replace(grouped_schedule(asked, plan), ctas=2 * plan.tile.ctas))
    out, c = untouched(140, n, DTYPES[plan.d]), numbers(4, DTYPES[plan.d], 140, n)
    built = kernel.at(plan=plan)
    run = wl.launch(
        built.module,
        grid=dispatch.grid,
        block=plan.tile.threads,
        shared=built.shared,
        args=dispatch.arguments(Operands(first, second, c, ends=ends), out, out[:1, :1], 1.0, 1.0),
        schedule=schedule,
        sanitize=True,
    )
    assert wl.check(built.text).ok
    assert not run.findings
    wanted = products(first, second, ends)
    wanted[: ends[-1]] += c[: ends[-1]].astype(np.float64) if plan.epilogue.addend else 0
    same(out, np.minimum(wanted, 448 if plan.d == "e4m3" else np.inf))


def test_ends_that_the_host_does_not_see_harm_nothing() -> None:
    """One below the one before it is of an empty group, and none is beyond the last row. One CTA has all tiles."""
    first, second = operands("bf16", "bf16", 70, 3, 40, 64)
    asked, plan = grouped_problem(first, second), Plan(d="f32", grouped=True, tile=SMALL)
    dispatch, built = HopperDispatch(asked, plan, grouped_schedule(asked, plan)), kernel.at(plan=plan)
    out, ends = untouched(70, 40, np.float32), np.array((5, 3, 1000), np.int32)
    args = dispatch.arguments(Operands(first, second, ends=ends), out, out[:1, :1], 1.0, 0.0)
    wl.launch(built.module, grid=1, block=256, shared=built.shared, args=args)
    same(out, products(first, second, (5, 5, 70)))


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        ({"ends": np.array((3, 2), "i4")}, "kernels.ends", "do not ascend from 0 to 64, the rows of A"),
        ({"ends": np.array((3, 65), "i4")}, "kernels.ends", "do not ascend from 0 to 64, the rows of A"),
        ({"ends": np.array((3, 64), "i8")}, "kernels.shape", "ends is an array of int64 of shape (2,) with"),
        ({"ends": np.array((3,), "i4")}, "kernels.shape", "expected 2 of int32"),
        ({"bias": np.zeros(48, "f4")}, "kernels.shape", "expected 2 by 48 of float32"),
        ({"a": numbers(0, OPERANDS["bf16"], 32, 64).T}, "kernels.plan", "a grouped A must be stored along K;"),
        ({"b": numbers(0, OPERANDS["bf16"], 32, 48)}, "kernels.shape", "expected (M, K) and (groups, K, N)"),
        ({"target": "sm_100a"}, "kernels.target", "no kernels of sm_100a support grouped rows; expected target sm_90a"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(change: dict[str, Any], code: str, sentence: str) -> None:
    a, b = operands("bf16", "bf16", 64, 2, 48, 32)
    with pytest.raises(UsageError) as error:
        grouped_gemm(**{"a": a, "b": b, "ends": np.array((3, 64), np.int32), "device": "cpu"} | change)
    assert error.value.diagnostics[0].code == code
    assert sentence in str(error.value)


# What a batch shares -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("common", ["a", "b", "ac"])
def test_an_operand_without_a_batch_is_the_same_for_all(common: str, device: Any) -> None:
    planes = {name: () if name in common else (3,) for name in "abc"}
    a = numbers(1, OPERANDS["bf16"], *planes["a"], 70, 40)
    b = numbers(2, OPERANDS["bf16"], *planes["b"], 40, 72)
    c = numbers(3, np.float32, *planes["c"], 70, 72)
    d = gemm(a, b, c=c, result="f32", tile=SMALL, device=device)
    np.testing.assert_array_equal(d, a.astype(np.float64) @ b.astype(np.float64) + c)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"broadcast": "a"}, "broadcast operands are 'a'; expected some of 'abc' in a batched plan"),
        ({"grouped": True, "cut": True}, "no tiles that are cut along K"),
        (
            {"grouped": True, "batched": True},
            "a grouped plan has no batch, no sparse A, no block scales and no tiles that are cut",
        ),
    ],
)
def test_plans_that_mean_nothing_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Plan(**change)


# What the ragged way to D must heed -------------------------------------------------------------------------------


def test_ragged_rows_go_where_out_begins(device: Any) -> None:
    first, second = operands("bf16", "bf16", 70, 1, 45, 64)
    whole = np.full((100, 48), UNTOUCHED, np.float32)
    gemm(first, second[0], out=whole[20:90, :45], tile=SMALL, device=device)
    wanted = np.full((100, 48), float(UNTOUCHED))
    wanted[20:90, :45] = products(first, second, (70,))
    np.testing.assert_array_equal(whole, wanted)


def test_a_ragged_patch_of_c_is_read_before_the_next_comes() -> None:
    """Where both have one buffer."""
    first, second = operands("bf16", "bf16", 64, 1, 45, 64)
    asked = problem_of(first, second[0])
    tile = Tile(64, 128, 2, pingpong=True, buffers=1)
    plan = Plan(d="f32", unaligned=True, tile=tile, epilogue=Epilogue(addend="f32"))
    dispatch, built = (
        HopperDispatch(asked, plan, grouped_schedule(replace(asked, groups=1), plan)),
        kernel.at(plan=plan),
    )
    out, c = untouched(64, 45, np.float32), numbers(4, np.float32, 64, 45)
    args = dispatch.arguments(Operands(first, second[0], c), out, out[:1, :1], 1.0, 1.0)
    run = wl.launch(
        built.module, grid=1, block=tile.threads, shared=built.shared, args=args, schedule="lazy", sanitize=True
    )
    assert not run.findings
    same(out, products(first, second, (64,)) + c)
