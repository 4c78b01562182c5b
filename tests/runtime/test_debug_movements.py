"""Movements of a debugger session forward: steps, breakpoints, focus and the ends of a launch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from runtime.debug_sessions import example, session_of

import warploom as wl
from warploom.emulator.batch import Batch
from warploom.emulator.blocks import names_in
from warploom.emulator.stops import Stops
from warploom.runtime.debugging.breakpoints import Breakpoint, Stop
from warploom.runtime.debugging.focus import Filter, Focus, Moment
from warploom.runtime.debugging.session import DebugSession

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
SCHEDULES = ("eager", "lazy", "random:1")


def opcode(session: object, stop: Stop) -> str:
    return session.program.steps[stop.pc].instruction.opcode  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", ["interpreter", "auto"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_steps_follow_the_thread_in_focus(schedule: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    session, out = session_of(LOOP, schedule=schedule)
    stop = session.start()
    assert (stop.reason, stop.number, stop.pc) == ("start", 0, 0)
    session.select(warp=0, lane=9)
    found = [stop]
    while found[-1].reason in ("start", "step"):
        found.append(session.step())
    words = [opcode(session, each) for each in found[:-1]]
    loop = ["add.u32", "setp.lt.u32", "bra"]
    assert words[words.index("add.u32") :] == [
        *loop, *loop, *loop, "setp.lt.u32", "bra", "add.u32", "st.global.u32", "bar.sync", "ret",
    ]  # fmt: skip
    assert found[-1].reason == "exit"
    moments = [(each.moment, each.number) for each in found]
    assert moments == sorted(set(moments))
    with pytest.raises(wl.UsageError, match="the thread in focus has left the kernel"):
        session.step()
    assert session.resume().reason == "end"
    assert session.resume().reason == "end"
    session.close()
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 8, 3, 13))


def test_breakpoints_count_hits_and_select_lanes() -> None:
    session, _ = session_of(LOOP)
    add = session.break_at("kind add", within=Filter(warps=(1,)), condition="%r1 == 2 and lane > 4", ignored=0)
    stop = session.resume()
    assert (stop.reason, stop.breakpoints) == ("breakpoint", (add.number,))
    assert [(each.warp, each.lanes) for each in stop.selected] == [(1, 0xFFFFFFE0)]
    assert {each.warp for each in stop.batch} == {0, 1}
    assert session.focus == Focus((0, 0, 0), 1, 5)
    session.delete(add.number)
    assert not session.breakpoints
    assert session.resume().reason == "end"


def test_ignored_temporary_logging_and_disabled_breakpoints() -> None:
    session, _ = session_of(LOOP)
    logged: list[Stop] = []
    session.break_at("L", log=logged.append)
    ignoring = session.break_at("kind add", ignored=2, temporary=True)
    disabled = session.break_at("kind exit")
    session.disable(disabled.number)
    stop = session.resume()
    assert stop.breakpoints == (ignoring.number,)
    assert ignoring.count(stop.moment) == 3
    assert [each.pc for each in logged] == [stop.pc] * 3
    assert logged[-1].number == stop.number
    session.enable(disabled.number)
    stop = session.resume()
    assert stop.breakpoints == (disabled.number,)
    assert [each.number for each in session.breakpoints] == [1, 3]
    with pytest.raises(wl.UsageError, match="no breakpoint 2; known: 1, 3"):
        session.delete(2)


def test_a_count_of_stops_and_of_hits_to_ignore() -> None:
    session, _ = session_of(LOOP)
    found = session.break_at("L")
    stop = session.resume(2)
    assert found.count(stop.moment) == 2
    session.ignore(found.number, 1)
    assert session.resume().reason == "end"
    assert len(found.hits) == 3
    with pytest.raises(wl.UsageError, match="the count is 0"):
        session.resume(0)


CALLS = """.version 8.6
.target sm_90a
.address_size 64
.func (.reg .u32 r) inner(.reg .u32 a) { add.u32 r, a, 1; ret; }
.func (.reg .u32 r) outer(.reg .u32 a) { call (r), inner, (a); add.u32 r, r, 1; ret; }
.visible .entry k(.param .u64 p) {
.reg .u32 %r<4>; .reg .u64 %rd<2>;
ld.param.u64 %rd0, [p];
mov.u32 %r0, 5;
call (%r1), outer, (%r0);
st.global.u32 [%rd0], %r1;
ret;
}
"""


def test_steps_enter_functions_and_next_does_not() -> None:
    session, out = session_of("", 1, block=1, text=CALLS)
    session.until("kind call")
    stop = session.next()
    assert opcode(session, stop) == "st.global.u32"
    session, out = session_of("", 1, block=1, text=CALLS)
    session.until("kind call")
    outer, inner = session.step(), session.step()
    functions = [session.program.steps[each.pc].function for each in (outer, inner)]
    assert functions == ["outer", "inner"]
    assert session.next().pc == inner.pc + 1
    back = session.finish()
    assert session.program.steps[back.pc].function == "outer"
    assert opcode(session, session.finish()) == "st.global.u32"
    with pytest.raises(wl.UsageError, match="no open call"):
        session.finish()
    session.close()
    assert out[0] == 7


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_steps_to_barriers_in_an_example(schedule: str) -> None:
    session = example("gemm_warp_specialised.toml", schedule)
    session.start()
    found = [session.step("barrier") for _ in range(12)]
    assert all(session.program.steps[each.pc].binding.form.suspends for each in found if each.reason == "step")
    # A wait that is repeated is one step.
    assert all(before.pc != after.pc or before.number + 1 < after.number for before, after in pairwise(found))
    assert session.focus == Focus((0, 0, 0), 0)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_steps_by_line_stay_in_the_thread(schedule: str) -> None:
    session = example("gemm_warp_specialised.toml", schedule)
    session.start()
    session.select(warp=4, lane=3)
    before = session.program.source_line(session.start().pc)
    for _ in range(20):
        stop = session.step("line")
        if stop.reason != "step":
            break
        line = session.program.source_line(stop.pc)
        assert line is None or before is None or (line.file, line.line) != (before.file, before.line)
        before = line
        assert any(each.cta == (0, 0, 0) and each.warp == 4 and each.lanes >> 3 & 1 for each in stop.batch)


def test_traps_and_deadlocks_end_a_movement() -> None:
    session, _ = session_of("ld.global.u32 %r1, [%rd1+4096];\nret;")
    stop = session.resume()
    assert (stop.reason, type(stop.error)) == ("trap", wl.Trap)
    session, _ = session_of("setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 1, 64;\nret;")
    stop = session.resume()
    assert (stop.reason, type(stop.error)) == ("deadlock", wl.Deadlock)
    assert stop.pc == -1


def test_what_movements_refuse() -> None:
    session, _ = session_of(LOOP)
    for wrong, message in (
        (lambda: session.step("minute"), "unknown unit 'minute'"),
        (lambda: session.select(warp=2), "the warp is 2; expected 0 to 1"),
        (lambda: session.select(lane=32), "the lane is 32"),
        (lambda: session.select(cta=(1, 0, 0)), r"no CTA \(1, 0, 0\)"),
        (lambda: session.break_at("nowhere"), "unknown label"),
        (lambda: session.break_at("pc 99"), "no instruction 99"),
    ):
        with pytest.raises(wl.UsageError, match=message):
            wrong()


def test_a_request_of_another_thread_ends_a_movement() -> None:
    session, _ = session_of("L:\nld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;")
    session.break_at("L", log=lambda stop: session.interrupt())
    assert session.resume().reason == "interrupt"


class Search(Stops):
    """Moments at which a breakpoint selects lanes. All registers are written before each comparison."""

    def __init__(self, session: DebugSession, breakpoint: Breakpoint) -> None:
        self.pcs, self.found = breakpoint.pcs, list[Moment]()
        self._session, self._breakpoint = session, breakpoint

    def reached(self, pc: int, batch: Batch) -> bool:
        emulator, chosen = self._session.state, self._breakpoint
        emulator.flush()
        lanes = chosen.within.select(batch)
        if chosen.condition is not None:
            lanes &= chosen.condition.lanes(batch)
        if lanes.any():
            self.found.append(Moment(self._session.waves.number, emulator.state.counters.batches, pc))
        return False


@pytest.mark.parametrize(
    ("condition", "warps"),
    [("", (7,)), ("", (1,)), ("lane == 32", ()), ("{0} > 0.5 and lane == 3", ()), ("{0} != {0}", ())],
)
@pytest.mark.parametrize("schedule", ["eager", "random:1"])
def test_a_breakpoint_at_adjacent_multiplications_is_hit_where_it_selects_lanes(
    schedule: str, condition: str, warps: tuple[int, ...]
) -> None:
    """Batches that a breakpoint does not select execute the multiplications together."""
    session, searched = (example("gemm_warp_specialised.toml", schedule) for _ in range(2))
    operands = next(step.instruction.operands for step in session.program.steps if step.binding.form.multiplies)
    text = condition.format(next(names_in(operands[0])))
    added = session.break_at("kind multiply", within=Filter(warps=warps), condition=text)
    search = Search(searched, added)
    searched.run(search)
    found: list[Moment] = []
    while (stop := session.resume()).reason == "breakpoint":
        found.append(stop.moment)
    assert found == search.found
    assert bool(found) == (warps == (1,) or ">" in condition)


def test_native_code_executes_multiplications_again_after_a_breakpoint_is_deleted() -> None:
    session = example("gemm_warp_specialised.toml", "eager")
    session.start()
    native = session.state.native
    assert native is not None
    session.goto("end")
    before = native.code["function"].copy()
    steps = session.program.steps
    inner = next(pc for pc, step in enumerate(steps) if step.binding.form.multiplies) + 1
    session.goto("start")
    added = session.break_at(f"pc {inner}")
    assert session.resume().pc == inner
    assert (native.code["function"][inner - 1 : inner + 1] == 0).all()
    session.delete(added.number)
    session.goto("end")
    assert (native.code["function"] == before).all()
