"""Application of the hint of a finding: the edit that the hint names, and what the sanitizer finds afterwards.

A hint is right if its edit removes the finding and leads to no new finding. There are two ways to apply a hint:

- The edit has instructions. They are inserted into the text of the mutant at the place that the edit names.
- The edit needs registers of the kernel, such as the address of an mbarrier. The hint then names a kind of instruction
  and a place. If the mutation changed an instruction of this kind at this place, then the original kernel is the
  kernel with the edit. Otherwise the hint is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from typing import Any, Literal, TypeAlias

from observe.sanitize import mutations, subjects
from observe.sanitize.protocol import subjects as protocol
from observe.sanitize.protocol import verdicts
from observe.sanitize.verdicts import verdict

import warploom as wl
from warploom.diagnostics import Diagnostic
from warploom.observe.sanitize.edits import apply_edits

Outcome: TypeAlias = Literal["removed", "alternative", "restored", "kept", "new finding", "other kind", "other place"]

RIGHT: tuple[Outcome, ...] = ("removed", "alternative", "restored")
"""Outcomes of a right hint: the sanitizer confirms it or an alternative, or the edit restores the original kernel."""

Sanitize: TypeAlias = Callable[[str], Sequence[Diagnostic]]

# Opcodes of changed instructions, and the words with which a hint names their kind.
_KINDS = (
    (r"fence\.proxy\.tensormap|tensormap\.", r"fence of the tensor-map proxy"),
    (r"fence\.proxy|fence", r"proxy fence|memory fence|release|acquire|fence for mbarrier"),
    (r"wgmma\.fence", r"warpgroup fence"),
    (r"wgmma\.commit_group", r"commit"),
    (r"wgmma\.mma_async", r"descriptor|wait|fence"),
    (r"wgmma\.wait_group", r"wait"),
    (r"cp\.async\.(bulk\.)?(wait|commit)", r"wait"),
    (r"cp\.async\.mbarrier", r"arriv|wait for the copy"),
    (r"cp\.async\.bulk|cp\.reduce|st\.async|red\.async", r"bytes|copies|copy|mbarrier"),
    (r"mbarrier\.(try|test)_wait", r"wait"),
    (r"mbarrier\.init", r"initialis|number of arrivals"),
    (r"mbarrier\.inval", r"invalidat"),
    (r"mbarrier\..*expect_tx", r"expect"),
    (r"mbarrier\.arrive", r"arriv"),
    (r"barrier\.cluster", r"cluster barrier"),
    (r"bar\.warp", r"member mask"),
    (r"(bar|barrier)\.", r"barrier|synchronise|reconverge"),
    (r"setmaxnreg", r"setmaxnreg"),
    (r"shfl|vote|match|redux|activemask|elect", r"mask|lanes"),
    (r"(ld|st|atom|red)\.", r"release|acquire|scope|barrier|arrival|order|wait|write"),
    (r"ret|exit|bra", r"exit|reconverge|only|initialis|arriv|wait"),
    (r"(and|or|add|xor)\.(b|s|u)64", r"descriptor"),
    (r"(mad|add|mov|mapa|xor|setp|selp)", r"mbarrier|register|barrier"),
)


_SIDES = {
    "release": r"st|red|atom|fence|membar|bar|mbarrier\.arrive|cp\.async\.bulk\.wait_group|wgmma\.wait_group",
    "acquire": r"ld|atom|fence|membar|bar|bra|mbarrier\.(try|test)_wait",
}
"""Opcodes of instructions of the two sides of a synchronisation through memory."""


@dataclass(frozen=True, slots=True)
class Change:
    """Changed instructions of a mutant, and the lines of the mutant at which it differs.

    A removed instruction has the lines before and after its old place.
    """

    instructions: tuple[str, ...]
    lines: frozenset[int]


def change_of(original: str, mutant: str) -> Change:
    """Return what differs between the texts of a kernel and of its mutant."""
    before, after = ([line.strip() for line in text.splitlines()] for text in (original, mutant))
    removed: list[str] = []
    added: list[str] = []
    gaps: list[int] = []  # a removed instruction was behind these lines of the mutant
    new: list[int] = []
    for _, i1, i2, j1, j2 in _differences(before, after):
        old = list(filter(_is_code, before[i1:i2]))
        removed += old
        added += filter(_is_code, after[j1:j2])
        if any(map(_is_code, after[j1:j2])):
            new += range(j1 + 1, j2 + 1)
        elif old:
            gaps.append(j1)
    changed, lines = [*removed, *added], {*new, *(line for gap in gaps for line in (gap, gap + 1))}
    if set(removed) & set(added) and gaps:
        # A moved instruction changes the order of the instructions that it passes.
        passed = range(min(*new, *(gap + 1 for gap in gaps)), max(*new, *gaps) + 1)
        changed += filter(_is_code, (after[line - 1] for line in passed))
        lines = set(passed)
    return Change(tuple(map(_opcode, changed)), frozenset(lines))


def _differences(before: list[str], after: list[str]) -> Iterable[tuple[str, int, int, int, int]]:
    head = next((k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    shortest = min(len(before), len(after)) - head
    tail = next((k for k in range(shortest) if before[-1 - k] != after[-1 - k]), shortest)
    matcher = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail], False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield tag, head + i1, head + i2, head + j1, head + j2


def _is_code(line: str) -> bool:
    """Return True for a line with an instruction."""
    return bool(line) and line[0] not in ".{}()/$" and not line.endswith(":")


def _opcode(line: str) -> str:
    return line.split()[1 if line.startswith("@") else 0].rstrip(";")


def applied(
    original: str, mutant: str, finding: Diagnostic, found: Sequence[Diagnostic], sanitize: Sanitize
) -> Outcome:
    """Apply the hint of `finding`, one of the findings of a mutant, and return the outcome."""
    data = finding.data or {}
    edit: dict[str, Any] = data.get("edit", {})
    if fixes := data.get("fixes", ()):
        outcomes: Iterator[Outcome] = (_fixed(mutant, finding, found, fix, sanitize) for fix in fixes)
        first: Outcome = next(outcomes)
        return "alternative" if first != "removed" and "removed" in outcomes else first
    change = change_of(original, mutant)
    if not any(
        re.match(code, each) and re.search(words, finding.hint)
        for each in change.instructions
        for code, words in _KINDS
    ):
        return "other kind"
    return "restored" if _contains(finding, edit, change) else "other place"


def _contains(finding: Diagnostic, edit: dict[str, Any], change: Change) -> bool:
    """Return True if a changed line is in the place of an edit, or is a line of a finding without a place."""
    after, before = edit.get("after", 0), edit.get("before", 1 << 30)
    lines = sorted(change.lines)
    if edit.get("two-sided"):
        # The two sides are in different threads: a release follows one line, and an acquire precedes another.
        sides = {side for each in change.instructions for side in _SIDES if re.match(_SIDES[side], each)}
        window = [
            line for line in lines if ("release" in sides and line >= after) or ("acquire" in sides and line <= before)
        ]
    elif after < before:
        window = [line for line in lines if after <= line <= before]
    else:
        window = [line for line in lines if line >= after or line <= before]  # in a loop
    lists = re.findall(r"lines? (\d+(?:, \d+)*)", finding.hint)
    named = {int(number) for each in lists for number in each.split(", ")}
    return bool(
        (edit and window) or change.lines & (named | {_line(finding), (finding.data or {}).get("other line", 0)})
    )


def _fixed(
    mutant: str, finding: Diagnostic, found: Sequence[Diagnostic], fix: Sequence[dict[str, Any]], sanitize: Sanitize
) -> Outcome:
    """Compare the findings of a mutant with those after the edits of a fix."""
    later = sanitize(apply_edits(mutant, fix))
    keys = {(each.code, _line_before(_line(each), fix)) for each in later}
    if (finding.code, _line(finding)) in keys:
        return "kept"
    return "removed" if keys <= {(each.code, _line(each)) for each in found} else "new finding"


def _line_before(line: int, fix: Sequence[dict[str, Any]]) -> int:
    """Return the line that a line of the fixed text had before the edits of a fix."""
    for each in sorted(fix, key=lambda each: each["line"]):
        added = each["with"].count("\n") - each["replace"].count("\n")
        if line > each["line"] + (added if each["replace"] else 0) or (not each["replace"] and line > each["line"]):
            line -= added
    return line


def _line(finding: Diagnostic) -> int:
    if finding.span is None or finding.source is None:
        return 0
    return finding.source.position(finding.span.start)[0]


def hint_of(mutant: FaultyMutant) -> tuple[str, Outcome] | None:
    """Apply the hint of the first finding of a mutant. Return the rule and the outcome, or None without a finding."""
    found = mutant.sanitize(mutant.text)
    if not found:
        return None
    return found[0].code, applied(mutant.original, mutant.text, found[0], found, mutant.sanitize)


# Mutants of both programmes ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FaultyMutant:
    """A mutant that breaks a rule: its name, the texts of the kernel and of the mutant, and its sanitizer runs."""

    name: str
    original: str
    text: str
    sanitize: Sanitize


def faulty_mutants(kernel: str, kind: str) -> Iterator[FaultyMutant]:
    """Yield the faulty mutants of one kind of change, in both programmes, of the kernel with a name."""
    if kernel in subjects.SUBJECTS and kind in mutations.KINDS:
        first = subjects.SUBJECTS[kernel]
        for mutant in mutations.mutants(first.module(), first.entry, [kind]):
            if verdict(kernel, mutant).rules:
                place = f"{kernel}:{mutant.kind}:{mutant.place}"
                yield FaultyMutant(place, str(first.module()), str(mutant.module), partial(_first, first))
    if kernel in protocol.SUBJECTS and kind in verdicts.OPERATORS:
        second = protocol.SUBJECTS[kernel]
        for mutant in verdicts.mutants(second.module, [kind]):
            place = verdicts.key(kernel, mutant)
            if place not in verdicts.UNDECIDED and verdicts.rules(kernel, mutant):
                yield FaultyMutant(place, str(second.module), str(mutant.module), partial(_second, second))


def _first(subject: subjects.Subject, text: str) -> Sequence[Diagnostic]:
    return subject.run(wl.parse(text), sanitize=True, raises=False)[0].findings


def _second(subject: protocol.Subject, text: str) -> Sequence[Diagnostic]:
    return subject.sanitize(wl.parse(text), verdicts.SCHEDULES).findings
