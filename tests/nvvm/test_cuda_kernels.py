"""CUDA C kernels lowered to PTX and executed: tensor-core programs, control flow, and C's arithmetic."""

from __future__ import annotations

import operator
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import warploom as wl
from warploom.isa.model.availability import read_target
from warploom.nvvm import lower
from warploom.nvvm.builtins.lowering import translate

SM_90A = read_target("sm_90a")


def run(text: str, *args: Any, grid: Any = 1, block: int = 32, **options: Any) -> wl.Run:
    """Lower a text and launch its kernel. The module must be legal, and the sanitizer must find nothing."""
    ptx = lower(text, source="builtin")
    assert not list(wl.check(ptx))
    found = wl.launch(ptx, grid=grid, block=block, args=list(args), sanitize=True, **options)
    assert not found.findings
    return found


WMMA = """
#include <cuda_fp16.h>
extern "C" __global__ void __launch_bounds__(32) gemm(float *c, const __half *a, const __half *b, int n, int k) {
    int fa[8], fb[8];
    float acc[8] = {0.0f};
    const int row = blockIdx.y * 16, col = blockIdx.x * 16;
    #pragma unroll 1
    for (int i = 0; i < k; i += 16) {  // one step along K
        __hmma_m16n16k16_ld_a(fa, (const int *)(a + row * k + i), k, 0);
        __hmma_m16n16k16_ld_b(fb, reinterpret_cast<const int*>(b + i * n + col), n, 0);
        __hmma_m16n16k16_mma_f32f32(acc, fa, fb, acc, 0, 0);
    }
    __hmma_m16n16k16_st_c_f32(c + row * n + col, acc, n, 0);
}
"""


def test_wmma_gemm_with_a_loop_over_k() -> None:
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((32, 64), (64, 48)))
    c = np.zeros((32, 48), np.float32)
    run(WMMA, c, a, b, np.int32(48), np.int32(64), grid=(3, 2))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


BMMA = """
__global__ void distances(int *d, const int *a, const int *b, int steps) {
    __shared__ int tile[64];
    int fa[1], fb[1], acc[2] = {0, 0};
    for (int i = 0; i < steps; i++) {
        __bmma_m8n8k128_ld_a_b1(fa, a + 4 * i, 128 * steps, 0);
        __bmma_m8n8k128_ld_b_b1(fb, b + 4 * i, 128 * steps, 1);
        __bmma_m8n8k128_mma_xor_popc_b1(acc, fa, fb, acc, 1);
    }
    __bmma_m8n8k128_st_c_i32(tile, acc, 8, 0);
    __syncwarp();
    for (int i = threadIdx.x; i < 64; i += warpSize) d[i] = tile[i];
}
"""


def test_bmma_counts_different_bits() -> None:
    random = np.random.default_rng(2)
    a, b = (random.integers(0, 2**32, (8, 12), np.uint32) for _ in range(2))
    d = np.zeros((8, 8), np.int32)
    run(BMMA, d, a.view(np.int32), b.view(np.int32), np.int32(3))
    bits = np.unpackbits((a[:, None] ^ b[None]).view(np.uint8), axis=-1)
    np.testing.assert_array_equal(d, bits.sum(-1))


WGMMA = """
typedef unsigned long long u64;
enum { M = 64, N = 16, K = 16, LEADING = 128, STRIDE = 8 * K * sizeof(__half) };

__device__ static int place(int row, int column) {  // of an element in a tile of core matrices
    return (row / 8 * STRIDE + column / 8 * LEADING + row % 8 * 16) / sizeof(__half) + column % 8;
}

__device__ u64 descriptor(const void *tile) {
    u64 address = __cvta_generic_to_shared(tile);
    return (address & 0x3FFFF) >> 4 | (u64)(LEADING >> 4) << 16 | (u64)(STRIDE >> 4) << 32;
}

__device__ void copy(__half *tile, const __half *matrix, int rows, int k, int start) {
    for (int e = threadIdx.x; e < rows * K; e += blockDim.x)
        tile[place(e / K, e % K)] = matrix[e / K * k + start + e % K];
}

__global__ void gemm(float *c, const __half *a, const __half *b, int k) {
    __shared__ __align__(128) __half ta[M * K];
    __shared__ __align__(128) __half tb[N * K];
    float acc[N / 2] = {};
    for (int i = 0; i < k; i += K) {
        copy(ta, a, M, k, i);
        copy(tb, b, N, k, i);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        __wgmma_mma_async_f16(M, N, K, 0, 0, 0, 0, 1, 0, acc, descriptor(ta), descriptor(tb));
        __syncthreads();
    }
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int j = 0; j < N / 2; ++j) {
        int row = 16 * warp + lane / 4 + j / 2 % 2 * 8, column = j / 4 * 8 + lane % 4 * 2 + (j & 1);
        c[row * N + column] = acc[j];
    }
}
"""


def test_wgmma_gemm_with_tiles_in_shared_memory() -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, (rows, 48)).astype(np.float16) for rows in (64, 16))
    c = np.zeros((64, 16), np.float32)
    run(WGMMA, c, a, b, np.int32(48), block=128, schedule="lazy")
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)


# Statements -----------------------------------------------------------------------------------------------------


def outputs(body: str, count: int = 32, before: str = "", **more: Any) -> list[int]:
    """Return what the threads of one warp store in `out[threadIdx.x]`."""
    found = np.zeros(count, np.int32)
    params = "".join(f", {kind} {name}" for name, (kind, _) in more.items())
    text = f"{before}\n__global__ void k(int *out{params}) {{ int t = threadIdx.x; int r = 0; {body} out[t] = r; }}"
    run(text, found, *(value for _, value in more.values()))
    return found.tolist()


def switched(t: int) -> int:
    r = 100 if t == 0 else 0
    if t in (0, 1, 2):
        return r + 10 + (t if t == 2 else 0)
    return -1 if t == 8 else r + 7


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < t; i++) { if (i == 3) continue; if (i > 9) break; r += i; }",
         lambda t: sum(i for i in range(min(t, 10)) if i != 3)),
        ("switch (t) { case 0: r = 100; case 1: r += 10; break; case 2: r = 12; break; case 4 * 2: r = -1; break;\
 default: r += 7; }", switched),
        ("int n = t + 1; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; ++r; }", lambda t: collatz(t + 1)),
        ("do { r += 5; } while (r < t);", lambda t: max(5, -(-t // 5) * 5)),
        ("for (;;) { if (r++ == t) break; } --r;", lambda t: t),
        ("if (t < 4 && (r = t) > 1 || t == 20) r += 100;", lambda t: (t if t < 4 else 0) + 100 * (t in (2, 3, 20))),
        ("int a[2][3] = {{1, 2}, {4}}; r = a[t & 1][t % 3];", lambda t: [[1, 2, 0], [4, 0, 0]][t & 1][t % 3]),
        ("int a[4] = {1, 2, 3, 4}; int *p = a; p += t & 1; r = *p++ * 10 + *p + (p - a) * 100;",
         lambda t: [12 + 100, 23 + 200][t & 1]),
        ("switch (t & 3) { default: r = 1; case 2: for (int i = 0; i < 3; i++) { if (i == 2) continue; r += 2; } }",
         lambda t: 4 if t & 3 == 2 else 5),
        ("{ int t = 3; r = t; } r += t;", lambda t: t + 3),
        ("r = f(t) + g(t, 2);", lambda t: (t * t if t > 3 else -1) + (t << 2 | 1)),
        ("r = sizeof(int) + sizeof(long *) + sizeof r + sizeof(short) * 100;", lambda t: 216),
        ("r = table[t & 3] + counts[1];", lambda t: [3, 5, 7, 0][t & 3] + 9),
        ("bool odd = t & 1; r = odd ? 5 : t > 20; r += !odd;", lambda t: 5 if t & 1 else (t > 20) + 1),
        ("float x = t; x /= 4; r = x * 100 + 0.5f;", lambda t: int(t * 25 + 0.5)),
        ("__half h = 1.5f; h += (__half)t; r = (float)h * 2;", lambda t: 3 + 2 * t),
        ("r = __popc(t) + max(t, 7) * 100 + min(t - 5, 0);", lambda t: t.bit_count() + max(t, 7) * 100 + min(t - 5, 0)),
        ("r = __shfl_xor_sync(0xffffffff, t, 1) + (__ballot_sync(-1, t < 3) == 7);", lambda t: (t ^ 1) + 1),
        ("const int *p = t ? table : counts; r = p[1];", lambda t: 5 if t else 9),
        ("int x = t, *p = &x; *p += 4; r = x;", lambda t: t + 4),
        ('asm("add.s32 %0, %1, 1;" : "=r"(r) : "r"(t)); asm("add.s32 %0, %0, 2;" : "+r"(r));', lambda t: t + 3),
        ("unsigned char c = 250; c += t; r = c; static const int big = 3; r += big;", lambda t: (250 + t) % 256 + 3),
        ("r = t, t += 1, r += t - 1, --t;", lambda t: 2 * t),
        ("int a[3] = {7, 7, 7}; int i = 1; a[i++] = i; r = a[1] + 10 * i;", lambda t: 21),
        ("r = __shfl_down_sync(-1, t, 1, 8) + 100 * __shfl_up_sync(-1, t, 2, 8);",
         lambda t: (t if t % 8 == 7 else t + 1) + 100 * (t if t % 8 < 2 else t - 2)),
        ("r = (u8)'\\xff' + '\\101' + \"\\x41g\"[0];", lambda t: 255 + 65 + 65),
        ("t += 0 * (t > 99 ? nothing(t) : 0); r = t;", lambda t: t),
        ("const bool b = t && t < 9; const int y = t ? 4 : 5; r = b + 10 * y;",
         lambda t: (0 < t < 9) + 10 * (4 if t else 5)),
    ],
)  # fmt: skip
def test_statements_do_what_c_defines(body: str, expected: Any) -> None:
    before = """
    __constant__ int table[4] = {3, 5, 7};
    __device__ static int counts[2] = {8, 9};
    __device__ int f(int x) { if (x > 3) return x * x; return -1; }
    __device__ int g(int x, unsigned by) { return x << by | 1; }
    __device__ int nothing(int x) { if (x > 3) return x; }
    typedef unsigned char u8;
    """
    assert outputs(body, before=before) == [expected(t) for t in range(32)]


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def test_dynamic_shared_memory_and_blocks() -> None:
    text = """
    extern "C" __global__ void reverse(int *out) {
        extern __shared__ int s[];
        s[threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x;
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] + gridDim.x * 1000;
    }
    """
    found = np.zeros(128, np.int32)
    run(text, found, grid=2, block=64, shared=256)
    assert found.reshape(2, 64)[:, ::-1].reshape(-1).tolist() == [2000 + i for i in range(128)]


def test_pointers_keep_their_state_space_until_two_spaces_meet() -> None:
    text = """
    __global__ void k(int *out, const int *a) {{
        __shared__ int s[256];
        const int *p = a;
        for (int i = 0; i < 2; i++) {{ __hmma_m16n16k16_ld_a(out + 8 * i, p, 16, 0); {change} }}
    }}
    """
    for change, word in (("p += 16;", ".global."), ("if (i) p = s;", ".f16"), ("p = a + i;", ".global.")):
        (call,) = translate(text.format(change=change), SM_90A).calls
        assert call.selection.words["ss"] == word.strip(".").replace("f16", "")


@pytest.mark.parametrize(
    ("body", "space"),
    [
        ("const int *x = nullptr; x = a; L(x);", "global"),
        ("const int *x = n ? a : s; L(x);", ""),
        ("L(n ? s : s + 8);", "shared"),
        ("const int *x = a; const int **r = &x; *r = s; L(x);", ""),
        ("L((const int *)w);", "global"),
        ("L((const int *)(w + 4));", ""),
        ("L(*(const int **)a);", ""),
        ('asm("mov.u64 %0, %1;" : "=l"(a) : "l"(out));\nL(a);', ""),
        ("return; L(a);", "global"),
    ],
)
def test_space_of_a_pointer_is_that_of_its_variables(body: str, space: str) -> None:
    body = re.sub(r"\bL\((.*)\);", r"__hmma_m16n16k16_ld_a(out, \1, 16, 0);", body)
    head = "__global__ void k(int *out, const int *a, int n, unsigned long long w) { __shared__ int s[256];"
    (call,) = translate(f"{head} {body} }}", SM_90A).calls
    assert call.selection.words["ss"] == space


def test_text_from_a_preprocessor() -> None:
    text = '\ufeff# 1 "k.cu"\n#line 3 "k.cu"\n__global__ void k(int *p) { *p = 1; }'
    assert ".entry k(" in lower(text, source="builtin")


def test_bounds_of_a_kernel_are_attributes() -> None:
    ptx = lower("__global__ void __launch_bounds__(4 * 32, 2) __cluster_dims__(2, 1, 1) k(int *p) { *p = 1; }",
                source="builtin")  # fmt: skip
    for directive in (".maxntid 128", ".minnctapersm 2", ".reqnctapercluster 2"):
        assert directive in ptx


def test_functions_of_cuda() -> None:
    text = """
    __global__ void k(double *out, const double *in) {
        double x = in[threadIdx.x]; float y = x;
        double found[14] = {fma(x, 2.0, 1.0), fmaf(y, 2.0f, 1.0f), fmin(x, 1.0), fmaxf(y, 1.0f), fabs(x),
            sqrtf(fabsf(y)), floor(x), ceilf(y),
            __shfl_up_sync(-1, y, 1), __shfl_sync(-1, (int)threadIdx.x, 5), __any_sync(-1, x > 3),
            __all_sync(-1, x < 100), __brev(threadIdx.x), __shfl_down_sync(-1, threadIdx.x, 2)};
        __threadfence(); __threadfence_block(); __threadfence_system(); __syncwarp(0xffffffff);
        for (int i = 0; i < 14; i++) out[14 * threadIdx.x + i] = found[i];
    }
    """
    x = np.arange(32) * 0.375 - 4
    y, lane = x.astype(np.float32), np.arange(32)
    found = np.zeros((32, 14))
    run(text, found, x)
    reverse = [int(f"{i:032b}"[::-1], 2) for i in lane]
    wanted = [
        2 * x + 1, 2 * y + 1, np.minimum(x, 1), np.maximum(y, 1), abs(x), np.sqrt(abs(y)), np.floor(x), np.ceil(y),
        y[np.maximum(lane - 1, 0)], 0 * x + 5, 0 * x + 1, 0 * x + 1, np.array(reverse),
        np.where(lane < 30, lane + 2, lane),
    ]  # fmt: skip
    np.testing.assert_array_equal(found, np.stack(wanted, 1))


LEGAL = [
    "K(int *p) { int i = 3; { int i = 4; p[0] = i; } for (int i = 0; i < 2; i++) p[i] += 1; return; p[0] = 1; }",
    "__device__ const int t[2] = {1, 2}; K(int *p) { *p = t[1]; }",
    "__device__ int f(int); K(int *p) { *p = f(2); } __device__ int f(int a) { return a > 1 ? a : 0; }",
    "K(int *p, int n) { if (n) return; else while (n) break; do { continue; } while (0); switch (n) case 1: *p = 2; }",
    "K(char *p) { p[0] = 'a' + 1; p[1]++; p[2] <<= 2; p[3] |= p[4] = 5; *(p + 5) = -p[6]; p[7] = ~*p; p[9] = !p[9]; }",
    "K(double *p) { double (*q)[4] = (double (*)[4])p; q[1][2] = 3; (*q)[1] = 2; double *const r = p; p[3] = *r; }",
    "K(long *p, void *v) { bool b = v; b = p; if (!v && p || p == (void *)0) p[1] = float(*p) + b; }",
    'extern "C" { __global__ void a(int *p) { __shared__ int s; *p = s; } K(int *p) { __shared__ int s; *p = s; } }',
    'K(const int *__restrict__ a, int *__restrict__ b) { const char *s = "hi\\n"; b[0] = s[1] + a[0]; }',
    "__managed__ int g = 3; static __device__ float h[2][2] = {{1.5f}, {2, 3}}; K(int *p) { *p = g++ + h[1][1]; }",
    "K(int n, int *p) { int *q = p; int **r = &q; **r = 1; (*r)[1] = 2; int m[2][3]; p[2] = sizeof m[0]; *--p = 1; }",
]


@pytest.mark.parametrize("text", LEGAL)
def test_legal_text_has_the_same_ptx_through_mlir_text(text: str) -> None:
    text = text.replace("K(", "__global__ void k(")
    assert lower(lower(text, source="builtin", to="nvvm")) == lower(text, source="builtin")


# Arithmetic -----------------------------------------------------------------------------------------------------

TYPES = {
    "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16, "int": np.int32,
    "unsigned": np.uint32, "long": np.int64, "unsigned long long": np.uint64,
}  # fmt: skip
RANKS = [np.int32, np.uint32, np.int64, np.uint64]
OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "/": lambda a, b: abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1),
    "%": lambda a, b: a - b * (abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)),
    "<": operator.lt, ">=": operator.ge, "==": operator.eq, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip


def wrapped(value: int, kind: Any) -> int:
    bits = np.dtype(kind).itemsize * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if np.dtype(kind).kind == "i" and value >> (bits - 1) else value


def expected(sign: str, a: int, b: int, one: Any, other: Any) -> int | None:
    """Return the value of `a sign b` for operands of two C types, converted to int64, or None if it is undefined."""
    first, second = (kind if np.dtype(kind).itemsize >= 4 else np.int32 for kind in (one, other))
    common = first if sign in ("<<", ">>") else max(first, second, key=RANKS.index)
    a, b = wrapped(a, common), b if sign in ("<<", ">>") else wrapped(b, common)
    bits = np.dtype(common).itemsize * 8
    overflows = sign in "/%" and np.dtype(common).kind == "i" and a == -(1 << (bits - 1)) and b == -1
    if (sign in "/%" and b == 0) or overflows or (sign in ("<<", ">>") and not 0 <= b < bits):
        return None
    found = int(OPERATORS[sign](a, b))
    return wrapped(found if sign in ("<", ">=", "==") else wrapped(found, common), np.int64)


def values_of(kind: Any) -> st.SearchStrategy[int]:
    limits = np.iinfo(kind)
    low, high = int(limits.min), int(limits.max)
    return st.one_of(st.integers(low, high), st.sampled_from([0, 1, 2, 3, high, low, high - 1, low // 2]))


operations = st.tuples(st.sampled_from(sorted(OPERATORS)), *[st.sampled_from(sorted(TYPES))] * 2).flatmap(
    lambda drawn: st.tuples(st.just(drawn), values_of(TYPES[drawn[1]]), values_of(TYPES[drawn[2]]))
)


@settings(max_examples=6, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(operations, min_size=30, max_size=30))
def test_integer_arithmetic_has_the_values_of_c(drawn: list[Any]) -> None:
    """The values computed at run time, and the constants of the same expressions, equal those of C."""
    wanted = [expected(sign, a, b, TYPES[one], TYPES[other]) for (sign, one, other), a, b in drawn]
    memory = np.zeros((len(drawn), 2), np.uint64)
    body = folded = ""
    for k, ((sign, one, other), a, b) in enumerate(drawn):
        memory[k] = np.array([a, b], object) & 0xFFFFFFFFFFFFFFFF
        if wanted[k] is None:
            continue
        body += f"out[{k}] = *({one} *)(in + {2 * k}) {sign} *({other} *)(in + {2 * k + 1});\n"
        constants = [f"({kind})0x{value & 0xFFFFFFFFFFFFFFFF:x}ull" for kind, value in ((one, a), (other, b))]
        folded += f"const long c{k} = {constants[0]} {sign} {constants[1]}; out[{len(drawn) + k}] = c{k};\n"
    found = np.zeros(2 * len(drawn), np.uint64)
    text = f"__global__ void k(long *out, unsigned long *in) {{ if (threadIdx.x == 0) {{ {body} {folded} }} }}"
    run(text, found, memory.reshape(-1))
    assert found.view(np.int64).tolist() == [value or 0 for value in wanted] * 2


NUMBERS = (0.0, -1.5, 2.75, 1e-8, 16777217.0, -3e9, 0.1, 12345.678)


def test_floating_point_arithmetic_has_the_values_of_c() -> None:
    body, wanted = "", []
    for a, b in product(NUMBERS, NUMBERS):
        x, y = np.float32(a), np.float32(b)
        for sign, value in (("+", x + y), ("*", x * y), ("-", x - y), ("<", float(x < y))):
            body += f"out[{len(wanted)}] = ({a!r}f {sign} {b!r}f) + 0.0f * in[0]; "
            wanted.append(np.float32(value))
    body = body.replace("-1.5f", "(-1.5f)").replace("-3e9", "-3e9")
    found = np.zeros(len(wanted), np.float32)
    run(f"__global__ void k(float *out, const float *in) {{ if (threadIdx.x == 0) {{ {body} }} }}",
        found, np.ones(1, np.float32))  # fmt: skip
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))


@pytest.mark.parametrize("kind", ["signed char", "unsigned short", "int", "unsigned", "long", "unsigned long long"])
def test_conversions_between_integers_and_floats(kind: str) -> None:
    limits = np.iinfo(TYPES[kind])
    numbers = [int(limits.min) // 3, 0, 7, int(limits.max) // 5]
    source = np.array(numbers, TYPES[kind])
    back = np.array([value for value in (0.0, 3.99, 100.5, -2.5) if value >= 0 or limits.min < 0], np.float64)
    out, whole = np.zeros(4, np.float64), np.zeros(len(back), TYPES[kind])
    text = (
        f"__global__ void k(double *out, {kind} *whole, const {kind} *in, const double *x) {{"
        f" out[threadIdx.x] = in[threadIdx.x]; if (threadIdx.x < {len(back)}) whole[threadIdx.x] = x[threadIdx.x]; }}"
    )
    run(text, out, whole, source, back, block=4)
    np.testing.assert_array_equal(out, source.astype(np.float64))
    np.testing.assert_array_equal(whole, back.astype(TYPES[kind]))
