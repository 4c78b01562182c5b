// needs sm_75
__global__ void sort(int* x, int n) {
    int stack[64], buffer[32]; double d[8] = {1.0, 2.5, -3.25, 1e300, 1e-300, 0.1, 7, 8};
    for (int i = 0; i < 32; ++i) buffer[i] = x[threadIdx.x * 32 + i];
    int top = 0; stack[top++] = 0; stack[top++] = 31;
    while (top) {
        int hi = stack[--top], lo = stack[--top]; if (lo >= hi) continue;
        int p = buffer[hi], m = lo;
        for (int i = lo; i < hi; ++i) if (buffer[i] < p) { int s = buffer[i]; buffer[i] = buffer[m]; buffer[m++] = s; }
        int s = buffer[m]; buffer[m] = buffer[hi]; buffer[hi] = s;
        stack[top++] = lo; stack[top++] = m - 1; stack[top++] = m + 1; stack[top++] = hi;
    }
    for (int i = 0; i < 32; ++i) x[threadIdx.x * 32 + i] = buffer[i] + (int)d[n & 7];
}
