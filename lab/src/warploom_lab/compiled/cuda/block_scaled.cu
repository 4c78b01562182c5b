// Block-scaled multiplications of warps on sm_120a. B has N rows of K elements.
#define KERNEL extern "C" __global__ void

// Lanes with an even index have the scale factors of the rows l / 4, the others those of the rows l / 4 + 8.
KERNEL warp_mxf8(const unsigned* a, const unsigned char* sa, const unsigned* b, const unsigned char* sb, float* c, int k) {
    int l = threadIdx.x, g = l / 4, q = l % 4, words = k / 4, blocks = k / 32; float d[4] = {};
    for (int s = 0; s < blocks; ++s) {
        const unsigned* pa = a + g * words + s * 8 + q; const unsigned* pb = b + g * words + s * 8 + q;
        unsigned xa = sa[(g + l % 2 * 8) * blocks + s], xb = sb[g * blocks + s];
        asm("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
            " {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(pa[0]), "r"(pa[8 * words]), "r"(pa[4]), "r"(pa[8 * words + 4]), "r"(pb[0]), "r"(pb[4]), "r"(xa), "r"(xb));
    }
    for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
}
KERNEL warp_nvf4(const unsigned* a, const unsigned* sa, const unsigned* b, const unsigned* sb, float* c, int k) {
    int l = threadIdx.x, g = l / 4, q = l % 4, words = k / 8, blocks = k / 64; float d[4] = {};
    for (int s = 0; s < blocks; ++s) {
        const unsigned* pa = a + g * words + s * 8 + q; const unsigned* pb = b + g * words + s * 8 + q;
        unsigned xa = sa[(g + l % 2 * 8) * blocks + s], xb = sb[g * blocks + s];
        asm("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
            " {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(pa[0]), "r"(pa[8 * words]), "r"(pa[4]), "r"(pa[8 * words + 4]), "r"(pb[0]), "r"(pb[4]), "r"(xa), "r"(xb));
    }
    for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
}
KERNEL warp_f8(const unsigned* a, const unsigned* b, float* c, int k) {
    int l = threadIdx.x, g = l / 4, q = l % 4, words = k / 4; float d[4] = {};
    for (int s = 0; s < k / 32; ++s) {
        const unsigned* pa = a + g * words + s * 8 + q; const unsigned* pb = b + g * words + s * 8 + q;
        asm("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(pa[0]), "r"(pa[8 * words]), "r"(pa[4]), "r"(pa[8 * words + 4]), "r"(pb[0]), "r"(pb[4]));
    }
    for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
}
