"""Parts of Gluon kernels that multiply tiles, and descriptions of their arguments."""

from __future__ import annotations

from typing import Any

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tma,
)

from warploom_lab.compiled.description import Case, Spec, buffer, out, scalar, tensor
from warploom_lab.compiled.triton.gemm import Request, request

_SIZES = {"fp16": 16, "bf16": 16, "fp8e4nv": 8, "fp8e5": 8, "u8": 8, "fp32": 32}


@gluon.jit
def matrix(p, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    """Return the addresses of the elements of a row-major matrix."""
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, blocked))
    columns = gl.arange(0, COLUMNS, gl.SliceLayout(0, blocked))
    return p + rows[:, None] * COLUMNS + columns[None, :]


@gluon.jit
def copied(p, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    """Return a copy of a row-major matrix in shared memory."""
    dtype: gl.constexpr = p.dtype.element_ty
    layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([ROWS, COLUMNS], dtype)
    return gl.allocate_shared_memory(dtype, [ROWS, COLUMNS], layout, gl.load(matrix(p, ROWS, COLUMNS)))


@gluon.jit
def accumulator(ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    """Allocate float32 sums in tensor memory."""
    return allocate_tensor_memory(gl.float32, [ROWS, COLUMNS], TensorMemoryLayout([ROWS, COLUMNS], col_stride=1))


@gluon.jit
def barrier():
    """Allocate an mbarrier that expects one arrival."""
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    return bar


@gluon.jit
def barriers(COUNT: gl.constexpr):
    """Allocate two mbarriers for each of COUNT stages: the stage is full, and it is empty."""
    full = mbarrier.allocate_mbarrier(batch=COUNT)
    empty = mbarrier.allocate_mbarrier(batch=COUNT)
    for j in gl.static_range(COUNT):
        mbarrier.init(full.index(j), count=1)
        mbarrier.init(empty.index(j), count=1)
    return full, empty


@gluon.jit
def stages(desc, COUNT: gl.constexpr):
    """Allocate shared memory for COUNT tiles of a tensor."""
    return gl.allocate_shared_memory(
        desc.dtype, [COUNT, desc.block_type.shape[0], desc.block_type.shape[1]], desc.layout
    )


@gluon.jit
def shared_tile(desc):
    """Allocate shared memory for one tile of a tensor."""
    return gl.allocate_shared_memory(desc.dtype, desc.block_type.shape, desc.layout)


@gluon.jit
def load_stage(ad, bd, m, n, step, full, sa, sb, s, pred=True):
    """Start to load the tiles of A and B for a step along K into stage s, whose mbarrier counts their bytes."""
    BK: gl.constexpr = ad.block_type.shape[1]
    mbarrier.expect(full.index(s), ad.nbytes_per_cta + bd.nbytes_per_cta, pred=pred)
    tma.async_load(ad, [m, step * BK], full.index(s), sa.index(s), pred=pred)
    tma.async_load(bd, [n, step * BK], full.index(s), sb.index(s), pred=pred)


@gluon.jit
def staged(cd, value):
    """Return shared memory with a tile that TMA can store."""
    sc = shared_tile(cd)
    sc.store(value.to(cd.dtype))
    fence_async_shared()
    return sc


def shared_layout(dtype: str, columns: int, **options: Any) -> str:
    """Return the layout of a tile in shared memory with rows of `columns` elements."""
    bits = _SIZES[dtype]
    width = columns * bits // 8
    span = next(span for span in (128, 64, 32) if width % span == 0)
    return str(gl.NVMMASharedLayout(swizzle_byte_width=span, element_bitwidth=bits, rank=2, **options))


def tile_argument(dtype: str, rows: int, columns: int, box: tuple[int, int], **options: Any) -> Spec:
    """Return the description of an array whose tiles have the shape `box`."""
    return tensor(dtype, rows, columns, box=box, layout=shared_layout(dtype, box[1]), **options)


def one_tile(name: str, ta: str, td: str, size: tuple[int, int, int], **parameters: Any) -> Case:
    """Return the launch for the product A B of one tile. `size` is (M, N, K)."""
    m, n, k = size
    return Case(
        name, "matmul", {"a": buffer(ta, m, k), "b": buffer(ta, k, n), "d": out(td, m, n)}, kind="gluon",
        tolerance=(1e-2, 5e-2 if td != "fp32" else 1e-3), parameters={"layout": "nn", "result": "d", **parameters},
    )  # fmt: skip


def product(
    fn: Any, name: str, target: int, dtype: str, size: Any, block: Any, *, result: str = "", warps: int = 4, **constants: Any
) -> Request:  # fmt: skip
    """Return the request for a product A B^T through tensor maps. `size` and `block` are (M, N, K)."""
    (m, n, k), (bm, bn, bk) = size, block
    result = result or ("fp16" if dtype.startswith("fp8") else dtype)
    args = {
        "ad": tile_argument(dtype, m, k, (bm, bk)), "bd": tile_argument(dtype, n, k, (bn, bk)),
        "cd": tile_argument(result, m, n, (bm, bn), fill="zeros", checked=True), "K": scalar("i32", k),
    }  # fmt: skip
    grid = m // bm, n // bn
    if "tiles" in fn.arg_names:
        args |= {"tiles": scalar("i32", grid[0] * grid[1]), "tiles_n": scalar("i32", grid[1])}
        grid = (2,)
    prefix = "gluon" if target == 90 else "tensor_memory"
    case = Case(
        f"{prefix}_{fn.__name__}_{name}", "matmul", args, grid, kind="gluon", tolerance=(1e-2, 2e-2), parameters={"layout": "nt"}
    )  # fmt: skip
    return request(fn, target, case, warps, **constants)
