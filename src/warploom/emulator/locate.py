"""Location of a run that is stopped, or that has not ended: the lines that executed last."""

from collections import Counter

import numpy as np

from warploom.emulator.batch import Batch
from warploom.emulator.program import Program
from warploom.emulator.state import RECENT, State
from warploom.emulator.warp_splits import Status


def recent_blocks(state: State, first: int) -> list[int]:
    """Return the program counters at which the last batches started, from the batch number `first` on."""
    last = state.counters.batches
    return [int(state.recent[batch % RECENT]) for batch in range(max(first, last - RECENT), last)]


def busiest(program: Program, recent: list[int]) -> int:
    """Return the program counter of the block that occurs most often in `recent`."""
    return Counter(recent).most_common(1)[0][0] if recent else program.entry


def locate(state: State, program: Program, batch: Batch | None, recent: list[int], ctas_done: int) -> str:
    """Return a phrase with the lines of the blocks `recent`, and the warps that wait.

    `batch` is the executing batch, and `ctas_done` the number of CTAs that have exited.
    """
    splits = state.splits
    warp = int(batch.warp_index[0]) if batch is not None and batch.count else -1
    pcs = {pc for first in recent for pc in range(first, program.block_end[first])}
    if not pcs:
        return state.placement.describe(warp)
    lines = sorted({program.line_of(pc) for pc in pcs})
    ran = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
    most = f", most often {program.place_of(busiest(program, recent))}" if len(lines) > 1 else ""
    waiting = int(np.isin(splits.status, (Status.WAITING, Status.RECONVERGING)).sum())
    others = f"; ready warps: {len(splits.ready())}, waiting: {waiting}, exited CTAs: {ctas_done}"
    return f"{state.placement.describe(warp)}; the last {len(recent)} batches executed {ran}{most}{others}"
