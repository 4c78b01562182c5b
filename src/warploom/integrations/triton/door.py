"""The door: our driver in the place of Triton's, and NumPy's arrays let in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from warploom.integrations.triton.driver import Driver
from warploom.integrations.triton.packages import triton
from warploom.integrations.triton.settings import Settings
from warploom.integrations.triton.tensors import argument

_NVIDIA = "nvidia"


@dataclass(slots=True)
class _Outside:
    """What stood in Triton's places before the first session."""

    driver: Any
    backend: Any
    subscript: Any


_outside: _Outside | None = None


def is_open() -> bool:
    """Whether kernels go to the machine."""
    return _outside is not None


def open_with(settings: Settings) -> Driver | None:
    """Send kernels to the machine; returns the driver of the session that this one is within."""
    global _outside  # noqa: PLW0603 - Triton's driver is one for the process, and so is this
    config = triton("runtime.driver").driver
    driver = Driver(settings)
    inside = _outside is not None
    before = current() if inside else None
    if not inside:
        _outside = _enter(config)
    config.set_active(driver)
    return before


def current() -> Any:
    """Triton's driver now."""
    return triton("runtime.driver").driver.active


def close(before: Driver | None) -> None:
    """End a session: back to the one that it was within, or to Triton's own driver."""
    global _outside
    config = triton("runtime.driver").driver
    if before is not None:
        config.set_active(before)
        return
    outside, _outside = _outside, None
    if outside is None:
        return
    config.set_active(outside.driver)
    triton("backends").backends[_NVIDIA] = outside.backend
    triton("runtime.jit").KernelInterface.__getitem__ = outside.subscript


def _enter(config: Any) -> _Outside:
    """Put the machine into Triton's places; returns what stood there."""
    backends: dict[str, Any] = triton("backends").backends
    launchable: Any = triton("runtime.jit").KernelInterface
    # Triton finds its own driver when one is asked for, and without a GPU there is none: it is not asked for here.
    held = cast("dict[str, Any]", vars(config))
    driver = held.get("_active", held.get("active"))
    outside = _Outside(driver, backends[_NVIDIA], launchable.__getitem__)
    backends[_NVIDIA] = type(outside.backend)(_until_ptx(outside.backend.compiler), outside.backend.driver)

    def subscript(kernel: Any, grid: Any) -> Any:
        launch = outside.subscript(kernel, grid)

        def launched(*args: Any, **named: Any) -> Any:
            return launch(*map(argument, args), **{name: argument(value) for name, value in named.items()})

        return launched

    launchable.__getitem__ = subscript
    return outside


def _until_ptx(compiler: Any) -> Any:
    """Triton's compiler for NVIDIA, whose last stage hands the PTX on and asks no assembler."""

    def as_binary(text: str, metadata: object) -> bytes:
        return text.encode()

    def add_stages(self: Any, stages: dict[str, Any], options: Any, language: Any) -> None:
        compiler.add_stages(self, stages, options, language)
        stages[self.binary_ext] = as_binary

    def hash_(self: Any) -> str:
        return f"{compiler.hash(self)}-warploom"  # what Triton's cache knows our "binaries" by

    return type("PtxBackend", (compiler,), {"add_stages": add_stages, "hash": hash_})
