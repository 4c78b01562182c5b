"""Small kernels of clusters, bulk copies, tensor maps and warp votes, compiled by nvcc.

The source is tests/corpus/src/cluster.cu.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from runtime import kernels
from runtime.sums import Array

import warploom as wl

micro = partial(kernels.micro, "cluster_tma_sm90a.ptx")


def test_every_cta_reads_its_neighbour_in_the_cluster() -> None:
    (found,) = micro("dsmem_ring", [np.zeros((2, 4, 128), np.uint32)], grid=8, block=128)
    rank, thread = (np.arange(4) + 1) % 4, np.arange(128)
    np.testing.assert_array_equal(found, np.broadcast_to(rank[:, None] * 1000 + thread, (2, 4, 128)))


@pytest.mark.parametrize("words", [4, 100, 1024])
def test_a_bulk_copy_goes_to_shared_memory_and_back(words: int) -> None:
    data = np.random.default_rng(words).integers(0, 2**32, 1024).astype(np.uint32)
    found = micro("bulk_copy", [data, np.zeros(1024, np.uint32), 4 * words], block=128)[1]
    expected = np.where(np.arange(1024) < words, data + np.uint32(1), 0)
    np.testing.assert_array_equal(found, expected)


def test_a_bulk_reduction_adds_once_for_every_cta() -> None:
    random = np.random.default_rng(1)
    # Whole numbers: the CTAs may come in any order.
    data, held = (random.integers(-999, 999, shape).astype(np.float32) for shape in ((5, 256), (256,)))
    found = micro("bulk_red_add_f32", [data, held], grid=5, block=256)[1]
    np.testing.assert_array_equal(found, data.sum(0) + held)


def test_a_bulk_reduction_rounds_as_one_addition() -> None:
    random = np.random.default_rng(2)
    data, held = (random.standard_normal(256).astype(np.float32) for _ in range(2))
    found = micro("bulk_red_add_f32", [data, held], block=256)[1]
    np.testing.assert_array_equal(found, data + held)


def test_arrivals_at_the_other_cta_s_mbarrier_complete_it() -> None:
    (found,) = micro("remote_arrive", [np.zeros((3, 2, 32), np.uint32)], grid=6)
    np.testing.assert_array_equal(found, np.broadcast_to(np.array([[1], [2]]), (3, 2, 32)))


def test_one_lane_is_elected_and_all_know_it() -> None:
    (found,) = micro("elect_vote", [np.zeros((32, 2), np.uint32)])
    leader, elected = found[:, 0], found[:, 1]
    assert elected.sum() == 1
    assert (leader == np.flatnonzero(elected)[0]).all()


def test_warpgroups_may_hand_registers_over() -> None:
    (found,) = micro("setmaxnreg_demo", [np.zeros(256, np.uint32)], block=256)
    np.testing.assert_array_equal(found, np.repeat([1, 2], 128))


def test_redux_shfl_and_match() -> None:
    data = np.random.default_rng(3).integers(-4, 4, 32).astype(np.int32)
    found = micro("redux_shfl", [data, np.zeros((32, 4), np.int32)])[1]
    lane = np.arange(32)
    same = (data[:, None] == data) @ (np.uint64(1) << np.arange(32, dtype=np.uint64))
    expected = [
        np.full(32, data.sum()),
        np.full(32, data.min()),
        data[lane ^ 5],
        same.astype(np.uint32).view(np.int32),
    ]
    np.testing.assert_array_equal(found, np.stack(expected, axis=1))


# Tensor maps ------------------------------------------------------------------------------------------------


def _box(array: Array, box: tuple[int, ...], at: tuple[int, ...], steps: tuple[int, ...], fill: Any) -> Array:
    """The box at coordinates in the array's axis order, elements out of bounds filled."""
    extents = [-(-size // step) for size, step in zip(box, steps, strict=True)]
    out = np.full(extents, fill, array.dtype)
    for place in product(*(range(extent) for extent in extents)):
        source = tuple(a + p * s for a, p, s in zip(at, place, steps, strict=True))
        if all(0 <= index < size for index, size in zip(source, array.shape, strict=True)):
            out[place] = array[source]
    return out


def _load(tensor: wl.TensorMap, at: tuple[int, ...], size: int, room: int = 0) -> Array:
    """The first bytes of shared memory after a load; `at` in the array's axis order."""
    rank = len(at)
    coordinates = [*at[::-1], *[0] * (5 - rank)]
    out = np.full(room or size, 0xEE, np.uint8)
    args = [tensor, out, size, *coordinates]
    return micro(f"tma_load_{rank}d", args, block=64, shared=-(-size // 1024) * 1024)[1]


SHAPES: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {
    1: ((40,), (16,)),
    2: ((20, 24), (5, 16)),
    3: ((6, 7, 24), (2, 3, 8)),
    4: ((3, 5, 4, 16), (2, 2, 3, 8)),
    5: ((3, 2, 4, 3, 16), (2, 2, 2, 2, 8)),
}


@pytest.mark.parametrize("place", ["inside", "negative", "beyond", "outside"])
@pytest.mark.parametrize("rank", SHAPES)
def test_a_tile_arrives_and_what_is_out_of_bounds_is_filled(rank: int, place: str) -> None:
    shape, box = SHAPES[rank]
    array = np.random.default_rng(rank).integers(1, 60000, shape).astype(np.uint16)
    # The innermost coordinate is a multiple of 16 bytes: 8 elements.
    at = {
        "inside": (*[1] * (rank - 1), 8),
        "negative": (*[-1] * (rank - 1), -8),
        "beyond": (*[extent - 1 for extent in shape[:-1]], shape[-1] - 8),
        "outside": (*[extent + 3 for extent in shape[:-1]], shape[-1]),
    }[place]
    expected = _box(array, box, at, (1,) * rank, 0)
    assert place != "outside" or not expected.any()
    found = _load(wl.TensorMap.tiled(array, box), at, expected.nbytes)
    np.testing.assert_array_equal(found, expected.reshape(-1).view(np.uint8))


def test_floats_out_of_bounds_may_be_nan() -> None:
    array = np.random.default_rng(1).standard_normal((6, 8)).astype(np.float32)
    found = (
        _load(wl.TensorMap.tiled(array, (4, 8), oob_fill="nan"), (-2, 4), 128).view(np.float32).reshape(4, 8)
    )
    np.testing.assert_array_equal(found, _box(array, (4, 8), (-2, 4), (1, 1), np.nan))


def test_a_map_over_a_strided_view_copies_the_view() -> None:
    array = np.random.default_rng(2).integers(0, 60000, (12, 5, 32)).astype(np.uint16)
    view = array[1::2, 2, 8:24]
    found = _load(wl.TensorMap.tiled(view, (3, 8)), (2, 8), 48)
    np.testing.assert_array_equal(found, np.ascontiguousarray(view[2:5, 8:16]).view(np.uint8).reshape(-1))


def test_element_strides_skip_rows() -> None:
    array = np.arange(20 * 16, dtype=np.uint16).reshape(20, 16)
    tensor = wl.TensorMap.tiled(array, (9, 8), element_strides=(3, 1))
    expected = _box(array, (9, 8), (2, 8), (3, 1), 0)
    assert expected.shape == (3, 8)
    np.testing.assert_array_equal(_load(tensor, (2, 8), expected.nbytes), expected.reshape(-1).view(np.uint8))


@pytest.mark.parametrize("span", [32, 64, 128])
def test_a_swizzle_moves_chunks_of_16_bytes(span: int) -> None:
    array = np.random.default_rng(span).integers(0, 60000, (24, 64)).astype(np.uint16)
    rows, columns = 16, span // 2
    found = _load(wl.TensorMap.tiled(array, (rows, columns), swizzle=span), (4, 0), rows * span)
    tile = np.ascontiguousarray(array[4 : 4 + rows, :columns]).view(np.uint8)
    row, byte = np.indices(tile.shape)
    line = (row * span + byte) // 128  # of 128 bytes in shared memory
    chunk = byte // 16 ^ line % (span // 16)
    expected = np.zeros_like(tile)
    expected[row, chunk * 16 + byte % 16] = tile
    np.testing.assert_array_equal(found, expected.reshape(-1))


def test_a_multicast_tile_arrives_in_both_ctas() -> None:
    array = np.random.default_rng(4).integers(0, 60000, (100, 96)).astype(np.uint16)
    tensor = wl.TensorMap.tiled(array.view(np.float16), (64, 64), swizzle=128)
    found = micro(
        "tma_multicast", [tensor, np.zeros((2, 2048), np.uint32), 32, 50], grid=2, block=128, shared=8192
    )[1]
    tile = np.zeros((64, 64), np.uint16)
    tile[:50] = array[50:, 32:]
    expected = np.zeros((64, 8, 8), np.uint16)
    row, chunk = np.indices((64, 8))
    expected[row, chunk ^ row % 8] = tile.reshape(64, 8, 8)
    for copy in found:
        np.testing.assert_array_equal(copy, expected.reshape(-1).view(np.uint32))


def test_every_small_kernel_is_tested() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in kernels.CORPUS.parent.glob("runtime/test_micro*.py")
    )
    for file in ("cluster_tma_sm90a.ptx", "micro_sm90a.ptx", "wgmma_raw_sm90a.ptx"):
        for name, function in kernels.module(file).functions.items():
            spelled = (
                name.replace("and_", "{operation}_").replace("xor_", "{operation}_")
                if "mma_b1" in name
                else name
            )
            spelled = "tma_load_{rank}d" if name.startswith("tma_load") else spelled
            assert function.kind != "entry" or name in text or spelled in text, name
