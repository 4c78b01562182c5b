"""NVIDIA's Python packages, which are an extra and are imported when a GPU is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warploom.diag import UsageError


def package(name: str) -> Any:
    """A module of theirs, untyped as it comes. Errors: UsageError gpu.packages where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(
            "a launch on a GPU needs NVIDIA's Python packages",
            code="gpu.packages",
            hint="pip install 'warploom[gpu]'",
        ) from None
