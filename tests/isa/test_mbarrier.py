from __future__ import annotations

from isa.binding import binding, legality_tests
from isa.recorder import Recorder, bound, lanes

from warploom.isa.instructions import mbarrier

LEGAL = {
    "mbarrier.init.shared::cta.b64 [%r1], 1;": "mbarrier.init",
    "mbarrier.inval.b64 [%rd1];": "mbarrier.inval",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64;": "mbarrier.transactions",
    "mbarrier.complete_tx.shared::cluster.b64 [%r1], 64;": "mbarrier.transactions",
    "mbarrier.arrive.shared.b64 _, [%r1];": "mbarrier.arrive",
    "mbarrier.arrive_drop.release.cta.shared::cta.b64 %rd1, [%r1], 3;": "mbarrier.arrive_count",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];": "mbarrier.arrive_remote",
    "mbarrier.arrive.noComplete.b64 %rd1, [%rd2], 2;": "mbarrier.arrive_no_complete",
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 4096;": "mbarrier.arrive_expect_tx",
    "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r1], %r2;": "mbarrier.arrive_expect_tx_remote",
    "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;": "mbarrier.test_wait",
    "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], %r2, 1000;": "mbarrier.try_wait",
    "mbarrier.pending_count.b64 %r1, %rd1;": "mbarrier.pending_count",
}

REFUSED = {
    "mbarrier.init.shared::cluster.b64 [%r1], 1;": "mbarrier.init/space",
    "mbarrier.arrive.cluster.shared::cluster.b64 _, [%r1];": "mbarrier.arrive_remote/sem",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 %rd1, [%r1];": "mbarrier.arrive_remote/_",
    "mbarrier.arrive.noComplete.b64 %rd1, [%rd2];": "mbarrier.arrive_no_complete/operands",
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r1];": "mbarrier.arrive_expect_tx/operands",
    "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2, 1000;": "mbarrier.test_wait/operands",
    "mbarrier.try_wait.parity.release.cta.shared.b64 %p1, [%r1], %r2;": "mbarrier.try_wait/sem",
    "mbarrier.try_wait.parity.shared.b32 %p1, [%r1], %r2;": "mbarrier.try_wait/b64",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_a_phase_is_a_state_or_a_parity() -> None:
    assert binding("mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1;").operands["phase"].type == "u64"
    assert binding("mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;").operands["phase"].type == "u32"


def test_only_try_wait_may_suspend() -> None:
    assert binding("mbarrier.try_wait.b64 %p1, [%r1], %rd1;").form.suspends
    assert not binding("mbarrier.test_wait.b64 %p1, [%r1], %rd1;").form.suspends
    for op, blocking in (("try_wait", True), ("test_wait", False)):
        warps = Recorder()
        i = bound(op=op, parity="parity", space="shared", addr=lanes(8), phase=lanes(1), waitComplete="p")
        mbarrier.wait(warps, i)
        assert warps.events == [("wait", "shared", {"parity": True, "blocking": blocking, "result": "p"})]


def test_a_remote_arrival_writes_no_state() -> None:
    warps = Recorder()
    mbarrier.arrive(warps, bound(op="arrive", space="shared::cluster", addr=lanes(8), count=None))
    assert warps.events == [("mbarrier", "shared::cluster", "arrive", 1, 0)]
    assert not warps.results
    mbarrier.arrive(warps, bound(op="arrive_drop", space="", addr=lanes(8), count=None, state="s"))
    assert (warps.results["s"] == 77).all()


def test_expecting_and_arriving_are_one_action() -> None:
    warps = Recorder()
    mbarrier.arrive_expect(warps, bound(op="arrive", space="shared", addr=lanes(8), txCount=64, state="s"))
    assert warps.events == [("mbarrier", "shared", "arrive", 1, 64)]
