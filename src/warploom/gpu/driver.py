"""Import of NVIDIA's Python packages, and texts for status codes of the CUDA driver."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warploom.diagnostics import Diagnostic, Severity, UsageError, WarploomError

_OLDEST_CORE = (1, 2)  # first release with the cache and the array views that this package uses


class DeviceFault(WarploomError):
    """Fault of a kernel on the GPU, or of the CUDA driver, without a source location."""

    @classmethod
    def of(cls, message: str, hint: str = "") -> DeviceFault:
        """Return a fault with one diagnostic."""
        return cls([Diagnostic("gpu.fault", Severity.ERROR, message, hint=hint)])


def status_text(driver: Any, status: Any) -> str:
    """Return the driver's description of a status code."""
    _, text = driver.cuGetErrorString(status)
    return text.decode() if text else str(status)


def must(driver: Any, answer: tuple[Any, ...]) -> Any:
    """Return the value of a driver call. `answer` is the call's status, followed by the value.

    Errors: DeviceFault gpu.fault for a bad status.
    """
    status, *values = answer
    if status:
        raise DeviceFault.of(f"the GPU's driver failed: {status_text(driver, status)}")
    return values[0] if values else None


def first_sentence(error: BaseException) -> str:
    """Return the first sentence of an error's message."""
    # NVIDIA's messages have whole paragraphs.
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
