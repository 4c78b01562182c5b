"""GEMM kernel for one to four rows of A, without tensor cores.

Each CTA computes the elements of D in a few columns. Its threads read long contiguous pieces of these columns of B,
which are contiguous along K, and add the products in f32. The plan is that of the exchanged problem (see `Plan`).
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from typing import Any

from warploom.author import (
    Register,
    bounds,
    f32,
    guarded,
    kernel,
    new,
    pointer,
    shared,
    special,
    u32,
    u64,
    when,
    while_,
)
from warploom.kernels.epilogue import EpilogueArguments, unpack
from warploom.kernels.hopper.exchanged import Store
from warploom.kernels.hopper.plan import HOPPER, VECTOR_THREADS, Plan, Tile
from warploom.kernels.plan import CHUNK, size_of
from warploom.kernels.ptx import ptx

# B is read once, so it would only displace A in L1.
_LOAD: dict[str, Any] = {"nc": True, "level1_eviction_priority": "L1::no_allocate", "vec": "v4", "type": "b32"}
_DEFAULT = Plan(tile=Tile(4, 1, 4, exchanged=True))
_WARPS = VECTOR_THREADS // 32
_STEP = VECTOR_THREADS * CHUNK  # bytes of a row that the CTA reads at once


@kernel(target=HOPPER)
def vector_gemm(
    a: pointer("b8"), b: pointer("b8"), c: pointer("b8"), d: pointer("b8"), row_scales: pointer("f32"),
    column_scales: pointer("f32"), bias: pointer("f32"), alpha: f32, beta: f32,
    a_stride: u32, b_stride: u32, a_plane: u64, b_plane: u64,
    c_stride: u32, d_stride: u32, c_plane: u64, d_plane: u64, m: u32, n: u32, m_tiles: u32, n_tiles: u32, k: u32,
    *, plan: Plan = _DEFAULT,
) -> None:  # fmt: skip
    """Compute D = epilogue(A B). The grid has a CTA for each `plan.tile.rows` columns of D, of each batch.

    A thread adds its products in the order of K. The threads' sums are then added in the order of a tree.
    `exchanged_gemm` describes the parameters.

    Units: bytes for strides and planes.
    """
    tile = plan.tile
    bounds(threads=VECTOR_THREADS)
    parts = shared(_WARPS * tile.rows * tile.columns * 4, align=16)
    thread = special("tid.x")
    number = special("ctaid.x")
    row = number // m_tiles
    column = (number - row * m_tiles) * tile.columns
    batch = new(u32, 0)
    if plan.batched:
        batch.set(row // n_tiles)
        row = row - batch * n_tiles
    row = row * tile.rows
    wide = ptx.cvt(batch, dtype="u64")
    inside = ptx.mul_wide(thread, CHUNK, type=u32)

    def line_places(start: Any, stride: Any, plane: Any, first: Any, count: int, most: Any) -> list[Register]:
        start = start + wide * plane + inside
        # Beyond the end, the last line is read again.
        clamped = (ptx.min(first + each if each else first, most - 1, type=u32) for each in range(count))
        return [new(u64, ptx.mad_wide(each, stride, start, type=u32)) for each in clamped]

    weights = line_places(b, b_stride, b_plane, row, tile.rows, n)
    tokens = line_places(a, a_stride, a_plane, column, tile.columns, m)
    size = size_of(plan.a)
    chunks = k // (CHUNK // size)
    for place in weights:
        with guarded(thread < chunks):
            ptx.prefetch(place.at(0, "global"), space="global", level="L2")
    # The previous grid of the stream may still write A or B until here.
    ptx.griddepcontrol_wait()

    sums = [[new(f32, 0.0) for _ in tokens] for _ in weights]

    def multiply(pairs: Any, elements: Any) -> None:
        """Add the products of the elements of all rows, from `elements(word)`."""
        of_weights, of_tokens = pairs
        values = [elements(words) for words in of_tokens]
        for own, words in zip(sums, of_weights, strict=True):
            for position, weight in enumerate(elements(words)):
                for total, value in zip(own, values, strict=True):
                    ptx.fma(weight, value[position], total, rnd="rn", type=f32, out=total)

    def of_chunk(words: Any) -> list[Register]:
        return [each for word in words for each in unpack(plan.a, word)]

    def of_element(words: Any) -> list[Register]:
        return [ptx.cvt(words[0].view(plan.a), dtype="f32")]

    left = new("s32", (chunks - thread).view("s32"))  # chunks of this thread and of the threads after it

    def multiply_chunks(count: int) -> None:
        """Multiply `count` chunks of each row as long as the thread has so many.

        All loads precede the products.
        """
        with while_(lambda: left > (count - 1) * VECTOR_THREADS):
            read = [
                [
                    [ptx.ld(place.at(_STEP * each, "global"), **_LOAD) for place in places]
                    for places in (weights, tokens)
                ]
                for each in range(count)
            ]
            for pairs in read:
                multiply(pairs, of_chunk)
            for place in (*weights, *tokens):
                place += _STEP * count
            ptx.sub(left, VECTOR_THREADS * count, type="s32", out=left)

    for count in dict.fromkeys((tile.stages, 1)):
        multiply_chunks(count)
    # The last elements of a row are fewer than a chunk.
    last = chunks * (CHUNK // size)
    with when(thread < k - last):
        back = ptx.mul_wide(thread + last, size, type=u32)
        rest = [
            [
                [ptx.ld((start + back).at(0, "global"), type="b16")]
                for start in line_places(pointer_, stride, plane, first, count, most)
            ]
            for pointer_, stride, plane, first, count, most in (
                (b - inside, b_stride, b_plane, row, tile.rows, n),
                (a - inside, a_stride, a_plane, column, tile.columns, m),
            )
        ]
        multiply(rest, of_element)

    # A grid that starts earlier would take memory bandwidth for its prefetches from this one.
    ptx.griddepcontrol_launch_dependents()
    for own in sums:
        for total in own:
            for lanes in (16, 8, 4, 2, 1):
                total += ptx.shfl_bfly(total.view("b32"), lanes, 31, -1).view("f32")
    flat = [total for own in sums for total in own]
    with guarded(thread & 31 == 0):
        for index in range(0, len(flat), 4):
            place = parts.address() + (thread >> 5) * (4 * len(flat))
            ptx.st(place.at(4 * index, "shared::cta"), flat[index : index + 4], vec="v4", type=f32)
    ptx.bar(0)
    with when(thread < 32):
        ends = ptx.min(n, row + tile.rows, type=u32), ptx.min(m, column + tile.columns, type=u32)
        arguments = EpilogueArguments(alpha, beta, column_scales, row_scales, bias, *ends, d, d_stride, d_plane)
        store = Store(plan, arguments, (c, c_stride, c_plane), (row, column, batch), 0, thread)
        quad = [new(f32, 0.0) for _ in range(4)]
        for index, total in enumerate(quad):
            line, token = (thread >> 2) + index // 2 * 8, (thread & 3) * 2 + index % 2
            exists = ptx.setp(line, tile.rows, token < tile.columns, CmpOp="lt", BoolOp="and", type=u32)
            place = parts.address() + (line * tile.columns + token) * 4
            with when(exists):
                for warp in range(_WARPS):
                    total += ptx.ld(place.at(4 * len(flat) * warp, "shared::cta"), type=f32)
        store(quad, 0)
