"""State of one CUDA program: its contexts, its device memory, and the objects that its handles name."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from threading import RLock
from typing import TypeVar

import numpy as np

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.arena import Segment
from warploom.integrations.cuda_driver.devices import DeviceModel
from warploom.integrations.cuda_driver.launch_log import LaunchLog
from warploom.integrations.cuda_driver.protocol import Connection
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.runtime.sessions.device_memory import DeviceMemory
from warploom.runtime.sessions.launch_order import StreamOrder
from warploom.runtime.sessions.launch_queue import LaunchQueue

_Object = TypeVar("_Object")
_FIRST_HANDLE = 0x5741_5250_0000  # far from small integers and from addresses
_HANDLE_STEP = 16
_RETURNED_BYTES = 1 << 20
"""Size from which a freed range is returned to the system rather than filled with zeros."""


@dataclass(eq=False)
class Context:
    """Context of the device.

    The primary context exists while `uses` is above 0. A destroyed context may remain current in a thread. `storage`
    has the values that NVIDIA's runtime library keeps in a context, by key.
    """

    flags: int = 0
    is_primary: bool = False
    uses: int = 1
    cache: int = 0
    number: int = 0
    limits: dict[int, int] = field(default_factory=dict[int, int])
    storage: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def is_destroyed(self) -> bool:
        """True if the context does not exist now."""
        return not self.uses


class Lasting:
    """Object that may remain after a reset of the device."""

    @property
    def lasts(self) -> bool:
        """True if the object remains."""
        return False

    def renew(self) -> None:
        """Allocate device memory again after a reset."""


@dataclass(frozen=True)
class Mapped:
    """Allocation that the program can access, at the address that kernels use.

    `is_managed` is True for managed memory, and False for pinned host memory. `flags` are those of `cuMemHostAlloc`.
    Units: `size` in bytes.
    """

    segment: Segment
    size: int
    is_managed: bool
    flags: int


@dataclass(eq=False)
class GraphMemory:
    """Memory that a node of a graph allocates, at the same address in all runs.

    `is_live` is True from a run of this node until the memory is freed. `users` is the number of graphs and executable
    graphs that allocate the memory.
    """

    segment: Segment
    is_live: bool = False
    users: int = 0


@dataclass
class ThreadState:
    """State of a thread of the program: its contexts, of which the last one is current.

    `order` is that of its default stream.
    """

    contexts: list[Context] = field(default_factory=list[Context])
    capture_mode: int = 0
    order: StreamOrder = field(default_factory=StreamOrder)


@dataclass(eq=False)
class CaptureState:
    """State of a capture of operations.

    `mode` is 0 (global), 1 (of a thread) or 2 (relaxed), and `thread` is the thread that began the capture.
    `waits_for_default` is True if one of its streams waits for the legacy default stream. `is_valid` is False after an
    operation that cannot be captured, and `has_ended` is True after the end.
    """

    mode: int
    thread: ThreadState
    waits_for_default: bool = False
    is_valid: bool = True
    has_ended: bool = False


class CudaProgram:
    """CUDA program and its device. One lock protects the state, so that calls execute one after the other.

    `failure` is the status of a kernel that failed. All later calls return this status, as on a GPU, also after a
    reset. `launches` has the launches that are delayed. `races` compares launches with each other; it is None without
    the sanitizer. `legacy` is the order of the legacy default stream, and `blocking` has the orders of the streams that
    wait for it. `connection` belongs to the present call. `owners` has the context of each allocation, and
    `synchronous` the attribute SYNC_MEMOPS, by address.
    """

    def __init__(self, process: int, model: DeviceModel, log: LaunchLog) -> None:
        self.process = process
        self.model = model
        self.log = log
        self.lock = RLock()
        self.is_initialised = False
        self.failure: Status | None = None
        self.file = os.memfd_create("warploom", os.MFD_CLOEXEC)
        os.ftruncate(self.file, model.memory)
        self._mapping = mmap.mmap(self.file, model.memory)
        self._bytes = np.frombuffer(self._mapping, np.uint8)
        self.memory = DeviceMemory(self._bytes, self._clear)
        self.launches = LaunchQueue()
        self.races = log.races(self.memory)
        self.legacy = StreamOrder()
        self.blocking: list[StreamOrder] = []
        self.connection: Connection | None = None
        self.mapped: dict[int, Mapped] = {}
        self.graph_memory: dict[int, GraphMemory] = {}
        self.pool: object = None
        self.default_pool: object = None
        self.registered: dict[int, int] = {}
        self.owners: dict[int, Context] = {}
        self.synchronous: dict[int, bool] = {}
        self.captures: list[CaptureState] = []
        self.constants: dict[bytes, int] = {}
        self._objects: dict[int, object] = {}
        self._handles: dict[int, int] = {}
        self._next_handle = _FIRST_HANDLE
        self._names = count(1)
        self.primary = Context(is_primary=True, uses=0, number=1)
        self.next_context = count(2)

    def handle_of(self, item: object) -> int:
        """Return the handle of an object. The first call creates it."""
        if id(item) not in self._handles:
            handle = self._next_handle
            self._next_handle += _HANDLE_STEP
            self._objects[handle] = item
            self._handles[id(item)] = handle
        return self._handles[id(item)]

    def get(self, kind: type[_Object] | tuple[type[_Object], ...], handle: int, status: Status) -> _Object:
        """Return the object of type `kind` with a handle. Errors: DriverError with `status` if there is none."""
        found = self._objects.get(handle)
        if not isinstance(found, kind):
            raise DriverError(status)
        return found

    def find(self, handle: int) -> object:
        """Return the object with a handle, or None."""
        return self._objects.get(handle)

    def print(self, text: str) -> None:
        """Write text to the standard output of the program.

        The thread of the present call writes it. Without a call, the text is lost.
        """
        if self.connection is not None:
            self.connection.print(text.encode())

    def drop(self, item: object) -> None:
        """Make the handle of an object invalid."""
        handle = self._handles.pop(id(item), None)
        if handle is not None:
            del self._objects[handle]

    def has_ended(self, handle: int) -> bool:
        """Return True if a handle named an object that has been destroyed."""
        return _FIRST_HANDLE <= handle < self._next_handle and handle not in self._objects

    def allocation_name(self) -> str:
        """Return a name for a new allocation, for messages."""
        return f"allocation {next(self._names)}"

    def is_device_address(self, address: int) -> bool:
        """Return True if an address belongs to the device memory, allocated or not."""
        return GLOBAL_BASE <= address < GLOBAL_BASE + self.model.memory

    def reset(self) -> None:
        """Destroy all allocations and objects except contexts and libraries."""
        lasting = [each for each in self._objects.values() if isinstance(each, Lasting) and each.lasts]
        for item in [*self._objects.values()]:
            if not isinstance(item, Context) and item not in lasting:
                self.drop(item)
        self.memory.clear()
        self.mapped.clear()
        self.graph_memory.clear()
        self.registered.clear()
        self.constants.clear()
        self.owners.clear()
        self.synchronous.clear()
        self.captures.clear()
        self.pool = self.default_pool = None
        for item in lasting:
            item.renew()
        self.primary.flags = self.primary.uses = self.primary.cache = 0
        self.primary.limits.clear()
        self.primary.storage.clear()

    def _clear(self, first: int, size: int) -> None:
        """Set bytes of the device memory to zero. Whole pages are returned to the system."""
        start, end = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE, (first + size) // mmap.PAGESIZE * mmap.PAGESIZE
        if end - start < _RETURNED_BYTES:
            start = end = first
        else:
            self._mapping.madvise(mmap.MADV_REMOVE, start, end - start)
        self._bytes[first:start] = 0
        self._bytes[end : first + size] = 0

    def close(self) -> None:
        """Release the device memory."""
        self._mapping.madvise(mmap.MADV_REMOVE)
        os.close(self.file)


@dataclass
class DriverCall:
    """Call of a driver function by a thread of a program.

    `has_own_default` is True if the default stream of the call is that of the thread. `graph_stream` is the stream of a
    graph that the call launches.
    """

    program: CudaProgram
    thread: ThreadState
    connection: Connection
    refuse: Callable[[str], None]
    has_own_default: bool = False
    graph_stream: int = 0

    def device(self, ordinal: int) -> int:
        """Check the number of a device, and return it. Only 0 is valid. Errors: DriverError INVALID_DEVICE."""
        if ordinal != 0:
            raise DriverError(Status.INVALID_DEVICE)
        return ordinal

    @property
    def context(self) -> Context:
        """Current context of the thread.

        Errors: DriverError INVALID_CONTEXT without one, CONTEXT_IS_DESTROYED.
        """
        if not self.thread.contexts:
            raise DriverError(Status.INVALID_CONTEXT)
        if self.thread.contexts[-1].is_destroyed:
            raise DriverError(Status.CONTEXT_IS_DESTROYED)
        return self.thread.contexts[-1]

    def call_back(self, function: int, *arguments: int) -> int:
        """Call a function of the program with up to four words, and return its result.

        Other threads of the program may call driver functions meanwhile, because the function may wait for them.
        """
        self.program.lock.release()
        try:
            return self.connection.call_back(function, *arguments)
        finally:
            self.program.lock.acquire()
            self.program.connection = self.connection

    def context_of(self, handle: int) -> Context:
        """Return the context with a handle, which is the primary one or exists.

        Errors: DriverError INVALID_VALUE for a null handle, INVALID_CONTEXT.
        """
        if not handle:
            raise DriverError(Status.INVALID_VALUE)
        found = self.get(Context, handle, Status.INVALID_CONTEXT)
        if found.is_destroyed and not found.is_primary:
            raise DriverError(Status.INVALID_CONTEXT)
        return found

    def get(
        self, kind: type[_Object] | tuple[type[_Object], ...], handle: int, status: Status = Status.INVALID_HANDLE
    ) -> _Object:
        """Return the object of type `kind` with a handle. Errors: as `CudaProgram.get`."""
        return self.program.get(kind, handle, status)
