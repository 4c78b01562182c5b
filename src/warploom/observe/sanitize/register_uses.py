"""Analysis of the registers that the instructions of a program use, and that may be unwritten before."""

from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from itertools import compress
from typing import Any

from warploom.emulator.events import Launch
from warploom.emulator.program import Program, RegisterLocation
from warploom.emulator.values import Register, registers_of
from warploom.observe.sanitize.registers import Registers


@dataclass(frozen=True, slots=True)
class _Use:
    """Registers that one instruction uses, as bits.

    `required` are the registers that must be written before the instruction. `propagates` is set if unwritten sources
    make the results unwritten. `partial` is set if the instruction has a guard.
    """

    read: int
    required: int
    written: int
    propagates: bool
    partial: bool


class RegisterUses:
    """Registers that control flow may leave unwritten, for each instruction of a program.

    Each register has a number. A set of registers is an integer whose bits are the numbers of its registers. These
    lists are indexed by program counter:

    - `guards`: registers of the guard
    - `checked`: registers that must be written before the instruction and may be unwritten
    - `written`: registers that the instruction writes and that are tracked
    - `propagates`: True if an unwritten source makes the results unwritten
    - `is_final`: True if registers that were once written stay written for this instruction

    `slot` has the position of each tracked register among all tracked registers, `names` the names of registers in the
    kernel, and `origins` the register whose missing write leaves a register unwritten, all by number.
    """

    def __init__(self, launch: Launch) -> None:
        self._number: dict[tuple[int, int], int] = {}
        self.names: dict[int, str] = {}
        self.guards: list[int] = []
        uses = [self._use(launch, pc) for pc in range(len(launch.instructions))]
        # Only registers that control flow may leave unwritten are tracked in the run, by lane.
        doubtful = self._flow(launch.program, uses)
        self.checked = [use.required & held for use, held in zip(uses, doubtful, strict=True)]
        tracked = self._tracked(uses, doubtful)
        self.slot = {number: slot for slot, number in enumerate(numbers_of(tracked))}
        self.propagates = [
            use.propagates and bool(use.read & held & tracked) for use, held in zip(uses, doubtful, strict=True)
        ]
        self.written = [
            use.written & tracked & (held if not propagates else -1)
            for use, held, propagates in zip(uses, doubtful, self.propagates, strict=True)
        ]
        self.origins = self._find_origins(uses, doubtful)
        # Unless an instruction propagates to it, a written register stays written until the CTAs end.
        reached = reduce(int.__or__, (use.written for use in compress(uses, self.propagates)), 0)
        self.is_final = [
            not reached & (checked | written) for checked, written in zip(self.checked, self.written, strict=True)
        ]

    def bits(self, registers: Registers) -> int:
        """Return registers of the program as bits."""
        return sum(1 << self._number[register] for register in registers)

    def slots(self, registers: Registers) -> list[int]:
        """Return the slots of those registers that are tracked in the run."""
        found = (self.slot.get(self._number[register], -1) for register in registers)
        return [slot for slot in found if slot >= 0]

    def _use(self, launch: Launch, pc: int) -> _Use:
        form, each = launch.program.steps[pc].binding.form, launch.instructions[pc]
        flow = form.flow.unwritten
        metadata = each.multiplication.metadata if each.multiplication is not None else None
        ignored = "" if metadata is None else metadata.operand  # only some lanes contribute metadata
        read = required = written = 0
        for name, spec in form.operands.items():
            value = getattr(each.operands, name)
            bits = self._bits(registers_of(value), value)
            if spec.access != "read":
                written |= bits
            if spec.access != "write" and name != ignored:
                read |= bits
                required |= bits if flow == "use" or spec.kind == "address" else 0
        if form.control == "call":
            for value in each.operands.ret_param or ():
                written |= self._bits(registers_of(value), value)
        guard = self._guard_bits(launch, pc)
        self.guards.append(guard)
        return _Use(read | guard, required | guard, written, flow == "propagate", each.guard is not None)

    def _bits(self, registers: Registers, value: Any) -> int:
        bits = sum(1 << self._number.setdefault(register, len(self._number)) for register in registers)
        for item in (value, getattr(value, "base", None), *getattr(value, "items", ())):
            if isinstance(item, Register):
                self.names[self._number[item.file.dtype.itemsize, item.index]] = item.name
        return bits

    def _guard_bits(self, launch: Launch, pc: int) -> int:
        guard = launch.instructions[pc].guard
        return 0 if guard is None else self._bits(registers_of(guard), guard)

    def _flow(self, program: Program, uses: list[_Use]) -> list[int]:
        """Return, for each instruction, the registers that may be unwritten before it, as bits."""
        every = (1 << len(self._number)) - 1
        found = [0] * len(uses)
        entries = {program.entry: every}
        for function in program.functions.values():
            formals = [p for p in (*function.params, *function.returns) if isinstance(p, RegisterLocation)]
            given = {(max(p.width // 8, 1), p.index) for p in formals}
            entries[function.entry] = every & ~self._bits(frozenset(given & self._number.keys()), None)
        for pc, held in entries.items():
            found[pc] |= held
        came = [False] * len(uses)
        pending = sorted(entries)
        while pending:
            pc = heappop(pending)
            held, use = found[pc], uses[pc]
            if use.propagates and use.read & held:
                held |= use.written
            elif not use.partial:
                held &= ~use.written
            for after in program.following[pc]:
                if after >= 0 and (not came[after] or held & ~found[after]):
                    if after not in pending:
                        heappush(pending, after)
                    came[after] = True
                    found[after] |= held
        return found

    def _tracked(self, uses: list[_Use], doubtful: list[int]) -> int:
        """Return the registers that affect a checked register, as bits."""
        tracked = reduce(int.__or__, self.checked, 0)
        sources = [
            (use.written, use.read & held)
            for use, held in zip(uses, doubtful, strict=True)
            if use.propagates and use.read & held
        ]
        grown = True
        while grown:
            before = tracked
            for written, read in sources:
                if written & tracked:
                    tracked |= read
            grown = tracked != before
        return tracked

    def _find_origins(self, uses: list[_Use], doubtful: list[int]) -> dict[int, int]:
        """Return, for each register, the register whose missing write may have left it unwritten.

        An instruction such as a move passes an unwritten source on to its result (`_Use.propagates`). `doubtful` has
        the registers that may be unwritten before each instruction, as bits.
        """
        origins = {number: number for number in self._number.values()}

        def origin(number: int) -> int:
            while origins[number] != number:
                number = origins[number]
            return number

        for use, held in zip(uses, doubtful, strict=True):
            for source in numbers_of(use.read & held if use.propagates else 0):
                for target in numbers_of(use.written):
                    if origin(target) != origin(source):
                        origins[origin(target)] = origin(source)
        return {number: origin(number) for number in origins}


def numbers_of(bits: int) -> list[int]:
    """Return the numbers of the registers in a set that is given as bits."""
    found: list[int] = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found
