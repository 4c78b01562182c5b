"""Commands about the thread in focus, the warps and CTAs, the texts, and the operations in flight."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import counted
from warploom.emulator.waiting import in_flight
from warploom.observe.debug.warps import WarpPosition, describe_lanes, describe_numbers
from warploom.runtime.debugging.focus import Coordinates, Focus, place_of, warp_of
from warploom.view.debugger.command import Argument, Option, command, read_integer
from warploom.view.debugger.context import Context
from warploom.view.debugger.printing import instruction, shared_name
from warploom.view.debugger.results import Lines, Message, Result, Table
from warploom.view.debugger.wording import line_of, shortened

if TYPE_CHECKING:
    from warploom.diagnostics import SourceLine
    from warploom.emulator.grid import Placement

WHERE = "line, FILE:LINE, label, function or `kind KIND`"
_NAMED = 8  # CTAs of a row


def read_cta(text: str) -> Coordinates:
    """Return the coordinates that a text such as "1,2" or "(1, 2, 0)" denotes. Errors: ValueError."""
    found = re.fullmatch(r"\(?\s*(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?\s*\)?", text)
    if found is None:
        raise ValueError("expected coordinates such as 1,2")
    x, y, z = (int(each or 0) for each in found.groups())
    return x, y, z


CTA = Option("cta", ("cta", "block"), "coordinates X,Y,Z of a CTA; missing ones are 0", "X,Y,Z", read_cta)


@command(
    "select", "sel", "cuda", "thread", group="warps",
    args=(
        CTA,
        Option("warp", ("warp",), "number of a warp in the CTA", "N", read_integer),
        Option("lane", ("lane",), "lane of the warp, 0 to 31", "N", read_integer),
    ),
    example="select cta 0,0 warp 0 lane 1",
)  # fmt: skip
def select(context: Context, *, cta: Coordinates | None, warp: int | None, lane: int | None) -> Result:
    """Select the thread to which steps and printed values belong."""
    context.session.select(cta, warp, lane)
    return focus(context)


@command("focus", group="warps", example="focus")
def focus(context: Context) -> Result:
    """Print the thread in focus and its next instruction."""
    thread, program = context.thread, context.program
    place = place_of(context.emulator, thread.warp, thread.lane)
    name = f"{context.emulator.state.placement.describe_warp(thread.warp)}, lane {thread.lane}"
    chosen = context.session.focus
    facts = {"cta": chosen.cta, "warp": chosen.warp, "lane": chosen.lane, "pc": -1 if place is None else place.pc}
    if place is None:
        return Message(f"{name}: has left the kernel", facts)
    line = f"> {program.line_of(place.pc)}  {line_of(program, place.pc)}"
    return Message(f"{name}: {program.place_of(place.pc)}\n{line}", facts)


@command("where", "bt", "w", "backtrace", "info stack", group="warps", example="where")
def where(context: Context) -> Result:
    """Print the next instruction of the thread in focus and its open calls, the innermost first.

    Functions that a compiler inlined are listed, too.
    """
    program, thread = context.program, context.thread
    place = place_of(context.emulator, thread.warp, thread.lane)
    pcs = [context.pc, *reversed(place.calls if place is not None else ())]
    rows: list[tuple[str, str, str, str]] = []
    for number, pc in enumerate(pcs):
        chain = list(source.chain()) if (source := program.source_line(pc)) is not None else []
        rows.append((f"#{number}", f"line {program.line_of(pc)}", program.steps[pc].function, line_of(program, pc)))
        rows += [("", str(each), each.function, "source" if each is chain[0] else "inlined here") for each in chain]
    return Table(("frame", "line", "function", "text"), tuple(rows))


# Texts ------------------------------------------------------------------------------------------------------------


@command(
    "list", "l", "disassemble", group="warps",
    args=(Argument("where", WHERE, is_required=False, takes_rest=True),), example="list",
)  # fmt: skip
def list_(context: Context, where: str | None) -> Result:
    """Print the PTX text around an instruction, by default the next one.

    Lines at which other warps of the CTA in focus are have a remark.
    """
    program, source = context.program, context.program.source
    if source is None:
        raise UsageError("the kernel has no PTX text", code="debug.text", hint="debug `str(module)`")
    pc = instruction(context, where)
    numbers = range(source.first_line, source.first_line + source.line_count)
    lines = [(number, shortened(source.line_text(number))) for number in _around(context, program.line_of(pc), numbers)]
    return Lines(source.name, tuple(lines), program.line_of(pc), _remarks(context, program.line_of))


@command(
    "source", group="warps",
    args=(Argument("where", WHERE, is_required=False, takes_rest=True),), example="source",
)  # fmt: skip
def source(context: Context, where: str | None) -> Result:
    """Print the source text from which an instruction was compiled, by default the next one."""
    program, pc = context.program, instruction(context, where)
    found = program.source_line(pc)
    if found is None:
        raise UsageError(
            f"line {program.line_of(pc)} has no source line", code="debug.text", hint="`list` prints the PTX text"
        )

    def line_in_file(at: int) -> int:
        line = program.source_line(at)
        return line.line if line is not None and line.file == found.file else 0

    texts = _read(found, "" if program.source is None else program.source.name)
    numbers = _around(context, found.line, range(1, len(texts) + 1))
    return Lines(found.file, tuple((n, texts[n - 1]) for n in numbers), found.line, _remarks(context, line_in_file))


def _read(found: SourceLine, ptx: str) -> list[str]:
    """Return the lines of a source file, which may also be in the folder of the PTX file.

    Errors: UsageError.
    """
    for path in (Path(found.file), Path(ptx).parent / Path(found.file).name):
        try:
            return path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
    raise UsageError(f"the source file {found.file} cannot be read", code="debug.text")


def _around(context: Context, line: int, numbers: range) -> range:
    """Return the numbers of the lines before and after a line that the settings select."""
    margin = context.settings.lines
    return range(max(line - margin, numbers.start), min(line + margin + 1, numbers.stop))


def _remarks(context: Context, line_of: Callable[[int], int]) -> dict[int, str]:
    """Return the other warps of the CTA in focus by the line of their next instruction."""
    thread = context.thread
    found: dict[int, list[int]] = {}
    for each in context.warps.positions(int(context.emulator.topology.cta_of[thread.warp])):
        if each.warp != thread.warp or thread.lane not in each.lanes:
            found.setdefault(line_of(each.pc), []).append(each.number)
    return {line: describe_numbers("warp", sorted({*numbers})) for line, numbers in found.items()}


# Warps ------------------------------------------------------------------------------------------------------------


@command(
    "warps", "info warps", "info threads", "info cuda warps", group="warps",
    args=(CTA, Option("all", ("all",), "show the warps of all resident CTAs")), example="warps cta 0,0",
)  # fmt: skip
def warps(context: Context, *, cta: Coordinates | None, all: bool) -> Result:
    """Print the location of each warp of a CTA, and the event that it waits for.

    The lanes of a warp that has diverged are in several rows.
    """
    emulator, program = context.emulator, context.program
    topology, placement = emulator.topology, emulator.state.placement
    count = len(placement.coordinates)
    chosen = range(count) if all else (_resident(context, cta),)
    rows: list[tuple[str, ...]] = []
    for resident in chosen:
        positions = context.warps.positions(resident)
        if not positions:
            rows.append((placement.describe_cta(resident), "all warps", "", "", "left the kernel"))
        for group in _groups(positions):
            first, numbers = group[0], [each.number for each in group]
            rows.append((
                placement.describe_cta(resident), describe_numbers("warp", numbers), describe_lanes(first.lanes),
                program.place_of(first.pc), _state(context, first),
            ))  # fmt: skip
        gone = sorted({*range(topology.warps_per_cta)} - {each.number for each in positions})
        if gone and positions:
            rows.append((placement.describe_cta(resident), describe_numbers("warp", gone), "", "", "left the kernel"))
    columns = ("cta", "warps", "lanes", "location", "state")
    if all:
        return Table(columns, tuple(rows))
    return Table(columns[1:], tuple(row[1:] for row in rows), placement.describe_cta(chosen[0]))


def _resident(context: Context, cta: Coordinates | None) -> int:
    """Return the index of a resident CTA, by default of the CTA in focus. Errors: UsageError debug.focus."""
    if cta is None:
        return int(context.emulator.topology.cta_of[context.thread.warp])
    found = warp_of(context.emulator, Focus(cta, 0))
    if found is None:
        raise UsageError(f"CTA {cta} is not resident", code="debug.focus", hint="`ctas` lists the resident CTAs")
    return int(context.emulator.topology.cta_of[found])


def _groups(positions: Sequence[WarpPosition]) -> list[list[WarpPosition]]:
    """Return the positions of warps with the same lanes, instruction and state in one group."""
    found: dict[object, list[WarpPosition]] = {}
    for each in positions:
        found.setdefault((each.pc, each.lanes, each.awaited, each.is_next), []).append(each)
    return [*found.values()]


def _state(context: Context, position: WarpPosition) -> str:
    awaited = position.awaited
    if awaited is None:
        return "stopped here" if position.is_next else "can run"
    state = dict(awaited.state)
    name = shared_name(context, state["offset"]) if awaited.kind == "mbarrier" else ""
    return f"waits for {f'mbarrier {name}' if name else awaited.name}{awaited.rest}"


@command("ctas", "info ctas", "info cuda blocks", "info cuda kernels", group="warps", example="ctas")
def ctas(context: Context) -> Result:
    """Print the resident CTAs, with the locations of their warps."""
    emulator, program = context.emulator, context.program
    placement = emulator.state.placement
    found: dict[str, list[int]] = {}
    for cta in range(len(placement.coordinates)):
        lines = sorted({program.line_of(each.pc) for each in context.warps.positions(cta)})
        where = describe_numbers("line", lines) if lines else "left the kernel"
        found.setdefault(where, []).append(cta)
    rows = [(counted(len(held), "CTA"), _named(placement, held), where) for where, held in found.items()]
    title = f"wave {context.session.waves.number + 1} of {len(context.session.waves.waves.numbers)}"
    return Table(("count", "ctas", "location"), tuple(rows), title)


def _named(placement: Placement, held: Sequence[int]) -> str:
    """Return the names of CTAs, the first ones only if there are many."""
    names = [str(tuple(placement.coordinates[cta].tolist())) for cta in held[:_NAMED]]
    return ", ".join(names) + (", …" if len(held) > _NAMED else "")


@command(
    "async", "info async", group="warps",
    args=(CTA, Option("all", ("all",), "show the operations of all resident CTAs")), example="async all",
)  # fmt: skip
def async_(context: Context, *, cta: Coordinates | None, all: bool) -> Result:
    """Print the asynchronous operations of a CTA that have been issued and have not taken effect."""
    emulator, program = context.emulator, context.program
    topology, placement = emulator.topology, emulator.state.placement
    chosen = range(topology.ctas) if all else (_resident(context, cta),)
    rows: list[tuple[str, ...]] = []
    for each in in_flight(emulator.asynchronous):
        held = sorted({int(topology.cta_of[warp]) for warp in each.warps})
        if not {*held} & {*chosen}:
            continue
        numbers = sorted({int(topology.warp_in_cta[warp]) for warp in each.warps})
        issuer = f"{describe_numbers('warp', numbers)}{f', lane {each.lane}' if each.lane >= 0 else ''}"
        where = placement.describe_cta(held[0]) if len(held) == 1 else counted(len(held), "CTA")
        group = "" if each.group < 0 else f"group {each.group}{'' if each.is_committed else ' (open)'}"
        name = "" if each.mbarrier < 0 else f"mbarrier {shared_name(context, each.mbarrier)}"
        size = f"{each.bytes:,} bytes" if each.bytes else ""
        rows.append((each.kind, program.place_of(each.pc), where, issuer, group, size, name))
    hint = "; under eager, operations take effect at once, and `--schedule lazy` delays them"
    empty = f"no operation is in flight{hint if emulator.schedule.kind == 'eager' else ''}"
    return Table(("kind", "location", "cta", "issuer", "group", "size", "mbarrier"), tuple(rows), empty=empty)
