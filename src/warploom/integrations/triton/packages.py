"""Triton, which is an extra and is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from warploom.diagnostics import UsageError

_OLDEST = (3, 4)


def triton(part: str = "") -> ModuleType:
    """Triton or a part of it, untyped as it comes. Errors: UsageError triton.packages."""
    try:
        whole = import_module("triton")
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "triton"
        raise UsageError(
            "this needs Triton" if missing else f"Triton is installed and does not load: {error}",
            code="triton.packages",
            hint="pip install 'warploom[triton]'",
        ) from None
    if tuple(map(int, whole.__version__.split(".")[:2])) < _OLDEST:
        raise UsageError(
            f"Triton {whole.__version__} is installed; expected {'.'.join(map(str, _OLDEST))} or newer",
            code="triton.packages",
            hint="pip install --upgrade 'warploom[triton]'",
        )
    return import_module(f"triton.{part}") if part else whole
