"""Lanes that part and meet again: each goes its own way, and warps are whole again where they can be."""

from __future__ import annotations

import numpy as np
import pytest
from emulator import programs
from emulator.texts import kernel, run
from hypothesis import HealthCheck, given, settings

import warploom as wl
from warploom.emulator.faults import Unsupported

LANE = np.arange(32)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs.programs)
def test_every_thread_goes_its_own_way(program: programs.Program) -> None:
    body, before = programs.text(program)
    found = run(body, 80, block=80, before=before, schedules=("eager", "random:1"))
    np.testing.assert_array_equal(found, [programs.outcome(program, tid) for tid in range(80)])


def test_lanes_meet_after_a_branch_a_loop_and_a_switch() -> None:
    # Nothing here makes lanes wait: they are all active again because they meet.
    found = run("""
        and.b32 %r1, %r0, 1;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra EVEN;
        add.u32 %r2, %r2, 5;
        EVEN:
        activemask.b32 %r10;
        LOOP:
        add.u32 %r3, %r3, 1;
        setp.lt.u32 %p2, %r3, %r0;
        @%p2 bra LOOP;
        activemask.b32 %r11;
        and.b32 %r4, %r0, 3;
        TABLE: .branchtargets A, B, A, C;
        brx.idx %r4, TABLE;
        A:
        add.u32 %r2, %r2, 100;
        bra END;
        B:
        add.u32 %r2, %r2, 200;
        C:
        add.u32 %r2, %r2, 300;
        END:
        activemask.b32 %r12;
        and.b32 %r10, %r10, %r11;
        and.b32 %r10, %r10, %r12;
        setp.eq.u32 %p3, %r10, -1;
        @%p3 add.u32 %r2, %r2, 10000;
        mad.lo.u32 %r2, %r3, 100000, %r2;
        st.global.u32 [%rd1], %r2;
        ret;""")
    switch = np.array([100, 500, 100, 300])[LANE % 4]
    np.testing.assert_array_equal(found, 10000 + 5 * (LANE % 2) + switch + 100000 * np.maximum(LANE, 1))


def test_instructions_of_a_whole_warp_wait_for_lanes_that_went_round_more_often() -> None:
    # Lane n leaves the loop after n rounds and shuffles with lanes that are still in it.
    found = run("""
        mov.u32 %r2, 0;
        LOOP:
        setp.ge.u32 %p1, %r2, %r0;
        @%p1 bra OUT;
        add.u32 %r2, %r2, 1;
        bra LOOP;
        OUT:
        mul.lo.u32 %r3, %r2, 10;
        shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
        st.global.u32 [%rd1], %r4;
        ret;""")
    np.testing.assert_array_equal(found, 10 * (LANE ^ 1))


def test_lanes_on_different_ways_meet_only_those_they_name() -> None:
    found = run("""
        setp.lt.u32 %p1, %r0, 16;
        @%p1 bra LOW;
        shfl.sync.idx.b32 %r4, %r0, 20, 31, 0xffff0000;
        bra END;
        LOW:
        shfl.sync.idx.b32 %r4, %r0, 3, 31, 0x0000ffff;
        END:
        st.global.u32 [%rd1], %r4;
        ret;""")
    np.testing.assert_array_equal(found, np.where(LANE < 16, 3, 20))


def test_lanes_that_diverged_meet_at_a_barrier_of_the_warp() -> None:
    # The even lanes write before it and the odd ones read after it, from different places of the text.
    found = run("""
        .shared .b32 s[32];
        mov.u32 %r10, s;
        mad.lo.u32 %r10, %r0, 4, %r10;
        and.b32 %r1, %r0, 1;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra EVEN;
        bar.warp.sync -1;
        ld.shared.u32 %r2, [%r10+-4];
        bra END;
        EVEN:
        add.u32 %r2, %r0, 500;
        st.shared.u32 [%r10], %r2;
        bar.warp.sync -1;
        END:
        st.global.u32 [%rd1], %r2;
        ret;""")
    np.testing.assert_array_equal(found, 500 + LANE // 2 * 2)


def test_lanes_wait_at_one_barrier_instruction_with_two_masks() -> None:
    # The even lanes of both halves wait at one instruction. The odd lanes of the upper half come last.
    found = run("""
        .shared .b32 s[32];
        mov.u32 %r10, s;
        mad.lo.u32 %r10, %r0, 4, %r10;
        and.b32 %r1, %r0, 16;
        mov.u32 %r3, 0x0000ffff;
        shl.b32 %r3, %r3, %r1;
        add.u32 %r4, %r0, 500;
        and.b32 %r2, %r0, 1;
        setp.eq.u32 %p1, %r2, 0;
        setp.ne.u32 %p2, %r1, 0;
        @%p1 bra EVEN;
        @%p2 bra UPPER;
        st.shared.u32 [%r10+-4], %r4;
        bar.warp.sync %r3;
        bra END;
        EVEN:
        bar.warp.sync %r3;
        ld.shared.u32 %r4, [%r10];
        bra END;
        UPPER:
        st.shared.u32 [%r10+-4], %r4;
        bar.warp.sync %r3;
        END:
        st.global.u32 [%rd1], %r4;
        ret;""")
    np.testing.assert_array_equal(found, 500 + (LANE | 1))


def test_barriers_of_tiles_meet_across_a_branch() -> None:
    # Each path has half of the lanes of every tile of 8 lanes.
    found = run("""
        .shared .b32 s[32];
        mov.u32 %r10, s;
        mad.lo.u32 %r10, %r0, 4, %r10;
        and.b32 %r1, %r0, 24;
        mov.u32 %r3, 0x000000ff;
        shl.b32 %r3, %r3, %r1;
        add.u32 %r4, %r0, 500;
        and.b32 %r2, %r0, 1;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 bra EVEN;
        bar.warp.sync %r3;
        ld.shared.u32 %r4, [%r10+-4];
        bra END;
        EVEN:
        st.shared.u32 [%r10], %r4;
        bar.warp.sync %r3;
        END:
        st.global.u32 [%rd1], %r4;
        ret;""")
    np.testing.assert_array_equal(found, 500 + LANE // 2 * 2)


def test_lanes_that_a_guard_excludes_do_not_wait_at_a_barrier_of_the_warp() -> None:
    found = run("""
        .shared .b32 s[32];
        mov.u32 %r10, s;
        mad.lo.u32 %r10, %r0, 4, %r10;
        setp.eq.u32 %p1, %r0, 0;
        add.u32 %r2, %r0, 500;
        @%p1 bar.warp.sync -1;
        @%p1 ld.shared.u32 %r2, [%r10+4];
        @!%p1 st.shared.u32 [%r10], %r2;
        @!%p1 bar.warp.sync -1;
        st.global.u32 [%rd1], %r2;
        ret;""")
    np.testing.assert_array_equal(found, 500 + np.maximum(LANE, 1))


def test_lanes_that_leave_early_are_not_waited_for() -> None:
    found = run("""
        setp.lt.u32 %p1, %r0, 7;
        @%p1 exit;
        bar.warp.sync 0xffffff80;
        activemask.b32 %r2;
        bar.sync 0;
        st.global.u32 [%rd1], %r2;
        ret;""", 64, block=64)  # fmt: skip
    np.testing.assert_array_equal(
        found, np.where(np.arange(64) < 7, 0, np.where(np.arange(64) < 32, 0xFFFFFF80, 2**32 - 1))
    )


@pytest.mark.parametrize("block", [1, 31, 33, 70, (5, 7, 3)])
def test_a_block_need_not_be_whole_warps(block: int | tuple[int, ...]) -> None:
    shape = (block, 1, 1) if isinstance(block, int) else block
    threads = int(np.prod(shape))
    found = run("""
        mov.u32 %r1, %tid.y;
        mov.u32 %r2, %tid.z;
        mov.u32 %r3, %ntid.x;
        mov.u32 %r4, %ntid.y;
        mad.lo.u32 %r5, %r2, %r4, %r1;
        mad.lo.u32 %r5, %r5, %r3, %r0;
        mul.wide.u32 %rd2, %r5, 4;
        add.u64 %rd2, %rd2, %rd0;
        bar.sync 0;
        activemask.b32 %r6;
        popc.b32 %r6, %r6;
        st.global.u32 [%rd2], %r6;
        ret;""", threads, block=block)  # fmt: skip
    last = threads - threads % 32
    np.testing.assert_array_equal(found, np.where(np.arange(threads) < last, 32, threads - last))


def test_a_lock_taken_by_one_lane_is_given_to_the_next() -> None:
    # Volta and later promise progress to every lane: while one holds the lock, others of its warp spin.
    found = run("""
        SPIN:
        atom.global.cas.b32 %r1, [%rd0], 0, 1;
        setp.ne.u32 %p2, %r1, 0;
        @%p2 bra SPIN;
        ld.volatile.global.u32 %r2, [%rd0+4];
        add.u32 %r2, %r2, 1;
        st.volatile.global.u32 [%rd0+4], %r2;
        membar.gl;
        atom.global.exch.b32 %r1, [%rd0], 0;
        ret;""", 2, block=9, grid=2, schedules=("eager", "random:1"))  # fmt: skip
    np.testing.assert_array_equal(found, [0, 18])


def test_a_lane_may_spin_on_what_another_lane_of_its_warp_writes_later() -> None:
    # Lane 0 releases the others only after the branch on which they part from it.
    found = run("""
        setp.eq.u32 %p1, %r0, 0;
        @%p1 bra GIVER;
        SPIN:
        ld.volatile.global.u32 %r1, [%rd0];
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra SPIN;
        bra END;
        GIVER:
        mov.u32 %r1, 9;
        st.volatile.global.u32 [%rd0], %r1;
        END:
        add.u32 %r1, %r1, %r0;
        bar.warp.sync -1;
        st.global.u32 [%rd1], %r1;
        ret;""")
    np.testing.assert_array_equal(found, 9 + LANE)


def test_a_lane_may_release_others_after_the_point_where_they_would_meet() -> None:
    # The giver waits at the meeting point for lanes that spin: it is let go on without them.
    found = run("""
        setp.eq.u32 %p1, %r0, 0;
        @%p1 bra MEET;
        SPIN:
        ld.volatile.global.u32 %r1, [%rd0];
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra SPIN;
        MEET:
        @%p1 mov.u32 %r1, 9;
        @%p1 st.volatile.global.u32 [%rd0], %r1;
        st.global.u32 [%rd1], %r1;
        ret;""", schedules=("eager",))  # fmt: skip
    np.testing.assert_array_equal(found, np.full(32, 9))


def test_functions_may_be_called_by_some_lanes_and_return_at_different_places() -> None:
    before = """.func (.reg .u32 %result) f(.reg .u32 %x)
{
.reg .pred %p<3>;
mov.u32 %result, 1000;
setp.lt.u32 %p1, %x, 5;
@%p1 ret;
add.u32 %result, %x, 2000;
setp.lt.u32 %p2, %x, 20;
@%p2 ret;
mul.lo.u32 %result, %x, 3;
ret;
}
"""
    found = run("""
        mov.u32 %r2, 7;
        and.b32 %r1, %r0, 1;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 call (%r2), f, (%r0);
        vote.sync.ballot.b32 %r3, 1, -1;
        setp.eq.u32 %p2, %r3, -1;
        @%p2 add.u32 %r2, %r2, 100000;
        st.global.u32 [%rd1], %r2;
        ret;""", before=before)  # fmt: skip
    value = np.where(LANE < 5, 1000, np.where(LANE < 20, LANE + 2000, 3 * LANE))
    np.testing.assert_array_equal(found, 100000 + np.where(LANE % 2 == 0, value, 7))


def test_recursion_is_refused() -> None:
    before = ".func f(.reg .u32 %x)\n{\ncall f, (%x);\nret;\n}\n"
    with pytest.raises(Unsupported, match="recursion is not implemented: f -> f"):
        wl.launch(kernel("call f, (%r0);\nret;", before=before), grid=1, block=32, args=[np.zeros(1, np.uint32)])
