"""Triton and Gluon kernels on the abstract machine, through their own `kernel[grid](...)` call.

Triton compiles to PTX without a GPU; a *driver* of Triton's, made current here, has the machine execute it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from warploom.emulator.faults import Deadlock, Trap
from warploom.integrations.triton.door import close, is_open, open_with
from warploom.integrations.triton.launcher import Found, Launched
from warploom.integrations.triton.settings import Settings
from warploom.integrations.triton.tensors import Tensor, tensor

__all__ = ["Deadlock", "Found", "Launched", "Tensor", "Trap", "activate", "deactivate", "machine", "tensor"]


@contextmanager
def machine(
    *,
    arch: int | str = 90,
    schedule: str = "eager",
    sanitize: bool = False,
    check: bool = False,
    strict: bool = False,
    trace: bool | Sequence[int] = False,
    workers: int = 1,
) -> Generator[list[Launched]]:
    """Within the block, Triton kernels run on the abstract machine; what they did is in the list that it gives.

    Arguments are arrays of NumPy or PyTorch tensors in the host's memory, updated in place. `arch` is what Triton
    compiles for, 90 or "sm_90". `schedule`, `sanitize`, `trace` and `workers` are those of `warploom.runtime`.
    `check` judges the PTX first. What `check` and `sanitize` find is on the launch; with `strict` it is raised too.

    Errors: UsageError triton.*; Found with `strict`; what `warploom.runtime` raises.
    """
    settings = Settings.of(arch, schedule, sanitize, check, strict, trace, workers)
    before = open_with(settings)
    try:
        yield settings.runs
    finally:
        close(before)


def activate(
    *,
    arch: int | str = 90,
    schedule: str = "eager",
    sanitize: bool = False,
    check: bool = False,
    strict: bool = False,
    trace: bool | Sequence[int] = False,
    workers: int = 1,
) -> list[Launched]:
    """From here on Triton kernels run on the abstract machine, as within `machine`; gives the same list."""
    settings = Settings.of(arch, schedule, sanitize, check, strict, trace, workers)
    open_with(settings)
    return settings.runs


def deactivate() -> None:
    """Give Triton its own driver back. Harmless where none of ours is current."""
    if is_open():
        close(None)
