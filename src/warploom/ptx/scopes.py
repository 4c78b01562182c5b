"""Scopes of PTX: names of registers, variables, labels and labelled directives between two braces.

R, V and L are the types of the user's entries for registers, variables and labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Generic, TypeVar

from warploom.lazy_dataclass import dataclass
from warploom.ptx.tree import Directive

R = TypeVar("R")
V = TypeVar("V")
L = TypeVar("L")
_MOST_DIGITS = 12


@dataclass(eq=False, slots=True)
class Scope(Generic[R, V, L]):
    """Names that are declared between two braces.

    `ranges` holds `%r<1000>` as one entry: the count and the entry of the first register. `tables` holds branch tables
    and call prototypes by their labels.
    """

    parent: Scope[R, V, L] | None
    registers: dict[str, R] = field(default_factory=dict[str, R])
    ranges: dict[str, tuple[int, R]] = field(default_factory=dict[str, tuple[int, R]])
    variables: dict[str, V] = field(default_factory=dict[str, V])
    labels: dict[str, L] = field(default_factory=dict[str, L])
    tables: dict[str, Directive] = field(default_factory=dict[str, Directive])

    def enclosing(self) -> Iterator[Scope[R, V, L]]:
        """Yield this scope and the scopes around it, the innermost first."""
        scope: Scope[R, V, L] | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def register(self, name: str) -> tuple[R, int] | None:
        """Return the entry of a register and its number in a range, or None for an unknown name.

        The registers of a range share one entry. The number is 0 for a register outside a range.
        """
        scope: Scope[R, V, L] | None = self
        while scope is not None:  # not with `enclosing`, because most of the checker's lookups come here
            found = scope.own_register(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def own_register(self, name: str) -> tuple[R, int] | None:
        """Look up a register as `register` does, but only in this scope."""
        single = self.registers.get(name)
        if single is not None:
            return single, 0
        # As for assemblers, `%r12` belongs to `%r<20>` and never to `%r1<3>`.
        stem = name.rstrip("0123456789")
        known = self.ranges.get(stem)
        digits = name[len(stem) :]
        if known is None or not digits or len(digits) > _MOST_DIGITS or int(digits) >= known[0]:
            return None
        return known[1], int(digits)

    def variable(self, name: str) -> V | None:
        """Return the entry of a variable in the innermost scope that declares the name, or None."""
        return next((scope.variables[name] for scope in self.enclosing() if name in scope.variables), None)

    def label(self, name: str) -> L | None:
        """Return the entry of a label in the innermost scope that declares the name, or None."""
        return next((scope.labels[name] for scope in self.enclosing() if name in scope.labels), None)

    def table(self, name: str) -> Directive | None:
        """Return the branch table or call prototype under a label, or None."""
        return next((scope.tables[name] for scope in self.enclosing() if name in scope.tables), None)

    def names(self) -> set[str]:
        """Return all visible names. Of a range, only the first and last register are included."""
        found: set[str] = set()
        for scope in self.enclosing():
            found.update(scope.registers, scope.variables, scope.labels, scope.tables)
            for name, (count, _) in scope.ranges.items():
                found.update((f"{name}0", f"{name}{count - 1}") if count else ())
        return found
