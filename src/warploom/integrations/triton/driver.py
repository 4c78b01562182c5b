"""Triton driver that launches kernels on the emulator."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn, cast

from warploom.diagnostics import UsageError
from warploom.integrations.triton.launcher import CompiledKernel, Launcher
from warploom.integrations.triton.session import Session, import_triton
from warploom.integrations.triton.tensors import as_argument
from warploom.isa.model.capacity import MAX_THREADS, PROCESSORS, shared_bytes
from warploom.runtime.kernel import load_kernel

_NVIDIA = "nvidia"
_REGISTERS = 65536
_REGISTERS_PER_THREAD = 255  # the maximum: only an assembler knows the number


class Driver:
    """Driver that replaces Triton's own driver. Triton prescribes the names of the methods."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.utils = self  # Triton calls `utils.load_binary` and `utils.get_device_properties`
        self.launcher_cls = partial(Launcher, session)

    def get_device_properties(self, device: object) -> dict[str, int]:
        """Return properties of the emulated GPU.

        Units: bytes for memory, kHz for rates, bits for the width of the bus.
        """
        return {
            "max_shared_mem": shared_bytes(self.session.arch),
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
        """Load the kernel `name` of a PTX text.

        Return None, the kernel, its registers per thread, its number of spills, and the maximum number of threads.
        """
        return None, _load(name, ptx), _REGISTERS_PER_THREAD, 0, MAX_THREADS

    @staticmethod
    def is_active() -> bool:
        """Return True, because the emulator is always available."""
        return True

    def get_current_target(self) -> Any:
        """Return the target that Triton compiles for."""
        return import_triton("backends.compiler").GPUTarget("cuda", self.session.arch, 32)

    def get_current_device(self) -> str:
        """Return the key of the emulator in Triton's kernel cache."""
        return f"warploom sm_{self.session.arch}"  # a text, because numbers stand for GPUs

    def set_current_device(self, device: object) -> None:
        """Do nothing, because the emulator is the only device."""

    def get_current_stream(self, device: object) -> int:
        """Return 0, the default stream."""
        return 0  # a launch ends before its call returns

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        """Return the emulated compute capability, such as (9, 0) for sm_90."""
        return divmod(self.session.arch, 10)

    def get_active_torch_device(self) -> Any:
        """Return PyTorch's CPU device.

        Errors: UsageError triton.torch without PyTorch.
        """
        if find_spec("torch") is None:
            raise UsageError("the PyTorch device is requested, but PyTorch is not installed", code="triton.torch")
        return import_module("torch").device("cpu")

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """Return the clock for Triton's autotuner. The clock counts warp instructions."""

        def count_instructions(
            call: Callable[[], object], quantiles: tuple[float, ...] = (0.5,), **_: object
        ) -> list[float]:
            first = len(self.session.launches)
            call()
            launches = self.session.launches[first:]
            return [float(sum(sum(each.stats.instructions.values()) for each in launches))] * len(quantiles)

        return count_instructions

    def get_device_interface(self) -> NoReturn:
        """Refuse PyTorch's streams and events.

        Errors: UsageError triton.clock.
        """
        raise UsageError(
            "the emulator has no clock and cannot time a kernel",
            code="triton.clock",
            hint="runs[-1].stats counts the instructions of a launch",
        )

    get_empty_cache_for_benchmark = get_device_interface

    def map_python_to_cpp_type(self, word: str) -> str:
        """Return the C++ name of a Triton type, for Triton's ahead-of-time compiler."""
        return str(import_triton("backends.nvidia.driver").ty_to_cpp(word))

    def assemble_tensormap_to_arg(self, maps: object, args: Any) -> Any:
        """Return the arguments unchanged."""
        return args  # older versions of Triton add tensor maps here


@lru_cache(maxsize=64)
def _load(name: str, ptx: bytes) -> CompiledKernel:
    text = ptx.decode()
    return CompiledKernel(text, load_kernel(text, name, f"{name}.ptx").program)


@contextmanager
def installed(session: Session) -> Generator[None]:
    """Make the emulator Triton's driver during a `with` block."""
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
    """Make Triton stop its compilation at PTX and accept NumPy arrays, during a `with` block."""
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
    """Return Triton's NVIDIA compiler with another last stage, which returns the PTX."""

    def encode(text: str, metadata: object) -> bytes:
        return text.encode()

    def add_stages(self: Any, stages: dict[str, Any], options: Any, language: Any) -> None:
        compiler.add_stages(self, stages, options, language)
        stages[self.binary_ext] = encode

    def hash_(self: Any) -> str:
        return f"{compiler.hash(self)}-warploom"  # Triton's cache must not mistake the PTX for a binary

    return type("PtxBackend", (compiler,), {"add_stages": add_stages, "hash": hash_})
