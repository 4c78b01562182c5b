"""Arrays as Triton and the machine take them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, type_name
from warploom.integrations.triton.packages import triton

Array = NDArray[Any]


class Tensor(np.ndarray[Any, Any]):
    """A NumPy array with the methods by which Triton knows a tensor."""

    def data_ptr(self) -> int:
        """The address of the first element, in the host's memory."""
        return int(self.__array_interface__["data"][0])

    def stride(self, axis: int | None = None) -> Any:
        """The stride of an axis, or of all. Units: elements."""
        steps = tuple(step // self.itemsize for step in self.strides)
        return steps if axis is None else steps[axis]

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.itemsize

    def numel(self) -> int:
        """Elements."""
        return self.size

    def zero_(self) -> Tensor:
        """Zero every element."""
        self[...] = 0
        return self

    def copy_(self, other: Array) -> Tensor:
        """Take the elements of another array."""
        self[...] = other
        return self

    def clone(self) -> Tensor:
        """A copy."""
        return self.copy()


def tensor(array: Array) -> Tensor:
    """A NumPy array as Triton takes it, over the same memory.

    Arguments of a launch are taken so by themselves; a `TensorDescriptor` and `triton.reinterpret` want it done.
    """
    return array.view(Tensor)


def argument(value: object) -> object:
    """An argument of a launch as Triton takes it: NumPy's arrays are tensors, its scalars numbers of Python.

    Errors: UsageError triton.argument.
    """
    if isinstance(value, np.ndarray):
        array = cast("Array", value)
        if str(array.dtype) not in triton("_utils").type_canonicalisation_dict:
            raise UsageError(
                f"an argument is an array of {array.dtype}; Triton has no such type", code="triton.argument"
            )
        return value if isinstance(value, Tensor) else tensor(array)
    if isinstance(value, np.generic):
        return cast("np.generic[Any]", value).item()
    if type(value) is tuple:
        return tuple(argument(part) for part in cast("tuple[object, ...]", value))
    return value


def memory(name: str, value: object) -> Array:
    """The memory from a tensor's first element to its last, as an array of one axis over it.

    Errors: UsageError triton.argument for what is no tensor in the host's memory.
    """
    array = _on_host(name, value)
    if any(step < 0 for step in array.strides):
        raise UsageError(
            f"{name} is an array with a negative stride; expected strides of 0 or more",
            code="triton.argument",
            hint="pass a copy of it",
        )
    last = sum((extent - 1) * step for extent, step in zip(array.shape, array.strides, strict=True))
    count = last // array.itemsize + 1 if array.size else 0
    return as_strided(array, (count,), (array.itemsize,))


def _on_host(name: str, value: Any) -> Array:
    """A tensor as an array of NumPy's over the same memory."""
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    kind = cast("type[object]", type(value))
    if is_foreign_type(kind):
        if is_on_gpu(value):
            raise UsageError(
                f"{name} is a {type_name(value)} on a GPU; expected one in the host's memory",
                code="triton.argument",
                hint="pass a copy of it there, x.cpu()",
            )
        return as_numpy(value.detach() if hasattr(kind, "detach") else value)
    if hasattr(value, "data_ptr") and hasattr(value, "base"):
        return _on_host(name, value.base)  # what triton.reinterpret makes
    found = repr(value) if isinstance(value, (int, float, str)) else f"a {type_name(value)}"
    raise UsageError(f"{name} is {found}; expected an array or a tensor", code="triton.argument")
