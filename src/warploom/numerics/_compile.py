"""Compilation of the arithmetic: the one place that says how Numba compiles, and the one that imports it."""

# Numba has no type information of its own.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import DTypeLike, NDArray

Function = TypeVar("Function", bound=Callable[..., object])


def njit(function: Function) -> Function:
    """Compile an array function to machine code on its first call; the declared types stay.

    The compiled code is kept beside the source (`__pycache__`) for the next process, releases the
    interpreter lock, and follows IEEE 754: a division by zero gives infinity or NaN, and no sum is
    reordered.
    """
    return cast("Function", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


# Stands in the loops for the function of an Elementwise, which each copy of them has under this name.
scalar: Any = None


def _loop1(x: Any, out: Any, *uniform: Any) -> None:
    for i in range(out.size):
        out[i] = scalar(x[i], *uniform)


def _loop2(x: Any, y: Any, out: Any, *uniform: Any) -> None:
    for i in range(out.size):
        out[i] = scalar(x[i], y[i], *uniform)


def _loop3(x: Any, y: Any, z: Any, out: Any, *uniform: Any) -> None:
    for i in range(out.size):
        out[i] = scalar(x[i], y[i], z[i], *uniform)


_LOOPS = (_loop1, _loop2, _loop3)


class Elementwise:
    """A function of numbers, applied to arrays: what a ufunc is, without the wrapper that Numba compiles anew for
    each of its ufuncs in every process.

    Shapes: the array operands broadcast together; the last `uniform` operands are single numbers.
    """

    def __init__(self, function: Callable[..., Any], result: DTypeLike, uniform: int) -> None:
        self.function = function
        self.result = np.dtype(result)
        self.arrays = function.__code__.co_argcount - uniform

    @cached_property
    def _loop(self) -> Callable[..., None]:
        # The copy has the file and the name of its function, by which Numba keeps code and sees that it is old.
        function = self.function
        code = _LOOPS[self.arrays - 1].__code__.replace(
            co_filename=function.__code__.co_filename,
            co_firstlineno=function.__code__.co_firstlineno,
            co_name=function.__name__,
            co_qualname=function.__qualname__,
        )
        named = {"__name__": function.__module__, "scalar": numba.njit(error_model="numpy")(function)}
        return njit(FunctionType(code, named))

    def __call__(self, *operands: Any) -> NDArray[Any]:
        """Shapes: those of the operands, broadcast."""
        arrays = operands[: self.arrays]
        shape = arrays[0].shape
        for x in arrays:
            if x.shape != shape or not x.flags.carray:
                # One kind of array alone, in order, aligned and writable, so that one loop is compiled.
                shape = np.broadcast(*arrays).shape
                arrays = [np.array(np.broadcast_to(x, shape)) for x in arrays]
                break
        out = np.empty(shape, self.result)
        self._loop(*[x.ravel() for x in arrays], out.ravel(), *operands[self.arrays :])
        return out


def elementwise(result: DTypeLike, uniform: int = 0) -> Callable[[Callable[..., Any]], Elementwise]:
    """Make a function of numbers one of arrays; the type of its results, and how many operands are single."""
    return lambda function: Elementwise(function, result, uniform)
