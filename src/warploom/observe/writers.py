"""Observer that records the last writer of each element of an array in global memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Access, CopyAccess, Launch, Resident
from warploom.emulator.observers import Observer
from warploom.emulator.program import Program

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Writers:
    """Last writer of each element of an array: the instruction and the thread.

    For a bulk copy, the writer is the thread that issued the copy. All attributes are -1 for elements that the kernel
    did not write. `ctas` counts the CTAs of `grid` with x fastest, and `warps` the warps of a CTA.

    Shapes: pcs, ctas, warps and lanes (elements,).
    """

    program: Program
    grid: tuple[int, int, int]
    pcs: Array
    ctas: Array
    warps: Array
    lanes: Array


class WriterRecorder(Observer):
    """Observer that records the last writer of each element of an array.

    The array is contiguous. Units: `start` is a byte offset in `Arena.bytes`, and `itemsize` the bytes of an element.
    """

    launch: Launch

    def __init__(self, start: int, elements: int, itemsize: int) -> None:
        super().__init__()
        self.start, self.itemsize = start, itemsize
        self._pcs = np.full(elements, -1, np.int32)
        self._threads = np.full(elements, -1, np.int64)

    def attach(self, launch: Launch) -> None:
        """Prepare for a launch, and select the events to observe."""
        self.launch = launch
        self._first_thread = np.zeros(0, np.int64)  # number of lane 0 of each resident warp in the grid
        self.handlers = {Resident: self._resident, Access: self._access, CopyAccess: self._copy_access}

    def _resident(self, event: Resident) -> None:
        topology, (width, height, _) = event.placement.topology, self.launch.grid.grid
        x, y, z = event.placement.coordinates.T
        cta = (z * height + y) * width + x
        warp = cta[topology.cta_of] * topology.warps_per_cta + topology.warp_in_cta
        self._first_thread = warp * 32

    def _access(self, event: Access) -> None:
        if event.kind == "read" or event.space != "global":
            return
        reached = event.lanes & (event.index + event.size > self.start)
        warps, lanes = np.nonzero(reached & (event.index < self.start + len(self._pcs) * self.itemsize))
        if len(warps):
            starts = event.index[warps, lanes]
            self._record(event.pc, starts, np.full(len(starts), event.size), event.location.warp[warps], lanes)

    def _copy_access(self, event: CopyAccess) -> None:
        if event.kind != "read":
            self._record(event.pc, event.starts, event.sizes, event.warps, event.lanes)

    def _record(self, pc: int, starts: Array, sizes: Array, warps: Array, lanes: Array) -> None:
        """Record a thread as the writer of each byte range. A later range replaces an earlier one."""
        offsets = starts - self.start
        firsts = np.clip(offsets // self.itemsize, 0, len(self._pcs))
        counts = np.clip(-(-(offsets + sizes) // self.itemsize), 0, len(self._pcs)) - firsts
        before = np.cumsum(counts) - counts
        elements = np.repeat(firsts - before, counts) + np.arange(int(counts.sum()))
        threads = np.broadcast_to(self._first_thread[warps] + lanes, counts.shape)
        self._pcs[elements] = pc
        self._threads[elements] = np.repeat(threads, counts)

    def writers(self) -> Writers:
        """Return the writers after the run."""
        launch, threads = self.launch, self._threads
        ctas, inside = np.divmod(threads, launch.topology.warps_per_cta * 32)
        unwritten = threads < 0
        warps, lanes = np.divmod(inside, 32)
        for part in (warps, lanes):
            part[unwritten] = -1
        return Writers(launch.program, launch.grid.grid, self._pcs, ctas, warps, lanes)
