"""NVIDIA's Python packages, which are an extra and are imported when a GPU is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warploom.diag import UsageError


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
