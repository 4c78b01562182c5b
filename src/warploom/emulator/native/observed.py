"""Instructions whose events observers handle."""

from __future__ import annotations

from collections.abc import Iterable

from warploom.emulator.blocks import instructions_of_forms
from warploom.emulator.events import BlockEnd, BlockStart, Complete, Issue
from warploom.emulator.observers import Dispatcher
from warploom.emulator.program import Program
from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Observed:
    """Program counters of the instructions whose events observers handle.

    `forms` has the instructions whose Forms may create an event that an observer handles. `instructions` has the
    instructions for which an observer has its own handler. `guards` has those whose event `Guard` an observer handles.
    `blocks` is set if a handler needs basic blocks, and `issues` if a handler needs each issue of an asynchronous
    operation.
    """

    forms: frozenset[int] = frozenset()
    instructions: frozenset[int] = frozenset()
    guards: frozenset[int] = frozenset()
    blocks: bool = False
    issues: bool = False

    @staticmethod
    def by(events: Dispatcher, program: Program, instructions: Iterable[int], guards: Iterable[int]) -> Observed:
        """Return the instructions that the observers of `events` handle.

        `instructions` and `guards` are those of the result.
        """
        found = program.analysis(instructions_of_forms)
        pcs = frozenset(pc for form, uses in found.items() if events.observes(form) for pc in uses)
        blocks = events.handler(BlockStart) is not None or events.handler(BlockEnd) is not None
        issues = events.handler(Issue) is not None or events.handler(Complete) is not None
        return Observed(pcs, frozenset(instructions), frozenset(guards), blocks, issues)
