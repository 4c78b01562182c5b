"""Scopes, fences, waits and copies between CTAs: a kernel that uses them well is silent, and its neighbour is found."""

from __future__ import annotations

from observe.sanitize.pairs import Pair

_CLUSTER = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"

# Each CTA sends 256 bytes to its neighbour, and waits for the bytes that it receives.
_PUSH = f"""
    mad.lo.u32 %r5, %r0, 4, %r3;
    st.shared.u32 [%r5+1024], %r0;
    fence.proxy.async.shared::cta;
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;
    bar.sync 0;
    {_CLUSTER} // start
    xor.b32 %r6, %r2, 1;
    mapa.shared::cluster.u32 %r7, %r3, %r6;
    mapa.shared::cluster.u32 %r8, %r4, %r6;
    add.u32 %r9, %r3, 1024;
    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r9], 256, [%r8];
    again:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra again;
    {_CLUSTER} // end
    st.shared.u32 [%r5+1024], %r2;
"""

# Each CTA stores one word to its neighbour.
_STORE = f"""
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 4;
    bar.sync 0;
    {_CLUSTER}
    xor.b32 %r6, %r2, 1;
    mapa.shared::cluster.u32 %r7, %r3, %r6;
    mapa.shared::cluster.u32 %r8, %r4, %r6;
    @%p0 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r0, [%r8];
    again:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra again;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
"""

_MULTICAST = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
_REDUCTION = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"

# Both CTAs add 128 bytes to the same words of CTA 0.
_REDUCE = f"""
    mad.lo.u32 %r5, %r0, 4, %r3;
    st.shared.u32 [%r5], 0;
    st.shared.u32 [%r5+1024], %r0;
    fence.proxy.async.shared::cta;
    setp.eq.u32 %p2, %r2, 0;
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    setp.eq.and.u32 %p3, %r2, 0, %p0;
    @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;
    bar.sync 0;
    {_CLUSTER}
    mov.u32 %r6, 0;
    mapa.shared::cluster.u32 %r7, %r3, %r6;
    mapa.shared::cluster.u32 %r8, %r4, %r6;
    add.u32 %r9, %r3, 1024;
    @!%p0 bra wait;
    {_REDUCTION} [%r7], [%r9], 128, [%r8];
    wait:
    @!%p2 bra done;
    again:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra again;
    ld.shared.u32 %r10, [%r5];
    done:
    {_CLUSTER}
"""

# CTA 0 stores a row with a bulk copy, and CTA 1 loads it.
_HANDOVER = """
    mov.u32 %r5, %ctaid.x;
    setp.eq.u32 %p2, %r5, 1;
    add.u64 %rd5, %rd0, 512;
    @%p2 bra taken;
    @!%p0 bra given;
    st.shared.v4.u32 [%r3], {%r0, %r0, %r0, %r0};
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
"""

# The lanes of warp 1 read, and lane 0 of this warp tells warp 0 that it may overwrite the bytes.
_REFILL = """
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    add.u32 %r6, %r3, 4096;
    @%p0 mbarrier.init.shared::cta.b64 [%r6], 1;
    mad.lo.u32 %r5, %r0, 4, %r3;
    st.shared.u32 [%r5], %r0;
    bar.sync 0;
    setp.ge.u32 %p2, %r0, 32;
    @%p2 bra read;
    again:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra again;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 128;
    add.u32 %r7, %r3, 128;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd0], 128, [%r6];
    filled:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r6], 0;
    @!%p1 bra filled;
    ret;
    read:
    ld.shared.u32 %r8, [%r5];
    fence.proxy.async.shared::cta;
    bar.warp.sync 0xffffffff;
    setp.eq.u32 %p3, %r0, 32;
    @%p3 mbarrier.arrive.shared::cta.b64 _, [%r4];
"""

# A warpgroup multiplies matrices from registers. Thread 0 waits, and tells warp 4 that all operands have been read.
_OPERANDS = """
    add.u32 %r6, %r3, 4096;
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    @%p0 mbarrier.init.shared::cta.b64 [%r6], 1;
    add.u32 %r5, %r3, 2048;
    bar.sync 0;
    setp.lt.u32 %p1, %r0, 128;
    @%p1 bra multiply;
    setp.ne.u32 %p2, %r0, 128;
    @%p2 bra done;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 2304;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 2304, [%r4];
    released:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], 0;
    @!%p3 bra released;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 2048;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 2048, [%r4];
    bra done;
    multiply:
    shr.u32 %r7, %r5, 4;
    cvt.u64.u32 %rd4, %r7;
    or.b64 %rd4, %rd4, 0x0000001000080000;
    mad.lo.u32 %r7, %r0, 16, %r3;
    mov.f32 %f0, 0f00000000;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.u32 %r8, 0;
    round:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r8;
    @!%p1 bra round;
    ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r7];
    fence.proxy.async.shared::cta;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r10, %r11, %r12, %r13}, %rd4, 1, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    @%p0 mbarrier.arrive.shared::cta.b64 _, [%r6];
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p1, %r8, 2;
    @%p1 bra round;
    done:
"""

# Lanes of warp 0 write a tensor map. Warp 1 copies a box through the map.
MAP = """
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    setp.lt.u32 %p2, %r0, 32;
    @!%p2 bra written;
    mad.wide.u32 %rd5, %r0, 4, %rd1;
    mad.wide.u32 %rd6, %r0, 4, %rd0;
    ld.u32 %r8, [%rd5];
    st.global.u32 [%rd6], %r8;
    fence.proxy.tensormap::generic.release.gpu;
    written:
    bar.sync 0;
    fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
    setp.eq.u32 %p3, %r0, 32;
    @!%p3 bra wait;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 8192;
    mov.u32 %r9, 0;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0, {%r9, %r9}], [%r4];
    wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra wait;
"""

ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;"

PAIRS = {
    # Scopes
    "a counter of two CTAs": Pair(
        "@%p0 atom.relaxed.gpu.global.add.u32 %r5, [%rd0], 1;", (".gpu", ".cluster"), ("race/global",), grid=2
    ),
    "a reduction of two CTAs": Pair(
        "@%p0 red.global.add.u32 [%rd0], 1;", ("red.global", "red.relaxed.cta.global"), ("race/global",), grid=2
    ),
    "a load of a word that another CTA stores": Pair(
        """
        mov.u32 %r5, %ctaid.x;
        setp.eq.u32 %p1, %r5, 0;
        @%p1 st.relaxed.gpu.global.u32 [%rd0], 1;
        @!%p1 ld.relaxed.gpu.global.u32 %r6, [%rd0];
        """,
        ("ld.relaxed.gpu", "ld.relaxed.cta"),
        ("race/global",),
        grid=2,
    ),
    "a counter of a cluster": Pair(
        f"""
        @%p0 st.shared.u32 [%r3], 0;
        {_CLUSTER}
        mov.u32 %r5, 0;
        mapa.shared::cluster.u32 %r6, %r3, %r5;
        @%p0 atom.relaxed.cluster.shared::cluster.add.u32 %r7, [%r6], 1;
        {_CLUSTER}
        """,
        ("atom.relaxed.cluster", "atom.relaxed.cta"),
        ("race/cluster",),
        cluster=2,
    ),
    "a counter of a CTA": Pair(
        """
        @%p0 st.shared.u32 [%r3], 0;
        bar.sync 0;
        atom.relaxed.cta.shared.add.u32 %r7, [%r3], 1;
        """,
        ("bar.sync 0;", ""),
        ("race/lanes", "race/shared"),
        threads=64,
    ),
    "a flag that a branch tests": Pair(_HANDOVER, ("@%p1 bra taken;", ""), ("race/global",), grid=2),
    "a count that a branch tests": Pair(
        """
        mov.u32 %r5, %ctaid.x;
        mul.wide.u32 %rd5, %r5, 4;
        add.u64 %rd5, %rd5, %rd0;
        st.global.u32 [%rd5], 7;
        atom.acq_rel.gpu.global.add.u32 %r6, [%rd0+512], 1;
        setp.ne.u32 %p1, %r6, 1;
        @%p1 bra done;
        ld.global.u32 %r7, [%rd0];
        ld.global.u32 %r7, [%rd0+4];
        done:
        """,
        ("@%p1 bra done;", ""),
        ("race/global",),
        threads=1,
        grid=2,
    ),
    # Fences and waits
    "a wait for the bytes of a copy": Pair(_HANDOVER, ("wait_group 0", "wait_group.read 0"), ("race/global",), grid=2),
    "readers that one lane speaks for": Pair(_REFILL, ("bar.warp.sync 0xffffffff;", ""), ("race/shared",), threads=64),
    "readers that do not fence": Pair(_REFILL, ("fence.proxy.async.shared::cta;", ""), ("proxy/async",), threads=64),
    "operands of a warpgroup": Pair(
        _OPERANDS,
        (
            "wgmma.wait_group.sync.aligned 0;\n    @%p0 mbarrier.arrive.shared::cta.b64 _, [%r6];",
            "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r6];\n    wgmma.wait_group.sync.aligned 0;",
        ),
        ("race/shared",),
        threads=160,
    ),
    "an arrival that names all threads": Pair(
        """
        setp.lt.u32 %p1, %r0, 32;
        mad.lo.u32 %r5, %r0, 4, %r3;
        @%p1 bra write;
        bar.sync 0;
        ld.shared.u32 %r6, [%r3];
        ret;
        write:
        st.shared.u32 [%r5], %r0;
        bar.arrive 0, 64;
        """,
        ("bar.arrive 0, 64", "bar.arrive 0, 96"),
        ("emulator.barrier",),
        threads=64,
    ),
    # Copies between CTAs
    "a copy to a CTA that has started": Pair(
        _PUSH, (f"{_CLUSTER} // start", "bar.sync 0;"), ("cluster/start",), threads=64, cluster=2
    ),
    "a copy from a CTA that remains": Pair(
        _PUSH, (f"{_CLUSTER} // end\n    st.shared.u32 [%r5+1024], %r2;", ""), ("cluster/exit",), threads=64, cluster=2
    ),
    "a source that is free": Pair(
        _PUSH, (f"{_CLUSTER} // end", "bar.sync 0;"), ("copy/source",), threads=64, cluster=2
    ),
    "a store to a CTA that has started": Pair(_STORE, (_CLUSTER, ""), ("cluster/start",), cluster=2),
    "a store that signals the mbarrier of its CTA": Pair(
        _STORE, ("%r0, [%r8]", "%r0, [%r4]"), ("mbarrier/cta",), cluster=2
    ),
    "reductions of two CTAs": Pair(
        _REDUCE,
        (_REDUCTION, _REDUCTION.replace("cp.reduce", "cp").replace(".add.u32", "")),
        ("copy/destination",),
        cluster=2,
    ),
    "reductions of written words": Pair(_REDUCE, ("st.shared.u32 [%r5], 0;", ""), ("unwritten/shared",), cluster=2),
    "asynchronous reductions of two CTAs": Pair(
        f"""
        @%p0 st.shared.u32 [%r3], 0;
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
        setp.eq.and.u32 %p2, %r2, 0, %p0;
        @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;
        {_CLUSTER}
        mov.u32 %r5, 0;
        mapa.shared::cluster.u32 %r6, %r3, %r5;
        mapa.shared::cluster.u32 %r7, %r4, %r5;
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r6], 1, [%r7];
        setp.ne.u32 %p2, %r2, 0;
        @%p2 bra done;
        again:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra again;
        ld.shared.u32 %r8, [%r3];
        done:
        barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned;
        """,
        ("@%p0 st.shared.u32 [%r3], 0;", ""),
        ("unwritten/shared",),
        cluster=2,
    ),
    "an mbarrier that a multicast signals": Pair(
        f"""
        .reg .b16 %h;
        @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
        @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 512;
        {_CLUSTER}
        mad.lo.u32 %r5, %r2, 256, %r3;
        mov.u16 %h, 3;
        @%p0 {_MULTICAST} [%r5], [%rd0], 256, [%r4], %h;
        again:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
        @!%p1 bra again;
        barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned;
        """,
        (_CLUSTER, "bar.sync 0;"),
        ("cluster/start",),
        cluster=2,
    ),
    # Tensor maps
    "a tensor map that is released": Pair(
        MAP, ("fence.proxy.tensormap::generic.release.gpu;", "fence.acq_rel.gpu;"), ("proxy/tensormap",), threads=64
    ),
    "a tensor map that is acquired": Pair(MAP, (ACQUIRE, ""), ("proxy/tensormap",), threads=64),
    "a tensor map that is released by its writers": Pair(
        MAP,
        ("fence.proxy.tensormap::generic.release", "@%p0 fence.proxy.tensormap::generic.release"),
        ("proxy/tensormap",),
        threads=64,
    ),
    "a tensor map that is released before a barrier": Pair(MAP, ("bar.sync 0;", ""), ("proxy/tensormap",), threads=64),
    "a tensor map that remains": Pair(
        MAP,
        ("@!%p3 bra wait;", "@!%p3 bra wait;\ntensormap.replace.tile.rank.global.b1024.b32 [%rd0], 1;"),
        ("proxy/tensormap",),
        threads=64,
    ),
    # Global memory
    "a source of thread copies": Pair(
        """
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd2, %rd0, %rd2;
        st.global.u32 [%rd2], %r0;
        bar.sync 0;
        xor.b32 %r5, %r0, 32;
        mul.wide.u32 %rd3, %r5, 4;
        add.u64 %rd3, %rd0, %rd3;
        mad.lo.u32 %r5, %r0, 4, %r3;
        cp.async.ca.shared.global [%r5], [%rd3], 4;
        cp.async.wait_all;
        """,
        ("bar.sync 0;", ""),
        ("race/global",),
        threads=64,
    ),
    "a source of thread copies that is free": Pair(
        """
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd2, %rd0, %rd2;
        mad.lo.u32 %r5, %r0, 4, %r3;
        cp.async.ca.shared.global [%r5], [%rd2], 4;
        cp.async.wait_all;
        st.global.u32 [%rd2], %r0;
        """,
        ("cp.async.wait_all;", ""),
        ("race/lanes", "race/global"),
    ),
    "two copies of a group": Pair(
        """
        mad.lo.u32 %r5, %r0, 4, %r3;
        st.shared.u32 [%r5], %r0;
        st.shared.u32 [%r5+128], %r5;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        add.u32 %r6, %r3, 128;
        @!%p0 bra done;
        cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r3], 128;
        cp.async.bulk.global.shared::cta.bulk_group [%rd0+128], [%r6], 128;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        done:
        """,
        ("[%rd0+128]", "[%rd0+64]"),
        ("race/global",),
    ),
    "one value in one word of global memory": Pair("st.global.u32 [%rd0], 7;", ("], 7", "], %r0"), ("race/lanes",)),
    "one value in one word of another CTA": Pair(
        f"""
        {_CLUSTER}
        xor.b32 %r5, %r2, 1;
        mapa.shared::cluster.u32 %r6, %r3, %r5;
        st.shared::cluster.u32 [%r6], 7;
        {_CLUSTER}
        """,
        ("], 7", "], %r0"),
        ("race/lanes", "race/cluster"),
        cluster=2,
    ),
    "a counter in another CTA": Pair(
        f"""
        @%p0 st.shared.u32 [%r3], 0;
        {_CLUSTER}
        xor.b32 %r5, %r2, 1;
        mapa.shared::cluster.u32 %r6, %r3, %r5;
        red.relaxed.cluster.shared::cluster.add.u32 [%r6], 1;
        barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned;
        """,
        (_CLUSTER, "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;"),
        ("race/cluster",),
        cluster=2,
    ),
    "words of another CTA in a bulk store": Pair(
        f"""
        {_CLUSTER} // start
        xor.b32 %r5, %r2, 1;
        mad.lo.u32 %r6, %r0, 4, %r3;
        mapa.shared::cluster.u32 %r7, %r6, %r5;
        st.shared::cluster.u32 [%r7], %r0;
        fence.proxy.async;
        {_CLUSTER}
        @!%p0 bra done;
        mad.wide.u32 %rd5, %r2, 128, %rd0;
        cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r3], 128;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        done:
        """,
        ("fence.proxy.async;", "fence.proxy.async.global;"),
        ("proxy/async",),
        cluster=2,
    ),
}
