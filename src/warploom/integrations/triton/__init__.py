"""Execution of Triton and Gluon kernels on the emulator, by Triton's own call `kernel[grid](...)`.

Triton compiles to PTX without a GPU, and a driver of this package executes the PTX.
"""

import atexit
import warnings
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from warploom.emulator.faults import Deadlock, Trap
from warploom.integrations.triton.driver import installed
from warploom.integrations.triton.session import FindingsError, FindingsWarning, LaunchRecord, Session, read_arch
from warploom.integrations.triton.tensors import Tensor, tensor

__all__ = [
    "Deadlock", "FindingsError", "FindingsWarning", "LaunchRecord", "Tensor", "Trap", "activate", "deactivate",
    "emulate", "tensor",
]  # fmt: skip

_activations = ExitStack()


@contextmanager
def emulate(
    *,
    arch: int | str = 90,
    schedule: str = "eager",
    sanitize: bool = False,
    raises: bool = True,
    check: bool = False,
    strict: bool = False,
    trace: bool | Sequence[int] = False,
    workers: int = 1,
) -> Generator[list[LaunchRecord]]:
    """Run the Triton kernels of a `with` block on the emulator, and yield the list of launches.

    Arguments of kernels are NumPy arrays or PyTorch tensors in host memory, which are updated in place. `arch` is the
    architecture that Triton compiles for, such as 90 or "sm_90". If `check` is true, the PTX is checked before each
    launch. If `strict` is true, findings of `check` and `sanitize` are raised as FindingsError. Otherwise the block
    warns of them with FindingsWarning when it ends. `warploom.launch` describes the other options.

    Errors: UsageError triton.*; FindingsError with `strict`; errors of `warploom.launch`, such as Trap and Deadlock.
    """
    session = Session(read_arch(arch), schedule, sanitize, raises, check, strict, trace, workers)
    with installed(session):
        yield session.launches
    if summary := session.summary():
        warnings.warn(
            summary, FindingsWarning, stacklevel=3
        )  # of the `with` block, behind this function and contextlib


def activate(
    *,
    arch: int | str = 90,
    schedule: str = "eager",
    sanitize: bool = False,
    raises: bool = True,
    check: bool = False,
    strict: bool = False,
    trace: bool | Sequence[int] = False,
    workers: int = 1,
) -> list[LaunchRecord]:
    """Run all later Triton kernels on the emulator. `emulate` describes the options and the result.

    `deactivate`, or else the end of the process, warns of findings with FindingsWarning.
    """
    return _activations.enter_context(
        emulate(
            arch=arch, schedule=schedule, sanitize=sanitize, raises=raises, check=check, strict=strict, trace=trace,
            workers=workers,
        )
    )  # fmt: skip


def deactivate() -> None:
    """End the effects of all calls of `activate`."""
    _activations.close()


atexit.register(deactivate)
