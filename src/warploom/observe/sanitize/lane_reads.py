# pyright: reportUnknownMemberType=false
"""Check of the loads and thread copies of several instructions in one compiled call."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import READ_KINDS, Access, Launch, Reads, ThreadCopyIssue
from warploom.numerics._compile import njit
from warploom.observe.sanitize._shared_shadow import SharedArrays, read_lanes
from warploom.observe.sanitize._thread_copies import record_copies
from warploom.observe.sanitize.clock_arrays import GENERIC, TOGETHER, ClockArrays
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.global_shadow import GlobalArrays, GlobalShadow, access_lanes, read_only_loads
from warploom.observe.sanitize.shared_shadow import SharedShadow

Array = NDArray[Any]
Single = Access | ThreadCopyIssue

_GLOBAL, _SHARED, _COPY = (READ_KINDS.index(kind) for kind in ("global", "shared", "copy"))


class LaneReads:
    """Check of the event `Reads`.

    `check_one` checks one event `Access` or `ThreadCopyIssue`. It gets two types of reads: those of the instructions in
    `special`, and reads of the shared memory of another CTA. The instructions in `special` need more than a comparison
    with the last accesses.
    """

    def __init__(self, launch: Launch, special: Collection[int], check_one: Callable[[Single], None]) -> None:
        count = len(launch.instructions)
        self._special, self._read_only = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        self._special[[*special]] = True
        self._read_only[[*read_only_loads(launch)]] = True
        self._check_one = check_one

    def start(self, context: Context, shared: SharedShadow, in_global: GlobalShadow) -> None:
        """Prepare for the CTAs that `context` describes. `shared` and `in_global` record their accesses."""
        self.clocks, self.shared, self.in_global = context.clocks, shared, in_global
        self._found = np.zeros(2, np.int64)  # conflicts in global and in shared memory

    def check(self, event: Reads) -> None:
        """Record reads, and report conflicts."""
        k = 0
        while k < len(event.pcs):
            k = self._record(event, k)
            if k == len(event.pcs):
                break
            in_global, in_shared = self._found.tolist()
            if in_global < 0:
                self._check_one(event.single(k))
            else:
                first, pc, size = int(event.firsts[k]), int(event.pcs[k]), int(event.sizes[k])
                warps = event.warps[first : first + int(event.counts[k])]
                self.in_global.report_copies(in_global, warps, pc, size)
                self.shared.report_copies(in_shared, warps, pc, size)
            k += 1

    def _record(self, event: Reads, start: int) -> int:
        shared, in_global, clocks = self.shared, self.in_global, self.clocks
        return _record(
            clocks.arrays, in_global.arrays, shared.arrays, in_global.wave & 0xFF, len(in_global.arena.bytes),
            shared.has_sources, clocks.copy_clock, self._special, self._read_only, start, event.pcs, event.kinds,
            event.sizes, event.firsts, event.counts, event.warps, event.index, event.lanes, self._found,
        )  # fmt: skip


@njit
def _record(
    c: ClockArrays, g: GlobalArrays, s: SharedArrays, wave: int, arena: int, has_sources: bool, copy_clock: Array,
    special: Array, read_only: Array, start: int, pcs: Array, kinds: Array, sizes: Array, firsts: Array, counts: Array,
    warps: Array, index: Array, lanes: Array, found: Array,
) -> int:  # fmt: skip
    """Record reads from number `start` on.

    Return the number of the first read with conflicts, or of the first one that must be checked alone. If there is no
    such read, return the number of reads. `found` receives the numbers of conflicts in global and in shared memory, as
    in `record_copies`, or -1 for a read that must be checked alone. `special` and `read_only` have an element for each
    instruction. The arrays from `pcs` to `lanes` are those of `Reads`. The other arguments are those of
    `record_copies`.
    """
    for k in range(start, len(pcs)):
        pc, kind, size, first, end = pcs[k], kinds[k], sizes[k], firsts[k], firsts[k] + counts[k]
        these, reached, mask = warps[first:end], index[first:end], lanes[first:end]
        found[0], found[1] = 0, 0
        if special[pc] or (kind == _GLOBAL and size < 1 << g.shift):
            found[0] = -1
        elif kind == _SHARED:
            if _is_remote(c, s, these, reached, mask):
                found[0] = -1
            else:
                found[1] = read_lanes(c, s, these, reached, mask, size, pc, 0, TOGETHER)
        elif kind == _GLOBAL:
            now = np.empty(len(these), np.int64)
            for i in range(len(these)):
                now[i] = c.clock[these[i]]
            found[0] = access_lanes(
                c, g, wave, these, reached, mask, size, True, False, GENERIC, 0, bool(read_only[pc]), pc, now
            )  # fmt: skip
        elif kind == _COPY:
            last = end + counts[k]
            record_copies(
                c, g, s, wave, these, lanes[end:last], index[end:last], reached, mask, size, arena, pc, has_sources,
                copy_clock, found,
            )  # fmt: skip
        if found[0] or found[1]:
            return k
    return len(pcs)


@njit
def _is_remote(c: ClockArrays, s: SharedArrays, warps: Array, index: Array, mask: Array) -> bool:
    """Return True if a lane reads the shared memory of another CTA."""
    for i in range(len(warps)):
        first = (c.cta_of[warps[i]] * s.cta_granules) << s.shift
        end = first + (s.cta_granules << s.shift)
        for lane in range(32):
            if mask[i, lane] and not first <= index[i, lane] < end:
                return True
    return False
