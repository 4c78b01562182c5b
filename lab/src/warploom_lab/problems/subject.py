"""Functions of a kernel family for `warploom-lab compare`."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from warploom.diagnostics import WarploomError
from warploom_lab.problems.outcome import AnyCase, Outcome, Task
from warploom_lab.problems.record import Recorded


@dataclass(frozen=True, slots=True)
class Subject:
    """Kernel family of `warploom-lab compare`, with functions that draw, run and record its cases.

    `case(seed, number, target)` draws a case. `compare` runs a task. `emulate` runs a case on the emulator. `recorded`
    returns the record of an outcome with a right result, and `parse` reads it from JSON data.
    """

    name: str  # of the argument of `warploom-lab compare`
    outcome: type[Outcome[Any]]
    case: Callable[[int, int, str], AnyCase]
    compare: Callable[[Task], Outcome[Any]]
    emulate: Callable[[Any], object]
    recorded: Callable[[Any], Recorded]
    parse: Callable[[Any], Recorded]

    def case_of(self, task: Task) -> AnyCase:
        """Return the case of a task."""
        return self.case(task.seed, task.number, task.target)

    def select_small_cases(self, seed: int, numbers: Iterable[int], most: int, target: str) -> frozenset[int]:
        """Return the numbers of up to `most` cases that the emulator runs in a few seconds."""
        seen: Counter[str] = Counter()
        ranked: list[tuple[int, int]] = []
        for number in numbers:
            one = self.case(seed, number, target)
            if one.small:
                ranked.append((seen[one.kind], number))
                seen[one.kind] += 1
        # Spread the cases evenly over the kinds.
        return frozenset(number for _, number in sorted(ranked)[:most])

    def warm_up(self, tasks: Iterable[Task]) -> None:
        """Run cases on the emulator to store the compiled code in the cache on the disk.

        Otherwise, processes that compile the same code at the same time overwrite each other's cache files.
        """
        seen: set[str] = set()
        for task in tasks:
            one = self.case_of(task)
            if task.bits and not seen.issuperset(one.features):
                seen.update(one.features)
                with suppress(WarploomError):  # the comparison reports the error
                    self.emulate(one)

    def lost(self, task: Task) -> Outcome[Any]:
        """Return the outcome of a task whose process ended or did not answer in time."""
        message = "the process ended, or did not answer in time"
        return self.outcome(self.case_of(task), bits=task.bits, wrong=message, lost=True)
