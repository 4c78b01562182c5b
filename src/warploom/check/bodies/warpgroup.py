"""The order of asynchronous multiplications along every path: fence, issue, commit, wait.

A multiplication reads and writes its registers at some time between its issue and the wait that covers it.
Along every path the analysis knows which multiplications may be in flight, how many groups have been closed
since each was issued, and which of their registers were written since the last fence.

Source: PTX ISA 9.7.15.2, 9.7.15.7
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from warploom.check.bodies.body import Body, Mentioned, Register, UsedRegisters, Uses
from warploom.check.found import Found, warning
from warploom.check.operands import names_in
from warploom.diagnostics import Severity
from warploom.isa.binding.operands import BoundOperand, Problem
from warploom.isa.instructions.wgmma import COMMIT, FENCE, WAIT
from warploom.isa.model.form import Form, forms
from warploom.ptx import Integer, Name, Operand, Vector
from warploom.ptx.flow import EXIT

_MULTIPLICATIONS = frozenset(form for form in forms() if form.multiplies and form.collective == "warpgroup")
_FORMS = _MULTIPLICATIONS | {FENCE, COMMIT, WAIT}
_ORDER = "PTX ISA 9.7.15.7"
_OLDEST = 9
_FEW = 8
"""Bits that are set one by one."""


@dataclass(frozen=True, slots=True)
class _State:
    """What holds before an instruction, whichever way led there.

    Sets are the bits of integers, for a body may have thousands of multiplications. `flight[age]` are those
    that may be in flight, by the least number of groups closed since their issue; `written` the registers
    written since the last fence; `fenced` is False where no fence may have been yet.
    """

    flight: tuple[int, ...]
    written: int
    fenced: bool

    def merged(self, other: _State) -> _State:
        """What holds where two ways meet."""
        younger, flight = 0, list[int]()
        for mine, theirs in zip(self.flight, other.flight, strict=True):
            flight.append((mine | theirs) & ~younger)
            younger |= flight[-1]
        return _State(tuple(flight), self.written | other.written, self.fenced and other.fenced)


@dataclass(frozen=True, slots=True)
class _Issue:
    """A multiplication: its number, its accumulators, and every register it touches."""

    number: int
    accumulators: frozenset[Register]
    registers: frozenset[Register]


def warpgroup_order(body: Body) -> Iterator[Found]:
    """Warnings about asynchronous multiplications. Errors: warpgroup/fence, /in-flight, /commit, /wait."""
    places = body.with_forms(_FORMS)
    if not any(form in _MULTIPLICATIONS for form in places.values()):
        return
    yield from sorted(
        _Analysis(body, places).findings(), key=lambda found: found.span.start if found.span else 0
    )


class _Analysis:
    def __init__(self, body: Body, places: dict[int, Form]) -> None:
        self.body = body
        self.places = places
        self.multiplications = [place for place, form in places.items() if form in _MULTIPLICATIONS]
        used = [self._used(place) for place in self.multiplications]
        self.issues = {
            place: _Issue(number, registers.accumulators, registers.all)
            for number, (place, registers) in enumerate(zip(self.multiplications, used, strict=True))
        }
        body.facts.uses = _uses(used, body.earlier.uses)
        self.bits, self.users, self.named = body.facts.uses[1:]
        self.touched = self._touched()
        self.turning = body.turning()
        targets = (target for following in self.turning.values() for target in following if target != EXIT)
        matters = sorted({0, *places, *self.touched, *self.turning, *targets})
        self.next = dict(pairwise(matters))
        """What follows the instructions that matter here, beside those that are `turning`."""

    def _used(self, place: int) -> UsedRegisters:
        body = self.body
        instruction = body.steps[place].instruction
        used = body.earlier.used.get(id(instruction))
        if used is None:
            bound = body.bound(place)
            operands = bound[1] if bound is not None else {}
            accumulators = self._registers(place, operands.get("d"))
            registers = accumulators | self._registers(place, operands.get("a"))
            used = UsedRegisters(
                frozenset(accumulators.values()),
                frozenset(registers.values()),
                frozenset(registers.items()),
            )
        body.facts.used[id(instruction)] = used
        return used

    def _registers(self, place: int, bound: BoundOperand | None) -> dict[str, Register]:
        """The registers of a vector, by their names."""
        if bound is None or not isinstance(bound.operand, Vector):
            return {}
        names = (item.text for item in bound.operand.items if isinstance(item, Name))
        found = ((name, self.body.register(place, name)) for name in names)
        return {name: register for name, register in found if register is not None}

    def _touched(self) -> dict[int, Mentioned]:
        """The other instructions that touch registers of multiplications, or did so in an earlier version."""
        body = self.body
        earlier, facts = body.earlier, body.facts
        # Where each register has one name, it matters not what else was looked for.
        registers = {register for _, register in earlier.named}
        still = self.named <= earlier.named and len(registers) == len(earlier.named)
        still |= self.named == earlier.named
        facts.named = earlier.named if still else self.named
        keys = [id(step.instruction) for step in body.steps]
        facts.seen = set(keys)
        found: dict[int, Mentioned] = {}
        if still:
            new = facts.seen - earlier.seen
            found = {place: earlier.touched[key] for place, key in enumerate(keys) if key in earlier.touched}
            asked = [place for place, key in enumerate(keys) if key in new] if new else []
        else:
            asked = range(len(keys))
        names = {name for name, _ in facts.named}
        named: dict[int, tuple[str, ...]] = {}
        for place in asked:
            if place not in self.places:
                mentioned = self._mentioned(place, names, named, earlier.touched.get(keys[place]))
                if mentioned is not None:
                    found[place] = mentioned
        facts.touched = {keys[place]: mentioned for place, mentioned in found.items()}
        return found

    def _mentioned(
        self, place: int, names: set[str], named: dict[int, tuple[str, ...]], known: Mentioned | None
    ) -> Mentioned | None:
        """What an instruction mentions of the registers in question, which `names` name; `named` are those in
        operands, and `known` is what may be so still.
        """
        body = self.body
        watched = body.facts.named
        mentioned: dict[Register, int] = {}
        for k, operand in enumerate(body.steps[place].instruction.operands):
            texts = named.get(id(operand))
            if texts is None:
                texts = named[id(operand)] = tuple(text for text in names_in(operand) if text in names)
            for text in texts:
                register = body.register(place, text)
                if register is not None and (text, register) in watched:
                    mentioned[register] = k
        if not mentioned or (known is not None and known[0] == mentioned):
            return known if mentioned else None
        written = {body.register(place, name) for part in body.written(place) for name in names_in(part)}
        return mentioned, frozenset(mentioned.keys() & written)

    # Flow -----------------------------------------------------------------------------------------------

    def _states(self) -> dict[int, _State]:
        """What holds before every instruction that matters and can be reached."""
        states = {0: _State((0,) * (_OLDEST + 1), 0, fenced=False)}
        pending = [0]
        while pending:
            place = pending.pop()
            after = self._after(place, states[place])
            for following in self.turning.get(place) or (self.next[place],):
                if following == EXIT:
                    continue
                known = states.get(following)
                merged = after if known is None else known.merged(after)
                if merged != known:
                    states[following] = merged
                    pending.append(following)
        return states

    def _after(self, place: int, state: _State) -> _State:
        form = self.places.get(place)
        if form is None:
            touched = self.touched.get(place)
            if touched is None or not touched[1]:
                return state
            return _State(state.flight, state.written | self._mask(touched[1]), state.fenced)
        flight = state.flight
        if form is FENCE:
            return _State(flight, 0, fenced=True)
        if form is COMMIT:
            older = (0, *flight[: _OLDEST - 1], flight[_OLDEST - 1] | flight[_OLDEST])
            return _State(older, state.written, state.fenced)
        if form is WAIT:
            left = self._left(place) + 1
            return _State((*flight[:left], *(0 for _ in flight[left:])), state.written, state.fenced)
        issued = 1 << self.issues[place].number
        others = [issues & ~issued for issues in flight]
        return _State((others[0] | issued, *others[1:]), state.written, state.fenced)

    def _mask(self, registers: frozenset[Register]) -> int:
        numbers = [self.bits[register] for register in registers if register in self.bits]
        if len(numbers) > _FEW:
            return _bits(numbers)
        mask = 0
        for number in numbers:
            mask |= 1 << number
        return mask

    def _left(self, place: int) -> int:
        """How many groups a wait leaves in flight; those not closed are never waited for."""
        operand: Operand | None = next(iter(self.body.steps[place].instruction.operands), None)
        return min(operand.value, _OLDEST) if isinstance(operand, Integer) else _OLDEST

    # Findings -------------------------------------------------------------------------------------------

    def findings(self) -> Iterator[Found]:
        """Every warning, each once."""
        ended = 0
        for place, state in self._states().items():
            if place in self.issues:
                yield from self._unfenced(place, state)
            elif place in self.touched:
                yield from self._in_flight(place, state)
            if EXIT in self.turning.get(place, ()):
                after = self._after(place, state)
                for age, issues in enumerate(after.flight):
                    for number in _ones(issues & ~ended):
                        yield self._unended(self.multiplications[number], age)
                    ended |= issues

    def _unfenced(self, place: int, state: _State) -> Iterator[Found]:
        instruction = self.body.steps[place].instruction
        written = state.written and self._mask(self.issues[place].registers) & state.written
        if not state.fenced:
            what = "no fence stands before this multiplication on some path"
        elif written:
            what = "a register of this multiplication is written after the last fence before it"
        else:
            return
        hint = f"put '{'.'.join(word.literal for word in FENCE.syntax.words)}' before it"
        section = "PTX ISA 9.7.15.7.1"
        yield Problem("warpgroup/fence", what, ("opcode",), hint, section, Severity.WARNING).at(instruction)

    def _in_flight(self, place: int, state: _State) -> Iterator[Found]:
        mentioned, written = self.touched[place]
        flying = 0
        for issues in state.flight:
            flying |= issues
        if not flying:
            return
        found: list[tuple[int, Register]] = []
        for register in mentioned:
            summing, using = self.users.get(register, (0, 0))
            at_fault = flying & (using if register in written else summing)
            if at_fault:
                found.append((next(_ones(at_fault)), register))
        if found:
            number, register = min(found, key=lambda each: each[0])
            verb = "written" if register in written else "read"
            line = self._line(self.multiplications[number])
            message = f"a register of the multiplication {line}is {verb} before a wait covers it"
            where = ("operand", mentioned[register])
            problem = Problem("warpgroup/in-flight", message, where, "", _ORDER, Severity.WARNING)
            yield problem.at(self.body.steps[place].instruction)

    def _unended(self, issue: int, age: int) -> Found:
        instruction = self.body.steps[issue].instruction
        if age == 0:
            message = "no commit closes this multiplication's group on some path to the end"
            return warning("warpgroup/commit", message, instruction, section="PTX ISA 9.7.15.7.2")
        message = "no wait covers this multiplication on some path to the end"
        return warning("warpgroup/wait", message, instruction, section="PTX ISA 9.7.15.7.3")

    def _line(self, place: int) -> str:
        instruction = self.body.steps[place].instruction
        if instruction.source is None or instruction.span is None:
            return ""
        return f"of line {instruction.source.position(instruction.span.start)[0]} "


def _numbered(registers: Iterable[Register]) -> dict[Register, int]:
    return {register: number for number, register in enumerate(dict.fromkeys(registers))}


def _uses(used: list[UsedRegisters], earlier: Uses) -> Uses:
    """What multiplications use, taken together; as it was earlier where they are the same."""
    if len(used) == len(earlier.used) and all(map(operator.is_, used, earlier.used)):
        return earlier
    bits = _numbered(register for registers in used for register in registers.all)
    named = frozenset(each for registers in used for each in registers.named)
    return Uses(used, bits, _users(used), named)


def _users(used: Iterable[UsedRegisters]) -> dict[Register, tuple[int, int]]:
    """For each register the multiplications that sum in it, and those that use it at all, as bits."""
    summing: dict[frozenset[Register], list[int]] = {}
    using: dict[frozenset[Register], list[int]] = {}
    for number, registers in enumerate(used):
        using.setdefault(registers.all, []).append(number)
        summing.setdefault(registers.accumulators, []).append(number)
    found: dict[Register, tuple[int, int]] = {}
    for registers, numbers in using.items():
        mask = _bits(numbers)
        for register in registers:
            found[register] = 0, found.get(register, (0, 0))[1] | mask
    for registers, numbers in summing.items():
        mask = _bits(numbers)
        for register in registers:
            found[register] = found[register][0] | mask, found[register][1]
    return found


def _bits(numbers: Iterable[int]) -> int:
    """The integer with these bits."""
    listed = list(numbers)
    held = bytearray(max(listed, default=-1) // 8 + 1)
    for number in listed:
        held[number // 8] |= 1 << number % 8
    return int.from_bytes(held, "little")


def _ones(mask: int) -> Iterator[int]:
    """The numbers of the bits of an integer, from the lowest."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
