"""The warp-level GEMM kernel: D = epilogue(A B), one tile a CTA.

All threads copy tiles of A and B into a ring of stages; the warps load fragments from there and multiply them, and
store D by way of the same shared memory.
"""

# The annotations of a kernel are types of the language, and its parameters registers of these types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

from warploom.author import (
    Kernel,
    bounds,
    f32,
    kernel,
    new,
    pointer,
    ptx,
    shared,
    special,
    u32,
    u64,
)
from warploom.check.header import find_target
from warploom.kernels.epilogue import Factors
from warploom.kernels.warp_level.load import AcrossK, AlongK, Copies, Source
from warploom.kernels.warp_level.multiply import Fragments, multiply
from warploom.kernels.warp_level.plan import Plan
from warploom.kernels.warp_level.store import Addend, Store
from warploom.kernels.work import corner

_DEFAULT = Plan()
_SHORT_SUMS = (8, 7)  # the PTX version that has sums in f16 for 8-bit floats


@kernel(target=_DEFAULT.target)
def warp_gemm(
    a: pointer("b8"), b: pointer("b8"), c: pointer("b8"), d: pointer("b8"),
    row_scales: pointer("f32"), column_scales: pointer("f32"), bias: pointer("f32"), alpha: f32, beta: f32,
    a_stride: u32, b_stride: u32, c_stride: u32, d_stride: u32, a_plane: u64, b_plane: u64, c_plane: u64, d_plane: u64,
    m: u32, n: u32, k: u32,
    *, plan: Plan = _DEFAULT,
):  # fmt: skip
    """Strides are from row to row, or from k to k, planes from batch to batch. Units: bytes; elements for m, n, k.

    The grid has a CTA for each tile of each batch.
    """
    tile = plan.tile
    bounds(threads=tile.threads)
    stages = shared(tile.shared_bytes, align=1024)
    start_a = stages.address()
    start_b = start_a + tile.rows * tile.span
    thread = special("tid.x")
    lane, warp = thread & 31, thread >> 5
    m_tiles, n_tiles = (m + (tile.rows - 1)) // tile.rows, (n + (tile.columns - 1)) // tile.columns
    row, column, batch = corner(special("ctaid.x"), m_tiles, n_tiles, tile.group)
    row, column = row * tile.rows, column * tile.columns

    def copies(major: str, source: Source, target: Any) -> AlongK | AcrossK:
        return (AlongK if major == "k" else AcrossK)(plan, source, target, thread)

    wide = ptx.cvt(batch, dtype="u64")
    of_a = Source(a + wide * a_plane, a_stride, m, row, tile.rows, k)
    of_b = Source(b + wide * b_plane, b_stride, n, column, tile.columns, k)
    both = Copies(copies(plan.a_major, of_a, start_a), copies(plan.b_major, of_b, start_b))
    above, left = warp // tile.across * tile.warp_rows, warp % tile.across * tile.warp_columns
    from_a = Fragments(plan, "a", start_a, above, tile.warp_rows, lane)
    from_b = Fragments(plan, "b", start_b, left, tile.warp_columns, lane)
    words = tile.warp_columns // 8 * plan.words
    sums = [[new(plan.word, 0) for _ in range(words)] for _ in range(tile.warp_rows // 16)]
    multiply(plan, (k + (plan.depth - 1)) // plan.depth, both, from_a, from_b, sums)

    factors = Factors(alpha, beta, row_scales, column_scales, bias, m, n, d, d_stride, d_plane)
    store = Store(plan, start_a + warp * plan.patch_bytes, lane, factors, Addend(c, c_stride, c_plane))
    store(sums, row + above, column + left, batch)


def built(plan: Plan) -> Kernel:
    """The kernel of a plan, for its target."""
    return Kernel(warp_gemm.function, plan.target, _version(plan), {"plan": plan})


def _version(plan: Plan) -> str:
    """The PTX version that has its instructions, where it is later than the usual one of its target."""
    if plan.sums != "f16" or plan.a == "f16":
        return warp_gemm.version
    major, minor = max(_SHORT_SUMS, find_target(plan.target).first_version)
    return f"{major}.{minor}"
