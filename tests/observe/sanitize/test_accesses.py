"""Accesses of every kind against each other: a kernel that orders them is silent, and its neighbour is found."""

from __future__ import annotations

import pytest
from observe.sanitize.orders import PAIRS as ORDERS
from observe.sanitize.pairs import SCHEDULES, Pair, found

_FENCED = """
    and.b32 %r5, %r0, 3;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra met;
    add.u32 %r6, %r3, %r0;
    st.shared.u32 [%r6], %r0;
    fence.proxy.async.shared::cta;
    met:
    bar.sync 0;
    @!%p0 bra done;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r3], 64;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    done:
"""

_ARRIVALS = "mbarrier.arrive.shared::cta.b64 _, [%r3]; mbarrier.arrive.shared::cta.b64 _, [%r4];"

PAIRS = {
    # All lanes of a converged warp load the word that one of them stores: a scalar of a compiler of tiles.
    "one place read by a warp": Pair(
        """
        ld.volatile.global.u32 %r5, [%rd0];
        add.u32 %r5, %r5, 1;
        @%p0 st.global.u32 [%rd0], %r5;
        """,
        ("ld.volatile", "@%p0 ld.volatile.global.u32 %r5, [%rd0];\n@!%p0 ld.volatile"),
        ("race/lanes",),
    ),
    # The last warp invalidates the mbarrier that all have waited at, once a counter shows that they have.
    "a counter of those who have waited": Pair(
        """
        mad.lo.u32 %r5, %r0, 0, %r3;
        @%p0 st.shared.u32 [%r5], 0;
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 64;
        bar.sync 0;
        mbarrier.arrive.shared::cta.b64 _, [%r4];
        again:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra again;
        and.b32 %r6, %r0, 31;
        setp.ne.u32 %p2, %r6, 0;
        @%p2 bra done;
        fence.sc.cta;
        atom.shared.acquire.cta.add.u32 %r7, [%r5], 1;
        setp.eq.u32 %p3, %r7, 1;
        @%p3 mbarrier.inval.shared::cta.b64 [%r4];
        done:
        """,
        ("fence.sc.cta;", ""),
        ("mbarrier/invalidated",),
        threads=64,
    ),
    # A compare-and-swap checks what a weak load guessed.
    "a guess before a compare-and-swap": Pair(
        """
        ld.global.u32 %r5, [%rd0];
        again:
        mov.u32 %r6, %r5;
        add.u32 %r7, %r6, 1;
        atom.global.cas.b32 %r5, [%rd0], %r6, %r7;
        setp.ne.u32 %p1, %r5, %r6;
        @%p1 bra again;
        """,
        ("atom.global.cas.b32 %r5, [%rd0], %r6, %r7", "atom.global.exch.b32 %r5, [%rd0], %r7;\nmov.u32 %r5, %r6"),
        ("race/global",),
        threads=64,
    ),
    # Two warps store the same bytes to one place.
    "the same bytes twice": Pair(
        """
        shr.u32 %r5, %r0, 5;
        mad.lo.u32 %r6, %r5, 128, %r3;
        and.b32 %r7, %r0, 31;
        mad.lo.u32 %r8, %r7, 4, %r6;
        st.shared.u32 [%r8], %r7;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        setp.eq.u32 %p1, %r7, 0;
        @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r6], 128;
        @%p1 cp.async.bulk.commit_group;
        @%p1 cp.async.bulk.wait_group 0;
        """,
        ("st.shared.u32 [%r8], %r7", "st.shared.u32 [%r8], %r0"),
        ("race/global",),
        threads=64,
    ),
    "the same box twice": Pair(
        """
        shr.u32 %r5, %r0, 5;
        setp.eq.u32 %p2, %r5, 0;
        mov.u32 %r6, %r3;
        and.b32 %r7, %r0, 31;
        setp.eq.u32 %p1, %r7, 0;
        mov.u32 %r10, 0;
        mov.u32 %r9, 0;
        fill:
        mad.lo.u32 %r8, %r0, 4, %r3;
        mad.lo.u32 %r8, %r9, 256, %r8;
        st.shared.u32 [%r8], %r9;
        add.u32 %r9, %r9, 1;
        setp.lt.u32 %p3, %r9, 32;
        @%p3 bra fill;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @%p2 bra first;
        @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, 0}], [%r6];
        bra stored;
        first:
        @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, %r10}], [%r6];
        stored:
        @%p1 cp.async.bulk.commit_group;
        @%p1 cp.async.bulk.wait_group 0;
        """,
        ("mov.u32 %r10, 0;", "mov.u32 %r10, 16;"),
        ("race/global",),
        threads=64,
    ),
    # A bulk copy reads global memory until the phase is complete that it brings its bytes to.
    "a source in global memory": Pair(
        """
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
        bar.sync 0;
        @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;
        @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 256, [%r4];
        again:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra again;
        bar.sync 1;
        mul.wide.u32 %rd5, %r0, 4;
        add.u64 %rd5, %rd5, %rd0;
        st.global.u32 [%rd5], %r0;
        """,
        ("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;", "setp.eq.u32 %p1, %r0, %r0;"),
        ("copy/source",),
        threads=64,
    ),
    "a tensor that is read": Pair(
        """
        mov.u32 %r9, -16;
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
        bar.sync 0;
        @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 8192;
        @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1, {0, %r9}], [%r4];
        again:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra again;
        @%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, 16}], [%r3];
        @%p0 cp.async.bulk.commit_group;
        @%p0 cp.async.bulk.wait_group 0;
        """,
        ("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;", "setp.eq.u32 %p1, %r0, %r0;"),
        ("copy/source",),
    ),
    # A wait for the reads of a copy's source says nothing about its destination.
    "a row read back": Pair(
        """
        mad.lo.u32 %r5, %r0, 4, %r3;
        st.shared.u32 [%r5], %r0;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r3], 128;
        @%p0 cp.async.bulk.commit_group;
        @%p0 cp.async.bulk.wait_group 0;
        bar.sync 0;
        ld.global.u32 %r6, [%rd0];
        """,
        ("wait_group 0", "wait_group.read 0"),
        ("race/global",),
        threads=64,
    ),
    # One lane hands over to another CTA what a copy of its own has stored.
    "a row handed over": Pair(
        """
        mov.u32 %r5, %ctaid.x;
        setp.eq.u32 %p2, %r5, 1;
        add.u64 %rd5, %rd0, 512;
        @%p2 bra taken;
        @!%p0 bra given;
        st.shared.u32 [%r3], 1;
        st.shared.u32 [%r3+4], 2;
        st.shared.u32 [%r3+8], 3;
        st.shared.u32 [%r3+12], 4;
        fence.proxy.async.shared::cta;
        cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r3], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        st.release.gpu.global.u32 [%rd5], 1;
        given:
        ret;
        taken:
        ld.acquire.gpu.global.u32 %r6, [%rd5];
        setp.eq.u32 %p1, %r6, 0;
        @%p1 bra taken;
        ld.global.u32 %r7, [%rd0];
        """,
        ("st.release.gpu", "st.relaxed.gpu"),
        ("race/global",),
        grid=2,
    ),
    # Bytes from another CTA are acquired at the scope of the cluster.
    "an asynchronous store from another CTA": Pair(
        """
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        @%p0 mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [%r4], 4;
        xor.b32 %r5, %r2, 1;
        mapa.shared::cluster.u32 %r6, %r3, %r5;
        mapa.shared::cluster.u32 %r7, %r4, %r5;
        @%p0 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r6], %r0, [%r7];
        again:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra again;
        ld.shared.u32 %r8, [%r3];
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        """,
        ("acquire.cluster", "acquire.cta"),
        ("copy/destination",),
        cluster=2,
    ),
    # A CTA that changes what its neighbour has read waits for it.
    "a read from another CTA": Pair(
        """
        mad.lo.u32 %r5, %r0, 4, %r3;
        st.shared.u32 [%r5], %r0;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        xor.b32 %r6, %r2, 1;
        mapa.shared::cluster.u32 %r7, %r5, %r6;
        ld.shared::cluster.u32 %r8, [%r7];
        barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned;
        st.shared.u32 [%r5], %r2;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        """,
        ("barrier.cluster.arrive.release.aligned;\n        barrier.cluster.wait.acquire.aligned;", "bar.sync 0;"),
        ("race/cluster",),
        cluster=2,
    ),
    # Every fourth lane writes and fences, and thread 0 copies the words of all of them.
    "a fence by each writing lane": Pair(
        _FENCED,
        ("fence.proxy.async.shared::cta;", ""),
        ("proxy/async",),
        threads=64,
    ),
    **{
        f"a fence of another kind, {fence}": Pair(
            _FENCED, ("fence.proxy.async.shared::cta;", f"{fence};"), ("proxy/async",), threads=64
        )
        for fence in ("fence.proxy.alias", "fence.proxy.async.global", "fence.proxy.tensormap::generic.release.gpu")
    },
    "a counter that one thread initialises": Pair(
        """
        @%p0 st.shared.u32 [%r3], 0;
        bar.sync 0;
        atom.shared.add.u32 %r5, [%r3], 1;
        """,
        ("bar.sync 0;", ""),
        ("race/lanes",),
    ),
    # The atomic of thread 0 comes first, but it does not order its weak store before the other atomic.
    "a counter that one lane of each warp increments": Pair(
        """
        @%p0 st.shared.u32 [%r3], 0;
        bar.sync 0;
        and.b32 %r5, %r0, 31;
        setp.eq.u32 %p1, %r5, 0;
        @%p1 atom.shared.add.u32 %r6, [%r3], 1;
        """,
        ("bar.sync 0;", ""),
        ("race/shared",),
        threads=64,
    ),
    "a counter in global memory": Pair(
        """
        @%p0 st.global.u32 [%rd0], 0;
        bar.sync 0;
        and.b32 %r5, %r0, 31;
        setp.eq.u32 %p1, %r5, 0;
        @%p1 atom.global.add.u32 %r6, [%rd0], 1;
        """,
        ("bar.sync 0;", ""),
        ("race/global",),
        threads=64,
    ),
    "a reduction on shared memory": Pair(
        """
        @%p0 st.shared.u32 [%r3], 0;
        bar.sync 0;
        red.shared.add.u32 [%r3], 1;
        """,
        ("@%p0 st.shared.u32 [%r3], 0;", ""),
        ("unwritten/shared",),
    ),
    # 1 plus the lane times 2^-22: each lane has a sum that was rounded differently.
    "copies of a rounded sum": Pair(
        """
        cvt.rn.f32.u32 %f0, %r0;
        fma.rn.f32 %f1, %f0, 0f34800000, 0f3f800000;
        mov.b32 %r5, %f1;
        st.shared.u32 [%r3], %r5;
        """,
        ("0f34800000", "0f3b800000"),
        ("race/lanes",),
    ),
    "a float as an integer": Pair(
        "or.b32 %r5, %r0, 0x3f800000; mov.b32 %f0, %r5; st.shared.f32 [%r3], 0f3f800000;",
        ("0f3f800000", "%f0"),
        ("race/lanes",),
    ),
    "one value in one word": Pair("st.shared.u32 [%r3], 7;", ("], 7", "], %r0"), ("race/lanes",)),
    "data of thread copies in a bulk store": Pair(
        """
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd2, %rd0, %rd2;
        mad.lo.u32 %r5, %r0, 4, %r3;
        cp.async.ca.shared.global [%r5], [%rd2], 4;
        cp.async.wait_all;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%p0 bra done;
        cp.async.bulk.global.shared::cta.bulk_group [%rd0 + 1024], [%r3], 128;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        done:
        """,
        ("fence.proxy.async.shared::cta;", ""),
        ("proxy/async",),
    ),
    # No thread waits for the mbarrier at %r3. The wait at %r4 shows that its phase is complete.
    "an mbarrier that another mbarrier follows": Pair(
        """
        @%p0 mbarrier.init.shared::cta.b64 [%r3], 64;
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 64;
        bar.sync 0;
        mov.u32 %r5, 0;
        again:
        mbarrier.arrive.shared::cta.b64 _, [%r3]; mbarrier.arrive.shared::cta.b64 _, [%r4];
        wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r5;
        @!%p1 bra wait;
        xor.b32 %r5, %r5, 1;
        setp.eq.u32 %p2, %r5, 1;
        @%p2 bra again;
        """,
        (_ARRIVALS, _ARRIVALS.replace("%r3", "%r").replace("%r4", "%r3").replace("%r]", "%r4]")),
        ("mbarrier/arrivals",),
        threads=64,
    ),
    "one number of registers in a warpgroup": Pair(
        """
        setp.lt.u32 %p1, %r0, 64;
        setmaxnreg.dec.sync.aligned.u32 48;
        """,
        ("setmaxnreg.dec.sync.aligned.u32 48;", "@%p1 bra done;\nsetmaxnreg.dec.sync.aligned.u32 48;\ndone:"),
        ("registers/warpgroup",),
        threads=128,
    ),
    "a fence for global memory": Pair(
        """
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd2, %rd0, %rd2;
        st.global.u32 [%rd2], %r0;
        fence.proxy.async.global;
        bar.sync 0;
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
        @!%p0 bra done;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 128, [%r4];
        again:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra again;
        done:
        """,
        ("fence.proxy.async.global;", "fence.proxy.async.shared::cta;"),
        ("proxy/async",),
    ),
    # Four lanes store a byte each of one word, and another warp loads two of the bytes.
    "bytes of several lanes in one word": Pair(
        """
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 4;
        bar.sync 0;
        setp.ge.u32 %p1, %r0, 32;
        @%p1 bra read;
        and.b32 %r5, %r0, 7;
        setp.ne.u32 %p1, %r5, 0;
        @%p1 bra done;
        shr.u32 %r5, %r0, 3;
        add.u32 %r5, %r5, %r3;
        st.shared.u8 [%r5], %r0;
        mbarrier.arrive.shared::cta.b64 _, [%r4];
        bra done;
        read:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra read;
        ld.shared.v2.u8 {%r6, %r7}, [%r3 + 2];
        done:
        """,
        ("shr.u32 %r5, %r0, 3;", "shr.u32 %r5, %r0, 4;"),
        ("race/lanes",),
        threads=64,
    ),
    "halves of one word in global memory": Pair(
        """
        mul.wide.u32 %rd2, %r0, 2;
        add.u64 %rd2, %rd0, %rd2;
        st.global.u16 [%rd2], %r0;
        ld.global.u16 %r5, [%rd2];
        """,
        ("ld.global.u16 %r5, [%rd2];", "ld.global.u16 %r5, [%rd2 + 2];"),
        ("race/lanes",),
    ),
    # The rows below the box end at the border of the tensor, so the copy reads 64 of 128 rows.
    "a box that exceeds its tensor": Pair(
        """
        mad.lo.u32 %r5, %r0, 128, %r3;
        mov.u32 %r6, 0;
        next:
        add.u32 %r7, %r5, %r6;
        st.shared.u32 [%r7], %r0;
        add.u32 %r6, %r6, 4;
        setp.lt.u32 %p1, %r6, 128;
        @%p1 bra next;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%p0 bra done;
        mov.u32 %r7, 32;
        cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, %r7}], [%r3];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        done:
        """,
        ("mov.u32 %r7, 32;", "mov.u32 %r7, 31;"),
        ("unwritten/shared",),
    ),
    "a wait whose result is tested": Pair(
        """
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
        bar.sync 0;
        @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;
        @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 256, [%r4];
        again:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
        selp.u32 %r5, 1, 0, %p1;
        setp.eq.u32 %p2, %r5, 0;
        @%p2 bra again;
        mad.lo.u32 %r5, %r0, 4, %r3;
        ld.shared.u32 %r6, [%r5];
        """,
        ("@%p2 bra again;", ""),
        ("copy/destination",),
        threads=64,
    ),
    "an election among the lanes of the mask": Pair("elect.sync %r5|%p1, -1;", ("-1", "0xfff0"), ("warp/mask",)),
    "a shuffle among the lanes of the mask": Pair(
        """
        setp.ge.u32 %p1, %r0, 16;
        @%p1 bra done;
        shfl.sync.bfly.b32 %r5, %r0, 1, 31, 0xffff;
        done:
        """,
        ("0xffff", "0xfffe"),
        ("warp/mask",),
    ),
}  # fmt: skip


ALL = {**PAIRS, **ORDERS}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ALL)
def test_what_is_ordered_is_silent(name: str, schedule: str) -> None:
    assert found(ALL[name], ALL[name].text, schedule) == set()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ALL)
def test_what_is_not_ordered_is_found(name: str, schedule: str) -> None:
    pair = ALL[name]
    assert found(pair, pair.faulty, schedule) & set(pair.codes)


def test_an_unsuccessful_wait_is_repeated_under_lazy() -> None:
    text = """
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 256, [%r4];
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra late;
    mov.u32 %r5, 1;
    late:
    mad.lo.u32 %r5, %r0, 4, %r3;
    ld.shared.u32 %r6, [%r5];
    """
    assert found(Pair(text, ("", ""), (), threads=64), text, "lazy") == {"copy/destination"}


def test_a_later_cta_reads_a_flag_first_under_lazy() -> None:
    text = """
    mov.u32 %r5, %ctaid.x;
    setp.eq.u32 %p2, %r5, 1;
    @%p2 bra taken;
    st.global.u32 [%rd0], 1;
    st.release.gpu.global.u32 [%rd0+512], 1;
    ret;
    taken:
    ld.acquire.gpu.global.u32 %r6, [%rd0+512];
    setp.eq.u32 %p1, %r6, 2;
    @%p1 bra whole;
    ld.global.u32 %r7, [%rd0];
    ret;
    whole:
    ld.global.u32 %r7, [%rd0+4];
    """
    assert found(Pair(text, ("", ""), (), threads=1, grid=2), text, "lazy") == {"race/global"}
