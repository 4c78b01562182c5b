"""Movements of a debugger session backward, and watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from emulator.texts import kernel
from runtime.debug_sessions import example, session_of

import warploom as wl
from warploom.emulator.batch import Batch
from warploom.runtime.debugging import history
from warploom.runtime.debugging.breakpoints import Stop
from warploom.runtime.debugging.execution import Passive
from warploom.runtime.debugging.focus import Filter, Moment
from warploom.runtime.debugging.session import DebugSession

SCHEDULES = ("eager", "lazy", "random:1")
ENGINES = ("interpreter", "auto")
EXAMPLES = ("gemm_mma_sync.toml", "gemm_warp_specialised.toml")
SMALL = (2, 1, 1)  # grid of these examples in slow tests
LOOP = """
mov.u32 %r1, 0;
L:
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 3;
@%p1 bra L;
setp.lt.u32 %p1, %r0, 8;
@%p1 bra M;
add.u32 %r1, %r1, 10;
M:
st.global.u32 [%rd1], %r1;
bar.sync 0;
ret;
"""


@pytest.fixture(autouse=True)
def dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take snapshots often."""
    monkeypatch.setattr(history, "SPACING", 0.005)
    monkeypatch.setattr(history, "_SHARE", 0)


def digest(session: DebugSession) -> tuple[Any, ...]:
    """Return a value for the whole state of a stopped session."""
    emulator, block = session.state, session.state.interrupted
    emulator.flush()
    counters, splits = emulator.state.counters, emulator.state.splits
    arrays = [
        *emulator.state.files.values(),
        emulator.memory.shared.bytes,
        emulator.arena.bytes,
        splits.pc,
        splits.bits,
    ]
    total = 0
    for array in arrays:
        total = crc32(np.ascontiguousarray(array).tobytes(), total)
    rows = () if block is None else tuple(block.rows.tolist())
    return session.moment, counters.batches, counters.positions, emulator.grid.ticks, rows, total


class Sampled(Passive):
    """Moments of some instructions of a launch."""

    def __init__(self, session: DebugSession, every: int) -> None:
        self.pcs = frozenset(range(len(session.program.steps)))
        self.found: list[Moment] = []
        self._session, self._every, self._count = session, every, 0

    def reached(self, pc: int, batch: Batch) -> bool:
        self._count += 1
        if self._count % self._every == 0:
            self.found.append(Moment(self._session.waves.number, self._session.state.state.counters.batches, pc))
        return False


def moments(session: DebugSession, every: int) -> list[Moment]:
    session.start()
    sampled = Sampled(session, every)
    session.run(sampled)
    return sampled.found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_state_at_a_moment_is_that_of_a_run_forward(
    name: str, schedule: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    session = example(name, schedule, SMALL)
    found = moments(session, 37)
    found = found[:: max(len(found) // 6, 1)]
    forward = example(name, schedule, SMALL)
    states = []
    for moment in found:
        stop = forward.goto(moment)
        assert stop.moment == moment
        states.append((digest(forward), stop.number))
    for index in (*reversed(range(len(found))), 2, 0, 1):
        stop = session.goto(found[index])
        assert (digest(session), stop.number) == states[index]
        assert session.goto(stop.number).moment == stop.moment
    assert session.close().stats.spent == example(name, schedule, SMALL).close().stats.spent


@pytest.mark.parametrize("unit", ["instruction", "line", "barrier"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_step_backward_undoes_a_step(schedule: str, unit: str) -> None:
    session = example("gemm_warp_specialised.toml", schedule, SMALL)
    session.start()
    session.select(warp=4, lane=0)
    session.step(unit)
    found = [session.step(unit)]
    while len(found) < 10 and (stop := session.step(unit)).reason == "step":
        found.append(stop)
    session.goto(found[-1].moment)
    for expected in found[-2::-1]:
        stop = session.reverse_step(unit)
        assert (stop.moment, stop.number, stop.batch) == (expected.moment, expected.number, expected.batch)
    session.goto(found[-1].moment)
    assert session.reverse_step(unit, len(found) - 1).moment == found[0].moment


@pytest.mark.parametrize("schedule", ["eager"])
def test_hits_backward_are_those_forward(schedule: str) -> None:
    session = example("gemm_warp_specialised.toml", schedule)
    session.break_at("kind wait", within=Filter(ctas=((0, 0, 0),)), condition="lane == 0 and warp > 3")
    session.break_at("kind multiply", within=Filter(ctas=((1, 2, 0),), warps=(1,)))
    forward = stops(session.resume)[-8:]
    for expected in forward[::-1]:
        assert stops(session.reverse_resume, "start", 1) == [expected]
    session.goto("end")
    assert session.reverse_resume(3).moment == forward[-3][0]


def stops(move: Callable[[], Stop], end: str = "end", most: int = 1000) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    while len(found) < most and (stop := move()).reason != end:
        changes = tuple((each.watch, each.old, each.new, each.pc) for each in stop.changes)
        found.append((stop.moment, stop.number, stop.reason, stop.breakpoints, changes))
    return found


def test_functions_backward() -> None:
    text = (
        kernel("").split(".visible")[0]
        + """
.func (.reg .u32 r) inner(.reg .u32 a) { add.u32 r, a, 1; ret; }
.visible .entry k(.param .u64 p) {
.reg .u32 %r<4>; .reg .u64 %rd<2>;
ld.param.u64 %rd0, [p];
mov.u32 %r0, 5;
call (%r1), inner, (%r0);
call (%r1), inner, (%r1);
st.global.u32 [%rd0], %r1;
ret;
}
"""
    )
    session, _ = session_of("", 1, block=1, text=text)
    session.until("kind st")
    after = session.stop
    assert after is not None
    steps = [session.reverse_step().pc for _ in range(3)]
    inner = session.program.functions["inner"].entry
    assert steps == [inner + 1, inner, after.pc - 1]
    session.goto(after.moment)
    assert [session.reverse_next().pc for _ in range(3)] == [after.pc - 1, after.pc - 2, after.pc - 3]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_trap_leaves_the_state_before_the_instruction(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    session, _ = session_of("st.global.u32 [%rd1], %r0;\nadd.u32 %r1, %r0, 1;\nld.global.u32 %r1, [%rd1+4096];\nret;")
    stop = session.resume()
    assert (stop.reason, type(stop.error)) == ("trap", wl.Trap)
    assert session.program.steps[stop.pc].instruction.opcode == "ld.global.u32"
    assert {each.warp for each in stop.batch} == {0, 1}
    assert session.program.steps[session.reverse_step().pc].instruction.opcode == "add.u32"
    assert session.resume().moment == stop.moment
    with pytest.raises(wl.Trap):
        session.close()


def test_movements_backward_from_a_deadlock() -> None:
    session, _ = session_of("setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 1, 64;\nret;")
    assert session.resume().reason == "deadlock"
    assert session.program.steps[session.reverse_step().pc].instruction.opcode == "setp.lt.u32"
    assert session.reverse_resume().reason == "start"
    assert session.reverse_step().reason == "start"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_watches_find_each_change(schedule: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with a search that looks at the values before each instruction."""
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    session, _ = session_of(LOOP, schedule=schedule)
    session.start()
    session.select(warp=1, lane=9)
    register = session.watch("register", "%r1")
    address = session.state.arena.segments[0].start + 4 * 41
    memory = session.watch("global", address)
    forward = stops(session.resume)
    assert [each[4] for each in forward if each[4][0][0] == memory.number] == [
        ((memory.number, bytes(4), bytes([13, 0, 0, 0]), _pc(session, "st.global.u32")),)
    ]
    values = [int.from_bytes(each[4][0][2], "little") for each in forward if each[4][0][0] == register.number]
    assert values == [1, 2, 3, 13]
    searched = search(session, [register, memory])
    assert [each[0] for each in forward] == searched
    session.goto("end")
    assert stops(session.reverse_resume, "start") == forward[::-1]


def _pc(session: DebugSession, opcode: str) -> int:
    return next(pc for pc, step in enumerate(session.program.steps) if step.instruction.opcode == opcode)


def search(session: DebugSession, watches: list[Any]) -> list[Moment]:
    """Return the moments at which a value differs from that of the moment before."""

    class Every(Passive):
        pcs = frozenset(range(len(session.program.steps)))

        def reached(self, pc: int, batch: Batch) -> bool:
            return True

        def between_blocks(self) -> bool:
            return True

    session.goto("start")
    session.state.batches_per_call = 1
    found: list[Moment] = []
    old = [each.read(session.state, session.warp) for each in watches]
    while session.run(Every()):
        session.state.batches_per_call = 1
        new = [each.read(session.state, session.warp) for each in watches]
        if new != old:
            found.append(session.moment)
        old = new
    return found


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_watches_of_shared_memory_and_mbarriers_in_an_example(schedule: str) -> None:
    session = example("gemm_warp_specialised.toml", schedule)
    session.start()
    session.watch("shared", 1024, 4)
    forward = [session.resume() for _ in range(4)]
    assert all(each.reason == "watch" and each.changes[0].old != each.changes[0].new for each in forward[:2])
    session.goto(forward[2].moment)
    assert [session.reverse_resume().moment for _ in range(2)] == [forward[1].moment, forward[0].moment]


def test_what_needs_snapshots_is_refused_without_them() -> None:
    out = np.zeros(64, np.uint32)
    session, _ = session_of(LOOP, history=1)
    session.step()
    for move in (session.reverse_step, session.reverse_resume, lambda: session.goto("start")):
        with pytest.raises(wl.UsageError, match="cannot go back, because the launch does not fit into the history"):
            move()
    session, _ = session_of(LOOP, sanitize=True)
    session.step()
    with pytest.raises(wl.UsageError, match="cannot go back, because the launch has observers"):
        session.reverse_step()
    assert not out.any()


def test_snapshots_are_thinned_to_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first snapshot stays, the newest are dense, and each moment can still be reached."""
    monkeypatch.setattr(history, "SPACING", 0)
    session, _ = session_of(LOOP, schedule="random:1")
    expected = [session.start()]
    while (stop := session.step()).reason == "step":
        expected.append(stop)
    largest = max(each.nbytes for each in session.history.snapshots)
    thinned, _ = session_of(LOOP, schedule="random:1", history=10 * largest)
    thinned.goto("end")
    kept = thinned.history.snapshots
    assert sum(each.nbytes for each in kept) <= 10 * largest
    assert len(kept) < len(session.history.snapshots)
    assert not kept[0].is_resident
    numbers = [each.batches for each in kept]
    gaps = np.diff(numbers)
    assert gaps[1:].max() > gaps[-1]
    for each in expected[::-1]:
        assert thinned.goto(each.moment).number == each.number
