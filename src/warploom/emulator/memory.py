"""Memories of the resident CTAs, and checked access to them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warploom.emulator import access
from warploom.emulator.address_space import (
    CHUNK_MASK,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    SHARED_START,
    SHARED_WINDOW,
    WINDOW_SIZE,
)
from warploom.emulator.arena import Arena
from warploom.emulator.events import Access, AccessKind, CopyAccess, CopyWrite, ThreadCopyIssue
from warploom.emulator.faults import Fault
from warploom.emulator.observers import Dispatcher, in_turn
from warploom.emulator.shared_memory import Location, SharedMemory, cleared
from warploom.emulator.state import State
from warploom.isa.instructions.reductions import update
from warploom.isa.model.records import ThreadCopy
from warploom.isa.model.semantics import Array, Lanes

_CHUNK = 4096  # bytes of a string that are searched together
_UNSIGNED = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


def _joined(words: Array) -> Array:
    """Return 128-bit values of pairs of 64-bit words.

    Shapes: words (2 * count, warps, 32), result (count, warps, 32).
    """
    pairs = words.reshape(-1, 2, *words.shape[1:]).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pairs).view("V16")[..., 0]


def _halves(values: Array) -> Array:
    """Return the 64-bit words of 128-bit values. This is the inverse of `_joined`."""
    pairs = np.ascontiguousarray(values)[..., None].view(np.uint64)
    return np.ascontiguousarray(pairs.transpose(0, 3, 1, 2)).reshape(-1, *values.shape[1:])


def _exchange(
    op: str, memory: Array, index: Array, mask: Lanes, values: Array, compares: Array, out: Array
) -> None:  # fmt: skip
    """Exchange 128 bits of memory with the value of each lane in turn.

    The operation "cas" exchanges them only where memory equals `compares`.
    """
    for place in map(tuple, np.argwhere(mask)):
        found = memory[index[place] : index[place] + 16].view("V16")
        out[place] = found[0]
        if op == "exch" or found[0] == compares[place]:
            found[0] = values[place]


class Memory:
    """Global, shared and local memory of the resident CTAs."""

    STATE = ("local", "is_watched", "_watcher", "_on_access")

    def __init__(self, state: State, arena: Arena, shared_bytes: int, local_bytes: int, events: Dispatcher) -> None:
        self.state = state
        self.arena = arena
        self.shared = SharedMemory(state.topology, shared_bytes)
        self.local_bytes = local_bytes
        self.local_stride = -(-max(local_bytes, 1) // 16) * 16  # bytes of each thread
        self.local = np.zeros(state.topology.warps * 32 * self.local_stride if local_bytes else 0, np.uint8)
        self._observers = events.handler(Access)
        self._on_copy = events.handler(CopyAccess)
        self._on_copy_write = events.handler(CopyWrite)
        self._on_thread_copy = events.handler(ThreadCopyIssue)
        self._fault = np.zeros(1, np.int64)
        self.is_watched = False  # True between the calls of `watch` that begin and end the calls of a handler
        self.watch(None)

    def start(self) -> None:
        """Clear shared and local memory before a new wave."""
        self.shared.start()
        self.local = cleared(self.local)
        self.watch(None)

    def local_index(self, location: Location, addresses: Array, mask: Lanes, size: int) -> NDArray[np.int64]:
        """Check accesses to local memory, and return their byte offsets in `local`.

        Shapes: (warps, 32). Errors: Fault emulator.out-of-bounds, emulator.misaligned. Units: `size` in bytes per lane.
        """
        first = location.warp * 32 * self.local_stride
        index = np.zeros(mask.shape, np.int64)
        lane = access.window_index(
            access.signed(addresses), access.uniform(mask), 0, self.local_bytes, 0, self.local_stride, first,
            np.zeros_like(first), 1, False, size, index, self._fault,
        )  # fmt: skip
        if lane >= 0:
            what = f"access at local address {int(access.element(addresses, mask.shape, lane)):#x}"
            if self._fault[0] == access.MISALIGNED:
                raise access.misaligned(size, what, lane)
            held = access.window_size("local", 0, self.local_bytes)
            message = f"{size}-byte {what} is out of bounds: the thread has {held}"
            raise Fault("emulator.out-of-bounds", message, lane)
        return index

    # Loads and stores -------------------------------------------------------------------------------------

    def load(
        self, space: str, location: Location, addresses: Array, mask: Lanes, dtype: np.dtype[Any], count: int
    ) -> Array:
        """Load `count` consecutive elements for each lane in `mask`. Other lanes receive 0.

        Shapes: result (count, warps, 32), addresses (warps, 32). Errors: Fault if an address is out of bounds or
        misaligned.
        """
        size = count * dtype.itemsize
        raw = _UNSIGNED[min(dtype.itemsize, 8)]
        out = np.zeros((size // raw.itemsize, *mask.shape), raw)
        for part, kind, local in self._by_window(space, addresses, mask):
            array, index = self._reach(kind, location, local, part, size, storing=False)
            if (on_access := self._handler(location)) is not None:
                on_access(self._access("read", array, location, index, part, size))
            access.load_indexed(array.view(raw), index, access.uniform(part), out)
        return _joined(out) if dtype.itemsize == 16 else out.view(dtype)

    def store(self, space: str, location: Location, addresses: Array, mask: Lanes, values: Array) -> None:
        """Store consecutive elements for each lane in `mask`. If lanes overlap, the last lane's value remains.

        Shapes: values (count, warps, 32) or broadcastable. Errors: Fault as in `load`, or emulator.read-only.
        """
        if values.dtype.itemsize == 16:
            values = _halves(np.broadcast_to(values, (len(values), *mask.shape)))
        raw = access.uniform(values).view(_UNSIGNED[values.dtype.itemsize])
        size = raw.itemsize * raw.shape[0]
        for part, kind, local in self._by_window(space, addresses, mask):
            array, index = self._reach(kind, location, local, part, size, storing=True)
            if (on_access := self._handler(location)) is not None:
                on_access(self._access("write", array, location, index, part, size, raw))
            access.store_indexed(array.view(raw.dtype), index, access.uniform(part), raw)

    def read_string(self, location: Location, address: int, lanes: Lanes, most: int | None = None) -> bytes:
        """Return the bytes from a generic address up to a zero byte, or at most `most` bytes.

        All lanes in the mask `lanes` of one warp read the same string. Shapes: lanes (1, 32).

        Errors: Fault emulator.out-of-bounds if the string has no end.
        """
        if most == 0:
            return b""
        addresses = np.full(lanes.shape, address, np.uint64)
        ((_, kind, local),) = self._by_window("", addresses, lanes)
        array, index = self._read_bytes(kind, location, local, lanes, 1)
        first = int(index[lanes][0])
        space = self._space_after(kind, int(local[0, 0]))
        end = first + (space if most is None else min(space, most))
        at, found = first, -1
        while at < end and found < 0:
            chunk = array[at : min(at + _CHUNK, end)].tobytes()
            found = chunk.find(0)
            at += len(chunk) if found < 0 else found
        if found < 0 and (most is None or space < most):
            self._read_bytes(kind, location, local + np.uint64(space), lanes, 1)  # raises the fault
        self._read_bytes(kind, location, local, lanes, at - first + (found >= 0), aligned=False)
        return array[first:at].tobytes()

    def _read_bytes(
        self, kind: str, location: Location, addresses: Array, lanes: Lanes, size: int, *, aligned: bool = True
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Check a load and create its event. Return the bytes of the memory, and the index of each lane."""
        array, index = self._reach(kind, location, addresses, lanes, size if aligned else 1, storing=False)
        if (on_access := self._handler(location)) is not None:
            on_access(self._access("read", array, location, index, lanes, size))
        return array, index

    def _space_after(self, space: str, address: int) -> int:
        """Return the number of bytes from an address to the end of the memory, buffer or allocation around it."""
        if space == "local":
            return self.local_bytes - address
        if space != "global":
            return self.shared.end - (address & 0xFF_FFFF)
        return int(self.arena.ends[self.arena.locate(np.array([address]))[0]]) - address

    def discard(self, location: Location, addresses: Array, mask: Lanes, size: int) -> None:
        """Make `size` bytes of global memory for each lane in `mask` undetermined.

        In the emulator, they keep their values. Shapes: addresses (warps, 32). Errors: Fault as in `store`.
        """
        array, index = self._reach("global", location, addresses, mask, size, True, "discard")
        if (on_access := self._handler(location)) is not None:
            on_access(self._access("write", array, location, index, mask, size))

    def watch(self, handler: Callable[[Access], None] | None) -> None:
        """Call `handler` for each access of lanes, before the access and before the observers get the event.

        Unlike the event `Access`, this includes the accesses of asynchronous operations. If `handler` is None, end the
        calls of the previous handler.
        """
        self.is_watched, self._watcher = handler is not None, handler
        self._on_access = in_turn([each for each in (handler, self._observers) if each is not None])

    def _handler(self, location: Location) -> Callable[[Access], None] | None:
        return self._watcher if location.asynchronous else self._on_access

    def array_of(self, space: str) -> NDArray[np.uint8]:
        """Return the bytes of "shared", "local" or "global" memory."""
        return {"shared": self.shared.bytes, "local": self.local}.get(space, self.arena.bytes)

    @property
    def reports_copies(self) -> bool:
        """True if an observer handles the event `CopyAccess`."""
        return self._on_copy is not None

    def report_copy(
        self, kind: AccessKind, starts: ArrayLike, sizes: ArrayLike, operation: str = "", type: str = "",
        issuers: tuple[Array, Array] | None = None,
    ) -> None:  # fmt: skip
        """Create the event `CopyAccess` for bulk copies, before the access.

        `issuers` are the warps and the lanes that issued the copies. The default is the copy in execution.
        """
        if self._on_copy is not None:
            pc, warp, lane = self.state.origin or (self.state.pc, -1, -1)
            warps, lanes = issuers or (np.array([warp]), np.array([lane]))
            ranges = np.asarray(starts, np.int64), np.asarray(sizes, np.int64)
            self._on_copy(CopyAccess(pc, kind, *ranges, warps, lanes, operation, type))

    @property
    def reports_copy_writes(self) -> bool:
        """True if an observer handles the event `CopyWrite`."""
        return self._on_copy_write is not None

    def report_copy_write(
        self, space: str, targets: Array, source_space: str, sources: Array, size: int, *, updates: bool = False
    ) -> None:
        """Create the event `CopyWrite` for the bulk copy in execution, before the write."""
        if self._on_copy_write is not None:
            pc, warp, lane = self.state.origin or (self.state.pc, -1, -1)
            issuer = np.array([warp]), np.array([lane])
            self._on_copy_write(CopyWrite(pc, space, targets, source_space, sources, size, *issuer, updates))

    def report_thread_copy(self, location: Location, record: ThreadCopy, lanes: Lanes) -> None:
        """Create the event `ThreadCopyIssue` for the copies of lanes."""
        if self._on_thread_copy is None:
            return
        size, amount = record.size, np.broadcast_to(record.amount, lanes.shape)
        try:
            targets = self.shared.index("shared", location, record.destination, lanes, size)
        except Fault:
            return  # the execution of the copy will raise it
        reading, complete = lanes & (amount > 0), lanes & (amount == size)
        sources = np.where(reading, record.source - np.uint64(GLOBAL_BASE), 0).view(np.int64)
        self._on_thread_copy(
            ThreadCopyIssue(self.state.pc, location, size, sources, targets, lanes, reading, complete)
        )  # fmt: skip

    def _access(
        self, kind: AccessKind, array: Array, location: Location, index: Array, lanes: Array, size: int,
        values: Array | None = None, operation: str = "", type: str = "",
    ) -> Access:  # fmt: skip
        space = "shared" if array is self.shared.bytes else "local" if array is self.local else "global"
        return Access(self.state.pc, kind, space, location, index, lanes, size, values, operation, type)

    def _reach(
        self, space: str, location: Location, addresses: Array, mask: Lanes, size: int, storing: bool, verb: str = ""
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        if space == "local":
            return self.local, self.local_index(location, addresses, mask, size)
        if space not in ("global", "const"):
            return self.shared.bytes, self.shared.index(space, location, addresses, mask, size)
        arena = self.arena
        index = np.zeros(mask.shape, np.int64)
        lane = access.arena_index(
            access.signed(addresses), access.uniform(mask), GLOBAL_BASE, size, arena.starts, arena.ends, arena.state,
            storing, index, self._fault,
        )  # fmt: skip
        if lane >= 0:
            raise self._global_fault(verb or ("store" if storing else "load"), addresses, mask, lane, size)
        return arena.bytes, index

    def _global_fault(self, verb: str, addresses: Array, mask: Lanes, lane: int, size: int) -> Fault:
        address = int(access.element(addresses, mask.shape, lane))
        if self._fault[0] == access.MISALIGNED:
            return access.misaligned(size, f"{verb} at global address {address:#x}", lane)
        if self._fault[0] == access.READ_ONLY:
            message = f"{size}-byte store at global address {address:#x} writes read-only memory"
            return Fault("emulator.read-only", f"{message}: {self.arena.nearest(address)}", lane)
        return self.arena.unmapped(f"{size}-byte {verb} at global address {address:#x}", address, lane)

    def atomic(
        self, space: str, location: Location, addresses: Array, mask: Lanes, op: str, type: str, values: Array,
        compares: Array,
    ) -> Array:  # fmt: skip
        """Apply an atomic operation for one lane in `mask` after the other. Return the old contents.

        Shapes: values, compares and result (warps, 32), unsigned bit patterns. Errors: Fault.
        """
        size = values.dtype.itemsize
        out = np.zeros(mask.shape, _UNSIGNED.get(size, values.dtype))
        for part, kind, local in self._by_window(space, addresses, mask):
            array, index = self._reach(kind, location, local, part, size, True, "atomic")
            if (on_access := self._handler(location)) is not None:
                new = values[None] if size < 16 else _halves(np.broadcast_to(values, (1, *mask.shape)))
                on_access(self._access("update", array, location, index, part, size, new, op, type))
            if size == 16:
                _exchange(op, array, index, part, values, compares, out)
                continue
            change = update(op, type, kind == "global")
            change.apply(array, index, access.uniform(part), values, compares, out)
        return out

    def tile(
        self, cta: Array, leaders: Array, descriptors: Array, offsets: Array, swizzle: int, base_offset: int,
        transposed: bool,
    ) -> Array:  # fmt: skip
        """Return swizzled tiles of shared memory, joined side by side to one matrix for each warpgroup.

        `descriptors` has the matrix descriptors of the tiles, which differ only in their start addresses. `swizzle` and
        `base_offset` are fields of these descriptors. `offsets` has the offsets of the 16-byte chunks of a tile. A line
        of `offsets` is a row of the tile, or a column with 16-bit elements if `transposed` is set. `leaders` contains
        the batch indices of the warpgroups' first warps.

        Shapes: cta and leaders (groups,), descriptors (groups, tiles), offsets (lines, chunks), result (groups, rows,
        words of a row). Units: words of 8 bytes. Errors: Fault emulator.out-of-bounds.
        """
        groups, tiles = descriptors.shape
        lines, chunks = offsets.shape
        rows, words = (8 * chunks, lines // 4) if transposed else (lines, 2 * chunks)
        out = np.empty((groups, rows, tiles * words), np.uint64)
        shared = self.shared
        missed = access.gather_tiles(
            shared.words, cta * shared.stride, access.uniform(descriptors), offsets, CHUNK_MASK[swizzle], base_offset,
            SHARED_START, shared.end, out, transposed,
        )  # fmt: skip
        if missed >= 0:
            group, tile = divmod(missed, tiles)
            raise self.fault_of_tile(int(descriptors[group, tile]), offsets, int(leaders[group]))
        return out

    def fault_of_tile(self, descriptor: int, offsets: Array, leader: int) -> Fault:
        """Return the fault of a tile that exceeds shared memory. `tile` describes the arguments."""
        first = (descriptor & 0x3FFF) << 4
        low, high = first + int(offsets.min()), first + int(offsets.max()) + 16
        message = (
            f"a matrix at shared addresses {low:#x} to {high:#x} is out of bounds: the CTA has "
            f"{access.window_size('shared', SHARED_START, self.shared.end)}"
        )
        return Fault("emulator.out-of-bounds", message, leader * 32)

    # Generic addresses ------------------------------------------------------------------------------------

    def _by_window(self, space: str, addresses: Array, mask: Lanes) -> Sequence[tuple[Lanes, str, Array]]:
        """Divide an access by state space. Return the lanes, the space and the addresses of each part."""
        if space in ("global", "const") or space.startswith("shared") or space == "local":
            return ((mask, space, addresses),)
        if (addresses >= GLOBAL_BASE).all():
            return ((mask, "global", addresses),)
        wide = addresses.astype(np.uint64)
        in_shared = mask & (wide >= SHARED_WINDOW) & (wide < SHARED_WINDOW + WINDOW_SIZE)
        in_local = mask & (wide >= LOCAL_WINDOW) & (wide < LOCAL_WINDOW + WINDOW_SIZE)
        parts = (
            (mask & ~in_shared & ~in_local, "global", wide),
            (in_shared, "shared::cluster", wide - np.uint64(SHARED_WINDOW)),
            (in_local, "local", wide - np.uint64(LOCAL_WINDOW)),
        )
        return tuple(part for part in parts if part[0].any())
