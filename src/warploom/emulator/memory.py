"""Memory: one arena for global data with guard gaps, shared memory by CTA, local memory by thread.

Addresses are integers of the emulated program and never host addresses. Global and constant data and kernel
parameters live in the arena from GLOBAL_BASE on; shared memory answers from SHARED_START of each CTA's 24-bit
window, whose upper bits are the CTA's rank in the cluster; local memory answers from 0 for each lane. The
generic space maps the shared and local windows at SHARED_WINDOW and LOCAL_WINDOW.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warploom.diagnostics import UsageError
from warploom.emulator import access
from warploom.emulator.faults import Fault
from warploom.isa.instructions.reductions import HALVES
from warploom.isa.model.special_registers import RESERVED
from warploom.isa.model.types import TYPES
from warploom.numerics import atomics

if TYPE_CHECKING:
    from warploom.emulator.watch import Action, Watcher

Array = NDArray[Any]
Lanes = NDArray[np.bool_]

GLOBAL_BASE = 0x7F00_0000_0000
SHARED_WINDOW = 0x7E00_0000_0000
LOCAL_WINDOW = 0x7D00_0000_0000
WINDOW_SIZE = 0x1_0000_0000
FAR_BELOW = 0x7C00_0000_0000  # addresses below every window: null pointers and the like
SHARED_START = RESERVED
GAP = 4096
ALIGNMENT = 1024
CHUNK_MASK = {0: 0, 32: 1, 64: 3, 128: 7}  # swizzle span in bytes to the row bits that move 16-byte chunks

_UNSIGNED = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the arena: `start` is its virtual address."""

    name: str
    start: int
    size: int
    writable: bool = True
    kind: str = "global"  # or "const", "param"


class Arena:
    """Global data in one array. Segments are added before the run and never move."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._end = GLOBAL_BASE + GAP
        self.bytes: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self.starts = np.zeros(0, np.int64)
        self.ends = np.zeros(0, np.int64)
        self.state = np.zeros(0, np.uint8)

    def reserve(self, name: str, size: int, writable: bool = True, kind: str = "global") -> Segment:
        """A new segment of `size` bytes, zero-filled, with a gap after it."""
        segment = Segment(name, self._end, size, writable, kind)
        self.segments.append(segment)
        self._end += -(-size // ALIGNMENT) * ALIGNMENT + GAP
        return segment

    def seal(self) -> None:
        """Allocate the reserved segments; none can be added afterwards."""
        size = self._end - GLOBAL_BASE
        try:
            self.bytes = np.zeros(size, np.uint8)
        except MemoryError:
            largest = max(self.segments, key=lambda segment: segment.size)
            raise UsageError(
                f"the kernel's buffers and variables take {size} bytes, more than there is memory for; the largest is "
                f"{largest.name} with {largest.size} bytes",
                code="launch.memory",
            ) from None
        self.starts = np.array([segment.start for segment in self.segments], np.int64)
        self.ends = np.array([segment.start + segment.size for segment in self.segments], np.int64)
        self.state = np.array(
            [access.CLEAN if s.writable else access.LOCKED for s in self.segments], np.uint8
        )

    def fork(self) -> Arena:
        """A sealed arena with the same segments and contents, and bytes of its own."""
        other = Arena.__new__(Arena)
        other.__dict__.update(self.__dict__)
        other.bytes, other.state = self.bytes.copy(), self.state.copy()
        return other

    def view(self, segment: Segment) -> NDArray[np.uint8]:
        """The bytes of a segment."""
        first = segment.start - GLOBAL_BASE
        return self.bytes[first : first + segment.size]

    def written(self, segment: Segment) -> bool:
        """Whether the run wrote to a segment."""
        return bool(self.state[self.segments.index(segment)] == access.DIRTY)

    def nearest(self, address: int) -> str:
        """A phrase that places an address among the segments."""
        if not self.segments:
            return "there is no global buffer"
        inside = [s for s in self.segments if s.start <= address < s.start + s.size]
        if inside:
            over = inside[0]
            return f"it begins {address - over.start} bytes into {over.name} of {over.size} bytes"
        near = min(self.segments, key=lambda s: min(abs(address - s.start), abs(address - s.start - s.size)))
        end = near.start + near.size
        where = f"the nearest buffer, {near.name} of {near.size} bytes,"
        if address >= end:
            return f"{where} ends {f'{address - end} bytes' if address > end else 'just'} before it"
        if address < FAR_BELOW:
            return f"no buffer is near it; the nearest, {near.name} of {near.size} bytes, begins at {near.start:#x}"
        return f"{where} begins {near.start - address} bytes after it"

    def touch(self, address: int) -> None:
        """Note that the segment that holds an address was written. Errors: Fault read-only."""
        position = int(np.searchsorted(self.starts, address, side="right")) - 1
        if self.state[position] == access.LOCKED:
            message = (
                f"a store at global address {address:#x} writes read-only memory: {self.nearest(address)}"
            )
            raise Fault("emulator.read-only", message)
        self.state[position] = access.DIRTY

    def find(self, address: int, size: int, what: str) -> int:
        """Byte index in the arena of a range that must lie in one segment. Errors: Fault out-of-bounds."""
        position = int(np.searchsorted(self.starts, address, side="right")) - 1
        if position < 0 or address + size > self.ends[position]:
            raise Fault(
                "emulator.out-of-bounds",
                f"{what} of {size} bytes at global address {address:#x} is out of bounds: {self.nearest(address)}",
            )
        return address - GLOBAL_BASE


@dataclass(frozen=True, slots=True)
class Place:
    """Where the warps of an access stand: one entry per warp of the batch."""

    warp: Array  # index of the warp in the machine
    cta: Array  # index of the CTA among the resident ones


class Memory:
    """All memories of the resident CTAs, and checked access to them.

    `rank[cta]` is a CTA's rank in its cluster; the CTAs of a cluster are adjacent, in order of rank.
    """

    def __init__(
        self, arena: Arena, rank: Array, cluster_size: int, shared_bytes: int, warps: int, local_bytes: int
    ) -> None:
        self.arena = arena
        self.rank = rank.astype(np.int64)
        self.cluster_size = cluster_size
        self.shared_bytes = shared_bytes
        self.shared_stride = -(-max(shared_bytes, 1) // 128) * 128
        self.shared = np.zeros(len(rank) * self.shared_stride, np.uint8)
        self.local_bytes = local_bytes
        self.local_stride = -(-max(local_bytes, 1) // 16) * 16
        self.local = np.zeros(warps * 32 * self.local_stride if local_bytes else 0, np.uint8)
        self.exited = np.zeros(len(rank), np.bool_)  # CTAs of clusters whose threads have all left the kernel
        self.watch: Watcher | None = None
        self.carried: Watcher | None = None
        self._fault = np.zeros(1, np.int64)

    # Windows ----------------------------------------------------------------------------------------------

    def shared_index(
        self, space: str, place: Place, addresses: Array, mask: Lanes, size: int
    ) -> NDArray[np.int64]:
        """Checked byte offsets in `shared`. Shapes: (warps, 32)."""
        rank = self.rank[place.cta]
        first = (place.cta - rank) * self.shared_stride
        remote = space not in ("shared", "shared::cta")
        index = self._window(
            "shared", addresses, mask, SHARED_START, SHARED_START + self.shared_bytes, self.shared_stride, 0,
            first, rank, self.cluster_size, remote, size,
        )  # fmt: skip
        if remote and self.cluster_size > 1 and self.exited.any():
            gone = mask & self.exited[index // self.shared_stride]
            if gone.any():
                lane = int(np.flatnonzero(gone)[0])
                raise self.fault_of_exited(int(index.reshape(-1)[lane]) // self.shared_stride, lane)
        return index

    def fault_of_exited(self, cta: int, lane: int = -1) -> Fault:
        """What is wrong with an access to the shared memory of a CTA that is gone."""
        return Fault(
            "emulator.exited-cta",
            f"an access to the shared memory of the CTA of rank {int(self.rank[cta])}, all of whose threads have left "
            "the kernel",
            lane,
            "a cluster barrier before the end keeps every CTA until its peers are done with it",
        )

    def local_index(self, place: Place, addresses: Array, mask: Lanes, size: int) -> NDArray[np.int64]:
        """Checked byte offsets in `local`. Shapes: (warps, 32)."""
        first = place.warp * 32 * self.local_stride
        zero = np.zeros_like(first)
        return self._window(
            "local", addresses, mask, 0, self.local_bytes, 0, self.local_stride, first, zero, 1, False, size
        )

    def _window(
        self, name: str, addresses: Array, mask: Lanes, low: int, high: int, stride: int, lane_stride: int,
        first: Array, rank: Array, ranks: int, remote: bool, size: int,
    ) -> NDArray[np.int64]:  # fmt: skip
        out = np.zeros(mask.shape, np.int64)
        lane = access.window_index(
            _signed(addresses), access.uniform(mask), low, high, stride, lane_stride, first, rank, ranks, remote,
            size, out, self._fault,
        )  # fmt: skip
        if lane >= 0:
            address = int(np.broadcast_to(addresses, mask.shape).reshape(-1)[lane])
            raise self._window_fault(name, address, size, low, high, lane)
        return out

    def _window_fault(self, name: str, address: int, size: int, low: int, high: int, lane: int) -> Fault:
        kind = int(self._fault[0])
        if kind == access.MISALIGNED:
            return Fault(
                "emulator.misaligned",
                f"{size}-byte access at {name} address {address:#x} is misaligned; expected a multiple of {size}",
                lane,
            )
        if kind == access.REMOTE:
            return Fault(
                "emulator.out-of-bounds",
                f"{size}-byte access at shared address {address:#x} reaches the CTA of rank {address >> 24} of the "
                "cluster through .shared::cta",
                lane,
                "use .shared::cluster for an address that mapa made",
            )
        if name == "shared" and address >> 24 >= self.cluster_size:
            return Fault(
                "emulator.out-of-bounds",
                f"{size}-byte access at shared address {address:#x} names the CTA of rank {address >> 24}; the cluster "
                f"has {self.cluster_size}",
                lane,
            )
        held = (
            f"{high - low} bytes of {name} memory, at {low:#x} to {high:#x}"
            if high > low
            else f"no {name} memory"
        )
        whose = "the thread" if name == "local" else "the CTA"
        return Fault(
            "emulator.out-of-bounds",
            f"{size}-byte access at {name} address {address:#x} is out of bounds: {whose} has {held}",
            lane,
        )

    # Loads and stores -------------------------------------------------------------------------------------

    def load(
        self, space: str, place: Place, addresses: Array, mask: Lanes, dtype: np.dtype[Any], count: int
    ) -> Array:
        """Load `count` elements per lane. Shapes: (count, warps, 32) of `dtype`; lanes not in `mask` get 0."""
        raw = _UNSIGNED[dtype.itemsize]
        out = np.zeros((count, *mask.shape), raw)
        size = count * raw.itemsize
        for part, kind, local in self._by_window(space, addresses, mask):
            held, index = self._reach(kind, place, local, part, size, storing=False)
            if self.watch is not None:
                self.watch.access(self._kind(held), place, index, part, size, None)
            access.load_indexed(held.view(raw), index, access.uniform(part), out)
        return out.view(dtype)

    def store(self, space: str, place: Place, addresses: Array, mask: Lanes, values: Array) -> None:
        """Store. Shapes of values: (count, warps, 32) or broadcastable; the last lane wins where lanes collide."""
        raw = access.uniform(values).view(_UNSIGNED[values.dtype.itemsize])
        size = raw.itemsize * raw.shape[0]
        for part, kind, local in self._by_window(space, addresses, mask):
            held, index = self._reach(kind, place, local, part, size, storing=True)
            if self.watch is not None:
                self.watch.access(self._kind(held), place, index, part, size, raw)
            access.store_indexed(held.view(raw.dtype), index, access.uniform(part), raw)

    def tell(self, starts: ArrayLike, sizes: ArrayLike, action: Action) -> None:
        """Say which bytes of the arena a bulk copy is about to reach."""
        if self.carried is not None:
            self.carried.carries(np.asarray(starts, np.int64), np.asarray(sizes, np.int64), action)

    def _kind(self, held: NDArray[np.uint8]) -> str:
        return "shared" if held is self.shared else "local" if held is self.local else "global"

    def _reach(
        self,
        space: str,
        place: Place,
        addresses: Array,
        mask: Lanes,
        size: int,
        storing: bool,
        verb: str = "",
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The memory that an access of `size` bytes a lane reaches, and checked byte offsets in it."""
        if space == "local":
            return self.local, self.local_index(place, addresses, mask, size)
        if space not in ("global", "const"):
            return self.shared, self.shared_index(space, place, addresses, mask, size)
        arena = self.arena
        index = np.zeros(mask.shape, np.int64)
        lane = access.arena_index(
            _signed(addresses), access.uniform(mask), GLOBAL_BASE, size, arena.starts, arena.ends, arena.state,
            storing, index, self._fault,
        )  # fmt: skip
        if lane >= 0:
            raise self._global_fault(verb or ("store" if storing else "load"), addresses, mask, lane, size)
        return arena.bytes, index

    def _global_fault(self, verb: str, addresses: Array, mask: Lanes, lane: int, size: int) -> Fault:
        address = int(np.broadcast_to(addresses, mask.shape).reshape(-1)[lane])
        if self._fault[0] == access.MISALIGNED:
            return Fault(
                "emulator.misaligned",
                f"{size}-byte {verb} at global address {address:#x} is misaligned; expected a multiple of {size}",
                lane,
            )
        if self._fault[0] == access.READ_ONLY:
            return Fault(
                "emulator.read-only",
                f"{size}-byte store at global address {address:#x} writes read-only memory: "
                f"{self.arena.nearest(address)}",
                lane,
            )
        return Fault(
            "emulator.out-of-bounds",
            f"{size}-byte {verb} at global address {address:#x} is out of bounds: {self.arena.nearest(address)}",
            lane,
        )

    def atomic(
        self, space: str, place: Place, addresses: Array, mask: Lanes, op: str, type: str, values: Array,
        compares: Array,
    ) -> Array:  # fmt: skip
        """Read-modify-write, lane after lane; returns the old contents. Shapes: (warps, 32), of unsigned patterns."""
        raw = _UNSIGNED[values.dtype.itemsize]
        out = np.zeros(mask.shape, raw)
        for part, kind, local in self._by_window(space, addresses, mask):
            held, index = self._reach(kind, place, local, part, raw.itemsize, True, "atomic")
            if self.watch is not None:
                for stored in (None, values[None]):
                    self.watch.access(self._kind(held), place, index, part, raw.itemsize, stored)
            lanes = access.uniform(part)
            if type in HALVES:
                atomics.halves(held.view(np.uint16), index, lanes, op, HALVES[type], values, out)
            elif TYPES[type].kind == "float":
                # A sum of f32 flushes subnormals in global memory and keeps them in shared memory.
                atomics.sums(held.view(raw), index, lanes, kind == "global", values, out)
            else:
                signed = TYPES[type].kind == "signed"
                atomics.integers(held.view(raw), index, lanes, op, signed, values, compares, out)
        return out

    def tile(
        self,
        cta: Array,
        leaders: Array,
        starts: Array,
        offsets: Array,
        swizzle: int,
        base_offset: int,
        down: bool,
    ) -> Array:
        """Swizzled tiles of 8-byte words of each CTA's shared memory, for groups of warps led by `leaders`.

        Shapes: cta and leaders (groups,), starts (groups, tiles), offsets (rows, k); the tiles stand one below
        the other where `down`, else side by side.
        """
        groups, tiles = starts.shape
        rows, columns = offsets.shape
        out = np.empty(
            (groups, tiles * rows, columns) if down else (groups, rows, tiles * columns), np.uint64
        )
        origins = cta * self.shared_stride
        missed = access.gather_tiles(
            self.shared.view(np.uint64), origins, starts.astype(np.int64), offsets, CHUNK_MASK[swizzle],
            base_offset, SHARED_START, SHARED_START + self.shared_bytes, out, down,
        )  # fmt: skip
        if missed >= 0:
            group, tile = divmod(missed, tiles)
            first = int(starts[group, tile])
            low, high = first + int(offsets.min()), first + int(offsets.max()) + 8
            raise Fault(
                "emulator.out-of-bounds",
                f"a matrix at shared addresses {low:#x} to {high:#x} is out of bounds: the CTA has "
                f"{self.shared_bytes} bytes of shared memory, at {SHARED_START:#x} to "
                f"{SHARED_START + self.shared_bytes:#x}",
                int(leaders[group]) * 32,
            )
        return out

    def shared_offset(self, index: int) -> int:
        """The shared address, in its CTA, of a byte offset in `shared`."""
        return index % self.shared_stride + SHARED_START

    # Generic addresses ------------------------------------------------------------------------------------

    def _by_window(self, space: str, addresses: Array, mask: Lanes) -> Sequence[tuple[Lanes, str, Array]]:
        """Split an access by the memory it reaches: lanes, memory, addresses in that memory."""
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


def _signed(addresses: Array) -> NDArray[np.int64]:
    """Addresses as the compiled kernels take them; those from 2**63 on become negative, which is out of bounds."""
    wide = addresses.view(np.int64) if addresses.dtype == np.uint64 else addresses.astype(np.int64)
    return access.uniform(wide)
