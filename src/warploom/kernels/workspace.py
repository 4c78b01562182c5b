"""GPU memory that launches need besides their arrays: partial sums and flags of tiles cut along K."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu import Gpu


class _Allocation(NamedTuple):
    """Memory for 32-bit words at `partial`, and for flags at `marks`. Launches leave all flags at 0."""

    words: int
    flags: int
    partial: int
    marks: int

    def fits(self, words: int, flags: int) -> bool:
        return words <= self.words and flags <= self.flags


_NONE = _Allocation(0, 0, 0, 0)


class Workspaces:
    """Allocations of one GPU, one for each CUDA stream.

    Launches of a stream run one after another, so they can share memory. An allocation in use is never freed, because a
    CUDA graph may hold its address. Nothing can be allocated while a stream is being recorded into a graph. Therefore a
    spare allocation is made when a launch is prepared, and a stream that is being recorded takes it.
    """

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.spare = _NONE
        self.of_streams: dict[int, _Allocation] = {}

    def prepare(self, words: int, flags: int) -> None:
        """Ensure that a spare allocation of this size exists. Errors: UsageError gpu.memory."""
        if not self.spare.fits(words, flags):
            before = self.spare
            self.spare = self._allocate(max(words, before.words), max(flags, before.flags))
            for address in (before.partial, before.marks):
                if address:
                    self.gpu.free(address)

    def get(self, stream: int, words: int, flags: int) -> tuple[int, int]:
        """Return the addresses of words and flags for a launch on a stream.

        Errors: UsageError kernels.recording, gpu.memory.
        """
        found = self.of_streams.get(stream)
        if found is None or not found.fits(words, flags):
            found = self.of_streams[stream] = self._take(stream, words, flags)
        return found.partial, found.marks

    def _take(self, stream: int, words: int, flags: int) -> _Allocation:
        recording, found = self.gpu.is_recording(stream), self.spare
        if not recording:
            before = self.of_streams.get(stream)
            if before is not None:  # doubling bounds the memory that a stream has outgrown
                words, flags = max(words, 2 * before.words), max(flags, 2 * before.flags)
            self.prepare(words, flags)
            found, self.spare = self.spare, _NONE
            self.prepare(found.words, found.flags)
            return found
        if not found.fits(words, flags):
            raise UsageError(
                "a graph is being recorded and the launch needs memory that is not allocated yet",
                code="kernels.recording",
                hint="run the multiplication once before, on a stream that is not being recorded",
            )
        self.spare = _NONE
        return found

    def _allocate(self, words: int, flags: int) -> _Allocation:
        made = _Allocation(words, flags, self.gpu.allocate(4 * words), self.gpu.allocate(4 * flags))
        self.gpu.upload(made.marks, np.zeros(4 * flags, np.uint8))
        self.gpu.wait()
        return made
