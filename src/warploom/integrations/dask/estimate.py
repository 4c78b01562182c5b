"""What a launch will take, from a few of its clusters run here."""

from __future__ import annotations

from dataclasses import replace

from warploom.emulator.arena import Arena
from warploom.emulator.communication import inter_cta_communication
from warploom.emulator.execute import Request, Stats, Waves, execute
from warploom.emulator.faults import Deadlock, Trap

_FEW = 4  # clusters of the second sample: with the first one's it shows what each further one costs
_LONG = 1.0  # seconds of a sample after which no further one is taken


def estimate(request: Request, whole: Waves, arena: Arena, segments: dict[str, int], workers: int) -> str:
    """A sentence with the seconds that a launch is about to take, and what its CTAs do."""
    if any(inter_cta_communication(request.program)):
        return "estimate: none, as its CTAs may wait for each other"
    try:
        first = _sample(request, whole, arena, segments, 1)
        if first.seconds < _LONG:  # some of it was loading what is compiled
            first = _sample(request, whole, arena, segments, 1)
        more = _sample(request, whole, arena, segments, _FEW) if first.seconds < _LONG else first
    except (Trap, Deadlock):
        return "estimate: none, as its first CTAs do not come to an end"
    size = whole.clusters.shape[1]
    each = max(more.seconds - first.seconds, 0.0) / (_FEW - 1) if more is not first else first.seconds
    wave = first.seconds + each * (whole.resident // size - 1)
    turns = -(-len(whole.numbers) // max(workers, 1))
    instructions, macs = sum(first.instructions.values()) // first.ctas, first.macs // first.ctas
    share = f"{instructions:,} warp instructions and {macs:,} MACs for each of {whole.ctas:,} CTAs"
    count = len(whole.numbers)
    return (
        f"estimate: {_time(wave * turns)} on {workers} worker{'' if workers == 1 else 's'}; {share}, in {count} "
        f"wave{'' if count == 1 else 's'}"
    )


def _sample(request: Request, whole: Waves, arena: Arena, segments: dict[str, int], clusters: int) -> Stats:
    """The first clusters of a launch, run beside everything else."""
    taken = whole.clusters[:clusters]
    cut = Waves(taken.shape[0] * taken.shape[1], taken, range(1))
    return execute(replace(request, waves=cut), arena.fork(), segments)[0]


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
