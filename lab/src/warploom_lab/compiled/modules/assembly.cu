// needs sm_80
__global__ void raw(unsigned* x, unsigned long long* y) {
    unsigned r, t = threadIdx.x; unsigned s = (unsigned)__cvta_generic_to_shared(x);
    asm volatile("{\n .reg .pred p, q;\n .reg .b32 %%t<4>; // scratch\n setp.eq.u32 p|q, %1, 0;\n"
                 "@!p add.u32 %0, %1, 0x10U; @p mov.b32 %0, 0b101; /* both */ }" : "=r"(r) : "r"(t));
    asm volatile("{ .reg .v2 .b32 v; mov.b64 {%0, _}, %1; }" : "=r"(r) : "l"(y[t]));
    asm volatile("lop3.b32 %0, %1, %2, %0, (0xF0 & 0xCC) | 0xAA;" : "+r"(r) : "r"(t), "r"(s));
    asm volatile(".pragma \"nounroll\";\n\tmov.u32 %0, %%laneid;" : "=r"(r));
    asm volatile("L_%=: add.u32 %0, %0, 1; bra.uni M_%=; M_%=:"
                 : "+r"(r) :: "memory"); x[t] = r;
}
