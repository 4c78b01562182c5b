"""Events that suspended warps wait for, and operations in flight, in launches that stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from observe.debug.stopped import stopped, stopped_example

from warploom.emulator.emulator import Emulator
from warploom.emulator.mbarriers import MbarrierState
from warploom.emulator.program import Program
from warploom.emulator.waiting import InFlight, in_flight
from warploom.emulator.warp_splits import Event, Status
from warploom.observe.debug.lines import LineIndex

HEADER = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 data) .maxntid 128, 1, 1 .maxnreg 128
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>;
    .shared .align 16 .b8 area[4096]; .shared .b64 bar;
    ld.param.u64 %rd0, [data];
    mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r2, area;
    setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r1, 0;
    @%p0 mbarrier.init.shared.b64 [bar], 2;
    bar.sync 1;
"""
END = "\nret;\nLAST:\nmov.u32 %r8, 1;\nret;\n}\n"


def at_last(program: Program) -> Sequence[int]:
    return program.analysis(LineIndex).at_label("LAST")


def stop(body: str, **options: Any) -> Emulator:
    """Return the emulator of four warps, when one of them is at the label LAST."""
    return stopped(HEADER + body + END, at_last, args=[np.zeros(1024, np.uint32)], block=128, **options)


def waits(emulator: Emulator) -> dict[int, tuple[int, str]]:
    """Return the line and the kind of the event for each warp that waits."""
    splits = emulator.state.splits
    found = {slot: emulator.waiting.of(slot) for slot in range(len(splits.warp))}
    return {
        int(splits.warp[slot]): (emulator.program.line_of(wait[0]), wait[1].kind)
        for slot, wait in found.items() if wait is not None
    }  # fmt: skip


def line_of(body: str, text: str) -> int:
    lines = (HEADER + body).splitlines()
    return next(number for number, each in enumerate(lines, 1) if text in each)


@pytest.mark.parametrize(
    ("text", "opcode", "kind"),
    [
        ("bar.sync 0;", "bar.sync 0", "barrier"),
        ("AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra AGAIN;", "try_wait", "mbarrier"),
        ("setmaxnreg.inc.sync.aligned.u32 232;", "setmaxnreg", "registers"),
        ("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "cluster.wait", "cluster barrier"),
        ("wgmma.fence.sync.aligned;", "wgmma.fence", "warps"),
    ],
)
def test_other_warps_wait_while_warp_0_runs(text: str, opcode: str, kind: str) -> None:
    body = f"@%p1 bra LAST;\n{text}"
    assert waits(stop(body)) == dict.fromkeys((1, 2, 3), (line_of(body, opcode), kind))


def test_other_lanes_wait_while_thread_0_runs() -> None:
    body = "@%p0 bra LAST;\n@!%p1 bra END;\nbar.warp.sync 0xFFFFFFFF;\nEND:"
    assert waits(stop(body)) == {0: (line_of(body, "bar.warp.sync"), "lanes")}


def test_a_wait_for_other_grids() -> None:
    emulator = stop("@%p1 bra LAST;\nbar.sync 0;")
    splits = emulator.state.splits
    (slot,) = np.flatnonzero((emulator.topology.warp_in_cta == 2)[: len(splits.warp)])
    splits.awaited[slot] = Event.GRID
    assert waits(emulator)[2][1] == "grid"


def test_a_warp_that_runs_or_has_ended_does_not_wait() -> None:
    emulator = stop("@!%p1 bra END;\nmov.u32 %r3, 0;\nbra LAST;\nEND:")
    assert waits(emulator) == {}
    assert (emulator.state.splits.status == Status.DONE).sum() == 3


# Operations in flight -------------------------------------------------------------------------------------

COPIES = """
cp.async.ca.shared.global [%r2], [%rd0], 16;
cp.async.commit_group;
cp.async.ca.shared.global [%r2+16], [%rd0+16], 16;
@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0+64], [%r2+64], 32;
@%p0 cp.async.bulk.commit_group;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;
@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+128], [%rd0+128], 48, [bar];
bra LAST;"""


def test_copies_in_flight() -> None:
    emulator = stop(COPIES, schedule="lazy")
    warps = tuple(np.argsort(emulator.topology.warp_in_cta).tolist())
    line = line_of(COPIES, "cp.async.ca")
    place, (bar,) = emulator.program.line_of, emulator.mbarriers.used()
    found = in_flight(emulator.asynchronous)
    parts = [(each.kind, place(each.pc) - line, each.warps, each.lane) for each in found]
    assert parts == [
        ("copy", 0, warps, -1), ("copy", 2, warps, -1), ("bulk", 3, (0,), 0), ("bulk", 6, (0,), 0),
    ]  # fmt: skip
    assert [(each.group, each.is_committed) for each in found] == [(0, True), (1, False), (0, True), (-1, False)]
    assert [each.bytes for each in found] == [0, 0, 32, 48]
    assert [each.mbarrier for each in found] == [-1, -1, -1, emulator.memory.shared.address(8 * bar)]
    assert emulator.mbarriers.describe(bar).state[2:] == (("arrivals", 1), ("bytes", 48))


def test_the_words_of_mbarriers() -> None:
    word = 1 << 63 | 1 << 61 | (2**21 - 48) << 40 | 2 << 20 | 3
    assert MbarrierState.decode(word) == MbarrierState(True, 1, 3, 2, -48)
    assert not MbarrierState.decode(0).is_initialised


def test_nothing_is_in_flight_under_the_eager_schedule() -> None:
    assert in_flight(stop(COPIES).asynchronous) == []


def test_a_remote_store_in_flight() -> None:
    body = "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], 7, [bar];\nbra LAST;"
    emulator = stop(f"@!%p0 bra LAST;\n{body}", schedule="lazy", cluster=(1, 1, 1))
    (found,) = in_flight(emulator.asynchronous)
    assert (found.kind, found.warps, found.group) == ("remote", (0,), -1)


def test_multiplications_and_tensor_copies_in_flight() -> None:
    def after_products(program: Program) -> list[int]:
        index = program.analysis(LineIndex)
        return [pc for pc in index.of_kind("wait") if pc > index.of_kind("multiply")[0]][:1]

    emulator, _ = stopped_example("gemm_warp_specialised.toml", after_products, schedule="lazy")
    found: dict[str, list[InFlight]] = {}
    for each in in_flight(emulator.asynchronous):
        found.setdefault(each.kind, []).append(each)
    assert found.keys() == {"multiplication", "bulk"}
    assert {each.is_committed for each in found["multiplication"]} == {True}
    assert {each.warps for each in found["multiplication"]} == {(0, 1, 2, 3)}
    assert {each.bytes for each in found["bulk"]} == {128 * 64 * 2}
    lacking = {each.mbarrier: 0 for each in found["bulk"]}
    for each in found["bulk"]:
        lacking[each.mbarrier] += each.bytes
    for address, size in lacking.items():
        state = emulator.mbarriers.describe((address - emulator.memory.shared.address(0)) // 8).state
        assert dict(state)["bytes"] == size
