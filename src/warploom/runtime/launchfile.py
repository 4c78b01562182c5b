"""Launch files: a kernel, its geometry, its arguments and its expected result, in TOML.

`docs/launch-files.md` describes every key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from warploom.diagnostics import Diagnostic
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Module
from warploom.runtime.buffers import MEMORY_LIMIT, Array, Buffer, Stored, make_buffers, read_buffer, read_stored
from warploom.runtime.comparison import Comparison, compare
from warploom.runtime.launch_arguments import Argument, buffer_name, read_argument
from warploom.runtime.references import (
    ACCUMULATORS,
    MULTIPLICANDS,
    REFERENCES,
    Expected,
    Options,
    ShapeError,
    exact_values,
)
from warploom.runtime.toml import Document, Table, read_file, refuse_unfilled

_SCHEDULE = re.compile(r"eager|lazy|random:\d+")
ONE = (1, 1, 1)


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
        tuple(read_argument(table, buffers) for table in root.tables("argument")),
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


def _expectation(table: Table, buffers: Mapping[str, Buffer], folder: Path) -> Expectation:
    name = table.choice("reference", [*REFERENCES, "file"])
    result = buffer_name(table, "result", buffers)
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
        operands = {role: buffer_name(table, role, buffers) for role in reference.operands}
        options = Options(
            **{name: table.boolean(name) for name in ("transpose_a", "transpose_b", "add_initial", "causal")},
            alpha=table.number("alpha", default=1.0),
            accumulator=table.choice("accumulator", ACCUMULATORS, "float32"),
            multiplicand=table.choice("multiplicand", MULTIPLICANDS, "as-stored"),
            scale=table.optional("scale", table.number),
        )
    return Expectation(table, result, name, operands, options, stored, exact, absolute, relative)
