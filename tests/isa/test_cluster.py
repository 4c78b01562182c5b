"""Copies, arrivals and stores between the two CTAs of a cluster."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl

HEAD = """
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 given, .param .u64 got)
{
    .reg .pred %first, %second, %done;
    .reg .b16 %h<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 16 .b8 stage[128];
    .shared .align 16 .b8 own[128];
    .shared .align 8 .b64 bar;
    ld.param.u64 %rd0, [given];
    ld.param.u64 %rd1, [got];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, stage;
    mov.u32 %r3, bar;
    mov.u32 %r4, own;
    mad.lo.u32 %r5, %r0, 4, %r4;
    mad.lo.u32 %r6, %r1, 100, %r0;
    st.shared.u32 [%r5], %r6;
    setp.eq.u32 %first, %r0, 0;
    @%first mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
    xor.b32 %r7, %r1, 1;
    mapa.shared::cluster.u32 %r8, %r2, %r7;
    mapa.shared::cluster.u32 %r9, %r3, %r7;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
"""
TAIL = """
    WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [%r3], 0;
    @!%done bra WAIT;
    mad.lo.u32 %r10, %r0, 4, %r2;
    ld.shared.u32 %r11, [%r10];
    mad.lo.u32 %r12, %r1, 32, %r0;
    mul.wide.u32 %rd2, %r12, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r11;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    ret;
}
"""
EXPECT = "@%first mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;"
GIVEN = np.arange(1000, 1032, dtype=np.uint32)
OWN = np.arange(32, dtype=np.uint32)
BODIES = {
    "multicast": (
        f"""{EXPECT}
        setp.eq.u32 %second, %r6, 100;
        mov.u16 %h0, 3;
        @%second cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
            [%r2], [%rd0], 128, [%r3], %h0;""",
        [GIVEN, GIVEN],
    ),
    "shared to shared": (
        f"""{EXPECT}
        fence.proxy.async.shared::cta;
        @%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], [%r4], 128, [%r9];""",
        [OWN + 100, OWN],
    ),
    "reduced into shared": (
        f"""{EXPECT}
        mad.lo.u32 %r13, %r0, 4, %r2;
        st.shared.u32 [%r13], 7;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        @%first cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32
            [%r8], [%r4], 128, [%r9];""",
        [OWN + 107, OWN + 7],
    ),
    "stored from afar": (
        f"""{EXPECT}
        mad.lo.u32 %r13, %r0, 4, %r8;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], %r6, [%r9];""",
        [OWN + 100, OWN],
    ),
    "an arrival from afar": (
        """mad.lo.u32 %r13, %r0, 4, %r8;
        st.shared::cluster.u32 [%r13], %r6;
        bar.sync 0;
        @%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];""",
        [OWN + 100, OWN],
    ),
}


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:3"])
@pytest.mark.parametrize("name", BODIES)
def test_between_ctas(name: str, schedule: str) -> None:
    body, expected = BODIES[name]
    got = np.zeros(64, np.uint32)
    text = HEAD + body + TAIL
    wl.launch(text, grid=2, block=32, cluster=(2, 1, 1), args=[GIVEN.copy(), got], schedule=schedule)
    assert got.reshape(2, 32).tolist() == [row.tolist() for row in expected]
