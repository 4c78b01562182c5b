"""Context of the commands: the session, the thread in focus, the arrays by name, and the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.observe.debug.lines import LineIndex
from warploom.observe.debug.memory import MemoryView, Thread
from warploom.observe.debug.registers import Registers
from warploom.observe.debug.warps import WarpView
from warploom.runtime.debugging.focus import place_of, warp_of
from warploom.view.debugger.command import completions

if TYPE_CHECKING:
    from warploom.emulator.emulator import Emulator
    from warploom.emulator.program import Program, Scope
    from warploom.runtime.debugging.session import DebugSession
    from warploom.runtime.replay import Replay

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class NamedArray:
    """Array of the launch, with its address on the device. `read` returns its present contents."""

    name: str
    address: int
    read: Callable[[], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """Name of a watched value, and a function that returns its bytes as text."""

    name: str
    text: Callable[[bytes], str]


@dataclass(slots=True)
class Settings:
    """Settings of the output. `width` is in characters, and `digits` are significant digits of a number.

    `rows` limits the rows of a matrix, and `lines` the lines of a listing before and after the current one.
    """

    width: int = 100
    rows: int = 32
    digits: int = 6
    lines: int = 5


class Context:
    """State of a debugger, to which commands are applied.

    `arrays` has the arrays of the launch by name, and `watched` the watched values by the number of the watch.
    `replay` runs the whole launch again.
    """

    def __init__(self, session: DebugSession, arrays: Mapping[str, NamedArray], replay: Replay) -> None:
        self.session = session
        self.arrays = arrays
        self.replay = replay
        self.settings = Settings()
        self.watched: dict[int, Watched] = {}

    def complete(self, line: str) -> list[str]:
        """Return the words that may continue a line, whose last word is incomplete."""
        return completions(line, self._words)

    def _words(self) -> list[str]:
        scopes = list(self.scope.enclosing())
        registers = (name for scope in scopes for name in scope.registers)
        stems = (f"{stem}{k}" for scope in scopes for stem, (count, _) in scope.ranges.items() for k in range(count))
        variables = (name for scope in scopes for name in (*scope.variables, *scope.labels))
        return [*registers, *stems, *variables, *self.arrays]

    # The stopped launch -----------------------------------------------------------------------------------

    @property
    def emulator(self) -> Emulator:
        """Emulator with the state of the resident CTAs."""
        return self.session.state

    @property
    def program(self) -> Program:
        """Program of the launch."""
        return self.emulator.program

    @property
    def index(self) -> LineIndex:
        """Instructions of the program by their location."""
        return self.program.analysis(LineIndex)

    @property
    def registers(self) -> Registers:
        """Reader of the registers."""
        return Registers(self.emulator)

    @property
    def memory(self) -> MemoryView:
        """Reader of the memories."""
        return MemoryView(self.emulator)

    @property
    def warps(self) -> WarpView:
        """Reader of the positions of the warps."""
        return WarpView(self.emulator)

    @property
    def thread(self) -> Thread:
        """Thread in focus. Errors: UsageError debug.focus if its CTA is not resident."""
        focus = self.session.focus
        warp = warp_of(self.emulator, focus)
        if warp is None:
            raise UsageError(
                f"CTA {focus.cta} is not resident in wave {self.session.waves.number}", code="debug.focus",
                hint="`ctas` lists the resident CTAs, and `select` changes the focus",
            )  # fmt: skip
        return Thread(warp, focus.lane)

    @property
    def pc(self) -> int:
        """Next instruction of the lane in focus. Errors: UsageError debug.focus if it has left the kernel."""
        thread = self.thread
        place = place_of(self.emulator, thread.warp, thread.lane)
        if place is None:
            where = self.emulator.state.placement.describe_warp(thread.warp)
            raise UsageError(f"{where}, lane {thread.lane} has left the kernel", code="debug.focus")
        return place.pc

    @property
    def scope(self) -> Scope:
        """Names that are visible at the next instruction, or at the kernel's start after the lane has left."""
        try:
            pc = self.pc
        except UsageError:
            pc = self.program.entry
        return self.program.steps[pc].scope

    # Settings ---------------------------------------------------------------------------------------------

    def change(self, name: str, value: int) -> None:
        """Change a setting. Errors: UsageError debug.setting."""
        known = [field.name for field in fields(Settings)]
        if name not in known:
            hint = did_you_mean(name, known, "'")
            raise UsageError(f"unknown setting '{name}'", code="debug.setting", hint=hint)
        if value < 1:
            raise UsageError(f"{name} is {value}; expected at least 1", code="debug.setting")
        setattr(self.settings, name, value)
