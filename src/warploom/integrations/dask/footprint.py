"""The footprint of a part of a grid: which bytes of global memory it reads and writes, and what it leaves in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.communication import inter_cta_communication
from warploom.emulator.events import Action, Watcher
from warploom.integrations.dask import _touched
from warploom.integrations.dask._touched import COMBINED, READ, WROTE
from warploom.isa.instructions.reductions import commutes
from warploom.isa.model.types import TYPES

if TYPE_CHECKING:
    from warploom.emulator.emulator import Emulator
    from warploom.emulator.memory import Location

Array = NDArray[Any]


class Speaks(Exception):
    """What one CTA does depends on when another one does what it does: they are to run together.

    `why` says which instruction shows it, in words that go after "because".
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Combination:
    """An operation whose order changes nothing, on elements of so many bytes."""

    operation: str
    bytes: int
    signed: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its elements."""
        return np.dtype(f"{'i' if self.signed else 'u'}{self.bytes}")

    def merge(self, held: Array, before: Array, after: Array) -> Array:
        """What `held` becomes by what turned `before` into `after` elsewhere. Shapes: (elements,)."""
        match self.operation:
            case "add":
                return held + (after - before)
            case "xor":
                return held ^ after ^ before
            case "and":
                return held & after
            case "or":
                return held | after
            case "min":
                return np.minimum(held, after)
            case _:
                return np.maximum(held, after)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of bytes of the arena, apart and in order. Shapes: (runs,); byte offsets."""

    starts: Array
    ends: Array

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, held: Array) -> Array:
        """The bytes of all runs, one after the other."""
        found = np.empty(int((self.ends - self.starts).sum()), np.uint8)
        _touched.take(held, self.starts, self.ends, found)
        return found

    def put(self, held: Array, data: Array) -> None:
        """Give all runs their bytes, one after the other."""
        _touched.put(held, self.starts, self.ends, data)


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """What a part of a grid did to global memory: what it read, what it wrote and left there, what it combined."""

    reads: Runs
    writes: Runs
    written: Array
    combined: dict[Combination, tuple[Runs, Array]]


class Tracker(Watcher):
    """A watcher (emulator.watch) that keeps the footprint of a run. Errors: Speaks, out of the run."""

    emulator: Emulator
    carried = True

    def attach(self, emulator: Emulator) -> None:
        """The machine is made."""
        self.emulator = emulator
        size = len(emulator.arena.bytes)
        self._flags = np.zeros(-(-size // 8) * 8, np.uint8)
        self._pages = np.zeros((len(self._flags) >> _touched.PAGE) + 1, np.uint8)
        self._kinds: dict[Combination, int] = {}
        steps = emulator.program.steps
        self._listening = inter_cta_communication(emulator.program)
        self._atomic = [step.binding.form.family == "atomic" for step in steps]

    def access(
        self, kind: str, location: Location, index: Array, lanes: Array, size: int, values: Array | None
    ) -> None:
        """Threads load or store."""
        if kind != "global":
            return
        flag = READ if values is None else WROTE
        if location is self.emulator.location:
            pc = self.emulator.state.pc
            if self._listening[pc]:
                raise Speaks(
                    f"{self._instruction(pc)} returns what other CTAs may have left in global memory"
                )
            if self._atomic[pc]:
                if values is None:
                    return  # it tells both halves
                slots = self.emulator.program.steps[pc].binding.slots
                flag = self._flag(slots.get("op", ""), slots["type"], self._instruction(pc))
        _touched.touch_lanes(self._flags, self._pages, index, uniform(lanes), size, flag)

    def carries(self, starts: Array, sizes: Array, action: Action) -> None:
        """Bulk copies reach global memory."""
        if action.kind == "combine":
            what = f"a bulk reduction by {action.operation} of {action.type}"
            flag = self._flag(action.operation, action.type, what)
        else:
            flag = READ if action.kind == "read" else WROTE
        _touched.touch_pieces(self._flags, self._pages, starts, sizes, flag)

    def _flag(self, operation: str, type: str, what: str) -> int:
        combination = _combination(operation, type)
        if combination is None:
            raise Speaks(f"the result of {what} depends on the order in which CTAs come to it")
        number = self._kinds.setdefault(combination, len(self._kinds) + 1)
        return number * COMBINED

    def _instruction(self, pc: int) -> str:
        program = self.emulator.program
        line = program.line_of(pc)
        opcode = program.steps[pc].instruction.opcode
        return f"{opcode} in line {line}" if line else opcode

    def footprint(self) -> Footprint:
        """What was touched until now, and what is there."""
        held = self.emulator.arena.bytes
        starts, ends, kinds = self._stretches()
        plain = kinds < COMBINED
        reads, writes = (_runs(starts, ends, plain & (kinds & flag > 0)) for flag in (READ, WROTE))
        combined = {
            kind: _runs(starts, ends, kinds == number * COMBINED) for kind, number in self._kinds.items()
        }
        for kind, runs in combined.items():
            if ((runs.starts | runs.ends) % kind.bytes).any():
                raise Speaks("atomics change elements of which parts are read or written besides")
        return Footprint(
            reads,
            writes,
            writes.take(held),
            {kind: (runs, runs.take(held)) for kind, runs in combined.items() if len(runs)},
        )

    def _stretches(self) -> tuple[Array, Array, Array]:
        """Stretches of bytes that were touched in one way, apart and in order: starts, ends, and which way."""
        room = 1024
        while True:
            starts, ends, kinds = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.uint8)
            found = _touched.stretches(self._flags, self._pages, starts, ends, kinds)
            if found <= room:
                return starts[:found], ends[:found], kinds[:found]
            room = found


def _runs(starts: Array, ends: Array, chosen: Array) -> Runs:
    """Chosen stretches; those that adjoin become one."""
    starts, ends = starts[chosen], ends[chosen]
    apart = starts[1:] != ends[:-1]
    edge = np.ones(min(len(starts), 1), np.bool_)
    return Runs(starts[np.concatenate([edge, apart])], ends[np.concatenate([apart, edge])])


def _combination(operation: str, word: str) -> Combination | None:
    """What an operation on a type is, if its order changes nothing."""
    if not operation or not commutes(operation, word):
        return None
    kind = TYPES[word]
    return Combination(operation, kind.bytes, operation in ("min", "max") and kind.kind == "signed")
