"""Findings of the sanitizer as diagnostics, with hints and fixes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warploom.diagnostics import Diagnostic, Note
from warploom.diagnostics.edits import Fix, with_fixes
from warploom.emulator.program import Program
from warploom.isa.model import effects
from warploom.observe.sanitize.causes import Cause, Conflict, find_causes
from warploom.observe.sanitize.edits import combine, insert_after, insert_before, replace_word
from warploom.observe.sanitize.paths import Paths
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.weak_orders import (
    expect_before_arrival,
    insert_before_releases,
    is_ordered,
    make_strong,
    move_behind_wait,
    strengthen_between,
    wait_at_arrivals,
)

_LISTED = 3  # most further pairs of lines in a note


@dataclass(frozen=True, slots=True)
class End:
    """Trap or deadlock that ended a run.

    `pc` is the instruction of a trap, and -1 for a deadlock. `fixes` has alternative fixes.
    """

    found: Diagnostic
    pc: int = -1
    fixes: tuple[Fix, ...] = ()


def find_diagnostics(
    conflicts: Sequence[Conflict], ended: Sequence[End], program: Program, untested: frozenset[int]
) -> list[Diagnostic]:
    """Return one diagnostic for each cause, in order of the first occurrences.

    `untested` has the waits whose results no instruction tests.
    """
    paths = program.analysis(Paths)
    causes = find_causes(conflicts, paths)
    found = [_diagnostic(cause, program, paths, untested) for cause in causes]
    for end in ended:
        conflict = (end.found.code, end.pc, -1)
        explanation = next((k for k, cause in enumerate(causes) if cause.explains(end.found.code)), -1)
        relation = "consequence:" if explanation >= 0 else f"also {end.found.code}:"
        if explanation < 0 <= end.pc:  # a faulty operand may be what the sanitizer has found, too
            explanation = next((k for k, cause in enumerate(causes) if end.pc in (c.pc for c in cause.conflicts)), -1)
        if explanation < 0:
            each = replace(_with_edit(end.found), source=program.source, conflicts=(conflict,))
            found.append(with_fixes(each, end.fixes))
        else:
            each = found[explanation]
            notes = (*each.notes, Note(f"{relation} {end.found.message}", end.found.span))
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
    """Return the diagnostic of a deadlock with a hint that names the missing arrivals, bytes or threads.

    They are missing at the mbarrier or barrier for which the first group of warps waits.
    """
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


def _diagnostic(cause: Cause, program: Program, paths: Paths, untested: frozenset[int]) -> Diagnostic:
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
        _notes(cause, program), data or None, tuple(key for each in cause.conflicts for key in each.keys), first.moment,
    )  # fmt: skip
    fixes = _fixes(cause, edit, program, paths, untested)
    if not any(fixes):
        return replace(found, hint=f"{found.hint}; {_place(first, edit, program)}") if edit else found
    is_early = cause.insert and rule.side == "earlier" and first.other >= 0
    return with_fixes(
        found, fixes, f", in the threads that execute {program.place_of(first.other)}" if is_early else ""
    )


def _fixes(
    cause: Cause, edit: Mapping[str, int], program: Program, paths: Paths, untested: frozenset[int]
) -> tuple[Fix, ...]:
    """Return the alternative fixes of a cause. `edit` has the place of an inserted instruction."""
    first = cause.conflicts[0]
    if cause.insert and edit:
        where = " and ".join(f"{side} {program.place_of(pc)}" for side, pc in edit.items())
        return (insert_before(program, cause.before, cause.insert, where),)
    if first.two_sided and first.rule.operation == "other" and first.inserted:
        return (insert_before_releases(program, first.other, first.inserted),)
    # A conflict without a fix of its own may have a common cause with a conflict that has one.
    fixed = [each.code for each in cause.conflicts if each.fixes]
    code = first.code if first.code in fixed or not fixed else fixed[0]
    same = [each for each in cause.conflicts if each.code == code]
    words = (replace_word(program, each.pc, *pair) for each in same for pair in each.rule.words.items())
    own = [each.fixes for each in same if each.fixes]
    return (tuple(edit for fix in words for edit in fix), *_orders(first, program, paths, untested), *combine(own))


def _orders(first: Conflict, program: Program, paths: Paths, untested: frozenset[int]) -> tuple[Fix, ...]:
    """Return fixes of a conflict whose two accesses only a too weak release or acquire orders."""
    scope, pc, other = first.rule.scope, first.pc, first.other
    if not scope:
        return ()
    if scope == "cluster" and (lone := paths.lone_arrivals()):
        wait = rules()["sanitize.cluster/start"].template
        return (tuple(edit for arrival in lone for edit in insert_after(program, arrival, wait)),)
    if other < 0:
        return (strengthen_between(program, pc, pc, scope, untested),)
    if first.two_sided and (is_ordered(program, pc) or is_ordered(program, other)):
        return (make_strong(program, other, scope) + make_strong(program, pc, scope),)
    if moved := expect_before_arrival(program) or move_behind_wait(program, pc) or move_behind_wait(program, other):
        return (moved,)
    found = strengthen_between(program, other, pc, scope, untested)
    if first.rule.side != "all":
        return (found,)
    inserted = paths.barrier_beside(other) or first.inserted
    barriers = (insert_after(program, other, inserted), insert_before(program, pc, inserted))
    return found, *(found + each for each in (*barriers, wait_at_arrivals(program, other, pc, first.two_sided)))


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
