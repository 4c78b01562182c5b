"""Shape, strides and element type of an array of NumPy, PyTorch, CuPy or JAX."""

from math import prod
from typing import Any, cast

import numpy as np

from warploom.diagnostics import UsageError
from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Strided:
    """Shape, strides and element type of an array. Units: `strides` in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Size of an element in bytes."""
        return self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """True if the elements are consecutive in row-major order."""
        pitch = self.itemsize
        for extent, stride in zip(self.shape[::-1], self.strides[::-1], strict=True):
            if extent > 1 and stride != pitch:
                return self.size == 0
            pitch *= extent
        return True


def strided(array: Any) -> Strided:
    """Return the shape, strides and element type of an array of NumPy, PyTorch, CuPy or JAX.

    Errors: UsageError layout.array for an object without a shape, an element type or strides.
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


def _dtype(given: Any) -> np.dtype[Any]:
    """Return the NumPy dtype for an element type of NumPy, PyTorch, CuPy or JAX."""
    if isinstance(given, np.dtype):
        return cast("np.dtype[Any]", given)
    import ml_dtypes

    name = str(given).rpartition(".")[2]
    if name == "float4_e2m1fn_x2":  # PyTorch's type of two packed elements
        name = "uint8"
    return np.dtype(getattr(ml_dtypes, name, name))
