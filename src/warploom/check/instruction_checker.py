"""Check of single instructions against the Forms, in a scope, for a target and a PTX version."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from warploom import ptx
from warploom.check.names import Names, Part, Referent
from warploom.check.operand_checker import OperandChecker, names_in
from warploom.check.ptxas.ignored_words import without_suffixes
from warploom.check.ptxas.tolerated import TOLERATED, ExtensionForm, Tolerance
from warploom.diagnostics import Severity
from warploom.isa.binding.bind import changes_of_one_word, explain_opcode, is_unjudged, usage
from warploom.isa.binding.nearest import has_same_name, insertions, reordered
from warploom.isa.binding.operands import Problem, place_operands, takes_count, wrong_constants
from warploom.isa.binding.vectors import expand_vectors
from warploom.isa.model.availability import EVER, Target, Version, unmet_by_rows, unmet_by_words
from warploom.isa.model.form import LONGEST_OPCODE, Match, match_opcode
from warploom.isa.model.special_registers import SpecialRegister

Shape = tuple[object, ...]

_REASONS = 3  # most tolerances that apply to one instruction


class InstructionChecker:
    """Checker of single instructions for one target and PTX version.

    It can serve many modules and threads.
    """

    def __init__(self, target: Target, ptx: Version) -> None:
        self.target = target
        self.ptx = ptx
        self._numbers: dict[Shape, int] = {}
        self._unused = itertools.count()
        # Opcode and operand shapes of each correct instruction. Rules do not distinguish operands of one shape.
        self._correct: set[tuple[str | int | None, ...]] = set()

    @property
    def known_correct(self) -> int:
        """Number of stored combinations of an opcode and operands that were found correct."""
        return len(self._correct)

    def check(self, instruction: ptx.Instruction, names: Names, shapes: dict[int, int]) -> list[Problem]:
        """Return the problems of an instruction in the scope `names`, without those of its guard.

        `shapes` is a cache for the instructions of one scope. Clear the cache after each declaration in the scope.
        """
        # Equal operands of a module are one object.
        numbers = [shapes.get(id(operand)) for operand in instruction.operands]
        if None in numbers:
            for k, operand in enumerate(instruction.operands):
                if numbers[k] is None:
                    shape = _shape(operand, names)
                    numbers[k] = shapes[id(operand)] = self._numbers.setdefault(shape, next(self._unused))
        known = (instruction.opcode, *numbers)
        if known in self._correct:
            return []
        general = known
        if not _limits_constants(instruction.opcode):
            items = zip(instruction.operands, numbers, strict=True)
            general = (instruction.opcode, *["integer" if isinstance(o, ptx.Integer) else n for o, n in items])
        problems = [] if general in self._correct else self._problems(instruction, names)
        if not problems:
            self._correct |= {known, general}
        return problems

    def check_guard(self, guard: ptx.Guard, names: Names) -> Problem | None:
        """Return the problem of an illegal guard, or None."""
        found = names.find(guard.name)
        if isinstance(found, ptx.Variable) and found.space == "reg" and found.type == "pred":
            return None
        if found is None:
            return names.undeclared(guard.name, ("guard",))
        kind = f"of .{found.type}" if isinstance(found, ptx.Variable) else "not a register"
        message = f"the guard '{guard.name}' is {kind}; expected a predicate"
        return Problem("statement/guard", message, ("guard",))

    def _problems(self, instruction: ptx.Instruction, names: Names) -> list[Problem]:
        whole = expand_vectors(instruction, names.members)
        if whole is not instruction:
            problems = self._problems(whole, names)
            if not any(problem.severity is Severity.ERROR for problem in problems):
                return problems
        unknown = [
            names.undeclared(name, ("operand", k))
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
        replaced = self._replaced(matches, instruction)
        if replaced is not None:
            return [replaced, *unknown]
        if best is None and is_unjudged(instruction.opcode):
            return [replace(explain_opcode(instruction), severity=Severity.NOTE), *unknown]
        if best is None:
            in_order = tuple(match for _, match in reordered(instruction.opcode))
            best = self._best(in_order, instruction, names)
        if best is None:
            return [self.explain(instruction, names), *unknown]
        stage, problems, match = best
        if stage > 1:
            problems = self.with_hint(match, instruction, names, problems)
        return [*problems, *unknown]

    def _replaced(self, matches: tuple[Match, ...], instruction: ptx.Instruction) -> Problem | None:
        """Return the problem of an instruction that PTX replaced by one with a further modifier, or None."""
        lacks = [unmet_by_rows(match.rows, self.target, self.ptx) for match in matches]
        removed = [lack for lack in lacks if lack is not None and lack.since is not None]
        if not removed or len(removed) < len(lacks):
            return None
        opcode, forms = instruction.opcode, {match.form for match in matches}
        for fix in insertions(opcode):
            if fix.match.form in forms or unmet_by_rows(fix.match.rows, self.target, self.ptx) is not None:
                continue
            message = f"'{opcode}' has no '.{fix.slot}'; without it, the instruction needs {removed[0].needs}"
            code, hint = f"{fix.match.form.name}/{fix.slot}", f"write '{usage(fix.match)}'"
            return Problem(code, message, ("word", fix.position), hint, fix.match.form.source)
        return None

    def explain(self, instruction: ptx.Instruction, names: Names) -> Problem:
        """Return the problem of an instruction whose opcode matches no Form."""
        checker = OperandChecker(names, self.target, self.ptx)

        def misfits(match: Match) -> int:
            stage, problems, _ = self._verdict(match, instruction, checker)
            return stage << 16 | len(problems)

        return explain_opcode(instruction, misfits)

    def with_hint(
        self, match: Match, instruction: ptx.Instruction, names: Names, problems: list[Problem]
    ) -> list[Problem]:
        """Return `problems`, with a hint if the change of one opcode word makes the operands legal."""
        checker = OperandChecker(names, self.target, self.ptx)
        at_fault = {problem.code.rpartition("/")[2] for problem in problems}
        required = _requirements(match, at_fault)
        for shown, changed in changes_of_one_word(match):
            if required and _requirements(changed, at_fault) == required:
                continue
            bound = place_operands(changed, instruction.operands)
            if isinstance(bound, list) or checker.problems(
                changed, {name: bound[name] for name in at_fault if name in bound}
            ):
                continue
            if self._verdict(changed, instruction, checker)[0] <= 1:
                hint = f"the operands fit {shown}"
                return [replace(problem, hint=problem.hint or hint) for problem in problems]
        return problems

    def _best(
        self, matches: tuple[Match, ...], instruction: ptx.Instruction, names: Names
    ) -> tuple[int, list[Problem], Match] | None:
        checker = OperandChecker(names, self.target, self.ptx)
        verdicts: list[tuple[int, list[Problem], Match]] = []
        for match in matches:
            verdicts.append(self._verdict(match, instruction, checker))
            if not verdicts[-1][1]:
                return verdicts[-1]
        return min(verdicts, key=lambda verdict: (verdict[0], len(verdict[1])), default=None)

    def _tolerated(self, instruction: ptx.Instruction, names: Names) -> list[Problem]:
        """Return warnings for an illegal instruction that ptxas accepts, or no warnings if ptxas refuses it."""
        if len(instruction.opcode) > LONGEST_OPCODE:
            return []
        for reading, reasons, match in _readings(instruction.opcode, instruction.operands):
            ignored = [word for word in instruction.words if word not in reading.words]
            if unmet_by_words(ignored, self.target, self.ptx) is not None:
                continue
            checker = OperandChecker(names, self.target, self.ptx, with_extensions=True)
            if not self._verdict(match, reading, checker)[0]:
                used = checker.used_extensions
                needed = [t for t in TOLERATED if t.is_for(match.form) or {*t.extensions.split()} & used]
                return [_warning(instruction, each, match) for each in (*reasons, *needed)]
        return []

    def _verdict(
        self, match: Match, instruction: ptx.Instruction, checker: OperandChecker
    ) -> tuple[int, list[Problem], Match]:
        """Return the stage at which an instruction fails to fit a match, the problems, and the match.

        The stage is 0 if the instruction is legal, 1 if the target or PTX version lacks the instruction, 2 if operands
        are wrong, 3 if operands do not fit the syntax, and 4 if the number of operands is wrong.
        """
        bound = place_operands(match, instruction.operands, checker.extensions(match))
        lack = self._lack(match, instruction)
        missing = [] if lack is None else [lack]
        if isinstance(bound, list):
            return 3 + (not takes_count(match, len(instruction.operands))), [*bound, *missing], match
        problems = wrong_constants(match, bound) + checker.problems(match, bound)
        return (2 if problems else len(missing)), [*problems, *missing], match

    def _lack(self, match: Match, instruction: ptx.Instruction) -> Problem | None:
        lack = match.unmet(instruction.words, self.target, self.ptx)
        if lack is None:
            return None
        if lack.since is not None and (word := self._since(match, instruction, lack.since)) is not None:
            return word
        have = self.target.name if lack.kind == "target" else f"PTX {self.ptx[0]}.{self.ptx[1]}"
        where = "the target is" if lack.kind == "target" else "the text is"
        message = f"'{instruction.opcode}' needs {lack.needs}; {where} {have}"
        return Problem(f"{match.form.name}/{lack.kind}", message, ("opcode",), "", match.form.source)

    def _since(self, match: Match, instruction: ptx.Instruction, since: Version) -> Problem | None:
        """Return a problem if PTX version `since` removed an opcode word or first required a missing word."""
        form = match.form
        for _, changed in changes_of_one_word(match):
            if unmet_by_rows(changed.rows, self.target, self.ptx) is not None:
                continue
            slot = next(slot for slot in form.columns if changed.slots[slot] != match.slots[slot])
            found, wanted = match.slots[slot], changed.slots[slot]
            version = "" if since == EVER else f"PTX {since[0]}.{since[1]}"
            if found:
                wrong = f"has '.{found}', which was removed{version and f' in {version}'}"
            else:
                wrong = f"has no '.{wanted}', which it needs{version and f' from {version} on'}"
            at = instruction.words.index(found) if found in instruction.words else 0
            where = ("word", at) if at else ("opcode",)
            return Problem(f"{form.name}/{slot}", f"'{instruction.opcode}' {wrong}", where, "", form.source)
        return None


@lru_cache(maxsize=16)
def instruction_checker(target: Target, ptx: Version) -> InstructionChecker:
    """Return the checker that all authored kernels with this target and PTX version share."""
    return InstructionChecker(target, ptx)


def _requirements(match: Match, names: set[str]) -> list[object]:
    found: list[object] = []
    slots = match.slots
    for name in sorted(names):
        spec = match.form.operands.get(name)
        if spec is None or spec.when:
            return []
        found += (spec.type_word(slots), spec.registers(slots), spec.space_word(slots), spec.constants(slots))
    return found


@lru_cache(maxsize=8192)
def _limits_constants(opcode: str) -> bool:
    """Return True if the value of an integer may make an instruction with this opcode illegal."""
    matches = match_opcode(opcode)
    return not matches or any(match.form.limits_constants for match in matches)


@lru_cache(maxsize=1024)
def _readings(
    opcode: str, operands: tuple[ptx.Operand, ...]
) -> tuple[tuple[ptx.Instruction, tuple[Tolerance, ...], Match], ...]:
    """Return the ways in which ptxas may read an instruction: (rewritten instruction, tolerances, match)."""
    instruction = ptx.Instruction(None, opcode, operands)
    return tuple(
        (reading, reasons, match)
        for reading, reasons in _combined(instruction)
        for match in (*match_opcode(reading.opcode), *ExtensionForm.registry.match(reading.opcode))
        if has_same_name(match.form, without_suffixes(instruction.words), reading.words)
    )


def _combined(instruction: ptx.Instruction) -> Iterator[tuple[ptx.Instruction, tuple[Tolerance, ...]]]:
    """Yield an instruction unchanged, and then rewritten by one, two and three tolerances."""
    level: list[tuple[ptx.Instruction, tuple[Tolerance, ...], int]] = [(instruction, (), 0)]
    for count in range(_REASONS + 1):
        yield from ((reading, reasons) for reading, reasons, _ in level)
        if count < _REASONS:
            level = [
                (further, (*reasons, tolerance), k + 1)
                for reading, reasons, first in level
                for k, tolerance in enumerate(TOLERATED[first:], first)
                if tolerance.rewrite is not None
                for further in tolerance.rewrite(reading)
            ]


def _warning(instruction: ptx.Instruction, tolerance: Tolerance, match: Match) -> Problem:
    message = f"'{instruction.opcode}': {tolerance.reason}; the PTX manual does not allow this"
    code, section = f"tolerated/{tolerance.name}", match.form.source
    return Problem(code, message, ("opcode",), "", section, Severity.WARNING)


def _shape(operand: ptx.Operand, names: Names) -> Shape:
    match operand:
        case ptx.Name(text):
            return _name_shape(text, names)
        case ptx.Integer(value):
            return ("integer", value)
        case ptx.Float(_, width):
            return ("float", width)
        case ptx.Negated(name, sign):
            return ("negated", sign, _name_shape(name, names))
        case ptx.Symbol(name, _, generic, mask, minus):
            return ("symbol", generic, mask is None, minus == "", _name_shape(name, names))
        case ptx.Address(base, offset, extra, unified):
            inner = ("none",) if base is None else _shape(base, names)
            return ("address", offset == 0, unified, inner, *(_shape(item, names) for item in extra))
        case ptx.Vector(items) | ptx.Tuple(items):
            return (type(operand).__name__, *(_shape(item, names) for item in items))
        case ptx.Pair(first, second):
            return ("pair", _shape(first, names), _shape(second, names))
        case ptx.Element(name, index):
            return ("element", _name_shape(name, names), _shape(index, names))


def _name_shape(text: str, names: Names) -> Shape:
    if text == "_":
        return ("sink",)
    found = names.find(text)
    match found:
        case ptx.Variable():
            if found.space != "param":
                return (found.space, found.type, found.vector)
            return ("param", names.role(text), found.type, found.vector, found.shape, found.align)
        case Part():
            return ("part", found.register.type, found.selector)
        case SpecialRegister():
            return ("special", text)
        case ptx.Function():
            return _signature(found)
        case ptx.Label() | None:
            table = names.table(text)
            if table is None:
                return ("label",) if found is not None else ("undeclared", text)
            return ("table", table, *(_signature(names.find(name)) for name in table.names))


def _signature(found: Referent) -> Shape:
    if not isinstance(found, ptx.Function):
        return ("no function",)
    return ("function", found.kind, found.returns, found.params)
