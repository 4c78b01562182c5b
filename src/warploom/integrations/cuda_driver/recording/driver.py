"""Calls of NVIDIA's driver in a CUDA program, on behalf of this process."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warploom.integrations.cuda_driver.functions import implementation_of, numbered_functions
from warploom.integrations.cuda_driver.recording.program import COPY_BYTES, RESULT_BYTES, CapturedProgram

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.protocol import Connection

_PIPELINED = 128  # calls that are sent together; a socket can buffer them and their results
_FORMATS = {"i32": "=i", "u32": "=I", "i64": "=q", "u64": "=Q", "size": "=Q", "ptr": "=Q", "str": "=Q", "u8": "=B"}


class RealError(Exception):
    """Failure of a function of NVIDIA's driver that this process called, with its status code."""

    def __init__(self, symbol: str, status: int) -> None:
        super().__init__(f"{symbol} returned {status}")
        self.status = status


@cache
def _numbers() -> dict[str, int]:
    return {symbol: number for number, symbol in enumerate(numbered_functions())}


class Interception:
    """Intercepted call of a driver function.

    `arguments` has the arguments by the names in the declaration of the emulator's implementation. An argument through
    which the function returns a value is an address.
    """

    def __init__(self, program: CapturedProgram, connection: Connection, symbol: str, words: Sequence[int]) -> None:
        self.program, self.connection, self.symbol = program, connection, symbol
        self._find, self._locate, *rest = words
        self.words = tuple(rest)
        self._memory = 0
        self.status: int | None = None

    @property
    def arguments(self) -> dict[str, int]:
        """Arguments by name, as integers."""
        implementation = implementation_of(self.symbol)
        assert implementation is not None, self.symbol
        found: dict[str, int] = {}
        for parameter, word in zip(implementation.parameters, self.words, strict=True):
            layout = struct.Struct(_FORMATS["ptr" if parameter.output else parameter.type])
            found[parameter.name] = layout.unpack(word.to_bytes(8, "little")[: layout.size])[0]
        return found

    @property
    def values(self) -> tuple[int, ...]:
        """Arguments in their order, as integers."""
        return tuple(self.arguments.values())

    def like(self, symbol: str) -> str:
        """Return a symbol with the suffix for per-thread default streams if the symbol of this call has it."""
        suffix = self.symbol[-5:]
        return symbol + suffix if suffix in ("_ptsz", "_ptds") else symbol

    def forward(self) -> int:
        """Call the driver's function with the arguments of this call.

        Return its status, and keep it in `status`.
        """
        self.status = self.call(self.symbol, *self.words)
        return self.status

    def call(self, symbol: str, *words: int) -> int:
        """Call a function of the driver, and return its status."""
        return self.connection.call_back(self._address(symbol), *words) & 0xFFFF_FFFF

    def must(self, symbol: str, *words: int) -> None:
        """Call a function of the driver. Errors: RealError for a bad status."""
        status = self.call(symbol, *words)
        if status:
            raise RealError(symbol, status)

    def call_all(self, symbol: str, calls: Sequence[Sequence[int]]) -> list[int]:
        """Call a function of the driver with several lists of arguments, and return the statuses."""
        address, found = self._address(symbol), list[int]()
        for first in range(0, len(calls), _PIPELINED):
            part = [(address, words) for words in calls[first : first + _PIPELINED]]
            found += [each & 0xFFFF_FFFF for each in self.connection.call_back_all(part)]
        return found

    def results(self, symbol: str, count: int, words: Callable[[Sequence[int]], Iterable[int]]) -> list[int] | None:
        """Call a function that returns `count` integers through pointers. Return None if it fails.

        `words` returns the arguments, given the addresses for the results.
        """
        self.program.shared[: 8 * count] = 0
        if self.call(symbol, *words([self.result_address(number) for number in range(count)])):
            return None
        return [self.result(number) for number in range(count)]

    def result_address(self, number: int) -> int:
        """Return the address in the program for the result with a number."""
        return self._shared_address() + 8 * number

    def result(self, number: int) -> int:
        """Return a result that a function wrote."""
        return int(self.program.shared[8 * number : 8 * number + 8].view(np.uint64)[0])

    def copy_from_device(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return bytes of device memory. Errors: RealError."""
        data = np.empty(size, np.uint8)
        buffer = self._shared_address() + RESULT_BYTES
        for first in range(0, size, COPY_BYTES):
            count = min(COPY_BYTES, size - first)
            self.must("cuMemcpyDtoH_v2", buffer, address + first, count)
            data[first : first + count] = self.program.shared[RESULT_BYTES : RESULT_BYTES + count]
        return data

    def _shared_address(self) -> int:
        """Return the address of the shared memory in the program."""
        if not self._memory:
            self._memory = self.connection.call_back(self._locate)
        return self._memory

    def _address(self, symbol: str) -> int:
        addresses = self.program.addresses
        if symbol not in addresses:
            addresses[symbol] = self.connection.call_back(self._find, _numbers()[symbol])
        return addresses[symbol]


Interceptor = Callable[[Interception], int]
"""Function that executes an intercepted call, and returns its status."""
INTERCEPTORS: dict[str, Interceptor] = {}
"""Interceptors by the symbol of the driver function."""


def intercept(symbols: str) -> Callable[[Interceptor], Interceptor]:
    """Return a decorator that registers an interceptor of driver functions.

    It also intercepts the variants of the functions for per-thread default streams.
    """
    known = _numbers()

    def register(run: Interceptor) -> Interceptor:
        for symbol in symbols.split():
            for each in (symbol, f"{symbol}_ptsz", f"{symbol}_ptds"):
                if each in known:
                    INTERCEPTORS[each] = run
        return run

    return register


def after(symbols: str) -> Callable[[Callable[[Interception], None]], Callable[[Interception], None]]:
    """Return a decorator that registers a function to call after successful driver calls."""

    def register(run: Callable[[Interception], None]) -> Callable[[Interception], None]:
        def forward_and_run(call: Interception) -> int:
            status = call.forward()
            if not status:
                run(call)
            return status

        intercept(symbols)(forward_and_run)
        return run

    return register
