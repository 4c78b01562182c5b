"""Numba's cache of compiled functions, with a key that contains everything that a function uses."""

# Numba has no type annotations.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUnknownParameterType=false, reportUnknownArgumentType=false

from collections.abc import Callable
from typing import Any

from numba.core.caching import FunctionCache


class KeyedCache(FunctionCache):
    """Cache that also notices changes of the functions, classes and constants that a function uses.

    `key` is the digest that `_fingerprint` computes of a function and of everything that it uses. Numba's own key only
    contains the code of the function.
    """

    def __init__(self, function: Callable[..., Any], key: str) -> None:
        super().__init__(function)
        self._key = key

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), self._key)
