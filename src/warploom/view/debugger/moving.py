"""Commands that move by steps, forward and backward."""

from __future__ import annotations

from warploom.runtime.debugging.session import UNITS
from warploom.view.debugger.command import Argument, command, is_integer, read_integer
from warploom.view.debugger.context import Context
from warploom.view.debugger.places import WHERE
from warploom.view.debugger.results import Result
from warploom.view.debugger.running import COUNT
from warploom.view.debugger.stopped import stopped

UNIT = Argument(
    "unit", "instruction (the default), line, or barrier for the next barrier or wait", is_required=False,
    accepts=UNITS.__contains__, words=UNITS,
)  # fmt: skip


@command("step", "s", "stepi", "si", group="running", args=(COUNT, UNIT), example="step", is_step=True)
def step(context: Context, count: int | None, unit: str | None) -> Result:
    """Run until the thread in focus comes to its next instruction, line or barrier.

    A step enters functions. Other warps run as the order of the launch requires.
    """
    return stopped(context, context.session.step(unit or UNITS[0], count or 1))


@command("next", "n", "nexti", "ni", group="running", args=(COUNT, UNIT), example="next line", is_step=True)
def next_(context: Context, count: int | None, unit: str | None) -> Result:
    """Step without stops in the functions that the thread calls."""
    return stopped(context, context.session.next(unit or UNITS[0], count or 1))


@command("finish", "fin", "return", group="running", example="finish", is_step=True)
def finish(context: Context) -> Result:
    """Run until the thread in focus returns from its function."""
    return stopped(context, context.session.finish())


@command(
    "reverse-step",
    "rs",
    "reverse-stepi",
    "rsi",
    group="running",
    args=(COUNT, UNIT),
    example="reverse-step",
    is_step=True,
)
def reverse_step(context: Context, count: int | None, unit: str | None) -> Result:
    """Go back to the previous instruction, line or barrier of the thread in focus.

    Breakpoints do not stop this movement.
    """
    return stopped(context, context.session.reverse_step(unit or UNITS[0], count or 1))


@command(
    "reverse-next",
    "rn",
    "reverse-nexti",
    "rni",
    group="running",
    args=(COUNT, UNIT),
    example="reverse-next line",
    is_step=True,
)
def reverse_next(context: Context, count: int | None, unit: str | None) -> Result:
    """Step back without stops in the functions that the thread has called."""
    return stopped(context, context.session.reverse_next(unit or UNITS[0], count or 1))


@command("reverse-continue", "rc", group="running", args=(COUNT,), example="reverse-continue", is_step=True)
def reverse_continue(context: Context, count: int | None) -> Result:
    """Go back to the last stop of a breakpoint or a watch, or to the start of the launch."""
    return stopped(context, context.session.reverse_resume(count or 1))


@command(
    "goto", group="running",
    args=(Argument("where", "number of an instruction, start or end", words=("start", "end")),), example="goto start",
)  # fmt: skip
def goto(context: Context, where: str) -> Result:
    """Go forward or back to the instruction with a number, or to the start or the end.

    If no instruction has the number, go to the next one. Breakpoints and watches do not stop this movement.
    """
    return stopped(context, context.session.goto(read_integer(where) if is_integer(where) else where))


@command("run", "r", group="running", example="run")
def run(context: Context) -> Result:
    """Run from the start of the launch until a breakpoint or a watch stops it, or to its end."""
    context.session.goto("start")
    return stopped(context, context.session.resume())


@command("restart", group="running", example="restart")
def restart(context: Context) -> Result:
    """Go back to the start of the launch. Breakpoints and watches stay."""
    return stopped(context, context.session.goto("start"))


@command(
    "until", "u", "advance", group="running", args=(Argument("where", WHERE, takes_rest=True),),
    example="until kind multiply",
)  # fmt: skip
def until(context: Context, where: str) -> Result:
    """Run until the thread in focus comes to a location."""
    return stopped(context, context.session.until(where))
