"""Fixes of deadlocks at mbarriers and CTA barriers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from warploom.emulator.program import Program
from warploom.isa.model import effects
from warploom.observe.sanitize.edits import Fix, operand_text, replace_operand
from warploom.observe.sanitize.mbarriers import Mbarriers

Waiting = tuple[Mapping[str, Any], int]
"""Group of warps that wait: what the warps wait for, as in the data of a deadlock, and their instruction."""

_MOST = 3  # alternative fixes of a deadlock


def deadlock_fixes(mbarriers: Mbarriers, groups: Sequence[Waiting]) -> tuple[Fix, ...]:
    """Return alternative fixes of a deadlock. The most likely fix comes first."""
    barriers = [each for each in groups if each[0]["kind"] == "barrier"]
    waits = [each for each in groups if each[0]["kind"] == "mbarrier" and each[0]["arrivals"]]
    program = mbarriers.context.program
    found = (*_counts(mbarriers, waits), *_numbers(program, barriers))
    return tuple(islice(dict.fromkeys(filter(None, found)), _MOST))


def _counts(mbarriers: Mbarriers, waits: Sequence[Waiting]) -> Iterator[Fix]:
    """Yield initialisations for the threads that arrive, or else waits for the other parity if no thread arrives."""
    arrivals = [
        mbarriers.fixes.arrivals(mbarriers.initialised_at(awaited["offset"]), -awaited["arrivals"])
        for awaited, _ in waits
    ]
    for each in arrivals:
        yield from each
    for each, (_, pc) in zip(arrivals, waits, strict=True):
        if not each:
            yield from mbarriers.fixes.parity(pc)


def _numbers(program: Program, barriers: Sequence[Waiting]) -> Iterator[Fix]:
    """Yield changes of the number or the thread count of a barrier at which few threads have arrived."""
    ordered = sorted(barriers, key=lambda each: each[0]["arrived"])
    for awaited, pc in ordered:
        effect = program.steps[pc].binding.form.effect(effects.Barrier)
        assert effect is not None
        others = [site for other, site in ordered if other["number"] != awaited["number"]]
        if others:
            yield replace_operand(program, pc, effect.number, operand_text(program, others[-1], effect.number))
        yield replace_operand(program, pc, effect.threads, str(awaited["arrived"]))
