"""Names declared between braces: registers, variables, labels and the tables under labels.

What a name stands for is the caller's business; a scope only finds it, from the inside outwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from warploom.ptx.tree import Directive

_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)$")

R = TypeVar("R")
V = TypeVar("V")
L = TypeVar("L")


@dataclass(eq=False, slots=True)
class Scope(Generic[R, V, L]):
    """One pair of braces. `ranges` holds `%r<1000>` as one entry: its count and what its first register is."""

    parent: Scope[R, V, L] | None
    registers: dict[str, R] = field(default_factory=dict[str, R])
    ranges: dict[str, tuple[int, R]] = field(default_factory=dict[str, tuple[int, R]])
    variables: dict[str, V] = field(default_factory=dict[str, V])
    labels: dict[str, L] = field(default_factory=dict[str, L])
    tables: dict[str, Directive] = field(default_factory=dict[str, Directive])

    def register(self, name: str) -> tuple[R, int] | None:
        """What a register's name stands for, and its number in its range (0 for a register of its own)."""
        scope: Scope[R, V, L] | None = self
        numbered = _NUMBERED.fullmatch(name)
        while scope is not None:
            if name in scope.registers:
                return scope.registers[name], 0
            if numbered is not None and len(numbered[2]) < 10:
                found = scope.ranges.get(numbered[1])
                if found is not None and int(numbered[2]) < found[0]:
                    return found[1], int(numbered[2])
            scope = scope.parent
        return None

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
