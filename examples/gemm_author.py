"""D = A B^T in bf16 on Hopper, written in Python: `python examples/gemm_author.py [M N K]`.

One warpgroup brings tiles of A and B into a ring of stages by TMA; two others multiply them, 64 rows each, and
store D by TMA. The CTAs are persistent: each takes every n-th tile. The kernel is checked while it is built, and
runs here on the abstract machine, bit for bit as on the GPU, under the eyes of the sanitizer.
"""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np

import warploom as wl
from warploom import author as au
from warploom.author import new, ptx, tensor_map, u32, when, while_

DEPTH = 64  # elements of K in a tile: rows of 128 bytes, the span of the swizzle
GROUP = 8  # rows of tiles that neighbouring CTAs share, so that they meet in the L2 cache
UPPER = 1 << 30 | 1024 >> 4  # of a descriptor: swizzle of 128 bytes, 1,024 bytes for 8 rows


@au.kernel(target="sm_90a")
def gemm(
    a: tensor_map, b: tensor_map, d: tensor_map, m_tiles: u32, n_tiles: u32, k_tiles: u32,
    *, rows: int = 128, columns: int = 256, stages: int = 4,
):  # fmt: skip
    groups = rows // 64
    au.bounds(threads=128 * (1 + groups), ctas_per_sm=1)
    tile_a = au.shared(stages * rows * 128, align=1024)
    tile_b = au.shared(stages * columns * 128, align=1024)
    tile_d = au.shared(groups * 2 * 8192, align=1024)
    tiles = au.ring(stages, consumers=groups)

    thread = au.special("tid.x")
    group = ptx.shfl_idx(thread >> 7, 0, 31, -1)
    with when(thread == 0):
        tiles.start()
        ptx.fence_proxy(proxykind="async")
    ptx.bar(0)

    def corner(tile):
        """First row and first column of a tile; tiles are counted down the rows of one group, then across."""
        of_group = n_tiles * GROUP
        first = tile // of_group * GROUP
        rest, size = tile % of_group, ptx.min(m_tiles - first, GROUP, type=u32)
        return (first + rest % size) * rows, rest // size * columns

    def load(target, tensor, x, y, place):
        to, source = target.at(space="shared::cluster"), au.Location(tensor, coordinates=(x, y))
        ptx.cp_async_bulk_tensor(
            to, source, place.barrier("shared::cluster"), dim="2d", dst="shared::cluster"
        )

    def produce():
        place, tile = tiles.place(), new(u32, au.special("ctaid.x"))
        start_a, start_b = tile_a.address(), tile_b.address()
        with while_(lambda: tile < m_tiles * n_tiles):
            row, column = corner(tile)
            k = new(u32, 0)
            with while_(lambda: k < k_tiles * DEPTH):
                place.wait_empty()
                ptx.mbarrier_arrive_expect_tx(place.barrier(), (rows + columns) * 128)
                load(start_a + place.stage * (rows * 128), a, k, row, place)
                load(start_b + place.stage * (columns * 128), b, k, column, place)
                k += DEPTH
                place.advance()
            tile += au.special("nctaid.x")

    def consume():
        place, tile = tiles.place(), new(u32, au.special("ctaid.x"))
        number, mine = group - 1, thread & 127  # the warpgroup among consumers, the thread in it
        sums = [new("f32") for _ in range(columns // 2)]
        low_a, low_b = (tile_a.address() + number * 8192) >> 4, tile_b.address() >> 4
        with while_(lambda: tile < m_tiles * n_tiles):
            row, column = corner(tile)
            turn, before = new(u32, 0), new(u32)
            with while_(lambda: turn < k_tiles):
                place.wait_full()
                goes_on = turn != 0
                multiply(sums, low_a + place.stage * (rows * 8), low_b + place.stage * (columns * 8), goes_on)
                ptx.wgmma_wait_group(1)  # the turn before is over: its stage may be filled again
                with when(goes_on):
                    place.release(before, mine)
                before.set(place.stage)
                turn += 1
                place.advance()
            ptx.wgmma_wait_group(0)
            place.release(before, mine)
            store(sums, number, mine, row + number * 64, column)
            tile += au.special("nctaid.x")
        with au.guarded(mine == 0):
            ptx.cp_async_bulk_wait_group(0)

    def multiply(sums, low_a, low_b, goes_on):
        ptx.wgmma_fence()
        for step in range(4):  # 16 elements of K each, 32 bytes on
            from_a, from_b = (ptx.mov((low + 2 * step, UPPER), type="b64") for low in (low_a, low_b))
            keep, types = (1 if step else goes_on), {"dtype": "f32", "atype": "bf16", "btype": "bf16"}
            ptx.wgmma_mma_async(sums, from_a, from_b, keep, 1, 1, 0, 0, n=columns, **types)
        ptx.wgmma_commit_group()

    def store(sums, number, mine, row, column):
        """64 columns at a time, by turns through two swizzled buffers in shared memory."""
        lane, buffers = thread & 31, tile_d.address() + number * 16384
        line = buffers + (mine >> 5) * 2048 + (lane & 15) * 128
        for part in range(columns // 64):
            buffer = part % 2 * 8192
            with au.guarded(mine == 0):
                ptx.cp_async_bulk_wait_group(1, read=True)
            ptx.bar(number + 1, 128)
            for q in range(4):
                s = part * 32 + q * 8
                pairs = [ptx.cvt(sums[i + 1], sums[i], rnd="rn", dtype="bf16x2") for i in range(s, s + 8, 2)]
                to = line + (((lane >> 4) + 2 * q) ^ (lane & 7)) * 16
                ptx.stmatrix(to.at(buffer, "shared::cta"), pairs, shape="m8n8", num="x4", type="b16")
            ptx.fence_proxy(proxykind="async", space="shared::cta")
            ptx.bar(number + 1, 128)
            with when(mine == 0):
                target = au.Location(d, coordinates=(column + part * 64, row))
                ptx.cp_async_bulk_tensor(
                    target, buffers.at(buffer, "shared::cta"), dim="2d", src="shared::cta"
                )
                ptx.cp_async_bulk_commit_group()

    with when(group == 0):
        ptx.setmaxnreg_dec(40)
        with when(thread == 0):
            produce()
    with au.otherwise():
        ptx.setmaxnreg_inc(232)
        consume()


def main(m: int = 256, n: int = 512, k: int = 256) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (n, k)))
    d = np.zeros((m, n), ml_dtypes.bfloat16)
    boxes = ((a, (128, 64)), (b, (256, 64)), (d, (64, 64)))
    args = [wl.TensorMap.tiled(array, box, swizzle=128) for array, box in boxes]
    args += [-(-m // 128), -(-n // 256), -(-k // DEPTH)]
    run = wl.launch(gemm.module, grid=2, block=384, shared=gemm.shared_bytes, args=args, sanitize=True)
    error = abs(d.astype(float) - a.astype(float) @ b.astype(float).T).max()
    print(f"{m} x {n} x {k}: largest error {error:.3g}, {len(run.findings)} findings")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
