# ruff: noqa: E501 - a statement and its mark are on one line
"""Correct kernels with tensor memory, with marks for the changes that break them.

A comment behind a statement describes a mutant. `//- RULE…` stands for the deletion of the statement, and
`//= RULE…: STATEMENT` for its replacement. A mutant must lead to exactly one finding, of one of the rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import warploom as wl

A = wl.UmmaDescriptor.packed(128, 16, "f16").encode()
B = wl.UmmaDescriptor.packed(16, 16, "f16").encode()
F16 = wl.InstructionDescriptor("f16", 128, 16, "f16", "f16").encode()
PAIR = wl.InstructionDescriptor("f16", 256, 32, "f16", "f16").encode()

HEAD = """
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<24>;
    .reg .b16 %h<4>;
    .reg .b32 %r<64>;
    .reg .b64 %rd<32>;
    .shared .align 1024 .b8 s[32768];
    .shared .align 8 .b64 bars[16];
    .shared .align 4 .b32 slot;
    mov.u32 %r0, %tid.x;
    shr.u32 %r1, %r0, 5;
    mov.u32 %r2, s;
    mov.u32 %r3, bars;
    setp.eq.u32 %p0, %r0, 0;
    setp.lt.u32 %p1, %r0, 32;
    setp.eq.u32 %p2, %r0, 32;
    setp.eq.u32 %p3, %r0, 64;
    setp.ne.u32 %p4, %r0, %r0;
    setp.eq.u32 %p5, %r0, %r0;
    setp.eq.u32 %p6, %r1, 0;
    setp.eq.u32 %p7, %r1, 1;
    setp.ge.u32 %p8, %r1, 4;
    mov.b32 %r9, 0;
    mov.b32 %r10, {idesc:#x};
    ld.param.u64 %rd0, [out];
    shr.u32 %r4, %r2, 4;
    cvt.u64.u32 %rd1, %r4;
    or.b64 %rd2, %rd1, {a:#x};
    add.u64 %rd1, %rd1, 256;
    or.b64 %rd3, %rd1, {b:#x};
"""
TAIL = "    ret;\n}\n"


def zeros(size: int, threads: int) -> str:
    """Return stores of zeros to the start of shared memory, 16 bytes for each thread and turn."""
    lines = ["    mad.lo.u32 %r5, %r0, 16, %r2;\n"]
    lines += [f"    st.shared.v4.b32 [%r5 + {at}], {{%r9, %r9, %r9, %r9}};\n" for at in range(0, size, 16 * threads)]
    return "".join(lines)


def start(barriers: dict[int, int], columns: int, ctas: int = 1) -> str:
    """Return the initialisation of mbarriers (number -> arrivals), and the allocation of columns at %r7."""
    inits = "".join(f"    @%p0 mbarrier.init.shared::cta.b64 [%r3 + {8 * k}], {n};\n" for k, n in barriers.items())
    cluster = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
    before = cluster.replace("arrive.aligned;", "arrive.aligned;", 1) if ctas == 2 else ""
    return (
        f"{inits}{'    @%p0 fence.mbarrier_init.release.cluster;' if ctas == 2 else ''}\n{before}"
        f"    @%p1 tcgen05.alloc.cta_group::{ctas}.sync.aligned.shared::cta.b32 [slot], {columns};\n"
        f"    tcgen05.fence::before_thread_sync;\n"
        f"    bar.sync 0;\n"
        f"    tcgen05.fence::after_thread_sync;\n"
        f"    ld.shared.u32 %r7, [slot];\n"
        f"    and.b32 %r8, %r0, 96;\n    shl.b32 %r8, %r8, 16;\n    add.u32 %r8, %r8, %r7;\n"
    )


def end(columns: int, ctas: int = 1, mark: str = "//- sanitize.tensor/leak") -> str:
    """Return the release of the columns after a barrier."""
    return (
        f"    tcgen05.fence::before_thread_sync;\n    bar.sync 0;\n"
        f"    @%p1 tcgen05.dealloc.cta_group::{ctas}.sync.aligned.b32 %r7, {columns}; {mark}\n"
    )


_labels = iter(range(10**6))


def wait(bar: int, parity: str | int = 0, mark: str = "", word: str = "") -> str:
    """Return a wait for a phase of an mbarrier, as one line that a mutant may delete."""
    label = f"W{next(_labels)}"
    return (
        f"    {label}: mbarrier.try_wait.parity{word}.shared::cta.b64 %p20, [%r3 + {8 * bar}], {parity}; @!%p20 bra"
        f" {label}; {mark}\n"
    )


def mma(
    d: str, keeps: str, guard: str = "@%p2 ", a: str = "%rd2", b: str = "%rd3", ctas: int = 1, mark: str = ""
) -> str:
    """Return a multiplication of f16 matrices."""
    return f"    {guard}tcgen05.mma.cta_group::{ctas}.kind::f16 [{d}], {a}, {b}, %r10, {keeps}; {mark}\n"


def commit(bar: int, guard: str = "@%p2 ", mark: str = "") -> str:
    """Return a commit to an mbarrier."""
    return (
        f"    {guard}tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3 + {8 * bar}]; {mark}\n"
    )


AFTER = "    tcgen05.fence::after_thread_sync; //- sanitize.tensor/fence\n"
BEFORE = "    tcgen05.fence::before_thread_sync; //- sanitize.tensor/fence\n"
LD = "    tcgen05.ld.sync.aligned.32x32b.x16.b32 {" + ", ".join(f"%r{k}" for k in range(16, 32)) + "}, [%r8];\n"
LD1 = "    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r16}, [%r8];\n"
STORE = "    mad.wide.u32 %rd10, %r0, 4, %rd0;\n    st.global.u32 [%rd10], %r16;\n"
WAIT_LD = "    tcgen05.wait::ld.sync.aligned; {}\n"
WAIT_ST = "    tcgen05.wait::st.sync.aligned; {}\n"
EARLY = "sanitize.tensor/commit sanitize.deadlock"


@dataclass(frozen=True, slots=True)
class Kernel:
    """Kernel with marks, and its launch."""

    name: str
    body: str
    threads: int = 128
    cluster: int = 1
    idesc: int = F16

    @property
    def text(self) -> str:
        """PTX of the kernel, with the marks."""
        return HEAD.format(idesc=self.idesc, a=A, b=B) + self.body + TAIL


def gemm() -> str:
    """Stores to shared memory, two steps of K, and an epilogue after a wait."""
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n"
        + start({0: 1}, 32)
        + mma("%r7", "%p4", mark="//= sanitize.unwritten/tensor: @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r7], %rd2, %rd3, %r10, %p5;")
        + mma("%r7", "%p5") + commit(0, mark="//- sanitize.deadlock sanitize.tensor/commit")
        + wait(0, mark=f"//- {EARLY}") + AFTER + LD + WAIT_LD.format("//- sanitize.tensor/load-wait") + STORE + end(32)
    )  # fmt: skip


def invalidated() -> str:
    """An mbarrier that is invalidated after the wait for the multiplication, and before the load."""
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta;\n" + start({0: 1}, 32) + mma("%r7", "%p4") + commit(0)
        + wait(0, mark="//- sanitize.tensor/commit") + "    bar.sync 0;\n    @%p0 mbarrier.inval.shared::cta.b64 [%r3];\n"
        + AFTER.replace("//- sanitize.tensor/fence", "") + LD + WAIT_LD.format("//- sanitize.tensor/load-wait") + STORE + end(32)
    )  # fmt: skip


def refilled() -> str:
    """One stage of shared memory that threads refill after the commit of the multiplication that reads it."""
    refill = (
        zeros(8192, 128)
        + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n    bar.sync 0; //- sanitize.race/shared\n"
    )
    return (
        start({0: 1}, 32) + refill + mma("%r7", "%p4") + commit(0)
        + wait(0, mark="//- sanitize.tensor/operand sanitize.tensor/commit") + refill
        + AFTER.replace("//- sanitize.tensor/fence", "") + mma("%r7", "%p5") + commit(0) + wait(0, 1, mark=f"//- {EARLY}")
        + AFTER + LD + WAIT_LD.format("") + STORE + end(32)
    )  # fmt: skip


def specialised() -> str:
    """A warp that copies, a warp that multiplies, and four warps with the epilogue; two stages, six steps."""
    loop = """
    @%p8 bra EPILOGUE;
    @%p6 bra PRODUCER;
    @!%p7 bra END;
    mov.b32 %r40, 0;
    mov.b32 %r41, 0;
MULTIPLY:
    shl.b32 %r42, %r41, 3;
    add.u32 %r43, %r3, %r42;
    shr.u32 %r44, %r40, 1;
    and.b32 %r44, %r44, 1;
FULL: mbarrier.try_wait.parity.shared::cta.b64 %p20, [%r43], %r44; @!%p20 bra FULL; //- sanitize.tensor/operand sanitize.copy/destination sanitize.mbarrier/parity sanitize.mbarrier/arrivals
    shl.b32 %r45, %r41, 9;
    cvt.u64.u32 %rd12, %r45;
    add.u64 %rd13, %rd2, %rd12;
    add.u64 %rd14, %rd3, %rd12;
    setp.ne.u32 %p10, %r40, 0; //= sanitize.unwritten/tensor: setp.ge.u32 %p10, %r40, 0;
    @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r7], %rd13, %rd14, %r10, %p10;
    @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r43 + 16]; //- sanitize.deadlock
    xor.b32 %r41, %r41, 1;
    add.u32 %r40, %r40, 1;
    setp.lt.u32 %p11, %r40, 6;
    @%p11 bra MULTIPLY;
    @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3 + 32]; //- sanitize.deadlock
    bra END;
PRODUCER:
    @!%p0 bra END;
    mov.b32 %r40, 0;
    mov.b32 %r41, 0;
COPY:
    shl.b32 %r42, %r41, 3;
    add.u32 %r43, %r3, %r42;
    shr.u32 %r44, %r40, 1;
    and.b32 %r44, %r44, 1;
    xor.b32 %r44, %r44, 1;
EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p20, [%r43 + 16], %r44; @!%p20 bra EMPTY; //- sanitize.tensor/operand sanitize.mbarrier/arrivals
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r43], 4608;
    shl.b32 %r45, %r41, 13;
    add.u32 %r46, %r2, %r45;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r46], [%rd0], 4096, [%r43];
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r46 + 4096], [%rd0], 512, [%r43];
    xor.b32 %r41, %r41, 1;
    add.u32 %r40, %r40, 1;
    setp.lt.u32 %p11, %r40, 6;
    @%p11 bra COPY;
    bra END;
EPILOGUE:
"""
    return (
        start({0: 1, 1: 1, 2: 1, 3: 1, 4: 1}, 32) + loop + wait(4, mark=f"//- {EARLY} sanitize.tensor/race sanitize.unwritten/tensor")
        + AFTER + LD + WAIT_LD.format("//- sanitize.tensor/load-wait") + "    add.u64 %rd0, %rd0, 8192;\n" + STORE + "END:\n"
        + "    bar.warp.sync 0xffffffff;\n    bar.sync 1;\n" + end(32)
    )  # fmt: skip


def double_buffered() -> str:
    """Two accumulators: a warp multiplies tile after tile, and four warps empty the accumulators."""
    loop = """
    @%p8 bra EPILOGUE;
    @!%p7 bra END;
    mov.b32 %r40, 0;
TILE:
    and.b32 %r41, %r40, 1;
    shl.b32 %r42, %r41, 3;
    add.u32 %r43, %r3, %r42;
    shr.u32 %r44, %r40, 1;
    and.b32 %r44, %r44, 1;
    xor.b32 %r44, %r44, 1;
FREE: mbarrier.try_wait.parity.shared::cta.b64 %p20, [%r43 + 16], %r44; @!%p20 bra FREE; //- sanitize.tensor/race sanitize.mbarrier/parity sanitize.mbarrier/arrivals
    tcgen05.fence::after_thread_sync; //- sanitize.tensor/fence
    shl.b32 %r45, %r41, 4; //= sanitize.tensor/race sanitize.tensor/commit: mov.b32 %r45, 0;
    add.u32 %r46, %r7, %r45;
    @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r46], %rd2, %rd3, %r10, %p4;
    @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r46], %rd2, %rd3, %r10, %p5;
    @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r43]; //- sanitize.deadlock
    add.u32 %r40, %r40, 1;
    setp.lt.u32 %p11, %r40, 6;
    @%p11 bra TILE;
    bra END;
EPILOGUE:
    mov.b32 %r40, 0;
READ:
    and.b32 %r41, %r40, 1;
    shl.b32 %r42, %r41, 3;
    add.u32 %r43, %r3, %r42;
    shr.u32 %r44, %r40, 1;
    and.b32 %r44, %r44, 1;
READY: mbarrier.try_wait.parity.shared::cta.b64 %p20, [%r43], %r44; @!%p20 bra READY; //- sanitize.tensor/commit sanitize.tensor/race sanitize.mbarrier/arrivals sanitize.unwritten/tensor
    tcgen05.fence::after_thread_sync; //- sanitize.tensor/fence
    shl.b32 %r45, %r41, 4;
    add.u32 %r46, %r8, %r45;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r16}, [%r46];
    tcgen05.wait::ld.sync.aligned; //- sanitize.tensor/load-wait
    tcgen05.fence::before_thread_sync; //- sanitize.tensor/fence
    mbarrier.arrive.shared::cta.b64 _, [%r43 + 16]; //- sanitize.deadlock
    add.u32 %r40, %r40, 1;
    setp.lt.u32 %p11, %r40, 6;
    @%p11 bra READ;
END:
    bar.sync 1;
"""
    return (
        zeros(8192, 256)
        + "    fence.proxy.async.shared::cta;\n"
        + start({0: 1, 1: 1, 2: 128, 3: 128}, 32)
        + loop
        + end(32)
    )


def attention() -> str:
    """S = Q K, P = S stored to tensor memory by four warps, and O = P V with P in tensor memory."""
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n" + start({0: 1, 1: 1}, 64)
        + "    add.u32 %r50, %r7, 16;\n    add.u32 %r51, %r7, 32;\n    add.u32 %r52, %r8, 16;\n"
        + mma("%r7", "%p4") + commit(0, mark="//- sanitize.deadlock") + wait(0, mark=f"//- {EARLY}") + AFTER
        + LD + WAIT_LD.format("//- sanitize.tensor/registers")
        + "    tcgen05.st.sync.aligned.32x32b.x8.b32 [%r52], {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23}; //- sanitize.unwritten/tensor\n"
        + WAIT_ST.format("//- sanitize.tensor/store-wait") + BEFORE
        + "    bar.sync 0; //- sanitize.tensor/race\n" + AFTER
        + mma("%r51", "%p4", a="[%r50]") + mma("%r51", "%p5", a="[%r50]") + commit(1) + wait(1, mark=f"//- {EARLY}") + AFTER
        + "    add.u32 %r8, %r8, 32;\n" + LD + WAIT_LD.format("") + STORE + end(64)
    )  # fmt: skip


def softmax() -> str:
    """Two steps of attention: P overwrites S, and S of the next step overwrites P without a wait for O = P V.

    The store of P uses all registers of the load, and the manual demands `wait::ld` nevertheless.
    """
    words = ", ".join(f"%r{k}" for k in range(16, 32))
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n" + start({0: 1, 1: 1}, 64)
        + "    add.u32 %r51, %r7, 32;\n    add.u32 %r53, %r7, 40;\n"
        + mma("%r7", "%p4") + commit(0) + wait(0, mark=f"//- {EARLY}") + AFTER
        + LD + WAIT_LD.format("//- sanitize.tensor/load-wait")
        + f"    tcgen05.st.sync.aligned.32x32b.x16.b32 [%r8], {{{words}}};\n"
        + WAIT_ST.format("//- sanitize.tensor/store-wait") + BEFORE + "    bar.sync 0; //- sanitize.tensor/race\n" + AFTER
        + mma("%r51", "%p4", a="[%r7]")
        + mma("%r7", "%p4", mark="//= sanitize.tensor/commit: @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r53], %rd2, %rd3, %r10, %p4;")
        + commit(1, mark="//- sanitize.deadlock") + wait(1, mark=f"//- {EARLY}") + AFTER
        + LD + WAIT_LD.format("") + STORE + end(64)
    )  # fmt: skip


def exchange() -> str:
    """Four warps store, and four others load the same lanes after a barrier."""
    return (
        start({}, 32) + "    @%p8 bra LOAD;\n"
        + "    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {%r9};\n" + WAIT_ST.format("//- sanitize.tensor/store-wait") + BEFORE
        + "    bar.sync 1;\n    bra END;\nLOAD:\n    bar.sync 1; //= sanitize.tensor/race: bar.arrive 1, 256;\n" + AFTER + LD1
        + WAIT_LD.format("//- sanitize.tensor/load-wait") + STORE + "END:\n" + end(32)
    )  # fmt: skip


def rewritten() -> str:
    """A warp loads and stores the same words several times."""
    store = "    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {%r9};\n"
    return (
        start({}, 32) + store + WAIT_ST.format("//- sanitize.tensor/store-wait") + LD1
        + WAIT_LD.format("//- sanitize.tensor/load-wait") + "    mov.b32 %r16, 5;\n" + store + WAIT_ST.format("")
        + LD1 + WAIT_LD.format("") + STORE + end(32)
    )  # fmt: skip


def copied() -> str:
    """Copies to tensor memory by one warp, and multiplications with the data by another warp."""
    copy = "    @%p0 tcgen05.cp.cta_group::1.128x128b [%r50], %rd2; //- sanitize.unwritten/tensor\n"
    copy += "    @%p0 tcgen05.cp.cta_group::1.128x128b [%r53], %rd2;\n"
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n" + start({0: 1, 1: 1}, 64)
        + "    add.u32 %r50, %r7, 16;\n    add.u32 %r53, %r7, 20;\n    mov.u32 %r54, %r7;\n" + copy
        + "    tcgen05.fence::before_thread_sync; //- sanitize.tensor/fence\n    bar.sync 0; //- sanitize.tensor/race\n"
        + AFTER + mma("%r7", "%p4", a="[%r50]") + commit(0, mark="//- sanitize.deadlock") + commit(1, guard="@%p0 ", mark="//- sanitize.deadlock")
        + wait(0, mark=f"//- {EARLY}") + wait(1) + AFTER + LD + WAIT_LD.format("") + STORE + end(64)
    )  # fmt: skip


def relaxed() -> str:
    """The synchronisation of the manual's patterns, with relaxed arrivals and waits."""
    return (
        start({0: 1, 1: 128}, 32) + zeros(8192, 128) + "    fence.proxy.async.shared::cta;\n    bar.sync 0;\n"
        + mma("%r7", "%p4") + commit(0) + wait(0, word=".relaxed.cluster", mark=f"//- {EARLY}") + AFTER + LD
        + WAIT_LD.format("//- sanitize.tensor/load-wait") + BEFORE
        + "    mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%r3 + 8]; //- sanitize.deadlock\n"
        + wait(1, word=".relaxed.cluster", mark="//- sanitize.tensor/race") + AFTER + mma("%r7", "%p4") + commit(0) + wait(0, 1) + AFTER
        + LD + WAIT_LD.format("") + STORE + end(32)
    )  # fmt: skip


def reallocated() -> str:
    """Two allocations, the second of which takes the columns that the first one has released."""
    return (
        start({}, 512) + "    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {%r9};\n" + WAIT_ST.format("//- sanitize.tensor/store-wait")
        + LD1 + WAIT_LD.format("//- sanitize.tensor/load-wait") + "    tcgen05.fence::before_thread_sync;\n    bar.sync 0; //- sanitize.tensor/release sanitize.race/shared\n"
        + "    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 512; //- sanitize.deadlock\n"
        + "    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n    bar.sync 0;\n    ld.shared.u32 %r7, [slot];\n"
        + "    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {%r9}; //- sanitize.unwritten/tensor\n" + WAIT_ST.format("")
        + LD1 + WAIT_LD.format("") + STORE + end(32)
    )  # fmt: skip


def pair() -> str:
    """A pair of CTAs with a commit that signals both."""
    multicast = (
        "    @%p14 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r3], %h0;"
        " //= sanitize.deadlock: @%p14 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n"
    )
    sync = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n" + start({0: 1}, 32, 2) + sync
        + "    mov.u32 %r60, %cluster_ctarank;\n    setp.eq.u32 %p13, %r60, 0;\n    and.pred %p14, %p13, %p2;\n    mov.b16 %h0, 3;\n"
        + mma("%r7", "%p4", "@%p14 ", ctas=2) + multicast + wait(0, mark=f"//- {EARLY} sanitize.tensor/race sanitize.unwritten/tensor") + AFTER + LD
        + WAIT_LD.format("//- sanitize.tensor/load-wait") + STORE + "    tcgen05.fence::before_thread_sync;\n" + sync + end(32, 2)
    )  # fmt: skip


def phases() -> str:
    """One mbarrier for three multiplications: all warps wait for each commit, and a barrier precedes the next one."""
    loop = """
    mov.b32 %r40, 0;
STEP:
    setp.ne.u32 %p10, %r40, 0;
    @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r7], %rd2, %rd3, %r10, %p10;
    @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];
    and.b32 %r41, %r40, 1; //= sanitize.mbarrier/parity sanitize.tensor/commit: mov.b32 %r41, 0;
DONE: mbarrier.try_wait.parity.shared::cta.b64 %p20, [%r3], %r41; @!%p20 bra DONE;
    bar.sync 0; //- sanitize.mbarrier/parity
    tcgen05.fence::after_thread_sync;
    add.u32 %r40, %r40, 1;
    setp.lt.u32 %p11, %r40, 3;
    @%p11 bra STEP;
"""
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta;\n" + start({0: 1}, 32) + loop + LD
        + WAIT_LD.format("") + STORE + end(32)
    )  # fmt: skip


def slot() -> str:
    """A bulk copy fills the word that has received the address of the columns, after all threads have read it."""
    fill = """
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 16, [%r3];
"""
    ready = start({0: 1}, 32).replace("[slot]", "[%r2]")
    return (
        ready + "    bar.sync 0; //- sanitize.race/shared\n" + fill + wait(0, mark="//- sanitize.copy/destination")
        + "    ld.shared.u32 %r16, [%r2];\n    add.u64 %rd0, %rd0, 8192;\n" + STORE + end(32)
    )  # fmt: skip


def sums() -> str:
    """Four warps store sums of rows, and four others load them after a phase of an mbarrier."""
    return (
        start({0: 128}, 32) + "    @%p8 bra LOAD;\n"
        + "    tcgen05.st.sync.aligned.32x32b.x2.b32 [%r8], {%r9, %r9};\n" + WAIT_ST.format("//- sanitize.tensor/store-wait") + BEFORE
        + "    mbarrier.arrive.shared::cta.b64 _, [%r3]; //- sanitize.deadlock\n    bra END;\nLOAD:\n"
        + wait(0, mark="//- sanitize.tensor/race sanitize.unwritten/tensor") + AFTER + LD1
        + WAIT_LD.format("//- sanitize.tensor/load-wait") + STORE + "END:\n" + end(32)
    )  # fmt: skip


def early_slot() -> str:
    """The warp that allocates also multiplies. The others wait for the multiplication, and read the address later."""
    return (
        zeros(8192, 128) + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n"
        + "    @%p0 mbarrier.init.shared::cta.b64 [%r3], 1;\n    bar.sync 0;\n"
        + "    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n"
        + "    bar.sync 0; //- sanitize.race/shared\n"
        + "    mov.b32 %r50, 0;\n" + mma("%r50", "%p4", "@%p0 ") + commit(0, "@%p0 ", mark="//- sanitize.deadlock")
        + wait(0, mark=f"//- {EARLY} sanitize.tensor/race sanitize.unwritten/tensor") + AFTER
        + "    ld.shared.u32 %r7, [slot];\n    and.b32 %r8, %r0, 96;\n    shl.b32 %r8, %r8, 16;\n    add.u32 %r8, %r8, %r7;\n"
        + LD + WAIT_LD.format("") + STORE + end(32)
    )  # fmt: skip


KERNELS = (
    Kernel("gemm", gemm()),
    Kernel("invalidated", invalidated()),
    Kernel("refilled", refilled()),
    Kernel("specialised", specialised(), 256),
    Kernel("double_buffered", double_buffered(), 256),
    Kernel("attention", attention()),
    Kernel("softmax", softmax()),
    Kernel("exchange", exchange(), 256),
    Kernel("rewritten", rewritten()),
    Kernel("copied", copied()),
    Kernel("relaxed", relaxed()),
    Kernel("reallocated", reallocated()),
    Kernel("phases", phases()),
    Kernel("sums", sums(), 256),
    Kernel("early_slot", early_slot()),
    Kernel("slot", slot()),
    Kernel("pair", pair(), cluster=2, idesc=PAIR),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """Kernel with one change, and the rules of which it breaks one."""

    name: str
    kernel: Kernel
    text: str
    rules: tuple[str, ...]


def mutants() -> list[Mutant]:
    """Return all mutants that the marks describe."""
    found: list[Mutant] = []
    for kernel in KERNELS:
        lines = kernel.text.split("\n")
        for number, line in enumerate(lines):
            statement, mark, words = line.partition("//")
            if not mark or words[:1] not in "-=":
                continue
            rules, _, new = words[1:].partition(": ") if words[0] == "=" else (words[1:], "", "")
            label = statement.strip().partition(":")[0] + ":" if words[0] == "-" and "_wait" in statement else ""
            changed = [*lines[:number], new or label, *lines[number + 1 :]]
            name = f"{kernel.name}-{number}-{rules.split()[0].removeprefix('sanitize.')}"
            broken = rules.split()
            if "sanitize.tensor/load-wait" in broken:
                broken.append("sanitize.tensor/registers")  # a later load may overwrite the registers of the first one
            found.append(Mutant(name, kernel, "\n".join(changed), tuple(broken)))
    return found
