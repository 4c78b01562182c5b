"""NVIDIA's Python packages as far as a launch uses them, over host memory: no kernel runs."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from enum import IntEnum
from types import SimpleNamespace
from typing import Any


class Status(IntEnum):
    """Results of driver calls."""

    SUCCESS = 0
    ILLEGAL_ADDRESS = 700
    INVALID_VALUE = 1


class ProgramError(Exception):
    """What an assembler raises, with its log."""


@dataclass
class Fake:
    """A GPU that writes down what is asked of it. `fails` names the driver's calls that fail, `log` what the
    assembler complains of, `kernel` the function that plays the kernel: it gets the parameters, of these `sizes`.
    """

    fails: dict[str, Status] = field(default_factory=dict[str, Status])
    log: str = ""
    no_driver: bool = False
    kernel: Any = None
    sizes: tuple[int, ...] = (8, 4)
    calls: list[str] = field(default_factory=list[str])
    launched: list[Any] = field(default_factory=list[Any])
    memory: dict[int, Any] = field(default_factory=dict[int, Any])

    def modules(self) -> dict[str, Any]:
        """What `import_module` is to find."""
        return {"cuda.core": self._core(), "cuda.bindings.driver": self._driver()}

    def _core(self) -> Any:
        fake = self

        class Buffer:
            def __init__(self, size: int) -> None:
                held = ctypes.create_string_buffer(size)
                self.handle = ctypes.addressof(held)
                fake.memory[self.handle] = held

            def close(self, _: Any) -> None:
                fake.memory.pop(self.handle)

        class Device:
            device_id, name, compute_capability = 0, "a fake", (9, 0)
            default_stream = SimpleNamespace(handle=7)
            memory_resource = SimpleNamespace(allocate=lambda size, stream: Buffer(size))

            def __init__(self, _: int) -> None:
                if fake.no_driver:
                    raise RuntimeError("no driver is installed. Install one.")

            def set_current(self) -> None: ...

        class Program:
            def __init__(self, text: str, kind: str, options: Any) -> None:
                assert (kind, options.arch) == ("ptx", "sm_90a")
                if fake.log:
                    raise ProgramError(fake.log)

            def compile(self, _: str, logs: Any) -> Any:
                return SimpleNamespace(get_kernel=lambda name: SimpleNamespace(handle=len(name)))

        return SimpleNamespace(
            Device=Device, Program=Program, ProgramOptions=lambda arch: SimpleNamespace(arch=arch)
        )

    def _driver(self) -> Any:
        def status(call: str) -> tuple[Status]:
            self.calls.append(call)
            return (self.fails.get(call, Status.SUCCESS),)

        def copy(call: str, target: int, source: int, size: int) -> tuple[Status]:
            ctypes.memmove(target, source, size)
            return status(call)

        def launch(config: Any, _: Any, parameters: int, extra: int) -> tuple[Status]:
            assert extra == 0
            places = (ctypes.c_void_p * len(self.sizes)).from_address(parameters)
            self.launched.append(config)
            if self.kernel is not None:
                found = (
                    ctypes.string_at(place, size) for place, size in zip(places, self.sizes, strict=True)
                )
                self.kernel(b"".join(found))
            return status("launch")

        attributes = SimpleNamespace(
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared",
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED="cluster",
        )
        return SimpleNamespace(
            CUlaunchConfig=SimpleNamespace,
            CUlaunchAttribute=lambda: SimpleNamespace(value=SimpleNamespace(clusterDim=SimpleNamespace())),
            CUlaunchAttributeID=SimpleNamespace(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION="cluster"),
            CUfunction_attribute=attributes,
            CUstream=int,
            CUkernel=int,
            CUfunction=int,
            CUdevice=int,
            cuMemcpyHtoD=lambda target, source, size: copy("upload", target, source, size),
            cuMemcpyDtoH=lambda target, source, size: copy("download", target, source, size),
            cuKernelSetAttribute=lambda attribute, value, kernel, device: status(f"{attribute} {value}"),
            cuLaunchKernelEx=launch,
            cuStreamSynchronize=lambda stream: status("synchronize"),
            cuDriverGetVersion=lambda: (Status.SUCCESS, 13000),
            cuGetErrorString=lambda status: (Status.SUCCESS, status.name.lower().replace("_", " ").encode()),
        )
