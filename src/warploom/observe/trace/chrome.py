"""Export of a trace as Chrome trace events for Perfetto: JSON, one event per line.

One microsecond in the file is one step of the emulator.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import os_reason
from warploom.files import replacement
from warploom.observe.trace.data import WAITS, TraceData
from warploom.observe.trace.tracks import FINEST, Tracks

Event = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Trace(TraceData):
    """Trace of a run: the events of some of its CTAs."""

    def save(self, path: str | Path) -> None:
        """Write a file for Perfetto (https://ui.perfetto.dev) and chrome://tracing.

        Errors: UsageError launch.trace
        """
        target = Path(path)
        try:
            with replacement(target) as file:
                file.write('{"displayTimeUnit": "ns",\n')
                file.write(f'"otherData": {json.dumps(_about(self))},\n"traceEvents": [\n')
                file.write(",\n".join(json.dumps(event) for event in events(self)))
                file.write("\n]}\n")
        except OSError as error:
            raise UsageError(f"trace: {target} cannot be written: {os_reason(error)}", code="launch.trace") from None


def _about(trace: TraceData) -> dict[str, object]:
    return {
        "kernel": trace.kernel,
        "schedule": trace.schedule,
        "unit": "1 us is one step of the emulator",
        "events": f"{trace}",
    }


def events(trace: TraceData) -> Iterator[Event]:
    """Yield the Chrome trace events of a trace: names of tracks first, then the other events by time."""
    return _Writer(trace).events()


class _Writer:
    def __init__(self, trace: TraceData) -> None:
        self.trace = trace
        self.tracks = Tracks(trace)

    def _names(self) -> Iterator[Event]:
        for pid, cta in enumerate(self.trace.ctas, 1):
            yield _meta("process_name", pid, 0, name=self.tracks.cta_name(cta))
            yield _meta("process_sort_index", pid, 0, sort_index=pid)
        for place, (tid, track) in enumerate(self.tracks.ordered()):
            yield _meta("thread_name", track.cta + 1, tid, name=track.name)
            yield _meta("thread_sort_index", track.cta + 1, tid, sort_index=place)

    def events(self) -> Iterator[Event]:
        """Yield the names of the tracks, then the slices and arrows by time."""
        found: list[tuple[float, int, float, Event]] = []
        for k in range(len(self.tracks.kinds)):
            begin, end = self.tracks.extent(k)
            found.append(
                (begin, 0, begin - end, self._slice(k, begin, end, self.tracks.name(k), self.tracks.details(k)))
            )
        arrows: list[tuple[int, int]] = self.trace.arrows.tolist()
        sources, targets = (set(each) for each in (self.trace.arrows[:, 0].tolist(), self.trace.arrows[:, 1].tolist()))
        for k in sorted(sources | targets):
            if self.tracks.kinds[k] in WAITS:
                for is_source, name in ((True, "arrives"), (False, "goes on")):
                    if k in (sources if is_source else targets):
                        begin, end = self._tip(k, is_source)
                        found.append((begin, 1, begin - end, self._slice(k, begin, end, name, {})))
        for number, (source, target) in enumerate(arrows, 1):
            name = "arrival" if self.tracks.kinds[source] in WAITS else self.tracks.category(source)
            for phase, k, when in (
                ("s", source, self._tip(source, True)[1] - FINEST),
                ("f", target, self._tip(target, False)[0]),
            ):
                arrow = {"ph": phase, "id": number, "name": name, "cat": name, **self._track(k), "ts": when}
                found.append((when, 2, 0, arrow | ({"bp": "e"} if phase == "f" else {})))
        found.sort(key=lambda each: each[:3])
        yield from self._names()
        for *_, event in found:
            yield event

    def _track(self, k: int) -> Event:
        return {"pid": self.tracks.columns["cta"][k] + 1, "tid": self.tracks.of[k]}

    def _tip(self, k: int, is_source: bool) -> tuple[float, float]:
        """Return the range of steps in which an arrow leaves (`is_source`) or reaches event `k`."""
        # These ranges are shorter than a step, so that no arrow points backwards.
        if self.tracks.kinds[k] not in WAITS:
            return self.tracks.extent(k)
        if is_source:
            return self.tracks.columns["begin"][k] + 4 * FINEST, self.tracks.columns["begin"][k] + 8 * FINEST
        return self.tracks.columns["end"][k] - 4 * FINEST, self.tracks.columns["end"][k]

    def _slice(self, k: int, begin: float, end: float, name: str, args: Event) -> Event:
        slot = {
            "ph": "X", "name": name, "cat": self.tracks.category(k), **self._track(k), "ts": begin, "dur": end - begin
        }  # fmt: skip
        return slot | ({"args": args} if args else {})


def _meta(what: str, pid: int, tid: int, **args: object) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": args}
