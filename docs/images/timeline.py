"""Draw a part of a trace: the tracks of its first CTA between two steps.

    warploom run examples/gemm_warp_specialised.toml --schedule lazy --trace out.json
    python docs/images/timeline.py out.json docs/images/timeline.svg 255 560

Warps of a warpgroup that do the same look the same, so of them the first is drawn; so are tracks where nothing
happens left out.
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LEFT, ROW, GAP, TOP = 960, 130, 20, 6, 16
COLOURS = {
    "run": "#4c8dd9", "wait": "#d9dde3", "copy": "#e0a030", "multiplication": "#3a9d5d", "phase": "#c9b8e0",
    "issue": "#1d3f66", "arrival": "#a33b3b",
}  # fmt: skip
ODD = "#a890cc"  # phases of parity 1
ARROWS = {"copy": "#b87d14", "arrival": "#a33b3b", "multiplication": "#2b7445"}
"""Arrows that are drawn: those to waits."""

Event = dict[str, Any]


class Timeline:
    """What is drawn: slices by track, and arrows."""

    def __init__(self, events: list[Event], begin: float, end: float) -> None:
        self.begin, self.end = begin, end
        self.slices: dict[int, list[Event]] = {}
        self.arrows: dict[int, list[Event]] = {}
        self.names: dict[int, str] = {}
        for event in events:
            if event["pid"] != 1:
                continue
            if event["name"] == "thread_name":
                self.names[event["tid"]] = event["args"]["name"]
            elif event["ph"] == "X" and event["ts"] < end and event["ts"] + event["dur"] > begin:
                self.slices.setdefault(event["tid"], []).append(event)
            elif event["ph"] in "sf" and event["name"] in ARROWS:
                self.arrows.setdefault(event["id"], []).append(event)
        self.rows: dict[int, int] = {}
        seen: set[str] = set()
        for tid, name in self.names.items():
            what = repr([(each["ts"], each["dur"], each["name"]) for each in self.of(tid) if each["cat"] != "arrival"])
            if self.of(tid) and (what not in seen or not name.startswith("warp")):
                self.rows[tid] = len(self.rows)
            seen.add(what)

    def of(self, tid: int) -> list[Event]:
        """Return the slices of a track without the tips of arrows."""
        return [each for each in self.slices.get(tid, []) if each["name"] not in ("goes on", "arrives")]

    def x(self, step: float) -> float:
        """Where a step is."""
        inside = min(max(step, self.begin), self.end)
        return LEFT + (inside - self.begin) / (self.end - self.begin) * (WIDTH - LEFT - 4)

    def y(self, tid: int) -> float:
        """Where a track is."""
        return TOP + self.rows[tid] * (ROW + GAP)

    def svg(self) -> str:
        """Return the picture."""
        height = TOP + len(self.rows) * (ROW + GAP) + 4
        parts = [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
                'font-family="sans-serif" font-size="11">'
            ),
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            *(
                f'<marker id="{name}" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" '
                f'orient="auto"><path d="M0 0L6 3L0 6z" fill="{colour}"/></marker>'
                for name, colour in ARROWS.items()
            ),
        ]
        for tid in self.rows:
            middle = self.y(tid) + ROW / 2 + 4
            parts.append(f'<text x="{LEFT - 8}" y="{middle:.0f}" text-anchor="end">{self.names[tid]}</text>')
            parts += [self._slice(each, self.y(tid)) for each in self.of(tid)]
        parts += [self._arrow(*pair) for pair in self.arrows.values() if len(pair) == 2 and self._shown(*pair)]
        return "\n".join([*parts, "</svg>", ""])

    def _slice(self, event: Event, y: float) -> str:
        left, right = self.x(event["ts"]), self.x(event["ts"] + event["dur"])
        width = max(right - left, 1.5)
        small = event["cat"] in ("issue", "arrival")
        top, tall = (y + ROW - 5, 5) if small else (y, ROW)
        colour = ODD if event.get("args", {}).get("parity") else COLOURS[event["cat"]]
        box = (
            f'<rect x="{left:.1f}" y="{top:.0f}" width="{width:.1f}" height="{tall}" '
            f'fill="{colour}"><title>{escape(event["name"])}</title></rect>'
        )
        fits = int((width - 4) / 6.6)
        name = event["name"].removeprefix("wait: ") if event["cat"] == "wait" else event["name"]
        if small or fits < 4:
            return box
        text = name if len(name) <= fits else f"{name[: fits - 1]}…"
        ink = "#ffffff" if event["cat"] in ("run", "multiplication") else "#333333"
        return f'{box}<text x="{left + 3:.1f}" y="{y + ROW / 2 + 4:.0f}" fill="{ink}">{escape(text)}</text>'

    def _shown(self, start: Event, finish: Event) -> bool:
        known = {start["tid"], finish["tid"]} <= self.rows.keys()
        return known and self.begin <= start["ts"] and finish["ts"] <= self.end and start["tid"] != finish["tid"]

    def _arrow(self, start: Event, finish: Event) -> str:
        y = [self.y(each["tid"]) for each in (start, finish)]
        down = y[1] > y[0]
        first, last = (y[0] + ROW, y[1]) if down else (y[0], y[1] + ROW)
        return (
            f'<path d="M{self.x(start["ts"]):.1f} {first:.0f}L{self.x(finish["ts"]):.1f} {last:.0f}" '
            f'stroke="{ARROWS[start["name"]]}" marker-end="url(#{start["name"]})"/>'
        )


def main() -> None:
    """Read a trace and write a picture."""
    source, target, begin, end = sys.argv[1:]
    events = json.loads(Path(source).read_text(encoding="utf-8"))["traceEvents"]
    Path(target).write_text(Timeline(events, float(begin), float(end)).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
