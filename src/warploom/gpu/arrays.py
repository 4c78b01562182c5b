"""Addresses, devices and current streams of arrays of PyTorch, CuPy and JAX.

Any object with `__dlpack__` or `__cuda_array_interface__` is an array.
"""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.gpu.driver import first_sentence, package
from warploom.layout import strided

_HOST_KINDS = (1, 3, 11)  # DLPack: host memory, host memory pinned by CUDA or by ROCm
_GPU_KINDS = (2, 13)  # DLPack: memory of a GPU, managed memory
LEGACY = 1
"""Handle of the legacy default stream (CU_STREAM_LEGACY). Unlike the handle 0, it is not null."""
UNORDERED = -1
"""Stream argument of DLPack that requests no synchronization with the stream that produced the array."""


@cache
def is_foreign_type(kind: type[object]) -> bool:
    """Return True if values of the Python type `kind` are arrays of a library other than NumPy."""
    if issubclass(kind, (np.ndarray, np.generic)):
        return False
    return any(hasattr(kind, name) for name in ("__dlpack__", "__cuda_array_interface__"))


@cache
def is_torch_type(kind: type[object]) -> bool:
    """Return True if values of the Python type `kind` are tensors of PyTorch."""
    return is_foreign_type(kind) and kind.__module__.partition(".")[0] == "torch"


def signature(array: Any) -> tuple[Any, ...]:
    """Return the shape, strides, element type and GPU number of an array.

    The element type is the library's own. The strides are in elements for PyTorch, and in bytes for other libraries.
    """
    if is_torch_type(array.__class__):
        return array.shape, array.stride(), array.dtype, array.get_device()
    return array.shape, getattr(array, "strides", None), array.dtype, number_of(array)


def is_on_gpu(value: object) -> bool:
    """Return True if a value is an array in the memory of a GPU. Errors: UsageError gpu.array."""
    if not is_foreign_type(type(value)):
        return False
    device = getattr(type(value), "__dlpack_device__", None)
    if device is None:
        return True
    kind = int(device(value)[0])
    if kind not in _HOST_KINDS + _GPU_KINDS:
        raise UsageError(f"a {type_name(value)} is neither on an NVIDIA GPU nor in the host's memory", code="gpu.array")
    return kind in _GPU_KINDS


def as_numpy(value: Any) -> NDArray[Any]:
    """Return an array in host memory as a NumPy array over the same memory. Errors: UsageError gpu.array."""
    import ml_dtypes

    dtype = strided(value).dtype
    try:
        if is_torch_type(value.__class__) and hasattr(ml_dtypes, dtype.name):
            # PyTorch does not export these types, but it can view their bits as integers.
            bits = getattr(sys.modules["torch"], f"int{8 * dtype.itemsize}")
            return np.asarray(value.view(bits)).view(dtype)
        return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise UsageError(
            f"a {type_name(value)} cannot be used as a NumPy array: {first_sentence(error)}", code="gpu.array"
        ) from None


class Locator:
    """Callable that returns the address of an array on the GPU `number`."""

    def __init__(self, number: int) -> None:
        self.number = number
        views = package("cuda.core.utils").StridedMemoryView
        self._view: Callable[[Any, int], Any] = views.from_any_interface

    def __call__(self, value: Any, stream: int = UNORDERED) -> int:
        """Return the address of an array's first element.

        Unless `stream` is UNORDERED, later work on `stream` waits until the array is computed.

        Errors: UsageError gpu.array if the array cannot be used in place, gpu.device if it is on another GPU.
        """
        # PyTorch returns the address in 0.1 µs; a view of a tensor takes 10 µs.
        if is_torch_type(value.__class__) and value.get_device() == self.number:
            return int(value.data_ptr())
        try:
            view = self._view(value, stream)
        except Exception as error:  # noqa: BLE001 - each library raises its own type
            raise _refuse(value, f"cannot be used in place: {first_sentence(error)}") from None
        if not view.is_device_accessible:
            raise _refuse(value, "is in the host's memory; expected one on the GPU")
        if view.device_id != self.number:
            raise UsageError(
                f"a {type_name(value)} is on GPU {view.device_id}; the launch is on GPU {self.number}",
                code="gpu.device",
                hint="keep all arrays of a launch on one GPU",
            )
        if view.readonly:
            raise _refuse(value, "is read-only; expected one that a kernel may write")
        return int(view.ptr)


def number_of(value: Any) -> int:
    """Return the number of an array's GPU."""
    kind: type = value.__class__
    if is_torch_type(kind):
        return int(value.get_device())
    device = getattr(kind, "__dlpack_device__", None)
    if device is not None:
        return int(device(value)[1])
    return int(package("cuda.core.utils").StridedMemoryView.from_any_interface(value, UNORDERED).device_id)


def type_name(value: object) -> str:
    """Return the library and type of an array for messages, such as `torch Tensor`."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    return f"{library} {kind.__name__}" if library not in ("builtins", "__main__") else kind.__name__


def _refuse(value: object, message: str) -> UsageError:
    return UsageError(f"a {type_name(value)} {message}", code="gpu.array")


# Streams --------------------------------------------------------------------------------------------------------


def handle_of(stream: object) -> int:
    """Return the handle of a stream. Errors: UsageError gpu.stream.

    A stream is an integer handle, an object with `__cuda_stream__`, or a stream of PyTorch or CuPy.
    """
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream or LEGACY
    given: Any = stream
    if callable(getattr(given, "__cuda_stream__", None)):
        return int(given.__cuda_stream__()[1]) or LEGACY
    for attribute in ("cuda_stream", "ptr"):  # of older releases of PyTorch and CuPy
        handle = getattr(given, attribute, None)
        if isinstance(handle, int):
            return handle or LEGACY
    raise UsageError(
        f"stream is {stream!r}; expected a stream of PyTorch, CuPy or cuda-core, or its handle", code="gpu.stream"
    )


def _torch(tensor: Any) -> int:
    torch = sys.modules["torch"]
    # PyTorch's own compilers use this function. It takes a tenth of the time of a Stream object.
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:
        return raw(tensor.get_device()) or LEGACY
    return int(torch.cuda.current_stream(tensor.device).cuda_stream) or LEGACY


_CURRENT: dict[str, Callable[[Any], int]] = {
    "torch": _torch,
    "cupy": lambda _: int(sys.modules["cupy"].cuda.get_current_stream().ptr) or LEGACY,
}


@cache
def current_of(kind: type) -> Callable[[Any], int] | None:
    """Return a function that takes an array of type `kind` and returns its library's current stream.

    Return None for a library without current streams.
    """
    return _CURRENT.get(kind.__module__.partition(".")[0])
