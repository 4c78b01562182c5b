"""Phrases about the lanes, values and locations of a stopped launch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.program import Program
from warploom.isa.model.types import TYPES
from warploom.observe.debug.registers import RegisterValue
from warploom.observe.debug.warps import describe_lanes
from warploom.view.value_grid import number_text

_MOST_GROUPS = 4  # values of a register in one line
_SMALL = 1024  # unsigned integers below are shown in decimal only
_PER_LINE = 8  # lanes
_LONG_LIST = re.compile(r"\{\s*([^{},\s]+)(?:,[^{},]*){4,},\s*([^{},\s]+)\s*\}")


def value_text(number: Any, type: str, digits: int) -> str:
    """Return a number of a PTX type as text. Large integers of bit types are also shown in hexadecimal."""
    if isinstance(number, np.ndarray):
        parts = cast("NDArray[Any]", number).tolist()
        return f"({', '.join(number_text(part, digits) for part in parts)})"
    kind = TYPES[type]
    if kind.kind == "predicate":
        return "true" if number else "false"
    if kind.kind == "float":
        return number_text(float(number), digits)
    plain = int(number)
    if plain < _SMALL or kind.kind == "signed":
        return str(plain)
    return f"{plain:#x}" if kind.bits >= 64 else f"{plain:#x} ({plain})"


def lanes_text(value: RegisterValue, lanes: Sequence[int], digits: int) -> list[str]:
    """Return lines with the values of some lanes of a register. Equal values are stated once."""
    texts = [value_text(number, value.type, digits) for number in value.numbers]
    groups: dict[str, list[int]] = {}
    for lane in lanes:
        groups.setdefault(texts[lane], []).append(lane)
    if len(groups) <= _MOST_GROUPS:
        return [", ".join(f"{text} in {describe_lanes(held)}" for text, held in groups.items())]
    if (progression := _progression(value, lanes, digits)) != "":
        return [progression]
    widest = max(map(len, texts))
    return [
        f"{describe_lanes(part)}: " + "  ".join(f"{texts[lane]:>{widest}}" for lane in part)
        for part in (lanes[k : k + _PER_LINE] for k in range(0, len(lanes), _PER_LINE))
    ]


def _progression(value: RegisterValue, lanes: Sequence[int], digits: int) -> str:
    """Return a phrase for numbers that grow by the same step from lane to lane, or ""."""
    if value.numbers.ndim != 1 or value.numbers.dtype.kind not in "iuf":
        return ""
    numbers = value.numbers[list(lanes)].tolist()
    first, step = numbers[0], numbers[1] - numbers[0]
    if numbers != [first + step * k for k in range(len(numbers))] or lanes[-1] - lanes[0] != len(lanes) - 1:
        return ""
    first, last, step = (number_text(each, digits) for each in (first, numbers[-1], step))
    return f"{first} to {last} in steps of {step} in {describe_lanes(lanes)}"


def line_of(program: Program, pc: int) -> str:
    """Return the shortened text of an instruction's line, or of the instruction if the kernel has no text."""
    source, number = program.source, program.line_of(pc)
    if source is None or not number:
        return shortened(str(program.steps[pc].instruction).strip())
    return shortened(" ".join(source.line_text(number).split()))


def shortened(line: str) -> str:
    """Return a line of PTX with long lists of registers shortened, such as `{%f0, …, %f63}`."""
    return _LONG_LIST.sub(r"{\1, …, \2}", line)
