"""Checkpoint file of a campaign, from which a later process continues.

Each line is a JSON object with a checksum. The first line describes the campaign. Every other line has the number of a
task and its result.
"""

import errno
import fcntl
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self, cast

from warploom.diagnostics import UsageError

_FORMAT = 1
_DIGEST = 8
_TAIL = len(',"sum":""}\n') + 2 * _DIGEST
_LONGEST = 1 << 28  # bytes; the rest of a longer line is not read


class Checkpoint:
    """Checkpoint file, new or continued from an earlier process. It is a context manager."""

    results: dict[int, Any]
    """Results of earlier processes, by task number."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Open or create the file and lock it for this process.

        `about` describes the campaign in JSON data. `about["tasks"]` is the number of tasks.

        Errors: UsageError checkpoint.file (also for the file of another campaign), checkpoint.disk.
        """
        self.path, self.results = path, {}
        self._about: dict[str, Any] = json.loads(json.dumps(about))
        self._total = int(about["tasks"])
        self._done = 0
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            self._refuse(f"cannot be a checkpoint: {_reason(error)}")
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                self._refuse("cannot be a checkpoint: it is not a regular file")
            self._lock()
            self._end = self._read()
            if self._end == 0:
                self._begin()
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)  # also releases the lock

    def add(self, results: Iterable[tuple[int, Any]]) -> None:
        """Append (task number, result in JSON data) pairs and wait until they are on the disk.

        Errors: UsageError checkpoint.disk.
        """
        lines = [_line({"task": number, "result": result}) for number, result in results]
        self._write(b"".join(lines))
        self._done += len(lines)

    # Opening ------------------------------------------------------------------------------------------------

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._refuse("is the checkpoint of a campaign that is running in another process")
        except OSError as error:
            self._refuse(f"cannot be a checkpoint: {_reason(error)}")

    def _begin(self) -> None:
        os.ftruncate(self._file, 0)
        self._write(self._header())
        with suppress(OSError):  # some file systems cannot synchronise folders
            folder = os.open(self.path.resolve().parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _header(self) -> bytes:
        return _line({"journal": "warploom campaign", "format": _FORMAT, "about": self._about})

    def _read(self) -> int:
        """Read the complete lines of the file and return the offset of their end."""
        end = 0
        try:
            with os.fdopen(os.dup(self._file), "rb") as file:
                file.seek(0)
                line = file.readline(_LONGEST)
                if self._header().startswith(line) and not line.endswith(b"\n"):
                    return 0  # empty, or a header that another process wrote in part
                self._check_header(_parse_line(line))
                end = len(line)
                number = 1
                while line := file.readline(_LONGEST):
                    number += 1
                    if not line.endswith(b"\n") and len(line) < _LONGEST:
                        break  # the last line is incomplete
                    self._add_line(_parse_line(line), number)
                    end += len(line)
        except OSError as error:
            self._refuse(f"cannot be a checkpoint: {_reason(error)}")
        self._done = len(self.results)
        return end

    def _check_header(self, header: dict[str, Any] | None) -> None:
        if header is None or header.get("journal") != "warploom campaign":
            self._refuse("is not a checkpoint of a campaign", "name a new file, or remove this one")
        if header.get("format") != _FORMAT:
            self._refuse(f"has checkpoint format {header.get('format')!r}; expected {_FORMAT}")
        about: Any = header.get("about")
        if not isinstance(about, dict):
            self._refuse("is not a checkpoint of a campaign")
        recorded = cast("dict[str, Any]", about)
        for name in {**self._about, **recorded}:
            found, expected = recorded.get(name), self._about.get(name)
            if found != expected:
                self._refuse(
                    f"is the checkpoint of another campaign: {name} is {_shown(found)}, expected {_shown(expected)}",
                    "repeat the earlier options, or name another file",
                )

    def _add_line(self, record: dict[str, Any] | None, line: int) -> None:
        """Store the result of a line. `record` is its JSON object, or None if the line is damaged."""
        number = None if record is None else record.get("task")
        valid = type(number) is int and 0 <= number < self._total and number not in self.results
        if record is None or not valid or "result" not in record:
            self._refuse(f"is damaged at line {line}", "remove the file to start again")
        self.results[cast("int", number)] = record["result"]

    def _refuse(self, reason: str, hint: str = "") -> NoReturn:
        raise UsageError(f"{self.path} {reason}", code="checkpoint.file", hint=hint) from None

    # Writing ------------------------------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        """Write bytes after the last complete line and wait until they are on the disk."""
        try:
            os.ftruncate(self._file, self._end)  # drops an incomplete line
            at = 0
            while at < len(data):
                at += os.pwrite(self._file, data[at:], self._end + at)
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise UsageError(
                f"{self.path} cannot be written: {_reason(error)}; it holds {self._done} of {self._total} results",
                code="checkpoint.disk",
                hint=f"{'free some space and ' if full else ''}start the same command again",
            ) from None
        self._end += len(data)


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":"))
    return f'{text[:-1]},"sum":"{_sum(text.encode())}"}}\n'.encode()


def _parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line, or None if the line is incomplete or damaged."""
    text = line[:-_TAIL] + b"}"
    if line[-_TAIL:] != f',"sum":"{_sum(text)}"}}\n'.encode():
        return None
    try:
        record: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", record) if isinstance(record, dict) else None


def _sum(text: bytes) -> str:
    return blake2b(text, digest_size=_DIGEST).hexdigest()


def _shown(value: Any) -> str:
    return "missing" if value is None else json.dumps(value)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
