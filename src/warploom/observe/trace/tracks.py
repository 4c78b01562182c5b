"""A trace as it is drawn: tracks, one thing at a time on each, and what every event is called."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

from warploom.observe.trace.data import WAITS, Cta, Kind, Trace

FINEST = 1 / 16
"""What is drawn begins and ends at multiples of this part of a step: an issue has the second eighth, an arrival the
second quarter, what is in flight begins after the one and ends in the middle of its last step, before a wait goes on.
"""

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


@dataclass(frozen=True, slots=True)
class Track:
    """A row of the picture: the position of its CTA in `Trace.ctas`, what it shows, and its name."""

    cta: int
    sort: str  # "warp", "tensor", "copy" or "mbarrier"
    name: str


class Tracks:
    """Finds a track for every event, and words for it. `of[k]` is the track of event k, from 1 on; `kinds` and
    `columns` are its kind and the columns of `EVENT`, as lists.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        rows = trace.events
        self.columns: dict[str, list[int]] = {name: rows[name].tolist() for name in rows.dtype.names or ()}
        self.kinds = [Kind(kind) for kind in self.columns["kind"]]
        self._numbers: dict[tuple[int, str, int, int], int] = {}
        self.of = [0] * len(rows)
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
            self.of[k] = self._numbers.setdefault(key, len(self._numbers) + 1)

    def ordered(self) -> list[tuple[int, Track]]:
        """The tracks from above, with their numbers."""
        order = sorted(self._numbers, key=lambda key: (key[0], _ORDER.index(key[1]), *key[2:]))
        return [(self._numbers[key], Track(key[0], key[1], _called(*key[1:]))) for key in order]

    def called(self, cta: Cta) -> str:
        """The name of a CTA."""
        name = f"CTA ({', '.join(map(str, cta.coordinates))})"
        return f"{name}, cluster {cta.cluster}, rank {cta.rank}" if self.trace.cluster_size > 1 else name

    # Events -----------------------------------------------------------------------------------------------

    def category(self, k: int) -> str:
        """What sort of thing an event is: run, wait, issue, arrival, copy, product or phase."""
        kind = self.kinds[k]
        return "wait" if kind in WAITS else _CATEGORIES.get(kind, "arrival")

    def extent(self, k: int) -> tuple[float, float]:
        """Where an event is drawn, from and to, in steps."""
        begin, end, kind = self.columns["begin"][k], self.columns["end"][k], self.kinds[k]
        if kind == Kind.ISSUE:
            return begin + 2 * FINEST, begin + 4 * FINEST
        if kind in _ARRIVALS:
            return begin + 4 * FINEST, begin + 8 * FINEST
        if kind in (Kind.COPY, Kind.PRODUCT):
            return begin + 4 * FINEST, end - 8 * FINEST
        return begin, end

    def name(self, k: int) -> str:
        """What an event is called."""
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

    def about(self, k: int) -> dict[str, Any]:
        """What there is to say of an event: its line and instruction, phase, bytes, arrivals."""
        columns, kind = self.columns, self.kinds[k]
        found: dict[str, Any] = {}
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


def _called(sort: str, number: int, strand: int) -> str:
    if sort == "warp":
        return f"warp {number}" + (f", parted {strand}" if strand else "")
    if sort == "mbarrier":
        return f"mbarrier {number & 0xFF_FFFF:#x}"
    return ("copies" if sort == "copy" else "tensor core") + (f" ({number + 1})" if number else "")
