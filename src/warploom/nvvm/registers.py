"""Registers for values: names by kind, and what is known of a value without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from xdsl.dialects.llvm import ExtractValueOp
from xdsl.ir import SSAValue

from warploom.nvvm.dialect.pieces import Local, registers_of
from warploom.ptx import Variable

_PREFIXES = {"pred": "p", "b16": "h", "b32": "r", "b64": "rd", "b128": "rq", "f32": "f", "f64": "fd"}


class Registers:
    """The registers of one function: every value has those that its type asks for."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()
        self._labels = 0
        self._names: dict[SSAValue, tuple[str, ...]] = {}
        self._own: set[SSAValue] = set()
        self._apart: dict[SSAValue, bool] = {}
        self._locals: dict[str, str] = {}

    def fresh(self, type: str) -> str:
        """A register of a PTX type that nothing has yet."""
        number = self._used[type]
        self._used[type] += 1
        return f"%{_PREFIXES[type]}{number}"

    def of(self, value: SSAValue | Local) -> tuple[str, ...]:
        """The registers of a value, or of what an operation has for itself."""
        if isinstance(value, Local):
            if value.name not in self._locals:
                self._locals[value.name] = self._label() if value.type == "label" else self.fresh(value.type)
            return (self._locals[value.name],)
        if value not in self._names:
            self._names[value] = tuple(map(self.fresh, registers_of(value.type)))
            self._own.add(value)
        return self._names[value]

    def label(self, name: str) -> str:
        """A label that an operation has for itself."""
        return self.of(Local(name, "label"))[0]

    def begin(self) -> None:
        """A new operation: what the last one had for itself is forgotten."""
        self._locals.clear()

    def bind(self, value: SSAValue, names: tuple[str, ...], *, own: bool = False) -> None:
        """A value is in registers of other values, or in some that become its own."""
        self._names[value] = names
        if own:
            self._own.add(value)

    def gives_up(self, value: SSAValue) -> bool:
        """Whether a value's registers are free for another: where they are its own, and nothing else uses it."""
        if value not in self._own or not value.has_one_use():
            return False
        self._own.discard(value)
        return True

    def takes_over(self, value: SSAValue, successor: SSAValue) -> bool:
        """Whether a value's registers become those of its successor, as it gives them up."""
        if not self.gives_up(value):
            return False
        self.bind(successor, self._names[value], own=True)
        return True

    def comes_apart(self, value: SSAValue) -> bool:
        """Whether each part that is taken out of a struct owns its registers: where the struct does, and is used
        for nothing but parts that do not overlap.
        """
        if value not in self._own:
            return False
        if value not in self._apart:
            taken = [use.operation for use in value.uses]
            places = [each.position.get_values() for each in taken if isinstance(each, ExtractValueOp)]
            depths = {len(place) for place in places}
            distinct = len(set(places)) == len(places) and len(depths) == 1
            self._apart[value] = distinct and len(places) == len(taken)
        return self._apart[value]

    def declarations(self) -> Iterator[Variable]:
        """The registers that were used, declared."""
        for word, count in self._used.items():
            yield Variable("reg", word, f"%{_PREFIXES[word]}", count=count)

    def _label(self) -> str:
        self._labels += 1
        return f"$L{self._labels}"
