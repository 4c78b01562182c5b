"""The file that Perfetto reads."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from observe.sanitize.launches import LAUNCHES

import warploom as wl
from warploom.observe.trace import Trace, chrome

Event = dict[str, Any]


@pytest.fixture(scope="module", params=["warp_specialised", "multicast", "st_async_ring", "cp_async_mma"])
def trace(request: pytest.FixtureRequest) -> Trace:
    run, _ = LAUNCHES[request.param].run(schedule="lazy", trace=True)
    assert run.trace is not None
    return run.trace


@pytest.fixture(scope="module")
def events(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    path = tmp_path_factory.mktemp("trace") / "out.json"
    trace.save(path)
    assert [each.name for each in path.parent.iterdir()] == ["out.json"]
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["otherData"]["schedule"] == "lazy"
    return found["traceEvents"]


def slices(events: list[Event]) -> dict[tuple[int, int], list[Event]]:
    """The slices of every track, as the file has them."""
    tracks: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    return tracks


def test_events_are_what_the_format_knows(events: list[Event]) -> None:
    assert {event["ph"] for event in events} == {"M", "X", "s", "f"}
    for event in events:
        assert {"ph", "name", "pid", "tid", "ts"} <= event.keys()
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert event["ts"] >= 0
        assert event["ph"] != "X" or (event["dur"] >= 0 and event["cat"])
        assert event["ph"] not in "sf" or (event["id"] and event["cat"])
    times = [event["ts"] for event in events]
    assert times == sorted(times)


def test_tracks_have_names(trace: Trace, events: list[Event]) -> None:
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    named = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] != "M"}
    assert used == named.keys()
    assert {pid for pid, _ in used} == processes.keys()
    assert list(processes) == list(range(1, len(trace.ctas) + 1))
    assert all(("rank" in name) == (trace.cluster_size > 1) for name in processes.values())
    for pid in processes:
        own = [name for (of, _), name in named.items() if of == pid]
        assert len(own) == len(set(own))
        assert own[0] == "warp 0"
        assert {"copies", "tensor core"} & set(own)


def test_slices_of_a_track_nest(events: list[Event]) -> None:
    for track in slices(events).values():
        open_until: list[float] = []
        for event in track:
            while open_until and open_until[-1] <= event["ts"]:
                open_until.pop()
            end = event["ts"] + event["dur"]
            assert not open_until or end <= open_until[-1], event
            open_until.append(end)


def test_arrows_have_two_ends_and_each_is_in_a_slice(trace: Trace, events: list[Event]) -> None:
    tracks = slices(events)
    ends: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            ends[event["id"]].append(event)
            here = [e for e in tracks[event["pid"], event["tid"]] if e["ts"] <= event["ts"] < e["ts"] + e["dur"]]
            assert here, event
    assert len(ends) == len(trace.arrows) > 0
    for start, finish in ends.values():
        assert (start["ph"], finish["ph"], finish["bp"]) == ("s", "f", "e")
        assert start["name"] == finish["name"]
        assert start["ts"] < finish["ts"]


def test_phases_alternate(events: list[Event]) -> None:
    for track in slices(events).values():
        parities = [event["args"]["parity"] for event in track if event["cat"] == "phase"]
        assert all(one != other for one, other in pairwise(parities))


def test_a_slice_says_where_it_comes_from(trace: Trace, events: list[Event]) -> None:
    lines = set(trace.lines)
    for event in events:
        if event["ph"] == "X" and event["cat"] != "phase" and "args" in event:
            assert event["args"]["line"] in lines
    copies = [event for event in events if event["ph"] == "X" and event["cat"] == "copy"]
    assert all(event["args"]["bytes"] > 0 for event in copies if "bulk" in event["name"])


@pytest.fixture
def small() -> Trace:
    run, _ = LAUNCHES["tma_wgmma"].run(trace=True)
    assert run.trace is not None
    return run.trace


def test_a_file_that_cannot_be_written_is_one_sentence(small: Trace, tmp_path: Path) -> None:
    with pytest.raises(wl.UsageError, match=r"out.json cannot be written: no such file or directory"):
        small.save(tmp_path / "no" / "out.json")
    with pytest.raises(wl.UsageError, match="cannot be written: is a directory"):
        small.save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_is_whole_or_as_it_was(small: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Trace) -> Iterator[Event]:
        yield {"ph": "X"}
        raise OSError(28, "No space left on device")

    (tmp_path / "out.json").write_text("before")
    monkeypatch.setattr(chrome, "events", full)
    with pytest.raises(wl.UsageError, match="no space left on device"):
        small.save(tmp_path / "out.json")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("out.json", "before")]
