// needs sm_75
__global__ void wide(__int128* a, unsigned __int128* b, int n) {
    int i = threadIdx.x; if (i < n) { a[i] = a[i] * a[i + 1] + (a[i] >> 7); b[i] = b[i] / (b[i + 1] | 1); }
}
