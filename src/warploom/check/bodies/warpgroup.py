"""The order of asynchronous multiplications along every path: fence, issue, commit, wait.

A multiplication reads and writes its registers at some time between its issue and the wait that covers it.
Along every path the analysis knows which multiplications may be in flight, how many groups have been closed
since each was issued, and which of their registers were written since the last fence.

Source: PTX ISA 9.7.15.2, 9.7.15.7
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warploom.check.bodies.body import Body, Register
from warploom.check.found import Found, warning
from warploom.check.operands import names_in
from warploom.diag import Severity
from warploom.isa.kit import Form, forms
from warploom.isa.places import BoundOperand, Problem
from warploom.isa.wgmma import COMMIT, FENCE, WAIT
from warploom.ptx import Integer, Name, Operand, Vector
from warploom.ptx.flow import EXIT

_MULTIPLICATIONS = frozenset(form for form in forms() if {"warpgroup", "tensor", "async"} <= form.touches)
_FORMS = _MULTIPLICATIONS | {FENCE, COMMIT, WAIT}
_ORDER = "PTX ISA 9.7.15.7"
_OLDEST = 9


@dataclass(frozen=True, slots=True)
class _State:
    """What holds before an instruction, whichever way led there.

    `flight` maps each multiplication that may be in flight to the least number of groups closed since its
    issue; `written` holds registers written since the last fence; `fenced` is False where no fence may
    have been yet.
    """

    flight: frozenset[tuple[int, int]]
    written: frozenset[Register]
    fenced: bool

    def merged(self, other: _State) -> _State:
        """What holds where two ways meet."""
        least = dict(self.flight)
        for place, age in other.flight:
            least[place] = min(age, least.get(place, age))
        return _State(frozenset(least.items()), self.written | other.written, self.fenced and other.fenced)


@dataclass(frozen=True, slots=True)
class _Issue:
    """A multiplication: its accumulators, and every register it touches."""

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
        self.following = body.following()
        self.issues = {
            place: self._issue(place) for place, form in places.items() if form in _MULTIPLICATIONS
        }
        self.watched = frozenset(register for issue in self.issues.values() for register in issue.registers)
        self.touched = self._touched()

    def _issue(self, place: int) -> _Issue:
        bound = self.body.bound(place)
        operands = bound[1] if bound is not None else {}
        accumulators = self._registers(place, operands.get("d"))
        return _Issue(accumulators, accumulators | self._registers(place, operands.get("a")))

    def _registers(self, place: int, bound: BoundOperand | None) -> frozenset[Register]:
        if bound is None or not isinstance(bound.operand, Vector):
            return frozenset()
        names = (item.text for item in bound.operand.items if isinstance(item, Name))
        found = (self.body.register(place, name) for name in names)
        return frozenset(register for register in found if register is not None)

    def _touched(self) -> dict[int, tuple[dict[Register, int], frozenset[Register]]]:
        """For the other instructions that touch watched registers: in which operand, and which they write."""
        known: dict[int, tuple[str, ...]] = {}
        found: dict[int, tuple[dict[Register, int], frozenset[Register]]] = {}
        names = {name for place in self.issues for name in self._names(place)}
        for place, step in enumerate(self.body.steps):
            if place in self.places:
                continue
            mentioned: dict[Register, int] = {}
            for k, operand in enumerate(step.instruction.operands):
                texts = known.get(id(operand))
                if texts is None:
                    texts = known[id(operand)] = tuple(text for text in names_in(operand) if text in names)
                for text in texts:
                    register = self.body.register(place, text)
                    if register in self.watched:
                        mentioned[register] = k
            if mentioned:
                found[place] = mentioned, self._written(place) & mentioned.keys()
        return found

    def _names(self, place: int) -> Iterator[str]:
        for operand in self.body.steps[place].instruction.operands:
            yield from names_in(operand)

    def _written(self, place: int) -> frozenset[Register]:
        bound = self.body.bound(place)
        if bound is None:
            return frozenset()
        written: set[Register] = set()
        for operand in bound[1].values():
            if operand.place.access in ("write", "both"):
                for name in names_in(operand.operand):
                    register = self.body.register(place, name)
                    if register is not None:
                        written.add(register)
        return frozenset(written)

    # Flow -----------------------------------------------------------------------------------------------

    def _states(self) -> dict[int, _State]:
        """What holds before every instruction that can be reached."""
        states = {0: _State(frozenset(), frozenset(), fenced=False)}
        pending = [0]
        while pending:
            place = pending.pop()
            after = self._after(place, states[place])
            for following in self.following[place]:
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
            return _State(state.flight, state.written | touched[1], state.fenced)
        if form is FENCE:
            return _State(state.flight, frozenset(), fenced=True)
        if form is COMMIT:
            older = frozenset((issue, min(age + 1, _OLDEST)) for issue, age in state.flight)
            return _State(older, state.written, state.fenced)
        if form is WAIT:
            left = self._left(place)
            return _State(
                frozenset((i, age) for i, age in state.flight if age <= left), state.written, state.fenced
            )
        others = frozenset((issue, age) for issue, age in state.flight if issue != place)
        return _State(others | {(place, 0)}, state.written, state.fenced)

    def _left(self, place: int) -> int:
        """How many groups a wait leaves in flight; those not closed are never waited for."""
        operand: Operand | None = next(iter(self.body.steps[place].instruction.operands), None)
        return min(operand.value, _OLDEST) if isinstance(operand, Integer) else _OLDEST

    # Findings -------------------------------------------------------------------------------------------

    def findings(self) -> Iterator[Found]:
        """Every warning, each once."""
        ended: set[int] = set()
        for place, state in self._states().items():
            if place in self.issues:
                yield from self._unfenced(place, state)
            elif place in self.touched:
                yield from self._in_flight(place, state)
            if EXIT in self.following[place]:
                after = self._after(place, state)
                for issue, age in sorted(after.flight):
                    if issue not in ended:
                        ended.add(issue)
                        yield self._unended(issue, age)

    def _unfenced(self, place: int, state: _State) -> Iterator[Found]:
        instruction = self.body.steps[place].instruction
        written = self.issues[place].registers & state.written
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
        for issue, _ in sorted(state.flight):
            for register, operand in mentioned.items():
                if register in self.issues[issue].accumulators or (
                    register in self.issues[issue].registers and register in written
                ):
                    step = self.body.steps[place]
                    verb = "written" if register in written else "read"
                    line = self._line(issue)
                    message = f"a register of the multiplication {line}is {verb} before a wait covers it"
                    where = ("operand", operand)
                    problem = Problem("warpgroup/in-flight", message, where, "", _ORDER, Severity.WARNING)
                    yield problem.at(step.instruction)
                    return

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
