"""Snapshots of a launch, from which its execution can continue again.

Each component of the emulator declares in `STATE` the attributes that change during an execution. A snapshot copies
them. Attributes outside of `STATE` are constant during a launch, are derived from others, or are caches.
"""

# Values of any type are copied.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import copy
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warploom.emulator.wave_run import WaveRun

_MISSING: Any = object()
_LARGE = 1 << 16  # bytes of an array whose pages are worth keeping


class Pages:
    """Arrays of dropped snapshots. A copy into them takes a fifth of the time of a copy into new memory."""

    def __init__(self) -> None:
        self._free: dict[tuple[Any, ...], list[NDArray[Any]]] = {}

    def copy(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of an array."""
        free = self._free.get((array.shape, array.dtype))
        if not free:
            return array.copy()
        found = free.pop()
        np.copyto(found, array)
        return found

    def add(self, value: Any) -> None:
        """Keep the large arrays of the state of a dropped snapshot."""
        if isinstance(value, np.ndarray):
            if value.nbytes >= _LARGE:
                self._free.setdefault((value.shape, value.dtype), []).append(value)
        elif isinstance(value, dict):
            for each in value.values():
                self.add(each)

    def clear(self) -> None:
        """Release all arrays."""
        self._free.clear()


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """State of a launch between two batches, before an instruction of a batch, or before a wave.

    `wave` is the number of the wave, or of the next wave if no CTAs are resident. `batches` and `positions` are those
    of `Counters`. `nbytes` is the size of the arrays.
    """

    wave: int
    batches: int
    positions: int
    is_resident: bool
    nbytes: int
    _parts: Mapping[str, Mapping[str, Any]]
    _coordinates: NDArray[np.int64]

    @staticmethod
    def take(waves: WaveRun, pages: Pages | None = None) -> Snapshot:
        """Return a snapshot of a launch without observers, which runs in one thread.

        `pages` are used for the copies. Before a wave, only global memory and counters are copied, because the wave
        defines the rest.
        """
        emulator, pages = waves.emulator, pages or Pages()
        is_resident = waves.is_resident
        if is_resident:
            emulator.flush()
            emulator.repetition.compare_written()
        emulator.update_counters()
        parts = {
            name: {field: _copied(getattr(part, field, _MISSING), pages) for field in part.STATE}
            for name, part in components(waves, with_wave=is_resident).items()
        }
        counters = emulator.state.counters
        size = sum(map(_size, parts.values()))
        wave = waves.number + (not is_resident)
        coordinates = emulator.state.placement.coordinates
        return Snapshot(wave, counters.batches, counters.positions, is_resident, size, parts, coordinates)

    def restore(self, waves: WaveRun) -> None:
        """Set the state of the same launch to that of the snapshot. If no CTAs were resident, start the wave."""
        emulator = waves.emulator
        emulator.accumulators.discard()
        if self.is_resident and emulator.state.placement.coordinates is not self._coordinates:
            emulator.executable.place_ctas(self._coordinates)
        for name, part in components(waves, with_wave=self.is_resident).items():
            for field, saved in self._parts[name].items():
                _restore(part, field, saved)
        if emulator.native is not None:
            emulator.native.forget_counts()
        if not self.is_resident:
            emulator.interrupted = None
            waves.start_wave()

    def release(self, pages: Pages) -> None:
        """Give the arrays to later snapshots. The snapshot must not be used any more."""
        pages.add(self._parts)


def components(waves: WaveRun, *, with_wave: bool = True) -> dict[str, Any]:
    """Return the parts of a launch that have `STATE`, by name.

    Without `with_wave`, return only the parts whose state outlives a wave.
    """
    emulator, found = waves.emulator, dict[str, Any]()
    state, memory, tensor, control = emulator.state, emulator.memory, emulator.tensor, emulator.control
    found |= {"waves": waves, "counters": state.counters, "arena": emulator.arena, "output": emulator.services.output}
    if emulator.arena.heap is not None:
        found["heap"] = emulator.arena.heap
    if waves.pending is not None:
        found["pending"] = waves.pending
    if with_wave:
        found |= {
            "emulator": emulator, "state": state, "splits": state.splits, "grid": emulator.grid, "memory": memory,
            "shared": memory.shared, "barriers": emulator.barriers, "mbarriers": emulator.mbarriers,
            "grids": emulator.grids, "pools": emulator.pools, "asynchronous": emulator.asynchronous, "tensor": tensor,
            "storage": tensor.storage, "allocator": tensor.allocator, "multiplications": tensor.multiplications,
            "control": control, "stacks": control.stacks, "repetition": emulator.repetition,
        }  # fmt: skip
    return found


def _copied(value: Any, pages: Pages) -> Any:
    """Return a copy of a value, of the containers in it, and of items whose classes have `STATE`.

    Other objects do not change, and are shared.
    """
    match value:
        case np.ndarray():
            return pages.copy(value)
        case Counter():
            return copy(value)
        case dict():
            found: dict[Any, Any] = copy(value)
            for key, each in found.items():
                found[key] = _copied(each, pages)
            return found
        case list():
            return [_copied(each, pages) for each in value]
        case set():
            return set(value)
        case tuple():
            items = [_copied(each, pages) for each in value]
            is_same = all(one is other for one, other in zip(items, value, strict=True))
            return value if is_same else tuple(items)
        case Random():
            return _RandomState(value.getstate())
        case _:
            return copy(value) if hasattr(type(value), "STATE") else value


def _restore(part: Any, field: str, saved: Any) -> None:
    """Set an attribute to a saved value.

    Arrays and containers stay the same objects, because others refer to them.
    """
    current = getattr(part, field, _MISSING)
    if saved is _MISSING:
        if current is not _MISSING:
            delattr(part, field)
    elif isinstance(saved, _RandomState):
        current.setstate(saved.state)
    elif isinstance(saved, dict) and isinstance(current, dict):
        _restore_dict(current, saved)
    elif not _fits(current, saved):
        setattr(part, field, _copied(saved, _NEW))


def _restore_dict(current: dict[Any, Any], saved: dict[Any, Any]) -> None:
    for key in [key for key in current if key not in saved]:
        del current[key]
    for key, value in saved.items():
        if not _fits(current.get(key), value):
            current[key] = _copied(value, _NEW)


def _fits(current: Any, saved: Any) -> bool:
    """Copy a saved array into the present one. Return False if they are no arrays of the same shape."""
    if not (isinstance(saved, np.ndarray) and isinstance(current, np.ndarray)):
        return False
    if current.shape != saved.shape or current.dtype != saved.dtype or not current.flags.writeable:
        return False
    np.copyto(current, saved)
    return True


def _size(value: Any) -> int:
    """Return the size of the arrays in a saved value in bytes."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return 0


_NEW = Pages()
"""No pages, so that copies use new memory."""


@dataclass(frozen=True, slots=True, eq=False)
class _RandomState:
    """State of a random generator."""

    state: Any
