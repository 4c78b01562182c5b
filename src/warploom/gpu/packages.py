"""NVIDIA's Python packages, which are an extra and are imported when a GPU is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warploom.diagnostics import UsageError

_OLDEST_CORE = (1, 2)  # the first whose cache and views are as they are used here


def package(name: str) -> Any:
    """A module of theirs, untyped as it comes. Errors: UsageError gpu.packages where it is not there or broken."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise UsageError(
            "a launch on a GPU needs NVIDIA's Python packages",
            code="gpu.packages",
            hint="pip install 'warploom[gpu]'",
        ) from None
    except ImportError as error:
        raise UsageError(
            f"NVIDIA's Python packages are installed and do not load: {error}",
            code="gpu.packages",
            hint="pip install --upgrade 'warploom[gpu]'",
        ) from None


def core() -> Any:
    """cuda-core. Errors: UsageError gpu.packages where it is not there or too old."""
    found = package("cuda.core")
    if tuple(map(int, found.__version__.split(".")[:2])) < _OLDEST_CORE:
        raise UsageError(
            f"cuda-core {found.__version__} is installed; expected {'.'.join(map(str, _OLDEST_CORE))} or newer",
            code="gpu.packages",
            hint="pip install --upgrade 'warploom[gpu]'",
        )
    return found
