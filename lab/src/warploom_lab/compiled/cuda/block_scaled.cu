// Multiplications of warps on sm_120a, block-scaled except in warp_f8. B has 8 rows of K elements.
#define KERNEL extern "C" __global__ void
// C = A B^T. A word has `per_word` elements. `factors` are declarations, and further arguments are inputs of the instruction.
#define PRODUCT(per_word, factors, instruction, ...) \
    int l = threadIdx.x, g = l / 4, q = l % 4, words = k / per_word, blocks = k / (8 * per_word); float d[4] = {}; \
    for (int s = 0; s < blocks; ++s) { \
        const unsigned* pa = a + g * words + s * 8 + q; const unsigned* pb = b + g * words + s * 8 + q; factors \
        asm("mma.sync.aligned." instruction : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) \
            : "r"(pa[0]), "r"(pa[8 * words]), "r"(pa[4]), "r"(pa[8 * words + 4]), "r"(pb[0]), "r"(pb[4]) __VA_ARGS__); \
    } \
    for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i]
// Lanes with an even index have the scale factors of the rows l / 4, the others those of the rows l / 4 + 8.
#define SCALED(name, Factors, per_word, instruction) \
    KERNEL name(const unsigned* a, const Factors* sa, const unsigned* b, const Factors* sb, float* c, int k) { \
        PRODUCT(per_word, unsigned xa = sa[(g + l % 2 * 8) * blocks + s]; unsigned xb = sb[g * blocks + s];, \
            instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};", , "r"(xa), "r"(xb)); \
    }

SCALED(warp_mxf8, unsigned char, 4, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0")
SCALED(warp_nvf4, unsigned, 8, "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")
KERNEL warp_f8(const unsigned* a, const unsigned* b, float* c, int k) {
    PRODUCT(4, , "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};");
}
