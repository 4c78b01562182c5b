"""Basic blocks that a stopped run executed last."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from warploom.emulator.program import Program
from warploom.emulator.state import RECENT, State
from warploom.emulator.warp_splits import Status


def recent_blocks(state: State, first: int) -> list[int]:
    """Return the program counters at which the last batches started, from the batch `first` on."""
    last = state.counters.batches
    return [int(state.recent[batch % RECENT]) for batch in range(max(first, last - RECENT), last)]


def busiest(program: Program, recent: Sequence[int]) -> int:
    """Return the program counter of the block that was executed most often, or that of the entry."""
    return Counter(recent).most_common(1)[0][0] if recent else program.entry


def describe(state: State, program: Program, recent: Sequence[int], warp: int, ctas_done: int) -> str:
    """Return a phrase with the lines that execute, and the warps that wait.

    `warp` is the current warp, or -1.
    """
    pcs = {pc for first in recent for pc in range(first, program.block_end[first])}
    if not pcs:
        return state.placement.describe(warp)
    splits = state.splits
    lines = sorted({program.line_of(pc) for pc in pcs})
    ran = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
    most = f", most often {program.place_of(busiest(program, recent))}" if len(lines) > 1 else ""
    waiting = int(np.isin(splits.status, (Status.WAITING, Status.RECONVERGING)).sum())
    others = f"; ready warps: {len(splits.ready())}, waiting: {waiting}, exited CTAs: {ctas_done}"
    return f"{state.placement.describe(warp)}; the last {len(recent)} batches executed {ran}{most}{others}"
