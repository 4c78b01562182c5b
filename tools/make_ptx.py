"""Make real PTX files: more than a hundred modules from nvcc, and more from Triton.

    python tools/make_ptx.py FOLDER [--triton-python PYTHON]

nvcc 13.0 is taken from PATH; Triton 3.9 from the interpreter named, which needs no GPU and no torch. Where a
tool is missing the script says so, writes what the other gives, and ends with status 1.
"""

# The CUDA texts below keep lines of their own length; this script calls compilers and prints.
# ruff: noqa: E501, S603, T201

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CUDA: dict[str, tuple[int, str]] = {
    "elementwise": (
        75,
        """
        #include <cstdint>
        template <class T> struct Axpy { __device__ static T go(T a, T x, T y) { return a * x + y; } };
        template <class T> __global__ void axpy(T* y, const T* __restrict__ x, T a, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                y[i] = Axpy<T>::go(a, x[i], y[i]);
        }
        #define MAKE(T) template __global__ void axpy<T>(T*, const T*, T, int);
        MAKE(float) MAKE(double) MAKE(int8_t) MAKE(uint8_t) MAKE(int16_t) MAKE(uint16_t) MAKE(int) MAKE(unsigned)
        MAKE(long long) MAKE(unsigned long long)
        """,
    ),
    "int128": (
        75,
        """
        __global__ void wide(__int128* a, unsigned __int128* b, int n) {
            int i = threadIdx.x; if (i < n) { a[i] = a[i] * a[i + 1] + (a[i] >> 7); b[i] = b[i] / (b[i + 1] | 1); }
        }
        """,
    ),
    "wmma_half": (
        75,
        """
        #include <mma.h>
        using namespace nvcuda;
        template <int M, int N, int K, class A, class B, class C>
        __global__ void tile(const half* a, const half* b, C* c) {
            wmma::fragment<wmma::matrix_a, M, N, K, half, A> fa; wmma::fragment<wmma::matrix_b, M, N, K, half, B> fb;
            wmma::fragment<wmma::accumulator, M, N, K, C> fc; wmma::fill_fragment(fc, C(0));
            for (int k = 0; k < 4; ++k) {
                wmma::load_matrix_sync(fa, a + k * K, 64); wmma::load_matrix_sync(fb, b + k * K, 64);
                wmma::mma_sync(fc, fa, fb, fc);
            }
            wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
        }
        #define MAKE(M, N, K, A, B, C) \\
            template __global__ void tile<M, N, K, wmma::A, wmma::B, C>(const half*, const half*, C*);
        MAKE(16, 16, 16, row_major, col_major, float) MAKE(32, 8, 16, col_major, row_major, float)
        MAKE(8, 32, 16, row_major, row_major, half) MAKE(16, 16, 16, col_major, col_major, half)
        """,
    ),
    "wmma_other": (
        80,
        """
        #include <mma.h>
        using namespace nvcuda;
        template <int M, int N, int K, class T, class C, class S>
        __global__ void tile(const S* a, const S* b, C* c) {
            wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
            wmma::fragment<wmma::accumulator, M, N, K, C> fc; wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
            wmma::load_matrix_sync(fa, a, K); wmma::load_matrix_sync(fb, b, K); wmma::mma_sync(fc, fa, fb, fc);
            wmma::store_matrix_sync(c, fc, N, wmma::mem_col_major);
        }
        template __global__ void tile<16, 16, 16, __nv_bfloat16, float, __nv_bfloat16>(
            const __nv_bfloat16*, const __nv_bfloat16*, float*);
        template __global__ void tile<16, 16, 8, wmma::precision::tf32, float, float>(
            const float*, const float*, float*);
        template __global__ void tile<8, 8, 4, double, double, double>(const double*, const double*, double*);
        template __global__ void tile<16, 16, 16, signed char, int, signed char>(
            const signed char*, const signed char*, int*);
        """,
    ),
    "half_math": (
        75,
        """
        #include <cuda_fp16.h>
        __global__ void h(half* x, half2* y, float* f, int* i) {
            int t = threadIdx.x; half a = x[t], b = x[t + 1];
            x[t] = __hfma(a, b, hexp(a)) + hsqrt(b) / hlog(a); y[t] = __hfma2(y[t], y[t + 1], __float2half2_rn(0.5f));
            y[t] = __hmax2(h2sin(y[t]), h2cos(y[t + 2])); f[t] = __half2float(__hadd_sat(a, b));
            i[t] = __half2int_rz(a) + (__hgt(a, b) ? __half2ushort_rd(b) : __heq(a, b)); atomicAdd(y, y[t + 3]);
        }
        """,
    ),
    "bf16_math": (
        80,
        """
        #include <cuda_bf16.h>
        __global__ void b(__nv_bfloat16* x, __nv_bfloat162* y, float* f) {
            int t = threadIdx.x; x[t] = __hfma(x[t], x[t + 1], hexp2(x[t + 2])); y[t] = __hmul2_sat(y[t], y[t + 1]);
            f[t] = __bfloat162float(hrsqrt(x[t])) + __low2float(y[t]); x[t + 9] = __float2bfloat16_ru(f[t]);
        }
        """,
    ),
    "fp8": (
        89,
        """
        #include <cuda_fp8.h>
        template <class T> __global__ void q(const float* x, T* y, float* z) {
            int t = threadIdx.x; T v(x[t]); y[t] = v; z[t] = float(v) * 2.0f;
        }
        template __global__ void q<__nv_fp8_e4m3>(const float*, __nv_fp8_e4m3*, float*);
        template __global__ void q<__nv_fp8_e5m2>(const float*, __nv_fp8_e5m2*, float*);
        __global__ void pack(const float4* x, __nv_fp8x4_e4m3* y) { y[threadIdx.x] = __nv_fp8x4_e4m3(x[threadIdx.x]); }
        """,
    ),
    "groups": (
        75,
        """
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        #include <cooperative_groups/scan.h>
        namespace cg = cooperative_groups;
        __global__ void sums(int* out, const int* in, unsigned* barrier) {
            auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block);
            auto tile = cg::tiled_partition<8>(warp); int v = in[block.thread_rank()];
            int s = cg::reduce(tile, v, cg::plus<int>()); int p = cg::inclusive_scan(warp, v);
            auto active = cg::coalesced_threads(); if (active.thread_rank() == 0) atomicAdd(out, s);
            block.sync(); out[block.thread_rank()] = p + tile.shfl_xor(v, 3) + warp.any(v > 3);
            cg::this_grid().sync(); out[0] = warp.match_any(v);
        }
        """,
    ),
    "barrier": (
        80,
        """
        #include <cuda/barrier>
        #include <cuda/pipeline>
        #include <cooperative_groups.h>
        using Barrier = cuda::barrier<cuda::thread_scope_block>;
        __global__ void copy(float* out, const float* in, int n) {
            __shared__ float stage[2][256]; __shared__ Barrier bar;
            if (threadIdx.x == 0) init(&bar, blockDim.x);
            __syncthreads();
            cuda::memcpy_async(&stage[0][threadIdx.x], in + threadIdx.x, sizeof(float), bar); bar.arrive_and_wait();
            auto pipe = cuda::make_pipeline();
            for (int i = 0; i < n; ++i) {
                pipe.producer_acquire();
                cuda::memcpy_async(&stage[i & 1][threadIdx.x], in + i * 256 + threadIdx.x, sizeof(float), pipe);
                pipe.producer_commit(); pipe.consumer_wait(); out[i * 256 + threadIdx.x] = stage[i & 1][threadIdx.x];
                pipe.consumer_release();
            }
        }
        """,
    ),
    "printing": (
        75,
        """
        #include <cstdio>
        #include <cassert>
        __global__ void say(const int* x) {
            printf("thread %d of block %d: \\\\t%d \\"quoted\\" %f\\n", threadIdx.x, blockIdx.x, x[0], 1.5);
            assert(x[1] > 0); if (x[2] < 0) __trap(); if (x[3]) __brkpt(); __nanosleep(40);
        }
        """,
    ),
    "recursion": (
        75,
        """
        __device__ __noinline__ int ackermann(int m, int n) {
            return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
        }
        struct Big { double v[9]; };
        __device__ __noinline__ Big twice(Big b) { for (double& x : b.v) x *= 2; return b; }
        __global__ void run(int* out, Big* bigs) {
            out[threadIdx.x] = ackermann(2, threadIdx.x); bigs[threadIdx.x] = twice(bigs[threadIdx.x + 1]);
        }
        """,
    ),
    "pointers": (
        75,
        """
        using Op = float (*)(float, float);
        __device__ float add(float a, float b) { return a + b; }
        __device__ float mul(float a, float b) { return a * b; }
        __device__ float sub(float a, float b) { return a - b; }
        __device__ Op table[] = {add, mul, sub};
        struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} float s = 2; };
        struct Square : Shape { __device__ float area() const override { return s * s; } };
        struct Circle : Shape { __device__ float area() const override { return 3.14159f * s * s; } };
        __global__ void apply(float* x, int which, int kind) {
            Shape* shape = kind ? (Shape*)new Square : (Shape*)new Circle;
            x[threadIdx.x] = table[which](x[threadIdx.x], shape->area()); delete shape;
        }
        """,
    ),
    "switches": (
        75,
        """
        __global__ void choose(int* x, const int* op) {
            int t = threadIdx.x, v = x[t];
            switch (op[t]) {
                case 0: v += 3; break; case 1: v *= v; break; case 2: v ^= 0x55; break; case 3: v = __popc(v); break;
                case 4: v = __clz(v); break; case 5: v = __brev(v); break; case 6: v = __ffs(v); break;
                case 7: v = __byte_perm(v, v, 0x1234); break; case 8: v <<= 3; [[fallthrough]];
                case 9: v = __funnelshift_l(v, v, 5); break; case 10: v = v / 7; break; case 11: v = v % 11; break;
                default: v = -v;
            }
            x[t] = v;
        }
        """,
    ),
    "locals": (
        75,
        """
        __global__ void sort(int* x, int n) {
            int stack[64], buffer[32]; double d[8] = {1.0, 2.5, -3.25, 1e300, 1e-300, 0.1, 7, 8};
            for (int i = 0; i < 32; ++i) buffer[i] = x[threadIdx.x * 32 + i];
            int top = 0; stack[top++] = 0; stack[top++] = 31;
            while (top) {
                int hi = stack[--top], lo = stack[--top]; if (lo >= hi) continue;
                int p = buffer[hi], m = lo;
                for (int i = lo; i < hi; ++i) if (buffer[i] < p) { int s = buffer[i]; buffer[i] = buffer[m]; buffer[m++] = s; }
                int s = buffer[m]; buffer[m] = buffer[hi]; buffer[hi] = s;
                stack[top++] = lo; stack[top++] = m - 1; stack[top++] = m + 1; stack[top++] = hi;
            }
            for (int i = 0; i < 32; ++i) x[threadIdx.x * 32 + i] = buffer[i] + (int)d[n & 7];
        }
        """,
    ),
    "textures": (
        75,
        """
        __global__ void sample(cudaTextureObject_t t, cudaTextureObject_t t3, cudaSurfaceObject_t s, float4* out) {
            int i = threadIdx.x; float u = i * 0.1f;
            out[i] = tex2D<float4>(t, u, u + 1); out[i + 1].x = tex1Dfetch<float>(t, i);
            out[i + 2] = tex3D<float4>(t3, u, u, u); out[i + 3] = tex2DLod<float4>(t, u, u, 1.0f);
            out[i + 4] = tex2Dgather<float4>(t, u, u, 1); out[i + 5] = tex2DLayered<float4>(t3, u, u, 2);
            surf2Dwrite<float>(u, s, i * 4, 3); out[i + 6].x = surf2Dread<float>(s, i * 4, 2, cudaBoundaryModeClamp);
        }
        """,
    ),
    "atomics": (
        75,
        """
        __global__ void all(int* i, unsigned long long* l, float* f, double* d) {
            int t = threadIdx.x; __shared__ int s[32];
            atomicAdd(i, t); atomicSub(i + 1, t); atomicMin(i + 2, t); atomicMax(i + 3, t); atomicAnd(i + 4, t);
            atomicOr(i + 5, t); atomicXor(i + 6, t); i[8] = atomicExch(i + 7, t); i[9] = atomicCAS(i + 10, 1, 2);
            atomicAdd(l, 1ull); atomicCAS(l + 1, 3ull, 4ull); atomicAdd(f, 1.0f); atomicAdd(d, 1.0);
            atomicAdd_block(i + 11, 1); atomicAdd_system(i + 12, 1); atomicAdd(s + t, 5); atomicInc((unsigned*)i, 9u);
            __threadfence(); __threadfence_block(); __threadfence_system(); i[13] = __ballot_sync(~0u, s[t]);
            i[14] = __shfl_down_sync(~0u, s[t], 4) + __reduce_if(t); i[15] = __syncthreads_count(t > 3);
        }
        """.replace("__reduce_if(t)", "__all_sync(~0u, t)"),
    ),
    "assembly": (
        80,
        """
        __global__ void raw(unsigned* x, unsigned long long* y) {
            unsigned r, t = threadIdx.x; unsigned s = (unsigned)__cvta_generic_to_shared(x);
            asm volatile("{\\n .reg .pred p, q;\\n .reg .b32 %%t<4>; // scratch\\n setp.eq.u32 p|q, %1, 0;\\n"
                         "@!p add.u32 %0, %1, 0x10U; @p mov.b32 %0, 0b101; /* both */ }" : "=r"(r) : "r"(t));
            asm volatile("{ .reg .v2 .b32 v; mov.b64 {%0, _}, %1; }" : "=r"(r) : "l"(y[t]));
            asm volatile("lop3.b32 %0, %1, %2, %0, (0xF0 & 0xCC) | 0xAA;" : "+r"(r) : "r"(t), "r"(s));
            asm volatile(".pragma \\"nounroll\\";\\n\\tmov.u32 %0, %%laneid;" : "=r"(r));
            asm volatile("L_%=: add.u32 %0, %0, 1; setp.lt.u32 %%p1, %0, 9; @%%p1 bra L_%=;"
                         : "+r"(r) :: "memory"); x[t] = r;
        }
        """.replace("setp.lt.u32 %%p1, %0, 9; @%%p1 bra L_%=;", "bra.uni M_%=; M_%=:"),
    ),
    "variables": (
        75,
        """
        struct Item { int a; const char* name; double d[2]; Item* next; };
        __device__ Item second = {2, "second", {0.5, -0.0}, nullptr};
        __device__ Item first = {1, "first", {1e-9, 3}, &second};
        __device__ int grid[2][3] = {{1, 2, 3}, {-4, -5, -6}}; __device__ int* middle = &grid[1][1];
        __constant__ float weights[5] = {1, 2.5f, -3, 0x1p-20f, 1e10f}; __constant__ int zeros[8];
        __managed__ int shared_with_host = 42; extern __shared__ double dynamic[];
        __device__ __align__(16) char bytes[7] = "abc"; static __device__ volatile unsigned char flag;
        __global__ void use(int* out) {
            __shared__ Item local[4]; int t = threadIdx.x; dynamic[t] = weights[t % 5] + zeros[t & 7];
            local[t & 3] = t & 1 ? first : *first.next; __syncthreads();
            out[t] = local[(t + 1) & 3].a + grid[t & 1][t % 3] + *middle + bytes[t % 7] + flag + shared_with_host
                + (int)dynamic[t ^ 1] + first.name[t & 3];
        }
        """,
    ),
    "bounds": (
        90,
        """
        __global__ void __launch_bounds__(256, 2) bounded(int* x) { x[threadIdx.x] += 1; }
        __global__ void __launch_bounds__(128, 1, 4) clustered(int* x) { x[threadIdx.x] += 2; }
        __global__ void __cluster_dims__(2, 2, 1) fixed(int* x) { x[blockIdx.x] = 3; }
        __global__ void __maxnreg__(64) few(float* x) { x[threadIdx.x] = sinf(x[threadIdx.x]); }
        __global__ void constant(const __grid_constant__ int4 p, int* x) { x[threadIdx.x] = p.x + p.w; }
        """,
    ),
    "mathematics": (
        75,
        """
        __global__ void f(float* x, double* y) {
            int t = threadIdx.x; float a = x[t]; double b = y[t];
            x[t] = sinf(a) + powf(a, 2.3f) + erff(a) + tanhf(a) + __expf(a) + __fdividef(a, 3) + rsqrtf(a) + fmodf(a, 2);
            y[t] = cos(b) * log1p(b) + pow(b, 1.1) + tgamma(b) + cbrt(b) + fma(b, b, b) + __drcp_rn(b) + rint(b);
            if (isnan(a) || isinf(b)) x[t] = nanf(""); y[t + 1] = __longlong_as_double(0x7ff0000000000001ll);
        }
        """,
    ),
    "library": (
        75,
        """
        extern __device__ int outside(int, float); extern __device__ int elsewhere[];
        __device__ __noinline__ int inside(int x) { return outside(x, 1.5f) + elsewhere[x]; }
        template <int N> __device__ __noinline__ int unrolled(int x) {
            _Pragma("unroll 1") for (int i = 0; i < N; ++i) x = x * 3 + i; return x;
        }
        __device__ __attribute__((noreturn)) __noinline__ void die() { __trap(); }
        __global__ void call(int* x) { if (x[0] == 7) die(); x[threadIdx.x] = inside(x[1]) + unrolled<9>(x[2]); }
        """,
    ),
}

VARIANTS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("sm_75", 75, ()),
    ("sm_80", 80, ("-lineinfo",)),
    ("sm_90a", 90, ()),
    ("sm_90", 90, ("-G",)),
    ("sm_100a", 100, ("-lineinfo", "-O1")),
    ("sm_120", 120, ("-rdc=true",)),
)

TRITON = '''"""Compile small kernels for several targets without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(y + i, tl.exp(tl.load(x + i, mask=m).to(tl.float32)) * 2.0, mask=m)


@triton.jit
def rows(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, k, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for s in range(0, k, B):
        acc += tl.dot(tl.load(a + i[:, None] * k + s + i[None, :]), tl.load(b + (s + i[:, None]) * B + i[None, :]))
    tl.store(c + i[:, None] * B + i[None, :], acc)


@triton.jit
def histogram(x, h, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(h + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


KERNELS = (
    (scale, {"x": "*fp32", "y": "*fp32", "n": "i32"}, 256),
    (scale, {"x": "*fp16", "y": "*fp16", "n": "i32"}, 512),
    (rows, {"x": "*fp32", "y": "*fp32", "n": "i32"}, 1024),
    (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}, 64),
    (matmul, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "k": "i32"}, 32),
    (histogram, {"x": "*i32", "h": "*i32", "n": "i32"}, 256),
)

folder = Path(sys.argv[1])
for number, (kernel, signature, block) in enumerate(KERNELS):
    for cc in (80, 89, 90, 100, 120):
        source = ASTSource(fn=kernel, signature={**signature, "B": "constexpr"}, constexprs={"B": block})
        text = triton.compile(source, target=GPUTarget("cuda", cc, 32)).asm["ptx"]
        (folder / f"triton_{kernel.__name__}{number}_sm{cc}.ptx").write_text(text, newline="")
'''


@dataclass(frozen=True, slots=True)
class Job:
    """One call of nvcc."""

    source: Path
    target: str
    flags: tuple[str, ...]

    def name(self) -> str:
        """The file to write."""
        flags = "".join(f"_{flag.strip('-').replace('=', '_')}" for flag in self.flags)
        return f"nvcc_{self.source.stem}_{self.target}{flags}.ptx"


def nvcc_files(folder: Path) -> int:
    """Compile every CUDA source for every target that it is for; the number of files made."""
    sources = folder / "sources"
    sources.mkdir(exist_ok=True)
    made = 0
    for name, (least, text) in CUDA.items():
        source = sources / f"{name}.cu"
        source.write_text(text)
        for target, capability, flags in VARIANTS:
            if capability >= least:
                job = Job(source, target, flags)
                made += _compile(job, folder / job.name())
    return made


def _compile(job: Job, output: Path) -> bool:
    command = [
        "nvcc",
        "-ptx",
        "-std=c++17",
        "-w",
        f"-arch={job.target}",
        *job.flags,
        "-o",
        str(output),
        str(job.source),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        print(f"nvcc refused {output.name}:\n{result.stderr}", file=sys.stderr)
    return result.returncode == 0


def triton_files(folder: Path, python: str) -> int:
    """Compile the Triton kernels with the interpreter given; the number of files made."""
    script = folder / "sources" / "kernels.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(TRITON)
    result = subprocess.run([python, str(script), str(folder)], capture_output=True, text=True, check=False)
    if result.returncode:
        print(f"{python} could not compile the Triton kernels:\n{result.stderr}", file=sys.stderr)
    return len(list(folder.glob("triton_*.ptx")))


def _has_triton(python: str) -> bool:
    found = subprocess.run([python, "-c", "import triton"], capture_output=True, check=False)
    return found.returncode == 0


def main() -> int:
    """Make the files and say how many."""
    parser = argparse.ArgumentParser(description="Make real PTX files with nvcc and Triton.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--triton-python", default=sys.executable, help="interpreter that has Triton 3.9")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    status = 0
    made = 0
    if shutil.which("nvcc"):
        made += nvcc_files(folder)
    else:
        print("nvcc is missing: put CUDA 13.0's bin folder on PATH for the CUDA files", file=sys.stderr)
        status = 1
    if _has_triton(arguments.triton_python):
        made += triton_files(folder, arguments.triton_python)
    else:
        print(
            f"Triton is missing from {arguments.triton_python}: install triton 3.9 there, or name an interpreter that"
            " has it with --triton-python",
            file=sys.stderr,
        )
        status = 1
    print(f"{made} PTX files in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
