"""Tiles in shared memory lie where matrix descriptors and swizzles say; roles; clusters."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl
from warploom.author import (
    Location,
    barrier,
    bounds,
    cluster_rank,
    cluster_sync,
    elected,
    f32,
    kernel,
    pointer,
    ptx,
    shared,
    shared_tile,
    special,
    tensor_map,
    u32,
    u64,
    wait,
    warp,
    warpgroup,
    when,
)
from warploom.layout import Descriptor
from warploom.layout.descriptor import matrix_addresses
from warploom.layout.swizzle import swizzle as swizzled

STAGES = 2


@kernel
def addresses(elements: pointer(u32), words: pointer(u64), *, rows, columns, type="bf16", swizzle, step):
    shared(48)  # what comes before the tile moves it
    tile = shared_tile(rows, columns, type, swizzle=swizzle, stages=STAGES)
    row = special("tid.x")
    for stage in range(STAGES):
        line = tile.row(row, stage)
        for column in range(columns):
            place = line.at(column)
            at = (stage * rows + row) * columns + column
            elements[at] = place.base + place.offset
        matrix = tile.descriptor(row=(row >> 3) * 8).stage(stage)
        for number, k in enumerate(range(0, columns, step)):
            words[(stage * rows + row) * (columns // step) + number] = matrix.at(k)


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize(("type", "size"), [("bf16", 2), ("e4m3", 1), ("f32", 4)])
def test_elements_lie_where_descriptors_say(swizzle, type, size):
    rows, columns, step = 16, (swizzle or 16) * 2 // size, 32 // size
    made = addresses.at(rows=rows, columns=columns, type=type, swizzle=swizzle, step=step)
    elements = np.zeros((STAGES, rows, columns), np.uint32)
    words = np.zeros((STAGES, rows, columns // step), np.uint64)
    args = [elements, words]
    wl.launch(made.module, grid=1, block=rows, shared=made.shared, args=args)
    elements = elements.astype(np.int64) - int(elements.min()) + 1024
    span = swizzle or 16
    plain = matrix_addresses(rows * span, 8 * span, swizzle, rows=rows, k=columns, element_bytes=size)
    for stage in range(STAGES):
        start = 1024 + stage * rows * columns * size
        expected = swizzled(plain.astype(np.int64) + start, swizzle)
        np.testing.assert_array_equal(elements[stage], expected)
        for row in range(0, rows, 8):
            for number, word in enumerate(words[stage, row]):
                found = Descriptor.decode(int(word)).addresses(8, step, size).astype(np.int64)
                found += 1024 - Descriptor.decode(int(words.min())).start_address
                part = expected[row : row + 8, number * step : (number + 1) * step]
                np.testing.assert_array_equal(found, part)


@kernel
def roles(out: pointer(u32)):
    t = special("tid.x")
    with when(warpgroup() == 1):
        number = warp()
        barrier(3, 128).wait()
        barrier(4, 256).arrive()
        with when(elected()):
            out[number] = number + 100
    with when(warpgroup() == 0):
        barrier((t >> 31) + 4, 256).wait()


def test_roles():
    out = np.zeros(8, np.uint32)
    assert not wl.launch(roles.module, grid=1, block=256, args=[out], sanitize=True).findings
    assert out.tolist() == [0, 0, 0, 0, 104, 105, 106, 107]


@kernel
def spread(source: tensor_map, out: pointer(f32)):
    """The first CTA of a pair copies a tile into both."""
    bounds(threads=32, cluster=(2, 1, 1))
    tile = shared_tile(8, 64, f32, swizzle=128)
    full = shared(8, align=8)
    t, rank = special("tid.x"), cluster_rank()
    with when(t == 0):
        ptx.mbarrier_init(full.at(), 1)
        ptx.fence(op_restrict="mbarrier_init", sem="release", scope="cluster")
        ptx.mbarrier_arrive_expect_tx(full.at(), tile.bytes)
    cluster_sync()
    with when((t | rank) == 0):
        to = Location(full.address(), space="shared::cluster")
        tile.load(source, (0, 8), to, multicast=ptx.mov(3, type="b16"))
    wait(full.at(), 0)
    with when(t < 8):
        line = tile.row(t)
        for column in range(64):
            out[(rank * 8 + t) * 64 + column] = ptx.ld(line.at(column), type=f32)
    cluster_sync()


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
def test_a_tile_is_copied_into_both_ctas(schedule):
    source, out = np.arange(16 * 64, dtype=np.float32).reshape(16, 64), np.zeros((2, 8, 64), np.float32)
    args = [wl.TensorMap.tiled(source, (8, 32), swizzle=128), out]
    run = wl.launch(
        spread.module,
        grid=2,
        block=32,
        shared=spread.shared,
        args=args,
        sanitize=True,
        schedule=schedule,
    )
    assert not run.findings
    np.testing.assert_array_equal(out, np.stack([source[8:], source[8:]]))
