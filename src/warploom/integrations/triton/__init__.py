"""Execution of Triton and Gluon kernels on the emulator through their own `kernel[grid](...)` call.

Triton compiles to PTX without a GPU. A Triton driver, which this package makes the active one, executes the PTX.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from warploom.emulator.faults import Deadlock, Trap
from warploom.integrations.triton.install import installed
from warploom.integrations.triton.session import FindingsError, LaunchRecord, Session, read_arch
from warploom.integrations.triton.tensors import Tensor, tensor

__all__ = [
    "Deadlock", "FindingsError", "LaunchRecord", "Tensor", "Trap", "activate", "deactivate", "emulate", "tensor",
]  # fmt: skip

_activations = ExitStack()


@contextmanager
def emulate(
    *,
    arch: int | str = 90,
    schedule: str = "eager",
    sanitize: bool = False,
    check: bool = False,
    strict: bool = False,
    trace: bool | Sequence[int] = False,
    workers: int = 1,
) -> Generator[list[LaunchRecord]]:
    """Run the Triton kernels of the block on the emulator, and yield the list of their launches.

    Arguments of kernels are NumPy arrays or PyTorch tensors in host memory, which are updated in place. `arch` is the
    architecture that Triton compiles for, 90 or "sm_90". `schedule`, `sanitize`, `trace` and `workers` are those of
    `warploom.launch`. `check` checks the PTX before each launch. Findings of `check` and `sanitize` are kept in the
    record of the launch; `strict` also raises them.

    Errors: UsageError triton.*; FindingsError with `strict`; errors of `warploom.launch`.
    """
    session = Session(read_arch(arch), schedule, sanitize, check, strict, trace, workers)
    with installed(session):
        yield session.launches


def activate(
    *,
    arch: int | str = 90,
    schedule: str = "eager",
    sanitize: bool = False,
    check: bool = False,
    strict: bool = False,
    trace: bool | Sequence[int] = False,
    workers: int = 1,
) -> list[LaunchRecord]:
    """Run Triton kernels on the emulator from now on, with the options and the result of `emulate`."""
    return _activations.enter_context(
        emulate(
            arch=arch, schedule=schedule, sanitize=sanitize, check=check, strict=strict, trace=trace, workers=workers
        )
    )  # fmt: skip


def deactivate() -> None:
    """End all sessions that `activate` began, and restore Triton's driver."""
    _activations.close()
