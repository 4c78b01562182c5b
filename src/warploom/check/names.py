"""Names in a module: registers, variables, functions, labels and special registers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warploom.diagnostics.wording import similar_name
from warploom.isa.binding.operands import Problem, Where
from warploom.isa.binding.vectors import member_of
from warploom.isa.model.special_registers import SPECIAL_REGISTERS, SpecialRegister
from warploom.ptx import Function, Label, Variable
from warploom.ptx.scopes import Scope

_SUGGESTIONS = 100  # undeclared names for which a similar name is searched, because the search is slow
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Part:
    """Register with a selector of some of its bits or elements, such as `%r1.b0`."""

    register: Variable
    selector: str


Referent = Variable | Part | Function | Label | SpecialRegister | None
"""Object that a name refers to; None for an undeclared name."""


class Names(Scope[Variable, Variable, Label]):
    """Scope: the names that are declared between two braces, or at module level.

    All scopes of a module share `functions` (declared so far) and `suggested` (similar name of each undeclared name).
    `roles` maps parameters to the results of `role`.
    """

    def __init__(self, parent: Names | None, functions: dict[str, Function]) -> None:
        super().__init__(parent)
        self.functions = functions
        self.roles: dict[str, str] = {}
        self._found: dict[str, Referent] = {}
        self.suggested: dict[str, str] = {} if parent is None else parent.suggested

    def declare(self, variable: Variable) -> bool:
        """Add a variable or a range of registers. Return False if the scope already has the name."""
        name = variable.name
        self._found.clear()
        if variable.space == "reg" and variable.count is not None:
            if name in self.ranges or any(self._is_in_range(other, name, variable.count) for other in self.registers):
                return False
            self.ranges[name] = variable.count, variable
            return True
        if name in self.variables or self.own_register(name) is not None:
            return False
        (self.registers if variable.space == "reg" else self.variables)[name] = variable
        return True

    def role(self, name: str) -> str:
        """Return the role of a parameter: "entry", "input" or "output" of the function, or "call".

        "call" is a parameter that the body declares for a call.
        """
        for scope in self.enclosing():
            if name in scope.variables:
                return scope.roles.get(name, "call") if isinstance(scope, Names) else "call"
        return "call"

    @staticmethod
    def _is_in_range(name: str, stem: str, count: int) -> bool:
        digits = name.removeprefix(stem)
        return digits != name and digits.isdecimal() and len(digits) < 10 and int(digits) < count

    def members(self, name: str) -> int:
        """Return the vector length of a register: 1 for a scalar register, 0 if the name is no register."""
        found = self.register(name)
        return found[0].vector if found is not None else 0

    def find(self, name: str) -> Referent:
        """Return the declaration of a name, from this scope or an enclosing scope."""
        if self.parent is None:
            return self._find(name)
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Referent:
        found = self.register(name)
        if found is not None:
            return found[0]
        return (
            self.variable(name)
            or self.functions.get(name)
            or SPECIAL_REGISTERS.get(name)
            or self.label(name)
            or self._part(name)
        )

    def _part(self, name: str) -> Referent:
        stem, _, selector = name.rpartition(".")
        found = self.register(stem) if stem else None
        if found is None:
            return None
        register = found[0]
        if register.vector == 1:
            return Part(register, selector)
        return replace(register, vector=1) if member_of(selector, register.vector) >= 0 else None

    def undeclared(self, name: str, where: Where = ("all",)) -> Problem:
        """Return the problem of an undeclared name, with a hint. `where` is its place in the instruction."""
        stem = name.rstrip("0123456789")
        ranges = (scope.ranges[stem][0] for scope in self.enclosing() if stem in scope.ranges)
        count = next(ranges, None) if stem != name else None
        if count is not None:
            hint = f"'{stem}<{count}>' ends with '{stem}{count - 1}'" if count else f"'{stem}<0>' is empty"
        else:
            similar = self._similar(name)
            hint = f"did you mean '{similar}'?" if similar else ""
        return Problem("name/undeclared", f"'{name}' is not declared", where, hint, "PTX ISA 4.4")

    def _similar(self, name: str) -> str:
        if name not in self.suggested and len(name) <= _LONGEST and len(self.suggested) < _SUGGESTIONS:
            known = self.names() | self.functions.keys() | SPECIAL_REGISTERS.keys()
            self.suggested[name] = similar_name(name, known, 0.7)
        similar = self.suggested.get(name, "")
        return similar if self.find(similar) is not None else ""
