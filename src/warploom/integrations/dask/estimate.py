"""Estimate of the duration of a launch, from a run of a few of its clusters in this process."""

from __future__ import annotations

from dataclasses import replace

from warploom.emulator.arena import Arena
from warploom.emulator.communication import inter_cta_communication
from warploom.emulator.execute import Request, Stats, Waves, execute
from warploom.emulator.faults import Deadlock, Trap

_CLUSTERS = 4  # clusters of the second sample, which gives the cost of a further cluster in a wave
_LONG_SAMPLE = 1.0  # seconds; no second sample is taken if the first one takes longer


def estimate(request: Request, whole: Waves, arena: Arena, segments: dict[str, int], workers: int) -> str:
    """Return a sentence about the expected duration of a launch and the work of each CTA.

    `whole` has the waves of the grid, and `workers` is the number of workers that share them.
    """
    if any(inter_cta_communication(request.program)):
        return "estimate: none, as the CTAs may wait for each other"
    try:
        first = _sample(request, whole, arena, segments, 1)
        if first.seconds < _LONG_SAMPLE:  # the first run also loads compiled code
            first = _sample(request, whole, arena, segments, 1)
        more = _sample(request, whole, arena, segments, _CLUSTERS) if first.seconds < _LONG_SAMPLE else first
    except (Trap, Deadlock):
        return "estimate: none, as the first CTAs trap or hang"
    size = whole.clusters.shape[1]
    each = max(more.seconds - first.seconds, 0.0) / (_CLUSTERS - 1) if more is not first else first.seconds
    wave = first.seconds + each * (whole.resident // size - 1)
    count = len(whole.numbers)
    seconds = wave * -(-count // max(workers, 1))
    instructions, macs = sum(first.instructions.values()) // first.ctas, first.macs // first.ctas
    return (
        f"estimate: {_time(seconds)} on {workers} worker{'' if workers == 1 else 's'}; {instructions:,} warp "
        f"instructions and {macs:,} MACs for each of {whole.ctas:,} CTAs, in {count} wave{'' if count == 1 else 's'}"
    )


def _sample(request: Request, whole: Waves, arena: Arena, segments: dict[str, int], clusters: int) -> Stats:
    """Run the first clusters of a grid on a copy of its memory, and return the statistics."""
    taken = whole.clusters[:clusters]
    waves = Waves(taken.shape[0] * taken.shape[1], taken, range(1))
    return execute(replace(request, waves=waves), arena.fork(), segments)[0]


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
