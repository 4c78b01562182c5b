# ruff: noqa: E501 - opcodes are as long as they are
from __future__ import annotations

import numpy as np
from isa.binding import legality_tests
from isa.recorder import Recorder, bound, lanes

from warploom.isa.instructions import bulk

COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
LEGAL = {
    f"{COPY} [%r1], [%rd1], %r2, [%r3];": "bulk.load",
    f"{COPY}.multicast::cluster.L2::cache_hint [%r1], [%rd1], 64, [%r3], %h1, %rd2;": "bulk.load",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r3];": "bulk.load",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 64, [%r3];": "bulk.copy_in_cluster",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;": "bulk.store",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], [%r1], 64, %rd2, %h1;": "bulk.store",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], %r2;": "bulk.reduce",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd1], [%r1], %r2;": "bulk.reduce",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc.u32 [%r1], [%r2], 64, [%r3];": "bulk.reduce_in_cluster",
    "cp.async.bulk.prefetch.L2.global [%rd1], 64;": "bulk.prefetch",
    "cp.async.bulk.commit_group;": "bulk.commit_group",
    "cp.async.bulk.wait_group.read 0;": "bulk.wait_group",
    f"{COPY} [%r1], [%rd1], 1048560, [%r3];": "bulk.load",
    "st.bulk.weak.shared::cta [%r1], %rd2, 0;": "bulk.zero",
    "st.bulk [%rd1], 4096, 0;": "bulk.zero",
}

REFUSED = {
    f"{COPY} [%r1], [%rd1], %r2;": "bulk.load/operands",
    f"{COPY} [%r1], [%rd1], %r2, [%r3], %h1;": "bulk.load/ctaMask",
    f"{COPY}.multicast::cluster [%r1], [%rd1], %r2, [%r3];": "bulk.load/ctaMask",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.bf16 [%rd1], [%r1], %r2;": "bulk.reduce/noftz",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%rd1], [%r1], %r2;": "bulk.reduce/type",
    "cp.async.bulk.global.global.bulk_group [%rd1], [%rd2], 64;": "bulk.store/shared::cta",
    "cp.async.bulk.wait_group;": "bulk.wait_group/operands",
    f"{COPY} [%r1], [%rd1], 1048576, [%r3];": "bulk.load/size",
    f"{COPY} [%r1], [%rd1], 24, [%r3];": "bulk.load/size",
    "st.bulk [%rd1], 4096, 1;": "bulk.zero/initval",
    "st.bulk [%rd1], 4, 0;": "bulk.zero/size",
    "st.bulk.global [%rd1], 4096, 0;": "bulk.zero/ss",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_a_load_asks_for_every_lane_with_its_own_operands() -> None:
    warps = Recorder()
    size = lanes(64)
    i = bound(dst="shared::cluster", srcMem=lanes(np.arange(32) * 64, np.uint64), dstMem=lanes(512, np.uint64))
    i.size, i.mbar, i.ctaMask = size, lanes(8, np.uint64), lanes(5)
    request = bulk.load(warps, i)
    size[:] = 0  # registers change after the instruction
    assert (request.bytes == 64).all()
    assert request.source[1, 3] == 192
    assert request.multicast.dtype == np.uint16
    assert (request.multicast == 5).all()
    assert (request.source_space, request.destination_space) == ("global", "shared::cluster")
    assert request.completion == "mbarrier"


def test_a_store_joins_the_open_group() -> None:
    warps = Recorder()
    i = bound(srcMem=lanes(0, np.uint64), dstMem=lanes(0, np.uint64), size=lanes(16), byteMask=None)
    request = bulk.store(warps, i)
    assert (request.completion, request.mbarrier, request.reduction) == ("group", None, "")
    request = bulk.reduce(warps, bound(**vars(i), redOp="add", type="f32"))
    assert (request.reduction, request.type) == ("add", "f32")


def test_a_wait_for_reads_is_told_from_a_wait_for_writes() -> None:
    warps = Recorder()
    wait_group = bulk.WAIT_GROUP.execution
    assert wait_group is not None
    wait_group(warps, bound(N=1, read="read"))
    wait_group(warps, bound(N=0, read=""))
    assert warps.events == [("wait", "bulk", 1, True), ("wait", "bulk", 0, False)]


def test_a_bulk_store_clears_as_many_bytes_as_each_lane_says() -> None:
    active = np.zeros((2, 32), np.bool_)
    active[0, :2] = True
    warps = Recorder(active)
    warps.memory[:] = 7
    where, size = lanes(0, np.uint64), lanes(0, np.uint64)
    where[0, :2], size[0, :2] = (16, 128), (8, 64)
    bulk.zero(warps, bound(ss="shared::cta", a=where, size=size))
    cleared = np.flatnonzero(warps.memory == 0).tolist()
    assert cleared == [*range(16, 24), *range(128, 192)]
