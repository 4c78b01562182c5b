"""Device buffers: copies of host arrays in the memory of the emulator or of a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import addressof, c_char
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from warploom.emulator.arena import Arena, Segment
    from warploom.gpu import Gpu
    from warploom.runtime.sessions.device_memory import DeviceMemory

Array = NDArray[Any]

_BYTES = c_char * 0
_ALIGNMENT = 16  # bytes; compilers assume no larger alignment of an array's address


@lru_cache(maxsize=64)
def _raw_type(itemsize: int) -> np.dtype[np.void]:
    """Return the dtype of elements that have a size of `itemsize` bytes and no numeric type."""
    return np.dtype((np.void, itemsize))


def _address(array: Array) -> int:
    """Return the host address of an array's first element."""
    flags = array.flags
    if flags.writeable and flags.c_contiguous:  # `__array_interface__` takes three times as long
        return addressof(_BYTES.from_buffer(array.data))
    return int(array.__array_interface__["data"][0])


class _Member(NamedTuple):
    """Array in a device buffer, with the host address of its first element.

    `raw` is a view of the array without the element type.
    """

    name: str
    array: Array
    raw: Array
    address: int


@dataclass(slots=True)
class _Buffer:
    """Device buffer for the host addresses from `low` to below `high`.

    Several arrays share the buffer if they overlap.
    """

    low: int
    high: int
    members: list[_Member]
    start: int = 0
    segment: Segment | None = None

    @property
    def size(self) -> int:
        return max(self.high - self.low, 1)  # a GPU allocates no empty buffers

    def view(self, contents: NDArray[np.uint8], member: _Member) -> Array:
        """Return a view of an array's part of `contents`, a copy of the buffer."""
        raw = member.raw
        return np.ndarray(raw.shape, raw.dtype, contents, member.address - self.low, raw.strides)

    def load(self, contents: NDArray[np.uint8]) -> None:
        """Copy the arrays from host memory to `contents`, a copy of the buffer."""
        for member in self.members:
            self.view(contents, member)[...] = member.raw

    def store(self, contents: NDArray[np.uint8]) -> None:
        """Copy `contents`, a copy of the buffer, to the writable arrays in host memory."""
        for member in self.members:
            if member.raw.flags.writeable:
                member.raw[...] = self.view(contents, member)


class DeviceBuffers:
    """Device buffers of a launch. Arrays that overlap in host memory share one buffer."""

    def __init__(self) -> None:
        self._buffers: list[_Buffer] = []
        self._places: dict[int, tuple[_Buffer, _Member]] = {}  # by `id` of the array

    def __bool__(self) -> bool:
        return bool(self._buffers)

    def add(self, name: str, array: Array) -> None:
        """Add an array. `name` identifies the array in error messages."""
        raw = array.view(_raw_type(array.itemsize))
        size = array.nbytes
        address = _address(raw) if size else id(array)
        low, high = (address, address + size) if not size or array.flags.c_contiguous else byte_bounds(array)
        member = _Member(name, array, raw, address)
        added = _Buffer(int(low), int(high), [member])
        separate: list[_Buffer] = []
        for other in self._buffers:
            if other.low < added.high and added.low < other.high:
                # Rounding down keeps the alignment of every array in the shared buffer.
                low = min(added.low, other.low) // _ALIGNMENT * _ALIGNMENT
                added = _Buffer(low, max(added.high, other.high), other.members + added.members)
            else:
                separate.append(other)
        self._buffers = [*separate, added]
        for each in added.members:
            self._places[id(each.array)] = added, each

    def contains(self, value: object) -> bool:
        """Return True if a value is an array that has a buffer."""
        return id(value) in self._places

    def address(self, value: object) -> int:
        """Return the device address of an array's first element."""
        buffer, member = self._places[id(value)]
        return buffer.start + member.address - buffer.low

    def members(self) -> Iterator[tuple[str, Array]]:
        """Yield the name of each array, and the array."""
        for buffer in self._buffers:
            for member in buffer.members:
                yield member.name, member.array

    # The emulator's memory ------------------------------------------------------------------------------------

    def reserve(self, arena: Arena) -> None:
        """Reserve memory of the emulator for each buffer."""
        for buffer in self._buffers:
            names = " and ".join(dict.fromkeys([member.name for member in buffer.members]))
            writable = all(member.raw.flags.writeable for member in buffer.members)
            buffer.segment = arena.reserve(names, buffer.high - buffer.low, writable)
            buffer.start = buffer.segment.start

    def place(self, memory: DeviceMemory) -> list[Segment]:
        """Allocate device memory for each buffer, and return the allocations.

        Errors: UsageError launch.memory.
        """
        found: list[Segment] = []
        for buffer in self._buffers:
            names = " and ".join(dict.fromkeys([member.name for member in buffer.members]))
            buffer.segment = memory.allocate(names, buffer.size)
            buffer.start = buffer.segment.start
            found.append(buffer.segment)
        return found

    def fill(self, memory: DeviceMemory) -> None:
        """Copy the arrays from host memory to their allocations of a device memory."""
        for buffer, segment in self._segments():
            buffer.load(memory.view(segment.start, segment.size))

    def write_to(self, arena: Arena) -> None:
        """Copy the arrays from host memory to `arena`, the emulator's memory."""
        for buffer, segment in self._segments():
            buffer.load(arena.view(segment))

    def read_from(self, arena: Arena) -> None:
        """Copy the buffers that the kernel has modified from `arena` to the writable arrays in host memory."""
        for buffer, segment in self._segments():
            if arena.written(segment):
                buffer.store(arena.view(segment))

    def inputs(self, arena: Arena) -> list[NDArray[np.uint8]]:
        """Return the contents of the buffers before the run that has ended, in the order of their segments.

        The arrays in host memory must not have the results yet. Contents that the run has not changed are views.
        """
        found: list[NDArray[np.uint8]] = []
        for buffer, segment in self._segments():
            contents = arena.view(segment)
            if arena.written(segment):
                contents = np.zeros_like(contents)
                buffer.load(contents)
            found.append(contents)
        return found

    def views(self, arena: Arena) -> Iterator[tuple[str, Array]]:
        """Yield the name of each writable array, and a view of its copy in `arena`."""
        for buffer, segment in self._segments():
            for member in buffer.members:
                if member.raw.flags.writeable:
                    yield member.name, buffer.view(arena.view(segment), member).view(member.array.dtype)

    def contents(self, value: object, arena: Arena) -> Array:
        """Return a view of an array's copy in `arena`."""
        buffer, member = self._places[id(value)]
        assert buffer.segment is not None
        return buffer.view(arena.view(buffer.segment), member).view(member.array.dtype)

    def _segments(self) -> Iterator[tuple[_Buffer, Segment]]:
        for buffer in self._buffers:
            assert buffer.segment is not None
            yield buffer, buffer.segment

    # The memory of a GPU --------------------------------------------------------------------------------------

    def allocate(self, gpu: Gpu) -> None:
        """Allocate memory of a GPU for each buffer."""
        for buffer in self._buffers:
            buffer.start = gpu.allocate(buffer.size)

    def upload(self, gpu: Gpu) -> None:
        """Copy the arrays from host memory to their buffers on a GPU."""
        for buffer in self._buffers:
            contents = np.zeros(buffer.size, np.uint8)
            buffer.load(contents)
            gpu.upload(buffer.start, contents)

    def download(self, gpu: Gpu) -> None:
        """Copy the buffers on a GPU back to the writable arrays in host memory."""
        for buffer in self._buffers:
            contents = np.empty(buffer.size, np.uint8)
            gpu.download(buffer.start, contents)
            buffer.store(contents)
