"""Native code and the interpreter create the same events, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulator.native.event_log import EventLog
from emulator.native.random_programs import WORDS, programs
from hypothesis import HealthCheck, given, settings
from observe.sanitize.launches import LAUNCHES

import warploom as wl
from warploom.emulator.events import Access, Launch


def check(launch: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the events of a launch with the option `profile` on both engines."""
    logs: list[list[tuple[Any, ...]]] = []
    for engine in ("interpreter", "compiler"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        observers: list[EventLog] = []

        def make(observers: list[EventLog] = observers) -> EventLog:
            observers.append(EventLog())
            return observers[-1]

        monkeypatch.setattr("warploom.observe.profile.Profiler", make)
        launch()
        logs.append(observers[0].entries)
    expected, found = logs
    for number, (one, other) in enumerate(zip(expected, found, strict=False)):
        assert other == one, f"event {number}"
    assert len(found) == len(expected)


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_events_of_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(lambda: LAUNCHES[name].run(profile=True), monkeypatch)


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
        check(lambda schedule=schedule: launch(schedule), monkeypatch)
