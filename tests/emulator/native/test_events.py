"""Native code and the interpreter create the same events, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulator.native.event_log import AccessLog, EventLog, contents
from emulator.native.random_programs import WORDS, programs
from hypothesis import HealthCheck, given, settings
from observe.sanitize.launches import LAUNCHES

import warploom as wl
from warploom.emulator.events import Access, Launch
from warploom.emulator.native.actions import READS


def check(launch: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, log: type[EventLog] = EventLog) -> None:
    """Compare the events of a launch with the option `profile` on both engines."""
    logs: list[list[tuple[Any, ...]]] = []
    for engine in ("interpreter", "compiler"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        observers: list[EventLog] = []

        def make(observers: list[EventLog] = observers) -> EventLog:
            observers.append(log())
            return observers[-1]

        monkeypatch.setattr("warploom.observe.profile.Profiler", make)
        launch()
        logs.append(observers[0].entries)
    expected, found = logs
    for number, (one, other) in enumerate(zip(expected, found, strict=False)):
        assert other == one, f"event {number}"
    assert len(found) == len(expected)


@pytest.mark.parametrize("log", [EventLog, AccessLog])
@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_events_of_kernels(name: str, log: type[EventLog], monkeypatch: pytest.MonkeyPatch) -> None:
    check(lambda: LAUNCHES[name].run(profile=True), monkeypatch, log)


LOOP = """
.version 8.6
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .shared .b32 s[128];
    mov.u32 %r0, %tid.x;
    ld.param.u64 %rd0, [data];
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r0, 4, %rd0;
    mov.u32 %r1, s;
    mad.lo.u32 %r1, %r0, 4, %r1;
    st.shared.u32 [%r1], %r0;
    mov.u32 %r2, 0;
loop:
    ld.global.u32 %r3, [%rd2];
    ld.shared.u32 %r4, [%r1];
    add.u32 %r5, %r3, %r4;
    add.u64 %rd2, %rd2, 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 40;
    @%p bra loop;
    mad.wide.u32 %rd3, %r0, 4, %rd1;
    st.global.u32 [%rd3], %r5;
    ret;
}
"""


GUARDED = """
.version 8.6
.target sm_90a
.visible .entry k(.param .u64 data) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .reg .pred %p<2>;
    ld.param.u64 %rd0, [data];
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 99;
    @%p0 setp.lt.u32 %p1, %r0, 99;
    ld.global.u32 %r1, [%rd0];
    @%p1 ld.global.u32 %r1, [%rd0+512];
    @%p1 st.global.u32 [%rd0+1024], %r1;
    ret;
}
"""


class GuardLog(AccessLog):
    """Observer that also keeps the events of guards."""

    def attach(self, launch: Launch) -> None:
        super().attach(launch)
        self.guards = dict.fromkeys(
            range(len(launch.program.steps)), lambda event: self.entries.append(contents(event))
        )


def test_a_guarded_access_after_a_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """The accesses of an instruction with an event for its guard are not those of the load before it."""
    data = np.zeros(512, np.uint32)
    check(lambda: wl.launch(GUARDED, grid=1, block=64, args=[data], profile=True), monkeypatch, GuardLog)


def test_more_reads_than_one_event_has(monkeypatch: pytest.MonkeyPatch) -> None:
    data, out = np.arange(256, dtype=np.uint32), np.zeros(128, np.uint32)
    assert READS < 2 * 40 * 64
    check(lambda: wl.launch(LOOP, grid=16, block=128, args=[data, out], profile=True), monkeypatch, AccessLog)


@pytest.mark.parametrize("schedule", ["lazy", "random:1"])
@pytest.mark.parametrize("name", ["cp_async_mma", "message_passing", "reduction", "st_async_ring"])
def test_events_under_other_schedules(name: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(lambda: LAUNCHES[name].run(profile=True, schedule=schedule), monkeypatch)


@pytest.mark.parametrize("option", ["profile", "trace"])
def test_native_code_executes_observed_instructions(option: str) -> None:
    LAUNCHES["cp_async_mma"].run()  # with an empty cache, this launch compiles the arithmetic of the multiplications
    plain, observed = (LAUNCHES["cp_async_mma"].run(**options)[0] for options in ({}, {option: True}))
    interpreted = [{each.pc for each in run.stats.times.instructions} for run in (plain, observed)]
    assert interpreted[1] == interpreted[0]


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
def test_an_error_of_an_observer_ends_the_launch(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(event: Access) -> None:
        raise RuntimeError(f"the access at {event.pc}")

    class Failing(EventLog):
        def attach(self, launch: Launch) -> None:
            self.handlers = {Access: fail}

    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    monkeypatch.setattr("warploom.observe.profile.Profiler", Failing)
    with pytest.raises(RuntimeError, match="the access at"):
        LAUNCHES["reduction"].run(profile=True)


@settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, max_examples=20)
@given(text=programs())
def test_events_of_random_programs(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    def launch(schedule: str) -> None:
        data = np.random.default_rng(0).integers(0, 1 << 32, WORDS, dtype=np.uint32)
        out = np.zeros((2 * 80, 8), np.uint32)
        wl.launch(text, grid=2, block=80, args=[data, out], schedule=schedule, profile=True, raises=False)

    for schedule in ("eager", "random:1"):
        for log in (EventLog, AccessLog):
            check(lambda schedule=schedule: launch(schedule), monkeypatch, log)
