"""Fixes of deadlocks at mbarriers and CTA barriers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from warploom.diagnostics.edits import Fix
from warploom.emulator.program import Program
from warploom.isa.model import effects
from warploom.observe.sanitize.edits import operand_text, replace_operand
from warploom.observe.sanitize.mbarriers import Mbarriers

Waiting = tuple[Mapping[str, Any], int]
"""Data of the deadlock of a group of warps, and the instruction at which the group waits."""

_MOST = 4  # alternative fixes of a deadlock


def deadlock_fixes(mbarriers: Mbarriers, groups: Sequence[Waiting]) -> tuple[Fix, ...]:
    """Return alternative fixes of a deadlock, the most likely first, or () if the kernel has no text."""
    program = mbarriers.context.program
    if program.source is None:
        return ()
    awaited = [(data["for"], pc) for data, pc in groups]
    barriers = sorted((each for each in awaited if each[0]["kind"] == "barrier"), key=lambda each: each[0]["arrived"])
    counts: list[Sequence[Fix]] = []
    parities: list[Sequence[Fix]] = []
    for data, pc in groups:
        mbarrier = data["for"]
        if mbarrier["kind"] != "mbarrier" or not mbarrier["arrivals"]:
            continue
        fixes = mbarriers.fixes.arrivals(mbarriers.initialised_at(mbarrier["offset"]), -mbarrier["arrivals"])
        counts.append(fixes)
        if not fixes and data["arrivals_at"]:
            # Threads arrive, but not in the phase of the wait, which may therefore be the wrong phase.
            parities.append(mbarriers.fixes.parity(pc))
    found = (*chain(*counts), *_numbers(program, barriers), *chain(*parities))
    return tuple(islice(dict.fromkeys(filter(None, found)), _MOST))


def _numbers(program: Program, barriers: Sequence[Waiting]) -> Iterator[Fix]:
    """Yield changes of the thread counts and of the numbers of barriers at which few threads have arrived."""
    for awaited, pc in barriers:
        yield from thread_counts(program, pc)
        yield replace_operand(program, pc, _barrier(program, pc).threads, str(awaited["arrived"]))
    for awaited, pc in barriers:
        others = [site for other, site in barriers if other["number"] != awaited["number"]]
        if others:
            yield replace_operand(program, pc, _barrier(program, pc).number, _operands(program, others[-1])[0])


def thread_counts(program: Program, pc: int) -> Iterator[Fix]:
    """Yield changes of the thread count of the barrier at `pc` to a count that the barrier has elsewhere."""
    number, threads = _operands(program, pc)
    for other, step in enumerate(program.steps):
        if threads and step.binding.form.effect(effects.Barrier) is not None:
            number_there, threads_there = _operands(program, other)
            if number_there == number and threads_there not in ("", threads):
                yield replace_operand(program, pc, _barrier(program, pc).threads, threads_there)


def _operands(program: Program, pc: int) -> tuple[str, str]:
    """Return the texts of the number and of the thread count of the barrier at `pc`."""
    effect = _barrier(program, pc)
    return operand_text(program, pc, effect.number), operand_text(program, pc, effect.threads)


def _barrier(program: Program, pc: int) -> effects.Barrier:
    effect = program.steps[pc].binding.form.effect(effects.Barrier)
    assert effect is not None
    return effect
