"""Register names for the values of one function."""

from collections import Counter
from collections.abc import Iterator

from xdsl.dialects.llvm import ExtractValueOp
from xdsl.ir import SSAValue

from warploom.nvvm.dialect.lowering import Temporary
from warploom.nvvm.dialect.types import registers_of
from warploom.ptx import Variable

_PREFIXES = {"pred": "p", "b16": "h", "b32": "r", "b64": "rd", "b128": "rq", "f32": "f", "f64": "fd"}
BYTES = {"pred": 1, "b16": 2, "b32": 4, "b64": 8, "b128": 16, "f32": 4, "f64": 8}
"""Bytes of a register type in memory."""


class RegisterNames:
    """Fresh register names by PTX type."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def fresh(self, type: str) -> str:
        """Return an unused register name of a PTX type."""
        number = self._used[type]
        self._used[type] += 1
        return f"%{_PREFIXES[type]}{number}"

    def declarations(self) -> Iterator[Variable]:
        """Yield one declaration for each PTX type, with the names from `fresh`."""
        for word, count in self._used.items():
            yield Variable("reg", word, f"%{_PREFIXES[word]}", count=count)


class ValueRegisters(RegisterNames):
    """Registers of each value of a function.

    A value owns registers that contain no other value. The only user of the value may overwrite owned registers.
    """

    def __init__(self) -> None:
        super().__init__()
        self._labels = 0
        self._names: dict[SSAValue, tuple[str, ...]] = {}
        self._owners: set[SSAValue] = set()
        self._splits: dict[SSAValue, bool] = {}
        self._temporaries: dict[str, str] = {}

    def names(self, value: SSAValue | Temporary) -> tuple[str, ...]:
        """Return the names of the registers of a value or temporary."""
        if isinstance(value, Temporary):
            if value.name not in self._temporaries:
                is_label = value.type == "label"
                self._labels += is_label
                self._temporaries[value.name] = f"$L{self._labels}" if is_label else self.fresh(value.type)
            return (self._temporaries[value.name],)
        # The first call assigns fresh names.
        if value not in self._names:
            self._names[value] = tuple(map(self.fresh, registers_of(value.type)))
            self._owners.add(value)
        return self._names[value]

    def begin_operation(self) -> None:
        """Discard the temporaries of the previous operation."""
        self._temporaries.clear()

    def bind(self, value: SSAValue, names: tuple[str, ...], *, owns: bool = False) -> None:
        """Assign the registers `names` to a value. `owns` is True if no other value uses the registers."""
        self._names[value] = names
        if owns:
            self._owners.add(value)

    def release(self, value: SSAValue) -> bool:
        """End a value's ownership of registers, so that another value can use the registers.

        Return False, without effect, if the value owns no registers or does not have exactly one use.
        """
        if value not in self._owners or not value.has_one_use():
            return False
        self._owners.discard(value)
        return True

    def reuse(self, value: SSAValue, result: SSAValue) -> bool:
        """Assign a value's registers to a result if `release` allows it. Return True on success."""
        if not self.release(value):
            return False
        self.bind(result, self._names[value], owns=True)
        return True

    def owns_elements(self, struct: SSAValue) -> bool:
        """Return True if each element extracted from a struct owns its registers."""
        if struct not in self._owners:
            return False
        if struct not in self._splits:
            users = [use.operation for use in struct.uses]
            positions = [each.position.get_values() for each in users if isinstance(each, ExtractValueOp)]
            # All uses must extract distinct elements at the same nesting depth.
            distinct = len(set(positions)) == len(positions) and len(set(map(len, positions))) == 1
            self._splits[struct] = distinct and len(positions) == len(users)
        return self._splits[struct]
