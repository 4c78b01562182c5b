"""Triton memory kernels: gather, scatter, atomics, cache hints, block pointers, tensor descriptors."""

from __future__ import annotations

from collections.abc import Iterator

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, buffer, out, scalar, tensor
from warploom_lab.compiled.triton.gemm import Request, request


@triton.jit
def atomics(x, at, y, old, n, OP: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    p = y + tl.load(at + i, mask=i < n, other=0)
    if OP == "add":
        tl.atomic_add(p, v, mask=i < n, sem=SEM, scope=SCOPE)
    if OP == "max":
        tl.atomic_max(p, v, mask=i < n, sem=SEM, scope=SCOPE)
    if OP == "min":
        tl.atomic_min(p, v, mask=i < n, sem=SEM, scope=SCOPE)
    if OP == "and":
        tl.atomic_and(p, v, mask=i < n, sem=SEM, scope=SCOPE)
    if OP == "or":
        tl.atomic_or(p, v, mask=i < n, sem=SEM, scope=SCOPE)
    if OP == "xor":
        tl.atomic_xor(p, v, mask=i < n, sem=SEM, scope=SCOPE)
    if OP == "count":
        tl.store(old + tl.atomic_add(y, 1) + 0 * i, v, mask=i < 1)
    if OP == "xchg":
        tl.store(old + i, tl.atomic_xchg(y + i, v, mask=i < n), mask=i < n)
    if OP == "cas":
        tl.store(old + i, tl.atomic_cas(y + i, v, v + 1))


@triton.jit
def lock(y, mutex, n):
    while tl.atomic_cas(mutex, 0, 1, sem="acquire") == 1:
        pass
    v = tl.load(y, volatile=True)
    tl.store(y, v * 3 + 1)
    tl.atomic_xchg(mutex, 0, sem="release")


@triton.jit
def gather_scatter(x, at, y, n, B: tl.constexpr, CACHE: tl.constexpr, EVICT: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    where = tl.load(at + i, mask=i < n, other=0)
    v = tl.load(x + where, mask=i < n, cache_modifier=CACHE, eviction_policy=EVICT)
    tl.store(y + where, v, mask=i < n, cache_modifier=".cs" if CACHE == ".cg" else "")


@triton.jit
def block_pointer(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y, (N, M), (M, 1), (tl.program_id(1) * BN, tl.program_id(0) * BM), (BN, BM), (1, 0))
    tl.store(q, tl.trans(tl.load(p, boundary_check=(0, 1), padding_option="zero")), boundary_check=(0, 1))


@triton.jit
def copy_tensor(xd, yd, ROWS: tl.constexpr, COLS: tl.constexpr):
    at = [tl.program_id(0) * ROWS, tl.program_id(1) * COLS]
    yd.store(at, xd.load(at) + xd.load(at))


@triton.jit
def gather_tensor(xd, at, y, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.arange(0, ROWS)
    v = xd.gather(tl.load(at + r), 0)
    tl.store(y + r[:, None] * COLS + tl.arange(0, COLS)[None, :], v)


@triton.jit
def cube_tensor(x, y, A, B_, C, BA: tl.constexpr, BB: tl.constexpr, BC: tl.constexpr):
    xd = tl.make_tensor_descriptor(x, [A, B_, C], [B_ * C, C, 1], [BA, BB, BC])
    yd = tl.make_tensor_descriptor(y, [A, B_, C], [B_ * C, C, 1], [BA, BB, BC])
    at = [tl.program_id(0) * BA, tl.program_id(1) * BB, 0]
    yd.store(at, xd.load(at) * 3)


@triton.jit
def layout_change(x, y, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    s = tl.sum(v.to(tl.float32), 1)
    w = tl.reshape(tl.trans(v), (R, C))
    tl.store(y + r[:, None] * C + c[None, :], (w + s[:, None]).to(v.dtype))


@triton.jit
def conv1d(x, w, y, n, K: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in tl.static_range(K):
        j = i + k - K // 2
        acc += tl.load(x + j, mask=(j >= 0) & (j < n), other=0) * tl.load(w + k)
    tl.store(y + i, acc, mask=i < n)


@triton.jit
def last_block(x, partial, counter, y, n, B: tl.constexpr, BLOCKS: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    tl.store(partial + pid, tl.sum(tl.load(x + i, mask=i < n, other=0), 0))
    tl.debug_barrier()
    if tl.atomic_add(counter, 1, sem="acq_rel") == BLOCKS - 1:
        tl.store(y, tl.sum(tl.load(partial + tl.arange(0, BLOCKS), volatile=True), 0))


@triton.jit
def pointers(table, y, B: tl.constexpr):
    i = tl.arange(0, B)
    p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(y + tl.program_id(0) * B + i, tl.load(p + i))


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    n, bins = 200, 24
    for op, dtype, target, sem, scope in (
        ("add", "fp32", 80, "relaxed", "gpu"), ("add", "fp16", 80, "acq_rel", "gpu"), ("add", "bf16", 90, "relaxed", "gpu"),
        ("add", "fp64", 90, "release", "sys"), ("add", "i32", 80, "acquire", "cta"), ("add", "i64", 90, "relaxed", "sys"),
        ("add", "u32", 120, "acq_rel", "gpu"), ("max", "i32", 80, "acq_rel", "gpu"), ("max", "u32", 90, "acq_rel", "gpu"),
        ("max", "fp32", 90, "acq_rel", "gpu"), ("min", "fp32", 80, "relaxed", "gpu"), ("min", "i64", 90, "acq_rel", "gpu"),
        ("max", "u64", 80, "acq_rel", "gpu"), ("and", "i32", 80, "acq_rel", "gpu"), ("or", "i64", 90, "acq_rel", "gpu"),
        ("xor", "u32", 80, "relaxed", "cta"), ("xchg", "fp32", 90, "acq_rel", "gpu"), ("xchg", "i64", 80, "release", "gpu"),
        ("cas", "i32", 90, "acq_rel", "gpu"), ("cas", "i64", 80, "relaxed", "sys"),
    ):  # fmt: skip
        integer = dtype[0] in "iu"
        fill = {"fill": "bits"} if integer else {"fill": "integers", "low": -50, "high": 50}
        n = 256 if op == "cas" else 200
        size = n if op in ("xchg", "cas") else bins
        value = {"fill": "integers", "low": 0, "high": 3} if op == "cas" else fill
        case = Case(
            f"atomic_{op}_{dtype}", "atomic",
            {"x": buffer(dtype, n, **value), "at": buffer("i32", n, fill="integers", low=0, high=bins),
             "y": out(dtype, size, **({"fill": "integers", "low": 0, "high": 3} if op == "cas" else {"fill": "integers", "low": 0, "high": 100})),
             "old": out(dtype, n), "n": scalar("i32", n)},
            (programs := 1 if scope == "cta" else 2,), kind="memory", parameters={"op": op},
        )  # fmt: skip
        yield request(atomics, target, case, OP=op, SEM=sem, SCOPE=scope, B=256 // programs)
    case = Case(
        "atomic_lock",
        "lock",
        {"y": out("i32", 1), "mutex": buffer("i32", 1, fill="zeros"), "n": scalar("i32", 1)},
        (6,),
        kind="memory",
    )
    yield request(lock, 80, case, warps=1)
    for dtype, cache, evict, target in (
        ("fp32", ".cg", "evict_first", 80), ("fp16", ".ca", "evict_last", 90), ("i8", "", "", 80), ("fp64", ".cv", "", 90), ("i16", "", "evict_last", 120),
    ):  # fmt: skip
        case = Case(
            f"gather_scatter_{dtype}", "gather_scatter",
            {"x": buffer(dtype, 300), "at": buffer("i32", 150, fill="permutation", high=300), "y": out(dtype, 300), "n": scalar("i32", 150)},
            (2,), kind="memory",
        )  # fmt: skip
        yield request(gather_scatter, target, case, B=128, CACHE=cache, EVICT=evict)
    for dtype, target in (("fp32", 80), ("fp16", 90), ("i8", 90)):
        case = Case(
            f"block_pointer_{dtype}", "transpose",
            {"x": buffer(dtype, 50, 70), "y": out(dtype, 70, 50), "M": scalar("i32", 50), "N": scalar("i32", 70)}, (2, 2), kind="memory",
        )  # fmt: skip
        yield request(block_pointer, target, case, BM=32, BN=64)
    for dtype, shape, box in (
        ("fp16", (40, 72), (16, 32)), ("fp32", (33, 40), (16, 16)), ("i8", (50, 80), (32, 64)), ("bf16", (24, 136), (8, 128)),
        ("fp16", (40, 200), (16, 128)), ("i32", (17, 16), (8, 8)), ("fp64", (16, 32), (8, 16)),
    ):  # fmt: skip
        case = Case(
            f"copy_tensor_{dtype}_{box[1]}", "twice",
            {"xd": tensor(dtype, *shape, box=box, fill="integers", low=-30, high=30), "yd": tensor(dtype, *shape, box=box, fill="zeros", checked=True)},
            (-(-shape[0] // box[0]), -(-shape[1] // box[1])), kind="memory",
        )  # fmt: skip
        yield request(copy_tensor, 90, case, ROWS=box[0], COLS=box[1])
    case = Case(
        "cube_tensor", "triple",
        {"x": buffer("i16", 5, 12, 32, fill="integers", low=-99, high=99), "y": out("i16", 5, 12, 32), "A": scalar("i32", 5), "B_": scalar("i32", 12), "C": scalar("i32", 32)},
        (3, 2), kind="memory",
    )  # fmt: skip
    yield request(cube_tensor, 90, case, BA=2, BB=8, BC=32)
    for dtype, target in (("fp32", 80), ("fp16", 90), ("fp32", 120)):
        case = Case(
            f"layout_change_{dtype}", "layout_change",
            {"x": buffer(dtype, 32, 64, fill="integers", low=-3, high=3), "y": out(dtype, 32, 64)}, kind="memory",
        )  # fmt: skip
        yield request(layout_change, target, case, R=32, C=64)
    case = Case(
        "conv1d", "conv1d", {"x": buffer("fp32", n), "w": buffer("fp32", 5), "y": out("fp32", n), "n": scalar("i32", n)}, (2,),
        kind="memory", tolerance=(1e-5, 1e-5),
    )  # fmt: skip
    yield request(conv1d, 90, case, K=5, B=128)
    for target in (80, 90):
        case = Case(
            "last_block", "last_block",
            {"x": buffer("fp32", 1000, fill="integers", low=-50, high=50), "partial": buffer("fp32", 8, fill="zeros"),
             "counter": buffer("i32", 1, fill="zeros"), "y": out("fp32", 1), "n": scalar("i32", 1000)},
            (8,), kind="memory",
        )  # fmt: skip
        yield request(last_block, target, case, B=128, BLOCKS=8)
