// needs sm_80
#include <cuda_bf16.h>
__global__ void b(__nv_bfloat16* x, __nv_bfloat162* y, float* f) {
    int t = threadIdx.x; x[t] = __hfma(x[t], x[t + 1], hexp2(x[t + 2])); y[t] = __hmul2_sat(y[t], y[t + 1]);
    f[t] = __bfloat162float(hrsqrt(x[t])) + __low2float(y[t]); x[t + 9] = __float2bfloat16_ru(f[t]);
}
