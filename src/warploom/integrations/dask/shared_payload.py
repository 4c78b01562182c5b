"""Packing of an object that all tasks share.

The packed object is sent to other hosts, and mapped into memory on this host.
"""

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

_BLOCK = 1 << 16  # bytes; a block of zeros is omitted
_PAGE = mmap.ALLOCATIONGRANULARITY

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Layout of a packed object: a pickle and its out-of-band buffers.

    `buffers` has the offset and the size of each buffer. Units: bytes.
    """

    pickle_size: int
    buffers: list[tuple[int, int]]

    @property
    def size(self) -> int:
        return max([self.pickle_size, *(start + size for start, size in self.buffers)])

    def unpickle(self, image: Bytes) -> Any:
        """Return the object whose packed bytes are `image`. Its arrays are views of `image`."""
        buffers = [image[start : start + size] for start, size in self.buffers]
        # The data comes from the sender of the task: users of one cluster trust each other.
        return pickle.loads(image[: self.pickle_size].tobytes(), buffers=buffers)  # noqa: S301


@dataclass(frozen=True, slots=True)
class SharedPayload:
    """Packed object that is sent to workers.

    `parts` has the offset and the bytes of each part of the packed object. Long ranges of zeros are left out.
    """

    layout: _Layout
    parts: list[tuple[int, Bytes]]

    def unpack(self) -> Any:
        """Return a new copy of the object."""
        image = np.zeros(self.layout.size, np.uint8)
        for start, part in self.parts:
            image[start : start + len(part)] = part
        return self.layout.unpickle(image)


@dataclass(frozen=True, slots=True)
class MappedPayload:
    """Packed object in a memory file of the sender, for the processes of one host.

    `identity` is the device and the inode of the file.
    """

    layout: _Layout
    path: str
    identity: tuple[int, int]

    def unpack(self) -> Any:
        """Return a new copy of the object.

        Errors: OSError if the sender has closed the file.
        """
        with Path(self.path).open("rb") as file:
            if _identity(file.fileno()) != self.identity:  # the path now leads to another file
                raise FileNotFoundError(f"{self.path} is not the file that the sender wrote")
            # The operating system copies each page when it is first written.
            image = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
        return self.layout.unpickle(image)


def pack(shared: object) -> SharedPayload:
    """Pack an object for all tasks. The object must be picklable."""
    found: list[pickle.PickleBuffer] = []  # buffers, which are not copied
    data = np.frombuffer(pickle.dumps(shared, protocol=5, buffer_callback=found.append), np.uint8)
    parts, buffers = [(0, data)], list[tuple[int, int]]()
    end = len(data)
    for buffer in found:
        contents = np.frombuffer(buffer.raw(), np.uint8)
        start = -(-end // _PAGE) * _PAGE
        end = start + len(contents)
        buffers.append((start, len(contents)))
        parts += [(start + first, part) for first, part in _nonzero_parts(contents)]
    return SharedPayload(_Layout(len(data), buffers), parts)


@contextmanager
def mapped(payload: SharedPayload) -> Generator[MappedPayload | None]:
    """Share a payload with the processes of this host during a `with` block.

    Yield None if the operating system has no memory files (memfd).
    """
    if not hasattr(os, "memfd_create"):
        yield None
        return
    # The file vanishes when this process ends, even after a crash.
    with os.fdopen(os.memfd_create("warploom"), "wb") as file:
        for start, part in payload.parts:
            file.seek(start)
            file.write(part.data)
        file.truncate(payload.layout.size)
        path = f"/proc/{os.getpid()}/fd/{file.fileno()}"
        yield MappedPayload(payload.layout, path, _identity(file.fileno()))


def _identity(file: int) -> tuple[int, int]:
    status = os.fstat(file)
    return status.st_dev, status.st_ino


def _nonzero_parts(buffer: Bytes) -> list[tuple[int, Bytes]]:
    whole = len(buffer) // _BLOCK * _BLOCK
    is_nonzero = buffer[:whole].reshape(-1, _BLOCK).max(axis=1, initial=0) > 0
    is_nonzero = np.concatenate([[False], is_nonzero, [whole < len(buffer)], [False]])
    edges = np.flatnonzero(is_nonzero[1:] != is_nonzero[:-1]) * _BLOCK
    return [(int(first), buffer[first:end]) for first, end in edges.reshape(-1, 2).tolist()]
