"""Recognition of arrays among the arguments of a launch."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from warploom.gpu.arrays import is_foreign_type
from warploom.runtime.sessions.device_array import DeviceArray


def is_array(value: object) -> TypeGuard[Any]:
    """Return True if a value is an array of NumPy, PyTorch, CuPy, JAX or a session."""
    return isinstance(value, (np.ndarray, DeviceArray)) or is_foreign_type(type(value))


def is_numpy(value: object) -> TypeGuard[NDArray[Any]]:
    """Return True if a value is an array of NumPy."""
    return isinstance(value, np.ndarray)
