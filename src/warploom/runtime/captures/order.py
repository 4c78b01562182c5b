"""Writers of bytes that differ between two runs, and atomics whose results depend on their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Access, CopyAccess, Launch, Resident
from warploom.emulator.observers import Observer
from warploom.isa.model import effects
from warploom.lazy_dataclass import dataclass
from warploom.numerics.atomics import depends_on_order
from warploom.observe.writers import WriterRecorder

_ELEMENT = 4  # bytes


@dataclass(frozen=True, slots=True)
class Writer:
    """Instruction that wrote differing bytes.

    `place` names its line. `instruction` and `place` are empty if no instruction wrote the bytes. `depends_on_order` is
    True for an atomic whose result depends on the order of the threads, such as a sum of floating-point numbers.
    """

    instruction: str = ""
    place: str = ""
    depends_on_order: bool = False

    def __str__(self) -> str:
        if not self.place:
            return "no instruction"
        order = "; its result depends on the order of the threads" if self.depends_on_order else ""
        return f"{self.instruction} in {self.place}{order}"


class OrderRecorder(Observer):
    """Observer that records the writers of bytes.

    `masks` has a mask of bytes of global memory by the offset of the first byte in `Arena.bytes`, which is a multiple
    of 4.
    """

    launch: Launch

    def __init__(self, masks: dict[int, NDArray[np.bool_]]) -> None:
        super().__init__()
        self._elements: dict[int, NDArray[Any]] = {}
        self._recorders: dict[int, WriterRecorder] = {}
        self._updates: dict[int, bool] = {}  # pc of an atomic -> its result depends on the order
        for start, mask in masks.items():
            elements = np.unique(np.flatnonzero(mask) // _ELEMENT)
            first, last = int(elements[0]), int(elements[-1])
            self._elements[start] = elements - first
            self._recorders[start] = WriterRecorder(start + first * _ELEMENT, last - first + 1, _ELEMENT)

    def attach(self, launch: Launch) -> None:
        """Prepare for a launch, and select the events to observe."""
        self.launch = launch
        for each in self._recorders.values():
            each.attach(launch)
        self.handlers = {Resident: self._pass_on, Access: self._access, CopyAccess: self._access}

    def _pass_on(self, event: Any) -> None:
        for each in self._recorders.values():
            each.handlers[type(event)](event)

    def _access(self, event: Access | CopyAccess) -> None:
        if event.kind == "update" and event.pc not in self._updates:
            self._updates[event.pc] = depends_on_order(event.operation, event.type)
        self._pass_on(event)

    def writers(self, start: int) -> tuple[Writer, ...]:
        """Return the last writers of the bytes in the mask at an offset, after the run."""
        program = self.launch.program
        pcs = np.unique(self._recorders[start].writers().pcs[self._elements[start]])
        return tuple(
            Writer(program.steps[pc].instruction.opcode, program.place_of(pc), self._updates.get(pc, False))
            if pc >= 0
            else Writer()
            for pc in map(int, pcs)
        )

    def returning(self) -> str:
        """Return the lines of the atomics that return values of memory, as a phrase, or "" without any."""
        program = self.launch.program
        pcs = [
            pc
            for pc in sorted(self._updates)
            if any(isinstance(each, effects.Access) and each.value for each in program.steps[pc].binding.form.effects)
        ]
        return program.places_of(pcs) if pcs else ""
