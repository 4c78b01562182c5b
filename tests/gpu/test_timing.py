"""Timing: lists of calls in turn, in graphs or between events, and what the GPU says of itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from gpu.nvidia import Fake, Status

import warploom as wl
from warploom.gpu import DeviceFault, Gpu, State, Timing, driver_release, measure, state


def test_graphs_are_recorded_once_and_replayed_in_turn(fake: Fake) -> None:
    made: list[str] = []
    calls = {name: [lambda stream, name=name: made.append(name)] * 2 for name in ("ours", "theirs")}
    with Gpu() as gpu:
        times = measure(gpu, calls, repetitions=3)
        assert "stream closed" not in fake.calls  # the next measurement is on it too
    warm, recorded = ["ours"] * 4 + ["theirs"] * 4, ["ours"] * 2 + ["theirs"] * 2
    assert made == warm + recorded  # two calls each, twice warm
    assert times == dict.fromkeys(calls, Timing((500.0,) * 3))  # a replay of two calls takes the clock 1 ms
    assert fake.calls.count("replay") == 2 * (1 + 3)
    assert fake.calls.count("stream closed") == 1


def test_by_events_the_host_makes_every_call(fake: Fake) -> None:
    made: list[int] = []

    def call(stream: Any) -> None:
        made.append(stream.handle)
        fake.clock += 2

    times = measure(Gpu(), {"ours": [call]}, repetitions=4, by="events")
    assert times["ours"].times == (2000.0,) * 4
    assert made == [21] * (2 + 1 + 4)
    assert "replay" not in fake.calls


def test_what_a_graph_cannot_hold_is_refused(fake: Fake) -> None:
    fake.fails["record"] = Status.INVALID_VALUE
    with pytest.raises(wl.UsageError) as error:
        measure(Gpu(), {"ours": [lambda stream: None]})
    (found,) = error.value.diagnostics
    assert found.code == "gpu.timing"
    assert found.message == ("the calls of ours cannot be recorded as a graph: an operation that a graph cannot hold")
    assert fake.calls[-1] == "recording given up"


def test_a_fault_among_the_calls_is_one(fake: Fake) -> None:
    fake.fails["synchronize"] = Status.ILLEGAL_ADDRESS
    with pytest.raises(DeviceFault, match="the GPU stopped a kernel: illegal address"):
        measure(Gpu(), {"ours": [lambda stream: None]})


@pytest.mark.parametrize(("calls", "options"), [({}, {}), ({"a": []}, {}), ({"a": [print]}, {"repetitions": 0})])
def test_calls_and_repetitions_are_required(fake: Fake, calls: dict[str, Any], options: dict[str, int]) -> None:
    with pytest.raises(wl.UsageError, match="nothing to time"):
        measure(Gpu(), calls, **options)


def test_a_timing_is_its_middle_and_its_spread() -> None:
    timing = Timing((5.0, 1.0, 2.0, 3.0, 4.0))
    assert timing.median == 3.0
    assert timing.spread == pytest.approx(2 / 3)


def test_a_gpu_says_how_it_is(fake: Fake) -> None:
    found = state(Gpu())
    assert found == State(1755, 3201, 512.3, None)
    assert str(found) == "SM 1755 MHz, memory 3201 MHz, power 512 W, temperature unknown"


def test_a_gpu_is_brought_to_work_and_given_rest(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    now, rests = iter(range(100)), list[float]()
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    monkeypatch.setattr("time.sleep", rests.append)
    made: list[str] = []
    calls = {name: [lambda stream, name=name: made.append(name)] for name in ("ours", "theirs")}
    measure(Gpu(), calls, repetitions=3, by="events", warm_up=3.5)
    assert len(made) == 2 * (2 + 1 + 3 + 3)  # warm, first, three times until the time is over, repetitions
    assert rests == []
    measure(Gpu(), calls, repetitions=3, by="events", pause=0.25)
    assert rests == [0.25] * 6


def test_the_driver_has_a_release(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver_release() == ""
    said = SimpleNamespace(get_kernel_mode_driver_version=lambda: (580, 159, 4))
    monkeypatch.setattr("warploom.gpu.timing.package", {"cuda.core.system": said}.__getitem__)
    assert driver_release() == "580.159.04"
