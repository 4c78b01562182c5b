"""Execution of a whole grid in waves of resident CTAs."""

import struct
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from warploom.diagnostics import Diagnostic
from warploom.diagnostics.symbols import readable_name
from warploom.emulator.address_space import CODE_BASE, GLOBAL_BASE
from warploom.emulator.arena import Arena
from warploom.emulator.emulator import Emulator
from warploom.emulator.executable import acquire, release
from warploom.emulator.faults import RunError, Unsupported, diagnostic
from warploom.emulator.program import GlobalVariable, Program
from warploom.emulator.request import Request
from warploom.emulator.stats import Progress, Stats
from warploom.emulator.waves import inter_cta_communication
from warploom.isa.model.parameters import block_bytes
from warploom.isa.model.types import TYPES
from warploom.ptx import Float, Initializer, Integer, Name, Symbol

# Initial contents of global memory -----------------------------------------------------------------------


def reserve(program: Program, arena: Arena) -> dict[str, int]:
    """Reserve memory for the kernel's parameter block and the module's variables.

    Return the address of each variable by name. The parameter block has the name "".
    """
    size = block_bytes(program.parameters)
    found = {"": arena.reserve("the kernel's parameters", size or 1, writable=False, kind="param").start}
    for variable in program.globals:
        label = f"the {variable.space} variable {readable_name(variable.name)}"
        segment = arena.reserve(label, variable.size, writable=variable.space == "global", kind=variable.space)
        found[variable.name] = segment.start
    return found


def initialise(program: Program, arena: Arena, segments: Mapping[str, int], parameters: bytes) -> None:
    """Write the parameter block and the initial values of the module's variables to memory.

    `segments` is the result of `reserve`. `parameters` contains the bytes of the parameter block.

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


# Execution -----------------------------------------------------------------------------------------------


def execute(
    request: Request, arena: Arena, segments: dict[str, int], progress: Callable[[Progress], None] | None = None
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run a grid on the memory `arena`. Return statistics, and the findings of the observers.

    `segments` is the result of `reserve`. `progress` is called at intervals.

    Errors: Unsupported before the run; RunError, with the statistics and the findings up to this point. A
        KeyboardInterrupt gets a note with the location of the kernel.
    """
    started = time.perf_counter()
    program = request.program
    initialise(program, arena, segments, request.parameters)
    executable = acquire(request, segments)
    waves = request.waves or executable.waves
    emulator = Emulator(request, executable, arena, segments)
    counters, total, done = emulator.state.counters, waves.ctas, 0
    delays = request.schedule.kind == "lazy" and any(program.analysis(inter_cta_communication))
    ended: RunError | None = None

    def report() -> None:
        if progress is not None:
            emulator.update_counters()
            seconds = time.perf_counter() - started
            finished = done + emulator.ctas_done
            progress(Progress(finished, total, counters.macs, counters.instructions, seconds))

    for number in waves.numbers:
        emulator.start(number)
        if delays:
            emulator.delay_first_clusters()
        try:
            report()
            emulator.run(report)
        except RunError as error:
            emulator.events.stopped(error.diagnostics, emulator.state.pc)
            ended = error
            break
        except KeyboardInterrupt as stop:
            stop.add_note(f"the run stopped in {emulator.locate()}")
            raise
        done += emulator.ctas_done
        emulator.ctas_done = 0
    report()
    emulator.update_counters()
    families, seconds = dict(counters.by_family.most_common()), time.perf_counter() - started
    stats = Stats(families, counters.macs, seconds, done + emulator.ctas_done, counters.batches, counters.spent)
    findings = emulator.events.findings()
    release(program, executable)
    if ended is not None:
        ended.stats, ended.findings = stats, findings
        raise ended
    return stats, findings
