"""Stacks of threads in functions."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl

PTX = """
.version 9.0
.target sm_90
.address_size 64
.func nested(.reg .u64 bytes)
{
    .reg .u64 %p;
    alloca.u64 %p, bytes;
    st.local.u32 [%p], 1;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .u64 %rd<8>;
    .reg .u32 %r<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd5, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd6, %r1, 8;
    add.u64 %rd5, %rd5, %rd6;
    alloca.u64 %rd7, 16;
    stacksave.u64 %rd1;
    mov.u64 %rd2, 0;
    mov.u64 %rd4, 3000;
again:
    setp.gt.u32 %p0, %r1, 12;
    @%p0 call nested, (%rd4);
    call nested, (%rd4);
    add.u64 %rd2, %rd2, 1;
    setp.lt.u64 %p1, %rd2, 4;
    @%p1 bra again;
    stacksave.u64 %rd3;
    sub.u64 %rd3, %rd1, %rd3;
    st.global.u64 [%rd5], %rd3;
    ret;
}
"""


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
def test_the_end_of_a_function_releases_its_allocations(schedule: str) -> None:
    out = np.ones(32, np.uint64)
    wl.launch(PTX, grid=2, block=32, args=[out], schedule=schedule)
    assert not out.any()
