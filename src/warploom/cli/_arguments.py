"""Kernel arguments as they are written on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from warploom.diagnostics import UsageError
from warploom.runtime.buffers import DISTRIBUTIONS, DTYPES, Buffer, Generated, stored, unsuited
from warploom.runtime.launchfile import SCALAR_TYPES, Argument, Pointer, Scalar, Scratch
from warploom.runtime.toml import suggestion


def dimensions(option: str, text: str) -> tuple[int, ...]:
    """One to three positive integers with commas between them."""
    parts = text.split(",")
    if len(parts) > 3 or not all(_whole(part) and int(part) > 0 for part in parts):
        raise UsageError(f"{option}: found {text!r}; expected one to three positive integers, such as 4,4")
    return tuple(map(int, parts))


def numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers from 0 on with commas between them."""
    parts = text.split(",")
    if not all(_whole(part) and int(part) >= 0 for part in parts):
        raise UsageError(f"{option}: found {text!r}; expected whole numbers, such as 0,1")
    return tuple(map(int, parts))


def read_arguments(texts: Sequence[str]) -> tuple[tuple[Argument, ...], dict[str, Buffer]]:
    """Arguments in parameter order, and the buffers among them, called `arg0`, `arg1`, … by their place."""
    buffers: dict[str, Buffer] = {}
    arguments: list[Argument] = []
    for place, text in enumerate(texts):
        found = _read(place, text)
        if isinstance(found, Buffer):
            buffers[f"arg{place}"] = found
            arguments.append(Pointer(f"arg{place}"))
        else:
            arguments.append(found)
    return tuple(arguments), buffers


def _refuse(place: int, text: str, why: str, hint: str = "") -> NoReturn:
    raise UsageError(f"--arg number {place} ({text}): {why}", hint=hint)


def _whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= 20


def _read(place: int, text: str) -> Argument | Buffer:
    if text == "null":
        return Scalar(0)
    if text.endswith(".npy"):
        return stored(Path(text), lambda _, message, hint: _refuse(place, text, message, hint))
    head, *rest = text.split(":")
    if not rest:
        return Scalar(_number(place, text, text))
    if head == "scratch":
        if len(rest) != 1 or not _whole(rest[0]) or int(rest[0]) < 1:
            _refuse(place, text, "scratch takes a number of bytes, such as scratch:384")
        return Scratch(int(rest[0]))
    if head in SCALAR_TYPES:
        return _scalar(place, text, head, ":".join(rest))
    if head in DISTRIBUTIONS:
        return _buffer(place, text, head, rest)
    _refuse(
        place, text, f'there is no "{head}"', suggestion(head, [*DISTRIBUTIONS, *SCALAR_TYPES, "scratch"])
    )


def _number(place: int, text: str, digits: str) -> int | float:
    if _whole(digits):
        return int(digits)
    try:
        return float(digits)
    except ValueError:
        _refuse(
            place,
            text,
            "neither a number nor a buffer",
            "`warploom run --help` shows what an argument may be",
        )


def _scalar(place: int, text: str, name: str, digits: str) -> Scalar:
    kind = SCALAR_TYPES[name]
    value = _number(place, text, digits)
    if issubclass(kind, np.floating):
        return Scalar(kind(value))
    limits = np.iinfo(kind)
    if not isinstance(value, int) or not limits.min <= value <= limits.max:
        _refuse(place, text, f"expected an integer from {limits.min} to {limits.max}")
    return Scalar(kind(value))


def _buffer(place: int, text: str, distribution: str, rest: list[str]) -> Generated:
    if len(rest) not in (2, 3):
        _refuse(place, text, "expected DISTRIBUTION:TYPE:SHAPE or DISTRIBUTION:TYPE:SHAPE:SEED")
    if rest[0] not in DTYPES:
        _refuse(place, text, f'there is no element type "{rest[0]}"', suggestion(rest[0], DTYPES))
    sizes = rest[1].split("x")
    if len(sizes) > 8 or not all(_whole(size) and int(size) >= 0 for size in sizes):
        _refuse(place, text, f'found "{rest[1]}" for a shape; expected sizes such as 512x512')
    seed = rest[2] if len(rest) == 3 else str(place)
    if not _whole(seed) or int(seed) < 0:
        _refuse(place, text, f'found "{seed}" for a seed; expected an integer of at least 0')
    dtype = DTYPES[rest[0]]
    if why := unsuited(dtype, distribution):
        _refuse(place, text, why)
    return Generated(dtype, tuple(map(int, sizes)), distribution, int(seed))
