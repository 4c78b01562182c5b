"""Statements: each instruction against the forms, in its scope, on a target, at a PTX version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from warploom.check.names import Meaning, Names, Part
from warploom.check.operands import Judge, names_in
from warploom.check.ptxas.extension import match_extensions
from warploom.check.ptxas.ignored_words import bare
from warploom.check.ptxas.tolerated import TOLERATED, Tolerance
from warploom.diagnostics import Severity
from warploom.isa.binding.bind import changes_of_one_word, explain_opcode
from warploom.isa.binding.nearest import is_named_alike, reordered
from warploom.isa.binding.operands import Problem, Where, place_operands, takes_count, wrong_constants
from warploom.isa.binding.unjudged import is_unjudged
from warploom.isa.binding.vectors import spread
from warploom.isa.model.availability import EVER, Target, Version, lacking, read_target, word_lack
from warploom.isa.model.form import LONGEST_OPCODE, Match, match_opcode
from warploom.isa.model.special_registers import SpecialRegister
from warploom.ptx import (
    Address,
    Element,
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Symbol,
    Tuple,
    Variable,
    Vector,
)

Shape = tuple[object, ...]

_REFUSED = Problem("isa.unknown", "no form has this opcode")
_REASONS = 3  # tolerances that may be needed together


class Statements:
    """Judges instructions. What was found right once is known again by its opcode and the shapes of its
    operands: two operands have one shape where nothing that a rule looks at tells them apart. Who only asks
    for verdicts has nothing explained. They serve any number of modules of one target and version.
    """

    def __init__(self, target: Target, ptx: Version, *, explains: bool = True) -> None:
        self.target = target
        self.ptx = ptx
        self.explains = explains
        self._numbers: dict[Shape, int] = {}
        self._right: set[tuple[str | int | None, ...]] = set()
        self._tolerances = tuple(tolerance for tolerance in TOLERATED if _is_there(tolerance, target))

    @property
    def known_right(self) -> int:
        """How many instructions are known to be right."""
        return len(self._right)

    def scope(self) -> dict[int, int]:
        """Shapes of the operands met in one scope, by identity: a module holds equal operands once."""
        return {}

    def check(self, instruction: Instruction, names: Names, shapes: dict[int, int]) -> list[Problem]:
        """What is wrong with an instruction; nothing, mostly."""
        numbers = [shapes.get(id(operand)) for operand in instruction.operands]
        if None in numbers:
            numbers = [self._number(operand, names, shapes) for operand in instruction.operands]
        known = (instruction.opcode, *numbers)
        if known in self._right:
            return []
        problems = self._judge(instruction, names)
        if not problems:
            self._right.add(known)
        return problems

    def _number(self, operand: Operand, names: Names, shapes: dict[int, int]) -> int:
        """The number of an operand's shape."""
        number = shapes.get(id(operand))
        if number is None:
            shape = _shape(operand, names)
            number = shapes[id(operand)] = self._numbers.setdefault(shape, len(self._numbers))
        return number

    def guard(self, instruction: Instruction, names: Names) -> Problem | None:
        """What is wrong with the predicate in front."""
        guard = instruction.guard
        if guard is None:
            return None
        meaning = names.find(guard.name)
        if isinstance(meaning, Variable) and meaning.space == "reg" and meaning.type == "pred":
            return None
        if meaning is None:
            return undeclared(guard.name, names, ("guard",))
        kind = f"of .{meaning.type}" if isinstance(meaning, Variable) else "no register"
        return Problem(
            "statement/guard", f"the guard '{guard.name}' is {kind}; expected a predicate", ("guard",)
        )

    def _judge(self, instruction: Instruction, names: Names) -> list[Problem]:
        whole = spread(instruction, names.members)
        if whole is not instruction:
            problems = self._judge(whole, names)
            if not any(problem.severity is Severity.ERROR for problem in problems):
                return problems
        unknown = [
            undeclared(name, names, ("operand", k))
            for k, operand in enumerate(instruction.operands)
            for name in dict.fromkeys(names_in(operand))
            if names.find(name) is None and names.table(name) is None
        ]
        matches = match_opcode(instruction.opcode)
        best = self._best(matches, instruction, names)
        if best is not None and not best[1]:
            return unknown
        tolerated = self._tolerated(instruction, names)
        if tolerated:
            return [*tolerated, *unknown]
        if best is None and is_unjudged(instruction.opcode):
            return [replace(explain_opcode(instruction), severity=Severity.NOTE), *unknown]
        if best is None:
            in_order = tuple(match for _, match in reordered(instruction.opcode))
            best = self._best(in_order, instruction, names)
        if best is None and not self.explains:
            return [_REFUSED, *unknown]
        if best is None:
            judge = Judge(names, self.target, self.ptx)
            problem = explain_opcode(instruction, lambda match: self._misfits(match, instruction, judge))
            return [problem, *unknown]
        stage, problems, match = best
        if stage > 1 and self.explains:
            problems = self._with_fitting_change(match, instruction, names, problems)
        return [*problems, *unknown]

    def _misfits(self, match: Match, instruction: Instruction, judge: Judge) -> int:
        """How badly operands fit, the number of faults after how far they carry."""
        stage, problems, _ = self._verdict(match, instruction, judge)
        return stage << 16 | len(problems)

    def _with_fitting_change(
        self, match: Match, instruction: Instruction, names: Names, problems: list[Problem]
    ) -> list[Problem]:
        """Problems of operands that another word in one slot would be right for, with a hint at that word."""
        judge = Judge(names, self.target, self.ptx)
        at_fault = {problem.code.rpartition("/")[2] for problem in problems}
        asked = _asked(match, at_fault)
        for shown, changed in changes_of_one_word(match):
            if asked and _asked(changed, at_fault) == asked:
                continue
            bound = place_operands(changed, instruction.operands)
            if isinstance(bound, list) or judge.problems(
                changed, {name: bound[name] for name in at_fault if name in bound}
            ):
                continue
            if self._verdict(changed, instruction, judge)[0] <= 1:
                hint = f"the operands fit {shown}"
                return [replace(problem, hint=problem.hint or hint) for problem in problems]
        return problems

    def _best(
        self, matches: tuple[Match, ...], instruction: Instruction, names: Names
    ) -> tuple[int, list[Problem], Match] | None:
        judge = Judge(names, self.target, self.ptx)
        verdicts = [self._verdict(match, instruction, judge) for match in matches]
        return min(verdicts, key=lambda verdict: (verdict[0], len(verdict[1])), default=None)

    def _tolerated(self, instruction: Instruction, names: Names) -> list[Problem]:
        """The warnings for an instruction that assemblers take against the manual, for the fewest reasons
        that together explain it; none where nothing does.
        """
        if len(instruction.opcode) > LONGEST_OPCODE:
            return []
        for eased, why, match in _readings(instruction.opcode, instruction.operands, self._tolerances):
            passed = [word for word in instruction.words if word not in eased.words]
            if word_lack(passed, self.target, self.ptx) is not None:
                continue
            judge = Judge(names, self.target, self.ptx, lenient=True)
            if not self._verdict(match, eased, judge)[0]:
                easing = judge.eased
                needed = [t for t in self._tolerances if t.is_for(match.form) or {*t.place.split()} & easing]
                return [_warning(instruction, each, match) for each in (*why, *needed)]
        return []

    def _verdict(
        self, match: Match, instruction: Instruction, judge: Judge
    ) -> tuple[int, list[Problem], Match]:
        """How far a match carries: 0 all the way, 1 but for availability, 2 but for operands, 3 not to
        its places, 4 to another number of places.
        """
        bound = place_operands(match, instruction.operands, judge.extensions(match))
        lack = self._lack(match, instruction)
        missing = [] if lack is None else [lack]
        if isinstance(bound, list):
            return 3 + (not takes_count(match, len(instruction.operands))), [*bound, *missing], match
        problems = wrong_constants(match, bound) + judge.problems(match, bound)
        return (2 if problems else len(missing)), [*problems, *missing], match

    def _lack(self, match: Match, instruction: Instruction) -> Problem | None:
        gated = [word for word in instruction.words if word not in match.form.early]
        lack = lacking(match.rows, self.target, self.ptx) or word_lack(gated, self.target, self.ptx)
        if lack is None:
            return None
        if lack.since is not None and (word := self._since(match, instruction, lack.since)) is not None:
            return word
        have = self.target.name if lack.kind == "target" else f"PTX {self.ptx[0]}.{self.ptx[1]}"
        where = "the target is" if lack.kind == "target" else "the text is"
        message = f"'{instruction.opcode}' needs {lack.needs}; {where} {have}"
        return Problem(f"{match.form.name}/{lack.kind}", message, ("opcode",), "", match.form.source)

    def _since(self, match: Match, instruction: Instruction, since: Version) -> Problem | None:
        """What is wrong with a row that is no more, where another word in one slot leads to one that is."""
        form = match.form
        for _, changed in changes_of_one_word(match):
            if lacking(changed.rows, self.target, self.ptx) is not None:
                continue
            slot = next(slot for slot in form.columns if changed.slots[slot] != match.slots[slot])
            found, wanted = match.slots[slot], changed.slots[slot]
            said = f"has '.{found}', which is no more" if found else f"has no '.{wanted}', which it needs"
            at = instruction.words.index(found) if found in instruction.words else 0
            where = ("word", at) if at else ("opcode",)
            once = "" if since == EVER else f" from PTX {since[0]}.{since[1]} on"
            message = f"'{instruction.opcode}' {said}{once}"
            return Problem(f"{form.name}/{slot}", message, where, "", form.source)
        return None


def _asked(match: Match, names: set[str]) -> list[object]:
    """What the places of some operands ask for; nothing where some are none of its operands, or not always."""
    asked: list[object] = []
    slots = match.slots
    for name in sorted(names):
        place = match.form.operands.get(name)
        if place is None or place.when:
            return []
        asked += (
            place.type_word(slots),
            place.registers(slots),
            place.space_word(slots),
            place.constants(slots),
        )
    return asked


def _is_there(tolerance: Tolerance, target: Target) -> bool:
    needed = [read_target(name) for name in tolerance.targets]
    return not needed or any(other is not None and target.has(other) for other in needed)


@lru_cache(maxsize=1024)
def _readings(
    opcode: str, operands: tuple[Operand, ...], tolerances: tuple[Tolerance, ...]
) -> tuple[tuple[Instruction, tuple[Tolerance, ...], Match], ...]:
    """What an assembler may read instead of an instruction, with the reasons, and what that matches."""
    instruction = Instruction(None, opcode, operands)
    return tuple(
        (eased, why, match)
        for eased, why in _eased(instruction, tolerances)
        for match in (*match_opcode(eased.opcode), *match_extensions(eased.opcode))
        if is_named_alike(match.form, bare(instruction.words), eased.words)
    )


def _eased(
    instruction: Instruction, tolerances: Sequence[Tolerance]
) -> Iterator[tuple[Instruction, tuple[Tolerance, ...]]]:
    """What an assembler may read instead of an instruction: by no tolerance, by one, by several in their
    order.
    """
    level: list[tuple[Instruction, tuple[Tolerance, ...], int]] = [(instruction, (), 0)]
    for reasons in range(_REASONS + 1):
        yield from ((eased, why) for eased, why, _ in level)
        if reasons < _REASONS:
            level = [
                (further, (*why, tolerance), k + 1)
                for eased, why, first in level
                for k, tolerance in enumerate(tolerances[first:], first)
                if tolerance.eased is not None
                for further in tolerance.eased(eased)
            ]


def _warning(instruction: Instruction, tolerance: Tolerance, match: Match) -> Problem:
    message = f"'{instruction.opcode}': {tolerance.reason}; the manual does not have it"
    code, section = f"tolerated/{tolerance.name}", match.form.source
    return Problem(code, message, ("opcode",), "", section, Severity.WARNING)


def undeclared(name: str, names: Names, where: Where) -> Problem:
    """A name that stands for nothing."""
    numbered = names.range_of(name)
    if numbered is not None:
        stem, count = numbered
        hint = f"'{stem}<{count}>' ends with '{stem}{count - 1}'" if count else f"'{stem}<0>' is empty"
    else:
        similar = names.similar(name)
        hint = f"did you mean '{similar}'?" if similar else ""
    return Problem("name/undeclared", f"'{name}' is not declared", where, hint, "PTX ISA 4.4")


def _shape(operand: Operand, names: Names) -> Shape:
    match operand:
        case Name(text):
            return _name_shape(text, names)
        case Integer(value):
            return ("integer", value)
        case Float(_, width):
            return ("float", width)
        case Negated(name, sign):
            return ("negated", sign, _name_shape(name, names))
        case Symbol(name, _, generic, mask, minus):
            return ("symbol", generic, mask is None, minus == "", _name_shape(name, names))
        case Address(base, offset, extra, unified):
            inner = ("none",) if base is None else _shape(base, names)
            return ("address", offset == 0, unified, inner, *(_shape(item, names) for item in extra))
        case Vector(items) | Tuple(items):
            return (type(operand).__name__, *(_shape(item, names) for item in items))
        case Pair(first, second):
            return ("pair", _shape(first, names), _shape(second, names))
        case Element(name, index):
            return ("element", _name_shape(name, names), _shape(index, names))


def _name_shape(text: str, names: Names) -> Shape:
    if text == "_":
        return ("sink",)
    meaning = names.find(text)
    match meaning:
        case Variable():
            if meaning.space != "param":
                return (meaning.space, meaning.type, meaning.vector)
            return ("param", names.role(text), meaning.type, meaning.vector, meaning.shape, meaning.align)
        case Part():
            return ("part", meaning.register.type, meaning.selector)
        case SpecialRegister():
            return ("special", text)
        case Function():
            return _signature(meaning)
        case Label() | None:
            table = names.table(text)
            if table is None:
                return ("label",) if meaning is not None else ("undeclared", text)
            return ("table", table, *(_signature(names.find(name)) for name in table.names))


def _signature(meaning: Meaning) -> Shape:
    if not isinstance(meaning, Function):
        return ("no function",)
    return ("function", meaning.kind, meaning.returns, meaning.params)
