from __future__ import annotations

import numpy as np
import pytest
from isa.binding import legality_tests

import warploom as wl

LEGAL = {
    "multimem.ld_reduce.add.u32 %r1, [%rd1];": "multimem.ld_reduce",
    "multimem.ld_reduce.acquire.sys.global.and.b64 %rd2, [%rd1];": "multimem.ld_reduce",
    "multimem.ld_reduce.weak.global.min.v8.f16 {%h1,%h2,%h3,%h4,%h5,%h6,%h7,%h8}, [%rd1];": "multimem.ld_reduce_float",
    "multimem.ld_reduce.relaxed.gpu.add.acc::f32.v4.bf16x2 {%r1,%r2,%r3,%r4}, [%rd1];": "multimem.ld_reduce_float",
    "multimem.ld_reduce.add.acc::f16.e5m2x4 %r1, [%rd1];": "multimem.ld_reduce_float",
    "multimem.st.release.cluster.global.v2.f32 [%rd1], {%f1,%f2};": "multimem.st_float",
    "multimem.st.s64 [%rd1], %rd2;": "multimem.st",
    "multimem.red.release.sys.global.max.s64 [%rd1], %rd2;": "multimem.red",
    "multimem.red.add.v2.f16x2 [%rd1], {%r1,%r2};": "multimem.red",
    "multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 64, %h1;": "multimem.copy",
    "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1], [%r1], 64;": "multimem.reduce",
}

REFUSED = {
    "multimem.ld_reduce.relaxed.add.u32 %r1, [%rd1];": "multimem.ld_reduce/scope",
    "multimem.ld_reduce.add.s64 %rd2, [%rd1];": "multimem.ld_reduce/type",
    "multimem.ld_reduce.min.acc::f32.f16x2 %r1, [%rd1];": "multimem.ld_reduce_float/acc",
    "multimem.ld_reduce.add.v2.f16 {%h1,%h2,%h3,%h4}, [%rd1];": "multimem.ld_reduce_float/d",
    "multimem.st.acquire.gpu.u32 [%rd1], %r1;": "multimem.st/sem",
    "multimem.st.v8.f32 [%rd1], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};": "multimem.st_float/type",
    "multimem.red.acquire.gpu.add.u32 [%rd1], %r1;": "multimem.red/sem",
    "multimem.red.inc.u32 [%rd1], %r1;": "multimem.red/op",
    "multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 40;": "multimem.copy/size",
    "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd1], [%r1], 64;": "multimem.reduce/noftz",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


PTX = """
.version 9.1
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 sums)
{
    .reg .u64 %rd<4>;
    .reg .u16 %mask;
    .shared .align 16 .b8 words[64];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [sums];
    st.shared.v4.u32 [words], {1, 2, 3, 4};
    st.shared.v4.u32 [words+16], {5, 6, 7, 8};
    fence.proxy.async.shared::cta;
    mov.u16 %mask, 0x00ff;
    multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [words], 32, %mask;
    multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [words], 32;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
}
"""


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
def test_bulk_copies_to_a_multimem_address(schedule: str) -> None:
    out, sums = np.zeros(8, np.uint32), np.full(8, 100, np.uint32)
    run = wl.launch(PTX, grid=1, block=1, args=[out, sums], schedule=schedule, sanitize=True)
    assert out.tolist() == [1, 2, 0, 0, 5, 6, 0, 0]
    assert sums.tolist() == [101, 102, 103, 104, 105, 106, 107, 108]
    assert not run.findings
