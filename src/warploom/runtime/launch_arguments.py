"""Arguments of a launch file: buffers, numbers, tensor maps, tables and structures."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from warploom.diagnostics import UsageError
from warploom.layout import TensorMap
from warploom.lazy_dataclass import dataclass
from warploom.runtime.buffers import Array, Buffer, Generated
from warploom.runtime.c_syntax import parse_structure
from warploom.runtime.c_types import Array as CArray
from warploom.runtime.c_types import CType, Record, members_of
from warploom.runtime.structures import Struct
from warploom.runtime.toml import Document, Step, Table, suggestion
from warploom.runtime.toml import kind as describe

SCALAR_TYPES: dict[str, type[np.integer] | type[np.floating]] = {
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "s8": np.int8, "s16": np.int16,
    "s32": np.int32, "s64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
_ARGUMENT_DEPTH = 2  # keys of an argument's path: `argument`, and the position


@dataclass(frozen=True, slots=True)
class Argument:
    """Argument of a launch. `make` returns the value, given the arrays of the named buffers.

    `scratch` is the size in bytes of the argument's unnamed buffers.
    """

    make: Callable[[Mapping[str, Array]], object]
    scratch: int = 0


def pointer(buffer: str) -> Argument:
    """Return the address of the buffer named `buffer` as an argument."""
    return Argument(lambda arrays: arrays[buffer])


def number(value: int | float | np.generic) -> Argument:
    """Return a number as an argument. A NumPy scalar keeps its type."""
    return Argument(lambda _: value)


def scratch(nbytes: int) -> Argument:
    """Return the address of an unnamed buffer of `nbytes` zero bytes as an argument."""
    return Argument(lambda _: np.zeros(nbytes, np.uint8), nbytes)


def buffer_name(table: Table, key: str, buffers: Mapping[str, Buffer]) -> str:
    """Return the name of a buffer at a key. Errors: launch-file/value for an unknown buffer."""
    name = table.string(key, "the name of a [buffer.NAME] table")
    if name not in buffers:
        hint = suggestion(name, buffers) if buffers else f"add a table [buffer.{name}]"
        table.refuse(key, "value", f'there is no buffer "{name}"', hint)
    return name


_MAP_OPTIONS = ("box", "element_strides", "interleave", "swizzle", "oob_fill", "l2_promotion")
_KINDS: dict[str, tuple[str, ...]] = {
    "buffer": ("offset",),
    "tensor_map": _MAP_OPTIONS,
    "value": ("type",),
    "scratch": (),
    "null": (),
    "buffers": (),
    "tensor_maps": (),
}
"""Kinds of arguments and fields, each with its further keys."""
_WHOLE: dict[str, tuple[str, ...]] = {"fields": ("bytes",), "bytes": ("fields",), "struct": ("values",)}
"""Kinds of arguments that are structures."""


def read_argument(table: Table, buffers: Mapping[str, Buffer]) -> Argument:
    """Return the argument that a table of a launch file describes. Errors: LaunchFileError."""
    if "struct" in table:
        return _c_structure(table, buffers)
    if "bytes" not in table and "fields" not in table:
        return _single(table, buffers)
    table.only("bytes", "fields")
    raw = table.optional("bytes", lambda key: _hexadecimal(table, key))
    parts = [_field(part, buffers) for part in table.tables("fields")]

    def make(arrays: Mapping[str, Array]) -> object:
        fields: dict[int, object] = {}
        for at, word, part in parts:
            value = part.make(arrays)
            fields[at] = (word, value) if isinstance(value, (int, float, np.generic)) else value
        with _refusals(table, "fields"):
            return Struct.at(fields) if raw is None else Struct.patched(raw, fields)

    return Argument(make, sum(part.scratch for _, _, part in parts))


@contextmanager
def _refusals(table: Table, key: str) -> Generator[None]:
    """Report a wrong structure at its key in the launch file."""
    try:
        yield
    except UsageError as error:
        table.refuse(key if key in table else "", "value", error.diagnostics[0].message)


def _hexadecimal(table: Table, key: str) -> bytes:
    expected = 'bytes as hexadecimal digits, such as "00 00 80 3f"'
    try:
        return bytes.fromhex(table.string(key, expected))
    except ValueError:
        table.refuse(key, "value", f"the string is not hexadecimal; expected {expected}")


def _c_structure(table: Table, buffers: Mapping[str, Buffer]) -> Argument:
    table.only("struct", "values")
    text = table.string("struct", "the declaration of a structure in C")
    with _refusals(table, "struct"):
        kind = parse_structure(text)
    values = table.table("values")
    part = _c_value(values.document, values.path, values.data, kind, buffers)

    def make(arrays: Mapping[str, Array]) -> object:
        named = cast("dict[str, object]", part.make(arrays))
        with _refusals(table, "values"):
            return Struct.c(text, **named)

    return replace(part, make=make)


def _c_value(
    document: Document, path: tuple[Step, ...], data: object, kind: CType | None, buffers: Mapping[str, Buffer]
) -> Argument:
    """Return the value of a member of a C structure.

    `kind` is None for an unknown member, which is refused later.
    """
    if isinstance(kind, Record) and isinstance(data, Mapping):
        kinds = dict(members_of(kind))
        items = {
            name: _c_value(document, (*path, name), item, kinds.get(name), buffers)
            for name, item in cast("Mapping[str, object]", data).items()
        }
        total = sum(part.scratch for part in items.values())
        return Argument(lambda arrays: {name: part.make(arrays) for name, part in items.items()}, total)
    if isinstance(data, list):
        inner = [each for _, each in members_of(kind)] if isinstance(kind, Record) else []
        element = kind.element if isinstance(kind, CArray) else None
        parts = [
            _c_value(document, (*path, k), item, inner[k] if k < len(inner) else element, buffers)
            for k, item in enumerate(cast("list[object]", data))
        ]
        return Argument(lambda arrays: [part.make(arrays) for part in parts], sum(part.scratch for part in parts))
    if isinstance(data, Mapping):
        return _single(Table(document, path, cast("Mapping[str, object]", data)), buffers)
    if not isinstance(data, (bool, int, float)):
        document.refuse(path, "type", f"found {describe(data)}; expected a number, an array or a table")
    return Argument(lambda _: data)


def _field(table: Table, buffers: Mapping[str, Buffer]) -> tuple[int, str, Argument]:
    at = table.integer("at", low=0)
    if "value" in table and "type" not in table:
        table.refuse("value", "missing-key", "type is missing", f"type must be one of {', '.join(SCALAR_TYPES)}")
    return at, table.choice("type", SCALAR_TYPES, "u64"), _single(table, buffers, "at")


def _single(table: Table, buffers: Mapping[str, Buffer], *more: str) -> Argument:
    """Read the value of an argument or a structure's field. The table may have the other keys `more`."""
    kinds = [kind for kind in _KINDS if kind in table]
    if len(kinds) != 1:
        known = [*_KINDS, *_WHOLE] if len(table.path) == _ARGUMENT_DEPTH else [*_KINDS]
        table.only(*known, *more, *(key for keys in _KINDS.values() for key in keys))
        found = " and ".join(kinds) or "none of them"
        table.refuse("", "value", f"found {found}; expected exactly one of {', '.join(known)}")
    table.only(kinds[0], *more, *_KINDS[kinds[0]])
    match kinds[0]:
        case "buffer":
            return _pointer(table, buffers)
        case "buffers":
            return _list([_table_entry(table, k, item, buffers) for k, item in enumerate(table.array("buffers"))])
        case "tensor_map":
            return _tensor_map(table, buffers)
        case "tensor_maps":
            maps = table.tables("tensor_maps")
            for each in maps:
                each.only("tensor_map", *_MAP_OPTIONS)
            if not maps:
                table.refuse("tensor_maps", "value", "found an empty array; expected at least one tensor map")
            return _list([_tensor_map(each, buffers) for each in maps])
        case "scratch":
            return scratch(table.integer("scratch", low=1))
        case "null":
            if not table.boolean("null"):
                table.refuse("null", "value", "found false; expected true", "write a null pointer as { null = true }")
            return number(0)
        case _:
            return number(read_scalar(table))


def _list(parts: Sequence[Argument]) -> Argument:
    return Argument(lambda arrays: [part.make(arrays) for part in parts])


def _table_entry(table: Table, k: int, item: object, buffers: Mapping[str, Buffer]) -> Argument:
    """Return an entry of a table of addresses.

    `item` is the name of a buffer, or a table with a buffer and an offset.
    """
    path = (*table.path, "buffers", k)
    entry = Table(table.document, path, cast("Any", item) if isinstance(item, Mapping) else {"buffer": item})
    entry.only("buffer", "offset")
    return _pointer(entry, buffers)


def _pointer(table: Table, buffers: Mapping[str, Buffer]) -> Argument:
    name = buffer_name(table, "buffer", buffers)
    offset = table.integer("offset", default=0, low=0, high=max(buffers[name].nbytes - 1, 0))
    if not offset:
        return pointer(name)
    return Argument(lambda arrays: arrays[name].reshape(-1).view(np.uint8)[offset:])


def read_scalar(table: Table) -> int | float | np.generic:
    """Return the number in the key `value`, as a NumPy scalar if the table has a `type`."""
    value = table.number("value")
    if "type" not in table:
        return table.data["value"] if isinstance(table.data["value"], int) else value
    kind = SCALAR_TYPES[table.choice("type", SCALAR_TYPES)]
    if issubclass(kind, np.floating):
        return kind(value)
    limits = np.iinfo(kind)
    return kind(table.integer("value", low=int(limits.min), high=int(limits.max)))


def _among(table: Table, key: str, choices: tuple[int, ...]) -> int:
    value = table.integer(key, default=choices[0])
    if value not in choices:
        table.refuse(key, "value", f"found {value}; expected one of {', '.join(map(str, choices))}")
    return value


def _tensor_map(table: Table, buffers: Mapping[str, Buffer]) -> Argument:
    name = buffer_name(table, "tensor_map", buffers)
    buffer = buffers[name]
    lengths = range(1, 6)
    if isinstance(buffer, Generated):
        rank = len(buffer.shape)
        if rank not in lengths:
            table.refuse("tensor_map", "value", f"{name} has {rank} axes; expected 1 to 5")
        lengths = range(rank, rank + 1)
    is_promoted = table.data.get("l2_promotion", "none") != "none"
    box = table.integers("box", low=1, lengths=lengths)
    options: dict[str, Any] = {
        "element_strides": table.optional("element_strides", lambda key: table.integers(key, low=1, lengths=lengths)),
        "interleave": _among(table, "interleave", (0, 16, 32)),
        "swizzle": _among(table, "swizzle", (0, 32, 64, 128)),
        "oob_fill": table.choice("oob_fill", ("zero", "nan"), "zero"),
        "l2_promotion": _among(table, "l2_promotion", (64, 128, 256)) if is_promoted else "none",
    }
    return Argument(lambda arrays: TensorMap.tiled(arrays[name], box, **options))
