"""Common Triton kernels run unmodified, agree with their references, and have no findings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from importlib.metadata import version
from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")

import triton
from integrations import references
from integrations import triton_kernels as kernels
from triton.tools.tensor_descriptor import TensorDescriptor

from warploom.integrations import triton as emulation

RNG = np.random.default_rng(8)
OLD_TRITON_FINDINGS = {
    "sanitize.mbarrier/reinitialised",
    "sanitize.mbarrier/overwritten",
    "sanitize.mbarrier/excess",
    "sanitize.proxy/async",
}
"""Findings in code of Triton before 3.9, which reuses the memory of mbarriers without invalidation and fence."""
VERSION = tuple(map(int, version("triton").split(".")[:2]))


@pytest.fixture(autouse=True)
def _emulator() -> Iterator[None]:
    """Run, check and sanitize every kernel on the emulator; a finding fails the test."""
    with emulation.emulate(check=True, sanitize=True, strict=True):
        yield


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape, np.float32).astype(dtype)


def test_vector_add() -> None:
    x, y, out = normal(1000), normal(1000), np.zeros(1000, np.float32)
    kernels.add[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, out, 1000, BLOCK=256)
    np.testing.assert_array_equal(out, x + y)


def test_softmax_of_strided_rows() -> None:
    x, out = normal(7, 96)[:, :83], np.zeros((7, 83), np.float32)
    kernels.softmax[(3,)](out, x, 96, 83, 7, 83, BLOCK=128, STAGES=2, num_warps=4)
    np.testing.assert_allclose(out, references.softmax(x), rtol=1e-5)


def test_layer_norm() -> None:
    x, weight, bias = normal(5, 300, dtype=np.float16), normal(300), normal(300)
    out, mean, rstd = np.zeros_like(x), np.zeros(5, np.float32), np.zeros(5, np.float32)
    kernels.layer_norm[(5,)](x, out, weight, bias, mean, rstd, 300, 1e-5, BLOCK=128)
    np.testing.assert_allclose(out, references.layer_norm(x, weight, bias, 1e-5), rtol=4e-3, atol=2e-3)
    np.testing.assert_allclose(mean, x.astype(np.float64).mean(-1), atol=1e-6)


def test_dropout_by_philox() -> None:
    x, out = normal(500), np.zeros(500, np.float32)
    kernels.dropout[(2,)](x, out, 500, 0.25, 1234, BLOCK=256)
    kept = references.philox(1234, 500) > 0.25
    assert 0.6 < kept.mean() < 0.9
    np.testing.assert_allclose(out, np.where(kept, x / np.float32(0.75), 0), rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "arch", "tolerance"),
    [(np.float16, 90, 1e-2), (ml_dtypes.bfloat16, 80, 6e-2), (ml_dtypes.float8_e4m3fn, 90, 1e-2), (np.int8, 80, 0)],
    ids=lambda value: np.dtype(value).name if isinstance(value, type) else str(value),
)
def test_gemm(dtype: Any, arch: int, tolerance: float) -> None:
    M, N, K = 100, 96, 96
    whole = dtype is np.int8
    a, b = ((RNG.integers(-99, 99, s).astype(dtype) if whole else normal(*s, dtype=dtype)) for s in ((M, K), (N, K)))
    b = b.T
    kind = np.int32 if whole else np.float16 if dtype is ml_dtypes.float8_e4m3fn else dtype
    c = np.zeros((M, N), kind)
    steps = [step // array.itemsize for array in (a, b, c) for step in array.strides]
    sums = triton.language.int32 if whole else triton.language.float32
    with emulation.emulate(arch=arch, check=True, sanitize=True, strict=True) as runs:
        kernels.gemm[(triton.cdiv(M, 64) * triton.cdiv(N, 64),)](
            a, b, c, M, N, K, *steps, BM=64, BN=64, BK=32 if arch == 80 else 64, GROUP=2, SUMS=sums, num_warps=4
        )
    assert runs[0].stats.macs >= M * N * K
    wide = np.int64 if whole else np.float64
    np.testing.assert_allclose(c.astype(wide), a.astype(wide) @ b.astype(wide), rtol=tolerance, atol=tolerance * 4)


@pytest.mark.parametrize("arch", [80, 90])
def test_gemm_by_descriptors_of_the_host(arch: int) -> None:
    M, N, K = 128, 64, 128
    a, b, c = normal(M, K, dtype=np.float16), normal(N, K, dtype=np.float16), np.zeros((M, N), np.float16)
    boxes = [[64, 64], [64, 64], [64, 64]]
    made = [TensorDescriptor.from_tensor(emulation.tensor(x), box) for x, box in zip((a, b, c), boxes)]
    with emulation.emulate(arch=arch, check=True, sanitize=True, strict=True):
        kernels.gemm_by_descriptors[(M // 64, N // 64)](*made, K, BM=64, BN=64, BK=64)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.T.astype(np.float64), rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize("special", [False, True], ids=["flat", "warp_specialised"])
def test_persistent_gemm_by_descriptors_of_the_device(special: bool) -> None:
    M, N, K = 256, 128, 128
    a, b, c = normal(M, K, dtype=np.float16), normal(N, K, dtype=np.float16), np.zeros((M, N), np.float16)
    triton.set_allocator(lambda size, align, stream: np.empty(size, np.int8))
    warned = special and VERSION < (3, 9)
    expected = pytest.warns(emulation.FindingsWarning) if warned else nullcontext()
    with expected, emulation.emulate(check=True, sanitize=True, strict=not warned) as runs:
        kernels.gemm_persistent[(2,)](
            a, b, c, M, N, K, BM=128, BN=64, BK=64, SPECIAL=special, num_stages=2, num_warps=4
        )
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.T.astype(np.float64), rtol=2e-3, atol=2e-2)
    assert (runs[0].block > 128) == special
    assert {found.code for found in runs[0].findings} <= OLD_TRITON_FINDINGS


def test_causal_attention() -> None:
    q, k, v = (normal(2, 128, 64, dtype=np.float16) for _ in range(3))
    out = np.zeros_like(q)
    kernels.attention[(2, 2)](q, k, v, out, 128, 128 * 64, 0.125, BM=64, BN=32, WIDTH=64)
    np.testing.assert_allclose(out, references.attention(q, k, v, 0.125), rtol=2e-2, atol=5e-3)


def test_split_sums_by_atomics() -> None:
    a, b, c = (normal(64, 256, dtype=np.float16), normal(256, 64, dtype=np.float16), np.zeros((64, 64), np.float32))
    kernels.gemm_split[(1, 4)](a, b, c, 64, 256, BM=64, BN=64, BK=32, SPLIT=4)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)


def test_histogram_and_atomic_maximum() -> None:
    x = RNG.integers(0, 32, 500, dtype=np.int32)
    counts, largest = np.zeros(32, np.int32), np.zeros(1, np.int32)
    kernels.histogram[(2,)](x, counts, largest, 500, BLOCK=256, BINS=32)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=32))
    assert largest[0] == x.max()


def test_associative_scan() -> None:
    decay, x = RNG.uniform(0.5, 1, (3, 128)).astype(np.float32), normal(3, 128)
    out = np.zeros_like(x)
    kernels.scan[(3,)](decay, x, out, BLOCK=128)
    np.testing.assert_allclose(out, references.decaying_sums(decay, x), rtol=1e-4, atol=1e-5)


def test_argmax_takes_the_first_of_equals() -> None:
    x, at = RNG.integers(0, 9, (4, 100)).astype(np.float32), np.zeros(4, np.int32)
    kernels.argmax[(4,)](x, at, 100, BLOCK=128)
    np.testing.assert_array_equal(at, x.argmax(-1))


def test_sort_and_gather() -> None:
    x, at = normal(2, 128), RNG.integers(0, 128, (2, 128), dtype=np.int32)
    ordered, taken = np.zeros_like(x), np.zeros_like(x)
    kernels.sort_and_gather[(2,)](x, at, ordered, taken, BLOCK=128)
    np.testing.assert_array_equal(ordered, np.sort(x))
    np.testing.assert_array_equal(taken, np.take_along_axis(x, at, 1))


def test_cross_entropy_and_its_gradient() -> None:
    logits, target = 3 * normal(4, 200), RNG.integers(0, 200, 4)
    loss, exact = np.zeros(4, np.float32), logits.astype(np.float64)
    kernels.cross_entropy[(4,)](logits, target, loss, 200, BLOCK=64, num_warps=2)
    chances = references.softmax(exact)
    np.testing.assert_allclose(loss, -np.log(chances[np.arange(4), target]), rtol=1e-5)
    chances[np.arange(4), target] -= 1
    np.testing.assert_allclose(logits, chances, rtol=1e-4, atol=1e-6)


def test_quantising_groups_to_fp8() -> None:
    x, scales = normal(6, 128), np.zeros(6, np.float32)
    out = np.zeros((6, 128), ml_dtypes.float8_e4m3fn)
    kernels.quantise[(6,)](x, out, scales, GROUP=128)
    np.testing.assert_allclose(scales, abs(x).max(-1) / 448, rtol=1e-6)
    np.testing.assert_allclose(out.astype(np.float32) * scales[:, None], x, rtol=2**-4, atol=2**-9 * scales.max())


def test_rotary_embedding_in_place() -> None:
    x, angle = normal(5, 3, 64), normal(5, 32)
    whole = (x[..., :32] + 1j * x[..., 32:]) * np.exp(1j * angle)[:, None]
    kernels.rotate[(5,)](x, np.cos(angle), np.sin(angle), 3, HALF=32, num_warps=1)
    np.testing.assert_allclose(x, np.concatenate([whole.real, whole.imag], -1), rtol=1e-4, atol=1e-5)


def test_warps_with_shared_elements_race_in_an_in_place_kernel() -> None:
    # 32 elements in four warps: each has all of them, and a late one reads what another has written.
    x, angle = normal(1, 1, 64), normal(1, 32)
    with pytest.raises(emulation.FindingsError, match=r"sanitize\.race/global"):
        kernels.rotate[(1,)](x, np.cos(angle), np.sin(angle), 1, HALF=32, num_warps=4)


def test_a_cluster_of_two() -> None:
    x, y, out = normal(1024), normal(1024), np.zeros(1024, np.float32)
    with emulation.emulate(check=True, sanitize=True, strict=True) as runs:
        kernels.add[(2,)](x, y, out, 1024, BLOCK=512, num_ctas=2)
    np.testing.assert_array_equal(out, x + y)
    assert (runs[0].grid, runs[0].cluster) == ((4, 1, 1), 2)
