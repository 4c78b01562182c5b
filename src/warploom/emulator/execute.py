"""Execution of a whole grid in waves of resident CTAs."""

import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from warploom.diagnostics import Diagnostic
from warploom.diagnostics.symbols import readable_name
from warploom.emulator.address_space import CODE_BASE, GLOBAL_BASE
from warploom.emulator.arena import Arena
from warploom.emulator.blocks import names_in
from warploom.emulator.emulator import Emulator, Request, Waves
from warploom.emulator.executable import acquire, analysis, release
from warploom.emulator.faults import RunError, Unsupported, diagnostic
from warploom.emulator.grid import Grid
from warploom.emulator.program import GlobalVariable, Program, Step
from warploom.emulator.stats import Progress, Stats
from warploom.isa.model.effects import Access
from warploom.isa.model.types import TYPES
from warploom.ptx import Float, Initializer, Integer, Name, Symbol

RESIDENT_WARPS = 1024
LEAST_WARPS = 512  # least resident warps of a wave if a grid is divided only to occupy two workers
REGISTER_BYTES = 1 << 30
SHARED_BYTES = 1 << 30
_WITHIN_CLUSTER = frozenset({"shared", "shared::cta", "shared::cluster", "local"})


def waves(program: Program, grid: Grid) -> Waves:
    """Divide a launch into waves. A wave consists of whole clusters that can be resident together."""
    warps = -(-grid.threads // 32)
    per_cta = max(1, warps * (program.registers.bytes_per_warp() + 32 * program.local_bytes))
    size = grid.cluster_size
    clusters = grid.ctas // size
    waits = any(analysis(program, inter_cta_communication))
    # CTAs that may wait for each other need large waves. Others form an even number of waves, for two workers.
    most = RESIDENT_WARPS if waits else min(RESIDENT_WARPS, max(LEAST_WARPS, -(-grid.ctas * warps // 2)))
    fits = min(most // warps, REGISTER_BYTES // per_cta, SHARED_BYTES // max(1, grid.total_shared))
    each = min(max(fits // size, 1), clusters)
    count = -(-clusters // each)
    if not waits and count > 1:
        each = -(-clusters // (count + count % 2))
        count = -(-clusters // each)
    return Waves(each * size, grid, range(count))


# Communication between CTAs ------------------------------------------------------------------------------


def inter_cta_communication(program: Program) -> list[bool]:
    """Return, for each instruction, True if it may load a value that a CTA of another cluster wrote.

    Such instructions are ordered and volatile loads, and atomics whose result another instruction uses.
    """
    found = [_communicates(step) for step in program.steps]
    if not any(access is not None for access in found):
        return [False] * len(found)
    named = Counter(name for step in program.steps for name in names_in(*step.instruction.operands))
    named.update(guard.name for step in program.steps if (guard := step.instruction.guard))

    def is_used(step: Step, access: Access) -> bool:
        return any(named[name] > 1 for name in names_in(step.binding.operands[access.value].operand) if name != "_")

    return [
        access is not None and (access.kind != "update" or is_used(step, access))
        for step, access in zip(program.steps, found, strict=True)
    ]


def _communicates(step: Step) -> Access | None:
    form, slots = step.binding.form, step.binding.slots
    for access in form.effects_of(Access):
        loads = access.kind != "write" and access.value and form.operands[access.value].access != "read"
        space = form.operands[access.address].space_word(slots)
        if loads and access.is_ordered(slots) and space not in _WITHIN_CLUSTER:
            return access
    return None


# Initial contents of global memory -----------------------------------------------------------------------


def reserve(program: Program, arena: Arena) -> dict[str, int]:
    """Reserve memory for the kernel's parameter block and the module's variables.

    Return the address of each variable by name. The parameter block has the name "".
    """
    size = max((p.offset + p.size for p in program.parameters), default=1)
    found = {"": arena.reserve("the kernel's parameters", size, writable=False, kind="param").start}
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
    program, grid = request.program, request.shape()
    initialise(program, arena, segments, request.parameters)
    cut = waves(program, grid) if request.waves is None else request.waves
    executable = acquire(program, grid, cut.resident, request.arch, segments, request.schedule)
    emulator = Emulator(request, executable, arena, segments)
    counters, total, done = emulator.state.counters, cut.ctas, 0
    delays = request.schedule.kind == "lazy" and any(analysis(program, inter_cta_communication))
    ended: RunError | None = None

    def report() -> None:
        emulator.update_counters()
        if progress is not None:
            seconds = time.perf_counter() - started
            finished = done + emulator.ctas_done
            progress(Progress(finished, total, counters.macs, counters.instructions, seconds))

    for number in cut.numbers:
        ctas = cut.of(number)
        emulator.start(ctas, number)
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
        done += len(ctas)
        emulator.ctas_done = 0
    report()
    families, seconds = dict(counters.by_family.most_common()), time.perf_counter() - started
    stats = Stats(families, counters.macs, seconds, done + emulator.ctas_done, counters.batches, counters.spent)
    findings = emulator.events.findings()
    release(program, executable)
    if ended is not None:
        ended.stats, ended.findings = stats, findings
        raise ended
    return stats, findings
