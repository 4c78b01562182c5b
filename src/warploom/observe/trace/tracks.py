"""Horizontal tracks of a drawn trace, and the names of the events."""

import heapq
from dataclasses import dataclass
from typing import Any

from warploom.observe.trace.data import WAITS, Cta, Kind, TraceData

FINEST = 1 / 16
"""Unit of drawn positions inside a step: a sixteenth of the step.

An issue takes the second eighth of its step, an arrival the second quarter. An operation in flight begins after its
issue and ends in the middle of its last step, before a wait ends.
"""

_ARRIVALS = (Kind.ARRIVE_BARRIER, Kind.ARRIVE_CLUSTER, Kind.ARRIVE_MBARRIER)
_OF_WARPS = frozenset({Kind.RUN, Kind.ISSUE, *WAITS, *_ARRIVALS})
_ORDER = ("warp", "tensor", "columns", "copy", "mbarrier")  # of the tracks of a CTA, from the top


@dataclass(frozen=True, slots=True)
class Track:
    """Horizontal line of the drawing, with one event at a time.

    `cta` is the position of its CTA in `Trace.ctas`.
    """

    cta: int
    sort: str  # "warp", "tensor", "columns", "copy" or "mbarrier"
    name: str


class Tracks:
    """Track, drawn range and name of every event of a trace.

    `of[k]` is the number of the track of event k, counted from 1. `kinds[k]` is the kind of the event. `columns` has
    the values of each column of `EVENT`.
    """

    def __init__(self, trace: TraceData) -> None:
        self.trace = trace
        rows = trace.events
        self.columns: dict[str, list[int]] = {name: rows[name].tolist() for name in rows.dtype.names or ()}
        self.kinds = [Kind(kind) for kind in self.columns["kind"]]
        self.uses: dict[int, list[Any]] = {}  # uses of tensor memory by each event
        for use in trace.uses.tolist():
            self.uses.setdefault(use[0], []).append(use)
        self._numbers: dict[tuple[int, str, int, int], int] = {}
        self.of = [0] * len(rows)
        self._place()

    def _place(self) -> None:
        """Assign a track to every event."""
        columns = self.columns
        used: dict[tuple[int, Kind], int] = {}
        free: dict[tuple[int, Kind], list[int]] = {}
        busy: dict[tuple[int, Kind], list[tuple[int, int]]] = {}
        for k in sorted(range(len(self.kinds)), key=columns["begin"].__getitem__):
            kind, cta = self.kinds[k], columns["cta"][k]
            if kind in _OF_WARPS:
                key = (cta, "warp", columns["warp"][k], columns["split"][k])
            elif kind == Kind.PHASE:
                key = (cta, "mbarrier", columns["number"][k], 0)
            elif kind == Kind.COLUMNS:
                key = (cta, "columns", columns["number"][k], 0)
            else:
                place = (cta, kind)
                in_flight, lanes = busy.setdefault(place, []), free.setdefault(place, [])
                while in_flight and in_flight[0][0] <= columns["begin"][k]:
                    heapq.heappush(lanes, heapq.heappop(in_flight)[1])
                if lanes:
                    # Operations in flight together get different tracks.
                    lane = heapq.heappop(lanes)
                else:
                    lane = used.get(place, 0)
                    used[place] = lane + 1
                heapq.heappush(in_flight, (columns["end"][k], lane))
                key = (cta, "copy" if kind == Kind.COPY else "tensor", lane, 0)
            self.of[k] = self._numbers.setdefault(key, len(self._numbers) + 1)

    def ordered(self) -> list[tuple[int, Track]]:
        """Return the tracks with their numbers, from the top of the drawing."""
        order = sorted(self._numbers, key=lambda key: (key[0], _ORDER.index(key[1]), *key[2:]))
        return [(self._numbers[key], Track(key[0], key[1], _track_name(*key[1:]))) for key in order]

    def cta_name(self, cta: Cta) -> str:
        """Return the name of a CTA: its coordinates, cluster and rank."""
        name = f"CTA ({', '.join(map(str, cta.coordinates))})"
        return f"{name}, cluster {cta.cluster}, rank {cta.rank}" if self.trace.cluster_size > 1 else name

    def category(self, k: int) -> str:
        """Return the category of event `k`: run, wait, issue, arrival, copy, multiplication or phase."""
        kind = self.kinds[k]
        return "wait" if kind in WAITS else "arrival" if kind in _ARRIVALS else kind.name.lower()

    def extent(self, k: int) -> tuple[float, float]:
        """Return the drawn range of event `k`, in steps."""
        begin, end, kind = self.columns["begin"][k], self.columns["end"][k], self.kinds[k]
        if kind == Kind.ISSUE:
            return begin + 2 * FINEST, begin + 4 * FINEST
        if kind in _ARRIVALS:
            return begin + 4 * FINEST, begin + 8 * FINEST
        if kind in (Kind.COPY, Kind.MULTIPLICATION, Kind.COMMIT):
            return begin + 4 * FINEST, end - 8 * FINEST
        return begin, end

    def name(self, k: int) -> str:
        """Return the name of event `k`."""
        columns, kind = self.columns, self.kinds[k]
        opcode, number, count = (self.trace.opcodes[columns["step"][k]], columns["number"][k], columns["count"][k])
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
            case Kind.WAIT_REGISTERS | Kind.WAIT_COPIES | Kind.WAIT_BULK | Kind.WAIT_MULTIPLICATIONS:
                return f"wait: {opcode} {number}"
            case Kind.WAIT_TENSOR:
                return f"wait: {opcode}"
            case Kind.COLUMNS:
                return f"columns {number} to {number + count - 1} of tensor memory"
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

    def details(self, k: int) -> dict[str, Any]:
        """Return the details of event `k`, such as line, source line, instruction, phase and bytes."""
        columns, kind = self.columns, self.kinds[k]
        found: dict[str, Any] = {}
        if kind == Kind.PHASE:
            found["parity"] = columns["phase"][k] & 1
            found["arrivals"] = columns["count"][k]
            found["bytes expected"] = columns["amount"][k]
            found |= self._location("initialised in line", "initialised in source line", columns["step"][k])
            return found
        found |= self._location("line", "source", columns["step"][k])
        if kind != Kind.RUN:
            found["instruction"] = self.trace.opcodes[columns["step"][k]]
        elif columns["last"][k] != columns["step"][k]:
            found |= self._location("last line", "last source", columns["last"][k])
        if kind in (Kind.WAIT_MBARRIER, Kind.ARRIVE_MBARRIER):
            found["phase"] = columns["phase"][k]
        if kind == Kind.ARRIVE_MBARRIER:
            found["arrivals"] = columns["count"][k]
            found["bytes expected"] = columns["amount"][k]
        if kind == Kind.COPY:
            found["bytes"] = columns["amount"][k]
            if columns["number"][k] >= 0:
                found["mbarrier"] = f"{columns['number'][k] & 0xFF_FFFF:#x}"
        if kind in (Kind.COPY, Kind.MULTIPLICATION, Kind.COMMIT, Kind.COLUMNS):
            found["warp"] = columns["warp"][k]
        if kind == Kind.COLUMNS:
            found["columns"] = f"{columns['number'][k]} to {columns['number'][k] + columns['count'][k] - 1}"
        elif k in self.uses:
            found["columns"] = ", ".join(dict.fromkeys(map(describe_use, self.uses[k])))
        return found

    def _location(self, name: str, source_name: str, step: int) -> dict[str, Any]:
        line = self.trace.source_lines[step]
        return {name: self.trace.lines[step]} | ({} if line is None else {source_name: str(line)})


def describe_use(use: tuple[int, int, str, str, int, int]) -> str:
    """Return a phrase with the columns of a use, such as "0 to 63 (update D)".

    `use` has the columns of `USE`.
    """
    _, _, kind, what, first, end = use
    return f"{first} to {end - 1} ({' '.join(filter(None, (kind, what)))})"


def _track_name(sort: str, number: int, split: int) -> str:
    if sort == "warp":
        return f"warp {number}" + (f", split {split}" if split else "")
    if sort == "columns":
        return f"tensor memory from column {number}"
    if sort == "mbarrier":
        return f"mbarrier {number & 0xFF_FFFF:#x}"
    return ("copies" if sort == "copy" else "tensor core") + (f" ({number + 1})" if number else "")
