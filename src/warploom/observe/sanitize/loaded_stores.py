"""Stores to shared memory whose values the storing thread has loaded from global memory."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.events import Access, Launch
from warploom.emulator.values import Register, VectorValue
from warploom.isa.model import effects
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.registers import once_per_program, used_registers

Array = NDArray[Any]
_Places = tuple[tuple[int, int], ...]  # registers in the order of a vector operand, as in `Registers`


class LoadedStores:
    """Record of the global addresses of values that threads load and then store to shared memory.

    The addresses of a store are known if one load wrote all registers of the store, if the load and the store have
    these registers in the same order, and if no paths join between the load and the store. If `enabled` is not set, the
    addresses of all stores count as unknown.
    """

    def __init__(self, launch: Launch, enabled: bool) -> None:
        self._loads = _find_loads(launch) if enabled else {}

    @property
    def loads(self) -> Collection[int]:
        """Loads whose addresses are recorded."""
        return {load for load, _ in self._loads.values()}

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        shape = (context.topology.warps, 32)
        self._addresses = {load: np.zeros(shape, np.int64) for load in self.loads}

    def load(self, event: Access) -> None:
        """Record the addresses of a load from global memory."""
        found = self._addresses.get(event.pc)
        if found is not None:
            found[event.location.warp] = np.where(event.lanes, event.index + GLOBAL_BASE, 0)

    def sources(self, event: Access) -> Array | None:
        """Return the global addresses of the data of a store, 0 if unknown. Shape: (warps, 32)."""
        load = self._loads.get(event.pc)
        if load is None:
            return None
        addresses = self._addresses[load[0]][event.location.warp]
        return np.where(addresses > 0, addresses + load[1], 0)


@once_per_program
def _find_loads(launch: Launch) -> dict[int, tuple[int, int]]:
    """Return, by store, the load of its data, and the byte offset of the stored data in the loaded data."""
    before = launch.program.preceding()
    found: dict[int, tuple[int, int]] = {}
    for pc in range(len(launch.program.steps)):
        if (stored := _registers(launch, pc, "write", "shared")) and (load := _load_of(launch, pc, stored, before)):
            found[pc] = load
    return found


def _registers(launch: Launch, pc: int, kind: str, space: str) -> _Places:
    """Return the registers of the value of a load or store, empty if `pc` is another instruction."""
    step = launch.program.steps[pc]
    form, operands = step.binding.form, launch.instructions[pc].operands
    for access in form.effects_of(effects.Access):
        if access.kind == kind and access.value and access.proxy == "generic":
            word = form.operands[access.address].space_word(step.binding.slots)
            return _places(getattr(operands, access.value)) if word.startswith(space) else ()
    return ()


def _load_of(launch: Launch, store: int, stored: _Places, before: list[list[int]]) -> tuple[int, int] | None:
    pc, seen = store, {store}
    while len(before[pc]) == 1:
        (pc,) = before[pc]
        if pc in seen:
            return None
        seen.add(pc)
        if used_registers(launch, pc)[1] & set(stored):
            loaded = _registers(launch, pc, "read", "global")
            for first in range(len(loaded) - len(stored) + 1):
                if loaded[first : first + len(stored)] == stored:
                    return pc, first * stored[0][0]
            return None
    return None


def _places(value: object) -> _Places:
    """Return the registers of an operand in order, empty unless all its items are registers."""
    items = value.items if isinstance(value, VectorValue) else (value,)
    if not all(isinstance(item, Register) for item in items):
        return ()
    return tuple((item.file.dtype.itemsize, item.index) for item in items if isinstance(item, Register))
