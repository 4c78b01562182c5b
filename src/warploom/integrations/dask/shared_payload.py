"""What all tasks share, on its way to workers: sent to each once, or on one machine laid where they can map it."""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 16  # bytes that are left out together where they are zeros
_PAGE = mmap.ALLOCATIONGRANULARITY

Bytes = NDArray[np.uint8]
Part = tuple[int, Bytes]
"""Where in a buffer some bytes stand, and what they are."""


@dataclass(frozen=True, slots=True)
class SharedPayload:
    """Something pickled, which one worker hands on to another without making anything of it.

    `buffers` are what the pickle leaves out: their sizes in bytes, and their parts that hold anything but zeros.
    """

    data: bytes
    buffers: list[tuple[int, list[Part]]]

    def unpack(self) -> Any:
        """What was packed, anew each time."""
        buffers: list[Bytes] = []
        for size, parts in self.buffers:
            buffers.append(np.zeros(size, np.uint8))
            for first, part in parts:
                buffers[-1][first : first + len(part)] = part
        return _read(self.data, buffers)


@dataclass(frozen=True, slots=True)
class MappedPayload:
    """A parcel in memory that the processes of one machine map, each for itself: none sees what another writes.

    `path` leads to it while it is lent, and `identity` says whether it still does. Units: bytes.
    """

    path: str
    identity: tuple[int, int]
    data: int
    sizes: list[int]

    def unpack(self) -> Any:
        """What was packed, anew each time; bytes are copied once they are written to.

        Errors: OSError once it is not lent any more.
        """
        with Path(self.path).open("rb") as file:
            if _identity(file.fileno()) != self.identity:
                raise FileNotFoundError(f"{self.path} is something else by now")
            held = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
        starts = _starts(self.data, self.sizes)
        buffers = [held[start : start + size] for start, size in zip(starts, self.sizes, strict=True)]
        return _read(held[: self.data].tobytes(), buffers)


def pack(what: Any) -> SharedPayload:
    """Make a parcel of what can be pickled. The buffers are not copied."""
    found: list[pickle.PickleBuffer] = []
    data = pickle.dumps(what, protocol=5, buffer_callback=found.append)
    buffers = [np.frombuffer(each.raw(), np.uint8) for each in found]
    return SharedPayload(data, [(len(each), _parts(each)) for each in buffers])


@contextmanager
def mapped(parcel: SharedPayload) -> Generator[MappedPayload | None]:
    """Lay a parcel out for the processes of this machine; None where the system has no memory without a name.

    It is gone once this process is, however that ends.
    """
    if not hasattr(os, "memfd_create"):
        yield None
        return
    file = os.memfd_create("warploom")
    try:
        sizes = [size for size, _ in parcel.buffers]
        starts = _starts(len(parcel.data), sizes)
        os.ftruncate(file, max([len(parcel.data), *map(sum, zip(starts, sizes, strict=True))]))
        _write(file, 0, parcel.data)
        for start, (_, parts) in zip(starts, parcel.buffers, strict=True):
            for first, part in parts:
                _write(file, start + first, part)
        yield MappedPayload(f"/proc/{os.getpid()}/fd/{file}", _identity(file), len(parcel.data), sizes)
    finally:
        os.close(file)


def _write(file: int, at: int, data: bytes | Bytes) -> None:
    left = memoryview(data if isinstance(data, bytes) else data.data)
    while left:
        done = os.pwrite(file, left, at)
        left, at = left[done:], at + done


def _starts(data: int, sizes: list[int]) -> list[int]:
    """Where buffers stand behind so many bytes of a pickle: each on a page of its own."""
    starts: list[int] = []
    end = data
    for size in sizes:
        starts.append(-(-end // _PAGE) * _PAGE)
        end = starts[-1] + size
    return starts


def _identity(file: int) -> tuple[int, int]:
    found = os.fstat(file)
    return found.st_dev, found.st_ino


def _parts(buffer: Bytes) -> list[Part]:
    """The parts of a buffer without the blocks that hold zeros alone."""
    whole = len(buffer) // _BLOCK * _BLOCK
    held = buffer[:whole].reshape(-1, _BLOCK).max(axis=1, initial=0) > 0
    held = np.concatenate([[False], held, [whole < len(buffer)], [False]])
    turns = np.flatnonzero(held[1:] != held[:-1]) * _BLOCK
    return [(int(first), buffer[first:end]) for first, end in turns.reshape(-1, 2).tolist()]


def _read(data: bytes, buffers: list[Bytes]) -> Any:
    # From whoever sent the task, as Dask's tasks are: those who share a cluster trust each other.
    return pickle.loads(data, buffers=buffers)  # noqa: S301
