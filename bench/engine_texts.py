"""PTX texts of `engines.py`: loops of multiply-adds, and a GEMM without matrix instructions."""

from __future__ import annotations

HEADER = """.version 8.0
.target sm_80
.address_size 64
"""

TILE, DEPTH, THREADS = 128, 8, 256
"""Rows and columns of a CTA's tile of C, its step along K, and the threads of the CTA."""


def fma_loop(independent: int) -> str:
    """Return a kernel with a loop of `independent` multiply-adds that do not depend on each other.

    The parameters are the addresses of x and y, which have one f32 for each thread, and the number of iterations. Each
    iteration has three more instructions.
    """
    registers = range(independent)
    start = "\n".join(f"    add.f32 %s{i}, %x, 0f{0x3F800000 + i:08X};" for i in registers)
    body = "\n".join(f"    fma.rn.f32 %s{i}, %s{i}, %a, %x;" for i in registers)
    total = "\n".join(f"    add.f32 %s0, %s0, %s{i};" for i in registers[1:])
    return f"""{HEADER}
.visible .entry fma_loop(.param .u64 x, .param .u64 y, .param .u32 n)
{{
    .reg .b64 %p<4>;
    .reg .b32 %t<8>;
    .reg .f32 %s<{independent}>, %x, %a;
    .reg .pred %more;
    mov.u32 %t0, %ctaid.x;
    mov.u32 %t1, %ntid.x;
    mov.u32 %t2, %tid.x;
    mad.lo.u32 %t3, %t0, %t1, %t2;
    ld.param.u64 %p0, [x];
    ld.param.u64 %p1, [y];
    ld.param.u32 %t4, [n];
    mad.wide.u32 %p2, %t3, 4, %p0;
    mad.wide.u32 %p3, %t3, 4, %p1;
    ld.global.f32 %x, [%p2];
    mov.f32 %a, 0f3F7FF000;
{start}
    mov.u32 %t5, 0;
LOOP:
{body}
    add.u32 %t5, %t5, 1;
    setp.lt.u32 %more, %t5, %t4;
    @%more bra LOOP;
{total}
    st.global.f32 [%p3], %s0;
    ret;
}}
"""


def sgemm() -> str:
    """Return a GEMM of f32 numbers through shared memory in which each thread computes 8 x 8 elements.

    C = A B, all row-major. The parameters are the addresses of A, B and C, and M, N and K in multiples of the tile. The
    grid is (N / 128, M / 128).
    """
    loads = "\n".join(_step(k) for k in range(DEPTH))
    zeros = "\n".join(f"    mov.f32 %c{i}, 0f00000000;" for i in range(64))
    stores = "\n".join(_store_row(row) for row in range(8))
    return f"""{HEADER}
.visible .entry sgemm(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 m, .param .u32 n, .param .u32 k)
{{
    .reg .b64 %p<8>;
    .reg .b32 %t<32>;
    .reg .f32 %c<64>, %a<8>, %b<8>, %v<4>;
    .reg .pred %more;
    .shared .align 16 .b8 tile_a[{4 * DEPTH * TILE}];
    .shared .align 16 .b8 tile_b[{4 * DEPTH * TILE}];
    ld.param.u64 %p0, [a];
    ld.param.u64 %p1, [b];
    ld.param.u64 %p2, [c];
    ld.param.u32 %t0, [n];
    ld.param.u32 %t1, [k];
    mov.u32 %t2, %tid.x;
    mov.u32 %t3, %ctaid.x;
    mov.u32 %t4, %ctaid.y;
    shl.b32 %t3, %t3, 7;
    shl.b32 %t4, %t4, 7;
    // A thread copies four numbers of a row of A, and four of a row of B.
    shr.u32 %t5, %t2, 1;
    and.b32 %t6, %t2, 1;
    shl.b32 %t6, %t6, 2;
    add.u32 %t7, %t4, %t5;
    mad.lo.u32 %t7, %t7, %t1, %t6;
    mad.wide.u32 %p3, %t7, 4, %p0;
    shr.u32 %t8, %t2, 5;
    and.b32 %t9, %t2, 31;
    shl.b32 %t9, %t9, 2;
    mad.lo.u32 %t10, %t8, %t0, %t3;
    add.u32 %t10, %t10, %t9;
    mad.wide.u32 %p4, %t10, 4, %p1;
    mul.wide.u32 %p5, %t0, {4 * DEPTH};
    mov.u32 %t11, tile_a;
    mov.u32 %t12, tile_b;
    shl.b32 %t13, %t6, 7;
    add.u32 %t13, %t13, %t5;
    shl.b32 %t13, %t13, 2;
    add.u32 %t13, %t13, %t11;
    shl.b32 %t14, %t8, 7;
    add.u32 %t14, %t14, %t9;
    shl.b32 %t14, %t14, 2;
    add.u32 %t14, %t14, %t12;
    // A thread computes eight rows and eight columns.
    shr.u32 %t15, %t2, 4;
    shl.b32 %t15, %t15, 3;
    and.b32 %t16, %t2, 15;
    shl.b32 %t16, %t16, 3;
    shl.b32 %t17, %t15, 2;
    add.u32 %t17, %t17, %t11;
    shl.b32 %t18, %t16, 2;
    add.u32 %t18, %t18, %t12;
{zeros}
    mov.u32 %t19, 0;
LOOP:
    ld.global.v4.f32 {{%v0, %v1, %v2, %v3}}, [%p3];
    st.shared.f32 [%t13], %v0;
    st.shared.f32 [%t13+{4 * TILE}], %v1;
    st.shared.f32 [%t13+{8 * TILE}], %v2;
    st.shared.f32 [%t13+{12 * TILE}], %v3;
    ld.global.v4.f32 {{%v0, %v1, %v2, %v3}}, [%p4];
    st.shared.v4.f32 [%t14], {{%v0, %v1, %v2, %v3}};
    add.u64 %p3, %p3, {4 * DEPTH};
    add.u64 %p4, %p4, %p5;
    bar.sync 0;
{loads}
    bar.sync 0;
    add.u32 %t19, %t19, {DEPTH};
    setp.lt.u32 %more, %t19, %t1;
    @%more bra LOOP;
    add.u32 %t15, %t15, %t4;
    add.u32 %t16, %t16, %t3;
    mad.lo.u32 %t15, %t15, %t0, %t16;
    mad.wide.u32 %p6, %t15, 4, %p2;
    mul.wide.u32 %p7, %t0, 4;
{stores}
    ret;
}}
"""


def _step(k: int) -> str:
    """Return the loads and 64 multiply-adds for a column of the tile of A and a row of the tile of B."""
    lines = [
        f"    ld.shared.v4.f32 {{%{name}{i}, %{name}{i + 1}, %{name}{i + 2}, %{name}{i + 3}}}, "
        f"[%{address}+{4 * (k * TILE + i)}];"
        for name, address in (("a", "t17"), ("b", "t18"))
        for i in (0, 4)
    ]
    lines += [
        f"    fma.rn.f32 %c{8 * row + column}, %a{row}, %b{column}, %c{8 * row + column};"
        for row in range(8)
        for column in range(8)
    ]
    return "\n".join(lines)


def _store_row(row: int) -> str:
    """Return the stores of the eight elements of a thread's row, and the step to the next row."""
    first = [f"%c{8 * row + column}" for column in range(8)]
    return (
        f"    st.global.v4.f32 [%p6], {{{', '.join(first[:4])}}};\n"
        f"    st.global.v4.f32 [%p6+16], {{{', '.join(first[4:])}}};\n"
        "    add.u64 %p6, %p6, %p7;"
    )
