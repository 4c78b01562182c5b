"""D = A B^T in bf16 on Hopper, written in Python: `python examples/gemm_author.py [M N K]`.

One warpgroup copies tiles of A and B into a ring of stages by TMA. Two others multiply 64 rows each and store D by
TMA. The CTAs are persistent: each computes every n-th tile. The kernel is checked while it is built. `main` runs it
on the emulator with the sanitizer; the result has the bits of the GPU.
"""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np

import warploom as wl
from warploom import author as au
from warploom.author import new, ptx, tensor_map, u32, when, while_

DEPTH = 64  # elements of K in a tile; a row has the 128 bytes of the swizzle
GROUP = 8  # rows of tiles that concurrent CTAs compute, so that they share operands in the L2 cache


@au.kernel(target="sm_90a")
def gemm(
    a: tensor_map, b: tensor_map, d: tensor_map, m_tiles: u32, n_tiles: u32, k_tiles: u32,
    *, rows: int = 128, columns: int = 256, stages: int = 4,
):  # fmt: skip
    groups = rows // 64
    au.bounds(threads=128 * (1 + groups), ctas_per_sm=1)
    tile_a = au.shared_tile(rows, DEPTH, "bf16", stages=stages)
    tile_b = au.shared_tile(columns, DEPTH, "bf16", stages=stages)
    tile_d = au.shared_tile(64, 64, "bf16", stages=2 * groups)
    tiles = au.ring(stages, consumers=groups)

    thread = au.special("tid.x")
    group = au.warpgroup()
    with when(thread == 0):
        tiles.start()
        ptx.fence_proxy(proxykind="async")
    ptx.bar(0)

    def corner(tile):
        """Return the first row and column of a tile. Tiles are numbered down the rows of a group, then across."""
        of_group = n_tiles * GROUP
        first = tile // of_group * GROUP
        rest, size = tile % of_group, ptx.min(m_tiles - first, GROUP, type=u32)
        return (first + rest % size) * rows, rest // size * columns

    def produce():
        state, tile = tiles.state(), new(u32, au.special("ctaid.x"))
        with while_(lambda: tile < m_tiles * n_tiles):
            row, column = corner(tile)
            k = new(u32, 0)
            with while_(lambda: k < k_tiles * DEPTH):
                state.wait_empty()
                full = state.barrier("shared::cluster")
                ptx.mbarrier_arrive_expect_tx(state.barrier(), tile_a.bytes + tile_b.bytes)
                tile_a.load(a, (k, row), full, state.stage)
                tile_b.load(b, (k, column), full, state.stage)
                k += DEPTH
                state.advance()
            tile += au.special("nctaid.x")

    def consume():
        state, tile = tiles.state(), new(u32, au.special("ctaid.x"))
        number, mine = group - 1, thread & 127  # number of the consumer, and of the thread in it
        sums = [new("f32") for _ in range(columns // 2)]
        from_a, from_b = tile_a.descriptor(row=number * 64), tile_b.descriptor()
        with while_(lambda: tile < m_tiles * n_tiles):
            row, column = corner(tile)
            turn, before = new(u32, 0), new(u32)
            with while_(lambda: turn < k_tiles):
                state.wait_full()
                goes_on = turn != 0
                multiply(sums, from_a.stage(state.stage), from_b.stage(state.stage), goes_on)
                ptx.wgmma_wait_group(1)  # the previous multiplications are complete: release their stage
                with when(goes_on):
                    state.release(before, mine)
                before.set(state.stage)
                turn += 1
                state.advance()
            ptx.wgmma_wait_group(0)
            state.release(before, mine)
            store(sums, number, mine, row + number * 64, column)
            tile += au.special("nctaid.x")
        with au.guarded(mine == 0):
            ptx.cp_async_bulk_wait_group(0)

    def multiply(sums, from_a, from_b, goes_on):
        ptx.wgmma_fence()
        for k in range(0, DEPTH, 16):
            keep, types = (1 if k else goes_on), {"dtype": "f32", "atype": "bf16"}
            ptx.wgmma_mma_async(sums, from_a.at(k), from_b.at(k), keep, 1, 1, 0, 0, n=columns, **types)
        ptx.wgmma_commit_group()

    def store(sums, number, mine, row, column):
        """Store 64 columns at a time through two swizzled tiles in shared memory, used alternately."""
        lane, together = thread & 31, au.barrier(number + 1, 128)
        line = tile_d.row((mine >> 5) * 16 + (lane & 15), number * 2)
        for part in range(columns // 64):
            turn = part % 2
            with au.guarded(mine == 0):
                ptx.cp_async_bulk_wait_group(1, read=True)
            together.wait()
            for q in range(4):
                s = part * 32 + q * 8
                pairs = [ptx.cvt(sums[i + 1], sums[i], rnd="rn", dtype="bf16x2") for i in range(s, s + 8, 2)]
                to = line.chunk((lane >> 4) + 2 * q) + turn * tile_d.bytes
                ptx.stmatrix(to, pairs, shape="m8n8", num="x4", type="b16")
            ptx.fence_proxy(proxykind="async", space="shared::cta")
            together.wait()
            with when(mine == 0):
                tile_d.store(d, (column + part * 64, row), number * 2 + turn)

    with when(group == 0, uniform=True):
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
    run = wl.launch(gemm.module, grid=2, block=384, shared=gemm.shared, args=args, sanitize=True)
    error = abs(d.astype(float) - a.astype(float) @ b.astype(float).T).max()
    print(f"{m} x {n} x {k}: largest error {error:.3g}, {len(run.findings)} findings")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
