"""Kernel arguments of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from warploom.cli._options import is_integer
from warploom.diagnostics import UsageError
from warploom.runtime.buffers import DISTRIBUTIONS, DTYPES, Buffer, Generated, stored, unsuited
from warploom.runtime.launchfile import SCALAR_TYPES, Argument, Pointer, Scalar, Scratch
from warploom.runtime.toml import suggestion


def read_arguments(texts: Sequence[str]) -> tuple[tuple[Argument, ...], dict[str, Buffer]]:
    """Return the arguments in parameter order, and the buffers among them as `arg0`, `arg1`, … by position."""
    buffers: dict[str, Buffer] = {}
    arguments: list[Argument] = []
    for position, text in enumerate(texts):
        found = _read(position, text)
        if isinstance(found, Buffer):
            buffers[f"arg{position}"] = found
            arguments.append(Pointer(f"arg{position}"))
        else:
            arguments.append(found)
    return tuple(arguments), buffers


def _refuse(position: int, text: str, message: str, hint: str = "") -> NoReturn:
    raise UsageError(f"--arg number {position} ({text}): {message}", hint=hint)


def _read(position: int, text: str) -> Argument | Buffer:
    if text == "null":
        return Scalar(0)
    if text.endswith(".npy"):
        return stored(Path(text), lambda _, message, hint: _refuse(position, text, message, hint))
    head, *rest = text.split(":")
    if not rest:
        return Scalar(_number(position, text, text))
    if head == "scratch":
        if len(rest) != 1 or not is_integer(rest[0]) or int(rest[0]) < 1:
            _refuse(position, text, "expected a number of bytes, such as scratch:384")
        return Scratch(int(rest[0]))
    if head in SCALAR_TYPES:
        return _scalar(position, text, head, ":".join(rest))
    if head in DISTRIBUTIONS:
        return _buffer(position, text, head, rest)
    known = [*DISTRIBUTIONS, *SCALAR_TYPES, "scratch"]
    _refuse(position, text, f'unknown type or distribution "{head}"', suggestion(head, known))


def _number(position: int, text: str, digits: str) -> int | float:
    if is_integer(digits):
        return int(digits)
    try:
        return float(digits)
    except ValueError:
        hint = "`warploom run --help` lists the kinds of arguments"
        _refuse(position, text, "expected a number or a buffer", hint)


def _scalar(position: int, text: str, name: str, digits: str) -> Scalar:
    kind = SCALAR_TYPES[name]
    value = _number(position, text, digits)
    if issubclass(kind, np.floating):
        return Scalar(kind(value))
    limits = np.iinfo(kind)
    if not isinstance(value, int) or not limits.min <= value <= limits.max:
        _refuse(position, text, f"expected an integer from {limits.min} to {limits.max}")
    return Scalar(kind(value))


def _buffer(position: int, text: str, distribution: str, rest: list[str]) -> Generated:
    if len(rest) not in (2, 3):
        _refuse(position, text, "expected DISTRIBUTION:TYPE:SHAPE or DISTRIBUTION:TYPE:SHAPE:SEED")
    if rest[0] not in DTYPES:
        _refuse(position, text, f'unknown element type "{rest[0]}"', suggestion(rest[0], DTYPES))
    sizes = rest[1].split("x")
    if len(sizes) > 8 or not all(is_integer(size) and int(size) >= 0 for size in sizes):
        _refuse(position, text, f'found the shape "{rest[1]}"; expected sizes such as 512x512')
    seed = rest[2] if len(rest) == 3 else str(position)
    if not is_integer(seed) or int(seed) < 0:
        _refuse(position, text, f'found the seed "{seed}"; expected an integer of at least 0')
    dtype = DTYPES[rest[0]]
    if message := unsuited(dtype, distribution):
        _refuse(position, text, message)
    return Generated(dtype, tuple(map(int, sizes)), distribution, int(seed))
