"""Functions of the driver library: their names, their numbers, and their implementations.

An implementation declares its parameters in a short form of C:

    @driver("cuMemAlloc_v2", "out u64 address, size bytes")
    def allocate(call: DriverCall, size: int) -> int:

The types are i32, u32, i64, u64, u8, f32, size, ptr and str. Parameters are passed by position. Parameters with `out`
are not passed: the function returns their values, and the caller writes them to the program. If the program passes a
null pointer for an `out` parameter, the call has the status INVALID_VALUE. `out?` marks an optional result, which is
not written if its pointer is null.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from warploom.integrations.cuda_driver.package_data import package_text
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_FORMATS = {"i32": "i", "u32": "I", "i64": "q", "u64": "Q", "size": "Q", "ptr": "Q", "f32": "f", "u8": "B"}
PER_THREAD = ("_ptds", "_ptsz")


class DriverFunction(NamedTuple):
    """Function that the library exports.

    `name` is the name that a program asks for, without a version. `version` is the CUDA version of the first driver
    that has the function, such as 11040. `words` is the number of arguments.
    """

    symbol: str
    name: str
    version: int
    words: int

    @property
    def is_per_thread(self) -> bool:
        """True for the variants `_ptds` and `_ptsz`, which use the default stream of the calling thread."""
        return self.symbol.endswith(PER_THREAD)


class _Parameter(NamedTuple):
    """Parameter of an implementation. `output` is "", "out" or "out?"."""

    output: str
    type: str
    name: str


class Implementation(NamedTuple):
    """Implementation of a driver function."""

    run: Callable[..., Any]
    parameters: tuple[_Parameter, ...]

    def __call__(self, call: DriverCall, words: tuple[int, ...]) -> None:
        """Execute a call with the given argument words, and write its results. Errors: DriverError."""
        arguments: list[Any] = []
        targets: list[tuple[int, str]] = []
        for parameter, word in zip(self.parameters, words, strict=True):
            if parameter.output:
                if word == 0 and parameter.output == "out":
                    raise DriverError(Status.INVALID_VALUE)
                targets.append((word, parameter.type))
            else:
                arguments.append(_argument(call, parameter.type, word))
        result = self.run(call, *arguments)
        values = cast("tuple[int | float, ...]", result if isinstance(result, tuple) else (result,) if targets else ())
        for (address, kind), value in zip(targets, values, strict=True):
            if address:
                call.connection.write(address, struct.pack(f"={_FORMATS[kind]}", value))

    def stream_of(self, words: tuple[int, ...]) -> int | None:
        """Return the handle of the stream in the words of a call, or None without such a parameter."""
        pairs = zip(self.parameters, words, strict=True)
        return next((word for each, word in pairs if each.name == "stream" and not each.output), None)


def _argument(call: DriverCall, type: str, word: int) -> Any:
    if type == "str":
        if word == 0:
            raise DriverError(Status.INVALID_VALUE)
        return call.connection.read_string(word)
    layout = struct.Struct(f"={_FORMATS[type]}")
    return layout.unpack(word.to_bytes(8, "little")[: layout.size])[0]


IMPLEMENTATIONS: dict[str, Implementation] = {}
"""Implementations of the driver functions by symbol."""


def driver(symbols: str, parameters: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers the implementation of driver functions.

    `symbols` lists names that the library exports. `parameters` describes the arguments; see the module's description.
    """
    parts = [part.split() for part in parameters.split(",") if part.strip()]
    declared = tuple(_Parameter("".join(part[:-2]), part[-2], part[-1]) for part in parts)

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        for symbol in symbols.split():
            IMPLEMENTATIONS[symbol] = Implementation(run, declared)
        return run

    return register


@cache
def read_functions() -> tuple[DriverFunction, ...]:
    """Return the functions of CUDA 13.0's driver. Source: cuda.h and cudaTypedefs.h of CUDA 13.0."""
    text = package_text("library/functions.txt")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return tuple(DriverFunction(symbol, name, int(version), int(words)) for symbol, name, version, words in rows)


RUNTIME_FUNCTIONS = {
    "runtime_load_module": 2,
    "runtime_load_module_with_options": 5,
    "runtime_load_fat_binary": 5,
    "runtime_get_context": 2,
    "runtime_put": 4,
    "runtime_delete": 2,
    "runtime_get": 3,
    "runtime_check": 8,
}
"""Functions that only NVIDIA's runtime library calls, through tables, with their numbers of arguments."""

IN_LIBRARY = frozenset({
    "cuGetErrorName", "cuGetErrorString", "cuGetExportTable", "cuGetProcAddress", "cuGetProcAddress_v2",
    "cuGetProcAddress_v2_ptsz",
})  # fmt: skip
"""Functions that `driver.c` defines."""


def numbered_functions() -> list[str]:
    """Return the symbols of all functions that forward their calls. The position is the function's number."""
    return [each.symbol for each in read_functions() if each.symbol not in IN_LIBRARY] + [*RUNTIME_FUNCTIONS]


def implementation_of(symbol: str) -> Implementation | None:
    """Return the implementation of a driver function, or None if the function is not implemented."""
    for suffix in PER_THREAD:
        symbol = symbol.removesuffix(suffix)
    return IMPLEMENTATIONS.get(symbol)
