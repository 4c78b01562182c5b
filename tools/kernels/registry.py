"""The table of references, and what all of them use."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Options = Mapping[str, Any]
Reference = Callable[[Arrays, Options], dict[str, Any]]

REFERENCES: dict[str, Reference] = {}


def reference(fn: Reference) -> Reference:
    """Register a reference under its own name, less the underscore at its end."""
    REFERENCES[fn.__name__.rstrip("_")] = fn
    return fn


def wide(array: Array) -> Array:
    """Floats as float64, integers as they are."""
    return array if array.dtype.kind in "iub" else array.astype(np.float64)


def erf(x: Array) -> Array:
    """The error function of every element."""
    return np.vectorize(math.erf)(x)


def each(fn: Callable[..., float]) -> Callable[..., Array]:
    """A function of floats, of arrays."""
    return np.vectorize(fn, otypes=[np.float64])
