"""What the names of a text stand for: declared registers and variables, functions, labels, special
registers.
"""

from __future__ import annotations

from difflib import get_close_matches

from warploom.isa.special import SPECIAL_REGISTERS, SpecialRegister
from warploom.ptx import Function, Label, Variable
from warploom.ptx.scopes import Scope

CONSTANTS = {"WARP_SZ": 32}

Meaning = Variable | Function | Label | SpecialRegister | int | None


class Names(Scope[Variable, Variable, Label]):
    """The names between two braces. Functions are those declared so far, shared by every scope of a
    module.
    """

    def __init__(self, parent: Names | None, functions: dict[str, Function]) -> None:
        super().__init__(parent)
        self.functions = functions
        self.roles: dict[str, str] = {}

    def declare(self, variable: Variable) -> bool:
        """Add a variable or registers; False where the name is taken in these braces."""
        name = variable.name
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

    def find(self, name: str) -> Meaning:
        """What a name stands for, from these braces outwards; None where nothing."""
        found = self.register(name)
        if found is not None:
            return found[0]
        return (
            self.variable(name)
            or self.functions.get(name)
            or SPECIAL_REGISTERS.get(name)
            or self.label(name)
            or CONSTANTS.get(name)
        )

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
        known = self.names() | self.functions.keys() | SPECIAL_REGISTERS.keys()
        return next(iter(get_close_matches(name, known, 1, 0.7)), "")
