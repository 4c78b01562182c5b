"""The driver that Triton is given: what it may ask of a GPU, answered by the abstract machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

from warploom.diagnostics import UsageError
from warploom.emulator.loader import load
from warploom.integrations.triton.launcher import Launcher, Loaded
from warploom.integrations.triton.packages import triton
from warploom.integrations.triton.settings import Settings
from warploom.isa.model.capacity import MAX_THREADS, PROCESSORS, shared_bytes
from warploom.ptx import parse

_REGISTERS = 65536
_REGISTERS_OF_A_THREAD = 255  # the most there are: only an assembler would know how many


class Utils:
    """What Triton calls the driver's utilities: properties and the loading of kernels."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def get_device_properties(self, device: object) -> dict[str, int]:
        """What kernels size their grids and stages by. Units: bytes, kHz, bits."""
        return {
            "max_shared_mem": shared_bytes(self._settings.arch),
            "max_num_regs": _REGISTERS,
            "multiprocessor_count": PROCESSORS,
            "warpSize": 32,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 4096,
        }

    def load_binary(
        self, name: str, ptx: bytes, shared: int, device: object
    ) -> tuple[None, Loaded, int, int, int]:
        """A kernel made ready: no module to unload, the kernel, registers, spills and threads."""
        return None, _loaded(name, ptx), _REGISTERS_OF_A_THREAD, 0, MAX_THREADS


@lru_cache(maxsize=64)
def _loaded(name: str, ptx: bytes) -> Loaded:
    text = ptx.decode()
    return Loaded(text, load(parse(text, f"{name}.ptx"), name))


class Driver:
    """A driver of Triton's for a GPU that is the abstract machine."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.utils = Utils(settings)
        self.launcher_cls = partial(Launcher, settings)

    @staticmethod
    def is_active() -> bool:
        """Whether there is such a GPU: always."""
        return True

    def get_current_target(self) -> Any:
        """What to compile for."""
        return triton("backends.compiler").GPUTarget("cuda", self.settings.arch, 32)

    def get_current_device(self) -> str:
        """What Triton keeps compiled kernels by: never a number, which would be a real GPU's."""
        return f"warploom sm_{self.settings.arch}"

    def set_current_device(self, device: object) -> None:
        """There is one device only."""

    def get_current_stream(self, device: object) -> int:
        """The default stream: a launch has ended when the call comes back."""
        return 0

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        """The compute capability, (9, 0) for sm_90."""
        return divmod(self.settings.arch, 10)

    def get_active_torch_device(self) -> Any:
        """Where PyTorch's tensors are to be. Errors: UsageError triton.torch without PyTorch."""
        if find_spec("torch") is None:
            raise UsageError(
                "the script asks for PyTorch's device, and PyTorch is not installed", code="triton.torch"
            )
        return import_module("torch").device("cpu")

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """How the autotuner weighs a configuration: by the warp instructions that it takes, in one launch."""

        def weigh(
            call: Callable[[], object], quantiles: tuple[float, ...] = (0.5,), **_: object
        ) -> list[float]:
            first = len(self.settings.runs)
            call()
            issued = sum(sum(run.stats.instructions.values()) for run in self.settings.runs[first:])
            return [float(issued)] * len(quantiles)

        return weigh

    def get_device_interface(self) -> NoReturn:
        """PyTorch's streams and events, which there are none of. Errors: UsageError triton.clock."""
        raise UsageError(
            "the abstract machine has no clock, so nothing can be timed on it",
            code="triton.clock",
            hint="runs[-1].stats counts what a launch did",
        )

    get_empty_cache_for_benchmark = get_device_interface

    def map_python_to_cpp_type(self, word: str) -> str:
        """What a type is called in C++; ahead-of-time compilation asks."""
        return str(triton("backends.nvidia.driver").ty_to_cpp(word))

    def assemble_tensormap_to_arg(self, maps: object, args: Any) -> Any:
        """Older versions of Triton hand their tensor maps through here."""
        return args
