"""Covering arrays: a few legal choices that together contain every legal pair of values.

A choice has one value for each axis, such as one tile and one result type.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from warploom.diagnostics import UsageError

Choice = tuple[Any, ...]
"""One value of each axis; None is an undecided axis."""
Value = tuple[int, Any]
"""Index of an axis and one of its values."""
Pair = tuple[Value, Value]


@dataclass(eq=False)
class Space:
    """Axes with their values, and the function that makes an object from a choice.

    `make` raises UsageError for an illegal choice. `complete` tries every value of the axes that `free` names, and only
    the first value of other undecided axes.
    """

    name: str
    axes: dict[str, Sequence[Any]]
    make: Callable[..., Any]
    free: tuple[str, ...] = ()
    _known: dict[Choice, Choice | None] = field(default_factory=dict[Choice, Choice | None])

    def plan(self, choice: Choice) -> Any:
        """Return the object that `make` makes from a choice.

        Errors: UsageError if the choice is illegal.
        """
        return self.make(**dict(zip(self.axes, choice, strict=True)))

    def complete(self, partial: Choice) -> Choice | None:
        """Return a legal choice with the values of `partial`, or None.

        `partial` has None for each undecided axis.
        """
        if partial not in self._known:
            self._known[partial] = next(self._legal(partial), None)
        return self._known[partial]

    def _legal(self, partial: Choice) -> Iterator[Choice]:
        candidates = [
            # This finds every completion if first values outside `free` keep legal choices legal.
            (chosen,) if chosen is not None else values if name in self.free else values[:1]
            for chosen, (name, values) in zip(partial, self.axes.items(), strict=True)
        ]
        for choice in product(*candidates):
            try:
                self.plan(choice)
            except UsageError:
                continue
            yield choice

    def _with(self, *values: Value) -> Choice:
        chosen = dict(values)
        return tuple(chosen.get(axis) for axis in range(len(self.axes)))

    def values(self) -> list[Value]:
        """Return (index of the axis, value) for all values of all axes."""
        return [(axis, value) for axis, values in enumerate(self.axes.values()) for value in values]

    def pairs(self) -> list[Pair]:
        """Return the pairs of values that occur together in a legal choice."""
        return [
            (first, second)
            for first, second in combinations(self.values(), 2)
            if first[0] != second[0] and self.has(first, second)
        ]

    def has(self, *values: Value) -> bool:
        """Return True if a legal choice has the given values."""
        return self.complete(self._with(*values)) is not None

    def array(self, seed: int = 1) -> list[Choice]:
        """Return legal choices that together contain all legal pairs of values."""
        uncovered, rng, found = dict.fromkeys(self.pairs()), random.Random(seed), list[Choice]()
        while uncovered:
            choice = self._greedy(next(iter(uncovered)), uncovered, rng)
            for pair in pairs_of(choice):
                uncovered.pop(pair, None)
            found.append(choice)
        return found

    def _greedy(self, start: Pair, uncovered: dict[Pair, None], rng: random.Random) -> Choice:
        """Return a legal choice that contains the pair `start` and many uncovered pairs.

        `rng` decides between equally good values.
        """
        chosen = dict(start)
        order = [axis for axis in range(len(self.axes)) if axis not in chosen]
        rng.shuffle(order)
        values = list(self.axes.values())
        for axis in order:
            candidates = rng.sample(values[axis], len(values[axis]))
            gains = {
                value: sum(tuple(sorted(((axis, value), other), key=_axis)) in uncovered for other in chosen.items())
                for value in candidates
            }
            for value in sorted(candidates, key=lambda value: -gains[value]):
                if self.has(*chosen.items(), (axis, value)):
                    chosen[axis] = value
                    break
        return tuple(chosen[axis] for axis in range(len(self.axes)))


def _axis(value: Value) -> int:
    return value[0]


def pairs_of(choice: Choice) -> Iterator[Pair]:
    """Return all pairs of values in a choice."""
    return combinations(enumerate(choice), 2)
