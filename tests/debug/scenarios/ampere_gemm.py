"""C = alpha A B in f16 on Ampere.

The threads copy tiles with cp.async into a ring of stages, and multiply them with ldmatrix and mma.sync.
`stages` is the length of the ring. Each other keyword parameter plants a fault if its value is not the default.
"""

from warploom import author as au
from warploom.author import f16, f32, new, pointer, ptx, u32, when, while_

DEPTH = 32  # elements of K in a tile
TILE = 64  # rows and columns of C in a tile; each of four warps computes a quarter


@au.kernel(target="sm_80")
def ampere_gemm(
    a: pointer(f16), b: pointer(f16), c: pointer(f32), m: u32, n: u32, k: u32, alpha: f32,
    *, stages: int = 3, trans: bool = True, pending: int = 1, scalings: int = 1,
):  # fmt: skip
    au.bounds(threads=128)
    tile_a = au.shared_tile(TILE, DEPTH, "f16", swizzle=64, stages=stages)
    tile_b = au.shared_tile(DEPTH, TILE, "f16", swizzle=128, stages=stages)  # a row has the same k
    thread = au.special("tid.x")
    warp, lane = au.warp(), thread & 31
    first_row, first_column = au.special("ctaid.y") * TILE, au.special("ctaid.x") * TILE

    def copy(step, stage):
        """Copy the tiles of K step `step` into a stage: two chunks of each tile for each thread."""
        for number in range(2):
            row, chunk = (thread >> 2) + number * 32, thread & 3
            source = a.element(ptx.min(first_row + row, m - 1, type=u32) * k + step * DEPTH + chunk * 8)
            ptx.cp_async(tile_a.row(row, stage).chunk(chunk), source, 16, cop="cg", shared_space="shared")
            row, chunk = (thread >> 3) + number * 16, thread & 7
            source = b.element((step * DEPTH + row) * n + first_column + chunk * 8)
            ptx.cp_async(tile_b.row(row, stage).chunk(chunk), source, 16, cop="cg", shared_space="shared")

    k_tiles, filled, used = k // DEPTH, new(u32, 0), new(u32, 0)
    sums = [new("f32", 0.0) for _ in range(32)]
    for number in range(stages - 1):
        copy(number, filled)
        ptx.cp_async_commit_group()
        filled += 1
    step = new(u32, 0)
    with while_(lambda: step < k_tiles):
        ptx.cp_async_wait_group(pending)
        ptx.bar(0)
        with when(step + (stages - 1) < k_tiles):
            copy(step + (stages - 1), filled)
        ptx.cp_async_commit_group()
        filled.set(ptx.selp(0, filled + 1, filled == stages - 1, type=u32))
        multiply(sums, tile_a, tile_b, used, warp, lane, trans)
        used.set(ptx.selp(0, used + 1, used == stages - 1, type=u32))
        step += 1

    row = first_row + (warp >> 1) * 32 + (lane >> 2)
    column = first_column + (warp & 1) * 32 + (lane & 3) * 2
    for number in range(4):
        place = row + number * 8
        with when(place < m):
            line = c.element(place * n + column)
            for block in range(4):
                start = (number // 2 * 4 + block) * 4 + number % 2 * 2
                pair = sums[start : start + 2]
                for _ in range(scalings):
                    pair = [each * alpha for each in pair]
                ptx.st(line + block * 32, pair, vec="v2", type=f32)


def multiply(sums, tile_a, tile_b, stage, warp, lane, trans):
    """Add the product of the tiles of a stage to the 32 x 32 sums of the warp."""
    line = lane & 15
    for inside in range(0, DEPTH, 16):
        of_a, of_b = [], []
        for part in range(2):
            row = tile_a.row((warp >> 1) * 32 + part * 16 + line, stage)
            of_a.append(ptx.ldmatrix(row.chunk((lane >> 4) + inside // 8), shape="m8n8", num="x4", type="b16"))
            chunk = (warp & 1) * 4 + part * 2 + (lane >> 4)
            words = {"trans": True} if trans else {}
            place = tile_b.row(inside + line, stage).chunk(chunk)
            of_b += ptx.ldmatrix(place, shape="m8n8", num="x4", type="b16", **words)
        for part in range(2):
            for block in range(4):
                total = sums[(part * 4 + block) * 4 : (part * 4 + block) * 4 + 4]
                words = {"shape": "m16n8k16", "dtype": "f32", "atype": "f16", "btype": "f16", "ctype": "f32"}
                ptx.mma(of_a[part], of_b[block * 2 : block * 2 + 2], total, out=total, **words)
