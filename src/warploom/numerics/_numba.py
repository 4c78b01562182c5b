"""Numba, imported on first use.

A process that finds all compiled functions in the cache does not import Numba.
"""

# Numba has no type annotations.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any, cast


class _Module:
    """Module that is imported when one of its attributes is read."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<module {self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


types: Any = _Module("numba.core.types")
cgutils: Any = _Module("numba.core.cgutils")


class Intrinsic:
    """Function that generates LLVM instructions in a compiled caller.

    `function` is the typing function of a Numba intrinsic.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

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
