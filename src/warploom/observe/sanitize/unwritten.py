# pyright: reportUnknownMemberType=false
"""Registers that are used where nothing wrote them on the way.

What may be unwritten is found once, over the control flow: of most programs that is nothing, and nothing is watched.
Only registers that a use which matters may find unwritten are watched while the kernel runs, a bit for each lane.
Copies and arithmetic pass the bits on. Merging of bits, packing and what lanes exchange does not: compilers leave a
part of such words unwritten that nobody looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.program import RegisterLocation
from warploom.emulator.values import Register
from warploom.observe.sanitize.clocks import to_bits
from warploom.observe.sanitize.products import Registers, registers_of

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.sanitize.watcher import Sanitizer

Array = NDArray[Any]

# Forms that pass on what is unwritten, by family or name, and those that neither pass it on nor mind it.
_FOLLOWED = frozenset(
    {
        "integer", "floating", "half", "approximate", "compare", "move.mov", "move.mov_predicate", "convert.integer",
        "convert.cvt", "convert.half", "convert.tf32", "convert.widen", "memory.cvta", "memory.cvta_to",
    }
)  # fmt: skip
_INDIFFERENT = frozenset(
    {"logic", "bits", "convert", "move", "warp", "video", "matrix.movmatrix", "control.call", "control.ret"}
)
_SELECT = "compare.selp"
_METADATA = ("e", "sp_meta")  # only some lanes' count


@dataclass(frozen=True, slots=True)
class _Touch:
    """What an instruction does with registers, as bits of them: what it reads, uses in earnest, and writes."""

    read: int
    used: int
    written: int
    follows: bool
    partly: bool  # its guard may leave lanes as they are


class Unwritten:
    """Watches the registers of a program that may be used unwritten."""

    def __init__(self, sanitizer: Sanitizer) -> None:
        self.sanitizer = sanitizer
        self.emulator = sanitizer.emulator
        self._number: dict[tuple[int, int], int] = {}
        self._names: dict[int, str] = {}
        touches = [self._touch(pc) for pc in range(len(self.emulator.linked))]
        doubtful = self._flow(touches)
        self._uses = [touch.used & held for touch, held in zip(touches, doubtful, strict=True)]
        watched = self._watched(touches, doubtful)
        self._slot = {number: slot for slot, number in enumerate(_bits_of(watched))}
        self._passes = [
            touch.follows and bool(touch.read & held & watched)
            for touch, held in zip(touches, doubtful, strict=True)
        ]
        self._written = [
            touch.written & watched & (held if not passes else -1)
            for touch, held, passes in zip(touches, doubtful, self._passes, strict=True)
        ]
        # Nothing but new CTAs makes a register unwritten that copies do not reach.
        reached = 0
        for touch, passes in zip(touches, self._passes, strict=True):
            reached |= touch.written if passes else 0
        self._settles = [
            not reached & (use | written) for use, written in zip(self._uses, self._written, strict=True)
        ]
        self._watch_guards()

    # Before the run ---------------------------------------------------------------------------------------

    def _touch(self, pc: int) -> _Touch:
        step, each = self.emulator.program.steps[pc], self.emulator.linked[pc]
        form = step.binding.form
        family = form.family
        follows = form.name in _FOLLOWED or family in _FOLLOWED
        minds = not follows and form.name not in _INDIFFERENT and family not in _INDIFFERENT
        read = used = written = 0
        for name, place in form.operands.items():
            bits = self._bits(registers_of(getattr(each.operands, name)), getattr(each.operands, name))
            if place.access != "read":
                written |= bits
            if place.access != "write" and name not in _METADATA:
                read |= bits
                used |= bits if minds or place.kind == "address" else 0
        if form.name == "control.call":
            for value in each.operands.ret_param or ():
                written |= self._bits(registers_of(value), value)
        guard = 0 if each.guard is None else self._bits(registers_of(each.guard), each.guard)
        return _Touch(read | guard, used | guard, written, follows, each.guard is not None)

    def _bits(self, registers: Registers, value: Any) -> int:
        bits = 0
        for register in registers:
            number = self._number.setdefault(register, len(self._number))
            bits |= 1 << number
        if isinstance(value, Register):
            self._names[self._number[value.file.dtype.itemsize, value.index]] = value.name
        for item in getattr(value, "items", ()):
            if isinstance(item, Register):
                self._names[self._number[item.file.dtype.itemsize, item.index]] = item.name
        return bits

    def _flow(self, touches: list[_Touch]) -> list[int]:
        """For each instruction, the registers that may be unwritten, or made of such, when it is come to."""
        program = self.emulator.program
        every = (1 << len(self._number)) - 1
        found = [0] * len(touches)
        entries = {program.entry: every}
        for activation in program.functions.values():
            formals = [
                p for p in (*activation.params, *activation.returns) if isinstance(p, RegisterLocation)
            ]
            given = {(max(p.width // 8, 1), p.index) for p in formals}
            entries[activation.entry] = every & ~self._bits(frozenset(given & self._number.keys()), None)
        for pc, held in entries.items():
            found[pc] |= held
        came = [False] * len(touches)
        pending = sorted(entries)
        while pending:
            pc = heappop(pending)
            held, touch = found[pc], touches[pc]
            if touch.follows and touch.read & held:
                held |= touch.written
            elif not touch.partly:
                held &= ~touch.written
            for after in program.following[pc]:
                if after >= 0 and (not came[after] or held & ~found[after]):
                    if after not in pending:
                        heappush(pending, after)
                    came[after] = True
                    found[after] |= held
        return found

    def _watched(self, touches: list[_Touch], doubtful: list[int]) -> int:
        """The registers that decide what a use which matters may find unwritten."""
        watched = 0
        for use in self._uses:
            watched |= use
        sources = [
            (touch.written, touch.read & held)
            for touch, held in zip(touches, doubtful, strict=True)
            if touch.follows and touch.read & held
        ]
        grown = True
        while grown:
            before = watched
            for written, read in sources:
                if written & watched:
                    watched |= read
            grown = watched != before
        return watched

    def _watch_guards(self) -> None:
        """An unwritten guard may keep its instruction from running: it is looked at when it is fetched."""
        for pc, each in enumerate(self.emulator.linked):
            if each.guard is not None and self._uses[pc] & self._bits(registers_of(each.guard), None):
                each.guard = _Guard(each.guard, pc, self)

    # While it runs ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """New CTAs: no register is written."""
        self._unwritten = np.full((len(self._slot), self.emulator.topology.warps), -1, np.int32)
        self._settled: dict[int, Array] = {}

    def sees(self, pc: int) -> Callable[[Batch, Any], None] | None:
        """What looks at an instruction; None where no register of its is watched."""
        touch = self._uses[pc] & ~self._guard_bits(pc), self._written[pc]
        if not any(touch):
            return None
        uses, written = (self._rows(bits) for bits in touch)
        spared = self._sums(pc)
        passes = self._passes[pc]

        def see(batch: Batch, operands: Any) -> None:
            settled = self._settled.get(pc)
            if settled is not None and settled[batch.warp_index].all():
                return
            lanes = self._lanes(batch)
            if len(uses):
                self.check(batch, pc, uses, lanes, spared, operands)
            if passes:
                self._pass(batch, pc, operands, lanes)
            elif len(written):
                where = np.ix_(written, batch.warp_index)
                self._unwritten[where] &= ~lanes
            if self._settles[pc]:
                self._settle(batch, pc, np.concatenate([uses, written]))

        return see

    def _settle(self, batch: Batch, pc: int, rows: Array) -> None:
        """Warps whose registers here are all written need not be looked at again."""
        settled = self._settled.setdefault(pc, np.zeros(self.emulator.topology.warps, np.bool_))
        alive = to_bits(self.emulator.state.splits.live[batch.warp_index])
        settled[batch.warp_index] = ~(self._unwritten[np.ix_(rows, batch.warp_index)] & alive).any(axis=0)

    def _guard_bits(self, pc: int) -> int:
        guard = self.emulator.linked[pc].guard
        return 0 if guard is None else self._bits(registers_of(guard), None)

    def _rows(self, bits: int) -> Array:
        return np.array([self._slot[number] for number in _bits_of(bits)], np.intp)

    def _sums(self, pc: int) -> Array:
        """The rows of accumulators, which a warpgroup multiplication may be told not to read."""
        operands = self.emulator.linked[pc].operands
        if getattr(operands, "scale_d", None) is None:
            return np.zeros(0, np.intp)
        return self._rows(self._uses[pc] & self._bits(registers_of(operands.d), None))

    @staticmethod
    def _lanes(batch: Batch) -> Array:
        return np.full(batch.count, -1, np.int32) if batch.mask is None else to_bits(batch.mask)

    def check(self, batch: Batch, pc: int, rows: Array, lanes: Array, spared: Array, operands: Any) -> None:
        """Whether registers are written that are used in earnest."""
        found = self._unwritten[np.ix_(rows, batch.warp_index)] & lanes
        if not found.any():
            return
        if len(spared):
            adds = np.broadcast_to(batch.read(operands.scale_d), (batch.count, 32))[:, 0]
            found &= np.where(np.isin(rows, spared)[:, None] & (adds == 0), 0, -1).astype(np.int32)
        rows_at, positions = np.nonzero(found)
        if not len(rows_at):
            return
        report = self.sanitizer.report
        if report.again("sanitize.unwritten/register", pc, -1, len(rows_at)):
            return
        number = list(self._slot)[int(rows[rows_at[0]])]
        warp, bits = int(batch.warp_index[positions[0]]), int(found[rows_at[0], positions[0]])
        lane = (bits & -bits).bit_length() - 1
        message = (
            f"this uses {self._names.get(number, 'a register')}, which nothing has written on the way here; "
            f"{self.emulator.state.describe(warp, lane)}"
        )
        report.add("sanitize.unwritten/register", pc, -1, message, count=len(rows_at))

    def _pass(self, batch: Batch, pc: int, operands: Any, lanes: Array) -> None:
        """Results are as unwritten as what they are made of."""
        step = self.emulator.program.steps[pc]
        places = step.binding.form.operands
        warps = batch.warp_index
        made = np.zeros(len(warps), np.int32)
        for name, place in places.items():
            if place.access == "write":
                continue
            held = self._held(registers_of(getattr(operands, name)), warps)
            if step.binding.form.name == _SELECT and name in ("a", "b"):
                chooses = np.broadcast_to(batch.read(operands.c), (batch.count, 32))
                held = held & to_bits(chooses if name == "a" else ~chooses)
            made |= held
        for row in self._rows(self._written[pc]).tolist():
            self._unwritten[row, warps] = (self._unwritten[row, warps] & ~lanes) | (made & lanes)

    def _held(self, registers: Iterable[tuple[int, int]], warps: Array) -> Array:
        held = np.zeros(len(warps), np.int32)
        for register in registers:
            slot = self._slot.get(self._number[register])
            if slot is not None:
                held |= self._unwritten[slot, warps]
        return held

    def fetch(self, batch: Batch, guard: Register, pc: int) -> None:
        """A guard is looked at, for the lanes of the strands."""
        rows = self._rows(self._uses[pc] & self._bits(registers_of(guard), None))
        self.check(batch, pc, rows, self._lanes(batch), np.zeros(0, np.intp), None)


class _Guard(Register):
    """A guard that tells when it is fetched."""

    __slots__ = ("pc", "watch")

    def __init__(self, guard: Register, pc: int, watch: Unwritten) -> None:
        super().__init__(guard.name, guard.file, guard.index, guard.type)
        self.pc = pc
        self.watch = watch

    def fetch(self, selection: Any) -> Array:
        """The lanes where the guard holds."""
        self.watch.fetch(selection, self, self.pc)
        return super().fetch(selection)


def _bits_of(bits: int) -> list[int]:
    found: list[int] = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
