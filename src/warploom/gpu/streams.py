"""Handles of CUDA streams, and the current streams of PyTorch and CuPy."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from warploom.diagnostics import UsageError

LEGACY = 1
"""Handle of the legacy default stream (CU_STREAM_LEGACY). Unlike the handle 0, it is not null."""


def handle_of(stream: object) -> int:
    """Return the handle of a stream.

    A stream is an integer, an object with `__cuda_stream__`, or a stream of PyTorch or CuPy.

    Errors: UsageError gpu.stream.
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


def _cupy(_: Any) -> int:
    return int(sys.modules["cupy"].cuda.get_current_stream().ptr) or LEGACY


_CURRENT: dict[str, Callable[[Any], int]] = {"torch": _torch, "cupy": _cupy}


@cache
def current_of(kind: type) -> Callable[[Any], int] | None:
    """Return a function from an array of a type to its library's current stream, or None if it has none."""
    return _CURRENT.get(kind.__module__.partition(".")[0])
