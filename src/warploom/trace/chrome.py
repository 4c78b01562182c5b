"""Traces as Chrome's trace events, which Perfetto reads: JSON, one event a line.

A step of the machine is a microsecond. Short slices take parts of their step, so that an arrow never goes
backwards: an issue the first quarter, an arrival the second, what is in flight begins after the one and ends
before the last, in which a wait goes on.
"""

from __future__ import annotations

import heapq
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from warploom.diag import UsageError
from warploom.trace.data import WAITS, Cta, Kind, Trace

Event = dict[str, Any]

_FINEST = 1 / 16
_ARRIVALS = (Kind.ARRIVE_BARRIER, Kind.ARRIVE_CLUSTER, Kind.ARRIVE_MBARRIER)
_OF_WARPS = frozenset({Kind.RUN, Kind.ISSUE, *WAITS, *_ARRIVALS})
_CATEGORIES = {
    Kind.RUN: "run",
    Kind.ISSUE: "issue",
    Kind.COPY: "copy",
    Kind.PRODUCT: "product",
    Kind.PHASE: "phase",
}
_ORDER = ("warp", "tensor", "copy", "mbarrier")  # of the tracks of a CTA, from above


def save(trace: Trace, path: Path) -> None:
    """Write a trace to a file, whole or not at all. Errors: UsageError launch.trace."""
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = file.name
            file.write('{"displayTimeUnit": "ns",\n')
            file.write(f'"otherData": {json.dumps(_about(trace))},\n"traceEvents": [\n')
            file.write(",\n".join(json.dumps(event) for event in events(trace)))
            file.write("\n]}\n")
        _as_usual(temporary)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            with suppress(OSError):
                Path(temporary).unlink()
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"trace: {path} cannot be written: {reason}", code="launch.trace") from None


def _as_usual(path: str) -> None:
    """Give a temporary file, which is private, the rights that a new file has."""
    mask = os.umask(0)
    os.umask(mask)
    Path(path).chmod(0o666 & ~mask)


def _about(trace: Trace) -> dict[str, object]:
    return {
        "kernel": trace.kernel,
        "schedule": trace.schedule,
        "unit": "1 us is one step of the machine",
        "events": f"{trace}",
    }


def events(trace: Trace) -> Iterator[Event]:
    """The trace's events: names of tracks first, then by time."""
    return _Writer(trace).events()


class _Writer:
    """Finds a track for every event, and joins them."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        rows = trace.events
        self.columns: dict[str, list[int]] = {name: rows[name].tolist() for name in rows.dtype.names or ()}
        self.kinds = [Kind(kind) for kind in self.columns["kind"]]
        self.tracks: dict[tuple[int, str, int, int], int] = {}
        self.threads = [0] * len(rows)
        self._place()

    # Tracks -----------------------------------------------------------------------------------------------

    def _place(self) -> None:
        """Every event's track. What is in flight together takes several, each its first that is free."""
        columns = self.columns
        used: dict[tuple[int, Kind], int] = {}
        free: dict[tuple[int, Kind], list[int]] = {}
        busy: dict[tuple[int, Kind], list[tuple[int, int]]] = {}
        for k in sorted(range(len(self.kinds)), key=columns["begin"].__getitem__):
            kind, cta = self.kinds[k], columns["cta"][k]
            if kind in _OF_WARPS:
                key = (cta, "warp", columns["warp"][k], columns["strand"][k])
            elif kind == Kind.PHASE:
                key = (cta, "mbarrier", columns["number"][k], 0)
            else:
                place = (cta, kind)
                flying, lanes = busy.setdefault(place, []), free.setdefault(place, [])
                while flying and flying[0][0] <= columns["begin"][k]:
                    heapq.heappush(lanes, heapq.heappop(flying)[1])
                if lanes:
                    lane = heapq.heappop(lanes)
                else:
                    lane = used.get(place, 0)
                    used[place] = lane + 1
                heapq.heappush(flying, (columns["end"][k], lane))
                key = (cta, "copy" if kind == Kind.COPY else "tensor", lane, 0)
            self.threads[k] = self.tracks.setdefault(key, len(self.tracks) + 1)

    def _names(self) -> Iterator[Event]:
        for pid, cta in enumerate(self.trace.ctas, 1):
            yield _meta("process_name", pid, 0, name=self._process(cta))
            yield _meta("process_sort_index", pid, 0, sort_index=pid)
        order = sorted(self.tracks, key=lambda key: (key[0], _ORDER.index(key[1]), *key[2:]))
        for place, key in enumerate(order):
            cta, sort, number, strand = key
            pid, tid = cta + 1, self.tracks[key]
            match sort:
                case "warp":
                    name = f"warp {number}" + (f", parted {strand}" if strand else "")
                case "mbarrier":
                    name = f"mbarrier {number & 0xFF_FFFF:#x}"
                case _:
                    name = ("copies" if sort == "copy" else "tensor core") + (
                        f" ({number + 1})" if number else ""
                    )
            yield _meta("thread_name", pid, tid, name=name)
            yield _meta("thread_sort_index", pid, tid, sort_index=place)

    def _process(self, cta: Cta) -> str:
        name = f"CTA ({', '.join(map(str, cta.coordinates))})"
        return f"{name}, cluster {cta.cluster}, rank {cta.rank}" if self.trace.cluster_size > 1 else name

    # Events -----------------------------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """Names of tracks first, then by time."""
        found: list[tuple[float, int, float, Event]] = []
        for k in range(len(self.kinds)):
            begin, end = self._extent(k)
            found.append((begin, 0, begin - end, self._slice(k, begin, end, self._name(k), self._about(k))))
        arrows: list[tuple[int, int]] = self.trace.arrows.tolist()
        sources, targets = (
            set(each) for each in (self.trace.arrows[:, 0].tolist(), self.trace.arrows[:, 1].tolist())
        )
        for k in sorted(sources | targets):
            if self.kinds[k] in WAITS:
                for is_source, name in ((True, "arrives"), (False, "goes on")):
                    if k in (sources if is_source else targets):
                        begin, end = self._tip(k, is_source)
                        found.append((begin, 1, begin - end, self._slice(k, begin, end, name, {})))
        for number, (source, target) in enumerate(arrows, 1):
            name = _CATEGORIES.get(self.kinds[source], "arrival")
            for phase, k, when in (
                ("s", source, self._tip(source, True)[1] - _FINEST),
                ("f", target, self._tip(target, False)[0]),
            ):
                arrow = {"ph": phase, "id": number, "name": name, "cat": name, **self._track(k), "ts": when}
                found.append((when, 2, 0, arrow | ({"bp": "e"} if phase == "f" else {})))
        found.sort(key=lambda each: each[:3])
        yield from self._names()
        for *_, event in found:
            yield event

    def _track(self, k: int) -> Event:
        return {"pid": self.columns["cta"][k] + 1, "tid": self.threads[k]}

    def _extent(self, k: int) -> tuple[float, float]:
        begin, end, kind = self.columns["begin"][k], self.columns["end"][k], self.kinds[k]
        if kind == Kind.ISSUE:
            return begin + 2 * _FINEST, begin + 4 * _FINEST
        if kind in _ARRIVALS:
            return begin + 4 * _FINEST, begin + 8 * _FINEST
        if kind in (Kind.COPY, Kind.PRODUCT):
            return begin + 4 * _FINEST, end - 8 * _FINEST
        return begin, end

    def _tip(self, k: int, is_source: bool) -> tuple[float, float]:
        """The part of an event that an arrow leaves or reaches."""
        if self.kinds[k] not in WAITS:
            return self._extent(k)
        if is_source:
            return self.columns["begin"][k] + 4 * _FINEST, self.columns["begin"][k] + 8 * _FINEST
        return self.columns["end"][k] - 4 * _FINEST, self.columns["end"][k]

    def _slice(self, k: int, begin: float, end: float, name: str, args: Event) -> Event:
        kind = self.kinds[k]
        category = "wait" if kind in WAITS else _CATEGORIES.get(kind, "arrival")
        slot = {"ph": "X", "name": name, "cat": category, **self._track(k), "ts": begin, "dur": end - begin}
        return slot | ({"args": args} if args else {})

    def _name(self, k: int) -> str:
        columns, kind = self.columns, self.kinds[k]
        opcode, number, count = (
            self.trace.opcodes[columns["step"][k]],
            columns["number"][k],
            columns["count"][k],
        )
        match kind:
            case Kind.RUN:
                first, last = (self.trace.lines[columns[name][k]] for name in ("step", "last"))
                return f"line {first}" if first == last else f"lines {first} to {last}"
            case Kind.WAIT_WARP:
                return "wait: the rest of the warp or warpgroup"
            case Kind.WAIT_BARRIER:
                return f"wait: barrier {number}"
            case Kind.WAIT_CLUSTER:
                return "wait: cluster barrier"
            case Kind.WAIT_MBARRIER:
                return f"wait: mbarrier {number & 0xFF_FFFF:#x}, parity {columns['phase'][k] & 1}"
            case Kind.WAIT_REGISTERS | Kind.WAIT_COPIES | Kind.WAIT_BULK | Kind.WAIT_PRODUCTS:
                return f"wait: {opcode} {number}"
            case Kind.ARRIVE_BARRIER:
                return f"arrive: barrier {number}"
            case Kind.ARRIVE_CLUSTER:
                return "arrive: cluster barrier"
            case Kind.ARRIVE_MBARRIER:
                owner = number >> 24
                remote = f" of rank {owner}" if owner != self.trace.ctas[columns["cta"][k]].rank else ""
                return f"arrive: mbarrier {number & 0xFF_FFFF:#x}{remote}"
            case Kind.PHASE:
                return f"phase {columns['phase'][k]}"
            case _:
                return opcode if count < 2 else f"{opcode} ×{count}"

    def _about(self, k: int) -> Event:
        columns, kind = self.columns, self.kinds[k]
        found: Event = {}
        if kind == Kind.PHASE:
            found["parity"] = columns["phase"][k] & 1
            found["arrivals"] = columns["count"][k]
            found["bytes expected"] = columns["amount"][k]
            found["initialised in line"] = self.trace.lines[columns["step"][k]]
            return found
        found["line"] = self.trace.lines[columns["step"][k]]
        if kind != Kind.RUN:
            found["instruction"] = self.trace.opcodes[columns["step"][k]]
        elif columns["last"][k] != columns["step"][k]:
            found["last line"] = self.trace.lines[columns["last"][k]]
        if kind in (Kind.WAIT_MBARRIER, Kind.ARRIVE_MBARRIER):
            found["phase"] = columns["phase"][k]
        if kind == Kind.ARRIVE_MBARRIER:
            found["arrivals"] = columns["count"][k]
            found["bytes expected"] = columns["amount"][k]
        if kind == Kind.COPY:
            found["bytes"] = columns["amount"][k]
            if columns["number"][k] >= 0:
                found["mbarrier"] = f"{columns['number'][k] & 0xFF_FFFF:#x}"
        if kind in (Kind.COPY, Kind.PRODUCT):
            found["warp"] = columns["warp"][k]
        return found


def _meta(what: str, pid: int, tid: int, **args: object) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": args}
