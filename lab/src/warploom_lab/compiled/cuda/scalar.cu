// Scalar code: arithmetic of every width, control flow, calls, tables, local arrays.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#define KERNEL extern "C" __global__ void
#define ID (blockIdx.x * blockDim.x + threadIdx.x)

__constant__ float coefficients[8] = {1.0f, -0.5f, 0.25f, 2.0f, -3.0f, 0.125f, 7.0f, -1.5f};
__constant__ int permutation[16] = {3, 1, 4, 15, 9, 2, 6, 5, 8, 7, 0, 11, 10, 13, 12, 14};
__device__ int grid_table[2][3] = {{1, 2, 3}, {-4, -5, -6}};
__device__ unsigned long long seed_word = 0x123456789abcdefull;

KERNEL constants(const int* x, float* y, int n) {
    int i = ID;
    if (i >= n) return;
    int v = x[i];
    y[i] = coefficients[v & 7] * permutation[(v >> 3) & 15] + grid_table[v & 1][(v >> 1) % 3 < 0 ? 0 : ((v >> 1) & 0x7fff) % 3] + (float)(seed_word & 0xff);
}

__device__ __noinline__ float horner(const float* c, int n, float x) {
    float s = 0;
    for (int i = n - 1; i >= 0; --i) s = s * x + c[i];
    return s;
}
KERNEL noinline_call(const float* x, float* y, int n) {
    int i = ID;
    if (i < n) { float c[4] = {1, 2, x[i], 0.5f}; y[i] = horner(c, 4, x[i]); }
}

using Op = float (*)(float, float);
__device__ float op_add(float a, float b) { return a + b; }
__device__ float op_mul(float a, float b) { return a * b; }
__device__ float op_sub(float a, float b) { return a - b; }
__device__ Op ops[3] = {op_add, op_mul, op_sub};
KERNEL function_table(const float* x, const int* which, float* y, int n) {
    int i = ID;
    if (i < n) y[i] = ops[(unsigned)which[i] % 3](x[i], 2.5f);
}

__device__ __noinline__ Op pick(int k) { return k == 0 ? op_add : k == 1 ? op_mul : op_sub; }
KERNEL function_pointer(const float* x, const int* which, float* y, int n) {
    int i = ID;
    if (i < n) y[i] = pick((unsigned)which[i] % 3)(x[i], 2.5f);
}

KERNEL switch_table(const int* x, int* y, int n) {
    int i = ID;
    if (i >= n) return;
    int v = x[i], r;
    switch (v & 15) {
        case 0: r = v + 3; break; case 1: r = v * v; break; case 2: r = v ^ 0x55; break; case 3: r = __popc(v); break;
        case 4: r = __clz(v); break; case 5: r = __brev(v); break; case 6: r = __ffs(v); break;
        case 7: r = __byte_perm(v, ~v, 0x1634); break; case 8: r = __funnelshift_l(v, v * 3, 5); break;
        case 9: r = v / 7; break; case 10: r = v % 11; break; case 11: r = __mulhi(v, 0x12345678); break;
        case 12: r = abs(v); break; case 13: r = __sad(v, 17, 5); break; case 14: r = __rhadd(v, 9); break;
        default: r = -v;
    }
    y[i] = r;
}

KERNEL local_sort(const int* x, int* y, int n) {
    int stack[64], buffer[16], top = 0, row = ID;
    if (row >= n) return;
    for (int i = 0; i < 16; ++i) buffer[i] = x[row * 16 + i];
    stack[top++] = 0; stack[top++] = 15;
    while (top) {
        int hi = stack[--top], lo = stack[--top];
        if (lo >= hi) continue;
        int p = buffer[hi], m = lo;
        for (int i = lo; i < hi; ++i) if (buffer[i] < p) { int s = buffer[i]; buffer[i] = buffer[m]; buffer[m++] = s; }
        int s = buffer[m]; buffer[m] = buffer[hi]; buffer[hi] = s;
        stack[top++] = lo; stack[top++] = m - 1; stack[top++] = m + 1; stack[top++] = hi;
    }
    for (int i = 0; i < 16; ++i) y[row * 16 + i] = buffer[i];
}

struct Big { double v[5]; int tag; };
__device__ __noinline__ Big twice(Big b, int k) { for (double& x : b.v) x *= k; b.tag += k; return b; }
KERNEL structs(const double* x, double* y, int n) {
    int i = ID;
    if (i >= n) return;
    Big b; for (int k = 0; k < 5; ++k) b.v[k] = x[i] + k;
    b.tag = i; b = twice(twice(b, 2), 3);
    double s = b.tag; for (double v : b.v) s += v;
    y[i] = s;
}

struct Shape { int side; __device__ virtual int area() const { return 0; } };
struct Square : Shape { __device__ int area() const override { return side * side; } };
struct Double : Shape { __device__ int area() const override { return side * 2; } };
KERNEL virtual_call(int* y) {
    Square s; Double d; s.side = d.side = threadIdx.x;
    const Shape* p = threadIdx.x & 1 ? (const Shape*)&s : (const Shape*)&d;
    asm volatile("" : "+l"(p)); y[threadIdx.x] = p->area();
}

KERNEL divergent_returns(const int* x, int* y, int n) {
    __shared__ int seen[4];
    int i = ID, lane = threadIdx.x & 31;
    if (i >= n) return;
    y[i] = -1;
    if (lane % 3 == 0) return;
    if (x[i] < 0) { if (lane & 1) return; y[i] = x[i] * 2; return; }
    unsigned m = __activemask();
    y[i] = __popc(m & ((1u << lane) - 1)) * 0 + x[i] + 1;
    seen[lane & 3] = 1;
    for (int k = 0; k < lane; ++k) { if (k * k > x[i]) { y[i] = k; return; } if (k == 20) break; }
    y[i] += 1000 + seen[lane & 3];
}

KERNEL blocks_3d(int* y) {
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int size = blockDim.x * blockDim.y * blockDim.z;
    y[b * size + t] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * b + (__syncthreads_count(threadIdx.x == 1) << 20);
}

KERNEL wide_math(const long long* x, const long long* z, long long* y, int n) {
    int i = ID;
    if (i >= n) return;
    long long a = x[i], b = z[i];
    unsigned long long u = a, w = b;
    long long r = a * b + __mul64hi(a, b);
    r ^= (long long)__umul64hi(u, w);
    r += a / (b | 1) - a % (b | 1);
    r += (long long)(u / (w | 1) + u % (w | 1));
    r ^= (a << (b & 63)) ^ (a >> (b & 63)) ^ (long long)(u >> (w & 63));
    r += __clzll(a) + __popcll(a) + __ffsll(a) + (long long)__brevll(u);
    r -= a < b ? a : b;
    __int128 p = (__int128)a * b; r += (long long)(p >> 64) + (long long)(p >> 13);
    unsigned __int128 q = (unsigned __int128)u * 0x123456789abcdefull + w; r ^= (long long)(q / (w | 3));
    y[i] = r;
}

KERNEL narrow_math(const signed char* x, const short* z, int* y, int n) {
    int i = ID;
    if (i >= n) return;
    signed char c = x[i]; short s = z[i]; unsigned char uc = c; unsigned short us = s;
    c += 7; s *= 3; uc >>= 2; us /= 5;
    unsigned a = (unsigned)x[i] * 0x01010101u, b = (unsigned)(unsigned short)z[i] * 0x00010001u;
    int r = c + s + uc + us + (x[i] < z[i]) + ((uc ^ us) & 0xff);
    r += __vadd4(a, b) ^ __vmaxs2(a, b) ^ __vabsdiffu4(a, b) ^ __vcmpgtu4(a, b) ^ __vsubss4(a, b) ^ __vavgu4(a, b);
    r += __dp4a((int)a, (int)b, 5) + __dp2a_lo((int)a, (int)b, r) + __dp2a_hi((int)b, (int)a, 3);
    r += __usad(a, b, 7u) + __mul24(a, b) + __umulhi(a, b) + __uhadd(a, b);
    y[i] = r;
}

KERNEL doubles(const double* x, double* y, int n) {
    int i = ID;
    if (i >= n) return;
    double a = x[i];
    y[i] = sin(a) * cos(a) + exp(-a * a) + log1p(a * a) + sqrt(fabs(a)) + cbrt(a) + atan(a) + tanh(a) + rint(a) + floor(a)
        + fmod(a, 0.7) + pow(fabs(a) + 0.5, 1.3) + erf(a) + __drcp_rn(a + 10) + __ddiv_rz(a, 3.0) * 0 + fma(a, a, a) + hypot(a, 2.0)
        + (double)(long long)(a * 1000) + (double)(unsigned)(fabs(a) * 10) + (double)(float)a * 0 + ldexp(a, 3) + ilogb(a * a + 1);
}

KERNEL singles(const float* x, float* y, int n) {
    int i = ID;
    if (i >= n) return;
    float a = x[i];
    int e; float m = frexpf(a, &e); float s, c; sincosf(a, &s, &c);
    y[i] = m + e + s * c + powf(fabsf(a) + 0.5f, 1.3f) + erff(a) + tanhf(a) + __expf(a) + __fdividef(a, 3) + rsqrtf(fabsf(a) + 1)
        + fmodf(a, 0.7f) + roundf(a) + truncf(a) + (float)__float2int_rd(a) + (float)__float2uint_rz(fabsf(a)) + __saturatef(a)
        + fminf(a, 1.0f) + fmaxf(a, -1.0f) + copysignf(2.0f, a) + __frcp_rn(a + 10) + log2f(fabsf(a) + 1) + exp2f(a) + sinhf(a)
        + logf(fabsf(a) + 0.1f) + atan2f(a, 2.0f) + cbrtf(a) + __powf(2.0f, a) + sinpif(a) + lgammaf(fabsf(a) + 3) + expm1f(a);
}

KERNEL rounding(const float* x, const float* z, float* y, int n) {
    int i = ID;
    if (i >= n) return;
    float a = x[i], b = z[i];
    float* r = y + 16 * i;
    r[0] = __fadd_rn(a, b); r[1] = __fadd_rz(a, b); r[2] = __fadd_ru(a, b); r[3] = __fadd_rd(a, b);
    r[4] = __fmul_rn(a, b); r[5] = __fmul_rz(a, b); r[6] = __fmul_ru(a, b); r[7] = __fmul_rd(a, b);
    r[8] = __fdiv_rn(a, b); r[9] = __fdiv_rz(a, b); r[10] = __fdiv_ru(a, b); r[11] = __fdiv_rd(a, b);
    r[12] = __fmaf_rn(a, b, a); r[13] = __fsqrt_rn(fabsf(a)); r[14] = __frsqrt_rn(fabsf(a)); r[15] = (float)((double)a * b);
}

KERNEL half_math(const __half* x, const __half* z, float* y, int n) {
    int i = ID;
    if (i >= n) return;
    __half a = x[i], b = z[i];
    __half2 p = __halves2half2(a, b), q = __halves2half2(b, a);
    float r = __half2float(__hfma(a, b, a)) + __half2float(__hadd_sat(a, b)) + __half2float(__habs(b)) + __half2float(__hneg(a));
    r += __half2float(hrint(a)) + __half2float(hfloor(b)) + __half2float(hceil(a)) + __half2float(htrunc(b));
    r += (float)__hgt(a, b) + 2 * (float)__heq(a, a) + 4 * (float)__hltu(a, b) + __half2float(__hmax(a, b)) + __half2float(__hmin(a, b));
    r += __low2float(__hadd2(p, q)) + __high2float(__hmul2(p, q)) + __low2float(__hfma2(p, q, p)) + __high2float(__hsub2(p, q));
    r += __half2int_rz(a) + __half2int_rn(b) + __half2uint_ru(__habs(a)) + __half2float(__int2half_rn(i)) + __half2float(__hmul(a, b));
    r += __low2float(__hmax2(p, q)) + __half2float(__hfma_relu(a, b, a)) + (float)__hbgt2(p, q) + (float)__half2ll_rd(b);
    y[i] = r;
}

KERNEL half_functions(const __half* x, float* y, int n) {
    int i = ID;
    if (i >= n) return;
    __half a = x[i], p = __habs(a) + __float2half(0.5f);
    y[i] = __half2float(hexp(a)) + __half2float(hlog(p)) + __half2float(hsqrt(p)) + __half2float(hrsqrt(p)) + __half2float(hsin(a))
        + __half2float(hcos(a)) + __half2float(hexp2(a)) + __half2float(hlog2(p)) + __half2float(hrcp(p)) + __half2float(htanh(a))
        + __half2float(a / p) + __half2float(hexp10(a));
}

KERNEL bf16_math(const __nv_bfloat16* x, const __nv_bfloat16* z, float* y, int n) {
    int i = ID;
    if (i >= n) return;
    __nv_bfloat16 a = x[i], b = z[i];
    __nv_bfloat162 p = __halves2bfloat162(a, b), q = __halves2bfloat162(b, a);
    float r = __bfloat162float(__hfma(a, b, a)) + __bfloat162float(__hadd(a, b)) + __bfloat162float(__hmul(a, b));
    r += __bfloat162float(__hmax(a, b)) + __bfloat162float(__hmin_nan(a, b)) + __bfloat162float(__habs(a)) + __bfloat162float(__hneg(b));
    r += (float)__hlt(a, b) + __low2float(__hadd2(p, q)) + __high2float(__hfma2(p, q, p)) + __low2float(__hmul2_sat(p, q));
    r += __bfloat162float(__float2bfloat16_rz(1.2345f * i)) + __bfloat162int_rz(b) + __bfloat162float(__int2bfloat16_rn(i * 77));
    r += __bfloat162float(__hsub(a, b)) + __bfloat162float(a / (__habs(b) + __float2bfloat16(1.0f)));
    y[i] = r;
}

KERNEL fp8_casts(const float* x, unsigned char* y, float* z, int n) {
    int i = ID;
    if (i >= n) return;
    __nv_fp8_e4m3 a(x[i]); __nv_fp8_e5m2 b(x[i]); __nv_fp8_e4m3 c(__float2half(x[i])); __nv_fp8_e5m2 d(__float2bfloat16(x[i]));
    y[4 * i] = a.__x; y[4 * i + 1] = b.__x; y[4 * i + 2] = c.__x; y[4 * i + 3] = d.__x;
    z[2 * i] = float(a); z[2 * i + 1] = float(__half(b));
}

KERNEL packed_fp8(const float4* x, unsigned* y, float4* z, int n) {
    int i = ID;
    if (i >= n) return;
    __nv_fp8x4_e4m3 v(x[i]); y[i] = v.__x; z[i] = float4(v);
}

KERNEL unaligned_bytes(const unsigned char* x, unsigned* y, int n) {
    int i = ID;
    if (i >= n) return;
    unsigned v; memcpy(&v, x + 3 * i, 3); v &= 0xffffff; struct __attribute__((packed)) P { char c; unsigned short s; }; P p; memcpy(&p, x + 3 * i, 3);
    y[i] = v + p.s + (unsigned)p.c;
}

KERNEL grid_stride(const float4* __restrict__ x, float4* y, float a, long long n) {
    for (long long i = ID; i < n; i += gridDim.x * blockDim.x) {
        float4 v = __ldg(x + i); v.x *= a; v.y += a; v.z = fmaf(v.z, a, 1.0f); v.w = -v.w; __stcs(y + i, v);
    }
}
