"""Emulators that a program keeps for later launches."""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

from warploom.emulator.arena import Arena
from warploom.emulator.emulator import Emulator
from warploom.emulator.executable import Executable, engine_name, key_of, link
from warploom.emulator.program import Program
from warploom.emulator.request import Request
from warploom.emulator.state import Counters
from warploom.emulator.times import Times

_MOST_KEPT = 32 << 20
"""Maximum total size of the registers and memories that a program keeps. Units: bytes.

A launch that needs more is linked each time. Linking is a small part of its time.
"""


class _Kept(NamedTuple):
    """Linked program, with the emulator that has executed it last.

    `emulator` is None if its components belong to one launch. Units: `size` in bytes.
    """

    executable: Executable
    emulator: Emulator | None
    size: int


def acquire(request: Request, arena: Arena, segments: dict[str, int], times: Times) -> Emulator:
    """Return an emulator for a launch on the memory `arena`.

    The emulator is one that an earlier launch has released, or a new one. No other launch uses the emulator until
    `release`. `segments` is the result of `execute.reserve`. `times` gets the time to link a new program.

    Errors: Unsupported; UsageError launch.engine.
    """
    engine = engine_name()
    found = _take(request.program, key_of(request, segments, engine))
    executable = link(request, segments, engine, times) if found is None else found.executable
    executable.state.counters = Counters()
    if executable.native is not None:
        executable.native.times = times
    if found is None or found.emulator is None or not found.emulator.fits(request):
        return Emulator(request, executable, arena, segments)
    found.emulator.begin_launch(request, arena)
    return found.emulator


def release(emulator: Emulator) -> None:
    """Keep an emulator, or at least its linked program, for later launches."""
    executable, memory = emulator.executable, emulator.memory
    emulator.end_launch()
    size = sum(array.nbytes for array in (*executable.state.files.values(), memory.shared.bytes, memory.local))
    with _access:
        kept = _kept(emulator.program)
        kept.append(_Kept(executable, emulator if emulator.is_reusable else None, size))
        while sum(each.size for each in kept) > _MOST_KEPT:
            del kept[0]


_access = Lock()  # several threads may take and keep emulators


def _take(program: Program, key: tuple[Any, ...]) -> _Kept | None:
    """Remove the entry with a key from the list of a program, and return it, or None if there is none."""
    with _access:
        kept = _kept(program)
        found = next((each for each in kept if each.executable.key == key), None)
        if found is not None:
            kept.remove(found)
        return found


def _kept(program: Program) -> list[_Kept]:
    """Return the list of the linked programs that a program keeps, with the latest at the end."""
    return program.analyses.setdefault(_Kept, [])
