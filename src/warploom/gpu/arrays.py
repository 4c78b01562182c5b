"""Arrays of other libraries: where each lies, so that a kernel uses it in place.

Whatever has `__dlpack__` or `__cuda_array_interface__` is an array. cuda-core's view of it says where it is;
an array in the host's memory is used as NumPy's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.gpu.driver import first_sentence
from warploom.gpu.packages import package
from warploom.layout import strided

_HOST_KINDS = (1, 3, 11)  # DLPack: memory of the host, pinned by CUDA, pinned by ROCm
_GPU_KINDS = (2, 13)  # memory of a GPU, memory that CUDA manages
UNORDERED = -1
"""A stream that is none: nothing waits for what made an array."""


@cache
def is_foreign_type(kind: type[object]) -> bool:
    """Whether values of a type are arrays of another library than NumPy."""
    if issubclass(kind, (np.ndarray, np.generic)):
        return False
    return any(hasattr(kind, way) for way in ("__dlpack__", "__cuda_array_interface__"))


@cache
def is_torch_type(kind: type[object]) -> bool:
    """Whether values of a type are tensors of PyTorch."""
    return is_foreign_type(kind) and kind.__module__.partition(".")[0] == "torch"


def _is_torch(value: object) -> bool:
    return is_torch_type(type(value))


def signature(array: Any) -> tuple[Any, ...]:
    """How an array lies and on which GPU, in its library's own words: quick to have, equal only where it lies the same.

    PyTorch gives the host the number -1.
    """
    if is_torch_type(array.__class__):
        return array.shape, array.stride(), array.dtype, array.get_device()
    return array.shape, getattr(array, "strides", None), array.dtype, number_of(array)


def is_on_gpu(value: object) -> bool:
    """Whether a value is an array in a GPU's memory. Errors: UsageError gpu.array where it is elsewhere."""
    return is_foreign_type(type(value)) and not _is_on_host(value)


def _is_on_host(value: object) -> bool:
    asked = getattr(type(value), "__dlpack_device__", None)
    if asked is None:
        return False
    kind = int(asked(value)[0])
    if kind not in _HOST_KINDS + _GPU_KINDS:
        raise UsageError(
            f"a {called(value)} is neither on a GPU of NVIDIA's nor in the host's memory", code="gpu.array"
        )
    return kind in _HOST_KINDS


def as_numpy(value: Any) -> NDArray[Any]:
    """An array in the host's memory as NumPy's, over the same memory.

    Errors: UsageError gpu.array where it has no such view.
    """
    dtype = strided(value).dtype
    try:
        if _is_torch(value) and hasattr(ml_dtypes, dtype.name):
            # PyTorch hands these types to nobody, but looks at their bits as whole numbers.
            bits = getattr(sys.modules["torch"], f"int{8 * dtype.itemsize}")
            return np.asarray(value.view(bits)).view(dtype)
        return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise UsageError(
            f"a {called(value)} cannot be used as NumPy's: {first_sentence(error)}", code="gpu.array"
        ) from None


class Locator:
    """Says where arrays lie in the memory of one GPU."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._view: Callable[[Any, int], Any] = package(
            "cuda.core.utils"
        ).StridedMemoryView.from_any_interface

    def __call__(self, value: Any, stream: int = UNORDERED) -> int:
        """The address of an array's first element.

        With a `stream`, what is launched there comes after what made the array.

        Errors: UsageError gpu.array where it cannot be used in place, gpu.device where it is another GPU's.
        """
        # PyTorch says it in a tenth of a microsecond, a view of one of its tensors takes ten.
        if is_torch_type(value.__class__) and value.get_device() == self.number:
            return int(value.data_ptr())
        try:
            seen = self._view(value, stream)
        except Exception as error:  # noqa: BLE001 - whatever library it is of raises its own
            raise UsageError(
                f"a {called(value)} cannot be used in place: {first_sentence(error)}", code="gpu.array"
            ) from None
        if not seen.is_device_accessible:
            raise UsageError(
                f"a {called(value)} is in the host's memory; expected one on the GPU", code="gpu.array"
            )
        if seen.device_id != self.number:
            raise UsageError(
                f"a {called(value)} is on GPU {seen.device_id}; the launch is on GPU {self.number}",
                code="gpu.device",
                hint="keep all arrays of a launch on one GPU",
            )
        if seen.readonly:
            raise UsageError(
                f"a {called(value)} is read-only; expected one that a kernel may write", code="gpu.array"
            )
        return int(seen.ptr)


def number_of(value: Any) -> int:
    """The number of the GPU that an array is on."""
    kind: type = value.__class__
    if is_torch_type(kind):
        return int(value.get_device())
    asked = getattr(kind, "__dlpack_device__", None)
    if asked is not None:
        return int(asked(value)[1])
    seen = package("cuda.core.utils").StridedMemoryView.from_any_interface(value, UNORDERED)
    return int(seen.device_id)


def called(value: object) -> str:
    """An array's type and library, for messages."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    return f"{library} {kind.__name__}" if library not in ("builtins", "__main__") else kind.__name__
