"""Checks of options that several public functions have."""

from __future__ import annotations

from collections.abc import Mapping

from warploom.diagnostics import UsageError


def check_device(device: object) -> None:
    """Refuse a device other than "cpu" and "cuda". Errors: UsageError launch.device."""
    if device not in ("cpu", "cuda"):
        raise UsageError(f"device is {device!r}; expected 'cpu' or 'cuda'", code="launch.device")


def check_switches(switches: Mapping[str, object]) -> None:
    """Refuse a value that is neither True nor False. Errors: UsageError launch.option."""
    for option, value in switches.items():
        if not isinstance(value, bool):
            raise UsageError(f"{option} is {value!r}; expected True or False", code="launch.option")


def check_memory(memory: object, least: int) -> None:
    """Refuse a size of memory that is not an integer of at least `least` bytes.

    Errors: UsageError launch.option.
    """
    if not isinstance(memory, int) or isinstance(memory, bool) or memory < least:
        raise UsageError(f"memory is {memory!r}; expected at least {least} bytes", code="launch.option")
