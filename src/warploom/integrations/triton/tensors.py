"""Conversion of arrays and tensors between callers, Triton and the emulator."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, type_name
from warploom.integrations.triton.session import import_triton

Array = NDArray[Any]


class Tensor(np.ndarray[Any, Any]):
    """NumPy array with the methods that Triton expects of a tensor."""

    def data_ptr(self) -> int:
        """Return the address of the first element in host memory."""
        return int(self.__array_interface__["data"][0])

    def stride(self, axis: int | None = None) -> Any:
        """Return the stride of an axis, or of all axes. Units: elements."""
        steps = tuple(step // self.itemsize for step in self.strides)
        return steps if axis is None else steps[axis]

    def element_size(self) -> int:
        """Return the size of an element in bytes."""
        return self.itemsize

    def numel(self) -> int:
        """Return the number of elements."""
        return self.size

    def zero_(self) -> Tensor:
        """Set every element to zero."""
        self[...] = 0
        return self

    def copy_(self, other: Array) -> Tensor:
        """Copy the elements of another array."""
        self[...] = other
        return self

    def clone(self) -> Tensor:
        """Return a copy."""
        return self.copy()


def tensor(array: Array) -> Tensor:
    """Return a view of a NumPy array that Triton accepts as a tensor.

    Only arrays inside a `TensorDescriptor` and arguments of `triton.reinterpret` need this function.
    """
    return array.view(Tensor)


def as_argument(value: object) -> object:
    """Convert an argument of a launch for Triton: arrays to Tensor, NumPy scalars to Python numbers.

    Errors: UsageError triton.argument.
    """
    if isinstance(value, np.ndarray):
        array = cast("Array", value)
        if str(array.dtype) not in import_triton("_utils").type_canonicalisation_dict:
            raise UsageError(
                f"an argument is an array of {array.dtype}; Triton has no such type", code="triton.argument"
            )
        return value if isinstance(value, Tensor) else tensor(array)
    if isinstance(value, np.generic):
        return cast("np.generic[Any]", value).item()
    if type(value) is tuple:
        return tuple(as_argument(part) for part in cast("tuple[object, ...]", value))
    return value


def memory(name: str, value: object) -> Array:
    """Return a one-dimensional array over a tensor's memory, from the first to the last element.

    Errors: UsageError triton.argument for values other than tensors in host memory.
    """
    array = _on_host(name, value)
    if any(step < 0 for step in array.strides):
        raise UsageError(
            f"{name} is an array with a negative stride; expected strides of 0 or more",
            code="triton.argument",
            hint="pass a copy of the array",
        )
    last = sum((extent - 1) * step for extent, step in zip(array.shape, array.strides, strict=True))
    count = last // array.itemsize + 1 if array.size else 0
    return as_strided(array, (count,), (array.itemsize,))


def _on_host(name: str, value: Any) -> Array:
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    kind = cast("type[object]", type(value))
    if is_foreign_type(kind):
        if is_on_gpu(value):
            raise UsageError(
                f"{name} is a {type_name(value)} on a GPU; expected a tensor in host memory",
                code="triton.argument",
                hint="pass a copy in host memory, x.cpu()",
            )
        return as_numpy(value.detach() if hasattr(kind, "detach") else value)
    if hasattr(value, "data_ptr") and hasattr(value, "base"):
        return _on_host(name, value.base)  # a result of triton.reinterpret
    found = repr(value) if isinstance(value, (int, float, str)) else f"a {type_name(value)}"
    raise UsageError(f"{name} is {found}; expected an array or a tensor", code="triton.argument")
