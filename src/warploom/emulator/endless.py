"""Description of endless loops: their lines, and the memory that they poll."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.events import Access
from warploom.emulator.faults import Awaited
from warploom.emulator.link import Linked
from warploom.emulator.program import Program
from warploom.emulator.repetition import Repetition
from warploom.emulator.state import State
from warploom.emulator.values import Constant, Register
from warploom.emulator.warps import Components, Warps
from warploom.isa.model import effects
from warploom.isa.model.semantics import Array
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass

LOOP, MEMORY = "loop", "memory"  # values of `Awaited.kind`
_FOLLOWED = 256  # instructions that are followed from a load to the exit of its loop


@dataclass(eq=False)
class EndlessLoops:
    """Endless loops of warp splits (see `warp_splits`), from the batches that `repetition` recorded."""

    state: State
    program: Program
    linked: Sequence[Linked]
    components: Components
    repetition: Repetition
    _polls: dict[tuple[int, frozenset[int]], tuple[int, Awaited]] = field(
        default_factory=dict[tuple[int, frozenset[int]], tuple[int, Awaited]]
    )

    def __post_init__(self) -> None:
        self.loops: dict[int, set[int]] = {}  # slot -> program counters of its loop
        for first, slots in self.repetition.blocks.items():
            for slot in slots:
                self.loops.setdefault(slot, set()).update(range(first, self.program.block_end[first]))

    def awaited(self, slot: int) -> tuple[int, Awaited] | None:
        """Return what the loop of a warp split waits for, and the program counter to report.

        Return None for a warp split without a loop.
        """
        loop = self.loops.get(slot)
        if loop is None:
            return None
        warp = int(self.state.splits.warp[slot])
        if self.repetition.is_quiet:
            found = self._mbarrier(slot, warp, loop)
            if found is not None:
                return found
            reads = {pc: each for pc in sorted(loop) if (each := self._read(pc, warp)) is not None}
            if reads:
                # Warps that poll different addresses in the same loop form one group.
                key = min(loop), frozenset(loop)
                if key not in self._polls:
                    self._polls[key] = self._poll(warp, loop, reads)
                return self._polls[key]
        return min(loop), Awaited(LOOP, "the end of its loop", self._reason(loop))

    def _reason(self, loop: set[int]) -> str:
        lines = self._lines(loop)
        if self.repetition.without_exit:
            return f"{lines}; no branch leaves this loop"
        return f"{lines}; its registers and the memory are the same after each iteration"

    def _lines(self, loop: set[int]) -> str:
        lines = [self.program.line_of(pc) for pc in loop]
        return f"line {lines[0]}" if min(lines) == max(lines) else f"lines {min(lines)} to {max(lines)}"

    # Polled memory ----------------------------------------------------------------------------------------

    def _mbarrier(self, slot: int, warp: int, loop: set[int]) -> tuple[int, Awaited] | None:
        for pc in sorted(loop):
            binding = self.program.steps[pc].binding
            wait = binding.form.effect(effects.Wait)
            if wait is not None and wait.on == "mbarrier":
                batch = self._batch(warp, self.state.splits.mask[slot])
                space = binding.form.operands[wait.address].space_word(binding.slots)
                addresses = batch.addresses(getattr(self.linked[pc].operands, wait.address))
                return pc, self.components.mbarriers.tested(batch, space, addresses)
        return None

    def _read(self, pc: int, warp: int) -> tuple[Access, int, int] | None:
        """Return the last read of a warp at a program counter, its first lane, and the lane's byte index.

        The byte index is an index of the array of the state space (see `Access`).
        """
        for (at, _), event in self.repetition.accesses.items():
            rows = np.flatnonzero(event.location.warp == warp) if at == pc else ()
            for row in rows:
                lanes = np.flatnonzero(event.lanes[row])
                if len(lanes):
                    return event, int(lanes[0]), int(event.index[row, lanes[0]])
        return None

    def _poll(self, warp: int, loop: set[int], reads: dict[int, tuple[Access, int, int]]) -> tuple[int, Awaited]:
        ends = {pc: self._end_value(pc, warp, lane, loop) for pc, (_, lane, _) in reads.items()}
        pc = next((pc for pc, value in ends.items() if value is not None), next(iter(reads)))
        event, lane, index = reads[pc]
        memory = self.components.memory
        array = memory.array_of(event.space)
        value = int.from_bytes(array[index : index + event.size].tobytes(), "little")
        if event.space == "shared":
            where = f"shared offset {memory.shared.address(index):#x}"
        else:
            where = memory.arena.describe(index + GLOBAL_BASE)
        until = "" if ends[pc] is None else f"; the loop ends for the value {ends[pc]}"
        rest = f" in {self._lines(loop)}; their value is {value}, and no warp or copy can change it{until}"
        state = (("value", value), ("size", event.size), ("lane", lane))
        known = tuple(("ends", end) for end in (ends[pc],) if end is not None)
        return pc, Awaited(MEMORY, f"the {event.size} bytes at {where}", rest, (*state, *known))

    # The value that ends a loop ---------------------------------------------------------------------------

    def _end_value(self, load: int, warp: int, lane: int, loop: set[int]) -> int | None:
        """Return a value for which a lane leaves its loop after the load at program counter `load`, or None."""
        form = self.program.steps[load].binding.form
        access = form.effect(effects.Access)
        target = (
            getattr(self.linked[load].operands, access.value, None) if access is not None and access.value else None
        )
        if not isinstance(target, Register) or TYPES[target.type].dtype.kind not in "iu":
            return None
        mask = np.arange(32) == lane
        held = {width: file[:, warp].copy() for width, file in self.state.files.items()}
        try:
            for value in self._candidates(warp, mask, loop):
                batch = self._batch(warp, mask)
                dtype = TYPES[target.type].dtype
                batch.write(target, np.array([[value % 2 ** (8 * dtype.itemsize)]], np.uint64).astype(dtype))
                if self._leaves(load + 1, warp, mask, loop, load):
                    return value
                for width, file in self.state.files.items():
                    file[:, warp] = held[width]
        finally:
            for width, file in self.state.files.items():
                file[:, warp] = held[width]
        return None

    def _candidates(self, warp: int, mask: Array, loop: set[int]) -> Iterator[int]:
        compared: list[int] = []
        for pc in sorted(loop):
            form = self.program.steps[pc].binding.form
            if "compared" in form.flow.numbers:
                operands = self.linked[pc].operands
                sources = [getattr(operands, name) for name, spec in form.operands.items() if spec.access == "read"]
                for source in sources:
                    if isinstance(source, Constant | Register) and TYPES[source.type].dtype.kind in "iu":
                        values = np.broadcast_to(source.fetch(self._batch(warp, mask)), (1, 32))
                        compared.append(int(values[0, mask][0]))
        yield from dict.fromkeys([*compared, *(each + 1 for each in compared), *(each - 1 for each in compared), 1, 0])

    def _leaves(self, pc: int, warp: int, mask: Array, loop: set[int], end: int) -> bool:
        """Return True if a lane leaves its loop, starting at `pc` and before it comes to `end`.

        Only instructions that compute registers are executed.
        """
        for _ in range(_FOLLOWED):
            if pc == end:
                return False
            if pc not in loop:
                return True
            step, form = self.linked[pc], self.program.steps[pc].binding.form
            batch = self._batch(warp, mask)
            active = True
            if step.guard is not None:
                active = bool(step.guard.fetch(batch)[0][mask][0]) != step.negated
            following = self.program.following[pc]
            if form.control:
                jump = next((each for each in following if each != pc + 1), pc + 1)
                if form.control != "jump" or len(following) > 2:
                    return False
                pc = jump if active else pc + 1
                continue
            if active and form.is_lanewise:
                step.act(batch, step.operands)
            pc += 1
        return False

    def _batch(self, warp: int, lanes: Any) -> Warps:
        return Warps(self.state, self.components, np.zeros(0, np.intp), np.array([warp], np.intp), lanes[None])
