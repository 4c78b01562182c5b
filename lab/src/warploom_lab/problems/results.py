"""Comparison of result arrays, and arrays of NaNs around the data of a case."""

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

_OUTSIDE = 0xFF  # every byte outside the data; NaN in all float types


def filled(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array of NaNs."""
    return np.full((*shape[:-1], shape[-1] * dtype.itemsize), _OUTSIDE, np.uint8).view(dtype)


def digest(*arrays: Array) -> str:
    """Return the SHA-256 of the elements of arrays in row-major order."""
    content = sha256()
    for array in arrays:
        content.update(array.tobytes())
    return content.hexdigest()


def described_digest(arrays: dict[str, Array | None]) -> str:
    """Return the SHA-256 of names, types, shapes and elements of arrays. An absent array is None."""
    content = sha256()
    for name, array in arrays.items():
        if array is not None:
            content.update(f"{name} {array.dtype} {array.shape} ".encode())
            content.update(array.tobytes())
    return content.hexdigest()


def ratio(result: Array, wanted: Floats, allowed: Floats) -> float:
    """Return the largest value of error / allowed error over all elements.

    `wanted` is the expected result. An unexpected NaN gives infinity.
    """
    found = result.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        same = (found == wanted) | (np.isnan(wanted) & np.isnan(found))
        share = np.where(same, 0.0, abs(found - wanted) / allowed)
    return float(np.where(np.isnan(share), np.inf, share).max(initial=0.0))


def first_difference(real: Array, emulated: Array, name: str = "") -> str:
    """Return a message about the elements whose bits differ, or "". `name` is the name of the result."""
    bits = f"u{real.itemsize}"
    gpu, emulator = (np.ascontiguousarray(each).view(bits) for each in (real, emulated))
    places = np.argwhere(gpu != emulator)
    if not len(places):
        return ""
    first = tuple(int(place) for place in places[0])
    return (
        f"{len(places)} of {real.size} elements{f' of {name}' if name else ''} differ, the first at {first}: the GPU"
        f" has {int(gpu[first]):#x}, the emulator {int(emulator[first]):#x}"
    )


def written_outside(memory: Array, before: Array, inside: NDArray[np.bool_], name: str) -> str:
    """Return a message about elements outside a result that the kernel wrote, or "".

    `memory` contains the result `name`, where `inside` is True. `before` is the memory before the launch.
    """
    bits = f"u{before.itemsize}"
    written = np.count_nonzero((memory.view(bits) != before.view(bits)) & ~inside)
    return f"{written} elements outside {name} were written" if written else ""
