"""TOML documents with a source location for every error."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError
from warploom.diagnostics.wording import did_you_mean, os_reason

Step = str | int
T = TypeVar("T")
_KEY = r"[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*'"
_HEADER = re.compile(rf"\s*(\[\[?)\s*((?:{_KEY})(?:\s*\.\s*(?:{_KEY}))*)\s*\]")
_ASSIGNMENT = re.compile(rf"\s*((?:{_KEY})(?:\s*\.\s*(?:{_KEY}))*)\s*=\s*")
_INLINE_KEY = re.compile(rf"(?<=[{{,\s])({_KEY})\s*=")
_MANY = 1 << 22
_LARGEST_FILE = 1 << 20  # bytes


class LaunchFileError(WarploomError):
    """Error in a launch file: the file cannot be read, or an entry is wrong."""


def suggestion(found: str, known: Iterable[str]) -> str:
    """Return `did you mean "x"?` if `found` resembles a known word, otherwise the list of known words."""
    choices = list(known)
    return did_you_mean(found, choices, '"') or f"expected one of {', '.join(choices)}"


def kind(value: object) -> str:
    """Describe a TOML value for messages, such as `the integer 3` or `an array`."""
    scalars = {int: f"the integer {value}", float: f"the number {value}", str: f'the string "{value}"'}
    words: dict[type, str] = {bool: "a boolean", list: "an array", dict: "a table", **scalars}
    return words.get(type(value), f"a {type(value).__name__}")


class Document:
    """TOML text with the positions of its keys."""

    def __init__(self, text: str, name: str) -> None:
        text = text.replace("\r\n", "\n")  # both line endings are legal; positions count one character
        self.source = Source(name, text)
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise LaunchFileError([self._malformed(str(error))]) from None
        except RecursionError:
            raise LaunchFileError([self._malformed("nested too deeply")]) from None
        self.root = Table(self, (), data)
        self._places: dict[tuple[Step, ...], Span] | None = None

    def _malformed(self, sentence: str) -> Diagnostic:
        where = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", sentence)
        span = None
        if where:
            sentence = sentence[: where.start()]
            offset = len(self.source.text)
            if where[1]:
                offset = self.source.line_start(int(where[1])) + int(where[2]) - 1
            span = Span(offset, offset + 1)
        message = f"invalid TOML: {sentence[:1].lower()}{sentence[1:]}"
        return Diagnostic("launch-file/toml", Severity.ERROR, message, self.source, span)

    def place(self, path: tuple[Step, ...]) -> Span | None:
        """Return the span of a key, or of the innermost enclosing table with a known position."""
        if self._places is None:
            self._places = dict(_scan(self.source.text))
        while path:
            if path in self._places:
                return self._places[path]
            path = path[:-1]
        return None

    def refuse(self, path: tuple[Step, ...], code: str, message: str, hint: str = "") -> NoReturn:
        """Raise the error `launch-file/CODE` at the key `path`. Errors: LaunchFileError."""
        raise LaunchFileError([self.diagnostic(path, code, message, hint)])

    def diagnostic(self, path: tuple[Step, ...], code: str, message: str, hint: str = "") -> Diagnostic:
        """Return the error `launch-file/CODE` at the key `path`."""
        # The message starts with the key's full name.
        sentence = f"{dotted(path)}: {message}" if path else message
        return Diagnostic(f"launch-file/{code}", Severity.ERROR, sentence, self.source, self.place(path), hint=hint)


def dotted(path: Sequence[Step]) -> str:
    """Return a key's full name, such as `buffer.a.shape` or `argument[3].box`. Indices count from 0."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _keys(text: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, text))


def _scan(text: str) -> Iterable[tuple[tuple[Step, ...], Span]]:
    table: tuple[Step, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    inline: tuple[Step, ...] | None = None
    item = -1
    offset = 0
    for line in text.split("\n"):
        if header := _HEADER.match(line):
            keys = _keys(header[2])
            table = keys
            if header[1] == "[[":
                counts[keys] = counts.get(keys, -1) + 1
                table = (*keys, counts[keys])
            inline = None
            yield table, Span(offset + header.start(1), offset + header.end())
        elif inline is not None and line.lstrip().startswith("]"):
            inline = None
        elif inline is not None and line.lstrip().startswith("{"):
            item += 1
            start = offset + line.index("{")
            yield (*inline, item), Span(start, offset + len(line.split("#")[0].rstrip().rstrip(",")))
            for match in _INLINE_KEY.finditer(line):
                yield (*inline, item, *_keys(match[1])), Span(offset + match.start(1), offset + match.end(1))
        elif inline is None and (assigned := _ASSIGNMENT.match(line)):
            path = (*table, *_keys(assigned[1]))
            yield path, Span(offset + assigned.start(1), offset + assigned.end(1))
            if line[assigned.end() :].split("#")[0].strip() == "[":
                inline, item = path, -1
        offset += len(line) + 1


class Table:
    """Table of a document. A missing key or a value of the wrong type raises `LaunchFileError`."""

    def __init__(self, document: Document, path: tuple[Step, ...], data: Mapping[str, object]) -> None:
        self.document = document
        self.path = path
        self.data = data

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def refuse(self, key: str, code: str, message: str, hint: str = "") -> NoReturn:
        """Raise the error `launch-file/CODE` at a key, or at the table for "". Errors: LaunchFileError."""
        self.document.refuse((*self.path, key) if key else self.path, code, message, hint)

    def only(self, *known: str) -> None:
        """Refuse keys that are not in `known`. Errors: LaunchFileError."""
        unknown = [
            self.document.diagnostic((*self.path, key), "unknown-key", "unknown key", suggestion(key, known))
            for key in self.data
            if key not in known
        ]
        if unknown:
            raise LaunchFileError(unknown)

    def _read(self, key: str, expected: str, kinds: tuple[type, ...], default: object = None) -> Any:
        """Return the value at a key, or `default` for a missing key. Errors: LaunchFileError.

        The value must have a type in `kinds`. `expected` describes it in messages.
        """
        if key not in self.data:
            if default is not None:
                return default
            self.refuse("", "missing-key", f"{key} is missing", f"{key} must be {expected}")
        value = self.data[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            self.refuse(key, "type", f"found {kind(value)}; expected {expected}")
        return value

    def _bounded(
        self, key: str, noun: str, kinds: tuple[type, ...], default: object, low: float | None, high: float | None
    ) -> Any:
        expected = f"{noun}{_range(low, high)}"
        value = self._read(key, expected, kinds, default)
        if not ((low is None or value >= low) and (high is None or value <= high)):
            self.refuse(key, "value", f"found {value}; expected {expected}")
        return value

    def optional(self, key: str, read: Callable[[str], T]) -> T | None:
        """Return `read(key)`, or None for a missing key. `read` is a method such as `Table.string`."""
        return read(key) if key in self.data else None

    def string(self, key: str, expected: str = "a string", default: str | None = None) -> str:
        """Return the string at a key, or `default` for a missing key.

        `expected` describes the string in messages.
        """
        return self._read(key, expected, (str,), default)

    def choice(self, key: str, choices: Iterable[str], default: str | None = None) -> str:
        """Return the string at a key, or `default` for a missing key. The string must be in `choices`."""
        known = list(choices)
        value = self.string(key, f"one of {', '.join(known)}", default)
        if value not in known:
            self.refuse(key, "value", f'found "{value}"', suggestion(value, known))
        return value

    def boolean(self, key: str) -> bool:
        """Return the boolean at a key, False for a missing key."""
        return self._read(key, "true or false", (bool,), False)

    def integer(self, key: str, default: int | None = None, low: int | None = None, high: int | None = None) -> int:
        """Return the integer at a key, or `default` for a missing key.

        The integer must be from `low` to `high`.
        """
        return self._bounded(key, "an integer", (int,), default, low, high)

    def number(self, key: str, default: float | None = None, low: float | None = None) -> float:
        """Return the number at a key, or `default` for a missing key. The number must be at least `low`."""
        return float(self._bounded(key, "a number", (int, float), default, low, None))

    def integers(
        self,
        key: str,
        default: tuple[int, ...] | None = None,
        low: int = 0,
        lengths: range = range(_MANY),
        single: bool = False,
    ) -> tuple[int, ...]:
        """Return the integers of the array at a key, or `default` for a missing key.

        With `single`, an integer counts as an array of length 1. The integers must be at least `low`, and the length in
        `lengths`.
        """
        count = f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
        many = "integers" if lengths.stop >= _MANY else f"{count} integers"
        expected = f"{'an integer or ' if single else ''}an array of {many}{_range(low, None)}"
        if default is not None and key not in self.data:
            return default
        value = self._read(key, expected, (list, int) if single else (list,))
        found = [value] if isinstance(value, int) else cast("list[object]", value)
        for item in found:
            if isinstance(item, bool) or not isinstance(item, int) or item < low:
                self.refuse(key, "value", f"found {kind(item)}; expected {expected}")
        if len(found) not in lengths:
            self.refuse(key, "value", f"found {len(found)} elements; expected {expected}")
        return tuple(cast("list[int]", found))

    def table(self, key: str, default: Mapping[str, object] | None = None) -> Table:
        """Return the table at a key. For a missing key, return a table with the items of `default`."""
        return Table(self.document, (*self.path, key), self._read(key, "a table", (dict,), default))

    def array(self, key: str) -> list[object]:
        """Return the elements of the array at a key, which may not be empty."""
        value = self._read(key, "an array", (list,))
        if not value:
            self.refuse(key, "value", "found an empty array; expected at least one element")
        return cast("list[object]", value)

    def tables(self, key: str) -> list[Table]:
        """Return the tables of the array at a key, or an empty list for a missing key."""
        result: list[Table] = []
        for index, item in enumerate(self._read(key, f"an array of tables, [[{key}]]", (list,), ())):
            path = (*self.path, key, index)
            if not isinstance(item, dict):
                self.document.refuse(path, "type", f"found {kind(item)}; expected a table")
            result.append(Table(self.document, path, cast("dict[str, object]", item)))
        return result


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" of at least {low}" if low is not None else ""


def read_file(path: Path) -> str:
    """Return the text of a launch file of at most 1 MiB.

    Errors: launch-file/missing, launch-file/unreadable.
    """
    name = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
        if len(raw) > _LARGEST_FILE:
            refuse_file("unreadable", f"{name} is larger than {_LARGEST_FILE >> 20} MiB")
        return raw.decode()
    except FileNotFoundError:
        refuse_file("missing", f"there is no file {name}")
    except UnicodeDecodeError as error:
        refuse_file("unreadable", f"{name} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#x}")
    except OSError as error:
        refuse_file("unreadable", f"{name} cannot be read: {os_reason(error)}")


UNFILLED = "fill in: "
"""Prefix of a string that stands in place of a value that the user must write."""


def refuse_unfilled(document: Document) -> None:
    """Refuse a launch file with placeholders that the user must replace. Errors: launch-file/fill-in."""
    found = [
        document.diagnostic(path, "fill-in", f"missing value: {text.removeprefix(UNFILLED)}")
        for path, text in _strings((), document.root.data)
        if text.startswith(UNFILLED)
    ]
    if found:
        raise LaunchFileError(found)


def _strings(path: tuple[Step, ...], value: object) -> Iterable[tuple[tuple[Step, ...], str]]:
    # The TOML parser limits the recursion.
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            yield from _strings((*path, key), inner)
    elif isinstance(value, list):
        for place, inner in enumerate(cast("list[object]", value)):
            yield from _strings((*path, place), inner)


def refuse_file(code: str, message: str, hint: str = "") -> NoReturn:
    """Raise the error `launch-file/CODE` without a source location. Errors: LaunchFileError."""
    raise LaunchFileError([Diagnostic(f"launch-file/{code}", Severity.ERROR, message, hint=hint)])
