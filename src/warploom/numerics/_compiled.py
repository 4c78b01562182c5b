"""Functions that Numba compiles on their first call, or that an earlier process compiled.

Without Numba, Python executes the functions.
"""

# Numba has no type annotations.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import atexit
import inspect
import sys
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from threading import RLock
from time import perf_counter
from typing import Any, Literal, cast

import numpy as np

from warploom.numerics import _numba, _stored
from warploom.numerics._fingerprint import UnidentifiedObject, fingerprint

Inline = Literal["never", "always"]
_loading = RLock()
"""Lock of the loaded machine code. Several threads may call a function for the first time."""


class Compiled:
    """Python function with machine code for several signatures.

    The first call loads the signatures that the cache has. For arguments of other types, Numba compiles the function,
    and the machine code is added to the cache at the end of the process.

    The attribute `call` is faster to call than the object itself. The first call replaces it, so read it for each call.

    If `accepts` returns False for arguments whose types have no machine code, the result is False.
    """

    def __init__(
        self, function: Callable[..., Any], inline: Inline = "never", *, is_stored: bool = True,
        accepts: Callable[..., bool] | None = None,
    ) -> None:  # fmt: skip
        self.function = function
        self._accepts = accepts
        self.inline: Inline = inline
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._is_stored = is_stored
        self.call: Callable[..., Any] = self._first_call
        self._find: Callable[..., int] = self._find_compiled
        self._loaded: list[tuple[_stored.Stored, Callable[..., Any]]] = []  # stored signatures and their functions
        self._entries: dict[Any, int] = {}  # addresses for native callers of the signatures that Numba has compiled

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self.call(*arguments)

    def native_entry(self, *arguments: Any) -> int:
        """Return the address of the machine code for the types of `arguments`, or 0.

        The address is 0 until the function has been called with arguments of these types, in this or an earlier
        process. The C signature of the machine code is `int64_t f(const uint64_t *words)`, where `words` are the
        results of `words_of` for all arguments. It returns the result if it is an integer or a bool, 0 for other
        results, and `_stored.FAILED` after an exception.
        """
        self._prepare()
        return self._find(*arguments)

    def specific(self, *arguments: Any) -> Callable[..., Any]:
        """Return the function to call for arguments with the types of `arguments`.

        It is faster than `call`, which compares the types with those of other signatures first. For arguments of other
        types, it may compile a signature that `call` has.
        """
        entry = self.native_entry(*arguments)
        return next((call for stored, call in self._loaded if _stored.native_address(stored) == entry), self.call)

    def _first_call(self, *arguments: Any) -> Any:
        began = perf_counter()
        self._prepare()
        _prepared.append(perf_counter() - began)
        return self.call(*arguments)

    def _prepare(self) -> None:
        with _loading:
            if self.call == self._first_call:
                self.call = self._load()

    def _load(self) -> Callable[..., Any]:
        """Return a function with the signatures that the cache has."""
        if not _numba.INSTALLED:
            is_outermost = self.inline == "never" and self._is_stored  # other functions have callers here
            return self._interpret if is_outermost else self.function
        call: Callable[..., Any] = self._call_compiled
        stored = [] if self._key is None else _stored.read(self._key)
        for each in reversed(stored):
            if all(map(_stored.is_available, each.needed)):
                call, self._find = _stored.load(each, call, self._find)
                self._loaded.append((each, call))
        return call

    def _interpret(self, *arguments: Any) -> Any:
        """Execute the function in Python.

        As in compiled code, arithmetic on NumPy numbers wraps or returns infinity or NaN.
        """
        with np.errstate(all="ignore"):
            return self.function(*arguments)

    def _call_compiled(self, *arguments: Any) -> Any:
        if self._accepts is not None and not self._accepts(*arguments):
            return False
        began = perf_counter()
        dispatcher = self.dispatcher
        known = len(dispatcher.overloads)
        result = dispatcher(*arguments)
        if len(dispatcher.overloads) != known:
            _prepared.append(perf_counter() - began)
            if not _unstored:
                atexit.register(store_functions)
            _unstored.setdefault(self, []).extend(list(dispatcher.overloads.values())[known:])
        return result

    def _find_compiled(self, *arguments: Any) -> int:
        """Return the result of `native_entry` for a signature that Numba has compiled in this process."""
        if "dispatcher" not in vars(self):
            return 0
        from warploom.numerics._export import native_entry

        types = tuple(self.dispatcher.typeof_pyval(each) for each in arguments)
        result = self.dispatcher.overloads.get(types)
        if result is None:
            return 0
        with _loading:
            if result.signature not in self._entries:
                self._entries[result.signature] = native_entry(result)
        return self._entries[result.signature]

    @cached_property
    def dispatcher(self) -> Any:
        """Dispatcher of Numba."""
        import numba

        from warploom.numerics._numba_cache import KeyedCache

        dispatcher: Any = numba.njit(nogil=True, error_model="numpy", inline=self.inline)(self.function)
        if self._is_stored and self._key is not None:
            dispatcher._cache = KeyedCache(self.function, self._key)  # as Numba's option `cache` does
        return dispatcher

    # Cache ----------------------------------------------------------------------------------------------

    @cached_property
    def _key(self) -> str | None:
        """Key of the function in the cache, or None if the function uses an object that no digest identifies."""
        try:
            found = fingerprint(self.function)
        except UnidentifiedObject:
            return None
        return sha256(f"{_stored.host()} {found}".encode()).hexdigest()

    def store(self, results: list[Any]) -> None:
        """Store signatures that Numba has compiled. Signatures that only Numba can call are left out."""
        from warploom.numerics._export import UnsupportedSignature, export

        if self._key is None:
            return
        has_rest = bool(self.function.__code__.co_flags & inspect.CO_VARARGS)
        for result in results:
            # The same code in another process has the same name.
            signature = sha256(str(result.signature).encode()).hexdigest()
            try:
                new = export(result, f"{self.__name__}.{self._key}.{signature}", has_rest)
            except UnsupportedSignature:
                continue
            _stored.write(self._key, [*(each for each in _stored.read(self._key) if each.name != new.name), new])

    # Attributes that Numba reads in a compiled caller ---------------------------------------------------

    @property
    def _numba_type_(self) -> Any:
        from numba.core import types

        return types.Dispatcher(self.dispatcher)

    @property
    def py_func(self) -> Callable[..., Any]:
        """Function in Python."""
        return self.function

    @property
    def targetoptions(self) -> dict[str, Any]:
        """Options of the compilation."""
        return self.dispatcher.targetoptions


def words_of(argument: Any) -> list[int]:
    """Return an argument as 64-bit words for `Compiled.native_entry`.

    An array consists of its address, its shape and its strides. A tuple consists of its items. None has no words.
    """
    if isinstance(argument, np.ndarray):
        return [argument.ctypes.data, *argument.shape, *(stride & _WORD for stride in argument.strides)]
    if isinstance(argument, tuple):
        return [word for item in cast("tuple[Any, ...]", argument) for word in words_of(item)]
    return [] if argument is None else [int.from_bytes(np.asarray(argument).tobytes(), sys.byteorder)]


_WORD = (1 << 64) - 1

_unstored: dict[Compiled, list[Any]] = {}
"""Signatures that Numba has compiled and that the cache does not have yet, by function."""


_prepared: list[float] = []
"""Seconds of each load and of each compilation. A list grows safely if several threads append."""


def preparation_seconds() -> float:
    """Return the time that this process has spent on loading and compiling functions.

    The time of a compilation includes the first call of the machine code, and the import of Numba.
    """
    return sum(_prepared)


def store_functions() -> None:
    """Store the signatures that Numba has compiled in this process.

    The machine code of each signature is emitted a second time, which takes as long as a small launch. The function is
    therefore called at the exit of the process.
    """
    while _unstored:
        function, results = _unstored.popitem()
        function.store(results)
