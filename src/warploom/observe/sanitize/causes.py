"""Merge of conflicts that one edit of the kernel removes, so that each root cause is one finding.

A conflict is a rule and a pair of instructions. The rule names the kind of edit that removes the conflict, such as a
barrier. The control flow gives the places where this edit helps. Conflicts have one cause if they need the same kind of
edit and have a common place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Severity
from warploom.diagnostics.edits import Fix
from warploom.observe.sanitize.paths import Paths, Places
from warploom.observe.sanitize.rules import Rule, rules

Array = NDArray[Any]

_LISTED = 3  # most further pairs of lines in a note


@dataclass(slots=True)
class Conflict:
    """Pair of instructions whose accesses break a rule, or a single instruction, at the first occurrence.

    `pc` is the later instruction and `other` the earlier one, or -1 if there is none. `hint` replaces the rule's cure.
    `subject` names the object at fault, such as an mbarrier, or is empty. `two_sided` is set if the conflict needs an
    edit on each side: a release after `other`, and an acquire before `pc`. `fixes` has alternative fixes, and `insert`
    replaces the instructions that the rule inserts. `is_final` is set if no other conflict can explain this one.
    `count` is the number of occurrences. `moment` is that of the first one (see `Report.moment`).
    """

    code: str
    pc: int
    other: int
    message: str
    hint: str = ""
    subject: str = ""
    two_sided: bool = False
    fixes: tuple[Fix, ...] = ()
    insert: str = ""
    is_final: bool = False
    count: int = 1
    moment: tuple[int, int, int] | None = None

    @property
    def rule(self) -> Rule:
        """Rule that the accesses break."""
        return rules()[self.code]

    @property
    def inserted(self) -> str:
        """Instructions of the edit, or "" if they depend on the kernel."""
        return self.insert or self.rule.insert

    @property
    def remedy(self) -> str:
        """Kind of the edit that removes the conflict."""
        if self.two_sided:
            return "order"
        return self.rule.remedy or f"{self.code} {self.hint or self.pc}"

    @property
    def keys(self) -> tuple[tuple[str, int, int], ...]:
        """Keys of the conflict, which do not depend on the order of the two instructions.

        Findings of different runs with a common key have one cause.
        """
        # All two-sided conflicts of a run have one cause. In another run, the conflict may need an edit on one side.
        common = ((self.remedy, -1, -1),) if self.two_sided else ()
        if self.other < 0 or self.rule.place == "object":
            return *common, (self.code, self.pc, -1)
        return *common, (self.code, min(self.pc, self.other), max(self.pc, self.other))

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
    """Return keys by which `_merge` finds causes that concern the same thing.

    There is a key for each pair of instructions, incomplete asynchronous operation, and object at fault.
    """
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
    if not conflict.inserted or not _is_complete(conflict, (first, last), everywhere, paths):
        if rule.place == "after":
            return Cause(members, conflict.pc, last, places)
        return Cause(members, conflict.other if rule.place == "between" else -1, conflict.pc, places)
    # Threads that wait or execute a fence do so before they meet the other threads.
    before = paths.next_barrier(first, last) if rule.side == "earlier" else last
    after = before - 1 if rule.side == "earlier" else first - 1
    insert = conflict.inserted
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
    """Merge each cause that is a consequence of another cause into that other cause.

    Leave out causes that are consequences of an unwritten register.
    """
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
