"""Shared memory of the resident CTAs, and the conversion of shared addresses to indices."""

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.wording import counted
from warploom.emulator import access
from warploom.emulator.address_space import SHARED_START
from warploom.emulator.faults import Fault
from warploom.emulator.grid import Topology
from warploom.isa.model.semantics import Array, Lanes
from warploom.lazy_dataclass import dataclass

_MOST_CLEARED = 1 << 20
"""Size up to which it is faster to clear an array than to allocate zeros. Units: bytes."""


@dataclass(frozen=True, slots=True)
class Location:
    """Indices of the warps that access memory, and of their CTAs. Shapes: (warps,)."""

    warp: Array
    cta: Array
    asynchronous: bool = False  # True for an access by an asynchronous operation


def cleared(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return an array of zeros with the size of `array`, which the caller no longer needs."""
    if array.nbytes > _MOST_CLEARED:
        return np.zeros_like(array)
    array.fill(0)
    return array


class SharedMemory:
    """Shared memory of all resident CTAs.

    CTA c owns `bytes[c * stride : c * stride + size]`.
    """

    STATE = ("bytes", "exited")

    def __init__(self, topology: Topology, size: int) -> None:
        self.rank = topology.rank
        self.cluster_size = topology.cluster_size
        self.size = size
        self.stride = -(-max(size, 1) // 128) * 128
        self.end = SHARED_START + size  # end of a CTA's window
        self.bytes = np.zeros(topology.ctas * self.stride, np.uint8)
        self.exited = np.zeros(topology.ctas, np.bool_)
        self._fault = np.zeros(1, np.int64)

    def start(self) -> None:
        """Clear the memory before a new wave."""
        self.bytes = cleared(self.bytes)
        self.exited.fill(False)

    @property
    def words(self) -> NDArray[np.uint64]:
        """Shared memory as 64-bit words."""
        return self.bytes.view(np.uint64)

    def address(self, index: int) -> int:
        """Return the shared address of the byte `self.bytes[index]` in the window of the byte's CTA."""
        return index % self.stride + SHARED_START

    def index(self, space: str, location: Location, addresses: Array, mask: Lanes, size: int) -> NDArray[np.int64]:
        """Check accesses to shared memory, and return the indices of the accesses in `self.bytes`.

        `space` is the state space of the instruction, and `size` the number of bytes of each access.

        Shapes: (warps, 32). Errors: Fault emulator.out-of-bounds, emulator.misaligned, emulator.exited-cta.
        """
        rank = self.rank[location.cta]
        first = (location.cta - rank) * self.stride
        remote = space not in ("shared", "shared::cta")
        index = np.zeros(mask.shape, np.int64)
        lane = access.window_index(
            access.signed(addresses), access.uniform(mask), SHARED_START, self.end, self.stride, 0, first, rank,
            self.cluster_size, remote, size, index, self._fault,
        )  # fmt: skip
        if lane >= 0:
            raise self._window_fault(int(access.element(addresses, mask.shape, lane)), size, lane)
        if remote and self.cluster_size > 1 and self.exited.any():
            gone = mask & self.exited[index // self.stride]
            if gone.any():
                lane = int(np.flatnonzero(gone)[0])
                raise self.fault_of_exited(int(index.reshape(-1)[lane]) // self.stride, lane)
        return index

    def _window_fault(self, address: int, size: int, lane: int) -> Fault:
        kind = int(self._fault[0])
        if kind == access.MISALIGNED:
            return access.misaligned(size, f"access at shared address {address:#x}", lane)
        code, start = "emulator.out-of-bounds", f"{size}-byte access at shared address {address:#x}"
        rank = address >> 24
        if kind == access.REMOTE:
            message = f"{start} reaches the CTA of rank {rank} of the cluster through .shared::cta"
            return Fault(code, message, lane, "use .shared::cluster for an address that mapa made")
        if rank >= self.cluster_size:
            return Fault(
                code, f"{start} names CTA rank {rank}; the cluster has {counted(self.cluster_size, 'CTA')}", lane
            )
        held = access.window_size("shared", SHARED_START, self.end)
        return Fault(code, f"{start} is out of bounds: the CTA has {held}", lane)

    def fault_of_exited(self, cta: int, lane: int = -1) -> Fault:
        """Return the fault of an access to the shared memory of a CTA that has exited."""
        owner = f"the CTA of rank {int(self.rank[cta])}, whose threads have all exited"
        hint = "put a cluster barrier after the last remote access and before any CTA exits"
        return Fault("emulator.exited-cta", f"an access reaches the shared memory of {owner}", lane, hint)

    def origin(self, cta: int, low: int, size: int, what: str) -> int:
        """Return the difference between indices of `bytes` and shared addresses of a CTA.

        The addresses [low, low + size) are checked. `what` names the access in the message.

        Errors: Fault emulator.out-of-bounds if an address is outside the shared memory of the CTA.
        """
        if low < SHARED_START or low + size > self.end:
            held = access.window_size("shared", SHARED_START, self.end)
            message = f"{what} of {size} bytes at shared address {low:#x} is out of bounds: the CTA has {held}"
            raise Fault("emulator.out-of-bounds", message)
        return cta * self.stride - SHARED_START
