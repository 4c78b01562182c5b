"""Installation of the emulator's driver in Triton, and acceptance of NumPy arrays as arguments."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import Any, cast

from warploom.integrations.triton.driver import Driver
from warploom.integrations.triton.session import Session, import_triton
from warploom.integrations.triton.tensors import as_argument

_NVIDIA = "nvidia"


@contextmanager
def installed(session: Session) -> Generator[None]:
    """Install the emulator's driver during a `with` block, and restore the previous driver afterwards."""
    config = import_triton("runtime.driver").driver
    # The property `active` would search for a GPU if no driver has been active before.
    attributes = cast("dict[str, Any]", vars(config))
    previous = attributes.get("_active", attributes.get("active"))
    with nullcontext() if isinstance(previous, Driver) else _patched_triton():
        config.set_active(Driver(session))
        try:
            yield
        finally:
            config.set_active(previous)


@contextmanager
def _patched_triton() -> Generator[None]:
    """Make Triton stop its compilation at PTX and accept NumPy arrays during a `with` block."""
    backends: dict[str, Any] = import_triton("backends").backends
    kernel_interface: Any = import_triton("runtime.jit").KernelInterface
    backend, subscript = backends[_NVIDIA], kernel_interface.__getitem__

    def getitem(kernel: Any, grid: Any) -> Any:
        launch = subscript(kernel, grid)

        def launch_converted(*args: Any, **named: Any) -> Any:
            return launch(*map(as_argument, args), **{name: as_argument(value) for name, value in named.items()})

        return launch_converted

    backends[_NVIDIA] = type(backend)(_ptx_compiler(backend.compiler), backend.driver)
    kernel_interface.__getitem__ = getitem
    try:
        yield
    finally:
        backends[_NVIDIA] = backend
        kernel_interface.__getitem__ = subscript


def _ptx_compiler(compiler: Any) -> Any:
    """Return Triton's NVIDIA compiler with a last stage that returns the PTX instead of assembling it."""

    def encode(text: str, metadata: object) -> bytes:
        return text.encode()

    def add_stages(self: Any, stages: dict[str, Any], options: Any, language: Any) -> None:
        compiler.add_stages(self, stages, options, language)
        stages[self.binary_ext] = encode

    def hash_(self: Any) -> str:
        return f"{compiler.hash(self)}-warploom"  # Triton's cache must not mistake the PTX for a binary

    return type("PtxBackend", (compiler,), {"add_stages": add_stages, "hash": hash_})
