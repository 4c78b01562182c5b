"""`debug`: a debugger in Python and in notebooks, with one method for each command."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom.diagnostics import UsageError
from warploom.layout import TensorMap
from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.arrays import is_numpy
from warploom.runtime.debugging.session import DebugSession
from warploom.runtime.launchfile import MEMORY_LIMIT, read_launch_file
from warploom.runtime.replay import Replay
from warploom.runtime.wrong_elements import expectation_of
from warploom.view.debugger import breaking, explaining, moving, places, printing, running
from warploom.view.debugger.command import TABLE, Command, call, grouped, parse
from warploom.view.debugger.context import Context, NamedArray
from warploom.view.debugger.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warploom.gpu.geometry import Extent
    from warploom.runtime.arguments import Arguments
    from warploom.runtime.kernel import KernelSource
    from warploom.runtime.launchfile import LaunchPlan
    from warploom.runtime.run import Run
    from warploom.runtime.why import Expectation

__all__ = ["Debugger", "debug", "debug_plan", "grouped"]

COMMANDS = (running, moving, breaking, places, printing, explaining)
"""Modules whose import declares the commands."""


class Debugger:
    """Debugger of one launch on the emulator, which `debug` returns.

    Each command is a method, with a `_` at the end if its name is a word of Python, such as `break_`. Arguments are
    texts as in the console, or numbers, and options are keyword arguments. `debugger(line)` runs a line of the console.
    Results have the methods `text` and `data`, and notebooks display them.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    def __call__(self, line: str) -> Result:
        """Run a line of the console, and return its result. Errors: UsageError debug.*."""
        return parse(line).run(self.context)

    def complete(self, line: str) -> list[str]:
        """Return the words that may continue a line, whose last word is incomplete."""
        return self.context.complete(line)

    def interrupt(self) -> None:
        """Stop the present movement soon. Another thread or a signal handler calls this method."""
        self.context.session.interrupt()

    def close(self, *, raises: bool = True) -> Run:
        """Run the rest of the launch, write the results to the arrays, and return the `Run`.

        If `raises` is false, return the part of the run before a trap or a deadlock.

        Errors: Trap and Deadlock, which leave the arrays unchanged.
        """
        done = self.context.session.close(raises=raises)
        self.context.replay.drop()  # the arrays have no longer their inputs
        return done

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Result]: ...


def _install(command: Command) -> None:
    """Add the method of a command to `Debugger`."""

    def method(self: Debugger, *given: Any, **options: Any) -> Result:
        return call(command, given, options).run(self.context)

    method.__signature__ = _signature(command)  # pyright: ignore[reportFunctionMemberAccess]
    method.__name__, method.__qualname__ = command.method, f"Debugger.{command.method}"
    method.__doc__ = running.description(command)
    setattr(Debugger, command.method, method)


def _signature(command: Command) -> inspect.Signature:
    """Return the signature of a command's method."""
    kinds = inspect.Parameter
    found = [kinds("self", kinds.POSITIONAL_ONLY)]
    required = [argument.is_required for argument in command.arguments]
    if required != sorted(required, reverse=True):  # an optional argument precedes a required one
        found.append(kinds("arguments", kinds.VAR_POSITIONAL))
    else:
        for each in command.arguments:
            if each.repeats or each.takes_rest:
                found.append(kinds(each.name, kinds.VAR_POSITIONAL))
            else:
                default = kinds.empty if each.is_required else None
                found.append(kinds(each.name, kinds.POSITIONAL_ONLY, default=default))
    options = [(each.name, None if each.read else False) for each in command.options]
    found += [kinds(name, kinds.KEYWORD_ONLY, default=default) for name, default in options]
    return inspect.Signature(found, return_annotation=Result)


for _each in TABLE.values():
    _install(_each)


def debug(
    kernel: KernelSource,
    name: str | None = None,
    *,
    grid: Extent | None = None,
    block: Extent | None = None,
    args: Sequence[object] | None = None,
    cluster: Extent = (1, 1, 1),
    shared: int | None = None,
    arch: str | None = None,
    schedule: str | None = None,
    step_budget: int | None = None,
) -> Debugger:
    """Stop a launch on the emulator before its first instruction, and return a debugger.

    `kernel` is a launch file (a path that ends with .toml), which describes the whole launch, or a kernel as for
    `launch`, which needs `grid` and `args`. `schedule` and `arch` override the launch file. `launch` describes the
    arguments. The arrays of `args` have the names of their parameters.

    Errors: those of `launch` before the run; UsageError debug.arguments.
    """
    if isinstance(kernel, str | Path) and str(kernel).endswith(".toml"):
        given = {"grid": grid, "block": block, "args": args, "shared": shared, "name": name}
        for option in [each for each, value in given.items() if value is not None]:
            raise UsageError(f"{option} is for a kernel; {kernel} describes the launch", code="debug.arguments")
        return debug_plan(read_launch_file(Path(kernel)), schedule=schedule, arch=arch, step_budget=step_budget)
    if grid is None or args is None:
        raise UsageError("a kernel needs grid and args", code="debug.arguments")
    return _started(kernel, name, grid, block, cluster, shared, args, arch, schedule, step_budget)


def debug_plan(
    plan: LaunchPlan,
    *,
    memory: int = MEMORY_LIMIT,
    schedule: str | None = None,
    arch: str | None = None,
    step_budget: int | None = None,
) -> Debugger:
    """Stop the launch of a launch file before its first instruction.

    `debug` describes the other arguments.

    Units: `memory` is the limit for all buffers in bytes.
    Errors: UsageError, LaunchFileError.
    """
    prepared, shape = plan.prepare(memory), plan.geometry
    return _started(
        plan.ptx, plan.kernel, shape.grid, shape.block, shape.cluster, shape.shared, prepared.args,
        arch or shape.arch, schedule or shape.schedule, step_budget, prepared.arrays,
        expectation_of(plan, prepared),
    )  # fmt: skip


def _started(
    kernel: KernelSource, name: str | None, grid: Extent, block: Extent | None, cluster: Extent, shared: int | None,
    args: Sequence[object], arch: str | None, schedule: str | None, step_budget: int | None,
    named: Mapping[str, Any] | None = None, expectation: Expectation | None = None,
) -> Debugger:  # fmt: skip
    loaded, geometry, arguments = load_launch(kernel, name, grid, block, cluster, shared, args)
    launch = cpu.prepare(loaded, geometry, arguments, arch, schedule or "eager", step_budget)
    session = DebugSession(launch, arguments)
    session.start()
    given = _arrays_of(arguments, loaded.signature.name) if named is None else named
    buffers = arguments.buffers
    arrays = {name: array for name, array in given.items() if buffers.contains(array)}
    replay = Replay(
        loaded, geometry, arguments, arch, schedule or "eager", step_budget, names=arrays, expectation=expectation
    )
    return Debugger(Context(session, {
        each: NamedArray(each, buffers.address(array), lambda array=array: buffers.contents(array, launch.arena))
        for each, array in arrays.items()
    }, replay))  # fmt: skip


def _arrays_of(arguments: Arguments, kernel: str) -> dict[str, Any]:
    """Return the arrays among the arguments by the name of the parameter without the name of the kernel."""
    found: dict[str, Any] = {}
    for parameter, value in zip(arguments.parameters, arguments.values, strict=True):
        array = value.array if isinstance(value, TensorMap) else value
        if is_numpy(array):
            found[parameter.readable_name.removeprefix(f"{kernel}_")] = array
    return found
