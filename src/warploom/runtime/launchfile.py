"""Launch files: a kernel, its geometry, its arguments and its expected result, in TOML.

`docs/launch-files.md` describes every key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from warploom.diagnostics import Diagnostic
from warploom.layout import TensorMap
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Module
from warploom.runtime.arguments import Struct
from warploom.runtime.buffers import (
    MEMORY_LIMIT,
    Array,
    Buffer,
    Generated,
    Stored,
    make_buffers,
    read_buffer,
    read_stored,
)
from warploom.runtime.comparison import Comparison, compare
from warploom.runtime.references import (
    ACCUMULATORS,
    MULTIPLICANDS,
    REFERENCES,
    Expected,
    Options,
    ShapeError,
    exact_values,
)
from warploom.runtime.toml import Document, Table, read_file, refuse_unfilled, suggestion

SCALAR_TYPES: dict[str, type[np.integer] | type[np.floating]] = {
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "s8": np.int8, "s16": np.int16,
    "s32": np.int32, "s64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
_SCHEDULE = re.compile(r"eager|lazy|random:\d+")
ONE = (1, 1, 1)


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


@dataclass(frozen=True, slots=True)
class Geometry:
    """Geometry and options of a launch. A `schedule` of None is the default of the command."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] = ONE
    shared: int = 0
    arch: str | None = None
    schedule: str | None = None
    workers: int | str = 1


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected contents of the buffer `result`, from a reference computation or a stored array.

    `reference` is the name of the computation, and `operands` maps its operands to buffers. `exact` allows no error.
    `absolute` and `relative` replace the computed bound of the error. Error messages point at `table`.
    """

    table: Table
    result: str
    reference: str
    operands: Mapping[str, str]
    options: Options
    stored: Stored | None = None
    exact: bool = False
    absolute: float | None = None
    relative: float | None = None

    def expected(self, before: Mapping[str, Array]) -> Expected:
        """Return the expected values and the bounds of their errors.

        `before` has the contents of all buffers before the launch.

        Errors: launch-file/value if the shapes of the operands and the result do not match.
        """
        initial = before[self.result]
        if self.stored is not None:
            values = exact_values(self.stored.make())
            found = Expected(values, np.zeros(values.shape))
        else:
            operands = {role: before[name] for role, name in self.operands.items()}
            try:
                found = REFERENCES[self.reference].compute(operands, initial, self.options)
            except ShapeError as error:
                self.table.refuse("", "value", str(error))
        if found.values.shape != initial.shape:
            shapes = f"{self.result} is {initial.shape}, and {self.reference} gives {found.values.shape}"
            self.table.refuse("result", "value", shapes)
        if self.exact:
            return Expected(found.values, np.zeros(found.values.shape))
        if self.absolute is None and self.relative is None:
            return found
        return Expected(found.values, (self.absolute or 0.0) + (self.relative or 0.0) * np.abs(found.values))


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """Launch that a launch file or a command line describes."""

    ptx: Path | Module
    kernel: str | None
    geometry: Geometry
    buffers: Mapping[str, Buffer]
    arguments: tuple[Argument, ...]
    expect: Expectation | None = None

    @property
    def file_name(self) -> str:
        """Name of the PTX file, or `<stdin>` for a module from standard input."""
        return self.ptx.name if isinstance(self.ptx, Path) else "<stdin>"

    @property
    def keywords(self) -> dict[str, Any]:
        """Keyword arguments that `launch`, `sanitize` and `explore` have in common."""
        names = ("grid", "block", "cluster", "shared", "arch", "workers")
        return {name: getattr(self.geometry, name) for name in names}

    def prepare(self, limit: int = MEMORY_LIMIT) -> PreparedLaunch:
        """Make the buffers. Return the arguments and the expected result.

        `limit` is the maximum size of all buffers in bytes.

        Errors: launch-file/memory, launch-file/value.
        """
        arrays = make_buffers(self.buffers, limit, scratch=sum(each.scratch for each in self.arguments))
        args = [each.make(arrays) for each in self.arguments]
        # The reference is computed first, because a launch updates its buffers in place.
        return PreparedLaunch(args, arrays, self.expect, self.expect.expected(arrays) if self.expect else None)


class PreparedLaunch(NamedTuple):
    """Arguments of `launch` in parameter order, the named buffers, and the expected result."""

    args: list[object]
    arrays: dict[str, Array]
    expect: Expectation | None
    expected: Expected | None

    def compare(self) -> Comparison | None:
        """Compare the buffer of the result with the expected result. Return None if nothing is expected."""
        if self.expect is None or self.expected is None:
            return None
        return compare(self.expect.result, self.arrays[self.expect.result], self.expected)

    def wrong(self, schedule: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostic launch-file/expect if the result under a schedule is wrong, otherwise nothing."""
        comparison = self.compare()
        if self.expect is None or comparison is None or comparison.ok:
            return ()
        first = comparison.first[0]
        place = f"{comparison.name}[{', '.join(map(str, first.index))}]"
        message = f"under {schedule}, {comparison.sentence}; {place} is {first}"
        table = self.expect.table
        return (table.document.diagnostic(table.path, "expect", message),)


def read_launch_file(path: Path) -> LaunchPlan:
    """Read a launch file without making its buffers.

    Errors: launch-file/missing, launch-file/unreadable, and those of `parse_launch_file`.
    """
    return parse_launch_file(read_file(path), str(path), path.parent)


def parse_launch_file(text: str, name: str, folder: Path) -> LaunchPlan:
    """Return the launch that the text of a launch file describes.

    Paths are relative to `folder`. `name` is the name of the file in messages.

    Errors: launch-file/toml, /unknown-key, /missing-key, /type, /value, /missing.
    """
    document = Document(text, name)
    refuse_unfilled(document)
    root = document.root
    root.only("kernel", "launch", "buffer", "argument", "expect")

    kernel = root.table("kernel")
    kernel.only("file", "name")
    ptx = folder / kernel.string("file", "the path of a PTX file, relative to the launch file's folder")
    if not ptx.is_file():
        kernel.refuse("file", "missing", f"there is no file {ptx}", "the path is relative to the launch file's folder")

    tables = root.table("buffer", {})
    buffers = {name: read_buffer(tables.table(name), folder, k) for k, name in enumerate(tables.data)}
    return LaunchPlan(
        ptx,
        kernel.optional("name", kernel.string),
        _geometry(root.table("launch")),
        buffers,
        tuple(_argument(table, buffers) for table in root.tables("argument")),
        _expectation(root.table("expect"), buffers, folder) if "expect" in root else None,
    )


def _geometry(table: Table) -> Geometry:
    table.only("grid", "block", "cluster", "shared", "arch", "schedule", "workers")
    axes = range(1, 4)
    schedule = table.optional("schedule", table.string)
    if schedule is not None and not _SCHEDULE.fullmatch(schedule):
        table.refuse("schedule", "value", f'found "{schedule}"; expected eager, lazy or random:SEED')
    return Geometry(
        grid=table.integers("grid", low=1, lengths=axes, single=True),
        block=table.integers("block", low=1, lengths=axes, single=True),
        cluster=table.integers("cluster", default=ONE, low=1, lengths=axes, single=True),
        shared=table.integer("shared", default=0, low=0),
        arch=table.optional("arch", table.string),
        schedule=schedule,
        workers=table.integer("workers", default=1, low=1, high=1024),
    )


def _buffer_name(table: Table, key: str, buffers: Mapping[str, Buffer]) -> str:
    name = table.string(key, "the name of a [buffer.NAME] table")
    if name not in buffers:
        hint = suggestion(name, buffers) if buffers else f"add a table [buffer.{name}]"
        table.refuse(key, "value", f'there is no buffer "{name}"', hint)
    return name


_KINDS: dict[str, tuple[str, ...]] = {
    "buffer": (),
    "tensor_map": ("box", "element_strides", "interleave", "swizzle", "oob_fill", "l2_promotion"),
    "value": ("type",),
    "scratch": (),
    "null": (),
    "fields": (),
}


def _argument(table: Table, buffers: Mapping[str, Buffer]) -> Argument:
    if "fields" not in table:
        return _single(table, buffers)
    table.only("fields")
    parts = [_field(part, buffers) for part in table.tables("fields")]

    def make(arrays: Mapping[str, Array]) -> Struct:
        fields: dict[int, object] = {}
        for at, word, part in parts:
            value = part.make(arrays)
            fields[at] = (word, value) if isinstance(value, (int, float, np.generic)) else value
        return Struct.at(fields)

    return Argument(make, sum(part.scratch for _, _, part in parts))


def _field(table: Table, buffers: Mapping[str, Buffer]) -> tuple[int, str, Argument]:
    at = table.integer("at", low=0)
    if "value" in table and "type" not in table:
        table.refuse("value", "missing-key", "type is missing", f"type must be one of {', '.join(SCALAR_TYPES)}")
    return at, table.choice("type", SCALAR_TYPES, "u64"), _single(table, buffers, "at")


def _single(table: Table, buffers: Mapping[str, Buffer], *more: str) -> Argument:
    """Read the value of an argument or a structure's field. The table may have the other keys `more`."""
    known = [kind for kind in _KINDS if not (more and kind == "fields")]
    kinds = [kind for kind in known if kind in table]
    if len(kinds) != 1:
        table.only(*known, *more, *(key for keys in _KINDS.values() for key in keys))
        found = " and ".join(kinds) or "none of them"
        table.refuse("", "value", f"found {found}; expected exactly one of {', '.join(known)}")
    table.only(kinds[0], *more, *_KINDS[kinds[0]])
    match kinds[0]:
        case "buffer":
            return pointer(_buffer_name(table, "buffer", buffers))
        case "tensor_map":
            return _tensor_map(table, buffers)
        case "scratch":
            return scratch(table.integer("scratch", low=1))
        case "null":
            if not table.boolean("null"):
                table.refuse("null", "value", "found false; expected true", "write a null pointer as { null = true }")
            return number(0)
        case _:
            return number(read_scalar(table))


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
    name = _buffer_name(table, "tensor_map", buffers)
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


def _expectation(table: Table, buffers: Mapping[str, Buffer], folder: Path) -> Expectation:
    name = table.choice("reference", [*REFERENCES, "file"])
    result = _buffer_name(table, "result", buffers)
    exact = table.boolean("exact")
    absolute, relative = (
        table.optional(key, lambda key: table.number(key, low=0.0)) for key in ("absolute", "relative")
    )
    if exact and (absolute is not None or relative is not None):
        table.refuse("exact", "value", "exact allows no absolute or relative tolerance", "remove one of them")
    common = ("reference", "result", "exact", "absolute", "relative")
    if name == "file":
        table.only(*common, "file", "dtype")
        stored = read_stored(table, folder)
        operands, options = {}, Options()
    else:
        reference = REFERENCES[name]
        table.only(*common, *reference.operands, *reference.options)
        stored = None
        operands = {role: _buffer_name(table, role, buffers) for role in reference.operands}
        options = Options(
            **{name: table.boolean(name) for name in ("transpose_a", "transpose_b", "add_initial", "causal")},
            alpha=table.number("alpha", default=1.0),
            accumulator=table.choice("accumulator", ACCUMULATORS, "float32"),
            multiplicand=table.choice("multiplicand", MULTIPLICANDS, "as-stored"),
            scale=table.optional("scale", table.number),
        )
    return Expectation(table, result, name, operands, options, stored, exact, absolute, relative)
