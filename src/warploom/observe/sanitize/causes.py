"""Merge of conflicts that one edit of the kernel removes, so that each root cause is one finding.

A conflict is a rule and a pair of instructions. The rule names the kind of edit that removes the conflict, such as a
barrier. The control flow gives the places where this edit helps. Conflicts have one cause if they need the same kind of
edit and have a common place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic, Note, Severity
from warploom.emulator.program import Program
from warploom.isa.model import effects
from warploom.observe.sanitize.edits import Fix, combine, insert_after, insert_before, replace_word, with_fixes
from warploom.observe.sanitize.paths import Paths, Places
from warploom.observe.sanitize.rules import Rule, rules
from warploom.observe.sanitize.weak_orders import is_ordered, make_strong, strengthen_between

Array = NDArray[Any]

_LISTED = 3  # most further pairs of lines in a note


@dataclass(slots=True)
class Conflict:
    """Accesses of two instructions that break a rule, in the first occurrence.

    `pc` is the later instruction and `other` the earlier one, or -1 if there is none. `hint` replaces the rule's cure.
    `subject` names the object at fault, such as an mbarrier, or is empty. `two_sided` is set if the conflict needs an
    edit on each side: a release after `other`, and an acquire before `pc`. `fixes` has alternative fixes. `is_final` is
    set if no other conflict can explain this one. `count` is the number of occurrences.
    """

    code: str
    pc: int
    other: int
    message: str
    hint: str = ""
    subject: str = ""
    two_sided: bool = False
    fixes: tuple[Fix, ...] = ()
    is_final: bool = False
    count: int = 1

    @property
    def rule(self) -> Rule:
        """Rule that the accesses break."""
        return rules()[self.code]

    @property
    def remedy(self) -> str:
        """Kind of the edit that removes the conflict."""
        if self.two_sided:
            return "order"
        return self.rule.remedy or f"{self.code} {self.hint or self.pc}"

    @property
    def key(self) -> tuple[str, int, int]:
        """Key of the conflict, which does not depend on the order of the two instructions."""
        if self.two_sided:
            return self.remedy, -1, -1  # all these conflicts of a run have one cause
        if self.other < 0 or self.rule.place == "object":
            return self.code, self.pc, -1
        return self.code, min(self.pc, self.other), max(self.pc, self.other)

    @property
    def operation(self) -> int:
        """Instruction of the asynchronous operation that may be incomplete, or -1."""
        return -1 if self.two_sided else {"pc": self.pc, "other": self.other}.get(self.rule.operation, -1)


@dataclass(slots=True)
class Cause:
    """Conflicts that one edit removes. The first conflict describes the cause.

    The edit belongs after the instruction `after` and before the instruction `before`; both are -1 if unknown. `places`
    are all places where the edit helps. `insert` has the instructions of the edit, which belong directly before the
    instruction `before`, or is empty if the instructions depend on the kernel.
    """

    conflicts: list[Conflict]
    after: int = -1
    before: int = -1
    places: Places = ()
    insert: str = ""

    def explains(self, code: str) -> bool:
        """Return True if the cause may lead to a trap or deadlock with the rule code `code`."""
        return any(code in each.rule.explains for each in self.conflicts)


@dataclass(frozen=True, slots=True)
class End:
    """Trap or deadlock that ended a run.

    `pc` is the instruction of a trap, and -1 for a deadlock. `fixes` has alternative fixes.
    """

    found: Diagnostic
    pc: int = -1
    fixes: tuple[Fix, ...] = ()


def find_causes(conflicts: Sequence[Conflict], paths: Paths) -> list[Cause]:
    """Merge conflicts with one cause, in order of the first occurrence of each cause."""
    found: list[Cause] = []
    for severity in Severity:  # an error and a warning have different causes
        found += _find_causes([each for each in conflicts if each.rule.severity is severity], paths)
    order = {id(each): index for index, each in enumerate(conflicts)}
    return sorted(_without_consequences(found), key=lambda cause: min(order[id(each)] for each in cause.conflicts))


def _find_causes(conflicts: Sequence[Conflict], paths: Paths) -> list[Cause]:
    families: dict[str, list[Conflict]] = {}
    for each in conflicts:
        families.setdefault(each.remedy, []).append(each)
    found: list[Cause] = []
    for family in families.values():
        if family[0].rule.place == "object":
            found += _merge([Cause([each], before=max(each.pc, each.other)) for each in family], _objects)
        elif family[0].two_sided:
            places = sum((_window(each, paths) for each in family), ())
            found.append(Cause(family, family[0].other, family[0].pc, places))
        elif family[0].rule.place:
            found += _by_place(family, paths)
        else:
            found.append(Cause(family, before=family[0].pc))
    return _merge(found, _shared_parts)


def _merge(causes: Iterable[Cause], keys: Callable[[Cause], set[str]]) -> list[Cause]:
    """Merge causes that have a common key. The conflict with the highest level comes first."""
    groups: list[tuple[set[str], list[Cause]]] = []
    for cause in causes:
        known, members = keys(cause), [cause]
        for group in [group for group in groups if group[0] & known]:
            groups.remove(group)
            known |= group[0]
            members = group[1] + members
        groups.append((known, members))
    return [_join(members) for _, members in groups]


def _join(causes: Sequence[Cause]) -> Cause:
    first = max(causes, key=lambda cause: cause.conflicts[0].rule.level)
    others = [each for cause in causes if cause is not first for each in cause.conflicts]
    members = sorted([*first.conflicts, *others], key=lambda each: -each.rule.level)
    return replace(first, conflicts=members)


def _objects(cause: Cause) -> set[str]:
    return {key for each in cause.conflicts for key in (each.subject, f"instruction {each.pc}") if key}


def _shared_parts(cause: Cause) -> set[str]:
    """Return keys of the instruction pairs, incomplete operations and mbarriers of the conflicts."""
    found: set[str] = set()
    for each in cause.conflicts:
        if each.other >= 0:
            found.add(f"instructions {sorted((each.pc, each.other))}")
        if each.operation >= 0:
            found.add(f"operation {each.operation}")
        if each.subject:
            found.add(each.subject)
    return found


# Places -----------------------------------------------------------------------------------------------------


def _window(each: Conflict, paths: Paths) -> Places:
    """Return the places where an edit removes a conflict."""
    place = each.rule.place
    if place == "after":
        return paths.after(each.pc)
    found: Places = ()
    if each.other >= 0 and place == "between":
        found = paths.between(each.other, each.pc)
        if each.other >= each.pc:
            # The warps may have executed the two instructions in the reverse order.
            found += paths.between(each.pc, each.other)
        if not found and each.rule.side == "earlier":
            found = paths.after(each.other)
    if place == "before":
        found = paths.dominators(each.pc)
    return found or paths.before(each.pc)


def _by_place(family: Sequence[Conflict], paths: Paths) -> list[Cause]:
    """Divide conflicts into few sets with a common place. The largest set comes first."""
    windows = [_window(each, paths) for each in family]
    points = np.array(sorted({bound for each in windows for bounds in each for bound in bounds}), np.int64)
    fits = np.array([_contains(each, points) for each in windows])
    everywhere = _contains(paths.after(paths.entry), points)  # all threads pass these places
    rule = family[0].rule
    preferred = everywhere
    is_early = rule.side == "earlier"
    if is_early:
        sites = (each.other if each.other >= 0 else each.pc for each in family)
        preferred = _contains(tuple(bounds for site in sites for bounds in paths.rest(site)), points)
    is_last = rule.place == "after" and not is_early
    left = np.ones(len(family), np.bool_)
    found: list[Cause] = []
    while left.any():
        scores = 2 * fits[left].sum(axis=0) + preferred
        best = len(points) - 1 - int(scores[::-1].argmax()) if is_last else int(scores.argmax())
        chosen = np.flatnonzero(left & fits[:, best]).tolist()
        left[chosen] = False
        common = _common([windows[k] for k in chosen])
        first, last = next(bounds for bounds in common if bounds[0] <= points[best] <= bounds[1])
        members = sorted((family[k] for k in chosen), key=lambda each: -each.rule.level)
        found.append(_placed(members, common, (first, last), bool(everywhere[best]), paths))
    return found


def _placed(members: list[Conflict], places: Places, chosen: tuple[int, int], everywhere: bool, paths: Paths) -> Cause:
    """Return the cause of conflicts whose edit belongs to the range `chosen` of the places.

    `everywhere` is set if all threads of the CTA pass the range.
    """
    (first, last), conflict = chosen, members[0]
    rule = conflict.rule
    if not rule.insert or not _is_complete(conflict, (first, last), everywhere, paths):
        if rule.place == "after":
            return Cause(members, conflict.pc, last, places)
        return Cause(members, conflict.other if rule.place == "between" else -1, conflict.pc, places)
    # Threads that wait or execute a fence do so before they meet the other threads.
    before = paths.next_barrier(first, last) if rule.side == "earlier" else last
    after = before - 1 if rule.side == "earlier" else first - 1
    insert = rule.insert
    if rule.side == "all" and paths.changes_proxy(conflict.other, conflict.pc):
        insert = f"{rules()['sanitize.proxy/async'].insert} {insert}"
    return Cause(members, -1 if paths.is_start(after + 1) else after, before, places, insert)


def _is_complete(conflict: Conflict, chosen: tuple[int, int], everywhere: bool, paths: Paths) -> bool:
    """Return True if the instructions of the rule, inserted in the range `chosen`, are the whole edit."""
    (first, last), rule, other, pc = chosen, conflict.rule, conflict.other, conflict.pc
    if rule.side != "all":
        # Other warps than those that wait for an operation need a barrier or an mbarrier, too.
        return not (rule.operation == "other" and rule.side == "earlier" and not paths.between(other, pc))
    # An arrival without a wait in the place may be a part of the barrier that is missing.
    start = other if 0 <= other < last else first
    is_ordered = rule.level < rules()["sanitize.race/cluster"].level or other < pc
    return everywhere and is_ordered and not paths.splits_barrier(start, max(last, pc))


def _common(sets: Sequence[Places]) -> Places:
    """Return the places that all sets contain."""
    common, *others = sets
    for each in others:
        both = ((max(a[0], b[0]), min(a[1], b[1])) for a in common for b in each)
        common = tuple((first, last) for first, last in both if first <= last)
    return common


def _contains(places: Places, points: Array) -> Array:
    found = np.zeros(len(points), np.bool_)
    for first, last in places:
        found |= (points >= first) & (points <= last)
    return found


# Consequences -----------------------------------------------------------------------------------------------


def _without_consequences(causes: Sequence[Cause]) -> list[Cause]:
    """Move the conflicts of causes that another cause explains to this other cause."""
    undefined = {each.pc for cause in causes for each in cause.conflicts if each.rule.remedy == "register"}
    left = list(causes)
    for cause in causes:
        first = cause.conflicts[0]
        # An access through an unwritten register may reach any bytes.
        if first.rule.remedy != "register" and all({each.pc, each.other} & undefined for each in cause.conflicts):
            left.remove(cause)
            continue
        for other in left:
            known = other is not cause and not first.is_final and other.explains(first.code)
            if known and _overlap(cause.places, other.places):
                other.conflicts += cause.conflicts
                left.remove(cause)
                break
    return left


def _overlap(first: Places, second: Places) -> bool:
    """Return True if two sets of places have a common place, or if one of the sets is unknown."""
    common = any(a[0] <= b[1] and b[0] <= a[1] for a in first for b in second)
    return common or not first or not second


# Findings ---------------------------------------------------------------------------------------------------


def find_diagnostics(
    conflicts: Sequence[Conflict], ended: Sequence[End], program: Program, untested: frozenset[int]
) -> list[Diagnostic]:
    """Return one diagnostic for each cause, in order of the first occurrences.

    `untested` has the waits whose results no instruction tests.
    """
    causes = find_causes(conflicts, Paths(program))
    found = [_diagnostic(cause, program, untested) for cause in causes]
    for end in ended:
        conflict = (end.found.code, end.pc, -1)
        explanation = next((k for k, cause in enumerate(causes) if cause.explains(end.found.code)), -1)
        if explanation < 0:
            each = replace(_with_edit(end.found), source=program.source, conflicts=(conflict,))
            found.append(with_fixes(each, end.fixes))
        else:
            each = found[explanation]
            notes = (*each.notes, Note(f"consequence: {end.found.message}", end.found.span))
            found[explanation] = replace(each, notes=notes, conflicts=(*each.conflicts, conflict))
    return found


def merge_findings(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Merge findings of several runs, so that each cause is listed once."""
    merged: list[Diagnostic] = []
    for each in found:
        same = [k for k, known in enumerate(merged) if _have_one_cause(each, known)]
        if not same:
            merged.append(each)
            continue
        known = merged[same[0]]
        # A conflict may be a consequence in one run and the only conflict of another run.
        main, other = (
            (known, each) if each.conflicts[:1] == () or each.conflicts[0] in known.conflicts else (each, known)
        )
        merged[same[0]] = replace(main, conflicts=tuple(dict.fromkeys((*main.conflicts, *other.conflicts))))
        for k in reversed(same[1:]):
            del merged[k]
    return tuple(merged)


def _have_one_cause(first: Diagnostic, second: Diagnostic) -> bool:
    if not first.conflicts or not second.conflicts:
        return (first.code, first.span) == (second.code, second.span)
    # A trap ends a run before the sanitizer can find more at the same instruction.
    instructions = [{pc for _, *pair in each.conflicts for pc in pair if pc >= 0} for each in (first, second)]
    is_trap = any(each.code.startswith("emulator.") for each in (first, second))
    return bool({*first.conflicts} & {*second.conflicts}) or (is_trap and bool(instructions[0] & instructions[1]))


def join_deadlocks(found: Sequence[Diagnostic]) -> Diagnostic:
    """Return one diagnostic for a deadlock, given one for each group of waiting warps."""
    first, *others = found
    notes = [note for each in others for note in (Note(each.message, each.span), *each.notes)]
    return replace(first, notes=(*first.notes, *notes), data={"groups": [each.data for each in found]})


def _with_edit(end: Diagnostic) -> Diagnostic:
    """Return the diagnostic of a deadlock with a hint that names what its first group of warps lacks."""
    if not end.data or "groups" not in end.data:
        return end
    group = end.data["groups"][0]
    awaited, line, sites = group["for"], group["waits"]["line"], group["arrivals_at"]
    at = f" in line{'s' if len(sites) > 1 else ''} {', '.join(map(str, sites))}" if sites else ""
    match awaited:
        case {"kind": "mbarrier", "arrivals": count, "name": name} if count:
            lacks = f"{_plural(count, 'more arrival')} at {name}, or an initialisation with {count} fewer"
            what = f"{lacks}, or the phase or mbarrier of a wait in line {line} or of an arrival{at}"
        case {"kind": "mbarrier", "bytes": count, "name": name} if count > 0:
            what = f"{count} more bytes from copies{at} to {name}, or an expectation of {count} bytes fewer"
        case {"kind": "mbarrier", "bytes": count, "name": name}:
            what = f"an expectation of {-count} bytes more at {name}, which copies{at} transfer"
        case {"kind": "barrier", "arrived": arrived, "needed": needed, "name": name}:
            lacks = f"{needed - arrived} more threads at {name}"
            what = f"{lacks}, or the number or count of the threads of a barrier{at}"
        case _:
            return end
    hint = f"{end.hint}: {what}"
    return replace(end, hint=hint, data={**end.data, "edit": {"before": line}})


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _diagnostic(cause: Cause, program: Program, untested: frozenset[int]) -> Diagnostic:
    first, rule = cause.conflicts[0], cause.conflicts[0].rule
    count = sum(each.count for each in cause.conflicts)
    times = f" ({count:,} times)" if count > 1 else ""
    span = program.span_of(first.pc) if first.pc >= 0 else None
    edit = {side: pc for side, pc in (("after", cause.after), ("before", cause.before)) if pc >= 0}
    edit = edit if all(map(program.line_of, edit.values())) else {}
    data: dict[str, Any] = {} if first.other < 0 else program.data_of(first.other, "other line", "other source")
    if edit:
        data["edit"] = {"two-sided": True} if first.two_sided else {}
        for side, pc in edit.items():
            data["edit"] |= program.data_of(pc, side, f"{side} source")
    found = Diagnostic(
        first.code, rule.severity, first.message + times, program.source, span, first.hint or rule.cure, rule.source,
        _notes(cause, program), data or None, tuple(each.key for each in cause.conflicts),
    )  # fmt: skip
    fixes = _fixes(cause, edit, program, untested)
    if not any(fixes):
        return replace(found, hint=f"{found.hint}; {_place(first, edit, program)}") if edit else found
    is_early = cause.insert and rule.side == "earlier" and first.other >= 0
    return with_fixes(
        found, fixes, f", in the threads that execute {program.place_of(first.other)}" if is_early else ""
    )


def _fixes(cause: Cause, edit: Mapping[str, int], program: Program, untested: frozenset[int]) -> tuple[Fix, ...]:
    """Return the alternative fixes of a cause. An inserted instruction belongs between two program counters."""
    first = cause.conflicts[0]
    if cause.insert and edit:
        where = " and ".join(f"{side} {program.place_of(pc)}" for side, pc in edit.items())
        return (insert_before(program, cause.before, cause.insert, where),)
    same = [each for each in cause.conflicts if each.code == first.code]
    words = (replace_word(program, each.pc, *pair) for each in same for pair in first.rule.words.items())
    own = [each.fixes for each in same if each.fixes]
    return (tuple(edit for fix in words for edit in fix), *_orders(first, program, untested), *combine(own))


def _orders(first: Conflict, program: Program, untested: frozenset[int]) -> tuple[Fix, ...]:
    """Return fixes of a conflict whose two accesses only a too weak release or acquire orders."""
    scope, pc, other = first.rule.scope, first.pc, first.other
    if not scope:
        return ()
    if other < 0:
        return (strengthen_between(program, pc, pc, scope, untested),)
    if first.two_sided and (is_ordered(program, pc) or is_ordered(program, other)):
        return (make_strong(program, other, scope) + make_strong(program, pc, scope),)
    found = strengthen_between(program, other, pc, scope, untested)
    if found or not first.two_sided:
        return (found,)
    return insert_after(program, other, first.rule.insert), insert_before(program, pc, first.rule.insert)


def _place(first: Conflict, edit: Mapping[str, int], program: Program) -> str:
    """Return a phrase with the place of an edit, which lies between two program counters."""
    if first.two_sided:
        sides = f"after {program.place_of(first.other)}, and the acquire before {program.place_of(first.pc)}"
        return f"the release belongs {sides}"
    where = " and ".join(f"{side} {program.place_of(pc)}" for side, pc in edit.items())
    others = f", {_phase_lines(program)}" if first.rule.names_phases else ""
    return f"the edit belongs {'' if 'after' in edit else 'at or '}{where}{others}"


def _phase_lines(program: Program) -> str:
    """Return a phrase with the lines of all waits for phases and of all arrivals at mbarriers."""
    forms = [(pc, step.binding.form, step.binding.slots) for pc, step in enumerate(program.steps)]
    waits = [pc for pc, form, _ in forms if any(each.on == "mbarrier" for each in form.effects_of(effects.Wait))]
    arrivals = [
        pc
        for pc, form, slots in forms
        if any(effects.word(each.action, slots).startswith("arrive") for each in form.effects_of(effects.Arrive))
    ]
    return f"at a wait ({program.places_of(waits)}) or at an arrival ({program.places_of(arrivals)})"


def _notes(cause: Cause, program: Program) -> tuple[Note, ...]:
    """Return a note on the other pairs of instructions with this cause, and a note on each other rule."""
    first, *others = cause.conflicts
    pairs = list(dict.fromkeys(_lines(each, program) for each in others if each.code == first.code))
    notes: list[Note] = []
    if pairs:
        more = f", and {len(pairs) - _LISTED} more" if len(pairs) > _LISTED else ""
        notes.append(Note(f"the same cause affects {', '.join(pairs[:_LISTED])}{more}"))
    for code in dict.fromkeys(each.code for each in others if each.code != first.code):
        each = next(each for each in others if each.code == code)
        notes.append(Note(f"also {code}: {each.message}", program.span_of(each.pc)))
    return tuple(notes)


def _lines(each: Conflict, program: Program) -> str:
    return program.places_of([pc for pc in (each.other, each.pc) if pc >= 0], " and ")
