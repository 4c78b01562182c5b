// needs sm_75
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
