"""Table of the functions that compute expected results of kernels, and common helpers."""

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
    """Register a function in REFERENCES under its name without a trailing underscore."""
    REFERENCES[fn.__name__.rstrip("_")] = fn
    return fn


def wide(array: Array) -> Array:
    """Return integers and booleans unchanged, and any other array as float64."""
    return array if array.dtype.kind in "iub" else array.astype(np.float64)


def erf(x: Array) -> Array:
    """Return the error function of every element."""
    return np.vectorize(math.erf)(x)


def each(fn: Callable[..., float]) -> Callable[..., Array]:
    """Turn a function of floats into a function of arrays that returns float64."""
    return np.vectorize(fn, otypes=[np.float64])
