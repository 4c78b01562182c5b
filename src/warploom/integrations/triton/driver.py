"""Triton driver whose GPU is the emulator."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

from warploom.diagnostics import UsageError
from warploom.emulator.program import load
from warploom.integrations.triton.imports import import_triton
from warploom.integrations.triton.launcher import CompiledKernel, Launcher
from warploom.integrations.triton.session import Session
from warploom.isa.model.capacity import MAX_THREADS, PROCESSORS, shared_bytes
from warploom.ptx import parse

_REGISTERS = 65536
_REGISTERS_PER_THREAD = 255  # the maximum: only an assembler knows the number


class Utils:
    """Utilities of the driver, as Triton calls them: device properties and loading of kernels."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_device_properties(self, device: object) -> dict[str, int]:
        """Return the properties from which kernels derive grids and stages. Units: bytes, kHz, bits."""
        return {
            "max_shared_mem": shared_bytes(self._session.arch),
            "max_num_regs": _REGISTERS,
            "multiprocessor_count": PROCESSORS,
            "warpSize": 32,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 4096,
        }

    def load_binary(
        self, name: str, ptx: bytes, shared: int, device: object
    ) -> tuple[None, CompiledKernel, int, int, int]:
        """Return the module to unload (none), the kernel, registers and spills per thread, and threads."""
        return None, _load(name, ptx), _REGISTERS_PER_THREAD, 0, MAX_THREADS


@lru_cache(maxsize=64)
def _load(name: str, ptx: bytes) -> CompiledKernel:
    text = ptx.decode()
    return CompiledKernel(text, load(parse(text, f"{name}.ptx"), name))


class Driver:
    """Driver that Triton calls instead of its own. Triton prescribes the names of the methods."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.utils = Utils(session)
        self.launcher_cls = partial(Launcher, session)

    @staticmethod
    def is_active() -> bool:
        """Return True: the emulator is always available."""
        return True

    def get_current_target(self) -> Any:
        """Return the target that Triton compiles for."""
        return import_triton("backends.compiler").GPUTarget("cuda", self.session.arch, 32)

    def get_current_device(self) -> str:
        """Return the key of Triton's kernel cache. It is not a number, which would name a GPU."""
        return f"warploom sm_{self.session.arch}"

    def set_current_device(self, device: object) -> None:
        """Do nothing: the emulator is the only device."""

    def get_current_stream(self, device: object) -> int:
        """Return the default stream. A launch is complete when its call returns."""
        return 0

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        """Return the compute capability, (9, 0) for sm_90."""
        return divmod(self.session.arch, 10)

    def get_active_torch_device(self) -> Any:
        """Return the PyTorch device for tensors. Errors: UsageError triton.torch without PyTorch."""
        if find_spec("torch") is None:
            raise UsageError(
                "the PyTorch device is requested, but PyTorch is not installed", code="triton.torch"
            )
        return import_module("torch").device("cpu")

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """Return the autotuner's cost function: the warp instructions of one launch."""

        def count_instructions(
            call: Callable[[], object], quantiles: tuple[float, ...] = (0.5,), **_: object
        ) -> list[float]:
            first = len(self.session.launches)
            call()
            launches = self.session.launches[first:]
            return [float(sum(sum(each.stats.instructions.values()) for each in launches))] * len(quantiles)

        return count_instructions

    def get_device_interface(self) -> NoReturn:
        """Refuse PyTorch's streams and events. Errors: UsageError triton.clock."""
        raise UsageError(
            "the emulator has no clock and cannot time a kernel",
            code="triton.clock",
            hint="runs[-1].stats counts the instructions of a launch",
        )

    get_empty_cache_for_benchmark = get_device_interface

    def map_python_to_cpp_type(self, word: str) -> str:
        """Return the C++ name of a type, for ahead-of-time compilation."""
        return str(import_triton("backends.nvidia.driver").ty_to_cpp(word))

    def assemble_tensormap_to_arg(self, maps: object, args: Any) -> Any:
        """Return the arguments unchanged. Older versions of Triton add tensor maps here."""
        return args
