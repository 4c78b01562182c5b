from __future__ import annotations

from isa.binding import binding, legality_tests

LEGAL = {
    "bar.sync 0;": "barrier.sync",
    "bar.cta.sync %r1, 128;": "barrier.sync",
    "barrier.sync.aligned 1, %r1;": "barrier.sync",
    "bar.arrive 1, 64;": "barrier.arrive",
    "bar.red.popc.u32 %r1, 0, !%p1;": "barrier.red",
    "barrier.cta.red.and.aligned.pred %p1, 0, 64, %p2;": "barrier.red",
    "barrier.cluster.arrive;": "barrier.cluster_arrive",
    "barrier.cluster.arrive.relaxed.aligned;": "barrier.cluster_arrive",
    "barrier.cluster.wait.acquire.aligned;": "barrier.cluster_wait",
    "fence.acq_rel.cluster;": "barrier.fence",
    "fence.sc.gpu;": "barrier.fence",
    "fence.mbarrier_init.release.cluster;": "barrier.fence_restricted",
    "fence.acquire.sync_restrict::shared::cluster.cluster;": "barrier.fence_restricted",
    "fence.proxy.alias;": "barrier.fence_proxy",
    "fence.proxy.async.shared::cta;": "barrier.fence_proxy",
    "fence.proxy.tensormap::generic.release.gpu;": "barrier.fence_proxy_release",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;": "barrier.fence_proxy_release",
    "fence.proxy.tensormap::generic.acquire.sys [%rd1], 128;": "barrier.fence_proxy_acquire",
    "membar.gl;": "barrier.membar",
    "membar.proxy.alias;": "barrier.membar_proxy",
}

REFUSED = {
    "bar.sync.aligned 0;": "barrier.sync/aligned",
    "bar.arrive 1;": "barrier.arrive/operands",
    "bar.red.popc.pred %p1, 0, %p2;": "barrier.red/type",
    "barrier.cluster.arrive.acquire;": "barrier.cluster_arrive/sem",
    "fence.mbarrier_init.acquire.cluster;": "barrier.fence_restricted/sem",
    "fence.mbarrier_init.release.gpu;": "barrier.fence_restricted/scope",
    "fence.proxy.tensormap::generic.acquire.gpu;": "barrier.fence_proxy_acquire/operands",
    "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;": "barrier.fence_proxy_acquire/size",
    "membar.gpu;": "barrier.membar/level",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_the_thread_count_of_a_reduction_is_optional() -> None:
    assert set(binding("bar.red.popc.u32 %r1, 0, %p1;").operands) == {"d", "a", "c"}
    assert set(binding("bar.red.popc.u32 %r1, 0, 64, %p1;").operands) == {"d", "a", "b", "c"}
