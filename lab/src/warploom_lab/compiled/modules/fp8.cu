// needs sm_89
#include <cuda_fp8.h>
template <class T> __global__ void q(const float* x, T* y, float* z) {
    int t = threadIdx.x; T v(x[t]); y[t] = v; z[t] = float(v) * 2.0f;
}
template __global__ void q<__nv_fp8_e4m3>(const float*, __nv_fp8_e4m3*, float*);
template __global__ void q<__nv_fp8_e5m2>(const float*, __nv_fp8_e5m2*, float*);
__global__ void pack(const float4* x, __nv_fp8x4_e4m3* y) { y[threadIdx.x] = __nv_fp8x4_e4m3(x[threadIdx.x]); }
