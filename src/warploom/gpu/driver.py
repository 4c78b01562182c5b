"""The driver's answers: its words for a status, and a status as an error."""

from __future__ import annotations

from typing import Any

from warploom.diagnostics import Diagnostic, Severity, WarploomError


class DeviceFault(WarploomError):
    """The GPU broke off a kernel, or its driver failed. The driver says why, not where."""

    @classmethod
    def saying(cls, message: str, hint: str = "") -> DeviceFault:
        """A fault with its one sentence."""
        return cls([Diagnostic("gpu.fault", Severity.ERROR, message, hint=hint)])


def words(driver: Any, status: Any) -> str:
    """What the driver says of a status."""
    _, text = driver.cuGetErrorString(status)
    return text.decode() if text else str(status)


def must(driver: Any, answer: tuple[Any, ...]) -> Any:
    """The value of an answer that must be a good one. Errors: DeviceFault gpu.fault."""
    status, *values = answer
    if status:
        raise DeviceFault.saying(f"the GPU's driver failed: {words(driver, status)}")
    return values[0] if values else None


def first_sentence(error: BaseException) -> str:
    """The first sentence of what an error says, without the paragraphs that NVIDIA's packages add."""
    text = " ".join(str(error).split())
    return text.partition(". ")[0].rstrip(".") or type(error).__name__
