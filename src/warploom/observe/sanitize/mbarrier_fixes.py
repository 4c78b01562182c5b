"""Fixes of wrong uses of mbarriers: initialisations, counts of arrivals and of bytes, and parities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from warploom.diagnostics.edits import Fix
from warploom.emulator.events import Launch
from warploom.emulator.program import Program
from warploom.isa.model import effects
from warploom.observe.sanitize.edits import (
    delete,
    insert_after,
    insert_before,
    insert_guard,
    operand_text,
    replace_operand,
)
from warploom.observe.sanitize.rules import rules
from warploom.ptx import Address, Integer

_WARP = 32
_PARITY = "u32"  # type of a parity; a state has another type
_PHASES = 4  # phases of an mbarrier whose copies are kept


@dataclass(frozen=True, slots=True)
class Initialisation:
    """Initialisation of an mbarrier by an instruction, for a number of arrivals.

    `thread` is the index of the initialising thread in its CTA.
    """

    pc: int
    arrivals: int
    thread: int


class MbarrierFixes:
    """Fixes of the findings on mbarriers of one launch.

    A word is a byte offset in shared memory / 8. `initialised` has the last initialisation of each word.
    """

    def __init__(self, launch: Launch) -> None:
        self.program: Program = launch.program
        self._is_linear = launch.grid.block[1:] == (1, 1)
        self.initialised: dict[int, Initialisation] = {}
        self._sent: dict[int, dict[int, dict[tuple[int, int], int]]] = {}  # bytes by phase, and by instruction and warp

    def send(self, word: int, phase: int, size: int, pc: int, warp: int) -> None:
        """Record that a warp executes the copy `pc`, which transfers `size` bytes to a phase of an mbarrier."""
        phases = self._sent.setdefault(word, {})
        phases.pop(phase - _PHASES, None)
        phases.setdefault(phase, {})[pc, warp] = size

    def single_initialisation(self, word: int, pc: int) -> tuple[Fix, ...]:
        """Return fixes of an mbarrier that the instruction `pc` initialises again."""
        first = self.initialised[word]
        return (self._one_thread(pc, first.thread) if first.pc == pc else delete(self.program, pc),)

    def _one_thread(self, pc: int, thread: int) -> Fix:
        """Return edits that let one thread execute the operations on mbarriers in a basic block.

        The block contains the instruction `pc`. The result is empty if a guard selects threads, or if the index of a
        thread has several dimensions.
        """
        program = self.program
        sites = [each for each in _block(program, pc) if _uses_mbarrier(program, each)]
        if not self._is_linear or any(program.steps[each].instruction.guard for each in sites):
            return ()
        template = rules()["sanitize.mbarrier/lanes"].template
        found = insert_before(program, sites[0], template.format(thread=thread))
        for each in sites:
            found += insert_guard(program, each, "%is_only")
        return found + insert_after(program, sites[-1], "}")

    def missing_initialisation(self, word: int, valid: Collection[int]) -> tuple[Fix, ...]:
        """Return fixes of an mbarrier that is not initialised.

        The new initialisation follows that of a neighbour, for as many arrivals. `valid` has the words of the valid
        mbarriers of the CTA.
        """
        near = sorted(valid & self.initialised.keys(), key=lambda other: (abs(other - word), -other))[:2]
        found = [self.initialised[other] for other in near]
        fixes: dict[int, Fix] = {}
        for other, each in zip(near, found, strict=True):
            step = self.program.steps[each.pc]
            bound = step.binding.operands[_effect(self.program, each.pc).address]
            if isinstance(bound.operand, Address):
                operands = list(step.instruction.operands)
                address = replace(bound.operand, offset=bound.operand.offset + 8 * (word - other))
                operands[bound.at[0]] = address
                text = str(replace(step.instruction, operands=tuple(operands)))
                fixes.setdefault(each.arrivals, insert_after(self.program, each.pc, text))
        return tuple(fixes.values())

    def arrivals(self, word: int, more: int) -> tuple[Fix, ...]:
        """Return the fix of an initialisation that needs `more` arrivals."""
        each = self.initialised.get(word)
        if each is None or each.arrivals + more < 1:
            return ()
        count = _effect(self.program, each.pc).count
        return (replace_operand(self.program, each.pc, count, str(each.arrivals + more)),)

    def excess_arrivals(self, word: int, more: int, pc: int, thread: int) -> tuple[Fix, ...]:
        """Return fixes of a phase with `more` arrivals than the mbarrier expects.

        The arrivals are at `pc`, and the first one is by the thread with the index `thread`.
        """
        alone = (self._one_thread(pc, thread),)
        counts = self.arrivals(word, more)
        return alone + counts if more >= _WARP - 1 else counts

    def bytes(self, word: int, expected: int, arrival: int) -> tuple[Fix, ...]:
        """Return the fix of an mbarrier whose phases expect other bytes than copies transfer.

        `expected` is the instruction that expects bytes, and `arrival` the instruction that arrives without bytes; -1
        is none.
        """
        program = self.program
        phases = Counter(sum(copies.values()) for copies in self._sent.get(word, {}).values())
        if not phases:
            return ()
        sent = max(phases, key=lambda size: (phases[size], -size))
        if expected >= 0:
            operand = _effect(program, expected).transactions
            if fix := replace_operand(program, expected, operand, str(sent)):
                return (fix,)
        if arrival < 0:
            return ()
        guard = program.steps[arrival].instruction.guard
        address = operand_text(program, arrival, _effect(program, arrival).address)
        text = rules()["sanitize.mbarrier/excess"].template.format(address=address, bytes=sent)
        return (insert_before(program, arrival, text if guard is None else f"{guard} {text}"),)

    def parity(self, pc: int) -> tuple[Fix, ...]:
        """Return the fix of a wait at `pc` for the other parity."""
        program = self.program
        step = program.steps[pc]
        effect = next(each for each in step.binding.form.effects_of(effects.Wait) if each.on == "mbarrier")
        bound = step.binding.operands.get(effect.phase)
        if bound is None or bound.type != _PARITY:
            return ()
        if isinstance(bound.operand, Integer):
            return (replace_operand(program, pc, effect.phase, str(1 - bound.operand.value % 2)),)
        text = rules()["sanitize.mbarrier/parity"].template.format(parity=operand_text(program, pc, effect.phase))
        return (insert_before(program, pc, text) + insert_after(program, pc, text),)


def _effect(program: Program, pc: int) -> effects.Arrive:
    effect = program.steps[pc].binding.form.effect(effects.Arrive)
    assert effect is not None
    return effect


def _uses_mbarrier(program: Program, pc: int) -> bool:
    form = program.steps[pc].binding.form
    issue = form.effect(effects.Issue)
    return form.effect(effects.Arrive) is not None or (issue is not None and issue.mbarrier != "")


def _block(program: Program, pc: int) -> range:
    """Return the instructions of the basic block that contains the instruction `pc`."""
    entered = {after for each, following in enumerate(program.following) for after in following if after != each + 1}
    first = last = pc
    while first > 0 and first not in entered and program.following[first - 1] == [first]:
        first -= 1
    while program.following[last] == [last + 1] and last + 1 not in entered:
        last += 1
    return range(first, last + 1)
