"""Element types by name. bfloat16 and the types float8 come from the package ml-dtypes."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError

EXTENSIONS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
"""Names of the types of ml-dtypes."""
INSTALLED = find_spec("ml_dtypes") is not None
"""True if ml-dtypes is installed. It is not in WebAssembly."""


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the element type with a name of NumPy or of `EXTENSIONS`.

    Errors: UsageError launch.dtype if the type needs ml-dtypes, which is not installed.
    """
    if name not in EXTENSIONS:
        return np.dtype(name)
    if not INSTALLED:
        raise UsageError(f"{name} needs the package ml-dtypes, which is not installed", code="launch.dtype")
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name))
