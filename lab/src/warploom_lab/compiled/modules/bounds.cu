// needs sm_90
__global__ void __launch_bounds__(256, 2) bounded(int* x) { x[threadIdx.x] += 1; }
__global__ void __launch_bounds__(128, 1, 4) clustered(int* x) { x[threadIdx.x] += 2; }
__global__ void __cluster_dims__(2, 2, 1) fixed(int* x) { x[blockIdx.x] = 3; }
__global__ void __maxnreg__(64) few(float* x) { x[threadIdx.x] = sinf(x[threadIdx.x]); }
__global__ void constant(const __grid_constant__ int4 p, int* x) { x[threadIdx.x] = p.x + p.w; }
