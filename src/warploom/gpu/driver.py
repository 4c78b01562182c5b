"""NVIDIA's Python packages, and errors and messages for the status codes of the CUDA driver.

The packages are an extra, so they are imported on use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warploom.diagnostics import Diagnostic, Severity, UsageError, WarploomError

_OLDEST_CORE = (1, 2)  # first release with the cache and the array views that this package uses


class DeviceFault(WarploomError):
    """Fault of a kernel on the GPU, or of the GPU's driver. The driver's message has no source location."""

    @classmethod
    def of(cls, message: str, hint: str = "") -> DeviceFault:
        """Return a fault whose only diagnostic has this message and hint."""
        return cls([Diagnostic("gpu.fault", Severity.ERROR, message, hint=hint)])


def status_text(driver: Any, status: Any) -> str:
    """Return the driver's description of a status code."""
    _, text = driver.cuGetErrorString(status)
    return text.decode() if text else str(status)


def must(driver: Any, answer: tuple[Any, ...]) -> Any:
    """Return the value after the status in a driver's `answer`. Errors: DeviceFault gpu.fault."""
    status, *values = answer
    if status:
        raise DeviceFault.of(f"the GPU's driver failed: {status_text(driver, status)}")
    return values[0] if values else None


def first_sentence(error: BaseException) -> str:
    """Return the first sentence of an error's message. NVIDIA's messages have whole paragraphs."""
    text = " ".join(str(error).split())
    return text.partition(". ")[0].rstrip(".") or type(error).__name__


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
