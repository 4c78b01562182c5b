"""Memory that launches on a GPU need besides their arrays: sums of tiles that are cut, and their flags."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu import Gpu


class _Piece(NamedTuple):
    """Memory for so many words of 32 bits and flags, by its addresses. Launches leave flags at 0."""

    words: int
    flags: int
    partial: int
    marks: int

    def holds(self, words: int, flags: int) -> bool:
        return words <= self.words and flags <= self.flags


class Workspaces:
    """Those of one GPU: a piece for each stream, whose launches come one after the other.

    A piece that was handed out stays, for a graph may hold its address. A spare one is made when a launch is
    prepared: a stream that is being recorded can take it, and nothing can be made then.
    """

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.spare = _Piece(0, 0, 0, 0)
        self.of_streams: dict[int, _Piece] = {}

    def prepare(self, words: int, flags: int) -> None:
        """Have a spare piece for a launch that needs so much. Errors: UsageError gpu.memory."""
        if not self.spare.holds(words, flags):
            before = self.spare
            self.spare = self._made(max(words, before.words), max(flags, before.flags))
            for address in (before.partial, before.marks):
                if address:
                    self.gpu.free(address)

    def hold(self, stream: int, words: int, flags: int) -> tuple[int, int]:
        """The addresses for a launch on a stream. Errors: UsageError kernels.recording, gpu.memory."""
        found = self.of_streams.get(stream)
        if found is None or not found.holds(words, flags):
            found = self.of_streams[stream] = self._taken(stream, words, flags)
        return found.partial, found.marks

    def _taken(self, stream: int, words: int, flags: int) -> _Piece:
        recording, found = self.gpu.is_recording(stream), self.spare
        if not recording:
            before = self.of_streams.get(stream)
            if before is not None:  # what a stream has grown out of is together no more than what it has
                words, flags = max(words, 2 * before.words), max(flags, 2 * before.flags)
            self.prepare(words, flags)
            found, self.spare = self.spare, _Piece(0, 0, 0, 0)
            self.prepare(found.words, found.flags)
            return found
        if not found.holds(words, flags):
            raise UsageError(
                "a graph is being recorded, and the launch needs memory that there is not yet",
                code="kernels.recording",
                hint="multiply once before, on a stream that is not being recorded",
            )
        self.spare = _Piece(0, 0, 0, 0)
        return found

    def _made(self, words: int, flags: int) -> _Piece:
        made = _Piece(words, flags, self.gpu.allocate(4 * words), self.gpu.allocate(4 * flags))
        self.gpu.upload(made.marks, np.zeros(4 * flags, np.uint8))
        self.gpu.wait()
        return made
