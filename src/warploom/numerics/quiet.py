"""Runs an array function with NumPy's floating-point warnings off, at the cost of a plain call.

PTX arithmetic has no traps: an invalid or overflowing operation is an ordinary result.  ``np.errstate``
costs more than an addition of a batch of warps, so the setting is made once, in a context of its own, and
calls go through it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import ParamSpec, TypeVar

import numpy as np


class _Quiet(threading.local):
    """One context for each thread: a context can be entered by only one thread at a time."""

    def __init__(self) -> None:
        self.context = copy_context()
        self.context.run(lambda: np.seterr(all="ignore"))


_quiet = _Quiet()
P = ParamSpec("P")
R = TypeVar("R")


def quietly(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a NumPy or Numba function without warnings.  The function must not call ``quietly`` itself."""
    return _quiet.context.run(function, *args, **kwargs)
