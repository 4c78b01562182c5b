"""Covering arrays: few choices that have every pair of values that any legal choice has."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from warploom.diagnostics import UsageError

Choice = tuple[Any, ...]
"""A value of each axis; None where none is chosen yet."""
Value = tuple[int, Any]
"""An axis by its number, and one of its values."""
Pair = tuple[Value, Value]


@dataclass(eq=False)
class Space:
    """What can be chosen, axis by axis, and what it makes.

    `make` refuses with UsageError what there is not. A choice that is legal stays so when the axes that are not `free`
    take their first values.
    """

    name: str
    axes: dict[str, Sequence[Any]]
    make: Callable[..., Any]
    free: tuple[str, ...] = ()
    _known: dict[Choice, Choice | None] = field(default_factory=dict)

    def plan(self, choice: Choice) -> Any:
        """What a choice makes. Errors: UsageError."""
        return self.make(**dict(zip(self.axes, choice, strict=True)))

    def completed(self, partial: Choice) -> Choice | None:
        """A legal choice with these values; None where there is none."""
        if partial not in self._known:
            self._known[partial] = next(self._legal(partial), None)
        return self._known[partial]

    def _legal(self, partial: Choice) -> Iterator[Choice]:
        ways = [
            (chosen,) if chosen is not None else values if name in self.free else values[:1]
            for chosen, (name, values) in zip(partial, self.axes.items(), strict=True)
        ]
        for tried in product(*ways):
            try:
                self.plan(tried)
            except UsageError:
                continue
            yield tried

    def _with(self, *values: Value) -> Choice:
        chosen = dict(values)
        return tuple(chosen.get(axis) for axis in range(len(self.axes)))

    def values(self) -> list[Value]:
        """Every value of every axis, in order."""
        return [(axis, value) for axis, values in enumerate(self.axes.values()) for value in values]

    def pairs(self) -> list[Pair]:
        """The pairs of values that some legal choice has."""
        return [
            (first, second)
            for first, second in combinations(self.values(), 2)
            if first[0] != second[0] and self.has(first, second)
        ]

    def has(self, *values: Value) -> bool:
        """Whether some legal choice has these values."""
        return self.completed(self._with(*values)) is not None

    def array(self, seed: int = 1) -> list[Choice]:
        """Legal choices that have all these pairs between them; the first have the most."""
        left, rng, found = dict.fromkeys(self.pairs()), random.Random(seed), list[Choice]()
        while left:
            made = self._greedy(next(iter(left)), left, rng)
            for pair in pairs_of(made):
                left.pop(pair, None)
            found.append(made)
        return found

    def _greedy(self, begun: Pair, left: dict[Pair, None], rng: random.Random) -> Choice:
        """A choice with one pair, and axis by axis the value that has the most of those that are left."""
        chosen = dict(begun)
        order = [axis for axis in range(len(self.axes)) if axis not in chosen]
        rng.shuffle(order)
        values = list(self.axes.values())
        for axis in order:
            ways = rng.sample(values[axis], len(values[axis]))
            gains = {
                way: sum(tuple(sorted(((axis, way), other), key=_axis)) in left for other in chosen.items())
                for way in ways
            }
            for way in sorted(ways, key=lambda way: -gains[way]):
                if self.has(*chosen.items(), (axis, way)):
                    chosen[axis] = way
                    break
        return tuple(chosen[axis] for axis in range(len(self.axes)))


def _axis(value: Value) -> int:
    return value[0]


def pairs_of(choice: Choice) -> Iterator[Pair]:
    """The pairs of values that a choice has."""
    return combinations(enumerate(choice), 2)
