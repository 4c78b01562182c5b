"""GEMM kernel for sm_80 and later: D = epilogue(A B). Each CTA computes one tile of D."""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownVariableType=false

from dataclasses import replace
from typing import Any

from warploom.author import Kernel, bounds, f32, kernel, new, pointer, shared, special, u32, u64
from warploom.check.header import find_target
from warploom.kernels.ampere.mainloop import AcrossK, AlongK, Copies, Fragments, ScaleWords, Source, multiply
from warploom.kernels.ampere.plan import WarpPlan
from warploom.kernels.epilogue import EpilogueArguments
from warploom.kernels.plan import BLOCK_FORMATS, tile_position
from warploom.kernels.ptx import ptx
from warploom.kernels.warp_store import Store

_DEFAULT = WarpPlan()
_SHORT_SUMS = (8, 7)  # the PTX version that introduced f16 accumulators for 8-bit floats


@kernel(target=_DEFAULT.target)
def warp_gemm(
    a: pointer("b8"), b: pointer("b8"), c: pointer("b8"), d: pointer("b8"),
    row_scales: pointer("f32"), column_scales: pointer("f32"), bias: pointer("f32"), alpha: f32, beta: f32,
    a_stride: u32, b_stride: u32, c_stride: u32, d_stride: u32, a_plane: u64, b_plane: u64, c_plane: u64, d_plane: u64,
    m: u32, n: u32, k: u32,
    *, plan: WarpPlan = _DEFAULT,
):  # fmt: skip
    """Compute D = epilogue(A B). The grid has a CTA for each tile of each batch.

    `Epilogue` describes the scales, `bias`, `alpha` and `beta`. A stride is the distance of two rows, or of two
    elements of K. A plane is the distance of two batches.

    Units: bytes for strides and planes, elements for `m`, `n` and `k`.
    """
    tile = plan.tile
    bounds(threads=tile.threads)
    stages = shared(tile.shared_bytes, align=1024)
    start_a = stages.address()
    start_b = start_a + tile.rows * tile.span
    thread = special("tid.x")
    lane, warp = thread & 31, thread >> 5
    m_tiles, n_tiles = (m + (tile.rows - 1)) // tile.rows, (n + (tile.columns - 1)) // tile.columns
    row, column, batch = tile_position(special("ctaid.x"), m_tiles, n_tiles, tile.group)
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
    count = tile.warp_columns // 8 * plan.accumulators
    sums = [[new(plan.register_type, 0) for _ in range(count)] for _ in range(tile.warp_rows // 16)]
    scales = None
    if plan.scaling:
        atoms = (k + (4 * BLOCK_FORMATS[plan.scaling].block - 1)) // (4 * BLOCK_FORMATS[plan.scaling].block)

        def words(factors: Any, plane: Any, extent: Any, first: Any, own: int, height: int) -> ScaleWords:
            # An operand that all batches share has planes of 0 bytes. Its factors are shared, too.
            size = ptx.mul_wide((extent + 127 >> 7) * atoms, 512, type=u32)
            start = factors + ptx.selp(wide, 0, plane != 0, type=u64) * size
            return ScaleWords(plan, start, extent, atoms, first, own, height, lane)

        scales = (
            words(row_scales, a_plane, m, row + above, tile.warp_rows, 16),
            words(column_scales, b_plane, n, column + left, tile.warp_columns, 8),
        )
    multiply(plan, (k + (plan.stage_k - 1)) // plan.stage_k, both, from_a, from_b, sums, scales)

    arguments = EpilogueArguments(alpha, beta, row_scales, column_scales, bias, m, n, d, d_stride, d_plane)
    addend: Any = (c, c_stride, c_plane)
    # The stages of A and B become the store buffers.
    store = Store(plan, tile.warp_columns, start_a + warp * plan.buffer_bytes, lane, arguments, addend)
    store(sums, row + above, column + left, batch)


def kernel_of(plan: WarpPlan) -> Kernel:
    """Return the kernel of a plan."""
    version = warp_gemm.version
    if plan.accumulator == "f16" and plan.a != "f16":
        major, minor = max(_SHORT_SUMS, find_target(plan.target).first_version)
        version = f"{major}.{minor}"
    return replace(warp_gemm, target=plan.target, version=version, constants={"plan": plan})
