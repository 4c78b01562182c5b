"""Compiled record of the accesses of asynchronous thread copies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.numerics._compile import njit
from warploom.observe.sanitize._shared_shadow import SharedArrays, set_sources, write_lanes
from warploom.observe.sanitize.clock_arrays import THREAD_COPIES, THREAD_COPY, ClockArrays
from warploom.observe.sanitize.global_shadow import GlobalArrays, access_lanes

Array = NDArray[Any]


@njit
def record_copies(
    c: ClockArrays, g: GlobalArrays, s: SharedArrays, wave: int, warps: Array, lanes: Array, index: Array,
    sources: Array, reading: Array, size: int, arena: int, pc: int, has_sources: bool, times: Array, found: Array,
) -> None:  # fmt: skip
    """Record thread copies of lanes from global to shared memory, `size` bytes each.

    `found` receives the numbers of conflicts in global and in shared memory. The first conflicts are stored in `g.out`
    and in `s.out`. `index` has the byte offsets of the targets in shared memory, and `sources` the byte offsets of the
    sources in global memory. `lanes` marks the lanes that copy, and `reading` those of them that read their source. The
    copies are recorded at the times `times`, one for each warp of the wave. `arena` is the number of bytes of global
    memory. `has_sources` is set if the sources are recorded. Shapes: warps (warps,); lanes to reading (warps, 32).
    """
    count = len(warps)
    inside = np.zeros((count, 32), np.bool_)
    known = np.zeros((count, 32), np.int64)
    agents, clocks = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for i in range(count):
        w = warps[i]
        agents[i], clocks[i] = c.own[w] + THREAD_COPIES * c.per_cta, times[w]
        for lane in range(32):
            if lanes[i, lane]:
                c.copy_issued[w, lane] = times[w]
                if reading[i, lane]:
                    known[i, lane] = sources[i, lane] + GLOBAL_BASE
                    inside[i, lane] = sources[i, lane] >= 0 and sources[i, lane] + size <= arena
    found[0] = access_lanes(
        c, g, wave, warps, sources, inside, size, True, False, THREAD_COPY, 0, False, pc, clocks,
    )  # fmt: skip
    if has_sources:
        set_sources(s, index, lanes, size, known)
    found[1] = write_lanes(c, s, warps, index, lanes, size, pc, THREAD_COPY, 0, agents, clocks)
