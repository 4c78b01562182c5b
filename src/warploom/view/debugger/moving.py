"""Commands that move by steps, forward and backward."""

from __future__ import annotations

from warploom.runtime.debugging.session import UNITS
from warploom.view.debugger.command import Argument, command
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
    "until", "u", "advance", group="running", args=(Argument("where", WHERE, takes_rest=True),),
    example="until kind multiply",
)  # fmt: skip
def until(context: Context, where: str) -> Result:
    """Run until the thread in focus comes to a location."""
    return stopped(context, context.session.until(where))
