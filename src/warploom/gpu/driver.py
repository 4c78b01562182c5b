"""Errors and messages for the status codes of the CUDA driver."""

from __future__ import annotations

from typing import Any

from warploom.diagnostics import Diagnostic, Severity, WarploomError


class DeviceFault(WarploomError):
    """Fault of a kernel on the GPU, or of its driver. The driver states the reason without a location."""

    @classmethod
    def of(cls, message: str, hint: str = "") -> DeviceFault:
        """Return a fault with one message and a hint."""
        return cls([Diagnostic("gpu.fault", Severity.ERROR, message, hint=hint)])


def status_text(driver: Any, status: Any) -> str:
    """Return the driver's description of a status code."""
    _, text = driver.cuGetErrorString(status)
    return text.decode() if text else str(status)


def must(driver: Any, answer: tuple[Any, ...]) -> Any:
    """Return the value in the result of a driver call. Errors: DeviceFault gpu.fault if the call failed."""
    status, *values = answer
    if status:
        raise DeviceFault.of(f"the GPU's driver failed: {status_text(driver, status)}")
    return values[0] if values else None


def first_sentence(error: BaseException) -> str:
    """Return the first sentence of an error's message. NVIDIA's packages append whole paragraphs."""
    text = " ".join(str(error).split())
    return text.partition(". ")[0].rstrip(".") or type(error).__name__
