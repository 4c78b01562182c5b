"""NVIDIA's Python packages. They are an extra, so they are imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warploom.diagnostics import UsageError

_OLDEST_CORE = (1, 2)  # first release with the cache and the array views that this package uses


def package(name: str) -> Any:
    """Import a module of NVIDIA's packages. Errors: UsageError gpu.packages if it is missing or broken."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise UsageError(
            "a launch on a GPU needs NVIDIA's Python packages", code="gpu.packages", hint="pip install 'warploom[gpu]'"
        ) from None
    except ImportError as error:
        raise UsageError(
            f"NVIDIA's Python packages are installed but cannot be loaded: {error}",
            code="gpu.packages",
            hint="pip install --upgrade 'warploom[gpu]'",
        ) from None


def core() -> Any:
    """Import the module cuda.core. Errors: UsageError gpu.packages if it is missing or too old."""
    found = package("cuda.core")
    if tuple(map(int, found.__version__.split(".")[:2])) < _OLDEST_CORE:
        raise UsageError(
            f"cuda-core {found.__version__} is installed; expected {'.'.join(map(str, _OLDEST_CORE))} or newer",
            code="gpu.packages",
            hint="pip install --upgrade 'warploom[gpu]'",
        )
    return found
