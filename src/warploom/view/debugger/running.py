"""Commands that run the launch, and general commands."""

from __future__ import annotations

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import counted, did_you_mean
from warploom.view.debugger.command import Argument, Command, command, grouped, is_integer, names, read_integer
from warploom.view.debugger.context import Context
from warploom.view.debugger.results import End, Message, Result, Table
from warploom.view.debugger.stopped import stopped
from warploom.view.explain import explain as explain_subject

COUNT = Argument("count", "number of repetitions", read_integer, is_required=False, accepts=is_integer)


@command("continue", "c", "cont", "fg", group="running", args=(COUNT,), example="continue", is_step=True)
def continue_(context: Context, count: int | None) -> Result:
    """Run until a breakpoint or a watch stops the launch, or to its end.

    With a count, repeat this as many times.
    """
    return stopped(context, context.session.resume(count or 1))


@command("quit", "q", "exit", group="running", example="quit")
def quit_(context: Context) -> Result:
    """Leave the debugger without running the rest of the launch."""
    return End("")


@command("info", "i", group="help", example="info")
def info(context: Context) -> Result:
    """Print the kernel, the grid, the schedule and the present stop."""
    emulator, waves = context.emulator, context.session.waves
    grid = emulator.grid
    head = (
        f"{context.program.kernel.readable_name}: {counted(grid.ctas, 'CTA')} of {counted(grid.threads, 'thread')}, "
        f"{counted(len(waves.waves.numbers), 'wave')}, schedule {emulator.schedule}."
    )
    stop = context.session.stop
    where = "" if stop is None else f"\n{stopped(context, stop).text()}"
    return Message(f"{head}{where}", {
        "kernel": context.program.kernel.name, "grid": grid.grid, "block": grid.block, "cluster": grid.cluster,
        "schedule": str(emulator.schedule), "arrays": [*context.arrays],
    })  # fmt: skip


@command("output", group="help", example="output")
def output(context: Context) -> Result:
    """Print the text that the kernel has printed up to now."""
    text = context.emulator.services.output.text()
    return Message(text.rstrip("\n") or "the kernel has printed nothing", {"text": text})


@command(
    "explain", group="help",
    args=(Argument("subject", "rule code, instruction or concept", takes_rest=True),), example="explain swizzle",
)  # fmt: skip
def explain(context: Context, subject: str) -> Result:
    """Print the page about a rule, an instruction or a concept."""
    return Message(str(explain_subject(subject)).rstrip())


@command(
    "help", "h", "?", group="help",
    args=(Argument("name", "name of a command", is_required=False, takes_rest=True),), example="help break",
)  # fmt: skip
def help_(context: Context, name: str | None) -> Result:
    """Print all commands, or the description of one command."""
    if name is None:
        rows = [(each.name, ", ".join(each.aliases[:2]), each.summary) for _, held in grouped() for each in held]
        return Table(("command", "aliases", "summary"), tuple(rows), note="`help COMMAND` describes a command.")
    found = names().get(name)
    if found is None:
        raise UsageError(f"unknown command '{name}'", code="debug.command", hint=did_you_mean(name, names(), "'"))
    return Message(description(found), {"name": found.name, "usage": found.usage, "summary": found.summary})


def description(found: Command) -> str:
    """Return the help text of a command."""
    lines = [found.usage, "", found.description]
    details = [(", ".join(words), text) for words, text in found.details]
    widest = max((len(name) for name, _ in details), default=0)
    lines += ["", *(f"  {name:<{widest}}  {text}" for name, text in details)] if details else []
    lines += ["", f"example: {found.example}"]
    return "\n".join(lines + ([f"aliases: {', '.join(found.aliases)}"] if found.aliases else []))


@command(
    "set", group="help",
    args=(
        Argument("name", "setting: width, rows, digits or lines", words=("width", "rows", "digits", "lines")),
        Argument("value", "integer above 0", read_integer),
    ),
    example="set digits 4",
)  # fmt: skip
def set_(context: Context, name: str, value: int) -> Result:
    """Change a setting of the output.

    - `width`: characters of a line of the terminal
    - `rows`: largest number of rows of a matrix
    - `digits`: significant digits of a number
    - `lines`: lines of a listing before and after the current one
    """
    context.change(name, value)
    return Message(f"{name} is {value}", {name: value})
