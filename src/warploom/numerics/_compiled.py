"""Functions that Numba compiles on their first call, or that an earlier process compiled."""

# Numba has no type annotations.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportUnknownVariableType=false

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

from warploom.numerics import _stored
from warploom.numerics._fingerprint import UnidentifiedObject, fingerprint

Inline = Literal["never", "always"]


class Compiled:
    """Compiled function.

    The first call loads machine code from the cache. Numba compiles the function for arguments of other types, and the
    cache receives the result.
    """

    def __init__(self, function: Callable[..., Any], inline: Inline = "never", *, is_stored: bool = True) -> None:
        self.function = function
        self.inline: Inline = inline
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._is_stored = is_stored
        self._call: Callable[..., Any] = self._first_call

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self._call(*arguments)

    def _first_call(self, *arguments: Any) -> Any:
        call: Callable[..., Any] = self._call_compiled
        for each in reversed(self._stored):
            if all(map(_stored.is_available, each.needed)):
                call = _stored.load(each, call)
        self._call = call
        return call(*arguments)

    def _call_compiled(self, *arguments: Any) -> Any:
        overloads = self.py_dispatcher.overloads
        known = len(overloads)
        result = self.py_dispatcher(*arguments)
        if len(overloads) != known and self._key is not None:
            self._store(list(overloads.values())[known:])
        return result

    @cached_property
    def py_dispatcher(self) -> Any:
        """Dispatcher of Numba."""
        import numba

        return numba.njit(cache=self._is_stored, nogil=True, error_model="numpy", inline=self.inline)(self.function)

    # Cache ----------------------------------------------------------------------------------------------

    @cached_property
    def _key(self) -> str | None:
        """Key of the function in the cache, or None if the function uses an object that no digest identifies."""
        try:
            found = fingerprint(self.function)
        except UnidentifiedObject:
            return None
        return sha256(f"{_stored.host()} {found}".encode()).hexdigest()

    @cached_property
    def _stored(self) -> list[_stored.Stored]:
        return [] if self._key is None else _stored.read(self._key)

    def _store(self, results: list[Any]) -> None:
        from warploom.numerics._export import UnsupportedSignature, export

        assert self._key is not None
        has_rest = bool(self.function.__code__.co_flags & inspect.CO_VARARGS)
        for result in results:
            try:
                signatures = _stored.read(self._key)
                name = f"{self.__name__}.{self._key[:16]}.{len(signatures)}"
                _stored.write(self._key, [*signatures, export(result, name, has_rest)])
            except UnsupportedSignature:
                continue

    # Attributes that Numba reads in a compiled caller ---------------------------------------------------

    @property
    def _numba_type_(self) -> Any:
        from numba.core import types

        return types.Dispatcher(self.py_dispatcher)

    @property
    def py_func(self) -> Callable[..., Any]:
        """Function in Python."""
        return self.function

    @property
    def targetoptions(self) -> dict[str, Any]:
        """Options of the compilation."""
        return self.py_dispatcher.targetoptions
