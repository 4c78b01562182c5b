"""Classes of faults in every memory space, each with one finding under five schedules; and four correct kernels.

The kernels in the folder `reduced` are reduced from FlashMLA, DeepGEMM and fast.cu, as their comments state.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from observe.sanitize.orders import ACQUIRE, MAP
from observe.sanitize.pairs import Pair, findings

import warploom as wl

KERNELS = Path(__file__).parent / "reduced"
SCHEDULES = ("eager", "lazy", "random:0", "random:1", "random:2")

_CLUSTER = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
_PEER = "xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r3, %r6;"

# Thread 0 stores words that its CTA or its peer has written with a bulk copy.
_BULK_STORE = """
    @!%p0 bra done;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r3], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    done:
"""
_STORED = f"""
    mad.lo.u32 %r5, %r0, 4, %r3;
    st.shared.u32 [%r5], %r0;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    {_BULK_STORE}
"""
_STORED_BY_PEER = f"""
    mad.lo.u32 %r5, %r0, 4, %r3;
    {_CLUSTER}
    xor.b32 %r6, %r2, 1;
    mapa.shared::cluster.u32 %r7, %r5, %r6;
    st.shared::cluster.u32 [%r7], %r0;
    fence.proxy.async.shared::cluster;
    {_CLUSTER}
    mad.wide.u32 %rd0, %r2, 256, %rd0;
    {_BULK_STORE}
"""
# All threads store to global memory, and a bulk copy loads the words.
_STORED_GLOBALLY = """
    mad.wide.u32 %rd2, %r0, 4, %rd0;
    st.global.u32 [%rd2], %r0;
    fence.proxy.async.global;
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 128, [%r4];
    again:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra again;
"""
_SHARED_FENCE, _GLOBAL_FENCE = "fence.proxy.async.shared::cta;", "fence.proxy.async.global;"
_TENSORMAP_FENCE = "fence.proxy.tensormap::generic.release.gpu;"

_COPIED = (
    """
    mul.wide.u32 %rd2, %r0, 4;
    add.u64 %rd2, %rd0, %rd2;
    mad.lo.u32 %r5, %r0, 4, %r3;
    cp.async.ca.shared.global [%r5], [%rd2], 4;
    cp.async.wait_all;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    add.u64 %rd0, %rd0, 1024;
"""
    + _BULK_STORE
)

_LOADED = """
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 256, [%r4];
    again:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra again;
    mad.lo.u32 %r5, %r0, 4, %r3;
    ld.shared.u32 %r6, [%r5];
"""
_LOADED_FROM_PEER = f"""
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 1;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;
    mad.lo.u32 %r5, %r0, 4, %r3;
    st.shared.u32 [%r5+1024], %r0;
    fence.proxy.async.shared::cta;
    {_CLUSTER}
    {_PEER}
    mapa.shared::cluster.u32 %r8, %r4, %r6;
    add.u32 %r9, %r3, 1024;
    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r9], 128, [%r8];
    again:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
    @!%p1 bra again;
    ld.shared.u32 %r9, [%r5];
    {_CLUSTER}
"""

_REPLACE = "@%p3 tensormap.replace.tile.global_dim.global.b1024.b32 [%rd0], 0, 64;"

# A multiplication of zeros, and the wait for it.
_MULTIPLIED = """
    .reg .f32 %d<4>;
    mov.f32 %d0, 0f00000000; mov.f32 %d1, 0f00000000; mov.f32 %d2, 0f00000000; mov.f32 %d3, 0f00000000;
    mad.lo.u32 %r5, %r0, 16, %r3;
    st.shared.v4.u32 [%r5], {0, 0, 0, 0};
    st.shared.v4.u32 [%r5+2048], {0, 0, 0, 0};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shr.u32 %r6, %r3, 4;
    and.b32 %r6, %r6, 0x3fff;
    cvt.u64.u32 %rd2, %r6;
    or.b64 %rd2, %rd2, 0x0000001000080000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, %rd2, %rd2, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
"""
_WAIT = "wgmma.wait_group.sync.aligned 0;\n"


def _early(use: str) -> tuple[str, tuple[str, str]]:
    """Return statements that use an accumulator after the wait, and the change that uses the accumulator before."""
    text = f"{_MULTIPLIED}{use}\n"
    return text, (f"{_WAIT}{use}\n", f"{use}\n{_WAIT}")


_COUNTER = "st.shared.u32 [%r3+4096], 0; bar.sync 0; red.shared.add.f32 [%r3+4096], %d0;"
FAULTS = {
    "proxy fence of another kind, shared": Pair(_STORED, (_SHARED_FENCE, "fence.proxy.alias;"), ("proxy/async",)),
    "proxy fence of another space, shared": Pair(_STORED, (_SHARED_FENCE, _GLOBAL_FENCE), ("proxy/async",)),
    "proxy fence for tensor maps, shared": Pair(_STORED, (_SHARED_FENCE, _TENSORMAP_FENCE), ("proxy/async",)),
    "proxy fence of another kind, global": Pair(
        _STORED_GLOBALLY, (_GLOBAL_FENCE, "fence.proxy.alias;"), ("proxy/async",)
    ),
    "proxy fence of another space, global": Pair(_STORED_GLOBALLY, (_GLOBAL_FENCE, _SHARED_FENCE), ("proxy/async",)),
    "proxy fence for tensor maps, global": Pair(_STORED_GLOBALLY, (_GLOBAL_FENCE, _TENSORMAP_FENCE), ("proxy/async",)),
    "proxy fence of another kind, distributed": Pair(
        _STORED_BY_PEER, ("fence.proxy.async.shared::cluster;", "fence.proxy.alias;"), ("proxy/async",), cluster=2
    ),
    "proxy fence of another space, distributed": Pair(
        _STORED_BY_PEER, ("fence.proxy.async.shared::cluster;", _GLOBAL_FENCE), ("proxy/async",), cluster=2
    ),
    "counter without a barrier, shared": Pair(
        "@%p0 st.shared.u32 [%r3], 0; bar.sync 0; atom.shared.add.u32 %r11, [%r3], 1;",
        ("bar.sync 0;", ""),
        ("race/shared",),
        threads=64,
    ),
    "counter without a barrier, global": Pair(
        "@%p0 st.global.u32 [%rd0], 0; bar.sync 0; atom.global.add.u32 %r11, [%rd0], 1;",
        ("bar.sync 0;", ""),
        ("race/lanes",),
        threads=64,
    ),
    "counter without a barrier, distributed": Pair(
        f"""
        @%p0 st.shared.u32 [%r3], 0;
        {_CLUSTER} // start
        {_PEER}
        @%p0 atom.shared::cluster.add.u32 %r11, [%r7], 1;
        {_CLUSTER}
        """,
        (f"{_CLUSTER} // start", "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;"),
        ("race/cluster",),
        cluster=2,
    ),
    "single wait, shared": Pair(_LOADED, ("@!%p1 bra again;", ""), ("copy/destination",), threads=64),
    "single wait, distributed": Pair(_LOADED_FROM_PEER, ("@!%p1 bra again;", ""), ("copy/destination",), cluster=2),
    "tensor map changed after its acquire": Pair(
        MAP,
        (f"{ACQUIRE}\n    setp.eq.u32 %p3, %r0, 32;", f"setp.eq.u32 %p3, %r0, 32;\n{ACQUIRE}\n{_REPLACE}"),
        ("proxy/tensormap",),
        threads=64,
    ),
    "tensor map acquired without a release": Pair(MAP, (_TENSORMAP_FENCE, ""), ("proxy/tensormap",), threads=64),
    "atomic on unwritten memory, shared": Pair(
        "@%p0 st.shared.u32 [%r3], 0; bar.sync 0; red.shared.add.u32 [%r3], 1;",
        ("@%p0 st.shared.u32 [%r3], 0;", ""),
        ("unwritten/shared",),
        threads=64,
    ),
    "atomic on unwritten memory, distributed": Pair(
        f"@%p0 st.shared.u32 [%r3], 0; {_CLUSTER} {_PEER} red.shared::cluster.add.u32 [%r7], 1; {_CLUSTER}",
        ("@%p0 st.shared.u32 [%r3], 0;", ""),
        ("unwritten/shared",),
        cluster=2,
    ),
    "half a warpgroup changes its registers": Pair(
        "setp.lt.u32 %p1, %r0, 64; setmaxnreg.dec.sync.aligned.u32 48;",
        ("setmaxnreg", "@%p1 setmaxnreg"),
        ("registers/warpgroup",),
        threads=128,
    ),
    "a warpgroup changes to two register counts": Pair(
        "setp.lt.u32 %p1, %r0, 64; @%p1 bra low; setmaxnreg.dec.sync.aligned.u32 48; bra done;"
        "low: setmaxnreg.dec.sync.aligned.u32 48; done:",
        ("low: setmaxnreg.dec.sync.aligned.u32 48", "low: setmaxnreg.dec.sync.aligned.u32 40"),
        ("registers/warpgroup",),
        threads=128,
    ),
    "register counts change twice": Pair(
        "setmaxnreg.dec.sync.aligned.u32 48; bar.sync 0; setmaxnreg.dec.sync.aligned.u32 40;",
        ("bar.sync 0;", ""),
        ("registers/warpgroup",),
        threads=128,
    ),
    "election outside the mask": Pair("elect.sync %r5|%p1, -1;", ("-1", "0xfff0"), ("warp/mask",)),
    "values of one instruction, shared": Pair("st.shared.u32 [%r3], 7;", ("], 7", "], %r0"), ("race/lanes",)),
    "values of one instruction, global": Pair("st.global.u32 [%rd0], 7;", ("], 7", "], %r0"), ("race/lanes",)),
    "values of one instruction, distributed": Pair(
        f"{_CLUSTER} {_PEER} st.shared::cluster.u32 [%r7], 7; {_CLUSTER}",
        ("], 7", "], %r0"),
        ("race/lanes",),
        cluster=2,
    ),
    "accumulator in flight, shared": Pair(*_early(_COUNTER), ("wgmma/registers",), threads=128),
    "accumulator in flight, global": Pair(
        *_early("red.global.add.f32 [%rd0], %d0;"), ("wgmma/registers",), threads=128
    ),
    "accumulator in flight, atom": Pair(
        *_early("atom.global.add.f32 %f0, [%rd0], %d0;"), ("wgmma/registers",), threads=128
    ),
    "unwritten register, shared": Pair(
        "st.shared.u32 [%r3], 0; bar.sync 0; mov.u32 %r9, 1; red.shared.add.u32 [%r3], %r9;",
        ("mov.u32 %r9, 1;", ""),
        ("unwritten/register",),
    ),
    "unwritten register, global": Pair(
        "mov.u32 %r9, 1; red.global.add.u32 [%rd0], %r9;", ("mov.u32 %r9, 1;", ""), ("unwritten/register",)
    ),
    "unwritten register, atom": Pair(
        "mov.u32 %r9, 1; atom.global.add.u32 %r10, [%rd0], %r9;", ("mov.u32 %r9, 1;", ""), ("unwritten/register",)
    ),
    "unwritten register, distributed": Pair(
        f"@%p0 st.shared.u32 [%r3], 0; {_CLUSTER} {_PEER} mov.u32 %r9, 1;"
        f"red.shared::cluster.add.u32 [%r7], %r9; {_CLUSTER}",
        ("mov.u32 %r9, 1;", ""),
        ("unwritten/register",),
        cluster=2,
    ),
    "data of thread copies in a bulk store": Pair(_COPIED, (_SHARED_FENCE, ""), ("proxy/async",)),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_one_finding(name: str, schedule: str) -> None:
    pair = FAULTS[name]
    assert findings(pair, pair.text, schedule) == []
    assert findings(pair, pair.faulty, schedule) == list(pair.codes)


def _sanitized(name: str, schedule: str, change: tuple[str, str] = ("", "")) -> list[str]:
    grid, block, cluster, args = {
        "arrivals_of_one_instruction": (2, 64, 2, []),
        "bytes_of_four_lanes": (1, 64, 1, [np.zeros(32, np.uint16)]),
        "fence_by_each_writer": (1, 64, 1, [np.zeros(16, np.uint32)]),
        "tma_store_box_wider_than_tensor": (1, 32, 1, [wl.TensorMap.tiled(np.zeros((8, 64), np.uint16), (8, 72))]),
    }[name]
    text = (KERNELS / f"{name}.ptx").read_text().replace(*change)
    done = wl.launch(
        text, grid=grid, block=block, cluster=cluster, args=args, schedule=schedule, sanitize=True, raises=False
    )
    return [each.code for each in done.findings]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", [path.stem for path in sorted(KERNELS.glob("*.ptx"))])
def test_a_correct_kernel_is_silent(name: str, schedule: str) -> None:
    assert _sanitized(name, schedule, ("FENCE", "fence.proxy.async.shared::cta;")) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_writer_without_a_fence_is_found(schedule: str) -> None:
    assert _sanitized("fence_by_each_writer", schedule, ("FENCE", "")) == ["sanitize.proxy/async"]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_guarded_store_of_an_atomic_is_silent(schedule: str) -> None:
    text = "@%p0 atom.global.add.u32 %r11, [%rd0], 1; @%p0 st.global.u32 [%rd0+4], %r11;"
    assert findings(Pair(text, ("", ""), ()), text, schedule) == []
