"""Values of C types: the bytes of numbers, and the fields with addresses and tensor maps."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any, SupportsIndex, cast

import numpy as np

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.isa.model.parameters import is_scalar
from warploom.layout import TensorMap
from warploom.layout.tensormap import TENSOR_MAP_BYTES
from warploom.lazy_dataclass import dataclass
from warploom.runtime.arrays import is_array
from warploom.runtime.c_types import Array, CType, Member, Opaque, Pointer, Record, Scalar, names_of

_NULL_OR_ARRAY = "an array, a list of arrays, a TensorMap, a list of TensorMaps, an address or None"


@dataclass(slots=True)
class Contents:
    """Contents of a structure: its bytes, and the fields whose bytes are known at the launch.

    `fields` maps byte offsets to the name and the value of a field. `complete` requires a value for each member.
    `value_size` returns the size in bytes of a value that a structure contains by value (a TensorMap or a Struct), and
    0 for other values. `is_address` returns True for values that are passed as an address.
    """

    raw: bytearray
    complete: bool
    value_size: Callable[[object], int]
    is_address: Callable[[object], bool]
    fields: dict[int, tuple[str, object]] = field(default_factory=dict[int, tuple[str, object]])

    def place(self, kind: CType, value: object, name: str = "", offset: int = 0) -> None:
        """Place a value of a C type at a byte offset. `name` is the name of the field.

        Errors: UsageError launch.argument.
        """
        size = self.value_size(value)
        if isinstance(kind, Pointer):
            self._pointer(kind, value, name, offset)
        elif isinstance(kind, Scalar):
            if kind.size == 8 and kind.dtype.kind in "iu" and (size or self.is_address(value)):
                self._pointer(kind, value, name, offset)
            else:
                self._write(offset, number(kind, value, name, offset))
        elif size and size == kind.size and (not isinstance(value, TensorMap) or _holds_map(kind)):
            self.fields[offset] = name, value
        elif isinstance(value, (bytes, bytearray)) and (not isinstance(kind, Array) or kind.element.size == 1):
            if len(value) != kind.size:
                raise _refusal(kind, value, name, offset, f"{kind.size} bytes")
            self._write(offset, bytes(value))
        elif isinstance(kind, Array):
            self._array(kind, value, name, offset)
        elif isinstance(kind, Record):
            self._record(kind, value, name, offset)
        else:
            expected = f"a TensorMap or {kind.size} bytes" if _holds_map(kind) else f"{kind.size} bytes"
            raise _refusal(kind, value, name, offset, expected)

    def _write(self, offset: int, data: bytes) -> None:
        self.raw[offset : offset + len(data)] = data

    def _pointer(self, kind: Pointer | Scalar, value: object, name: str, offset: int) -> None:
        if self.value_size(value):
            value = [value]  # a buffer with the bytes of the value
        if value is None or self.is_address(value):
            self._write(offset, bytes(8))
            if value is not None:
                self.fields[offset] = name, value
            return
        found = _integer(value)
        if found is None or not 0 <= found < 1 << 64:
            raise _refusal(kind, value, name, offset, _NULL_OR_ARRAY)
        self._write(offset, found.to_bytes(8, "little"))

    def _array(self, kind: Array, value: object, name: str, offset: int) -> None:
        items = _items(value)
        if items is None or len(items) != kind.count:
            raise _refusal(kind, value, name, offset, f"a sequence of {kind.count} elements")
        for k, item in enumerate(items):
            self.place(kind.element, item, f"{name}[{k}]", offset + k * kind.element.size)

    def _record(self, kind: Record, value: object, name: str, offset: int) -> None:
        given = _named(value)
        if given is None:
            items = None if kind.is_union else _items(value)
            if items is None or len(items) != len(kind.names):
                named = f"a mapping of {'one of ' if kind.is_union else ''}the names {', '.join(kind.names)}"
                raise _refusal(kind, value, name, offset, named)
            given = dict(zip(kind.names, items, strict=True))
        for unknown in given.keys() - set(kind.names):
            hint = did_you_mean(unknown, kind.names, "'") or f"expected {', '.join(kind.names)}"
            raise UsageError(f"{_place(kind, name)} has no field {unknown!r}; {hint}", code="launch.argument")
        chosen = [(member, part) for member in kind.members if (part := _part(member, given))]
        if kind.is_union and (len(chosen) > 1 or (self.complete and not chosen)):
            count = (
                "no value" if not chosen else f"values for {' and '.join(name for _, part in chosen for name in part)}"
            )
            raise UsageError(
                f"{_place(kind, name)} at byte {offset} has {count}; expected exactly one of {', '.join(kind.names)}",
                code="launch.argument",
            )
        if self.complete and not kind.is_union and len(chosen) < len(kind.members):
            absent = [each for each in kind.members if all(each is not member for member, _ in chosen)]
            texts = [
                f"{' or '.join(names_of(each))} ({each.type.name}, byte {offset + each.offset})" for each in absent
            ]
            raise UsageError(f"{_place(kind, name)} lacks values for {', '.join(texts)}", code="launch.argument")
        for member, part in chosen:
            inner = f"{name}.{member.name}" if name and member.name else name or member.name
            self.place(member.type, part[member.name] if member.name else part, inner, offset + member.offset)


def number(kind: Scalar, value: object, name: str, offset: int) -> bytes:
    """Return the bytes of a number. Errors: UsageError launch.argument."""
    dtype = kind.dtype
    if dtype.kind == "b":
        truth = bool(value) if _is_truth(value) else _integer(value)
        if truth not in (0, 1):
            raise _refusal(kind, value, name, offset, "True, False, 0 or 1")
        return bytes([truth])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        found = _integer(value)
        if found is None or not limits.min <= found <= limits.max:
            raise _refusal(kind, value, name, offset, f"an integer from {limits.min} to {limits.max}")
        return found.to_bytes(kind.size, "little", signed=dtype.kind == "i")
    wide = _integer(value)
    if wide is None and (isinstance(value, float) or (is_scalar(value) and _is_float(value.dtype))):
        wide = float(cast("Any", value))
    if wide is not None:
        with suppress(OverflowError), np.errstate(over="ignore", invalid="ignore"):
            rounded = dtype.type(wide)
            if float(rounded) == wide or math.isfinite(float(rounded)) or not math.isfinite(wide):
                return rounded.tobytes()
    raise _refusal(kind, value, name, offset, f"a number in the range of {kind.name}")


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or (dtype.kind == "V" and dtype.names is None and dtype.type is not np.void)


def _is_truth(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


def _integer(value: object) -> int | None:
    if _is_truth(value) or is_array(value):
        return None
    try:
        return operator.index(cast("SupportsIndex", value))
    except TypeError:
        return None


def _items(value: object) -> Sequence[object] | None:
    """Return the elements of a list, a tuple or an array in host memory."""
    if isinstance(value, np.ndarray) and value.ndim:
        return list(cast("Any", value))
    return cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None


def _named(value: object) -> Mapping[str, object] | None:
    """Return the fields of a mapping or of a structured scalar of NumPy by name."""
    if isinstance(value, np.void) and value.dtype.names is not None:
        return {name: value[name] for name in value.dtype.names}
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def _part(member: Member, given: Mapping[str, object]) -> dict[str, object]:
    return {name: given[name] for name in names_of(member) if name in given}


def _holds_map(kind: CType) -> bool:
    is_bytes = isinstance(kind, Opaque) or (isinstance(kind, Array) and kind.element.size == 1)
    return is_bytes and kind.size == TENSOR_MAP_BYTES


def _place(kind: Record, name: str) -> str:
    return f"field {name!r} ({kind.name})" if name else f"the {kind.name.replace('struct', 'structure', 1)}"


def _refusal(kind: CType, value: object, name: str, offset: int, expected: str) -> UsageError:
    if is_array(value):
        found = f"an array of shape {tuple(value.shape)}"
    elif not is_array(value) and (items := _items(value)) is not None:
        found = f"a {'tuple' if isinstance(value, tuple) else 'list'} of {len(items)} elements"
    elif isinstance(value, (bytes, bytearray)):
        found = f"{len(value)} bytes"
    elif value is None or isinstance(value, (int, float, str)) or is_scalar(value):
        found = repr(value)
    else:
        found = f"a {type(value).__name__}"
    place = f"field {name!r} at byte {offset}" if name else "the structure"
    return UsageError(f"{place} ({kind.name}) is {found}; expected {expected}", code="launch.argument")
