"""Calls of array functions without floating-point warnings."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import ParamSpec, TypeVar

import numpy as np


# `np.errstate` takes longer than an addition over a batch of warps. Only one thread at a time can enter a context.
class _Quiet(threading.local):
    """Context without floating-point warnings, one for each thread."""

    def __init__(self) -> None:
        self.context = copy_context()
        self.context.run(lambda: np.seterr(all="ignore"))


_quiet = _Quiet()
P = ParamSpec("P")
R = TypeVar("R")


def quietly(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a NumPy or Numba function without floating-point warnings. Calls cannot be nested."""
    return _quiet.context.run(function, *args, **kwargs)
