"""Captured launches, and the files that contain them.

A file is a ZIP archive with these members:

- `header.json`: version of the format, kernel, geometry, parameters, allocations and tensor maps
- `kernel.ptx`: PTX text of the module
- `before/N`: contents of allocation N before the launch
- `after/N`: the changed ranges of allocation N after the launch, one after the other

Nothing in a file is evaluated. All sizes are checked before memory is allocated.
"""

from __future__ import annotations

import json
import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NoReturn, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import os_reason
from warploom.gpu.geometry import Geometry
from warploom.layout.tensormap import TENSOR_MAP_BYTES, TensorMapFields

SUFFIX = ".wlc"
"""Extension of the files."""
MEMORY_LIMIT = 16 << 30
"""Default limit for the contents of a file. Units: bytes."""
_NAME = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)
_FORMAT, _VERSION = "warploom capture", 1
_PAGE = 4096  # bytes: granularity of the recorded changes
_LARGEST_HEADER, _LARGEST_TEXT = 64 << 20, 1 << 30
_LARGEST_PARAMETERS = 1 << 16
_ADDRESSES = 1 << 64
_DATE = (1980, 1, 1, 0, 0, 0)
_COMPRESSION = 1  # level of zlib: higher levels take several times as long

Bytes = NDArray[np.uint8]


@dataclass(eq=False)
class Allocation:
    """Range of device memory that a captured launch can reach.

    `variable` is the name of a variable of the module, or "" for an allocation of the program. `before` and `after`
    are the contents before and after the launch. `after` is `before` itself if the launch changed nothing.

    Shapes: before and after (bytes,).
    """

    address: int
    before: Bytes
    after: Bytes
    variable: str = ""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self.before)

    @property
    def end(self) -> int:
        """Address after the last byte."""
        return self.address + self.size

    def changes(self) -> list[tuple[int, int]]:
        """Return the changed ranges in whole pages, each as (offset, size)."""
        if self.after is self.before:
            return []
        padded = -(-self.size // _PAGE)
        changed = np.zeros(padded, np.bool_)
        for start in range(0, self.size, 1 << 26):
            differs = np.flatnonzero(self.before[start : start + (1 << 26)] != self.after[start : start + (1 << 26)])
            changed[np.unique((differs + start) // _PAGE)] = True
        edges = np.flatnonzero(np.diff(np.concatenate([[False], changed, [False]]).astype(np.int8)))
        pairs = edges.reshape(-1, 2) * _PAGE
        return [(int(low), min(int(high), self.size) - int(low)) for low, high in pairs]


@dataclass(frozen=True)
class PlacedTensorMap:
    """Tensor map at a position in the parameters or in an allocation.

    `allocation` is the index of the allocation, or -1 for the parameters. Units: `offset` in bytes.
    """

    allocation: int
    offset: int
    fields: TensorMapFields


@dataclass(eq=False)
class CapturedLaunch:
    """Launch of a kernel with the memory that it reached, and its results.

    `arch` is the architecture of the GPU. `status` is 0, or the status code with which the kernel failed on the GPU;
    the results of a failed launch are unknown. `allocations` are in the order of their addresses.
    """

    ptx: str
    kernel: str
    arch: str
    geometry: Geometry
    parameters: bytes
    allocations: list[Allocation] = field(default_factory=list[Allocation])
    tensor_maps: list[PlacedTensorMap] = field(default_factory=list[PlacedTensorMap])
    status: int = 0

    def save(self, path: str | Path) -> None:
        """Write the launch to a file. Errors: UsageError capture.file."""
        changes = [each.changes() for each in self.allocations]
        geometry = self.geometry
        header = {
            "format": _FORMAT, "version": _VERSION, "kernel": self.kernel, "arch": self.arch,
            "grid": geometry.grid, "block": geometry.block, "cluster": geometry.cluster, "shared": geometry.shared,
            "cooperative": geometry.cooperative, "status": self.status, "parameters": self.parameters.hex(),
            "allocations": [
                {"address": each.address, "size": each.size, "variable": each.variable, "changes": ranges}
                for each, ranges in zip(self.allocations, changes, strict=True)
            ],
            "tensor_maps": [
                {"allocation": each.allocation, "offset": each.offset, "fields": asdict(each.fields)}
                for each in self.tensor_maps
            ],
        }  # fmt: skip
        try:
            with zipfile.ZipFile(path, "w") as archive:
                _write(archive, "header.json", [json.dumps(header).encode()])
                _write(archive, "kernel.ptx", [self.ptx.encode()])
                for number, (each, ranges) in enumerate(zip(self.allocations, changes, strict=True)):
                    _write(archive, f"before/{number}", [each.before])
                    _write(archive, f"after/{number}", [each.after[first : first + size] for first, size in ranges])
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {os_reason(error)}", code="capture.file") from None


def _write(archive: zipfile.ZipFile, name: str, parts: Sequence[Any]) -> None:
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member._compresslevel = _COMPRESSION  # pyright: ignore  # noqa: PGH003 -- renamed in Python 3.13
    with archive.open(member, "w", force_zip64=True) as out:
        for part in parts:
            out.write(memoryview(part))


# Reading ----------------------------------------------------------------------------------------------------------


def read_capture(path: str | Path, limit: int = MEMORY_LIMIT) -> CapturedLaunch:
    """Return the launch in a file.

    Units: `limit` is the maximum size of the contents in bytes.
    Errors: UsageError capture.file if the file cannot be read, is damaged, too large or of a newer version.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise _damaged(str(path), "it is not a regular file")
        with _open(path) as archive:
            return _Reader(archive, str(path), limit).launch()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {os_reason(error)}", code="capture.file") from None
    except MemoryError:
        raise UsageError(
            f"the contents of {path} need more memory than there is", code="capture.file", hint="--memory sets a limit"
        ) from None
    except _BROKEN:
        raise _damaged(str(path), "it is not a complete ZIP archive") from None


_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError)
"""Exceptions of `zipfile` and its decompressors for a damaged archive."""


def _open(path: str | Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except ValueError:  # from a negative offset
        raise zipfile.BadZipFile from None


def _damaged(path: str, reason: str) -> UsageError:
    return UsageError(
        f"{path} is not a readable capture of a launch: {reason}",
        code="capture.file",
        hint="`warploom capture` writes such files",
    )


class _Reader:
    """Reader of one archive. Errors: UsageError capture.file."""

    def __init__(self, archive: zipfile.ZipFile, path: str, limit: int) -> None:
        self._archive, self._path, self._limit, self._left = archive, path, limit, limit

    def launch(self) -> CapturedLaunch:
        """Return the launch in the archive."""
        header = self._header()
        parameters = self._text(header, "parameters")
        if len(parameters) > 2 * _LARGEST_PARAMETERS:
            self._refuse("its parameters are too large")
        try:
            block = bytes.fromhex(parameters)
        except ValueError:
            self._refuse("its parameters are not hexadecimal")
        cluster, cooperative = header.get("cluster"), header.get("cooperative")
        if not isinstance(cooperative, bool):
            self._refuse("'cooperative' is neither true nor false")
        geometry = Geometry(
            self._extents(header.get("grid"), "grid"), self._extents(header.get("block"), "block"),
            None if cluster is None else self._extents(cluster, "cluster"),
            self._integer(header, "shared", 1 << 31), cooperative,
        )  # fmt: skip
        allocations = [*self._allocations(self._list(header, "allocations"))]
        maps = [*self._tensor_maps(self._list(header, "tensor_maps"), [len(block), *(a.size for a in allocations)])]
        ptx = self._member("kernel.ptx", None, _LARGEST_TEXT).decode(errors="replace")
        return CapturedLaunch(
            ptx, self._name(header, "kernel"), self._text(header, "arch"), geometry, block, allocations, maps,
            self._integer(header, "status", 1 << 31),
        )  # fmt: skip

    def _refuse(self, reason: str) -> NoReturn:
        raise _damaged(self._path, reason)

    def _header(self) -> dict[str, Any]:
        try:
            found = json.loads(self._member("header.json", None, _LARGEST_HEADER))
        except (ValueError, RecursionError):
            self._refuse("its header is not JSON")
        if not _is_table(found) or found.get("format") != _FORMAT:
            self._refuse("its header does not describe a launch")
        version = self._integer(found, "version", 1 << 31)
        if version != _VERSION:
            self._refuse(f"its format has version {version}; this release of Warploom reads version {_VERSION}")
        return found

    def _member(self, name: str, size: int | None, most: int = 0) -> bytes:
        """Return the contents of a member with `size` bytes, or with at most `most` bytes."""
        try:
            member = self._archive.getinfo(name)
        except KeyError:
            self._refuse(f"it has no member {name}")
        expected = member.file_size if size is None else size
        if member.file_size != expected or (size is None and expected > most):
            found = f"at most {most}" if size is None else str(size)
            self._refuse(f"its member {name} has {member.file_size} bytes; expected {found}")
        self._left -= expected
        if self._left < 0:
            raise UsageError(
                f"the contents of {self._path} are larger than the limit of {self._limit} bytes",
                code="capture.file",
                hint="--memory raises the limit",
            )
        with self._archive.open(member) as opened:
            data = opened.read(expected)
            if len(data) != expected or opened.read(1):
                self._refuse(f"its member {name} does not have the size that the archive states")
        return data

    def _allocations(self, tables: list[Any]) -> Iterator[Allocation]:
        end = 0
        for number, table in enumerate(tables):
            if not _is_table(table):
                self._refuse(f"allocation {number} is not a JSON object")
            address, size = self._integer(table, "address", _ADDRESSES), self._integer(table, "size", _ADDRESSES)
            if address < end or not size or address + size > _ADDRESSES:
                self._refuse(
                    f"allocation {number} has the address {address:#x} and the size {size}; expected an address from "
                    f"{end:#x} on, and a size above 0"
                )
            end = address + size
            before = np.frombuffer(self._member(f"before/{number}", size), np.uint8)
            ranges = [self._range(each, number) for each in self._list(table, "changes")]
            if any(first + length > size for first, length in ranges):
                self._refuse(f"the changes of allocation {number} exceed it")
            data = self._member(f"after/{number}", sum(length for _, length in ranges))
            after, position = before.copy() if ranges else before, 0
            for first, length in ranges:
                after[first : first + length] = np.frombuffer(data, np.uint8, length, position)
                position += length
            yield Allocation(address, before, after, self._name(table, "variable"))

    def _range(self, value: object, number: int) -> tuple[int, int]:
        pair = cast("list[object]", value) if isinstance(value, list) else []
        if len(pair) != 2 or not all(_is_integer(each) and 0 <= each < 1 << 62 for each in pair):
            self._refuse(f"a change of allocation {number} is not a pair of an offset and a size")
        first, length = cast("list[int]", pair)
        return first, length

    def _tensor_maps(self, tables: list[Any], sizes: Sequence[int]) -> Iterator[PlacedTensorMap]:
        """Yield the tensor maps. `sizes` are the bytes of the parameters and of each allocation."""
        for number, table in enumerate(tables):
            if not _is_table(table) or not _is_table(values := table.get("fields")):
                self._refuse(f"tensor map {number} is not a JSON object with fields")
            allocation = self._integer(table, "allocation", len(sizes) - 1, -1)
            offset = self._integer(table, "offset", 1 << 62)
            if offset + TENSOR_MAP_BYTES > sizes[allocation + 1]:
                self._refuse(f"tensor map {number} exceeds the memory that contains it")
            yield PlacedTensorMap(allocation, offset, self._fields(number, values))

    def _fields(self, number: int, values: dict[str, Any]) -> TensorMapFields:
        empty, found = TensorMapFields(), dict[str, Any]()
        for each in fields(cast("Any", TensorMapFields)):
            value, default = values.get(each.name), getattr(empty, each.name)
            if isinstance(default, tuple):
                items = cast("list[object]", value) if isinstance(value, list) else []
                if len(items) != len(cast("tuple[int, ...]", default)) or not all(map(_is_integer, items)):
                    self._refuse(f"the field {each.name} of tensor map {number} is not a list of integers")
                found[each.name] = tuple(items)
            elif _is_integer(value):
                found[each.name] = value
            else:
                self._refuse(f"the field {each.name} of tensor map {number} is not an integer")
        try:
            result = TensorMapFields(**found)
            broken = result.validate()
            result.pack()  # all fields fit
        except (ValueError, IndexError, OverflowError):
            broken, result = ["a field is out of range"], empty
        if broken:
            self._refuse(f"tensor map {number} is invalid: {'; '.join(broken)}")
        return result

    def _extents(self, value: object, name: str) -> tuple[int, int, int]:
        numbers = cast("list[Any]", value) if isinstance(value, list) else []
        if len(numbers) != 3 or not all(_is_integer(each) and 0 < each < 1 << 31 for each in numbers):
            self._refuse(f"'{name}' is not three integers above 0")
        x, y, z = numbers
        return x, y, z

    def _integer(self, table: dict[str, Any], name: str, end: int, first: int = 0) -> int:
        value = table.get(name)
        if not _is_integer(value) or not first <= value < end:
            self._refuse(f"'{name}' is not an integer from {first} to below {end}")
        return value

    def _text(self, table: dict[str, Any], name: str) -> str:
        value = table.get(name)
        if not isinstance(value, str):
            self._refuse(f"'{name}' is not a string")
        return value

    def _name(self, table: dict[str, Any], name: str) -> str:
        """Return the name of a kernel or variable, or ""."""
        value = self._text(table, name)
        if value and not _NAME.fullmatch(value):
            self._refuse(f"'{name}' is not a name of PTX")
        return value

    def _list(self, table: dict[str, Any], name: str) -> list[Any]:
        value = table.get(name)
        if not isinstance(value, list):
            self._refuse(f"'{name}' is not a list")
        return cast("list[Any]", value)


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_table(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
