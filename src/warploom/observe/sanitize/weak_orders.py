"""Fixes of weak synchronisation: relaxed orders, narrow scopes, and waits that nothing repeats."""

from __future__ import annotations

from collections.abc import Iterable

from warploom.diagnostics.edits import Fix
from warploom.emulator.program import Program, Step
from warploom.isa.model import effects
from warploom.observe.sanitize.edits import (
    delete,
    insert_after,
    insert_before,
    instruction_text,
    operand_text,
    replace_word,
)
from warploom.observe.sanitize.rules import rules

_SCOPES = ("cta", "cluster", "gpu", "sys")
_LOOP = 4  # most instructions of a loop that polls


def strengthen(program: Program, pc: int, scope: str) -> Fix:
    """Return the edits that let the instruction `pc` release or acquire at a scope that contains `scope`.

    The result is empty if the instruction does so, or if it does not synchronise.
    """
    step = program.steps[pc]
    slots, words = step.binding.slots, step.instruction.words
    order = _order(step)
    widest = "cluster" if _access(step) is None and not step.binding.form.effect(effects.Fence) else "sys"
    found = _wider(program, pc, slots.get("scope", ""), min(scope, widest, key=_SCOPES.index))
    if "volatile" in words:
        return replace_word(program, pc, "volatile", f"{order}.{scope}")
    return replace_word(program, pc, "relaxed", order) + found if order else ()


def make_strong(program: Program, pc: int, scope: str) -> Fix:
    """Return the edits that let the access at `pc` release or acquire, even if the access is weak."""
    step = program.steps[pc]
    access = _access(step)
    if access is None or access.is_ordered(step.binding.slots) or access.kind == "update":
        return strengthen(program, pc, scope)
    head = step.instruction.words[0]
    return replace_word(program, pc, head, f"{head}.{'acquire' if access.kind == 'read' else 'release'}.{scope}")


def strengthen_between(program: Program, other: int, pc: int, scope: str, untested: Iterable[int]) -> Fix:
    """Return the edits that strengthen the releases after `other` and the acquires before `pc`.

    `untested` has the waits whose results no instruction tests. Such a wait is repeated until it succeeds.
    """
    after, before = _reachable(program.following, other), _reachable(program.preceding(), pc)
    found: list[Fix] = []
    for each, step in enumerate(program.steps):
        sides = _sides(step)
        if ("release" in sides and each in after) or ("acquire" in sides and each in before):
            found.append(strengthen(program, each, scope))
    found += [repeat(program, each) for each in untested if each in before]
    return tuple(edit for fix in found for edit in fix)


def wait_at_arrivals(program: Program, other: int, pc: int, everywhere: bool) -> Fix:
    """Return the edits that let threads wait at CTA barriers where they only arrive.

    The barriers are on a path from `other` to `pc`, or in the whole kernel if `everywhere`.
    """
    between = _reachable(program.following, other) & _reachable(program.preceding(), pc)
    found: Fix = ()
    for each in range(len(program.steps)) if everywhere else sorted(between):
        barrier = program.steps[each].binding.form.effect(effects.Barrier)
        if barrier is not None and barrier.level == "cta" and not barrier.waits:
            found += replace_word(program, each, "arrive", "sync")
    return found


def insert_before_releases(program: Program, pc: int, text: str) -> Fix:
    """Return the insertions of `text` before the first instructions after `pc` that arrive or release."""
    found: Fix = ()
    seen = {pc}
    pending = [each for each in program.following[pc] if each >= 0]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        barrier = program.steps[each].binding.form.effect(effects.Barrier)
        if "release" in _sides(program.steps[each]) or (barrier is not None and barrier.arrives):
            found += insert_before(program, each, text)
        else:
            pending += (after for after in program.following[each] if after >= 0)
    return found


def expect_before_arrival(program: Program) -> Fix:
    """Return the moves of instructions that expect bytes directly after an arrival to before the arrival."""
    found: Fix = ()
    for pc, step in enumerate(program.steps[:-1]):
        texts: list[str] = []
        for each in (pc, pc + 1):
            effect = program.steps[each].binding.form.effect(effects.Arrive)
            texts.append("" if effect is None else operand_text(program, each, effect.address))
        expects = program.steps[pc + 1].binding.form.effect(effects.Arrive)
        if expects is not None and texts[0] == texts[1] and "release" in _sides(step) - _sides(program.steps[pc + 1]):
            found += insert_before(program, pc, instruction_text(program, pc + 1)) + delete(program, pc + 1)
    return found


def move_behind_wait(program: Program, pc: int) -> Fix:
    """Return the move of a load behind the wait that follows the load, or () if no wait follows."""
    access = _access(program.steps[pc])
    test = pc + 1
    if access is None or access.kind != "read" or program.following[pc] != [test]:
        return ()
    if "acquire" not in _sides(program.steps[test]) or "release" in _sides(program.steps[test]):
        return ()
    loop = range(test, min(test + _LOOP, len(program.steps)))
    ends = [end for end in loop if any(pc - _LOOP <= start <= test for start in program.following[end])]
    if not ends:
        return ()
    return delete(program, pc) + insert_after(program, ends[0], instruction_text(program, pc))


def repeat(program: Program, pc: int) -> Fix:
    """Return the edits that repeat a wait until it succeeds.

    An ordered load is repeated while the result of the next comparison is true.
    """
    step = program.steps[pc]
    if step.instruction.guard is not None:
        return ()
    wait = step.binding.form.effect(effects.Wait)
    test, failed = pc, "" if wait is None else f"!{operand_text(program, pc, wait.result)}"
    while not failed and program.following[test] == [test + 1]:
        test += 1
        if "compared" in program.steps[test].binding.form.flow.numbers:
            failed = str(program.steps[test].instruction.operands[0])
    if not failed:
        return ()
    end = rules()["sanitize.mbarrier/arrivals"].template.format(failed=failed)
    return insert_before(program, pc, "{ repeat_wait:") + insert_after(program, test, end)


def _order(step: Step) -> str:
    """Return the order of a release or acquire that the instruction can have, or ""."""
    sides = _sides(step)
    if len(sides) == 2:
        return "acq_rel"
    return next(iter(sides), "")


def _sides(step: Step) -> frozenset[str]:
    """Return "release", "acquire" or both for an instruction that synchronises with other threads."""
    slots, found = step.binding.slots, set[str]()
    for effect in step.binding.form.effects:
        match effect:
            case effects.Access() if effect.is_ordered(slots) and effect.proxy == "generic":
                found |= {"acquire"} if effect.kind != "write" else set()
                found |= {"release"} if effect.kind != "read" else set()
            case effects.Arrive() if effects.word(effect.action, slots).startswith("arrive"):
                found.add("release")
            case effects.Wait(on="mbarrier"):
                found.add("acquire")
            case effects.Barrier(level="cluster"):
                found.add("release" if effect.arrives else "acquire")
            case effects.Fence(kind="memory"):
                found |= {"release", "acquire"}
            case _:
                pass
    return frozenset(found)


def _access(step: Step) -> effects.Access | None:
    accesses = step.binding.form.effects_of(effects.Access)
    return next((each for each in accesses if each.proxy == "generic"), None)


def _wider(program: Program, pc: int, found: str, scope: str) -> Fix:
    if found not in _SCOPES or scope not in _SCOPES or _SCOPES.index(found) >= _SCOPES.index(scope):
        return ()
    return replace_word(program, pc, found, scope)


def _reachable(following: list[list[int]], start: int) -> frozenset[int]:
    found: set[int] = set()
    pending = [start]
    while pending:
        for pc in following[pending.pop()]:
            if 0 <= pc < len(following) and pc not in found:
                found.add(pc)
                pending.append(pc)
    return frozenset(found)


def is_ordered(program: Program, pc: int) -> bool:
    """Return True if the instruction has an ordered access."""
    step = program.steps[pc]
    access = _access(step)
    return access is not None and access.is_ordered(step.binding.slots)
