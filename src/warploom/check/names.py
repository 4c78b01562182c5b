"""What the names of a text stand for: declared registers and variables, functions, labels, special
registers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

from warploom.isa.binding.vectors import member_of
from warploom.isa.model.special_registers import SPECIAL_REGISTERS, SpecialRegister
from warploom.ptx import Function, Label, Variable
from warploom.ptx.scopes import Scope

_SUGGESTIONS = 100  # names of a text that similar ones are looked for; it takes long among many
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Part:
    """A register with a selector of its parts: `%r1.b0`."""

    register: Variable
    selector: str


Meaning = Variable | Part | Function | Label | SpecialRegister | None


class Names(Scope[Variable, Variable, Label]):
    """The names between two braces. Functions are those declared so far, and `suggested` the names looked for
    among similar ones, shared by every scope of a module.
    """

    def __init__(self, parent: Names | None, functions: dict[str, Function]) -> None:
        super().__init__(parent)
        self.functions = functions
        self.roles: dict[str, str] = {}
        self._found: dict[str, Meaning] = {}
        self.suggested: dict[str, str] = {} if parent is None else parent.suggested

    def declare(self, variable: Variable) -> bool:
        """Add a variable or registers; False where the name is taken in these braces."""
        name = variable.name
        self._found.clear()
        if variable.space == "reg" and variable.count is not None:
            if name in self.ranges or any(
                self._within(other, name, variable.count) for other in self.registers
            ):
                return False
            self.ranges[name] = variable.count, variable
            return True
        if name in self.variables or self.own_register(name) is not None:
            return False
        (self.registers if variable.space == "reg" else self.variables)[name] = variable
        return True

    def role(self, name: str) -> str:
        """What a parameter is: of an "entry", an "input" or "output" of a function, "call" elsewhere."""
        scope: Scope[Variable, Variable, Label] | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.roles.get(name, "call") if isinstance(scope, Names) else "call"
            scope = scope.parent
        return "call"

    @staticmethod
    def _within(name: str, stem: str, count: int) -> bool:
        digits = name.removeprefix(stem)
        return digits != name and digits.isdecimal() and len(digits) < 10 and int(digits) < count

    def members(self, name: str) -> int:
        """Registers in a vector register; 1 in a plain one, 0 in what is none."""
        found = self.register(name)
        return found[0].vector if found is not None else 0

    def find(self, name: str) -> Meaning:
        """What a name stands for, from these braces outwards; None where nothing."""
        if self.parent is None:
            return self._find(name)
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Meaning:
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

    def _part(self, name: str) -> Meaning:
        """A member of a vector register, or a register and a selector."""
        stem, _, selector = name.rpartition(".")
        found = self.register(stem) if stem else None
        if found is None:
            return None
        register = found[0]
        if register.vector == 1:
            return Part(register, selector)
        return replace(register, vector=1) if member_of(selector, register.vector) >= 0 else None

    def range_of(self, name: str) -> tuple[str, int] | None:
        """The range that a numbered name would be in, and its count: `%r<8>` for `%r9`."""
        stem = name.rstrip("0123456789")
        scope: Scope[Variable, Variable, Label] | None = self
        while scope is not None and stem != name:
            if stem in scope.ranges:
                return stem, scope.ranges[stem][0]
            scope = scope.parent
        return None

    def similar(self, name: str) -> str:
        """The visible name most like one that is not declared, or ""."""
        if name not in self.suggested and len(name) <= _LONGEST and len(self.suggested) < _SUGGESTIONS:
            known = self.names() | self.functions.keys() | SPECIAL_REGISTERS.keys()
            self.suggested[name] = next(iter(get_close_matches(name, known, 1, 0.7)), "")
        similar = self.suggested.get(name, "")
        return similar if self.find(similar) is not None else ""
