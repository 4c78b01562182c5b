"""Shape, strides and element type of an array, whoever's it is: NumPy's, PyTorch's, CuPy's, JAX's."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, cast

import ml_dtypes
import numpy as np

from warploom.diagnostics import UsageError


@dataclass(frozen=True, slots=True)
class Strided:
    """How the elements of an array lie. Units: `strides` in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """Axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another in row-major order."""
        pitch = self.itemsize
        for extent, stride in zip(self.shape[::-1], self.strides[::-1], strict=True):
            if extent > 1 and stride != pitch:
                return self.size == 0
            pitch *= extent
        return True


def strided(array: Any) -> Strided:
    """How an array lies. It is read from its attributes alone, so that no library but NumPy is needed.

    NumPy and CuPy have strides in bytes, PyTorch a method that counts elements; JAX has none, for its arrays
    are contiguous.

    Errors: UsageError layout.array
    """
    try:
        shape = tuple(int(extent) for extent in array.shape)
        dtype = _dtype(array.dtype)
        if callable(getattr(array, "stride", None)):
            strides = tuple(int(step) * dtype.itemsize for step in array.stride())
        elif getattr(array, "strides", None) is not None:
            strides = tuple(int(step) for step in array.strides)
        else:
            strides = tuple(dtype.itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))
    except (AttributeError, TypeError, RuntimeError):
        raise UsageError(
            f"a {type(array).__name__} is no strided array; expected an array of NumPy, PyTorch, CuPy or JAX",
            code="layout.array",
        ) from None
    return Strided(shape, strides, dtype)


def _dtype(named: Any) -> np.dtype[Any]:
    """NumPy's type of elements; PyTorch calls its own as NumPy and ml_dtypes do, with its name before."""
    if isinstance(named, np.dtype):
        return cast("np.dtype[Any]", named)
    name = str(named).rpartition(".")[2]
    return np.dtype(getattr(ml_dtypes, name, name))
