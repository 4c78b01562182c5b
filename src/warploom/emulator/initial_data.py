"""Initial contents of global memory: the kernel parameters and the initialised variables."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

import numpy as np

from warploom.emulator.address_space import CODE_BASE, GLOBAL_BASE
from warploom.emulator.arena import Arena
from warploom.emulator.faults import Unsupported, diagnostic
from warploom.emulator.program import GlobalVariable, Program
from warploom.isa.model.types import TYPES
from warploom.ptx import Float, Initializer, Integer, Name, Symbol


def initialise(program: Program, arena: Arena, segments: Mapping[str, int], parameters: bytes) -> None:
    """Write the parameter block and the initial values of the module's variables to the arena.

    Errors: Unsupported for an initialiser that is not implemented.
    """
    _write(arena, segments[""], parameters)
    for variable in program.globals:
        if variable.declaration.initializer is not None:
            _write(arena, segments[variable.name], _image(program, variable, segments))


def _write(arena: Arena, address: int, data: bytes) -> None:
    first = address - GLOBAL_BASE
    arena.bytes[first : first + len(data)] = np.frombuffer(data, np.uint8)


def _image(program: Program, variable: GlobalVariable, segments: Mapping[str, int]) -> bytes:
    declaration = variable.declaration
    size = TYPES[declaration.type].bytes
    out = bytearray(variable.size)
    assert declaration.initializer is not None
    # ptxas ignores inner braces: it does not fill a short row with zeros before the next row.
    for index, item in enumerate(_leaves(declaration.initializer)):
        value = _value(program, variable, item, segments)
        out[index * size : (index + 1) * size] = _encode(value, declaration.type)
    return bytes(out)


def _leaves(initializer: Initializer) -> Iterator[Initializer]:
    if not isinstance(initializer, tuple):
        yield initializer
        return
    for item in initializer:
        yield from _leaves(item)


def _value(program: Program, variable: GlobalVariable, item: Initializer, segments: Mapping[str, int]) -> int | float:
    match item:
        case Integer(value):
            return value
        case Float():
            return item.value
        case Name(text) if text in segments:
            return segments[text]
        case Name(text) if text in program.functions:
            return CODE_BASE + program.functions[text].entry
        case Symbol(name, offset, _, None, "") if name in segments:
            return segments[name] + offset
        case _:
            message = f"the initialiser of '{variable.name}' contains {item}, which is not implemented"
            found = diagnostic("emulator.initialiser", message, program.source, variable.declaration.span)
            raise Unsupported([found])


def _encode(value: int | float, type: str) -> bytes:
    kind = TYPES[type]
    if kind.dtype.kind == "f":
        return struct.pack("<f" if kind.dtype.itemsize == 4 else "<d", value)
    return (int(value) % 2 ** (8 * kind.bytes)).to_bytes(kind.bytes, "little")
