"""Decorators that compile functions with Numba and apply them to arrays."""

from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike

from warploom.numerics._compiled import Compiled, Inline
from warploom.numerics.intrinsics import ROUNDING, set_rounding

Function = TypeVar("Function", bound=Callable[..., object])


def njit(function: Function) -> Function:
    """Compile a function on its first call.

    The compiled code releases the interpreter lock. A division by zero gives infinity or NaN.
    """
    return cast("Function", Compiled(function))


def njit_if(accepts: Callable[..., bool]) -> Callable[[Function], Function]:
    """Compile a function that returns False for arguments that `accepts` rejects.

    The result of `accepts` must depend only on the types of the arguments, and on the number of axes and the flags of
    arrays.
    """
    return lambda function: cast("Function", Compiled(function, accepts=accepts))


def inlined(function: Function) -> Function:
    """Compile a function that is inlined in every compiled caller."""
    return cast("Function", Compiled(function, "always"))


def specialized(
    template: Callable[..., None], function: Callable[..., Any], inline: Inline = "never"
) -> Callable[..., None]:
    """Compile a copy of the loop `template` in which the name `scalar` stands for `function`.

    If `inline` is "always", `function` is inlined before type inference.
    """
    return copied(template, function, scalar=Compiled(function, inline, is_stored=False))


def copied(template: Callable[..., Any], namesake: Callable[..., Any], **functions: Any) -> Callable[..., None]:
    """Compile a copy of `template` whose global names in `functions` refer to the given functions.

    The copy has the file, the line and the name of `namesake`, so that Numba caches each copy separately.
    """
    return njit(renamed(template, namesake, **functions))


def renamed(template: Callable[..., Any], namesake: Callable[..., Any], **functions: Any) -> Callable[..., Any]:
    """Return the function that `copied` compiles."""
    code = template.__code__.replace(
        co_filename=namesake.__code__.co_filename,
        co_firstlineno=namesake.__code__.co_firstlineno,
        co_name=namesake.__name__,
        co_qualname=namesake.__qualname__,
    )
    return FunctionType(code, template.__globals__ | {"__name__": namesake.__module__} | functions)


scalar: Any = None
"""Function that the templates of `specialized` call. Each compiled copy replaces it."""


def _loop1(x: Any, out: Any, *uniform: Any) -> None:
    for i in range(out.size):
        out[i] = scalar(x[i], *uniform)


def _loop2(x: Any, y: Any, out: Any, *uniform: Any) -> None:
    for i in range(out.size):
        out[i] = scalar(x[i], y[i], *uniform)


def _loop3(x: Any, y: Any, z: Any, out: Any, *uniform: Any) -> None:
    for i in range(out.size):
        out[i] = scalar(x[i], y[i], z[i], *uniform)


# Each step of a pair loop converts its result to 32 bits. Numba would widen it to 64 bits and halve the vector lanes.
def _pairs2(x: Any, y: Any, out: Any) -> None:
    for i in range(out.size):
        low = scalar(np.uint32(x[i] & LOW), np.uint32(y[i] & LOW))
        high = scalar(np.uint32(x[i] >> SHIFT), np.uint32(y[i] >> SHIFT))
        out[i] = np.uint32(low | np.uint32(high << SHIFT))


def _pairs3(x: Any, y: Any, z: Any, out: Any) -> None:
    for i in range(out.size):
        low = scalar(np.uint32(x[i] & LOW), np.uint32(y[i] & LOW), np.uint32(z[i] & LOW))
        high = scalar(np.uint32(x[i] >> SHIFT), np.uint32(y[i] >> SHIFT), np.uint32(z[i] >> SHIFT))
        out[i] = np.uint32(low | np.uint32(high << SHIFT))


# A directed loop sets the rounding mode once. `mode` is a value of `intrinsics.ROUNDING`.
def _directed1(x: Any, out: Any, mode: int) -> None:
    set_rounding(mode)
    for i in range(out.size):
        out[i] = scalar(x[i])
    set_rounding(NEAREST)


def _directed2(x: Any, y: Any, out: Any, mode: int) -> None:
    set_rounding(mode)
    for i in range(out.size):
        out[i] = scalar(x[i], y[i])
    set_rounding(NEAREST)


def _directed3(x: Any, y: Any, z: Any, out: Any, mode: int) -> None:
    set_rounding(mode)
    for i in range(out.size):
        out[i] = scalar(x[i], y[i], z[i])
    set_rounding(NEAREST)


LOW, SHIFT = np.uint32(0xFFFF), np.uint32(16)
NEAREST = ROUNDING["rn"]
_Loops = tuple[Callable[..., None], ...]
_LOOPS = (_loop1, _loop2, _loop3)
_PAIR_LOOPS = (_loop1, _pairs2, _pairs3)
_DIRECTED_LOOPS = (_directed1, _directed2, _directed3)


# This class replaces NumPy ufuncs, whose wrappers Numba compiles again in every process.
class Elementwise:
    """Compiled function of numbers that is applied to arrays, element by element.

    The last `uniform` operands are single numbers. The other operands are arrays, broadcast together.
    """

    def __init__(
        self, function: Callable[..., Any], result: DTypeLike, uniform: int = 0, loops: _Loops = _LOOPS
    ) -> None:
        self.function = function
        self.result = np.dtype(result)
        self.arrays = function.__code__.co_argcount - uniform
        self.is_pairwise, self.is_directed = loops is _PAIR_LOOPS, loops is _DIRECTED_LOOPS
        self._template = loops[self.arrays - 1]

    @cached_property
    def _loop(self) -> Callable[..., None]:
        return specialized(self._template, self.function)

    def __call__(self, *operands: Any) -> Any:
        """Return the results, in the broadcast shape of the array operands.

        Traced lane values (`numerics.tracing`) evaluate the function themselves.
        """
        arrays = operands[: self.arrays]
        for x in arrays:
            if not isinstance(x, np.ndarray):
                return x.evaluate(self, operands)
        shape = arrays[0].shape
        for x in arrays:
            if x.shape != shape or not x.flags.carray:
                # All arrays are made contiguous, aligned and writable, so that Numba compiles only one loop.
                shape = np.broadcast(*arrays).shape
                arrays = [np.array(np.broadcast_to(x, shape)) for x in arrays]
                break
        out = np.empty(shape, self.result)
        self._loop(*[x.ravel() for x in arrays], out.ravel(), *operands[self.arrays :])
        return out


def elementwise(result: DTypeLike, uniform: int = 0) -> Callable[[Callable[..., Any]], Elementwise]:
    """Return a decorator that turns a function of numbers into an `Elementwise`.

    The last `uniform` operands are single numbers. `result` is the dtype of the results.
    """
    return lambda function: Elementwise(function, result, uniform)


def pairwise(function: Callable[..., Any]) -> Elementwise:
    """Return an `Elementwise` that applies a function to both 16-bit halves of uint32 words.

    The arguments and the result of the function are 16-bit patterns of type uint32.
    """
    return Elementwise(function, np.uint32, loops=_PAIR_LOOPS)


def directed(function: Callable[..., Any]) -> Elementwise:
    """Return an `Elementwise` of a function of f64 numbers, with a selectable rounding mode.

    The last operand of the `Elementwise` is the rounding mode, a value of `intrinsics.ROUNDING`.
    """
    return Elementwise(function, np.float64, loops=_DIRECTED_LOOPS)
