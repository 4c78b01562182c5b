"""Commands about breakpoints and watches."""

from __future__ import annotations

import re

from warploom.diagnostics.wording import counted, list_ranges
from warploom.runtime.debugging.breakpoints import Breakpoint
from warploom.runtime.debugging.focus import Coordinates, Filter
from warploom.view.debugger.command import Argument, Option, command, read_integer
from warploom.view.debugger.context import Context, Watched
from warploom.view.debugger.places import WHERE, read_cta
from warploom.view.debugger.printing import watched_value
from warploom.view.debugger.results import Message, Result, Table
from warploom.view.debugger.wording import line_of

_PART = re.compile(r"(cta|block|warp|lane)s?\s+((?:\([^)]*\)|[\d,-]+)(?:\s+(?:\([^)]*\)|[\d,-]+))*)\s*")


def read_filter(text: str) -> Filter:
    """Return the filter that a text such as "cta 0,1 warp 4-7 lane 0" describes. Errors: ValueError."""
    ctas: list[Coordinates] = []
    numbers: dict[str, list[int]] = {"warp": [], "lane": []}
    position = 0
    while position < len(text):
        found = _PART.match(text, position)
        if found is None:
            raise ValueError("expected parts such as cta 0,1, warp 4-7 and lane 0")
        position = found.end()
        for word in re.findall(r"\([^)]*\)|[\d,-]+", found[2]):
            if found[1] in ("cta", "block"):
                ctas.append(read_cta(word))
            else:
                numbers[found[1]] += _numbers(word)
    return Filter(tuple(ctas), tuple(numbers["warp"]), tuple(numbers["lane"]))


def _numbers(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


WITHIN = Option("within", ("in",), "CTAs, warps and lanes, such as cta 0,1 warp 4-7 lane 0", "THREADS", read_filter)
CONDITION = Option(
    "condition", ("if",), "condition on registers, such as %r5 == 3 and lane < 7", "CONDITION", str, takes_line=True
)
WATCHED = "ARRAY[INDEX], register, variable, `mbarrier NAME`, SPACE ADDRESS or `tensor LANE:COLUMN`"
NUMBER = Argument("number", "number of a breakpoint", read_integer)
NUMBERS = Argument("numbers", "numbers of breakpoints or watches; the default is all", read_integer, repeats=True)


@command(
    "break", "b", "breakpoint", group="breakpoints",
    args=(
        Argument("where", f"{WHERE}; `finding [CODE]`, #NUMBER of a finding, or trap", takes_rest=True), WITHIN,
        CONDITION,
    ),
    example="break kind multiply in cta 0,0 if lane == 0",
)  # fmt: skip
def break_(context: Context, where: str, *, within: Filter | None, condition: str | None) -> Result:
    """Stop before the instructions at a location.

    A kind is load, store, copy, multiply, barrier, wait, arrive, fence or exit, or the first words of an opcode. A
    breakpoint is hit once for each batch of warps that execute the instruction together. A trap or a deadlock stops the
    launch without a breakpoint. The first use of a finding runs the launch under the sanitizer. A finding stops the
    launch before the instruction that completes it; for an asynchronous operation, this may be a later instruction.
    """
    if where in ("trap", "deadlock"):
        return Message("A trap or a deadlock always stops the launch.")
    return _added(context, where, within, condition, is_temporary=False)


@command(
    "tbreak", "tb", group="breakpoints", args=(Argument("where", WHERE, takes_rest=True), WITHIN, CONDITION),
    example="tbreak kind exit",
)  # fmt: skip
def tbreak(context: Context, where: str, *, within: Filter | None, condition: str | None) -> Result:
    """Stop once before the instructions at a location."""
    return _added(context, where, within, condition, is_temporary=True)


def _added(
    context: Context, where: str, within: Filter | None, condition: str | None, *, is_temporary: bool
) -> Result:  # fmt: skip
    found = context.session.break_at(
        where, within=within, condition=condition or "", temporary=is_temporary
    )  # fmt: skip
    kind = "Temporary breakpoint" if is_temporary else "Breakpoint"
    facts = {"number": found.number, "lines": _lines(context, found), "instructions": len(found.pcs)}
    return Message(f"{kind} {found.number} at {_places(context, found)}", facts)


def _lines(context: Context, found: Breakpoint) -> list[int]:
    return sorted({context.program.line_of(pc) for pc in found.pcs})


def _places(context: Context, found: Breakpoint) -> str:
    """Return the lines of a breakpoint, with the text of the line if there is one only."""
    pcs = sorted(found.pcs)
    if len(pcs) == 1:
        return f"{context.program.place_of(pcs[0])}: {line_of(context.program, pcs[0])}"
    lines = _lines(context, found)
    return f"line{'' if len(lines) == 1 else 's'} {list_ranges(lines)} ({counted(len(pcs), 'instruction')})"


@command("breakpoints", "info breakpoints", "info break", "info b", group="breakpoints", example="breakpoints")
def breakpoints(context: Context) -> Result:
    """Print the breakpoints with their hits, and the watches. A hit is a batch of warps."""
    rows: list[tuple[str, ...]] = []
    for each in context.session.breakpoints:
        stop = context.session.stop
        hits = 0 if stop is None else each.count(stop.moment)
        states = ("temporary" if each.temporary else "", "" if each.enabled else "disabled")
        test = "" if each.condition is None else f"if {each.condition.text}"
        rows.append((
            str(each.number), each.where, _places(context, each), _filter_text(each.within), test,
            counted(hits, "hit"), " ".join(filter(None, states)),
        ))  # fmt: skip
    for watch in context.session.watches:
        name, state = context.watched[watch.number].name, "" if watch.enabled else "disabled"
        rows.append((str(watch.number), f"watch {name}", "", "", "", "", state))
    columns = ("number", "where", "location", "within", "condition", "hits", "state")
    rows.sort(key=lambda row: int(row[0]))
    return Table(columns, tuple(rows), empty="there is no breakpoint and no watch")


@command("findings", "info findings", group="breakpoints", example="findings")
def findings(context: Context) -> Result:
    """Print the findings of the sanitizer in the whole launch, with their moments.

    The first use runs the launch under the sanitizer. `break #NUMBER` stops at a finding.
    """
    rows: list[tuple[str, ...]] = []
    for number, each in enumerate(context.session.findings, 1):
        assert each.moment is not None
        _, batch, pc = each.moment
        place = context.program.place_of(pc)
        rows.append((f"#{number}", each.code.removeprefix("sanitize."), place, f"batch {batch:,}", each.message))
    return Table(("number", "rule", "place", "moment", "message"), tuple(rows), empty="the sanitizer finds nothing")


def _filter_text(within: Filter) -> str:
    ctas = [f"cta {','.join(map(str, cta))}" for cta in within.ctas]
    parts = [("warp", within.warps), ("lane", within.lanes)]
    numbers = [f"{noun} {list_ranges(held).replace(' to ', '-')}" for noun, held in parts if held]
    return " ".join([*ctas, *numbers])


@command("delete", "d", "clear", "cl", group="breakpoints", args=(NUMBERS,), example="delete 1")
def delete(context: Context, numbers: tuple[int, ...]) -> Result:
    """Delete breakpoints or watches."""
    for number in numbers or (None,):
        context.session.delete(number)
    return breakpoints(context)


@command("disable", group="breakpoints", args=(NUMBERS,), example="disable 1")
def disable(context: Context, numbers: tuple[int, ...]) -> Result:
    """Disable breakpoints or watches."""
    for number in numbers or (None,):
        context.session.disable(number)
    return breakpoints(context)


@command("enable", group="breakpoints", args=(NUMBERS,), example="enable 1")
def enable(context: Context, numbers: tuple[int, ...]) -> Result:
    """Enable breakpoints or watches."""
    for number in numbers or (None,):
        context.session.enable(number)
    return breakpoints(context)


@command(
    "ignore", group="breakpoints", args=(NUMBER, Argument("count", "number of hits", read_integer)),
    example="ignore 1 2",
)  # fmt: skip
def ignore(context: Context, number: int, count: int) -> Result:
    """Ignore the next hits of a breakpoint."""
    context.session.ignore(number, count)
    return Message(f"Breakpoint {number} ignores its next {counted(count, 'hit')}.", {"number": number, "count": count})


@command(
    "watch", "awatch", group="breakpoints",
    args=(
        Argument("what", WATCHED, takes_rest=True),
        Option("size", ("size",), "bytes; the default is the size of the value, or 4", "N", read_integer),
    ),
    example="watch c[0, 0]",
)  # fmt: skip
def watch(context: Context, what: str, *, size: int | None) -> Result:
    """Stop after an instruction or an asynchronous operation that changes a value.

    The memory or the register is that of the thread in focus. A write of an equal value is no change.
    """
    space, where, default, text = watched_value(context, what)
    found = context.session.watch(space, where, size or default)
    context.watched[found.number] = Watched(what, text if size in (None, default) else bytes.hex)
    return Message(f"Watch {found.number} of {what}", {"number": found.number, "space": space, "size": size or default})
