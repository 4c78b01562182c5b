"""Import of Triton, an optional dependency, on first use."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from warploom.diagnostics import UsageError

_OLDEST = (3, 4)


def import_triton(submodule: str = "") -> ModuleType:
    """Import Triton, or its module `triton.submodule`. Errors: UsageError triton.packages."""
    try:
        package = import_module("triton")
    except ImportError as error:
        is_missing = isinstance(error, ModuleNotFoundError) and error.name == "triton"
        raise UsageError(
            "Triton is not installed" if is_missing else f"Triton is installed but cannot be imported: {error}",
            code="triton.packages",
            hint="pip install 'warploom[triton]'",
        ) from None
    if tuple(map(int, package.__version__.split(".")[:2])) < _OLDEST:
        raise UsageError(
            f"Triton {package.__version__} is installed; expected {'.'.join(map(str, _OLDEST))} or newer",
            code="triton.packages",
            hint="pip install --upgrade 'warploom[triton]'",
        )
    return import_module(f"triton.{submodule}") if submodule else package
