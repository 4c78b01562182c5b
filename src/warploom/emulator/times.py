"""Times of the parts of a launch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple

from warploom.lazy_dataclass import dataclass


class Interpreted(NamedTuple):
    """Instruction that the interpreter executed in a run, at the program counter `pc`.

    `line` is 0 without a source text. `multiplies` is True for a matrix multiplication, for which the interpreter calls
    compiled arithmetic. The first of several multiplications that execute together has the time of all of them.
    `batches` counts executions. Units: `seconds` is the time of all executions.
    """

    pc: int
    file: str
    line: int
    opcode: str
    multiplies: bool
    batches: int
    seconds: float


@dataclass(slots=True)
class Times:
    """Times of the parts of a launch.

    The times of threads and of workers are added, so their sum may exceed the duration of the launch. Units: seconds,
    except `loaded` and `compiled`, which count native functions, and `calls`, which counts calls of native code.
    """

    read: float = 0.0  # read and parse the kernel, convert the arguments, find the Forms of the instructions
    copies: float = 0.0  # copy the arguments to the emulator's memory and back
    link: float = 0.0
    load: float = 0.0  # native functions from the cache
    compile: float = 0.0  # native functions
    arithmetic: float = 0.0  # load or compile the functions of `numerics`, while the interpreter runs
    native: float = 0.0  # native code
    run: float = 0.0  # execution of the grid, including `native` and `arithmetic`, without `preparation`
    loaded: int = 0
    compiled: int = 0
    calls: int = 0
    instructions: list[Interpreted] = field(default_factory=list[Interpreted])

    @property
    def preparation(self) -> float:
        """Time to link instructions, and to load or compile their native functions."""
        return self.link + self.load + self.compile

    @property
    def interpreter(self) -> float:
        """Time of the execution outside native code: interpreted instructions, waves and observers."""
        return max(self.run - self.native - self.arithmetic, 0.0)

    @property
    def parts(self) -> dict[str, float]:
        """Time of each part, by its name."""
        return {
            "read and check": self.read,
            "copy arguments": self.copies,
            "link": self.link,
            "load native functions": self.load,
            "compile native functions": self.compile,
            "prepare arithmetic": self.arithmetic,
            "native code": self.native,
            "interpreter": self.interpreter,
        }

    def add(self, other: Times) -> None:
        """Add the times of another part of the same launch."""
        self.read += other.read
        self.copies += other.copies
        self.link += other.link
        self.load += other.load
        self.compile += other.compile
        self.arithmetic += other.arithmetic
        self.native += other.native
        self.run += other.run
        self.loaded += other.loaded
        self.compiled += other.compiled
        self.calls += other.calls
        if other.instructions:
            self.instructions = _merge([*self.instructions, *other.instructions])

    @staticmethod
    def total(parts: Iterable[Times]) -> Times:
        """Return the sum of the times of several parts of a launch."""
        found = Times()
        for each in parts:
            found.add(each)
        return found


def _merge(instructions: Iterable[Interpreted]) -> list[Interpreted]:
    """Return each instruction once, with the sum of its batches and times."""
    found: dict[int, Interpreted] = {}
    for each in instructions:
        known = found.get(each.pc)
        found[each.pc] = (
            each
            if known is None
            else known._replace(batches=known.batches + each.batches, seconds=known.seconds + each.seconds)
        )
    return list(found.values())
