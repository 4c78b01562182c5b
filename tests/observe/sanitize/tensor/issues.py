# ruff: noqa: E501 - instructions that belong together are on one line
"""Small kernels with faults that users have reported, and their corrections.

A statement in `faulty` replaces the statement `correct`. Where a report concerns a library's source, the kernel has the
PTX pattern that the source leads to.
"""

from __future__ import annotations

from dataclasses import dataclass

from observe.sanitize.tensor import kernels as k


@dataclass(frozen=True, slots=True)
class Issue:
    """Reported fault: a correct kernel, the change that leads to the fault, and the rules that find it."""

    name: str
    kernel: k.Kernel
    change: tuple[str, str]
    rules: tuple[str, ...]

    @property
    def faulty(self) -> str:
        """PTX of the kernel with the fault."""
        assert self.kernel.text.count(self.change[0]) >= 1, self.name
        return self.kernel.text.replace(*self.change, 1)


def _named(name: str) -> k.Kernel:
    return next(each for each in k.KERNELS if each.name == name)


def _idesc(kind: str, m: int, n: int, element: str) -> int:
    return k.wl.InstructionDescriptor(kind, m, n, element, element).encode()


_CLUSTER = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
_WAIT_LD = "    tcgen05.wait::ld.sync.aligned; //- sanitize.tensor/load-wait\n"
_PROXY = "    fence.proxy.async.shared::cta;\n"
_RANK = "    mov.u32 %r60, %cluster_ctarank;\n    setp.eq.u32 %p13, %r60, 0;\n    and.pred %p14, %p13, %p2;\n"
_MULTICAST = (
    "    {} tcgen05.commit.cta_group::{}.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r3], %h0;\n"
)
_EPILOGUE = k.AFTER + k.LD + k.WAIT_LD.format("") + k.STORE


def _scaled(address: str) -> k.Kernel:
    """A block-scaled multiplication whose scale factors are copied to `address`."""
    copies = "".join(
        f"    @%p2 tcgen05.cp.cta_group::1.32x128b.warpx4 [{at}], %rd4;\n" for at in (address, "%r51")
    )  # fmt: skip
    multiply = (
        "    @%p2 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r7], %rd2, %rd3, %r10, [%r50],"
        " [%r51], %p4;\n"
    )
    body = (
        k.zeros(16384, 128) + _PROXY + k.start({0: 1}, 64)
        + "    add.u32 %r50, %r7, 32;\n    add.u32 %r51, %r7, 36;\n    add.u32 %r52, %r7, 48;\n"
        + f"    mov.b64 %rd4, {SCALES:#x};\n    or.b64 %rd4, %rd4, %rd1;\n"
        + copies + k.BEFORE + "    bar.sync 0;\n" + k.AFTER + multiply + k.commit(0) + k.wait(0) + _EPILOGUE + k.end(64)
    )  # fmt: skip
    return k.Kernel("scaled", body, idesc=MX)


def _single() -> k.Kernel:
    """One accumulator, which four warps add to global memory, and which a fifth one computes again and again."""
    body = """
    @%p8 bra MULTIPLY;
    mov.b32 %r40, 0;
READ:
    and.b32 %r44, %r40, 1;
FULL: mbarrier.try_wait.parity.shared::cta.b64 %p20, [%r3], %r44; @!%p20 bra FULL;
    tcgen05.fence::after_thread_sync;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r16}, [%r8];
    tcgen05.wait::ld.sync.aligned;
    mad.wide.u32 %rd10, %r0, 4, %rd0;
    red.relaxed.gpu.global.add.f32 [%rd10], %r16;
    tcgen05.fence::before_thread_sync;
    mbarrier.arrive.shared::cta.b64 _, [%r3 + 8];
    add.u32 %r40, %r40, 1;
    setp.lt.u32 %p11, %r40, 4;
    @%p11 bra READ;
    bra END;
MULTIPLY:
    setp.eq.u32 %p9, %r0, 128;
    mov.b32 %r40, 0;
STEP:
    and.b32 %r44, %r40, 1;
    xor.b32 %r44, %r44, 1;
EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p20, [%r3 + 8], %r44; @!%p20 bra EMPTY;
    tcgen05.fence::after_thread_sync;
"""
    body += k.mma("%r7", "%p4", "@%p9 ") + k.commit(0, "@%p9 ")
    body += "    add.u32 %r40, %r40, 1;\n    setp.lt.u32 %p11, %r40, 4;\n    @%p11 bra STEP;\nEND:\n"
    return k.Kernel("single", k.zeros(8192, 160) + _PROXY + k.start({0: 1, 1: 128}, 32) + body + k.end(32), 160)


def _backward() -> k.Kernel:
    """Two warpgroups load halves of dP, and store halves of dS, at half the width, to the first columns of dP.

    Like the kernel of the report, the kernel has no fences of tensor memory.
    """
    compute = (
        "    setp.eq.u32 %p9, %r0, 256;\n    and.b32 %r40, %r0, 128;\n    shr.u32 %r41, %r40, 3;\n    shr.u32 %r42, %r40, 4;\n"
        "    add.u32 %r52, %r8, %r42;\n    add.u32 %r8, %r8, %r41;\n    add.u32 %r51, %r7, 32;\n    add.u32 %r53, %r7, 8;\n    and.b32 %r43, %r0, 31;\n"
        "    setp.eq.u32 %p12, %r43, 0;\n    setp.ge.u32 %p13, %r0, 256;\n    @%p13 bra MULTIPLY;\n"
        + k.wait(0) + k.AFTER + k.LD + k.WAIT_LD.format("") + "    bar.sync 2, 256;\n"
        + "    tcgen05.st.sync.aligned.32x32b.x8.b32 [%r52], {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23};\n"
        + k.WAIT_ST.format("") + k.BEFORE + "    bar.sync 2, 256;\n    @%p12 mbarrier.arrive.shared::cta.b64 _, [%r3 + 8];\n    bra END;\n"
    )  # fmt: skip
    multiply = (
        "MULTIPLY:\n" + k.mma("%r7", "%p4", "@%p9 ") + k.commit(0, "@%p9 ") + k.wait(1) + k.AFTER
        + k.mma("%r51", "%p4", "@%p9 ", a="[%r7]") + k.mma("%r51", "%p5", "@%p9 ", a="[%r53]") + k.commit(2, "@%p9 ") + "END:\n"
    )  # fmt: skip
    end = k.wait(2) + k.AFTER + "    add.u32 %r8, %r8, 32;\n" + k.LD1 + k.WAIT_LD.format("") + k.STORE + k.end(64)
    start = k.start({0: 1, 1: 8, 2: 1}, 64)
    body = k.zeros(9216, 288) + _PROXY + start + compute + multiply + end
    body = "\n".join(line for line in body.split("\n") if "tcgen05.fence" not in line)
    return k.Kernel("backward", body, 288, idesc=_idesc("f16", 128, 32, "f16"))


def _widened() -> k.Kernel:
    """Threads convert a tile in shared memory from f16 to tf32 for the multiplication."""
    widen = "    mad.lo.u32 %r6, %r0, 2, %r2;\n    mad.lo.u32 %r5, %r0, 4, %r2;\n"
    widen += "".join(
        f"    ld.shared.b16 %h1, [%r6 + {16384 + 256 * each}];\n    cvt.f32.f16 %r11, %h1;\n"
        f"    st.shared.b32 [%r5 + {512 * each}], %r11;\n" for each in range(9)
    )  # fmt: skip
    narrow = k.zeros(4096, 128).replace("%r5 + ", "%r5 + 16384 + ") + "    bar.sync 0;\n"
    multiply = k.mma("%r7", "%p4").replace("f16", "tf32")
    body = (
        k.start({0: 1}, 32) + narrow + widen + _PROXY + "    tcgen05.fence::before_thread_sync;\n    bar.sync 0;\n"
        + k.AFTER + multiply + k.commit(0) + k.wait(0) + _EPILOGUE + k.end(32)
    )  # fmt: skip
    return k.Kernel("widened", body, idesc=_idesc("tf32", 128, 16, "tf32"))


def _wide() -> k.Kernel:
    """A product with 512 columns, as two multiplications with N = 256."""
    body = (
        k.zeros(24576, 128) + _PROXY + k.start({0: 1}, 512)
        + "    add.u32 %r50, %r7, 256;\n    add.u64 %rd4, %rd3, 512;\n" + _HALVES
        + k.commit(0) + k.wait(0) + _EPILOGUE + k.end(512)
    )  # fmt: skip
    return k.Kernel("wide", body)


def _chained() -> k.Kernel:
    """A pair of CTAs, whose A is in tensor memory."""
    stored = (
        "    add.u32 %r52, %r8, 32;\n    add.u32 %r50, %r7, 32;\n"
        "    tcgen05.st.sync.aligned.32x32b.x8.b32 [%r52], {%r9, %r9, %r9, %r9, %r9, %r9, %r9, %r9};\n"
        + k.WAIT_ST.format("") + k.BEFORE
    )  # fmt: skip
    body = (
        k.zeros(8192, 128) + _PROXY + k.start({0: 1}, 64, 2) + stored + _CLUSTER + k.AFTER + _RANK
        + "    mov.b16 %h0, 3;\n" + k.mma("%r7", "%p4", "@%p14 ", "[%r50]", ctas=2)
        + _MULTICAST.format("@%p14", 2) + k.wait(0) + _EPILOGUE + "    tcgen05.fence::before_thread_sync;\n" + _CLUSTER
        + k.end(64, 2)
    )  # fmt: skip
    return k.Kernel("chained", body, cluster=2, idesc=k.PAIR)


def _quantized() -> k.Kernel:
    """Two steps of K, whose accumulators are multiplied by the scale factors of 126 rows and added."""

    def step(wait: str, offset: int) -> str:
        return (
            k.mma("%r7", "%p4") + k.commit(0) + wait + k.AFTER + k.LD1 + k.WAIT_LD.format("") + k.BEFORE
            + f"    @%p9 ld.shared.f32 %r12, [%r6 + {offset}];\n    @%p9 fma.rn.f32 %r13, %r16, %r12, %r13;\n"
            + "    bar.sync 0;\n" + k.AFTER
        )  # fmt: skip

    body = (
        k.zeros(8192, 128) + _PROXY + "    setp.lt.u32 %p9, %r0, 126;\n    mov.b32 %r13, 0;\n    mad.lo.u32 %r6, %r0, 4, %r2;\n"
        + "    @%p9 st.shared.f32 [%r6 + 16384], 0f3F800000;\n" + _STRIDE + k.start({0: 1}, 32)
        + step(k.wait(0), 16384) + step(k.wait(0, 1), 16384 + 4 * 126)
        + k.STORE.replace("%r16", "%r13") + k.end(32)
    )  # fmt: skip
    return k.Kernel("quantized", body)


def _relayed() -> k.Kernel:
    """A pair of CTAs, which store A and copy B. The peer signals the leader when both are there."""
    copy = (
        "    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3 + 8], 512;\n    add.u32 %r61, %r2, 4096;\n"
        "    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r61], [%rd0], 512, [%r3 + 8];\n"
    )
    relay = (
        "    bar.sync 0;\n    @%p13 bra LEADER;\n" + _COPIED
        + "    mapa.shared::cluster.u32 %r62, %r3, 0;\n    @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r62 + 16];\n"
        + "LEADER:\n    @!%p14 bra READY;\n" + k.wait(1) + k.wait(2, word=".acquire.cluster")
    )  # fmt: skip
    body = (
        k.start({0: 1, 1: 1, 2: 1}, 32, 2) + _CLUSTER + _RANK + "    mov.b16 %h0, 3;\n" + k.zeros(4096, 128) + _PROXY + copy + relay
        + k.mma("%r7", "%p4", "@%p14 ", ctas=2) + _MULTICAST.format("@%p14", 2) + "READY:\n" + k.wait(0)
        + "    add.u64 %rd0, %rd0, 8192;\n" + _EPILOGUE + "    tcgen05.fence::before_thread_sync;\n" + _CLUSTER + k.end(32, 2)
    )  # fmt: skip
    return k.Kernel("relayed", body, cluster=2, idesc=k.PAIR)


def _shared_stage() -> k.Kernel:
    """Two CTAs, each with its own multiplication, whose commits release a stage in both CTAs."""
    body = (
        k.zeros(8192, 128) + _PROXY + k.start({0: 2}, 32) + "    @%p0 fence.mbarrier_init.release.cluster;\n" + _CLUSTER
        + "    mov.b16 %h0, 3;\n" + k.mma("%r7", "%p4") + _MULTICAST.format("@%p2", 1) + k.wait(0) + _EPILOGUE + _CLUSTER + k.end(32)
    )  # fmt: skip
    return k.Kernel("shared stage", body, cluster=2)


SCALES = k.wl.UmmaDescriptor.packed(32, 16, "u8").encode()
MX = k.wl.InstructionDescriptor("mxf8f6f4", 128, 16, "e4m3", "e4m3", scale_type="ue8m0").encode()
_N256 = _idesc("f16", 128, 256, "f16")
_HALVES = f"    mov.b32 %r10, {_N256:#x};\n" + k.mma("%r7", "%p4") + k.mma("%r50", "%p4", b="%rd4")
_WHOLE = f"    mov.b32 %r10, {_N256 & ~(63 << 17):#x};\n" + k.mma("%r7", "%p4")
_STRIDE = f"    @%p9 st.shared.f32 [%r6 + {16384 + 4 * 126}], 0f3F800000;\n"
_COPIED = k.wait(1)
_COPY_A = "    @%p2 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r50], %rd4;\n"
_ONE_WARP = "    @%p1 tcgen05.st.sync.aligned.32x32b.x4.b32 [%r50], {%r9, %r9, %r9, %r9};\n" + k.WAIT_ST.format("")

ISSUES = (
    # The stage is released while loads are in progress, because nothing waits for the loads.
    Issue("flashinfer#5334", _named("double_buffered"), (_WAIT_LD, ""), ("sanitize.tensor/load-wait",)),
    # The epilogue of dQ uses the registers of a load and signals the multiplying warp, without a wait for the load. A
    # use of registers does not show that the load has read tensor memory. The report also mentions an illegal address
    # in a weight-stationary multiplication, whose cause it does not give.
    Issue(
        "FastVideo#1819",
        _single(),
        ("    tcgen05.wait::ld.sync.aligned;\n    mad", "    mad"),
        ("sanitize.tensor/load-wait",),
    ),
    # dS is stored over dP, part of which a warp of the other warpgroup loads. The barrier between them had one warp.
    Issue(
        "flash-attention#2033",
        _backward(),
        ("    bar.sync 2, 256;\n    tcgen05.st", "    bar.warp.sync 0xffffffff;\n    tcgen05.st"),
        ("sanitize.tensor/race",),
    ),
    # A pair allocates tensor memory before its CTAs have synchronised.
    Issue("triton#10735", _named("pair"), (_CLUSTER, ""), ("sanitize.cluster/start", "sanitize.mbarrier/init")),
    # The same, with a barrier of the CTA in place of the barrier of the cluster.
    Issue(
        "tilelang#2644",
        _named("pair"),
        (_CLUSTER, "    bar.sync 0;\n"),
        ("sanitize.cluster/start", "sanitize.mbarrier/init"),
    ),
    # The leader reads the shared memory of the peer, but nothing tells it that the peer's copy is complete.
    Issue("cutlass#3643", _relayed(), (_COPIED, ""), ("sanitize.copy/destination",)),
    # In the same report, the peer's stores are released at the scope of its CTA only.
    Issue(
        "cutlass#3643-scope",
        _relayed(),
        ("arrive.release.cluster", "arrive.release.cta"),
        ("sanitize.copy/destination",),
    ),
    # With A in tensor memory, the multiplication of a pair lacks the group of two CTAs.
    Issue(
        "tilelang#2287", _chained(), ("tcgen05.mma.cta_group::2", "tcgen05.mma.cta_group::1"), ("emulator.tensor-pair",)
    ),
    # Threads widen a tile to tf32, and lack the proxy fence before the barrier and the multiplication.
    Issue("sglang#39124", _widened(), (_PROXY, ""), ("sanitize.proxy/async",)),
    # CTAs without a pair signal a stage of the cluster. The mask has the bit of a CTA that only a pair would have.
    Issue("cutlass#3658", _shared_stage(), ("    mov.b16 %h0, 3;", "    mov.b16 %h0, 7;"), ("emulator.out-of-bounds",)),
    # The scale factors are in the lanes of one warp. The multiplication needs a copy in the lanes of each of four
    # warps. The report was not available; other pages cite it for this fact.
    Issue("cutlass#2961", _scaled("%r50"), (_COPY_A, _ONE_WARP), ("sanitize.unwritten/tensor",)),
    # The multiplication has 512 columns, and the field for them in the descriptor, which has 6 bits, holds 0.
    Issue("triton#8910", _wide(), (_HALVES, _WHOLE), ("emulator.tensor-multiply",)),
    # The scale factors are stored with a row length that is padded to a multiple of 4, and read without the padding.
    # The factors of the report are in global memory.
    Issue(
        "TensorRT-LLM#3144",
        _quantized(),
        (_STRIDE, f"    @%p9 st.shared.f32 [%r6 + {16384 + 4 * 128}], 0f3F800000;\n"),
        ("sanitize.unwritten/shared",),
    ),
    # The report was not available; the fault belongs to its category. The scale factors are at another address than
    # the one that the multiplication reads.
    Issue("cutlass#2707", _scaled("%r50"), ("[%r50], %rd4", "[%r52], %rd4"), ("sanitize.unwritten/tensor",)),
)
