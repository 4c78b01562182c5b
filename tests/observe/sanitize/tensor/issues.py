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


_CLUSTER = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
_WAIT_LD = "    tcgen05.wait::ld.sync.aligned; //- sanitize.tensor/load-wait\n"
_WAIT_ST = "    tcgen05.wait::st.sync.aligned; //- sanitize.tensor/store-wait\n"


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
        k.zeros(16384, 128) + "    fence.proxy.async.shared::cta;\n" + k.start({0: 1}, 64)
        + "    add.u32 %r50, %r7, 32;\n    add.u32 %r51, %r7, 36;\n    add.u32 %r52, %r7, 48;\n"
        + f"    mov.b64 %rd4, {SCALES:#x};\n    or.b64 %rd4, %rd4, %rd1;\n"
        + copies + multiply + k.commit(0) + k.wait(0) + k.AFTER + k.LD + k.WAIT_LD.format("") + k.STORE + k.end(64)
    )  # fmt: skip
    return k.Kernel("scaled", body, idesc=MX)


def _late() -> k.Kernel:
    """The pair of CTAs, whose shared memory is written after the allocation."""
    pair = _named("pair")
    stores = k.zeros(8192, 128) + "    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n"
    assert pair.body.startswith(stores)
    sync = _CLUSTER + "    mov.u32 %r60"
    return k.Kernel("late", pair.body.removeprefix(stores).replace(sync, stores + sync), cluster=2, idesc=k.PAIR)


_LATE = _late()
_SECOND = "    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;\n"
SCALES = k.wl.UmmaDescriptor.packed(32, 16, "u8").encode()
MX = k.wl.InstructionDescriptor("mxf8f6f4", 128, 16, "e4m3", "e4m3", scale_type="ue8m0").encode()

ISSUES = (
    # The stage is released while loads are in progress, because nothing waits for the loads.
    Issue("flashinfer#5334", _named("double_buffered"), (_WAIT_LD, ""), ("sanitize.tensor/load-wait",)),
    # A multiplication reads P before the stores of the softmax warps are complete.
    Issue("flash-attention#2033", _named("attention"), (_WAIT_ST, ""), ("sanitize.tensor/store-wait",)),
    # The fence between the wait for a barrier and the next operation on tensor memory is missing.
    Issue(
        "FastVideo#1819",
        _named("attention"),
        (k.BEFORE + "    bar.sync 0;", "    bar.sync 0;"),
        ("sanitize.tensor/fence",),
    ),
    # A pair allocates tensor memory before its CTAs have synchronised.
    Issue("triton#10735", _named("pair"), (_CLUSTER, ""), ("sanitize.cluster/start", "sanitize.mbarrier/init")),
    Issue(
        "tilelang#2644",
        _named("pair"),
        (_CLUSTER, "    bar.sync 0;\n"),
        ("sanitize.cluster/start", "sanitize.mbarrier/init"),
    ),
    # The leader multiplies with the shared memory of the peer CTA, and does not wait for the data of the peer.
    Issue(
        "cutlass#3643",
        _LATE,
        (_CLUSTER + "    mov.u32 %r60", "    bar.sync 0;\n    mov.u32 %r60"),
        ("sanitize.race/cluster",),
    ),
    # A warp allocates more columns than the CTA has left.
    Issue("tilelang#2287", _named("rewritten"), (k.end(32), _SECOND + k.end(32)), ("sanitize.deadlock",)),
    # Generic stores to a matrix or to scale factors lack the proxy fence.
    Issue(
        "sglang#39124",
        _named("gemm"),
        ("    fence.proxy.async.shared::cta; //- sanitize.proxy/async\n", ""),
        ("sanitize.proxy/async",),
    ),
    # The mask of a multicast names a CTA that the cluster lacks.
    Issue(
        "cutlass#3658",
        _named("pair"),
        ("    mov.b16 %h0, 3;", "    mov.b16 %h0, 7;"),
        ("emulator.out-of-bounds", "emulator.cluster-rank", "emulator.tensor-pair"),
    ),
    # The scale factors are at another address than the one that the multiplication reads.
    Issue(
        "cutlass#2961",
        _scaled("%r50"),
        ("    @%p2 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r51], %rd4;\n", ""),
        ("sanitize.unwritten/tensor",),
    ),
    # The instruction descriptor has a shape or a format that the instruction does not have.
    Issue(
        "triton#8910",
        _named("gemm"),
        (f"mov.b32 %r10, {k.F16:#x}", f"mov.b32 %r10, {k.F16 ^ 3 << 24:#x}"),
        ("emulator.tensor-multiply",),
    ),
    Issue(
        "TensorRT-LLM#3144",
        _scaled("%r50"),
        (f"mov.b32 %r10, {MX:#x}", f"mov.b32 %r10, {MX | 7 << 7:#x}"),
        ("emulator.tensor-multiply",),
    ),
    Issue("cutlass#2707", _scaled("%r50"), ("[%r50], %rd4", "[%r52], %rd4"), ("sanitize.unwritten/tensor",)),
)
