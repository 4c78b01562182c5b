"""What Hopper's warps, CTAs and clusters do together: registers, waits, remote stores, alignment, exits."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import kernel, run

import warploom as wl
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.loader import load
from warploom.emulator.register_pools import registers_at_entry
from warploom.ptx import parse

SCHEDULES = ("eager", "lazy", *(f"random:{seed}" for seed in range(4)))


def fault_of(body: str, kind: type[Trap] | type[Deadlock] = Trap, **options: object) -> str:
    with pytest.raises(kind) as found:
        run(body, **options)  # type: ignore[arg-type]
    return str(found.value)


# Registers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("directives", "registers"),
    [
        ("", 0),
        (".maxntid 256", 0),
        (".minnctapersm 2", 0),
        (".maxnreg 128", 128),
        (".maxnreg 100", 104),
        (".reqntid 256 .minnctapersm 2", 128),
        (".maxntid 300 .minnctapersm 1", 168),
        (".maxntid 256 .maxnreg 128 .minnctapersm 3", 80),
        (".maxntid 128 .minnctapersm 5", 96),
    ],
)
def test_the_registers_at_entry_are_the_assembler_s(directives: str, registers: int) -> None:
    # What ptxas 13.0 says with -v for a kernel that changes them; 0 where it leaves the changes out.
    assert registers_at_entry(load(parse(kernel("ret;", directives=directives)))) == registers


HANDED_OVER = """
    setp.lt.u32 %p1, %r0, 128;
    @%p1 bra GIVE;
    setmaxnreg.inc.sync.aligned.u32 152;
    bra END;
    GIVE:
    setmaxnreg.dec.sync.aligned.u32 40;
    END:
    st.global.u32 [%rd1], 1;
    ret;"""


def test_registers_are_handed_over() -> None:
    assert run(HANDED_OVER, 256, block=256, directives=".maxnreg 96").all()


def test_a_warpgroup_waits_for_registers_that_are_released_later() -> None:
    body = HANDED_OVER.replace("GIVE:", "GIVE:\nbar.sync 1, 128;\nst.shared.u32 [s], 5;")
    body = body.replace("152;", "152;\nld.shared.u32 %r5, [s];\nst.global.u32 [%rd1+1024], %r5;")
    found = run(".shared .b32 s[1];" + body, 512, block=256, directives=".maxnreg 96")
    assert (found[384:] == 5).all()


def test_registers_that_nobody_releases_are_a_hang() -> None:
    said = fault_of(HANDED_OVER, Deadlock, out=256, block=256, directives=".maxnreg 80")
    assert "72 more registers for each thread of a warp, but the CTA has 16 left; warps 0 to 3 hold 40" in said


def test_releasing_more_than_one_has_is_refused() -> None:
    said = fault_of(HANDED_OVER, out=256, block=256, directives=".maxnreg 32")
    assert "a warp releases the registers above 40 of each thread, but a thread has only 32" in said


def test_without_a_count_at_entry_nothing_changes() -> None:
    assert run(HANDED_OVER, 256, block=256).all()


# Waits ----------------------------------------------------------------------------------------------------

BARRIER = """
    .shared .align 8 .b8 bar[16];
    mov.u32 %r10, bar;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r10], 1;
    bar.sync 0;
"""


def test_a_wait_comes_back_without_its_phase_when_nothing_else_can_go_on() -> None:
    found = run(f"""{BARRIER}
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0, 100;
        selp.u32 %r1, 1, 2, %p2;
        st.global.u32 [%rd1], %r1;
        ret;""")  # fmt: skip
    assert (found == 2).all()


def test_a_loop_that_waits_in_vain_is_a_deadlock() -> None:
    said = fault_of(
        f"{BARRIER}\nW: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0;\n@!%p2 bra W;\nret;", Deadlock
    )
    assert "whose phase 0 lacks 1 arrivals and 0 bytes" in said


def test_an_arrival_that_must_not_complete_its_phase_traps() -> None:
    said = fault_of(f"{BARRIER}\n@%p1 mbarrier.arrive.noComplete.shared::cta.b64 _, [%r10], 1;\nret;")
    assert "an arrival with .noComplete completes the phase of the mbarrier at shared offset 0x400" in said


# Remote stores --------------------------------------------------------------------------------------------

REMOTE = """
    .shared .align 8 .b8 bar[8];
    .shared .align 16 .b32 s[32];
    mov.u32 %r10, bar;
    mov.u32 %r11, s;
    mad.lo.u32 %r11, %r0, 4, %r11;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r10], 1;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 128;
    st.shared.u32 [%r11], 7;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mov.u32 %r1, %cluster_ctarank;
    xor.b32 %r2, %r1, 1;
    mapa.shared::cluster.u32 %r12, %r11, %r2;
    mapa.shared::cluster.u32 %r13, %r10, %r2;
    add.u32 %r3, %r0, 100;
    OPERATION [%r12], %r3, [%r13];
    WAIT
    ld.shared.u32 %r4, [%r11];
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mad.wide.u32 %rd1, %r1, 128, %rd1;
    st.global.u32 [%rd1], %r4;
    ret;"""
WAIT = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0;\n@!%p2 bra W;"
STORE = "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32"
REDUCE = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"


@pytest.mark.parametrize(("operation", "base"), [(STORE, 100), (REDUCE, 107)])
def test_remote_operations_are_there_when_their_bytes_are_counted(operation: str, base: int) -> None:
    body = REMOTE.replace("OPERATION", operation).replace("WAIT", WAIT)
    found = run(body, 64, grid=2, cluster=2, schedules=SCHEDULES)
    np.testing.assert_array_equal(found, np.tile(np.arange(32) + base, 2))


@pytest.mark.parametrize("operation", [STORE, REDUCE])
def test_without_a_wait_a_lazy_schedule_shows_what_was_there(operation: str) -> None:
    body = REMOTE.replace("OPERATION", operation).replace("WAIT", "")
    assert (run(body, 64, grid=2, cluster=2, schedules=("lazy",)) == 7).all()


def test_a_generic_address_reaches_the_peer() -> None:
    body = REMOTE.replace("OPERATION [%r12], %r3, [%r13];", """
        cvt.u64.u32 %rd4, %r12; cvta.shared::cluster.u64 %rd4, %rd4;
        cvt.u64.u32 %rd5, %r13; cvta.shared::cluster.u64 %rd5, %rd5;
        red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%rd4], %r3, [%rd5];""")  # fmt: skip
    found = run(body.replace("WAIT", WAIT), 64, grid=2, cluster=2)
    np.testing.assert_array_equal(found, np.tile(np.arange(32) + 107, 2))


# Aligned --------------------------------------------------------------------------------------------------


def test_a_guard_that_parts_a_warp_at_an_aligned_barrier_traps() -> None:
    said = fault_of("setp.lt.u32 %p1, %r0, 5;\n@%p1 bar.sync 0;\nret;")
    assert "its guard excludes lanes 5 to 31" in said


@pytest.mark.parametrize("operation", ["bar.sync 0;", "barrier.cluster.arrive.aligned;", "barrier.sync.aligned 0;"])
def test_branches_with_an_aligned_barrier_each_trap(operation: str) -> None:
    said = fault_of(f"""
        setp.eq.u32 %p1, %r0, 3;
        @%p1 bra ONE;
        {operation}
        bra END;
        ONE:
        {operation}
        END:
        st.global.u32 [%rd1], 1;
        ret;""")  # fmt: skip
    assert "all lanes of a warp must execute an .aligned instruction together; " in said
    assert "lane 3" in said
    assert "lanes 0 to 2, 4 to 31" in said


def test_a_wait_that_does_not_end_before_an_aligned_barrier_is_a_deadlock() -> None:
    """The lanes at the barrier would wait for the others, so that the wait is the cause."""
    with pytest.raises(wl.Deadlock, match="for the mbarrier"):
        run("""
            .shared .b64 bar;
            setp.ne.u32 %p1, %r0, 0;
            @%p1 bra END;
            mbarrier.init.shared::cta.b64 [bar], 1;
            AGAIN:
            mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
            @!%p1 bra AGAIN;
            END:
            bar.sync 0;
            ret;""")  # fmt: skip


def test_branches_with_a_barrier_that_is_not_aligned_meet() -> None:
    found = run("""
        setp.eq.u32 %p1, %r0, 3;
        @%p1 bra ONE;
        barrier.sync 0;
        bra END;
        ONE:
        barrier.sync 0;
        END:
        st.global.u32 [%rd1], 1;
        ret;""", 64, block=64)  # fmt: skip
    assert found.all()


def test_lanes_that_left_count_at_a_barrier_that_others_come_to_apart() -> None:
    found = run("""
        setp.ge.u32 %p1, %r0, 20;
        @%p1 exit;
        setp.eq.u32 %p1, %r0, 3;
        @%p1 bra ONE;
        barrier.sync 0;
        bra END;
        ONE:
        barrier.sync 0;
        END:
        st.global.u32 [%rd1], 1;
        ret;""")  # fmt: skip
    assert found.sum() == 20


# Clusters -------------------------------------------------------------------------------------------------


def test_two_arrivals_without_a_wait_trap() -> None:
    said = fault_of("barrier.cluster.arrive;\nbarrier.cluster.arrive;\nret;", grid=2, cluster=2)
    assert "a thread arrives at the cluster barrier again before it has waited for its last arrival" in said


def test_a_wait_without_an_arrival_traps() -> None:
    body = "barrier.cluster.arrive;\nbarrier.cluster.wait;\nbarrier.cluster.wait;\nret;"
    assert "waits at the cluster barrier without having arrived" in fault_of(body, grid=2, cluster=2)


def test_a_thread_that_arrived_and_left_is_counted_once() -> None:
    # The second warps arrive and leave; the first warp of rank 1 stores before it arrives.
    found = run("""
        .shared .b32 s[2];
        mov.u32 %r1, %cluster_ctarank;
        setp.ge.u32 %p1, %r0, 32;
        @%p1 barrier.cluster.arrive;
        @%p1 exit;
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra ARRIVE;
        mov.u32 %r5, 0;
        SPIN:
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p3, %r5, 20;
        @%p3 bra SPIN;
        mov.u32 %r6, s;
        mov.u32 %r7, 0;
        mapa.shared::cluster.u32 %r6, %r6, %r7;
        st.shared::cluster.u32 [%r6], %r5;
        ARRIVE:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.shared.u32 %r8, [s];
        @%p2 st.global.u32 [%rd1], %r8;
        ret;""", 32, grid=2, block=64, cluster=2)  # fmt: skip
    assert (found == 20).all()


@pytest.mark.parametrize("access", ["ld.shared::cluster.u32 %r4, [%r3];", "red.shared::cluster.add.u32 [%r3], 1;"])
def test_the_shared_memory_of_a_cta_that_left_is_out_of_reach(access: str) -> None:
    said = fault_of(f"""
        .shared .b32 s[1];
        mov.u32 %r1, %cluster_ctarank;
        mov.u32 %r2, s;
        setp.eq.u32 %p1, %r1, 1;
        @%p1 exit;
        mov.u32 %r5, 0;
        SPIN:
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p3, %r5, 200;
        @%p3 bra SPIN;
        mov.u32 %r3, 1;
        mapa.shared::cluster.u32 %r3, %r2, %r3;
        {access}
        ret;""", grid=2, cluster=2)  # fmt: skip
    assert "the shared memory of the CTA of rank 1, whose threads have all exited" in said


@pytest.mark.parametrize(("count", "held"), [(1, "1 CTA"), (2, "2 CTAs")])
def test_a_multicast_beyond_the_cluster_traps(count: int, held: str) -> None:
    said = fault_of(f"""{BARRIER}
        .shared .align 16 .b8 t[64];
        mov.u32 %r11, t;
        mov.u16 %h1, 5;
        @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
            [%r11], [%rd0], 64, [%r10], %h1;
        ret;""", grid=count, cluster=count)  # fmt: skip
    assert f"a multicast has the rank mask 0x5; the cluster has {held};" in said


def test_an_exit_completes_a_phase_that_is_waited_for_later() -> None:
    found = run("""
        setp.ge.u32 %p1, %r0, 32;
        @%p1 bra LATE;
        barrier.cluster.arrive;
        mov.u32 %r5, 0;
        SPIN:
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p3, %r5, 30;
        @%p3 bra SPIN;
        barrier.cluster.wait;
        st.global.u32 [%rd1], 1;
        ret;
        LATE:
        add.u32 %r5, %r5, 1;
        exit;""", 32, grid=2, block=64, cluster=2)  # fmt: skip
    assert found.all()


# Endings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_kernel_may_leave_with_a_multiplication_in_flight(schedule: str) -> None:
    text = kernel("""
        .shared .align 128 .b8 s[2048];
        mov.u64 %rd2, 64;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd2, 0, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned;
        setp.lt.u32 %p1, %r0, 40;
        @%p1 exit;
        st.global.u32 [%rd1], 1;
        ret;""")  # fmt: skip
    out = np.zeros(256, np.uint32)
    wl.launch(text, grid=2, block=128, args=[out], schedule=schedule)
    assert out.sum() == 88


def test_a_source_that_was_read_may_be_written_before_the_copy_is_done() -> None:
    body = """
        .shared .align 16 .b8 s[128];
        mov.u32 %r10, s;
        mad.lo.u32 %r11, %r0, 4, %r10;
        st.shared.u32 [%r11], 5;
        fence.proxy.async.shared::cta;
        bar.warp.sync -1;
        setp.eq.u32 %p1, %r0, 0;
        @!%p1 bra REST;
        cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r10], 128;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 0;
        ld.global.u32 %r5, [%rd0];
        st.global.u32 [%rd0+128], %r5;
        REST:
        bar.warp.sync -1;
        st.shared.u32 [%r11], 6;
        ret;"""
    eager = run(body, 33, schedules=("eager",))
    lazy = run(body, 33, schedules=("lazy",))
    assert (eager[:32] == 5).all()
    assert (lazy[:32] == 5).all()
    assert (int(eager[32]), int(lazy[32])) == (5, 0)


COPY_WITHIN = """
.reg .pred %first;
setp.eq.u32 %first, %r0, 0;
mov.u32 %r1, data;
mov.u32 %r2, bar;
st.shared.u32 [data], 7;
@%first mbarrier.init.shared::cta.b64 [%r2], 1;
fence.proxy.async;
bar.sync 0;
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
add.u32 %r3, %r1, 16;
@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%r1], 16, [%r2];
again:
mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r2], 0;
@!%p0 bra again;
ld.shared.u32 %r4, [data+16];
st.global.u32 [%rd1], %r4;
ret;
"""
WITHIN = ".shared .align 16 .b8 data[32]; .shared .align 8 .b64 bar;\n"


def test_a_copy_within_shared_memory_needs_a_cluster() -> None:
    found = run(COPY_WITHIN, before=WITHIN, directives=".reqnctapercluster 1, 1, 1")
    assert found.tolist() == [7] * 32
    with pytest.raises(Trap, match="from shared memory to shared memory in a launch without clusters"):
        run(COPY_WITHIN, before=WITHIN)
