"""Order of asynchronous multiplications along every path: fence, issue, commit, wait.

Source: PTX ISA 9.7.15.2, 9.7.15.7
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

from warploom.check.body import Body, Mentioned, Register, UsedRegisters, Uses
from warploom.check.operand_checker import names_in
from warploom.check.report import warning
from warploom.diagnostics import Diagnostic, Severity
from warploom.isa.binding.operands import BoundOperand, Problem
from warploom.isa.model.effects import Commit, Fence, Wait
from warploom.isa.model.form import Form, forms
from warploom.ptx import Integer, Name, Operand, Vector
from warploom.ptx.flow import EXIT

_MULTIPLICATIONS = frozenset(form for form in forms() if form.multiplies and form.collective == "warpgroup")
_FENCES = frozenset(form for form in forms() if any(each.kind == "registers" for each in form.effects_of(Fence)))
_COMMITS = frozenset(
    form for form in forms() if any(each.group == "multiplication" for each in form.effects_of(Commit))
)
_WAITS = frozenset(form for form in forms() if any(each.on == "multiplication" for each in form.effects_of(Wait)))
_FORMS = _MULTIPLICATIONS | _FENCES | _COMMITS | _WAITS
_ORDER = "PTX ISA 9.7.15.7"
_MOST_GROUPS = 9
"""Number of committed groups that are counted for a multiplication; more groups count as this many."""


@dataclass(frozen=True, slots=True)
class _State:
    """State before an instruction, merged over all paths that lead there.

    A set is an integer with a bit for each member.
    """

    # Item n: multiplications in flight after whose issue at least n groups were committed.
    in_flight: tuple[int, ...]
    written: int  # registers written since the last fence
    fenced: bool  # True if every path has a fence

    def merged(self, other: _State) -> _State:
        """Return the state at an instruction that two paths reach, in this state and in `other`."""
        younger, in_flight = 0, list[int]()
        for mine, theirs in zip(self.in_flight, other.in_flight, strict=True):
            in_flight.append((mine | theirs) & ~younger)
            younger |= in_flight[-1]
        return _State(tuple(in_flight), self.written | other.written, self.fenced and other.fenced)


def warpgroup_order(body: Body) -> Iterator[Diagnostic]:
    """Yield the diagnostics for the asynchronous multiplications of a body.

    Errors: warpgroup/fence, warpgroup/in-flight, warpgroup/commit, warpgroup/wait
    """
    forms = body.with_forms(_FORMS)
    if not any(form in _MULTIPLICATIONS for form in forms.values()):
        return
    yield from sorted(_Analysis(body, forms).findings(), key=lambda found: found.span.start if found.span else 0)


class _Analysis:
    """Analysis of one body. `forms` maps instruction indices to the Forms of warpgroup instructions."""

    def __init__(self, body: Body, forms: dict[int, Form]) -> None:
        self.body = body
        self.forms = forms
        self.multiplications = [index for index, form in forms.items() if form in _MULTIPLICATIONS]
        self.numbers = {index: number for number, index in enumerate(self.multiplications)}  # bit numbers in sets
        self.used = [self._used(index) for index in self.multiplications]
        body.results.uses = _uses(self.used, body.earlier.uses)
        _, self.bits, self.users = body.results.uses
        # Registers of multiplications that other instructions mention.
        self.mentions = self._all_mentions()
        self.branches = body.branches()
        targets = (target for following in self.branches.values() for target in following if target != EXIT)
        # The next index of interest after each one: instructions above, branches and branch targets.
        self.next = dict(pairwise(sorted({0, *forms, *self.mentions, *self.branches, *targets})))

    def _used(self, index: int) -> UsedRegisters:
        body = self.body
        instruction = body.steps[index].instruction
        used = body.earlier.used.get(id(instruction))
        if used is None:
            bound = body.bound(index)
            operands = bound[1] if bound is not None else {}
            vectors = [_register_names(operands.get(name)) for name in "da"]
            accumulators, multiplicand = (self._registers(index, names) for names in vectors)
            used = UsedRegisters(accumulators, accumulators | multiplicand, frozenset[str]().union(*vectors))
        body.results.used[id(instruction)] = used
        return used

    def _registers(self, index: int, names: Iterable[str]) -> frozenset[Register]:
        found = (self.body.register(index, name) for name in names)
        return frozenset(register for register in found if register is not None)

    def _all_mentions(self) -> dict[int, Mentioned]:
        """Return the registers of multiplications that other instructions mention, by instruction index."""
        earlier, results = self.body.earlier, self.body.results
        reusable = self.bits.keys() <= earlier.watched
        names = frozenset[str]().union(*{used.names for used in self.used})
        reusable = reusable and names <= earlier.watched_names
        results.watched = earlier.watched if reusable else frozenset(self.bits)
        results.watched_names = earlier.watched_names if reusable else names
        # Earlier results may contain registers that no multiplication uses any more, which does no harm.
        known = earlier.mentions if reusable else {}
        names_of: dict[int, tuple[str, ...]] = {}
        found: dict[int, Mentioned] = {}
        for index, step in enumerate(self.body.steps):
            key = id(step.instruction)
            if key in known:
                mentioned = known[key]
            else:
                before = earlier.mentions.get(key)
                mentioned = None if index in self.forms else self._mentioned(index, names_of, before)
            results.mentions[key] = mentioned
            if mentioned is not None:
                found[index] = mentioned
        return found

    def _mentioned(
        self, index: int, names_of: dict[int, tuple[str, ...]], before: Mentioned | None
    ) -> Mentioned | None:
        """Return the registers of multiplications that an instruction mentions, or None.

        `names_of` is a cache of the watched names in operands. `before` is the result for an earlier version of the
        text.
        """
        body = self.body
        watched = body.results.watched
        mentioned: dict[Register, int] = {}
        for k, operand in enumerate(body.steps[index].instruction.operands):
            names = names_of.get(id(operand))
            if names is None:
                found = (name for name in names_in(operand) if name in body.results.watched_names)
                names = names_of[id(operand)] = tuple(found)
            for name in names:
                register = body.register(index, name)
                if register is not None and register in watched:
                    mentioned[register] = k
        if not mentioned:
            return None
        if before is not None and before[0] == mentioned:
            return before
        written = {body.register(index, name) for part in body.written(index) for name in names_in(part)}
        return mentioned, frozenset(mentioned.keys() & written)

    # Flow -----------------------------------------------------------------------------------------------

    def _states(self) -> dict[int, _State]:
        """Return the state before each reachable instruction in `next`, by its index."""
        states = {0: _State((0,) * (_MOST_GROUPS + 1), 0, fenced=False)}
        pending = [0]
        while pending:
            index = pending.pop()
            after = self._after(index, states[index])
            for following in self.branches.get(index) or (self.next[index],):
                if following == EXIT:
                    continue
                known = states.get(following)
                merged = after if known is None else known.merged(after)
                if merged != known:
                    states[following] = merged
                    pending.append(following)
        return states

    def _after(self, index: int, state: _State) -> _State:
        form = self.forms.get(index)
        if form is None:
            mentioned = self.mentions.get(index)
            if mentioned is None or not mentioned[1]:
                return state
            return _State(state.in_flight, state.written | self._mask(mentioned[1]), state.fenced)
        flight = state.in_flight
        if form in _FENCES:
            return _State(flight, 0, fenced=True)
        if form in _COMMITS:
            flight = (0, *flight[: _MOST_GROUPS - 1], flight[_MOST_GROUPS - 1] | flight[_MOST_GROUPS])
        elif form in _WAITS:
            left = self._groups_left(index) + 1
            flight = (*flight[:left], *(0 for _ in flight[left:]))
        else:
            issued = 1 << self.numbers[index]
            flight = tuple(issues & ~issued for issues in flight)
            flight = (flight[0] | issued, *flight[1:])
        return _State(flight, state.written, state.fenced)

    def _mask(self, registers: frozenset[Register]) -> int:
        return _bits(self.bits[register] for register in registers if register in self.bits)

    def _groups_left(self, index: int) -> int:
        operand: Operand | None = next(iter(self.body.steps[index].instruction.operands), None)
        return min(operand.value, _MOST_GROUPS) if isinstance(operand, Integer) else _MOST_GROUPS

    # Findings -------------------------------------------------------------------------------------------

    def findings(self) -> Iterator[Diagnostic]:
        """Yield the diagnostics for the body, without repetitions."""
        reported = 0
        for index, state in self._states().items():
            if index in self.numbers:
                yield from self._missing_fence(index, state)
            elif index in self.mentions:
                yield from self._early_access(index, state)
            if EXIT in self.branches.get(index, ()):
                after = self._after(index, state)
                for groups, issues in enumerate(after.in_flight):
                    for number in _ones(issues & ~reported):
                        yield self._unfinished(self.multiplications[number], groups)
                    reported |= issues

    def _missing_fence(self, index: int, state: _State) -> Iterator[Diagnostic]:
        instruction = self.body.steps[index].instruction
        if not state.fenced:
            message = "on some path, no fence is executed before this multiplication"
        elif state.written and self._mask(self.used[self.numbers[index]].all) & state.written:
            message = "no fence is between the last write to a register of this multiplication and the multiplication"
        else:
            return
        fences = ("'" + ".".join(word.literal for word in form.syntax.words) + "'" for form in _FENCES)
        hint = f"put {' or '.join(fences)} before it"
        problem = Problem("warpgroup/fence", message, ("opcode",), hint, "PTX ISA 9.7.15.7.1", Severity.WARNING)
        yield problem.at(instruction)

    def _early_access(self, index: int, state: _State) -> Iterator[Diagnostic]:
        mentioned, written = self.mentions[index]
        in_flight = reduce(int.__or__, state.in_flight)
        if not in_flight:
            return
        found: list[tuple[int, Register]] = []
        for register in mentioned:
            accumulating, using = self.users.get(register, (0, 0))
            at_fault = in_flight & (using if register in written else accumulating)
            if at_fault:
                found.append((next(_ones(at_fault)), register))
        if found:
            number, register = min(found, key=lambda each: each[0])
            verb = "written" if register in written else "read"
            line = self._line(self.multiplications[number])
            message = f"a register of the multiplication {line}is {verb} before a wait covers the multiplication"
            where = ("operand", mentioned[register])
            problem = Problem("warpgroup/in-flight", message, where, "", _ORDER, Severity.WARNING)
            yield problem.at(self.body.steps[index].instruction)

    def _unfinished(self, index: int, groups: int) -> Diagnostic:
        instruction = self.body.steps[index].instruction
        if groups == 0:
            message = "on some path to the end, no commit follows this multiplication"
            return warning("warpgroup/commit", message, instruction, section="PTX ISA 9.7.15.7.2")
        message = "on some path to the end, no wait covers this multiplication"
        return warning("warpgroup/wait", message, instruction, section="PTX ISA 9.7.15.7.3")

    def _line(self, index: int) -> str:
        instruction = self.body.steps[index].instruction
        if instruction.source is None or instruction.span is None:
            return ""
        return f"of line {instruction.source.position(instruction.span.start)[0]} "


def _register_names(bound: BoundOperand | None) -> frozenset[str]:
    if bound is None or not isinstance(bound.operand, Vector):
        return frozenset()
    return frozenset(item.text for item in bound.operand.items if isinstance(item, Name))


def _uses(used: list[UsedRegisters], earlier: Uses) -> Uses:
    if len(used) == len(earlier.used) and all(map(operator.is_, used, earlier.used)):
        return earlier
    registers = dict.fromkeys(register for each in used for register in each.all)
    return Uses(used, {register: number for number, register in enumerate(registers)}, _users(used))


def _users(used: Iterable[UsedRegisters]) -> dict[Register, tuple[int, int]]:
    accumulating: dict[frozenset[Register], list[int]] = {}
    using: dict[frozenset[Register], list[int]] = {}
    for number, registers in enumerate(used):
        using.setdefault(registers.all, []).append(number)
        accumulating.setdefault(registers.accumulators, []).append(number)
    found: dict[Register, tuple[int, int]] = {}
    for registers, numbers in using.items():
        mask = _bits(numbers)
        for register in registers:
            found[register] = 0, found.get(register, (0, 0))[1] | mask
    for registers, numbers in accumulating.items():
        mask = _bits(numbers)
        for register in registers:
            found[register] = found[register][0] | mask, found[register][1]
    return found


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def _ones(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1
