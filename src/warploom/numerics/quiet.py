"""Calls of array functions without floating-point warnings and without the cost of `np.errstate`.

PTX arithmetic has no traps: an invalid or overflowing operation has an ordinary result. Entering `np.errstate` takes
longer than an addition over a batch of warps. Calls therefore run in a `contextvars` context that holds this setting.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import ParamSpec, TypeVar

import numpy as np


class _Quiet(threading.local):
    """Thread-local `contextvars` context, because only one thread at a time can enter a context."""

    def __init__(self) -> None:
        self.context = copy_context()
        self.context.run(lambda: np.seterr(all="ignore"))


_quiet = _Quiet()
P = ParamSpec("P")
R = TypeVar("R")


def quietly(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a NumPy or Numba function without floating-point warnings. Calls cannot be nested."""
    return _quiet.context.run(function, *args, **kwargs)
