"""Findings about the accesses of two launches that nothing orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from warploom.diagnostics import Diagnostic, Note
from warploom.emulator.program import Program
from warploom.observe.sanitize.launch_accesses import EARLY, WRITE, LaunchAccesses, Overlapping
from warploom.observe.sanitize.rules import rules

_LISTED = 3  # most further pairs of instructions in a note
DEPENDENT, STREAMS = "sanitize.launch/dependent", "sanitize.launch/streams"


def find_conflict(
    later: LaunchAccesses, earlier: LaunchAccesses, *, only_early: bool, is_dependent: bool,
    name_of: Callable[[int], str],
) -> Diagnostic | None:  # fmt: skip
    """Return the finding about two launches that may overlap, or None if their accesses do not conflict.

    If `only_early` is set, the accesses of the later launch after its wait are ordered. `is_dependent` is True if the
    later launch is in a sequence of programmatic launches with the earlier one. `name_of` describes an address.
    """
    found = later.conflicts(earlier, only_early)
    if not found:
        return None
    first = found[0]
    rule = rules()[DEPENDENT if is_dependent else STREAMS]
    mine, its = later.program, earlier.program
    kernel, other = mine.kernel.readable_name, its.kernel.readable_name
    verb = "writes" if first.kind & WRITE else "reads"
    does = "writes" if first.other_kind & WRITE else "reads"
    why = "no event and no synchronization orders the two launches"
    if is_dependent:
        why = "this access precedes the wait of its kernel"
        if not later.waits:
            why = f"kernel {kernel} never waits for the launch before it"
        elif not first.kind & EARLY:
            why = "a launch between the two never waits, so that its end does not imply the end of the earlier launch"
    message = (
        f"kernel {kernel} {verb} global memory at {first.address:#x} ({name_of(first.address)}), which kernel {other} "
        f"{does} in {_place(its, first.other)} and which may still run; {why}"
    )
    span = mine.span_of(first.pc)
    diagnostic = Diagnostic(rule.code, rule.severity, message, mine.source, span, rule.cure, rule.source)
    data = {
        "kernel": kernel, "other_kernel": other, "address": first.address,
        **mine.data_of(first.pc), **its.data_of(first.other, "other_line", "other_source"),
    }  # fmt: skip
    return replace(diagnostic, notes=tuple(_notes(mine, its, found)), data=data)


def _place(program: Program, pc: int) -> str:
    """Return the file and the line of an instruction as a phrase."""
    file = "" if program.source is None else f"{program.source.name}, "
    return f"{file}{program.place_of(pc)}"


def _notes(mine: Program, its: Program, found: Sequence[Overlapping]) -> list[Note]:
    further = [
        Note(f"the same holds for {mine.place_of(each.pc)} and {_place(its, each.other)}", mine.span_of(each.pc))
        for each in found[1 : 1 + _LISTED]
    ]
    rest = len(found) - 1 - _LISTED
    return [*further, Note(f"and for {rest} more pairs of instructions")] if rest > 0 else further
