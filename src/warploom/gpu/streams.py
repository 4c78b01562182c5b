"""Streams: the handle of whatever is given as one, and the one on which an array's library works now."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from warploom.diagnostics import UsageError

LEGACY = 1
"""The handle of the default stream, by which it cannot be mistaken for none."""


def handle_of(stream: object) -> int:
    """The handle of a stream: an integer, or what has `__cuda_stream__` (or PyTorch's and CuPy's older ways).

    Errors: UsageError gpu.stream.
    """
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream or LEGACY
    given: Any = stream
    if callable(getattr(given, "__cuda_stream__", None)):
        return int(given.__cuda_stream__()[1]) or LEGACY
    for attribute in ("cuda_stream", "ptr"):
        handle = getattr(given, attribute, None)
        if isinstance(handle, int):
            return handle or LEGACY
    raise UsageError(
        f"stream is {stream!r}; expected a stream of PyTorch, CuPy or cuda-core, or its handle",
        code="gpu.stream",
    )


def _torch(tensor: Any) -> int:
    torch = sys.modules["torch"]
    # What its own compilers ask: a tenth of the time that an object of its Stream takes.
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:
        return raw(tensor.get_device()) or LEGACY
    return int(torch.cuda.current_stream(tensor.device).cuda_stream) or LEGACY


def _cupy(_: Any) -> int:
    return int(sys.modules["cupy"].cuda.get_current_stream().ptr) or LEGACY


_CURRENT: dict[str, Callable[[Any], int]] = {"torch": _torch, "cupy": _cupy}


@cache
def current_of(kind: type) -> Callable[[Any], int] | None:
    """What says on which stream the library of an array works now; None where it has no such notion."""
    return _CURRENT.get(kind.__module__.partition(".")[0])
