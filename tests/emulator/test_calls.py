"""Device functions: parameters in memory and in registers, pointers to functions, calls within calls."""

from __future__ import annotations

import numpy as np
from emulator.texts import run

LANE = np.arange(32)


def test_parameters_in_memory_and_in_registers() -> None:
    before = """.func (.param .b32 sum) in_memory(.param .b32 a, .param .align 8 .b8 pair[16])
{
.reg .b32 %x<5>;
.reg .b64 %y<3>;
ld.param.u32 %x1, [a];
ld.param.u64 %y1, [pair+8];
cvt.u32.u64 %x2, %y1;
ld.param.u32 %x3, [pair];
mad.lo.u32 %x1, %x1, 100, %x2;
add.u32 %x1, %x1, %x3;
st.param.u32 [sum], %x1;
ret;
}
.func (.reg .u32 low, .reg .u32 high) in_registers(.reg .u32 a, .reg .u64 b)
{
cvt.u32.u64 low, b;
add.u32 low, low, a;
shr.u64 b, b, 32;
cvt.u32.u64 high, b;
ret;
}
"""
    found = run(
        """
        {
        .param .b32 a;
        .param .align 8 .b8 pair[16];
        .param .b32 sum;
        st.param.u32 [a], %r0;
        st.param.u32 [pair], 7;
        mov.u64 %rd2, 20;
        st.param.u64 [pair+8], %rd2;
        call.uni (sum), in_memory, (a, pair);
        ld.param.u32 %r1, [sum];
        }
        mov.u64 %rd3, 0x300000004;
        call (%r2, %r3), in_registers, (%r0, %rd3);
        mad.lo.u32 %r1, %r2, 10000, %r1;
        mad.lo.u32 %r1, %r3, 1000000, %r1;
        st.global.u32 [%rd1], %r1;
        ret;""",
        before=before,
    )
    np.testing.assert_array_equal(found, LANE * 100 + 27 + (LANE + 4) * 10000 + 3000000)


def test_a_function_s_registers_are_its_own_and_its_caller_s_stay() -> None:
    before = """.func (.reg .u32 y) outer(.reg .u32 x);
.func (.reg .u32 y) inner(.reg .u32 x)
{
.reg .b32 %r<9>;
mul.lo.u32 %r1, x, 3;
mov.u32 y, %r1;
ret;
}
.func (.reg .u32 y) outer(.reg .u32 x)
{
.reg .b32 %r<9>;
add.u32 %r1, x, 5;
call (%r2), inner, (%r1);
call (%r3), inner, (%r2);
add.u32 y, %r1, %r3;
ret;
}
"""
    found = run(
        """
        mov.u32 %r1, 4;
        mov.u32 %r3, 6;
        call (%r2), outer, (%r0);
        mad.lo.u32 %r1, %r1, 1000, %r2;
        mad.lo.u32 %r1, %r3, 10000, %r1;
        st.global.u32 [%rd1], %r1;
        ret;""",
        before=before,
    )
    np.testing.assert_array_equal(found, 64000 + 10 * (LANE + 5))


def test_lanes_may_call_different_functions_through_a_pointer() -> None:
    functions = "".join(
        f".func (.reg .u32 y) f{n}(.reg .u32 x)\n{{\nmad.lo.u32 y, x, {n + 2}, {100 * n};\nret;\n}}\n" for n in range(3)
    )
    table = ".global .align 8 .u64 table[3] = {f0, f1, f2};\n"
    found = run(
        """
        rem.u32 %r1, %r0, 3;
        mov.u64 %rd2, table;
        mad.wide.u32 %rd2, %r1, 8, %rd2;
        ld.global.u64 %rd3, [%rd2];
        PROTO: .callprototype (.reg .u32 _) _ (.reg .u32 _);
        call (%r2), %rd3, (%r0), PROTO;
        activemask.b32 %r3;
        setp.eq.u32 %p1, %r3, -1;
        @%p1 add.u32 %r2, %r2, 100000;
        st.global.u32 [%rd1], %r2;
        ret;""",
        before=functions + table,
    )
    which = LANE % 3
    np.testing.assert_array_equal(found, LANE * (which + 2) + 100 * which + 100000)


def test_a_pointer_to_a_function_may_be_taken_by_name() -> None:
    before = ".func (.reg .u32 y) f(.reg .u32 x)\n{\nadd.u32 y, x, 9;\nret;\n}\n"
    found = run(
        """
        mov.u64 %rd2, f;
        TARGETS: .calltargets f;
        call (%r2), %rd2, (%r0), TARGETS;
        st.global.u32 [%rd1], %r2;
        ret;""",
        before=before,
    )
    np.testing.assert_array_equal(found, LANE + 9)


def test_a_function_may_end_the_kernel_for_some_lanes() -> None:
    before = """.func f(.reg .u32 x)
{
.reg .pred %p<3>;
setp.lt.u32 %p1, x, 11;
@%p1 exit;
ret;
}
"""
    found = run("call f, (%r0);\nst.global.u32 [%rd1], 3;\nret;", before=before)
    np.testing.assert_array_equal(found, np.where(LANE < 11, 0, 3))


def test_a_function_may_wait_at_a_barrier() -> None:
    before = """.shared .b32 shared_word;
.func (.reg .u32 y) f(.reg .u32 x)
{
.reg .pred %p<3>;
setp.eq.u32 %p1, x, 63;
@%p1 st.shared.u32 [shared_word], x;
bar.sync 0;
ld.shared.u32 y, [shared_word];
ret;
}
"""
    found = run("call (%r2), f, (%r0);\nst.global.u32 [%rd1], %r2;\nret;", 64, block=64, before=before)
    np.testing.assert_array_equal(found, np.full(64, 63))


def test_a_function_s_local_array_is_each_thread_s_own() -> None:
    before = """.func (.reg .u32 y) f(.reg .u32 x)
{
.local .align 4 .b8 place[16];
.reg .b64 %rd<3>;
mov.u64 %rd1, place;
st.local.u32 [%rd1+8], x;
ld.local.u32 y, [place+8];
add.u32 y, y, 1;
ret;
}
"""
    found = run("call (%r2), f, (%r0);\ncall (%r2), f, (%r2);\nst.global.u32 [%rd1], %r2;\nret;", before=before)
    np.testing.assert_array_equal(found, LANE + 2)
