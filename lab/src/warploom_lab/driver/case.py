"""Cases of the CUDA driver API: their table, and the driver whose answers they record.

A case is a function that calls the driver:

    @case
    def double_free(cuda: Driver) -> None:
        address = cuda.allocate(1024)
        cuda("cuMemFree_v2", address)
        cuda("cuMemFree_v2", address)

Each call is recorded with its status. `Driver.note` records a value that does not depend on the machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_uint64 as Word  # noqa: N812 -- the word of a call, which a case passes by reference
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from warploom_lab.driver.kernels import KERNELS

__all__ = ["CASES", "Case", "Driver", "Isolation", "SetupError", "Word", "add", "call_row", "calls", "case"]

_MASK = (1 << 64) - 1


class SetupError(Exception):
    """Call that a case needs and that the driver refused."""


class Driver:
    """Driver library whose answers are recorded.

    Integers are passed as 64-bit words, None as a null pointer, and other objects of ctypes by reference. `answers`
    has a pair for each recorded call, its function and status, and for each value, its name and the value.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self.answers: list[list[object]] = []

    def __call__(self, function: str, *arguments: object) -> int:
        """Call a function of the driver, record its status, and return it."""
        status = self.call(function, *arguments)
        self.answers.append([function, status])
        return status

    def call(self, function: str, *arguments: object) -> int:
        """Call a function of the driver, and return its status."""
        return getattr(self._library, function)(*map(_argument, arguments))

    def require(self, function: str, *arguments: object) -> None:
        """Call a function that a case needs. Errors: SetupError."""
        if status := self.call(function, *arguments):
            raise SetupError(f"{function} returned {status}")

    def new(self, function: str, *arguments: object) -> int:
        """Call a function that a case needs, and return the word that it writes to its first argument."""
        found = Word()
        self.require(function, found, *arguments)
        return found.value

    def note(self, name: str, *values: object) -> None:
        """Record values."""
        self.answers.append([name, values[0] if len(values) == 1 else list(values)])

    def allocate(self, size: int = 4096) -> int:
        """Return the address of new device memory."""
        return self.new("cuMemAlloc_v2", size)

    def stream(self, flags: int = 1) -> int:
        """Return a new stream, which does not wait for the default stream."""
        return self.new("cuStreamCreate", flags)

    def event(self, flags: int = 0) -> int:
        """Return a new event."""
        return self.new("cuEventCreate", flags)

    def module(self, text: bytes = KERNELS) -> int:
        """Return a new module."""
        return self.new("cuModuleLoadData", text)

    def function(self, name: str, module: int | None = None) -> int:
        """Return a kernel of a module, or of a new one."""
        return self.new("cuModuleGetFunction", self.module() if module is None else module, name.encode())

    def launch(
        self, function: int | None, grid: tuple[int, int, int] = (1, 1, 1), block: tuple[int, int, int] = (1, 1, 1),
        *, shared: int = 0, stream: int = 0, values: object = None, extra: object = None,
    ) -> int:  # fmt: skip
        """Launch a kernel, record the status, and return it."""
        return self("cuLaunchKernel", function, *grid, *block, shared, stream, values, extra)


def _argument(value: Any) -> Any:
    if isinstance(value, int):
        return Word(value & _MASK)
    if isinstance(value, ctypes._SimpleCData | ctypes.Structure):  # pyright: ignore[reportPrivateUsage]
        return ctypes.byref(value)  # pyright: ignore[reportUnknownArgumentType]
    return value


class Isolation(Enum):
    """State in which a case runs."""

    SHARED = "a context that other cases of this kind use"
    FRESH = "a new primary context"
    ALONE = "a new process"


class Case(NamedTuple):
    """Case with the state that it needs."""

    run: Callable[[Driver], None]
    isolation: Isolation


CASES: dict[str, Case] = {}
"""Cases by name, such as "memory.double_free"."""


def case(run: Callable[[Driver], None] | None = None, *, alone: bool = False) -> Any:
    """Add a case to the table. Use `@case`, or `@case(alone=True)` for a case that ends its context."""
    if run is None:
        return partial(case, alone=alone)
    name = f"{run.__module__.rpartition('.')[2]}.{run.__name__}"
    add(name, run, Isolation.ALONE if alone else Isolation.FRESH)
    return run


def add(name: str, run: Callable[[Driver], None], isolation: Isolation) -> None:
    """Add a case with a name to the table."""
    assert name not in CASES, name
    CASES[name] = Case(run, isolation)


def calls(area: str, rows: dict[str, tuple[object, ...]]) -> None:
    """Add a case for each row of a table: its name, and the function and arguments of one call."""
    for name, row in rows.items():
        add(f"{area}.{name}", lambda cuda, row=row: call_row(cuda, *row), Isolation.SHARED)


def call_row(cuda: Driver, function: object, *arguments: object) -> None:
    """Call a function of a table, and record the status."""
    cuda(str(function), *arguments)
