"""What a campaign has found, kept as it comes: a file that whoever starts the campaign again goes on with.

A line is an object of JSON that ends with a checksum of what stands before it. The first says what the campaign is,
each other one holds the number of a task and what came of it. What is added is on the disk before `add` returns, so
that whatever ends the process costs at most a line that is half written, which is dropped. A file that holds anything
else is refused, and stays as it is.
"""

from __future__ import annotations

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
_LONGEST = 1 << 28  # bytes of a line that is read


class Journal:
    """The journal of a campaign of `about["tasks"]` tasks: begun here, or by an earlier process. A context manager.

    `about` says what the campaign is, in plain data; a journal that says something else is of another one.
    """

    results: dict[int, Any]
    """What earlier processes found, by the number of the task."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Errors: UsageError checkpoint.file, checkpoint.disk."""
        self.path, self.results = path, {}
        self._about: dict[str, Any] = json.loads(json.dumps(about))
        self._total = int(about["tasks"])
        self._done = 0
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            self._refuse(f"cannot be a checkpoint: {_words(error)}")
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                self._refuse("cannot be a checkpoint: it is no ordinary file")
            self._lock()
            self._end = self._read()
            if self._end == 0:
                self._begin()
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        os.close(self._file)  # which ends the lock, as the end of the process would

    def add(self, results: Iterable[tuple[int, Any]]) -> None:
        """Keep what came of tasks, by their numbers, as plain data. Errors: UsageError checkpoint.disk."""
        lines = [_line({"task": number, "result": result}) for number, result in results]
        self._write(b"".join(lines))
        self._done += len(lines)

    # Opening ------------------------------------------------------------------------------------------------

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._refuse("is the checkpoint of a campaign that goes on now, in another process")
        except OSError as error:
            self._refuse(f"cannot be a checkpoint: {_words(error)}")

    def _begin(self) -> None:
        os.ftruncate(self._file, 0)
        self._write(self._header())
        with suppress(OSError):  # a file system whose folders cannot be told to be written
            folder = os.open(self.path.resolve().parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _header(self) -> bytes:
        return _line({"journal": "warploom campaign", "format": _FORMAT, "about": self._about})

    def _read(self) -> int:
        """Read what is whole, and say where it ends."""
        end = 0
        try:
            with os.fdopen(os.dup(self._file), "rb") as file:
                file.seek(0)
                line = file.readline(_LONGEST)
                if self._header().startswith(line) and not line.endswith(b"\n"):
                    return 0  # nothing, or as much of it as was written before a process ended
                self._check_header(_of_line(line))
                end = len(line)
                number = 1
                while line := file.readline(_LONGEST):
                    number += 1
                    if not line.endswith(b"\n") and len(line) < _LONGEST:
                        break  # the last one: a process ended while it wrote it
                    self._take(_of_line(line), number)
                    end += len(line)
        except OSError as error:
            self._refuse(f"cannot be a checkpoint: {_words(error)}")
        self._done = len(self.results)
        return end

    def _check_header(self, header: dict[str, Any] | None) -> None:
        if header is None or header.get("journal") != "warploom campaign":
            self._refuse("is no checkpoint of a campaign", "name a file that is not there yet, or remove it")
        if header.get("format") != _FORMAT:
            self._refuse(f"is a checkpoint in format {header.get('format')!r}; expected {_FORMAT}")
        about: Any = header.get("about")
        if not isinstance(about, dict):
            self._refuse("is no checkpoint of a campaign")
        theirs = cast("dict[str, Any]", about)
        for name in {**self._about, **theirs}:
            there, here = theirs.get(name), self._about.get(name)
            if there != here:
                self._refuse(
                    f"is the checkpoint of another campaign: {name} is {_said(there)} there, and {_said(here)} here",
                    "ask for the same as then, or name another file",
                )

    def _take(self, held: dict[str, Any] | None, line: int) -> None:
        """A line of a result, which is that of one task, each once."""
        number = None if held is None else held.get("task")
        known = type(number) is int and 0 <= number < self._total and number not in self.results
        if held is None or not known or "result" not in held:
            self._refuse(f"is damaged at line {line}", "remove it to begin anew")
        self.results[cast("int", number)] = held["result"]

    def _refuse(self, why: str, hint: str = "") -> NoReturn:
        raise UsageError(f"{self.path} {why}", code="checkpoint.file", hint=hint) from None

    # Writing ------------------------------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        """Put bytes after what is whole, and see that they are on the disk."""
        try:
            os.ftruncate(self._file, self._end)  # after what another process had written in part
            at = 0
            while at < len(data):
                at += os.pwrite(self._file, data[at:], self._end + at)
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise UsageError(
                f"{self.path} cannot be written: {_words(error)}; it has {self._done} of {self._total} results",
                code="checkpoint.disk",
                hint=f"{'free some space, and ' if full else ''}start the same command again",
            ) from None
        self._end += len(data)


def _line(held: Mapping[str, Any]) -> bytes:
    text = json.dumps(held, separators=(",", ":"))
    return f'{text[:-1]},"sum":"{_sum(text.encode())}"}}\n'.encode()


def _of_line(line: bytes) -> dict[str, Any] | None:
    """What a line says; None where it is not whole."""
    text = line[:-_TAIL] + b"}"
    if line[-_TAIL:] != f',"sum":"{_sum(text)}"}}\n'.encode():
        return None
    try:
        held: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", held) if isinstance(held, dict) else None


def _sum(text: bytes) -> str:
    return blake2b(text, digest_size=_DIGEST).hexdigest()


def _said(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value)


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
