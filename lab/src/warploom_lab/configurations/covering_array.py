"""Covering arrays: a few legal choices that together contain every legal pair of values.

A choice takes one value from each axis of a space, such as one tile and one result type.
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

    `make` raises UsageError for an illegal choice. To complete a partial choice, the search tries every value of an
    undecided axis that `free` names, and only the first value of any other undecided axis. It finds every completion
    only if a legal choice stays legal when axes outside `free` change to their first values.
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
        """Return a legal choice with the values of `partial`, or None if there is no such choice.

        `partial` has None for each undecided axis.
        """
        if partial not in self._known:
            self._known[partial] = next(self._legal(partial), None)
        return self._known[partial]

    def _legal(self, partial: Choice) -> Iterator[Choice]:
        candidates = [
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
        """Return (index of the axis, value) for every value of every axis, in the order of `axes`."""
        return [(axis, value) for axis, values in enumerate(self.axes.values()) for value in values]

    def pairs(self) -> list[Pair]:
        """Return the pairs of values that occur together in a legal choice."""
        return [
            (first, second)
            for first, second in combinations(self.values(), 2)
            if first[0] != second[0] and self.has(first, second)
        ]

    def has(self, *values: Value) -> bool:
        """Return True if some legal choice has the given values."""
        return self.complete(self._with(*values)) is not None

    def array(self, seed: int = 1) -> list[Choice]:
        """Return legal choices that cover all pairs of values, as a greedy search finds them."""
        uncovered, rng, found = dict.fromkeys(self.pairs()), random.Random(seed), list[Choice]()
        while uncovered:
            choice = self._greedy(next(iter(uncovered)), uncovered, rng)
            for pair in pairs_of(choice):
                uncovered.pop(pair, None)
            found.append(choice)
        return found

    def _greedy(self, start: Pair, uncovered: dict[Pair, None], rng: random.Random) -> Choice:
        """Return a legal choice of a value for each axis that contains the pair `start` of chosen values.

        Each further axis takes the legal value that covers the most uncovered pairs. `rng` decides between equal
        values.
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
    """Return all pairs of values of a choice."""
    return combinations(enumerate(choice), 2)
