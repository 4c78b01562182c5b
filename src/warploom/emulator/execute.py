"""Execution of a whole grid in waves of resident CTAs."""

import struct
from collections.abc import Callable, Iterator, Mapping

from warploom.diagnostics import Diagnostic, Source
from warploom.diagnostics.symbols import readable_name
from warploom.emulator.arena import Arena
from warploom.emulator.faults import RunError, Unsupported, diagnostic
from warploom.emulator.grid_dependencies import Steps, finish
from warploom.emulator.program import GlobalVariable, Program
from warploom.emulator.request import Request
from warploom.emulator.stats import Report, Stats
from warploom.emulator.threads import run_on_threads, thread_parts
from warploom.emulator.wave_run import WaveRun, start_waves
from warploom.isa.model.parameters import block_bytes
from warploom.isa.model.types import TYPES
from warploom.numerics._compiled import preparation_seconds
from warploom.ptx import Float, Initializer, Integer, Name, Symbol

WORKSPACE_BYTES = 8
"""Size of the workspace of a cooperative grid: its size and a barrier, each of 32 bits.

Source: cooperative_groups/details/driver_abi.h of CUDA 13.0.
"""

# Initial contents of global memory -----------------------------------------------------------------------


def reserve(program: Program, arena: Arena) -> dict[str, int]:
    """Reserve memory for the kernel's parameter block, the module's variables and the heap.

    Return the address of each variable by name. The parameter block has the name "".
    """
    size = block_bytes(program.parameters)
    found = {"": arena.reserve("the kernel's parameters", size or 1, writable=False, kind="param").start}
    for variable in program.globals:
        label = f"the {variable.space} variable {readable_name(variable.name)}"
        segment = arena.reserve(label, variable.size, writable=variable.space == "global", kind=variable.space)
        found[variable.name] = segment.start
    if program.uses_heap:
        arena.reserve_heap()
    return found


def reserve_workspace(arena: Arena, is_cooperative: bool) -> int:
    """Reserve the memory in which the CTAs of a cooperative grid synchronize. Return its address.

    Return 0 if the grid is not cooperative.
    """
    return arena.reserve("the grid's workspace", WORKSPACE_BYTES).start if is_cooperative else 0


def initialise(program: Program, arena: Arena, segments: Mapping[str, int], parameters: bytes) -> None:
    """Write the parameter block and the initial values of the module's variables to memory.

    `segments` is the result of `reserve`. `parameters` contains the bytes of the parameter block.

    Errors: Unsupported for an initialiser that is not implemented.
    """
    arena.write(segments[""], parameters)
    for variable in program.globals:
        if variable.declaration.initializer is not None:
            contents = initial_bytes(variable, segments, program.address_of, program.source)
            arena.write(segments[variable.name], contents)


def initial_bytes(
    variable: GlobalVariable, segments: Mapping[str, int], address_of: Callable[[str], int | None],
    source: Source | None,
) -> bytes:  # fmt: skip
    """Return the initial contents of a variable.

    `segments` has the addresses of the variables that the initializer mentions, by name. `address_of` returns the
    address of a function with a name, or None for an unknown name. `source` is the text of the module, for messages.

    Errors: Unsupported for an initialiser that is not implemented.
    """
    declaration = variable.declaration
    out = bytearray(variable.size)
    if declaration.initializer is None:
        return bytes(out)
    size = TYPES[declaration.type].bytes
    # ptxas ignores inner braces: it does not fill a short row with zeros before the next row.
    for index, item in enumerate(_leaves(declaration.initializer)):
        value = _value(variable, item, segments, address_of, source)
        out[index * size : (index + 1) * size] = _encode(value, declaration.type)
    return bytes(out)


def _leaves(initializer: Initializer) -> Iterator[Initializer]:
    if not isinstance(initializer, tuple):
        yield initializer
        return
    for item in initializer:
        yield from _leaves(item)


def _value(
    variable: GlobalVariable, item: Initializer, segments: Mapping[str, int],
    address_of: Callable[[str], int | None], source: Source | None,
) -> int | float:  # fmt: skip
    match item:
        case Integer(value):
            return value
        case Float():
            return item.value
        case Name(text) if text in segments:
            return segments[text]
        case Name(text) if (address := address_of(text)) is not None:
            return address
        case Symbol(name, offset, _, None, "") if name in segments:
            return segments[name] + offset
        case _:
            message = f"the initialiser of '{variable.name}' contains {item}, which is not implemented"
            found = diagnostic("emulator.initialiser", message, source, variable.declaration.span)
            raise Unsupported([found])


def _encode(value: int | float, type: str) -> bytes:
    kind = TYPES[type]
    if kind.dtype.kind == "f":
        return struct.pack("<f" if kind.dtype.itemsize == 4 else "<d", value)
    return (int(value) % 2 ** (8 * kind.bytes)).to_bytes(kind.bytes, "little")


# Execution -----------------------------------------------------------------------------------------------


def execute(
    request: Request, arena: Arena, segments: dict[str, int], progress: Report | None = None
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run a grid on the memory `arena`. Return statistics, and the findings of the observers.

    `segments` is the result of `reserve`, and `initialise` or a caller has written the initial contents of memory.
    `progress` is called at intervals.

    Errors: Unsupported before the run; RunError, with the statistics and the findings up to this point. A
        KeyboardInterrupt gets a note with the location of the kernel.
    """
    return finish(start(request, arena, segments, progress))


def start(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    progress: Report | None = None,
    publish: Callable[[WaveRun], None] | None = None,
) -> Steps[tuple[Stats, tuple[Diagnostic, ...]]]:
    """Run a grid as `execute` does, with pauses.

    It pauses if the request overlaps with others, and at stops of the emulator. `publish` is called before the first
    wave if one thread runs the grid.
    """
    parts = thread_parts(request)
    before = preparation_seconds()
    try:
        if len(parts) > 1:
            stats, findings = run_on_threads(parts, request.pool, arena, segments, progress)
        else:
            stats, findings = yield from start_waves(request, arena, segments, progress, publish)
    except RunError as end:
        end.stats.times.arithmetic = preparation_seconds() - before
        raise
    stats.times.arithmetic = preparation_seconds() - before
    return stats, findings
