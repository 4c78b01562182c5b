"""Memories of the resident CTAs, and checked access to them.

Shared memory is one array with a part for each CTA, local memory one with a part for each thread. Global, constant and
parameter memory is the arena. `address_space` has the layout of the addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from warploom.emulator.events import Action, Watcher
from warploom.emulator.faults import Fault
from warploom.emulator.grid import Topology
from warploom.isa.instructions.reductions import HALVES
from warploom.isa.model.types import TYPES
from warploom.numerics import atomics

Array = NDArray[Any]
Lanes = NDArray[np.bool_]

_UNSIGNED = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


@dataclass(frozen=True, slots=True)
class Location:
    """Resident warps that access memory, and their CTAs: one entry per warp of the batch."""

    warp: Array
    cta: Array


class Memory:
    """All memories of the resident CTAs."""

    def __init__(
        self, arena: Arena, topology: Topology, shared_bytes: int, local_bytes: int, watch: Watcher | None
    ) -> None:
        self.arena = arena
        self.rank = topology.rank
        self.cluster_size = topology.cluster_size
        self.shared_bytes = shared_bytes
        self.shared_stride = -(-max(shared_bytes, 1) // 128) * 128
        self.shared = np.zeros(topology.ctas * self.shared_stride, np.uint8)
        self.local_bytes = local_bytes
        self.local_stride = -(-max(local_bytes, 1) // 16) * 16
        self.local = np.zeros(topology.warps * 32 * self.local_stride if local_bytes else 0, np.uint8)
        self.exited = np.zeros(topology.ctas, np.bool_)  # CTAs of clusters, all of whose threads have exited
        self._watch = watch if watch is not None and watch.accesses else None
        self._watch_copies = watch if watch is not None and watch.carried else None
        self._fault = np.zeros(1, np.int64)

    # Windows ----------------------------------------------------------------------------------------------

    def shared_index(
        self, space: str, location: Location, addresses: Array, mask: Lanes, size: int
    ) -> NDArray[np.int64]:
        """Return checked byte offsets in `shared`. Shapes: (warps, 32)."""
        rank = self.rank[location.cta]
        first = (location.cta - rank) * self.shared_stride
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
        """Return the fault of an access to the shared memory of an exited CTA."""
        return Fault(
            "emulator.exited-cta",
            f"an access to the shared memory of the CTA of rank {int(self.rank[cta])}, all of whose threads have left "
            "the kernel",
            lane,
            "a cluster barrier before the end keeps every CTA until its peers are done with it",
        )

    def local_index(self, location: Location, addresses: Array, mask: Lanes, size: int) -> NDArray[np.int64]:
        """Return checked byte offsets in `local`. Shapes: (warps, 32)."""
        first = location.warp * 32 * self.local_stride
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
        self, space: str, location: Location, addresses: Array, mask: Lanes, dtype: np.dtype[Any], count: int
    ) -> Array:
        """Load `count` elements per lane; lanes outside `mask` get 0. Shapes: (count, warps, 32) of `dtype`."""
        raw = _UNSIGNED[dtype.itemsize]
        out = np.zeros((count, *mask.shape), raw)
        size = count * raw.itemsize
        for part, kind, local in self._by_window(space, addresses, mask):
            array, index = self._reach(kind, location, local, part, size, storing=False)
            if self._watch is not None:
                self._watch.access(self._kind(array), location, index, part, size, None)
            access.load_indexed(array.view(raw), index, access.uniform(part), out)
        return out.view(dtype)

    def store(self, space: str, location: Location, addresses: Array, mask: Lanes, values: Array) -> None:
        """Store elements. The last lane wins where lanes collide.

        Shapes of values: (count, warps, 32) or broadcastable.
        """
        raw = access.uniform(values).view(_UNSIGNED[values.dtype.itemsize])
        size = raw.itemsize * raw.shape[0]
        for part, kind, local in self._by_window(space, addresses, mask):
            array, index = self._reach(kind, location, local, part, size, storing=True)
            if self._watch is not None:
                self._watch.access(self._kind(array), location, index, part, size, raw)
            access.store_indexed(array.view(raw.dtype), index, access.uniform(part), raw)

    @property
    def reports_copies(self) -> bool:
        """True if `report_copy` has an effect."""
        return self._watch_copies is not None

    def report_copy(self, starts: ArrayLike, sizes: ArrayLike, action: Action) -> None:
        """Report the byte ranges of the arena that a bulk copy is about to access."""
        if self._watch_copies is not None:
            self._watch_copies.carries(np.asarray(starts, np.int64), np.asarray(sizes, np.int64), action)

    def _kind(self, array: NDArray[np.uint8]) -> str:
        return "shared" if array is self.shared else "local" if array is self.local else "global"

    def _reach(
        self,
        space: str,
        location: Location,
        addresses: Array,
        mask: Lanes,
        size: int,
        storing: bool,
        verb: str = "",
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the array that an access of `size` bytes per lane reaches, and checked byte offsets in it."""
        if space == "local":
            return self.local, self.local_index(location, addresses, mask, size)
        if space not in ("global", "const"):
            return self.shared, self.shared_index(space, location, addresses, mask, size)
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
        self, space: str, location: Location, addresses: Array, mask: Lanes, op: str, type: str, values: Array,
        compares: Array,
    ) -> Array:  # fmt: skip
        """Read, modify and write, one lane after the other; return the old contents.

        Shapes: (warps, 32), unsigned bit patterns.
        """
        raw = _UNSIGNED[values.dtype.itemsize]
        out = np.zeros(mask.shape, raw)
        for part, kind, local in self._by_window(space, addresses, mask):
            array, index = self._reach(kind, location, local, part, raw.itemsize, True, "atomic")
            if self._watch is not None:
                for stored in (None, values[None]):
                    self._watch.access(self._kind(array), location, index, part, raw.itemsize, stored)
            lanes = access.uniform(part)
            if type in HALVES:
                atomics.halves(array.view(np.uint16), index, lanes, op, HALVES[type], values, out)
            elif TYPES[type].kind == "float":
                # A sum of f32 flushes subnormals in global memory and keeps them in shared memory.
                atomics.sums(array.view(raw), index, lanes, kind == "global", values, out)
            else:
                signed = TYPES[type].kind == "signed"
                atomics.integers(array.view(raw), index, lanes, op, signed, values, compares, out)
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
        """Read swizzled tiles of 8-byte words from the shared memory of CTAs.

        Each group of warps, led by one of `leaders`, reads one row of tiles; they are stacked vertically if `down`,
        else horizontally. Shapes: cta and leaders (groups,), starts (groups, tiles), offsets (rows, k).
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
        """Return the shared address, within its CTA, of a byte offset in `shared`."""
        return index % self.shared_stride + SHARED_START

    # Generic addresses ------------------------------------------------------------------------------------

    def _by_window(self, space: str, addresses: Array, mask: Lanes) -> Sequence[tuple[Lanes, str, Array]]:
        """Split an access by the memory it reaches: lanes, state space, and addresses in that space."""
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
    """Return addresses as signed integers for the compiled kernels; from 2**63 on they are out of bounds."""
    wide = addresses.view(np.int64) if addresses.dtype == np.uint64 else addresses.astype(np.int64)
    return access.uniform(wide)
