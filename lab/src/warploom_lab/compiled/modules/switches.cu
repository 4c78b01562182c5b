// needs sm_75
__global__ void choose(int* x, const int* op) {
    int t = threadIdx.x, v = x[t];
    switch (op[t]) {
        case 0: v += 3; break; case 1: v *= v; break; case 2: v ^= 0x55; break; case 3: v = __popc(v); break;
        case 4: v = __clz(v); break; case 5: v = __brev(v); break; case 6: v = __ffs(v); break;
        case 7: v = __byte_perm(v, v, 0x1234); break; case 8: v <<= 3; [[fallthrough]];
        case 9: v = __funnelshift_l(v, v, 5); break; case 10: v = v / 7; break; case 11: v = v % 11; break;
        default: v = -v;
    }
    x[t] = v;
}
