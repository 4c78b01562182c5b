// needs sm_75
__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
struct Big { double v[9]; };
__device__ __noinline__ Big twice(Big b) { for (double& x : b.v) x *= 2; return b; }
__global__ void run(int* out, Big* bigs) {
    out[threadIdx.x] = ackermann(2, threadIdx.x); bigs[threadIdx.x] = twice(bigs[threadIdx.x + 1]);
}
