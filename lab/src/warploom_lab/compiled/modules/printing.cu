// needs sm_75
#include <cstdio>
#include <cassert>
__global__ void say(const int* x) {
    printf("thread %d of block %d: \\t%d \"quoted\" %f\n", threadIdx.x, blockIdx.x, x[0], 1.5);
    assert(x[1] > 0); if (x[2] < 0) __trap(); if (x[3]) __brkpt(); __nanosleep(40);
}
