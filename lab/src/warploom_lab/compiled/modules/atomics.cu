// needs sm_75
__global__ void all(int* i, unsigned long long* l, float* f, double* d) {
    int t = threadIdx.x; __shared__ int s[32];
    atomicAdd(i, t); atomicSub(i + 1, t); atomicMin(i + 2, t); atomicMax(i + 3, t); atomicAnd(i + 4, t);
    atomicOr(i + 5, t); atomicXor(i + 6, t); i[8] = atomicExch(i + 7, t); i[9] = atomicCAS(i + 10, 1, 2);
    atomicAdd(l, 1ull); atomicCAS(l + 1, 3ull, 4ull); atomicAdd(f, 1.0f); atomicAdd(d, 1.0);
    atomicAdd_block(i + 11, 1); atomicAdd_system(i + 12, 1); atomicAdd(s + t, 5); atomicInc((unsigned*)i, 9u);
    __threadfence(); __threadfence_block(); __threadfence_system(); i[13] = __ballot_sync(~0u, s[t]);
    i[14] = __shfl_down_sync(~0u, s[t], 4) + __all_sync(~0u, t); i[15] = __syncthreads_count(t > 3);
}
