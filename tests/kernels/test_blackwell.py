"""GEMM kernels with tensor memory, and block formats on all targets: exact, legal, silent, and chosen sensibly."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernels.operand_types import OPERANDS

import warploom as wl
from warploom.kernels import TensorTile, WarpTile, api, arrange_scales, gemm, pack_e2m1
from warploom.kernels.api import Operands, Options, plan_gemm, run_gemm
from warploom.kernels.blackwell.plan import TensorPlan, choose_tile, tile_count
from warploom.kernels.problem import Problem
from warploom.runtime.api import launch

TYPES: dict[str, Any] = OPERANDS | {"e2m1": ml_dtypes.float4_e2m1fn}
FORMATS = {
    "mxfp8": ("e4m3", "e5m2", ml_dtypes.float8_e8m0fnu, 32),
    "mxfp4": ("e2m1", "e2m1", ml_dtypes.float8_e8m0fnu, 32),
    "nvfp4": ("e2m1", "e2m1", ml_dtypes.float8_e4m3fn, 16),
}
OPTIONS = Options(False, "column", "", "", "", False, None)


def matrix(seed: int, element: str, *shape: int) -> Any:
    """Small whole numbers, whose sums are exact, in rows that begin at whole 16 bytes; other bytes must not be read."""
    whole = (*shape[:-1], -(-shape[-1] // 32) * 32)
    made = np.random.default_rng(seed).integers(0 if element == "u8" else -2, 3, whole).astype(TYPES[element])
    made[..., shape[-1] :] = 6
    return made[..., : shape[-1]]


def multiply(a: Any, b: Any, *, schedule: str = "lazy", **words: Any) -> Any:
    """D of the emulator, whose sanitizer finds nothing in a kernel that the checker accepts."""
    scales = words.pop("row_scales", None), words.pop("column_scales", None)

    def watched(module: Any, **options: Any) -> Any:
        assert not list(wl.check(str(module)))
        run = launch(module, **options, sanitize=True, schedule=schedule)
        assert not run.findings
        return run

    operands = Operands(a, b, words.pop("c", None), None, *scales, words.pop("bias", None))
    options = OPTIONS._replace(**{"result": "f32", **words})
    return run_gemm(plan_gemm, tuple(operands), tuple(options), 1.0, 1.0, "cpu", watched)


@pytest.mark.parametrize(
    ("types", "majors", "sizes", "words"),
    [
        (("bf16", "bf16"), "kk", (70, 90, 200), {"tile": TensorTile(64)}),
        (("bf16", "bf16"), "mn", (300, 130, 100), {"tile": TensorTile(256, pair=True, stages=2)}),
        (("f16", "f16"), "kn", (140, 70, 70), {"accumulator": "f16", "result": "f16"}),
        (("tf32", "tf32"), "kk", (130, 40, 70), {"target": "sm_103a", "schedule": "random:1"}),
        (("e4m3", "e5m2"), "kk", (260, 257, 300), {"tile": TensorTile(192, pair=True)}),
        (("s8", "u8"), "kk", (100, 100, 150), {"schedule": "eager"}),
    ],
)
def test_products_are_exact_and_silent(types: tuple[str, str], majors: str, sizes: Any, words: Any) -> None:
    m, n, k = sizes
    a = matrix(1, types[0], m, k) if majors[0] == "k" else matrix(1, types[0], k, m).T
    b = matrix(2, types[1], n, k).T if majors[1] == "k" else matrix(2, types[1], k, n)
    d = multiply(a, b, **{"target": "sm_100a", **words})
    np.testing.assert_array_equal(d.astype(float), a.astype(float) @ b.astype(float))


def test_batches_share_operands_and_have_an_epilogue() -> None:
    a, b = matrix(1, "bf16", 3, 140, 72), matrix(2, "bf16", 96, 72).T
    c, bias = matrix(3, "tf32", 140, 96), np.arange(96, dtype=np.float32)
    tile = TensorTile(64, pair=True)
    d = multiply(a, b, c=c, bias=bias, activation="relu", tile=tile, target="sm_100a")
    np.testing.assert_array_equal(d, np.maximum(a.astype(float) @ b.astype(float) + c + bias, 0))


@pytest.mark.parametrize("target", ["sm_100a", "sm_103a", "sm_120a"])
@pytest.mark.parametrize("name", FORMATS)
def test_block_formats_are_exact_and_silent(name: str, target: str) -> None:
    first, second, scale, block = FORMATS[name]
    m, n, k = 200, 210, 330
    a, b = matrix(1, first, 2, m, k), matrix(2, second, n, k)
    draw = np.random.default_rng(3)
    of_a, of_b = (draw.choice([0.5, 1, 2], (*s, -(-k // block))).astype(scale) for s in ((2, m), (n,)))
    tile = {"sm_100a": TensorTile(192, pair=True), "sm_103a": TensorTile(64)}.get(target)
    d = multiply(a, b.T, row_scales=of_a, column_scales=of_b, tile=tile, target=target)
    scaled = [
        each.astype(float) * factors.astype(float).repeat(block, -1)[..., :k]
        for each, factors in ((a, of_a), (b, of_b))
    ]
    np.testing.assert_array_equal(d, scaled[0] @ scaled[1].T)


def test_scales_are_arranged_as_atoms_of_cublas() -> None:
    scales = np.arange(300 * 9).reshape(300, 9).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)
    found = arrange_scales(scales).view(np.uint8)
    assert found.shape == (3, 3, 32, 16)
    for row, factor in ((0, 0), (37, 2), (131, 8), (299, 4)):
        atom = found[row // 128, factor // 4].reshape(-1)
        assert atom[16 * (row % 32) + 4 * (row % 128 // 32) + factor % 4] == scales.view(np.uint8)[row, factor]
    assert not found[2, 2].reshape(32, 4, 4)[:, 2:].any()  # rows that do not exist
    a, b = matrix(1, "e4m3", 300, 270), matrix(2, "e4m3", 40, 270)
    factors = np.full((300, 9), 0.5).astype(scales.dtype), np.full((40, 9), 2).astype(scales.dtype)
    plain, arranged = (
        gemm(a, b.T, row_scales=f(factors[0]), column_scales=f(factors[1]), device="cpu", target="sm_120a")
        for f in (lambda x: x, arrange_scales)
    )
    np.testing.assert_array_equal(plain, arranged)


def test_elements_of_4_bits_are_packed() -> None:
    codes = np.arange(5 * 7).reshape(5, 7).astype(np.uint8) & 15
    found = pack_e2m1(codes.view(ml_dtypes.float4_e2m1fn))
    assert found.shape == (5, 4)
    assert found.strides[0] % 16 == 0
    np.testing.assert_array_equal(found & 15, codes[:, ::2])
    np.testing.assert_array_equal(found[:, :3] >> 4, codes[:, 1::2])


def test_pairs_multiply_large_problems() -> None:
    large, small = (Problem(m, m, 1024, 1, "bf16", "bf16", "k", "k") for m in (4096, 128))
    assert choose_tile(large, TensorPlan(), 148) == TensorTile(256, pair=True)
    assert not choose_tile(small, TensorPlan(), 148).pair
    for plan in (TensorPlan(), TensorPlan(b_major="n"), TensorPlan("e2m1", "e2m1", scaling="nvfp4")):
        tile = choose_tile(large, plan, 148)
        assert tile_count(large, tile) >= 1
        assert TensorPlan(plan.a, plan.b, b_major=plan.b_major, scaling=plan.scaling, tile=tile).stages >= 3


E8, E4 = np.ones((64, 2), ml_dtypes.float8_e8m0fnu), np.ones((64, 4), ml_dtypes.float8_e4m3fn)


@pytest.mark.parametrize(
    ("element", "words", "code", "sentence"),
    [
        ("s8", {"target": "sm_103a"}, "kernels.plan", "sm_103a does not multiply integers in tensor memory; expected"),
        ("bf16", {"target": "sm_100a", "tile": WarpTile()}, "kernels.option", "expected a TensorTile for sm_100a"),
        ("bf16", {"target": "sm_100a", "tile": TensorTile(100)}, "kernels.plan", "tile has 100 columns; expected"),
        ("bf16", {"target": "sm_100a", "tile": TensorTile(256, stages=9)}, "kernels.plan", "9 stages; expected 2 to 4"),
        ("e4m3", {"target": "sm_90a", "row_scales": E8, "column_scales": E8}, "kernels.target", "target sm_100a"),
        ("e4m3", {"target": "sm_100a", "row_scales": E8}, "kernels.type", "type ue8m0 and no factors; expected one of"),
        ("bf16", {"target": "sm_100a", "row_scales": E8, "column_scales": E8}, "kernels.type", "mxfp8: e4m3, e5m2"),
        (
            "e4m3", {"target": "sm_120a", "row_scales": E8[:60], "column_scales": E8[:, :0]},
            "kernels.shape", "expected shape (64, 2), with one factor for 32 elements along K, or the result of",
        ),
        ("e2m1", {"target": "sm_100a", "row_scales": E4[:, :3], "column_scales": E4}, "kernels.shape", "shape (64, 4)"),
        ("e2m1", {"target": "sm_100a"}, "kernels.type", "elements of float4_e2m1fn need scale factors; expected"),
        ("e2m1", {"target": "sm_90a", "row_scales": np.ones(64, "f4")}, "kernels.type", "need scale factors; expected"),
        ("bf16", {"target": "sm_107"}, "kernels.target", "the size of shared memory is not known for sm_107; expected"),
        ("bf16", {"target": "sm_100a", "bias_along": "x"}, "kernels.option", "is 'x'; expected 'column' or 'row'"),
        ("bf16", {"target": "sm_100a", "alpha": 1e300}, "kernels.option", "alpha is beyond the range of float32; exp"),
        ("bf16", {"target": "sm_100a", "beta": 10**400}, "kernels.option", "beta is beyond the range of float32; exp"),
        (
            "bf16", {"target": "sm_100a", "out": np.broadcast_to(np.ones(64, ml_dtypes.bfloat16), (64, 64))},
            "kernels.layout", "out is a read-only array; expected an array that can be written",
        ),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused(element: str, words: dict[str, Any], code: str, sentence: str) -> None:
    a, b = matrix(1, element, 64, 64), matrix(2, element, 64, 64)
    with pytest.raises(wl.UsageError) as error:
        api.gemm(a, b.T, device="cpu", **words)
    assert error.value.diagnostics[0].code == code
    assert sentence in str(error.value)


def test_matrices_of_4_bits_fit_before_they_are_packed() -> None:
    a, b = matrix(1, "e2m1", 64, 64), matrix(2, "e2m1", 64, 64)
    scales: dict[str, Any] = {"row_scales": E4, "column_scales": E4, "device": "cpu", "target": "sm_100a"}
    with pytest.raises(wl.UsageError, match=r"A has shape \(64, 63\) and B has shape \(64, 64\); expected"):
        gemm(a[:, :63], b.T, **scales)
    with pytest.raises(wl.UsageError, match="B has elements of float8_e4m3fn; expected float4_e2m1fn for both"):
        gemm(a, matrix(2, "e4m3", 64, 64).T, **scales)
    with pytest.raises(wl.UsageError, match="at least one dimension"):
        pack_e2m1(a[0, 0:1].reshape(()))


def test_factors_with_the_shape_of_an_atom_are_arranged() -> None:
    a, b = matrix(1, "e2m1", 32, 256), matrix(2, "e2m1", 32, 256)
    factors = np.random.default_rng(3).choice([0.5, 1, 2], (32, 16)).astype(ml_dtypes.float8_e4m3fn)
    words: dict[str, Any] = {"device": "cpu", "target": "sm_100a", "result": "f32"}
    d = gemm(a, b.T, row_scales=factors, column_scales=factors, **words)
    wide = [each.astype("f4") * factors.astype("f4").repeat(16, 1) for each in (a, b)]
    np.testing.assert_array_equal(d, wide[0] @ wide[1].T)
