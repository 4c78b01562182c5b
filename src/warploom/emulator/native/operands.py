"""Operands of native functions: where the values of an instruction's operands are in memory.

A native function receives one record for each operand, so that instructions which differ only in their registers share
the function.
"""

from collections.abc import Iterator
from dataclasses import field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.values import AddressValue, Constant, NotPredicate, PerWarp, Register, VectorValue
from warploom.lazy_dataclass import dataclass

LANES = 32
RECORD = np.dtype([("start", np.uint64), ("stride", np.int64), ("offset", np.uint64)])
"""Location of an operand: address of the values of warp 0, distance between warps, address offset."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """Register, constant or special register with one value for each lane.

    `number` is the index of its record. `stored` is the dtype of the register array, and `dtype` the dtype of
    the operand. A result narrower than the register is extended to `extended`.
    """

    number: int
    stored: str
    dtype: str
    extended: str = ""
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """Vector operand. An item is None for the sink `_`."""

    items: tuple[Scalar | None, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """Address operand: a base, and the index of the record that has the offset."""

    base: Scalar | None
    number: int
    extra: tuple[Any, ...] = ()


class UnsupportedOperand(Exception):
    """Operand that native functions cannot read or write."""


@dataclass(slots=True)
class OperandTable:
    """Operands of one linked instruction.

    `names` has a description of each operand, which selects the native function. `values` has the register, constant or
    address that `Records.fill` writes to each record.
    """

    names: SimpleNamespace
    values: list[Any] = field(default_factory=list[Any])

    @classmethod
    def of(cls, operands: SimpleNamespace) -> "OperandTable":
        """Describe the operands of a linked instruction.

        Errors: UnsupportedOperand.
        """
        table = cls(SimpleNamespace())
        for name, value in vars(operands).items():
            setattr(table.names, name, table._describe(value))
        return table

    def _describe(self, value: Any) -> Any:
        match value:
            case None | str() | bool() | int():
                return value
            case Register() | Constant() | PerWarp():
                return self._scalar(value)
            case NotPredicate():
                return self._scalar(value.register, negated=True)
            case VectorValue():
                return Items(tuple(None if item is None else self._describe(item) for item in value.items))
            case AddressValue():
                base = None if value.base is None else self._describe(value.base)
                return Location(base, self._add(value), tuple(map(self._describe, value.extra)))
            case _:
                raise UnsupportedOperand(type(value).__name__)

    def _scalar(self, value: Register | Constant | PerWarp, negated: bool = False) -> Scalar:
        if isinstance(value, Register):
            stored, dtype = value.file.dtype, value.view.dtype
            if dtype.kind == "V":
                raise UnsupportedOperand(value.type)
            # Registers of equal width are stored as the operand's type.
            stored = dtype if stored.itemsize == dtype.itemsize else stored
            extended = "" if value.extend is None else value.extend.str
            return Scalar(self._add(value), stored.str, dtype.str, extended, negated)
        array = value.array if isinstance(value, Constant) else value.table
        if array.dtype.kind not in "iufb":
            raise UnsupportedOperand(str(array.dtype))
        return Scalar(self._add(value), array.dtype.str, array.dtype.str)

    def _add(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1


def outline(operands: SimpleNamespace) -> tuple[tuple[object, ...], list[Any]]:
    """Return a key for the descriptions of an instruction's operands, and the values of its records.

    Operands with equal keys have equal descriptions. The values are those of `OperandTable.values`.
    """
    values: list[Any] = []
    return tuple(_outline(value, values) for value in vars(operands).values()), values


def _outline(value: Any, values: list[Any]) -> object:
    if value is None or isinstance(value, str):
        return value
    kind = cast("type[Any]", type(value))
    if kind is Register:
        values.append(value)
        return value.type, value.file.itemsize
    if kind is Constant or kind is PerWarp:
        values.append(value)
        return (value.array if kind is Constant else value.table).dtype.str
    if kind is NotPredicate:
        return kind, _outline(value.register, values)
    if kind is VectorValue:
        return kind, *[_outline(item, values) for item in value.items]
    if kind is AddressValue:
        base = _outline(value.base, values)
        values.append(value)
        return kind, base, *[_outline(item, values) for item in value.extra]
    return (kind, value) if kind in (bool, int) else kind


@dataclass(slots=True)
class Records:
    """Records of the operands of native instructions."""

    table: NDArray[Any]
    # Array of each constant and special register, by `id`, and the array of all lanes whose address is in the records.
    _wide: dict[int, tuple[NDArray[Any], NDArray[Any]]] = field(
        default_factory=dict[int, tuple[NDArray[Any], NDArray[Any]]]
    )
    # Address of each register file, by `id`, and the distances between its registers and between warps.
    _files: dict[int, tuple[int, int, int]] = field(default_factory=dict[int, tuple[int, int, int]])

    def fill(self, first: int, values: list[Any]) -> None:
        """Write the records of operands, from index `first` on."""
        self.table[first : first + len(values)] = [self._record(value) for value in values]

    def _record(self, value: Any) -> tuple[int, int, int]:
        if isinstance(value, Register):
            file = value.file
            if id(file) not in self._files:
                self._files[id(file)] = file.__array_interface__["data"][0], file.strides[0], file.strides[1]
            start, size, stride = self._files[id(file)]
            return start + value.index * size, stride, 0
        if isinstance(value, AddressValue):
            return 0, 0, int(value.offset)
        array = value.array if isinstance(value, Constant) else value.table
        known = self._wide.get(id(value))
        if known is None or known[0] is not array:
            wide = np.ascontiguousarray(np.broadcast_to(array, (len(array), LANES)))
            known = self._wide[id(value)] = array, wide
        wide = known[1]
        return wide.__array_interface__["data"][0], wide.strides[0] if len(wide) > 1 else 0, 0


def varying(values: list[Any]) -> Iterator[int]:
    """Yield the positions of special registers that differ from wave to wave."""
    return (position for position, value in enumerate(values) if isinstance(value, PerWarp))
