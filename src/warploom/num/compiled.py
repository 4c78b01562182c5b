"""The one door to Numba: how every compiled kernel of the package is compiled.

Importing this module imports Numba, so only modules that hold compiled code do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile at first call, keep on disk, release the GIL; IEEE arithmetic, no reordering, no exceptions."""
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=False)(function)
    return compiled
