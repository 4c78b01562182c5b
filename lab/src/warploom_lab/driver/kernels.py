"""PTX of the cases."""

KERNELS = b"""
.version 8.0
.target sm_90
.address_size 64

.global .align 4 .u32 counter = 7;
.global .align 8 .b8 area[24];
.const .align 4 .b8 table[64];

.visible .entry nothing()
{
    ret;
}

.visible .entry store(.param .u64 address, .param .u32 value)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd0, [address];
    ld.param.u32 %r0, [value];
    st.global.u32 [%rd0], %r0;
    ret;
}

.visible .entry mixed(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[48], .param .f32 d, .param .u16 e)
{
    ret;
}

.visible .entry bounded() .maxntid 64, 1, 1
{
    ret;
}

.visible .entry required() .reqntid 32, 2, 1
{
    ret;
}

.visible .entry kept(.param .u64 address)
{
    .shared .align 4 .b8 data[1024];
    .reg .b64 %rd<2>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd0, [address];
    mov.u32 %r0, data;
    mov.u32 %r1, %tid.x;
    st.volatile.shared.u32 [%r0], %r1;
    ld.volatile.shared.u32 %r2, [%r0+512];
    st.global.u32 [%rd0], %r2;
    ret;
}

.visible .entry clustered() .reqnctapercluster 2, 1, 1
{
    ret;
}

.visible .entry constant(.param .u64 address)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd0, [address];
    ld.const.u32 %r0, [table];
    st.global.u32 [%rd0], %r0;
    ret;
}

.visible .entry trapped()
{
    trap;
    ret;
}
"""

OTHER = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry other(.param .u32 value)
{
    ret;
}
"""

EMPTY = b".version 8.0\n.target sm_90\n.address_size 64\n"
