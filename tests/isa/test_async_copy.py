from __future__ import annotations

import numpy as np
import pytest
from isa.binding import binding, legality_tests
from isa.recorder import Recorder, bound, lanes

from warploom.emulator.warps import execute_thread_copy
from warploom.isa.instructions import async_copy
from warploom.isa.model.records import ThreadCopy

LEGAL = {
    "cp.async.ca.shared.global [%r1], [%rd1], 4;": "async_copy.cp_async",
    "cp.async.cg.shared.global [%r1+16], [%rd1+32], 0x10, %r2;": "async_copy.cp_async",
    "cp.async.ca.shared::cta.global.L2::cache_hint.L2::128B [%r1], [%rd1], 8, %r2, %rd2;": "async_copy.cp_async",
    "cp.async.cg.shared.global [%r1], [%rd1], 16, %p1;": "async_copy.cp_async",
    "cp.async.commit_group;": "async_copy.commit_group",
    "cp.async.wait_group 3;": "async_copy.wait_group",
    "cp.async.wait_all;": "async_copy.wait_all",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1];": "async_copy.mbarrier_arrive",
}

REFUSED = {
    "cp.async.cg.shared.global [%r1], [%rd1], 8;": "async_copy.cp_async/cp_size",
    "cp.async.ca.shared.global [%r1], [%rd1], 2;": "async_copy.cp_async/cp_size",
    "cp.async.cg.global.shared [%rd1], [%r1], 16;": "async_copy.cp_async/shared_space",
    "cp.async.wait_group %r1;": "async_copy.wait_group/N",
    "cp.async.ca.shared.global [%r1], [%rd1], 8, 9;": "async_copy.cp_async/src_size",
    "cp.async.ca.shared.global.L2::32B [%r1], [%rd1], 8;": "async_copy.cp_async/level::prefetch_size",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_a_cache_policy_is_not_a_source_size() -> None:
    bare = binding("cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 8, %rd2;")
    assert set(bare.operands) == {"dst", "src", "cp_size", "cache_policy"}


@pytest.mark.parametrize("amount", [0, 1, 5, 8, 200])
def test_what_is_not_read_is_zero(amount: int) -> None:
    one = np.zeros((2, 32), np.bool_)
    one[1, 3] = True
    warps = Recorder(one)
    warps.memory[:] = np.arange(1, 257) % 255 + 1
    before = warps.memory.copy()
    i = bound(cp_size=8, src=lanes(16, np.uint64), dst=lanes(64, np.uint64), src_size=lanes(amount))
    execute(warps, async_copy.copy(warps, i))
    read = min(amount, 8)
    assert warps.memory[64:72].tolist() == before[16 : 16 + read].tolist() + [0] * (8 - read)
    assert (warps.memory[:64] == before[:64]).all()
    assert (warps.memory[72:] == before[72:]).all()


@pytest.mark.parametrize("ignored", [False, True])
def test_a_predicate_ignores_the_source(ignored: bool) -> None:
    warps = Recorder()
    warps.memory[:16] = 9
    i = bound(cp_size=16, src=lanes(0, np.uint64), dst=lanes(32, np.uint64), src_size=lanes(ignored, np.bool_))
    execute(warps, async_copy.copy(warps, i))
    assert (warps.memory[32:48] == (0 if ignored else 9)).all()


def test_operands_are_kept_from_later_writes() -> None:
    warps = Recorder()
    warps.memory[:4] = 7
    source = lanes(0, np.uint64)
    record = async_copy.copy(warps, bound(cp_size=4, src=source, dst=lanes(32, np.uint64), src_size=None))
    source[:] = 100
    execute(warps, record)
    assert (warps.memory[32:36] == 7).all()


def execute(warps: Recorder, record: ThreadCopy) -> None:
    captured = {"source": record.source, "destination": record.destination, "amount": record.amount}
    execute_thread_copy(record.size, warps, captured)


@pytest.mark.parametrize(("noinc", "first"), [("", ["mbarrier", "defer"]), ("noinc", ["defer"])])
def test_an_arrival_is_expected_unless_told_otherwise(noinc: str, first: list[str]) -> None:
    warps = Recorder()
    async_copy.arrive(warps, bound(noinc=noinc, space="shared", addr=lanes(8)))
    assert [event[0] for event in warps.events] == [*first, "mbarrier"]
    assert warps.events[-1][2:4] == ("arrive", 1)
