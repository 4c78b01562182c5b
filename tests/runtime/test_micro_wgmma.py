"""Small wgmma kernels compiled by nvcc: operands as raw images of shared memory under a descriptor.

The source is tests/corpus/src/wgmma.cu. Images are built by the rules of the matrix descriptor, in every
layout that the kernel's shape allows; whatever is around the matrices is filled with a pattern that must
not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from runtime import fragments, sums
from runtime.fragments import NUMPY
from runtime.kernels import micro
from runtime.sums import Array

FILE = "wgmma_raw_sm90a.ptx"
INT_MAX = 2**31 - 1

Image = tuple[Array, int]
LAYOUTS = ("plain", "spread", "32", "64", "128")


def _numbers(seed: int, shape: tuple[int, ...], kind: str) -> Array:
    random = np.random.default_rng([seed, *shape])
    if kind in ("s8", "u8", "b1"):
        low, high = {"s8": (-128, 128), "u8": (0, 256), "b1": (0, 2)}[kind]
        return random.integers(low, high, shape).astype(NUMPY[kind])
    return random.standard_normal(shape).astype(NUMPY[kind])


def _image(matrix: Array, kind: str, layout: str) -> Image:
    """A K-major image; a line of the matrix must fit a swizzle's span."""
    if layout in ("plain", "spread"):
        return fragments.k_major(matrix, kind, 0, layout == "spread")
    return fragments.k_major(matrix, kind, int(layout))


def _run(kernel: str, a: Image, b: Image, c: Array) -> Array:
    """D as its registers hold it."""
    args: list[Any] = [a[0], b[0], len(a[0]) // 16, len(b[0]) // 16, a[1], b[1], fragments.warpgroup_accumulator(c)]
    found = micro(FILE, kernel, args, block=128, shared=len(a[0]) + len(b[0]) + 2048)
    return found[6]


def _fused(a: Array, b: Array, c: Array, of_a: str, of_b: str, unit: sums.Unit) -> Array:
    left, right = ((sums.tf32(x) if kind == "tf32" else x.astype(np.float64)) for x, kind in ((a, of_a), (b, of_b)))
    least = [sums.LEAST_EXPONENT[np.dtype(NUMPY[kind]).name] for kind in (of_a, of_b)]
    sizes = (sums.magnitude(left, least[0]), sums.magnitude(right, least[1]))
    return sums.chain(left, right, c.astype(np.float64), unit, sizes).astype(np.float32)


@pytest.mark.parametrize("layout_b", LAYOUTS)
@pytest.mark.parametrize("layout_a", LAYOUTS)
def test_f16_under_every_pair_of_layouts(layout_a: str, layout_b: str) -> None:
    a, b, c = _numbers(1, (64, 16), "f16"), _numbers(2, (8, 16), "f16"), _numbers(3, (64, 8), "tf32")
    found = _run("wgmma_f16_n8", _image(a, "f16", layout_a), _image(b, "f16", layout_b), c)
    expected = _fused(a, b, c, "f16", "f16", sums.HOPPER_HALF)
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


@pytest.mark.parametrize("layout", ["plain", "128"])
@pytest.mark.parametrize(
    ("kernel", "of_a", "of_b", "k", "unit"),
    [
        ("wgmma_tf32_n16", "tf32", "tf32", 8, sums.HOPPER_TF32),
        ("wgmma_e4m3_n16", "e4m3", "e4m3", 32, sums.HOPPER_FP8),
        ("wgmma_e5m2_e4m3_n16", "e5m2", "e4m3", 32, sums.HOPPER_FP8),
    ],
)
def test_other_floats_are_one_fused_sum(
    kernel: str, of_a: str, of_b: str, k: int, unit: sums.Unit, layout: str
) -> None:
    for seed in range(3):
        a, b = _numbers(seed, (64, k), of_a), _numbers(seed + 9, (16, k), of_b)
        c = _numbers(seed, (64, 16), "tf32")
        found = _run(kernel, _image(a, of_a, layout), _image(b, of_b, layout), c)
        expected = _fused(a, b, c, of_a, of_b, unit)
        np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_b_may_lie_with_its_columns_side_by_side(swizzle: int) -> None:
    a, b, c = _numbers(1, (64, 16), "f16"), _numbers(2, (16, 16), "f16"), _numbers(3, (64, 16), "tf32")
    found = _run("wgmma_f16_n16_tnspB", _image(a, "f16", "plain"), fragments.mn_major(b, "f16", swizzle), c)
    expected = _fused(a, b, c, "f16", "f16", sums.HOPPER_HALF)
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_a_may_lie_with_its_rows_side_by_side(swizzle: int) -> None:
    a, b, c = _numbers(1, (64, 16), "f16"), _numbers(2, (16, 16), "f16"), _numbers(3, (64, 16), "tf32")
    found = _run("wgmma_f16_n16_tnspA", fragments.mn_major(a, "f16", swizzle), _image(b, "f16", "plain"), c)
    expected = _fused(a, b, c, "f16", "f16", sums.HOPPER_HALF)
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


def test_a_may_be_negated() -> None:
    a, b, c = _numbers(1, (64, 16), "bf16"), _numbers(2, (16, 16), "bf16"), _numbers(3, (64, 16), "tf32")
    found = _run("wgmma_bf16_n16_negA", _image(a, "bf16", "128"), _image(b, "bf16", "plain"), c)
    expected = _fused(-a, b, c, "bf16", "bf16", sums.HOPPER_HALF)
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


def test_a_scale_of_zero_ignores_what_the_accumulator_held() -> None:
    a, b = _numbers(1, (64, 16), "f16"), _numbers(2, (8, 16), "f16")
    c = np.full((64, 8), np.nan, np.float32)
    found = _run("wgmma_f16_n8_scaled0", _image(a, "f16", "plain"), _image(b, "f16", "plain"), c)
    expected = _fused(a, b, np.zeros_like(c), "f16", "f16", sums.HOPPER_HALF)
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


@pytest.mark.parametrize("layout", ["plain", "128"])
def test_sparse_a_takes_the_elements_of_b_that_its_metadata_name(layout: str) -> None:
    # The source's metadata are 0x44444444: the first two of every four.
    random = np.random.default_rng(4)
    a, b = (random.integers(-6, 7, shape).astype(np.float16) for shape in ((64, 16), (8, 32)))
    c = random.integers(-50, 50, (64, 8)).astype(np.float32)
    found = _run("wgmma_sp_f16_n8", _image(a, "f16", layout), _image(b, "f16", layout), c)
    taken = b.reshape(8, 8, 4)[:, :, :2].reshape(8, 16)
    expected = a.astype(np.float64) @ taken.astype(np.float64).T + c
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


@pytest.mark.parametrize("near_limits", [False, True])
@pytest.mark.parametrize(("kernel", "of_a"), [("wgmma_s8_n8", "s8"), ("wgmma_u8s8_n8_sat", "u8")])
def test_integers_wrap_unless_they_saturate(kernel: str, of_a: str, near_limits: bool) -> None:
    a, b = _numbers(1, (64, 32), of_a), _numbers(2, (8, 32), "s8")
    c = np.random.default_rng(3).integers(-(2**20), 2**20, (64, 8)).astype(np.int32)
    if near_limits:
        c = np.where(c > 0, INT_MAX - 99, -INT_MAX + 99).astype(np.int32)
    total = a.astype(np.int64) @ b.astype(np.int64).T + c
    assert near_limits == bool((np.abs(total) > INT_MAX + 1).any())
    clamped = np.clip(total, -INT_MAX - 1, INT_MAX)
    expected = (clamped if "sat" in kernel else total).astype(np.uint64).astype(np.uint32).view(np.int32)
    found = _run(kernel, _image(a, of_a, "128"), _image(b, "s8", "plain"), c)
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bits_are_counted(layout: str) -> None:
    a, b = _numbers(1, (64, 256), "b1"), _numbers(2, (8, 256), "b1")
    c = np.random.default_rng(3).integers(-99, 99, (64, 8)).astype(np.int32)
    found = _run("wgmma_b1_n8", _image(a, "b1", layout), _image(b, "b1", layout), c)
    expected = a.astype(np.int64) @ b.astype(np.int64).T + c
    np.testing.assert_array_equal(found, fragments.warpgroup_accumulator(expected))
