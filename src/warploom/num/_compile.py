"""Compilation of the arithmetic: the one place that says how Numba compiles, and the one that imports it."""

# Numba has no type information of its own.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def njit(function: Function) -> Function:
    """Compile an array function to machine code on its first call; the declared types stay.

    The compiled code is kept beside the source (`__pycache__`) for the next process, releases the
    interpreter lock, and follows IEEE 754: a division by zero gives infinity or NaN, and no sum is
    reordered.
    """
    return cast("Function", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
