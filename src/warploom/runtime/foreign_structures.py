"""Structures that ctypes and NumPy describe, as C types."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from warploom.diagnostics import UsageError
from warploom.layout.tensormap import TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES
from warploom.runtime.c_types import CType, Member, Opaque, Pointer, Record, Scalar, array_of

_POINTERS = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar_p)
_CODES = "?cbBhHiIlLqQfd"  # type codes of ctypes that are numbers, in the notation of the module struct


class Source(NamedTuple):
    """Layout of a structure, its bytes, and values for fields. Without an instance, `raw` is None."""

    type: Record
    raw: bytes | None
    values: Mapping[str, object]


def read_source(source: object, replaced: Mapping[str, object]) -> Source:
    """Return the layout and the contents of a structure of ctypes or NumPy, or the layout of such a type.

    `replaced` has the names of the fields that get other values.

    Errors: UsageError launch.argument.
    """
    if isinstance(source, (ctypes.Structure, ctypes.Union)):
        _check_pointers(source, replaced)
        return Source(_record(type(source)), bytes(source), {})
    if isinstance(source, type) and issubclass(source, (ctypes.Structure, ctypes.Union)):
        return Source(_record(source), None, {})
    if isinstance(source, np.dtype):
        return Source(_structured(cast("np.dtype[Any]", source)), None, {})
    if isinstance(source, (np.void, np.ndarray)):
        value = cast("Any", source)
        kind = _structured(value.dtype)
        if value.size != 1:
            raise _refusal(f"the array of structures has shape {value.shape}; expected one structure")
        item = value if isinstance(value, np.void) else value.reshape(1)[0]
        return Source(kind, value.tobytes(), _objects(item))
    found = type(cast("object", source)).__name__
    raise _refusal(
        f"the structure is a {found}; expected a ctypes.Structure, a structured scalar, array or dtype of NumPy, or "
        "a subclass of ctypes.Structure"
    )


def _refusal(message: str) -> UsageError:
    return UsageError(message, code="launch.argument")


# ctypes -----------------------------------------------------------------------------------------------------------


def _record(kind: type[Any]) -> Record:
    if not _is_native(kind):
        raise _refusal(f"{kind.__name__} has the byte order of another machine; expected a ctypes.Structure")
    hidden = _hidden(kind)
    members = tuple(
        Member("" if name in hidden else name, _of_ctypes(kind, name, type_), getattr(kind, name).offset)
        for name, type_ in _declared(kind)
    )
    return Record(f"struct {kind.__name__}", members, ctypes.sizeof(kind), ctypes.alignment(kind), _is_union(kind))


def _is_union(kind: type[Any]) -> bool:
    return issubclass(kind, ctypes.Union)


def _is_native(kind: type[Any]) -> bool:
    return not hasattr(kind, "_swappedbytes_")


def _hidden(kind: type[Any]) -> set[str]:
    """Return the names of the anonymous members (`_anonymous_` of ctypes)."""
    return {name for base in kind.__mro__ for name in vars(base).get("_anonymous_", ())}


def _declared(kind: type[Any]) -> Iterator[tuple[str, type[Any]]]:
    for base in reversed(kind.__mro__):
        for name, type_, *bits in vars(base).get("_fields_", ()):
            if bits:
                raise _refusal(f"field {name!r} of {kind.__name__} is a bit-field; expected fields of whole bytes")
            yield name, type_


def _of_ctypes(outer: type[Any], name: str, kind: type[Any]) -> CType:
    if issubclass(kind, (ctypes.Structure, ctypes.Union)):
        return _record(kind)
    if issubclass(kind, ctypes.Array):
        found = cast("Any", kind)
        return array_of(_of_ctypes(outer, name, found._type_), [found._length_])
    if issubclass(kind, _POINTERS) or hasattr(kind, "contents"):
        return Pointer(kind.__name__)
    code = getattr(kind, "_type_", None)
    if not isinstance(code, str) or code not in _CODES or not _is_native(kind):
        raise _refusal(f"field {name!r} of {outer.__name__} has the type {kind.__name__}, which a kernel cannot use")
    dtype: np.dtype[Any] = np.dtype("i1" if code == "c" else kind)
    return Scalar(kind.__name__, dtype, ctypes.alignment(kind))


def _check_pointers(source: Any, replaced: Mapping[str, object]) -> None:
    """Refuse typed pointers to host memory, which a kernel cannot read."""
    outer: type[Any] = source.__class__
    hidden = _hidden(outer)
    for name, kind in _declared(outer):
        value, given = getattr(source, name), replaced.get(name)
        if isinstance(value, (ctypes.Structure, ctypes.Union)):
            inner = replaced if name in hidden else given
            _check_pointers(value, cast("Mapping[str, object]", inner) if isinstance(inner, Mapping) else {})
        elif hasattr(kind, "contents") and value and name not in replaced:
            raise _refusal(
                f"field {name!r} at byte {getattr(outer, name).offset} of {outer.__name__} points to "
                f"host memory; expected a null pointer, or an array: {name}=array"
            )


# NumPy ------------------------------------------------------------------------------------------------------------


def _structured(dtype: np.dtype[Any]) -> Record:
    if dtype.fields is None or dtype.names is None:
        raise _refusal(f"the structure has the type {dtype}; expected a structured dtype, with names of fields")
    fields = cast("Mapping[str, Any]", dtype.fields)
    members = tuple(Member(name, _of_numpy(name, fields[name][0]), fields[name][1]) for name in dtype.names)
    return Record("struct", members, dtype.itemsize, dtype.alignment)


def _of_numpy(name: str, dtype: np.dtype[Any]) -> CType:
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return array_of(_of_numpy(name, element), shape)
    if dtype.names is not None:
        return _structured(dtype)
    if dtype.hasobject:
        return Pointer("object")
    if dtype.kind == "V" and dtype.type is np.void:
        return Opaque(str(dtype), dtype.itemsize, TENSOR_MAP_ALIGN if dtype.itemsize == TENSOR_MAP_BYTES else 1)
    if dtype.kind not in "biufV" or dtype.itemsize > 8 or not dtype.isnative:
        raise _refusal(f"field {name!r} has the type {dtype}, which a kernel cannot use")
    return Scalar(str(dtype), dtype, dtype.alignment)


def _objects(value: Any) -> dict[str, object]:
    """Return the Python objects in a structured scalar by name, with those of inner structures."""
    found: dict[str, object] = {}
    for name in value.dtype.names:
        dtype = value.dtype.fields[name][0]
        if dtype.kind == "O":
            found[name] = value[name]
        elif dtype.hasobject and dtype.names is not None:
            found[name] = _objects(value[name])
        elif dtype.hasobject:
            found[name] = list(value[name])
    return found
