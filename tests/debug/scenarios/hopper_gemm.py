"""C = A B^T in f16 on Hopper, with persistent CTAs.

A warp copies tiles by TMA, and a warpgroup multiplies them with wgmma. `columns`, `stages` and `swizzle` select a tile.
Each other keyword parameter plants a fault if its value is not the default.
"""

from warploom import author as au
from warploom.author import f32, new, pointer, ptx, tensor_map, u32, wait, when, while_
from warploom.author.tiles import TileDescriptor
from warploom.layout import Descriptor

DEPTH = 64  # elements of K in a tile
ROWS = 64  # rows of C in a tile


@au.kernel(target="sm_90a")
def hopper_gemm(
    a: tensor_map, b: tensor_map, c: pointer(f32), m: u32, n: u32, k: u32,
    *, columns: int = 128, stages: int = 2, swizzle: int = 128,
    leading: int = 0, pattern: int = 0, box_step: int = 0,
    rounds_up: bool = True, flips: bool = False, restarts: bool = True,
):  # fmt: skip
    au.bounds(threads=160)
    tile_a = au.shared_tile(ROWS, DEPTH, "f16", swizzle=swizzle, stages=stages)
    tile_b = au.shared_tile(columns, DEPTH, "f16", swizzle=swizzle, stages=stages)
    tiles = au.ring(stages, consumers=1)
    thread = au.special("tid.x")
    with when(thread == 0):
        tiles.start()
    ptx.bar(0)

    n_tiles = n // columns
    all_tiles = (m + (ROWS - 1)) // ROWS * n_tiles
    k_tiles = (k + (DEPTH - 1 if rounds_up else 0)) // DEPTH

    def produce():
        state, tile = tiles.state(), new(u32, au.special("ctaid.x"))
        with while_(lambda: tile < all_tiles):
            step = new(u32, 0)
            with while_(lambda: step < k_tiles):
                state.wait_empty()
                full = state.barrier("shared::cluster")
                ptx.mbarrier_arrive_expect_tx(state.barrier(), tile_a.bytes + tile_b.bytes)
                tile_a.load(a, (step * DEPTH, tile // n_tiles * ROWS), full, state.stage)
                load_b(step * DEPTH, tile % n_tiles * columns, full, state.stage)
                step += 1
                state.advance()
            tile += au.special("nctaid.x")

    def load_b(column, row, full, stage):
        """Copy a tile of B with two boxes for each span of its rows."""
        start, half = tile_b.address(stage), columns // 2
        for part in range(DEPTH * 2 // tile_b.span):
            for number in range(2):
                to = start.at((part * columns + number * half) * tile_b.span, "shared::cluster")
                corner = (column + part * tile_b.span // 2, row + number * (box_step or half))
                ptx.cp_async_bulk_tensor(to, au.Location(b, coordinates=corner), full, dst="shared::cluster", dim="2d")

    def descriptor_b():
        word = Descriptor(0, leading or columns * tile_b.span, 8 * tile_b.span, 0, pattern or swizzle).encode()
        return TileDescriptor(tile_b, ((tile_b.address() & 0x3FFFF) >> 4) | (word & 0xFFFFFFFF), word >> 32)

    def consume():
        state, tile, count = tiles.state(), new(u32, au.special("ctaid.x")), new(u32, 0)
        sums = [new("f32") for _ in range(columns // 2)]
        from_a, from_b = tile_a.descriptor(), descriptor_b()
        with while_(lambda: tile < all_tiles):
            step = new(u32, 0)
            with while_(lambda: step < k_tiles):
                wait(state.barrier(), state.phase ^ 1 if flips else state.phase)
                keeps = (step if restarts else count) != 0
                multiply(sums, from_a.stage(state.stage), from_b.stage(state.stage), keeps)
                state.release(state.stage, thread)
                step += 1
                count += 1
                state.advance()
            store(sums, tile // n_tiles * ROWS, tile % n_tiles * columns)
            tile += au.special("nctaid.x")

    def multiply(sums, from_a, from_b, keeps):
        ptx.wgmma_fence()
        for inside in range(0, DEPTH, 16):
            words = {"dtype": "f32", "atype": "f16", "btype": "f16"}
            keep = 1 if inside else keeps
            ptx.wgmma_mma_async(sums, from_a.at(inside), from_b.at(inside), keep, 1, 1, 0, 0, n=columns, **words)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)

    def store(sums, first_row, first_column):
        lane = thread & 31
        row = first_row + (thread >> 5) * 16 + (lane >> 2)
        column = first_column + (lane & 3) * 2
        for half in range(2):
            with when(row + half * 8 < m):
                line = c.element((row + half * 8) * n + column)
                for block in range(columns // 8):
                    pair = sums[block * 4 + half * 2 : block * 4 + half * 2 + 2]
                    ptx.st(line + block * 32, pair, vec="v2", type=f32)

    with when(thread == 128):
        produce()
    with when(au.warpgroup() == 0, uniform=True):
        consume()
