"""Numba and llvmlite. This module alone finds out if they are installed.

Numba is imported on first use. A process that finds all compiled functions in the cache does not import it. Without
Numba, Python executes the functions that Numba otherwise compiles, and the interpreter executes all instructions.
"""

# Numba has no type annotations.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from warploom.diagnostics import UsageError
from warploom.numerics import scalar_intrinsics

INSTALLED = find_spec("numba") is not None
"""True if functions can be compiled."""


class _Module:
    """Module that is imported when one of its attributes is read."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<module {self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


class _Absent:
    """Stand-in for a module that is not installed. Modules may build types from it that nothing uses."""

    def __getattr__(self, name: str) -> _Absent:
        return self

    def __call__(self, *arguments: object) -> _Absent:
        return self


types: Any = _Module("numba.core.types")
cgutils: Any = _Module("numba.core.cgutils")
if TYPE_CHECKING or INSTALLED:
    from llvmlite import binding, ir  # pyright: ignore[reportUnusedImport] -- for other modules
else:
    binding = ir = _Absent()


class Intrinsic:
    """Function that generates LLVM instructions in a compiled caller.

    `function` is the typing function of a Numba intrinsic. A caller in Python gets the function of the same name in
    `scalar_intrinsics`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._scalar = getattr(scalar_intrinsics, function.__name__, None)

    def __call__(self, *arguments: Any) -> Any:
        """Return the result for numbers. Errors: UsageError launch.engine."""
        if self._scalar is None:
            raise UsageError("this operation needs Numba, which is not installed", code="launch.engine")
        return self._scalar(*arguments)

    @cached_property
    def _numba_type_(self) -> Any:  # the name under which Numba looks for the type of an object
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        declared = intrinsic(self.function)
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(declared)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Turn a typing function into an `Intrinsic`. Type checkers see the type `Any`."""
    return cast("Any", Intrinsic(function))
