"""`gemm` on a GPU: which kernel it takes there, and what reaches it. No kernel runs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gpu.nvidia import Fake, Tensor

import warploom as wl
from warploom.kernels import api, compress, gemm, grouped_gemm, prepared, prune

WARP = (*[8] * 7, 4, 4, *[4] * 4, *[8] * 4, 4, 4, 4)
"""Sizes of the warp-level kernel's parameters: pointers, alpha and beta, strides, planes, M, N and K."""


class Matrix(Tensor):
    """One that can be transposed."""

    ndim = property(lambda self: self.array.ndim)

    def swapaxes(self, first: int, second: int) -> Matrix:
        return Matrix(self.array.swapaxes(first, second))


@pytest.fixture(autouse=True)
def _fresh(fake: Fake) -> Iterator[None]:
    """No multiplication is ready before a test, and none that a fake GPU has is after it."""
    for turn in range(2):
        prepared.gpu_of.cache_clear()
        api._PREPARED.clear()
        if not turn:
            yield


def matrix(*shape: int, dtype: Any = np.float16) -> Matrix:
    return Matrix(np.ones(shape, dtype))


def address(held: Tensor) -> int:
    return held.array.__array_interface__["data"][0]


@pytest.mark.parametrize(("capability", "target"), [((8, 6), ""), ((9, 0), "sm_80"), ((12, 0), "")])
def test_the_warp_level_kernel_gets_addresses_strides_and_sizes(
    fake: Fake, capability: tuple[int, int], target: str
) -> None:
    found: list[bytes] = []
    fake.capability, fake.kernel, fake.sizes = capability, found.append, WARP
    a, b, d = matrix(2, 40, 24), matrix(24, 16), matrix(2, 40, 16)
    bias = Matrix(np.ones(16, np.float32))
    for _ in range(2):
        assert gemm(a, b, out=d, bias=bias, alpha=0.5, target=target) is d
    places = [address(each) for each in (a, b, d, d)]
    assert found == 2 * [
        struct.pack(
            "<7Q2f4I4Q3I", *places, 0, 0, address(bias), 0.5, 0.0, 48, 32, 32, 32, 40 * 48, 0, 40 * 32, 40 * 32, 40, 16,
            24,
        )
    ]  # fmt: skip
    first, second = fake.launched
    assert first is second
    assert (first.gridDimX, first.blockDimX) == (2, 128)
    assert not getattr(first, "numAttrs", 0)  # no cluster, and no launch before the one before it has ended


def test_a_gpu_of_hopper_takes_a_compressed_a(fake: Fake) -> None:
    fake.kernel, seen = seen_by(fake)
    held = compress(prune(np.ones((64, 64), np.float16)))
    a = wl.kernels.Compressed(Matrix(held.values), Matrix(held.metadata), 64)
    b, d = matrix(64, 64), matrix(64, 64)
    gemm(a, b, out=d)
    (parameters,) = seen
    assert [parameters[name] for name in "abd"] == [address(each) for each in (a.values, b, d)]
    assert parameters["metadata"] == address(a.metadata)


def seen_by(fake: Fake) -> tuple[Any, list[dict[str, int]]]:
    """What plays the kernel for Hopper, and the addresses that reach it: the first eight bytes of tensor maps."""
    maps, pointers = "abcd", ("partial", "flags", "row_scales", "column_scales", "bias", "metadata", "ends")
    numbers = (4, 4, 8, 8, 8, *[4] * 8, *[8] * 6)
    fake.sizes = (*[128] * len(maps), *[8] * len(pointers), *numbers)
    seen: list[dict[str, int]] = []

    def kernel(block: bytes) -> None:
        begins = [*range(0, 512, 128), *range(512, 512 + 8 * len(pointers), 8)]
        seen.append(
            {
                name: int.from_bytes(block[begin : begin + 8], "little")
                for name, begin in zip((*maps, *pointers), begins, strict=True)
            }
        )

    return kernel, seen


@pytest.mark.parametrize(
    ("capability", "call", "sentence"),
    [
        ((7, 5), {}, "the kernels need sm_80 or newer; a fake is sm_75"),
        ((8, 0), {"target": "sm_90a"}, "the kernel is for sm_90a; the GPU that is here, a fake, is sm_80"),
        ((8, 0), {"tile": wl.kernels.Tile()}, "expected a WarpTile for sm_80"),
        ((9, 0), {"tile": wl.kernels.WarpTile()}, "expected a Tile for sm_90a"),
    ],
)
def test_what_a_gpu_has_not_is_refused(
    fake: Fake, capability: tuple[int, int], call: dict[str, Any], sentence: str
) -> None:
    fake.capability = capability
    with pytest.raises(wl.UsageError) as error:
        gemm(matrix(16, 16), matrix(16, 16), out=matrix(16, 16), **call)
    assert sentence in str(error.value)


def test_groups_are_for_hopper(fake: Fake) -> None:
    fake.capability = (8, 9)
    ends = Matrix(np.array([16], np.int32))
    with pytest.raises(
        wl.UsageError, match="no kernels of sm_89 support grouped rows; expected target sm_90a"
    ):
        grouped_gemm(matrix(16, 16), matrix(1, 16, 16), ends, out=matrix(16, 16))


def test_addresses_that_copies_cannot_take_are_refused(fake: Fake) -> None:
    fake.sizes = WARP
    odd = Matrix(np.ones((16, 24), np.float16)[:, 4:20])
    with pytest.raises(
        wl.UsageError, match="A, B, C or D is not aligned; expected addresses that are multiples of 16 bytes"
    ):
        gemm(odd, matrix(16, 16), out=matrix(16, 16), target="sm_80")
