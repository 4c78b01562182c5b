#include "device.h"

#ifdef saxpy
KERNEL k(int n, float a, const float *x, float *y) { int i = INDEX; if (i < n) y[i] = a * x[i] + y[i]; }
#endif

#ifdef block_sum
KERNEL __launch_bounds__(128) k(const int *x, int *y, int n) {
    __shared__ int part[4];
    int v = 0;
    for (int i = INDEX; i < n; i += X(nctaid_x) * X(ntid_x)) v += x[i];
    for (int d = 16; d; d /= 2) v += __nvvm_shfl_sync_down_i32(-1, v, d, 31);
    if (THREAD % 32 == 0) part[THREAD / 32] = v;
    SYNC;
    if (THREAD == 0) __nvvm_atom_add_gen_i(y, part[0] + part[1] + part[2] + part[3]);
}
#endif

#ifdef transpose
KERNEL k(const float *x, float *y) {
    __shared__ float tile[32][33];
    tile[X(tid_y)][THREAD] = x[X(tid_y) * 32 + THREAD];
    SYNC;
    y[X(tid_y) * 32 + THREAD] = tile[THREAD][X(tid_y)];
}
#endif

#ifdef call
__device__ __attribute__((noinline)) float power(float x, int n) { float r = 1; while (n--) r *= x; return r; }
KERNEL k(const float *x, float *y, int n) { int i = INDEX; y[i] = power(x[i], n) + power(x[i], 1); }
#endif

#ifdef table
__device__ __attribute__((noinline)) int twice(int v) { return 2 * v; }
__device__ __attribute__((noinline)) int square(int v) { return v * v; }
__device__ __attribute__((noinline)) int negate(int v) { return -v; }
__constant__ int (*const functions[3])(int) = {twice, square, negate};
KERNEL k(const int *x, int *y) { int i = INDEX; y[i] = functions[i % 3](x[i]); }
#endif

#ifdef switching
KERNEL k(const int *x, int *y) {
    int i = INDEX, v = x[i], r;
    switch (v & 7) {
    case 0: r = v * 5; break;
    case 1: r = v ^ 1234; break;
    case 2: r = v - 77; break;
    case 3: r = 3 * v * v; break;
    case 5: r = v / 7; break;
    case 6: r = v % 13; break;
    default: r = -v;
    }
    y[i] = r;
}
#endif

#ifdef structure
struct Options { int scale; float bias; long long offset; short few[5]; };
KERNEL k(const __grid_constant__ Options options, const int *x, float *y) {
    int i = INDEX;
    y[i] = x[i + options.offset] * options.scale + options.bias + options.few[i % 5];
}
#endif

#ifdef vectors
typedef float float4 __attribute__((ext_vector_type(4)));
KERNEL k(const float4 *x, float4 *y, float a) { int i = INDEX; y[i] = x[i] * a + x[i].wzyx; }
#endif

#ifdef halves
KERNEL k(const __fp16 *x, __fp16 *y) { int i = INDEX; float v = x[i]; y[i] = v * v + 1; }
#endif

#ifdef doubles
KERNEL k(const double *x, double *y) {
    int i = INDEX;
    y[i] = __builtin_sqrt(__builtin_fabs(x[i])) + __builtin_floor(x[i]) / 4.0;
}
#endif

#ifdef wide
KERNEL k(const u64 *x, u64 *y) {
    int i = INDEX;
    y[i] = (u64)(((unsigned __int128)x[i] * x[i + 1]) >> 64) ^ (u64)__builtin_popcountll(x[i]) ^ __builtin_bswap64(x[i]);
}
#endif

#ifdef locals
KERNEL k(const int *x, int *y, int n) {
    int values[16], i = INDEX;
    for (int j = 0; j < 16; j++) values[j] = x[16 * i + j];
    for (int j = 1; j < 16; j++)
        for (int l = j; l && values[l - 1] > values[l]; l--) { int t = values[l]; values[l] = values[l - 1]; values[l - 1] = t; }
    y[i] = values[n & 15];
}
#endif

#ifdef atomics
KERNEL k(const int *x, int *y, float *z, u64 *w) {
    int i = INDEX;
    __nvvm_atom_max_gen_i(y, x[i]);
    __nvvm_atom_add_gen_f(z, (float)x[i]);
    __atomic_fetch_or(w, 1ull << (x[i] & 63), __ATOMIC_RELAXED);
    int old = __atomic_load_n(y + 1, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(y + 1, &old, old + x[i], false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {}
}
#endif

#ifdef mma
KERNEL k(const double *a, const double *b, double *c) {
    double d[2], u[2] = {0, 0};
    int t = THREAD;
    __dmma_m8n8k4_mma_f64(d, a + t, b + t, u, 1, 0);
    c[2 * t] = d[0];
    c[2 * t + 1] = d[1];
}
#endif

#ifdef flag
KERNEL k(bool on, const int *x, int *y) { int i = INDEX; y[i] = on ? x[i] : -x[i]; }
#endif

#ifdef dynamic
extern __shared__ int all[];
KERNEL k(const int *x, int *y, int n) {
    for (int i = THREAD; i < n; i += X(ntid_x)) all[n - 1 - i] = x[i];
    SYNC;
    for (int i = THREAD; i < n; i += X(ntid_x)) y[i] = all[i] - (i ? all[i - 1] : 0);
}
#endif
