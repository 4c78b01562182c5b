"""Names declared between braces: registers, variables, labels and the tables under labels.

What a name stands for is the caller's business; a scope only finds it, from the inside outwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from warploom.ptx.tree import Directive

R = TypeVar("R")
V = TypeVar("V")
L = TypeVar("L")
_MOST_DIGITS = 12


@dataclass(eq=False, slots=True)
class Scope(Generic[R, V, L]):
    """One pair of braces. `ranges` holds `%r<1000>` as one entry: its count and what its first register
    is.
    """

    parent: Scope[R, V, L] | None
    registers: dict[str, R] = field(default_factory=dict[str, R])
    ranges: dict[str, tuple[int, R]] = field(default_factory=dict[str, tuple[int, R]])
    variables: dict[str, V] = field(default_factory=dict[str, V])
    labels: dict[str, L] = field(default_factory=dict[str, L])
    tables: dict[str, Directive] = field(default_factory=dict[str, Directive])

    def register(self, name: str) -> tuple[R, int] | None:
        """What a register's name stands for, and its number in its range (0 for a register of its own)."""
        scope: Scope[R, V, L] | None = self
        while scope is not None:
            found = scope.own_register(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def own_register(self, name: str) -> tuple[R, int] | None:
        """As `register`, between these braces alone. All the digits at a name's end are its number:
        `%r12` is of `%r<20>` and never of `%r1<3>`, as assemblers have it.
        """
        single = self.registers.get(name)
        if single is not None:
            return single, 0
        stem = name.rstrip("0123456789")
        held = self.ranges.get(stem)
        digits = name[len(stem) :]
        if held is None or not digits or len(digits) > _MOST_DIGITS or int(digits) >= held[0]:
            return None
        return held[1], int(digits)

    def variable(self, name: str) -> V | None:
        """The variable of a name."""
        scope: Scope[R, V, L] | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return None

    def label(self, name: str) -> L | None:
        """Where a label stands."""
        scope: Scope[R, V, L] | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.parent
        return None

    def table(self, name: str) -> Directive | None:
        """The directive under a label: a branch table, a call prototype."""
        scope: Scope[R, V, L] | None = self
        while scope is not None:
            if name in scope.tables:
                return scope.tables[name]
            scope = scope.parent
        return None

    def names(self) -> set[str]:
        """Every name that is visible from here; of a range, its first and its last register."""
        found: set[str] = set()
        scope: Scope[R, V, L] | None = self
        while scope is not None:
            found.update(scope.registers, scope.variables, scope.labels, scope.tables)
            for name, (count, _) in scope.ranges.items():
                found.update((f"{name}0", f"{name}{count - 1}") if count else ())
            scope = scope.parent
        return found
