"""Tensor copies of Blackwell against NumPy: four rows, swizzles, padded elements, im2col along W, pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warploom as wl
from warploom.emulator.faults import Trap

HEAD = ".version 9.0\n.target sm_100a\n.address_size 64\n"
SCHEDULES = ["eager", "lazy", "random:3"]


def _kernel(copy: str, size: int, *, store: str = "", counted: int = 0) -> str:
    """A kernel that loads a box of `size` bytes with one copy, and writes shared memory to `out`.

    The copy completes `counted` bytes on the mbarrier, or `size` bytes.
    """
    return f"""{HEAD}
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{{
    .reg .u32 %r<8>;
    .reg .u64 %rd<8>;
    .reg .u16 %h<8>;
    .reg .pred %p<4>;
    .shared .align 1024 .b8 buffer[{size + 64}];
    .shared .align 8 .b64 bar;
    mov.u64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra wait;
    mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {counted or size};
    {copy}
wait:
    bar.sync 0;
again:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra again;
    {store}
    mov.u32 %r2, buffer;
    mov.u32 %r3, %r1;
next:
    add.u32 %r4, %r2, %r3;
    ld.shared.u8 %h1, [%r4];
    cvt.u64.u32 %rd3, %r3;
    add.u64 %rd3, %rd3, %rd2;
    st.global.u8 [%rd3], %h1;
    add.u32 %r3, %r3, 32;
    setp.lt.u32 %p3, %r3, {size};
    @%p3 bra next;
    ret;
}}
"""


def _load(
    copy: str, tensor_map: Any, size: int, schedule: str = "eager", counted: int = 0, **options: Any
) -> np.ndarray:
    out = np.full(size, 0xEE, np.uint8)
    text = f"cp.async.bulk.tensor.{copy};"
    wl.launch(
        _kernel(text, size, counted=counted), grid=1, block=32, args=[tensor_map, out], schedule=schedule, **options
    )
    return out


TILE = "shared::cta.global.tile.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("swizzle", [0, 128])
def test_gather4(schedule: str, swizzle: int) -> None:
    source = np.random.default_rng(1).integers(0, 2**16, (20, 128), np.uint16)
    tensor_map = wl.TensorMap.tiled(source, (1, 64), swizzle=swizzle)
    copy = (
        "2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [buffer], [%rd1, {64, 3, 19, 30, 0}], [bar]"
    )
    got = _load(copy, tensor_map, 512, schedule, sanitize=True)
    rows = np.stack([source[3, 64:], source[19, 64:], np.zeros(64, np.uint16), source[0, 64:]]).view(np.uint8)
    at = np.arange(512)
    if swizzle:
        at ^= (at >> 7 & 7) << 4
    np.testing.assert_array_equal(got[at], rows.reshape(-1))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_scatter4(schedule: str) -> None:
    source = np.arange(4 * 64, dtype=np.uint16).reshape(4, 64)
    target = np.zeros((20, 64), np.uint16)
    text = f"""{HEAD}
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 in)
{{
    .reg .u32 %r<8>;
    .reg .u64 %rd<8>;
    .reg .b64 %v<2>;
    .shared .align 128 .b8 buffer[512];
    mov.u64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [in];
    mov.u32 %r2, buffer;
    mov.u32 %r3, 0;
    .reg .pred %p1;
next:
    cvt.u64.u32 %rd3, %r3;
    add.u64 %rd3, %rd3, %rd2;
    ld.global.b64 %v0, [%rd3];
    add.u32 %r4, %r2, %r3;
    st.shared.b64 [%r4], %v0;
    add.u32 %r3, %r3, 8;
    setp.lt.u32 %p1, %r3, 512;
    @%p1 bra next;
    fence.proxy.async.shared::cta;
    cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {{0, 5, 19, 25, 2}}], [buffer];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
}}
"""
    tensor_map = wl.TensorMap.tiled(target, (1, 64))
    run = wl.launch(text, grid=1, block=1, args=[tensor_map, source], schedule=schedule, sanitize=True)
    assert not run.findings
    expected = np.zeros_like(target)
    expected[[5, 19, 2]] = source[[0, 1, 3]]
    np.testing.assert_array_equal(target, expected)


def test_a_gather_needs_a_box_of_one_row() -> None:
    tensor_map = wl.TensorMap.tiled(np.zeros((8, 64), np.uint16), (2, 64))
    copy = "2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [buffer], [%rd1, {0, 3, 1, 3, 0}], [bar]"
    with pytest.raises(wl.WarploomError, match="expected a tiled map with a box of one row"):
        _load(copy, tensor_map, 512)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("atomicity", "place"),
    [
        ("32B", lambda line, byte: line * 128 + ((byte // 32 ^ line % 4) * 32 + byte % 32)),
        (
            "32B with 8B flip",
            lambda line, byte: line * 128 + (((byte // 32 ^ line % 4) * 32 + byte % 32) ^ 8 * (line % 2)),
        ),
        ("64B", lambda line, byte: line * 128 + ((byte // 64 ^ line % 2) * 64 + byte % 64)),
    ],
)
def test_atoms_of_a_swizzle_stay_together(atomicity: str, place: Any, schedule: str) -> None:
    source = np.random.default_rng(1).integers(0, 256, (16, 128), np.uint8)
    tensor_map = wl.TensorMap.tiled(source, (16, 128), swizzle=128, swizzle_atomicity=atomicity)
    got = _load(f"2d.{TILE} [buffer], [%rd1, {{0, 0}}], [bar]", tensor_map, 2048, schedule)
    expected = np.zeros(2048, np.uint8)
    for line, byte in np.ndindex(16, 128):
        expected[place(line, byte)] = source[line, byte]
    np.testing.assert_array_equal(got, expected)


def test_rows_of_96_bytes() -> None:
    source = np.random.default_rng(1).integers(0, 256, (16, 96), np.uint8)
    tensor_map = wl.TensorMap.tiled(source, (16, 96), swizzle=96)
    got = _load(f"2d.{TILE} [buffer], [%rd1, {{0, 0}}], [bar]", tensor_map, 1536)
    at = np.arange(1536)
    np.testing.assert_array_equal(got[at ^ (at >> 7 & 1) << 4], source.reshape(-1))


@pytest.mark.parametrize(("element", "packed"), [("b4x16_p64", 8), ("b6x16_p32", 12)])
@pytest.mark.parametrize("swizzle", [0, 128])
def test_padded_elements(element: str, packed: int, swizzle: int) -> None:
    row = 8 * packed  # bytes of 128 elements
    source = np.random.default_rng(1).integers(0, 256, (12, 2 * row), np.uint8)
    tensor_map = wl.TensorMap.tiled(source, (8, 128), dtype=element, swizzle=swizzle)
    got = _load(f"2d.{TILE} [buffer], [%rd1, {{128, 6}}], [bar]", tensor_map, 1024, counted=512 if packed == 8 else 768)
    expected = np.zeros((8, 8, 16), np.uint8)
    expected[:6, :, :packed] = source[6:, row:].reshape(6, 8, packed)
    at = np.arange(1024)
    if swizzle:
        at ^= (at >> 7 & 7) << 4
    np.testing.assert_array_equal(got[at], expected.reshape(-1))


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("mode", "halo", "offset"), [("w", 2, 1), ("w", 0, 0), ("w::128", 2, 0), ("w::128", 1, 3)])
def test_im2col_along_w(mode: str, halo: int, offset: int, schedule: str) -> None:
    source = np.random.default_rng(1).integers(0, 256, (40, 3, 9, 16), np.uint8)  # N, H, W, C
    tensor_map = wl.TensorMap.im2col(source, (0, 0), (0, 0), 16, 32)
    start, height, batch = 7, 2, 1
    parts = [(0, 32)] if mode == "w" else [(first, first + 32) for first in range(0, 128, 32)]
    walk = [(start + offset + k, batch) for k in range(9 - start)]
    image = batch
    while len(walk) < 128:
        image += 1
        walk += [(offset + column, image) for column in range(9)]
    pixels = []
    for first, end in parts:
        pixels += walk[first:end]
        column, image = walk[end - 1]
        pixels += [(column + k, image) for k in range(1, halo + 1)]
    expected = [
        source[image, height, column] if column < 9 and image < 40 else np.zeros(16, np.uint8)
        for column, image in pixels
    ]
    copy = f"4d.shared::cta.global.im2col::{mode}.mbarrier::complete_tx::bytes"
    copy += f" [buffer], [%rd1, {{0, {start}, {height}, {batch}}}], [bar], {{{halo}, {offset}}}"
    got = _load(copy, tensor_map, 16 * len(pixels), schedule)
    np.testing.assert_array_equal(got, np.concatenate(expected))


PAIR = f"""{HEAD}
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{{
    .reg .u32 %r<12>;
    .reg .u64 %rd<8>;
    .reg .pred %p<6>;
    .shared .align 128 .b8 buffer[128];
    .shared .align 8 .b64 bar;
    mov.u64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %cluster_ctarank;
    mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 %r2, bar;
    and.b32 %r3, %r2, 0xFEFFFFFF;
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p1, %r4, 0;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
    mov.u32 %r5, buffer;
    mul.lo.u32 %r6, %r1, 32;
    cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2
        [%r5], [%rd1, {{%r6}}], [%r3];
    @!%p1 bra done;
again:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra again;
    ld.shared.u32 %r7, [buffer+4];
    add.u32 %r8, %r5, 0x1000000;
    ld.shared::cluster.u32 %r9, [%r8+4];
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd3, %rd3, %rd2;
    st.global.v2.u32 [%rd3], {{%r7, %r9}};
done:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}}
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_even_cta_of_a_pair_counts_the_bytes(schedule: str) -> None:
    source, out = np.arange(4 * 32, dtype=np.uint32), np.zeros(4, np.uint32)
    tensor_map = wl.TensorMap.tiled(source, (32,))
    options: Any = {"grid": 4, "block": 1, "cluster": 4, "schedule": schedule, "sanitize": True}
    run = wl.launch(PAIR, args=[tensor_map, out], **options)
    assert out.tolist() == [1, 33, 65, 97]
    assert not run.findings


LEFT = "mov.u32 %r10, 0;\nspin:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p3, %r10, 200;\n@%p3 bra spin;\n"
MULTICAST = ".multicast::cluster.cta_group::2\n        [%r5], [%rd1, {%r6}], [%r3], 3;"


@pytest.mark.parametrize("multicast", [False, True])
def test_a_copy_reaches_no_cta_that_has_exited(multicast: bool) -> None:
    body = PAIR.replace("    mov.u32 %r5, buffer;", "    @%p1 exit;\n" + LEFT + "    mov.u32 %r5, buffer;")
    if multicast:  # the mbarrier is the issuer's own, but the data also goes to the CTA that has exited
        body = body.replace("0xFEFFFFFF", "0xFFFFFFFF").replace(
            ".cta_group::2\n        [%r5], [%rd1, {%r6}], [%r3];", MULTICAST
        )
    source, out = np.arange(2 * 32, dtype=np.uint32), np.zeros(2, np.uint32)
    tensor_map = wl.TensorMap.tiled(source, (32,))
    with pytest.raises(Trap, match="the shared memory of the CTA of rank 0, whose threads have all exited"):
        wl.launch(body, args=[tensor_map, out], grid=2, block=1, cluster=2)
