"""A trace as numbers for a page to draw: tracks, and columns of events and arrows."""

from __future__ import annotations

from typing import Any

from warploom.observe.trace import Trace
from warploom.observe.trace.tracks import FINEST, Tracks

CATEGORIES = ("run", "wait", "issue", "arrival", "copy", "product", "phase")


def timeline_of(trace: Trace) -> dict[str, Any]:
    """What a page draws.

    Lists beside each other have an element for each event: the position of its track in `tracks`, where it
    begins and ends, its category in `categories`, its name and what there is to say of it in `strings`, and its
    line. `arrows` are pairs of events.

    Units: `begin` and `end` in sixteenths of a step.
    """
    tracks = Tracks(trace)
    ordered = tracks.ordered()
    place = {number: at for at, (number, _) in enumerate(ordered)}
    strings: dict[str, int] = {}

    def known(text: str) -> int:
        return strings.setdefault(text, len(strings))

    count = range(len(trace))
    extents = [tracks.extent(k) for k in count]
    return {
        "unit": round(1 / FINEST),
        "categories": CATEGORIES,
        "ctas": [tracks.called(cta) for cta in trace.ctas],
        "tracks": [[track.cta, track.sort, track.name] for _, track in ordered],
        "track": [place[tracks.of[k]] for k in count],
        "begin": [round(begin / FINEST) for begin, _ in extents],
        "end": [round(end / FINEST) for _, end in extents],
        "category": [CATEGORIES.index(tracks.category(k)) for k in count],
        "name": [known(tracks.name(k)) for k in count],
        "about": [known(_words(tracks.about(k))) for k in count],
        "line": [trace.lines[step] for step in tracks.columns["step"]],
        "arrows": trace.arrows.tolist(),
        "strings": list(strings),
    }


def _words(about: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in about.items())
