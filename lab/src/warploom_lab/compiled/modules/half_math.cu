// needs sm_75
#include <cuda_fp16.h>
__global__ void h(half* x, half2* y, float* f, int* i) {
    int t = threadIdx.x; half a = x[t], b = x[t + 1];
    x[t] = __hfma(a, b, hexp(a)) + hsqrt(b) / hlog(a); y[t] = __hfma2(y[t], y[t + 1], __float2half2_rn(0.5f));
    y[t] = __hmax2(h2sin(y[t]), h2cos(y[t + 2])); f[t] = __half2float(__hadd_sat(a, b));
    i[t] = __half2int_rz(a) + (__hgt(a, b) ? __half2ushort_rd(b) : __heq(a, b)); atomicAdd(y, y[t + 3]);
}
