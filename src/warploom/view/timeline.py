"""Data of a trace for `timeline.js`, which draws the timeline of a report."""

from __future__ import annotations

from typing import Any

from warploom.observe.trace import Trace
from warploom.observe.trace.tracks import FINEST, Tracks

CATEGORIES = ("run", "wait", "issue", "arrival", "copy", "multiplication", "phase")


def timeline_data(trace: Trace) -> dict[str, Any]:
    """Return the events of a trace as a dictionary for `timeline.js`.

    The lists `track`, `begin`, `end`, `category`, `name`, `details` and `line` have one element for each event. The
    elements of `track` and `category` are indices in `tracks` and `categories`. `name` and `details` contain indices in
    `strings`. `arrows` are pairs of event indices.

    Units: `begin` and `end` in sixteenths of a step of the emulator.
    """
    tracks = Tracks(trace)
    ordered = tracks.ordered()
    positions = {number: at for at, (number, _) in enumerate(ordered)}
    strings: dict[str, int] = {}

    def index_of(text: str) -> int:
        return strings.setdefault(text, len(strings))

    events = range(len(trace))
    extents = [tracks.extent(k) for k in events]
    return {
        "unit": round(1 / FINEST),
        "categories": CATEGORIES,
        "ctas": [tracks.cta_name(cta) for cta in trace.ctas],
        "tracks": [[track.cta, track.sort, track.name] for _, track in ordered],
        "track": [positions[tracks.of[k]] for k in events],
        "begin": [round(begin / FINEST) for begin, _ in extents],
        "end": [round(end / FINEST) for _, end in extents],
        "category": [CATEGORIES.index(tracks.category(k)) for k in events],
        "name": [index_of(tracks.name(k)) for k in events],
        "details": [
            index_of(", ".join(f"{name} {value}" for name, value in tracks.details(k).items())) for k in events
        ],
        "line": [trace.lines[step] for step in tracks.columns["step"]],
        "arrows": trace.arrows.tolist(),
        "strings": list(strings),
    }
