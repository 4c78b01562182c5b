"""Gluon kernels for instructions of Blackwell that a product alone does not need, and for reductions in a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    fence_async_shared,
    mbarrier,
    tcgen05_mma,
    tma,
)

from warploom_lab.compiled.description import Case, buffer, out, scalar
from warploom_lab.compiled.triton.gemm import Request, request
from warploom_lab.compiled.triton.gluon_tiles import accumulator, barrier, copied, matrix, tile_argument


@gluon.jit
def attention_step(q, k, v, o, scale, M: gl.constexpr, N: gl.constexpr, D: gl.constexpr):
    dtype: gl.constexpr = q.dtype.element_ty
    sq = copied(q, M, D)
    sk = copied(k, N, D)
    sv = copied(v, N, D)
    scores = accumulator(M, N)
    acc = accumulator(M, D)
    done = barrier()
    fence_async_shared()
    tcgen05_mma(sq, sk.permute((1, 0)), scores, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0)
    x = scores.load() * (scale * 1.4426950408889634)
    p = gl.exp2(x - gl.max(x, 1)[:, None])
    total = gl.sum(p, 1)
    # The probabilities replace the scores in tensor memory.
    left = scores.slice(0, N // 2).reinterpret(dtype, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    left.store(p.to(dtype))
    tcgen05_mma(left, sv, acc, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 1)
    mbarrier.invalidate(done)
    y = acc.load()
    y = y / gl.convert_layout(total, gl.SliceLayout(1, y.type.layout))[:, None]
    places = matrix(o, M, D)
    gl.store(places, gl.convert_layout(y, places.type.layout).to(dtype))


@gluon.jit
def reduced(x, y, best, M: gl.constexpr, N: gl.constexpr, LEAST: gl.constexpr):
    memory = accumulator(M, N)
    memory.store(gl.convert_layout(gl.load(matrix(x, M, N)), memory.get_reg_layout()))
    if LEAST:
        value, found = memory.load_min(memory.get_reg_layout())
    else:
        value, found = memory.load_max(memory.get_reg_layout(), abs=True)
    places = matrix(y, M, N)
    rows: gl.constexpr = gl.SliceLayout(1, places.type.layout)
    gl.store(places, gl.convert_layout(value, places.type.layout) * 2)
    gl.store(best + gl.arange(0, M, rows), gl.convert_layout(found, rows))


@gluon.jit
def gathered(xd, yd, rows, target, N, ROWS: gl.constexpr, BN: gl.constexpr):
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([ROWS, BN], xd.dtype)
    lines: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, gl.num_warps()], [1, 0]))
    stage = gl.allocate_shared_memory(xd.dtype, [ROWS, BN], shared)
    ready = barrier()
    fence_async_shared()
    i = gl.arange(0, ROWS, lines)
    phase = 0
    for n in range(0, N, BN):
        mbarrier.expect(ready, ROWS * xd.nbytes_per_cta)
        tma.async_gather(xd, gl.load(rows + i), n, ready, stage)
        mbarrier.wait(ready, phase)
        phase ^= 1
        tma.async_scatter(yd, gl.load(target + i), n, stage)
        tma.store_wait(0)


@gluon.jit
def cluster_softmax(x, y, n, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [gl.num_warps()], [0], cga_layout=[[1]])
    row = gl.program_id(0)
    i = gl.arange(0, B, layout)
    v = gl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = gl.exp(v - gl.max(v, 0))
    gl.store(y + row * n + i, e / gl.sum(e, 0), mask=i < n)


_ORDER = [
    3, 17, 29, 1, 8, 9, 10, 30, 2, 5, 4, 31, 7, 0, 11, 19, 20, 21, 22, 6, 12, 13, 14, 15, 16, 18, 23, 24, 25, 26, 27, 28
]  # fmt: skip


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    for target, dtype, n, d in ((100, "fp16", 64, 64), (103, "bf16", 128, 64)):
        case = Case(
            f"tensor_memory_attention_{dtype}", "attention_step",
            {"q": buffer(dtype, 128, d), "k": buffer(dtype, n, d), "v": buffer(dtype, n, d), "o": out(dtype, 128, d), "scale": scalar("fp32", d**-0.5)},
            kind="gluon", tolerance=(1e-2, 3e-3) if dtype == "fp16" else (2e-2, 2e-2),
        )  # fmt: skip
        yield request(attention_step, target, case, M=128, N=n, D=d)
    for least in (False, True):
        case = Case(
            f"tensor_memory_{'least' if least else 'greatest'}", "reduced_rows", {"x": buffer("fp32", 128, 64), "y": out("fp32", 128, 64), "best": out("fp32", 128)},
            kind="gluon", parameters={"least": least},
        )  # fmt: skip
        yield request(reduced, 103, case, M=128, N=64, LEAST=least)
    for target, dtype in ((100, "fp16"), (103, "fp32")):
        case = Case(
            f"gathered_rows_{dtype}", "gathered_rows",
            {"xd": tile_argument(dtype, 48, 128, (1, 32)),
             "yd": tile_argument(dtype, 32, 128, (1, 32), fill="zeros", checked=True),
             "rows": buffer("i32", 32, fill="integers", low=0, high=48), "target": buffer("i32", 32, fill="values", values=_ORDER), "N": scalar("i32", 128)},
            kind="gluon",
        )  # fmt: skip
        yield request(gathered, target, case, ROWS=32, BN=32)
    case = Case(
        "cluster_softmax", "softmax", {"x": buffer("fp32", 3, 1000), "y": out("fp32", 3, 1000), "n": scalar("i32", 1000)}, (3,), kind="gluon", tolerance=(1e-5, 1e-6)
    )  # fmt: skip
    made = request(cluster_softmax, 100, case, B=1024)
    made["options"]["num_ctas"] = 2
    yield made
