"""Device functions: parameters in memory and in registers, tables of functions."""

from __future__ import annotations

import numpy as np
import pytest
from emulator import texts

import warploom as wl
from warploom.diagnostics import WarploomError

SQUARE = """
.func (.param .b32 result) square(.param .b32 x) {
.reg .u32 %r<3>;
ld.param.u32 %r1, [x];
mul.lo.u32 %r2, %r1, %r1;
st.param.b32 [result], %r2;
ret; }
"""
TWICE = """
.func (.param .b32 result) twice(.param .b32 x) {
.reg .u32 %r<3>;
ld.param.u32 %r1, [x];
add.u32 %r2, %r1, %r1;
st.param.b32 [result], %r2;
ret; }
"""
SWAP = """
.func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 pair[16]) {
.reg .b64 %rd<3>;
ld.param.b64 %rd1, [pair];
ld.param.b64 %rd2, [pair+8];
st.param.b64 [result], %rd2;
st.param.b64 [result+8], %rd1;
ret; }
"""
CALL = """
{{
.param .b32 in;
.param .b32 back;
st.param.b32 [in+0], %r0;
call.uni (back), {target}, (in){prototype};
ld.param.b32 %r2, [back+0];
}}
st.global.u32 [%rd1], %r2;
ret;
"""


def test_a_parameter_in_memory_goes_there_and_back() -> None:
    found = texts.run(CALL.format(target="square", prototype=""), before=SQUARE)
    np.testing.assert_array_equal(found, np.arange(32) ** 2)


def test_a_structure_is_passed_by_bytes() -> None:
    body = """
    cvt.u64.u32 %rd2, %r0;
    add.u64 %rd3, %rd2, 1000;
    {
    .param .align 8 .b8 in[16];
    .param .align 8 .b8 back[16];
    st.param.b64 [in], %rd2;
    st.param.b64 [in+8], %rd3;
    call (back), swap, (in);
    ld.param.b64 %rd4, [back];
    ld.param.b64 %rd5, [back+8];
    }
    mad.lo.u64 %rd4, %rd4, 10000, %rd5;
    cvt.u32.u64 %r2, %rd4;
    st.global.u32 [%rd1], %r2;
    ret;
    """
    lane = np.arange(32)
    np.testing.assert_array_equal(texts.run(body, before=SWAP), (lane + 1000) * 10000 + lane)


@pytest.mark.parametrize("space", ["global", "const"])
def test_a_table_of_functions_is_called_lane_by_lane(space: str) -> None:
    table = f".{space} .align 8 .u64 table[2] = {{square, twice}};\n"
    body = (
        "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "and.b32 %r3, %r0, 1;\nmov.u64 %rd2, table;\nmad.wide.u32 %rd2, %r3, 8, %rd2;\n"
        f"ld.{space}.u64 %rd3, [%rd2];\n" + CALL.format(target="%rd3", prototype=", P")
    )
    lane = np.arange(32)
    found = texts.run(body, before=SQUARE + TWICE + table)
    np.testing.assert_array_equal(found, np.where(lane % 2, 2 * lane, lane**2))


def test_recursion_through_a_table_is_refused() -> None:
    call = (
        "mov.u64 %rd1, table; ld.global.u64 %rd2, [%rd1]; mov.u32 %r2, %r1;\n"
        "{ .param .b32 value, got; st.param.b32 [value], %r1;\n"
        "P: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (got), %rd2, (value), P; }"
    )
    again = SQUARE.replace("mul.lo.u32 %r2, %r1, %r1;", call).replace(
        ".reg .u32 %r<3>;", ".reg .u32 %r<3>; .reg .u64 %rd<3>;"
    )
    text = texts.kernel(
        "mov.u64 %rd2, table;\nret;",
        before=".func (.param .b32 result) square(.param .b32 x);\n.global .u64 table[1] = {square};\n" + again,
    )
    with pytest.raises(WarploomError, match="recursion is not implemented: square -> square"):
        wl.launch(text, grid=1, block=32, args=[np.zeros(32, np.uint32)])


def test_a_function_may_use_the_table_that_contains_it() -> None:
    """A destructor stores the address of the table of its class, which contains the destructor."""
    own = SQUARE.replace("mul.lo.u32 %r2, %r1, %r1;", "mov.u64 %rd1, table; mul.lo.u32 %r2, %r1, %r1;").replace(
        ".reg .u32 %r<3>;", ".reg .u32 %r<3>; .reg .u64 %rd<3>;"
    )
    before = ".func (.param .b32 result) square(.param .b32 x);\n.global .u64 table[1] = {square};\n" + own
    found = texts.run(CALL.format(target="square", prototype=""), before=before)
    np.testing.assert_array_equal(found, np.arange(32) ** 2)


def test_what_is_copied_asynchronously_may_be_polled() -> None:
    """No wait covers the copy: the schedule may not put it off for ever."""
    body = """
    mov.u32 %r1, bar;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [%r1], 32;
    mov.u32 %r2, stage;
    mad.lo.u32 %r2, %r0, 4, %r2;
    bar.sync 0;
    cp.async.ca.shared.global [%r2], [%rd1], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
    AGAIN: mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra AGAIN;
    ld.shared.u32 %r3, [%r2];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;
    ret;
    """
    before = ".shared .align 8 .b64 bar;\n.shared .align 4 .b32 stage[32];\n"
    found = texts.run(body, np.arange(32, dtype=np.uint32), before=before)
    np.testing.assert_array_equal(found, np.arange(32) + 1)


def test_a_parameter_is_found_by_the_lower_half_of_its_address() -> None:
    body = """
    mov.b32 %r1, more;
    cvt.u64.u32 %rd2, %r1;
    cvta.param.u64 %rd3, %rd2;
    ld.u32 %r2, [%rd3+4];
    ld.param.u32 %r3, [%r1+8];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd1], %r2;
    ret;
    """
    params = ".param .align 4 .b8 more[12], .param .u64 out"
    found = texts.run(body, 32, np.array([5, 70, 900], np.uint32).tobytes(), params=params)
    np.testing.assert_array_equal(found, 970)


@pytest.mark.parametrize(
    "end", ["", "@%p bra over;\nst.global.u32 [%rd], 9;\nover:\n", "{ st.global.u32 [%rd], 7; }\n"]
)
def test_bodies_return_at_their_ends(end):
    text = f"""
.version 8.0
.target sm_90a
.address_size 64
.func leaf() {{ .reg .u32 %r; mov.u32 %r, 1; }}
.visible .entry k(.param .u64 out) {{
.reg .u64 %rd; .reg .pred %p;
ld.param.u64 %rd, [out];
st.global.u32 [%rd], 7;
call leaf;
setp.eq.u64 %p, %rd, %rd;
{end}}}
"""
    out = np.zeros(1, np.uint32)
    wl.launch(text, grid=1, block=64, args=[out])
    assert out.tolist() == [7]
