"""Barriers of the CTA and the cluster, with counts and reductions, and mbarriers."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import run

SHARED = """
    .shared .align 8 .b8 s[512];
    mov.u32 %r10, s;
    mad.lo.u32 %r11, %r0, 4, %r10;
"""


@pytest.mark.parametrize("block", [64, 100, 256])
def test_a_barrier_waits_for_every_warp(block: int) -> None:
    # Each thread reads what the thread opposite wrote.
    found = run(f"""
        .shared .b32 t[256];
        mov.u32 %r10, t;
        mad.lo.u32 %r11, %r0, 4, %r10;
        st.shared.u32 [%r11], %r0;
        bar.sync 0;
        sub.u32 %r1, {block - 1}, %r0;
        mad.lo.u32 %r11, %r1, 4, %r10;
        ld.shared.u32 %r2, [%r11];
        st.global.u32 [%rd1], %r2;
        ret;""", block, block=block)  # fmt: skip
    np.testing.assert_array_equal(found, np.arange(block)[::-1])


def test_named_barriers_join_the_warps_that_come_to_them() -> None:
    # Warps 0 and 1 hand over to warps 2 and 3, through arrive and sync on one barrier, and back on another.
    found = run(f"""{SHARED}
        setp.lt.u32 %p1, %r0, 64;
        @!%p1 bra CONSUMER;
        add.u32 %r1, %r0, 7;
        st.shared.u32 [%r11], %r1;
        barrier.cta.arrive.aligned 3, 128;
        barrier.cta.sync.aligned 4, 128;
        ld.shared.u32 %r2, [%r11+256];
        bra END;
        CONSUMER:
        barrier.cta.sync.aligned 3, 128;
        ld.shared.u32 %r1, [%r11+-256];
        mul.lo.u32 %r2, %r1, 10;
        st.shared.u32 [%r11], %r2;
        bar.arrive 4, 128;
        END:
        st.global.u32 [%rd1], %r2;
        ret;""", 128, block=128)  # fmt: skip
    np.testing.assert_array_equal(found, np.tile(10 * (np.arange(64) + 7), 2))


def test_a_barrier_is_used_again_and_again() -> None:
    # A ring in which every round reads the neighbour's last value; a missed wait would show.
    found = run(f"""{SHARED}
        mov.u32 %r1, %r0;
        add.u32 %r5, %r0, 1;
        setp.eq.u32 %p2, %r5, 96;
        @%p2 mov.u32 %r5, 0;
        mad.lo.u32 %r12, %r5, 4, %r10;
        LOOP:
        st.shared.u32 [%r11], %r1;
        bar.sync 1;
        ld.shared.u32 %r1, [%r12];
        bar.sync 2, 96;
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p1, %r4, 9;
        @%p1 bra LOOP;
        st.global.u32 [%rd1], %r1;
        ret;""", 96, block=96)  # fmt: skip
    np.testing.assert_array_equal(found, (np.arange(96) + 9) % 96)


def test_warps_that_left_are_not_waited_for() -> None:
    found = run("""
        setp.ge.u32 %p1, %r0, 64;
        @%p1 exit;
        bar.sync 0;
        st.global.u32 [%rd1], 1;
        ret;""", 128, block=128)  # fmt: skip
    np.testing.assert_array_equal(found, np.arange(128) < 64)


@pytest.mark.parametrize("block", [32, 64, 75])
def test_barriers_reduce_predicates(block: int) -> None:
    found = run("""
        setp.lt.u32 %p1, %r0, 40;
        bar.red.popc.u32 %r1, 0, %p1;
        bar.red.and.pred %p2, 0, %p1;
        bar.red.or.pred %p3, 0, %p1;
        bar.red.or.pred %p4, 0, !%p1;
        selp.u32 %r2, 1000, 0, %p2;
        selp.u32 %r3, 2000, 0, %p3;
        selp.u32 %r4, 4000, 0, %p4;
        add.u32 %r1, %r1, %r2;
        add.u32 %r1, %r1, %r3;
        add.u32 %r1, %r1, %r4;
        st.global.u32 [%rd1], %r1;
        ret;""", block, block=block)  # fmt: skip
    truth = np.arange(block) < 40
    expected = truth.sum() + 1000 * truth.all() + 2000 * truth.any() + 4000 * (~truth).any()
    np.testing.assert_array_equal(found, np.full(block, expected))


@pytest.mark.parametrize("cluster", [(2, 1, 1), (1, 2, 2), (4, 2, 1)])
def test_a_cluster_barrier_joins_its_ctas_alone(cluster: tuple[int, int, int]) -> None:
    # Every CTA writes into the next of its cluster, waits, and reads what it was given.
    grid = (4, 2, 2)
    found = run("""
        .shared .b32 s[4];
        mov.u32 %r1, %cluster_ctarank;
        mov.u32 %r2, %cluster_nctarank;
        add.u32 %r3, %r1, 1;
        rem.u32 %r3, %r3, %r2;
        mov.u32 %r4, s;
        mapa.shared::cluster.u32 %r5, %r4, %r3;
        mov.u32 %r6, %ctaid.x;
        mov.u32 %r7, %ctaid.y;
        mov.u32 %r8, %ctaid.z;
        mad.lo.u32 %r9, %r8, 2, %r7;
        mad.lo.u32 %r9, %r9, 4, %r6;
        st.shared::cluster.u32 [%r5], %r9;
        barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned;
        ld.shared.u32 %r10, [s];
        mul.wide.u32 %rd2, %r9, 4;
        add.u64 %rd2, %rd2, %rd0;
        st.global.u32 [%rd2], %r10;
        ret;""", 16, grid=grid, cluster=cluster)  # fmt: skip
    ids = np.arange(16).reshape(2, 2, 4)  # z, y, x
    z, y, x = (extent // size for extent, size in zip(ids.shape, cluster[::-1], strict=True))
    inside = ids.reshape(z, cluster[2], y, cluster[1], x, cluster[0]).transpose(0, 2, 4, 1, 3, 5)
    ranks = inside.reshape(z * y * x, -1)
    expected = np.zeros(16, np.uint32)
    expected[ranks] = np.roll(ranks, 1, axis=1)
    np.testing.assert_array_equal(found, expected)


def test_an_mbarrier_counts_arrivals_through_many_phases() -> None:
    # 64 threads hand a value round for seven phases.
    found = run("""
        .shared .align 8 .b8 bar[8];
        .shared .b32 t[64];
        mov.u32 %r10, bar;
        mov.u32 %r12, t;
        mad.lo.u32 %r11, %r0, 4, %r12;
        xor.b32 %r5, %r0, 33;
        mad.lo.u32 %r12, %r5, 4, %r12;
        setp.eq.u32 %p1, %r0, 0;
        @%p1 mbarrier.init.shared::cta.b64 [%r10], 64;
        bar.sync 0;
        mov.u32 %r1, %r0;
        LOOP:
        st.shared.u32 [%r11], %r1;
        mbarrier.arrive.shared::cta.b64 %rd5, [%r10];
        W1:
        mbarrier.try_wait.shared::cta.b64 %p2, [%r10], %rd5;
        @!%p2 bra W1;
        ld.shared.u32 %r1, [%r12];
        add.u32 %r1, %r1, 100;
        mbarrier.arrive.shared::cta.b64 _, [%r10], 1;
        W2:
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r10], 1;
        @!%p2 bra W2;
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p3, %r4, 7;
        @%p3 bra LOOP;
        st.global.u32 [%rd1], %r1;
        ret;""", 64, block=64)  # fmt: skip
    np.testing.assert_array_equal(found, (np.arange(64) ^ 33) + 700)


def test_lanes_may_wait_for_different_phases() -> None:
    # Lane 1 completes the phase that the other lanes of its warp wait for, after they have begun to wait.
    found = run("""
        .shared .align 8 .b8 bar[8];
        mov.u32 %r10, bar;
        setp.eq.u32 %p1, %r0, 0;
        @%p1 mbarrier.init.shared::cta.b64 [%r10], 1;
        bar.warp.sync -1;
        setp.eq.u32 %p2, %r0, 1;
        @%p2 bra GIVER;
        W:
        mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], 0;
        @!%p3 bra W;
        bra END;
        GIVER:
        mbarrier.arrive.shared::cta.b64 _, [%r10];
        END:
        st.global.u32 [%rd1], 5;
        ret;""")
    np.testing.assert_array_equal(found, np.full(32, 5))


def test_a_barrier_forgets_how_many_it_was_for() -> None:
    # Two warps join for 64 threads, then all three for all, then two again.
    found = run("""
        setp.lt.u32 %p1, %r0, 64;
        @!%p1 bra ALL;
        bar.sync 1, 64;
        ALL:
        bar.sync 1;
        @!%p1 bra END;
        bar.sync 1, 64;
        END:
        st.global.u32 [%rd1], 1;
        ret;""", 96, block=96, schedules=("eager",))  # fmt: skip
    np.testing.assert_array_equal(found, np.ones(96))
