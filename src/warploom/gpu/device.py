"""One GPU: its properties, its memory and its kernels."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic, Source, UsageError
from warploom.diagnostics.symbols import readable_name
from warploom.gpu.arrays import LEGACY, Locator, handle_of
from warploom.gpu.assemble import AssemblerName, load
from warploom.gpu.driver import DeviceFault, core, first_sentence, must, package, status_text
from warploom.gpu.geometry import Extent, Geometry
from warploom.gpu.logs import Resources, findings, resources, spills
from warploom.gpu.prepared import Launch
from warploom.isa.model.availability import read_target
from warploom.isa.model.parameters import Parameter
from warploom.isa.model.signature import read_signature
from warploom.layout import TensorMap
from warploom.ptx import parse
from warploom.ptx.parser import text_of

_OLDEST = 12000
_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_PORTABLE_CLUSTER = 8


@dataclass(frozen=True, eq=False)
class Kernel:
    """Kernel that is assembled and loaded on a GPU.

    `findings` are the assembler's remarks. `loaded` is the kernel object of cuda-core.
    """

    name: str
    parameters: tuple[Parameter, ...]
    findings: tuple[Diagnostic, ...]
    resources: Resources
    loaded: Any
    _gpu: Gpu

    def prepare(
        self,
        *,
        grid: Extent,
        block: Extent,
        cluster: Extent | None = None,
        shared: int = 0,
        cooperative: bool = False,
        programmatic: bool = False,
        tensors: Mapping[str, TensorMap] | None = None,
        fixed: Mapping[str, object] | None = None,
    ) -> Launch:
        """Prepare repeated launches of the kernel with one geometry.

        `cooperative` makes all CTAs resident together. `programmatic` lets a launch start before the previous launch on
        its stream has ended. `tensors` maps names of 128-byte parameters to tensor maps. The argument for such a
        parameter is an array with the shape, strides and type of the map's array, or the address of such an array.
        `fixed` maps names of parameters to their values in all launches.

        Units: `shared` in bytes of dynamic shared memory.
        Errors: UsageError launch.geometry, launch.shared, gpu.tensor-map; gpu.launch if the GPU has too few
        resources.
        """
        geometry = Geometry.of(grid, block, cluster, shared, cooperative, programmatic)
        return self._gpu.prepare(self, geometry, tensors or {}, fixed or {})


class Gpu:
    """One NVIDIA GPU. The end of a `with` block frees all its allocations.

    `number` is the driver's number of the GPU. Copies and launches use `stream`, by default CUDA's default stream.

    Errors: UsageError gpu.packages, gpu.driver if no GPU is usable, gpu.stream.
    """

    def __init__(self, number: int = 0, *, stream: object = None) -> None:
        self._core, self._driver = core(), package("cuda.bindings.driver")
        try:
            version = int(must(self._driver, self._driver.cuDriverGetVersion()))
            self.device = self._core.Device(number)
            self._before = must(self._driver, self._driver.cuCtxGetCurrent())
            self.device.set_current()
            handle = LEGACY if stream is None else handle_of(stream)
            default = self.device.default_stream
            self._stream = default if handle == LEGACY else self._core.Stream.from_handle(handle)
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - NVIDIA's packages have no common base of errors
            missing = type(error).__name__ == "DynamicLibNotFoundError"
            raise _no_gpu("NVIDIA's driver is not installed" if missing else first_sentence(error)) from None
        if version < _OLDEST:
            raise _no_gpu(f"the driver is for CUDA {_release(version)}; expected 12.0 or newer")
        self.number = number
        self.driver = _release(version)
        self.locate = Locator(number)
        self._buffers: dict[int, Any] = {}
        self._most_shared: dict[int, int] = {}

    def __enter__(self) -> Gpu:
        return self

    def __exit__(self, *_: object) -> None:
        for address in self.allocations:
            self.free(address)
        if "own_stream" in self.__dict__:
            self.own_stream.close()
        if int(self._before):
            must(self._driver, self._driver.cuCtxSetCurrent(self._before))

    @property
    def name(self) -> str:
        """Name of the product."""
        return str(self.device.name)

    @property
    def arch(self) -> str:
        """Architecture of the GPU as a PTX target, such as `sm_90a`."""
        major, minor = self.device.compute_capability
        return f"sm_{major}{minor}{'a' if major >= 9 else ''}"

    @property
    def multiprocessors(self) -> int:
        """Number of multiprocessors."""
        return int(self.device.properties.multiprocessor_count)

    @property
    def stream(self) -> int:
        """Handle of the stream for copies and launches."""
        return int(self._stream.handle)

    @cached_property
    def own_stream(self) -> Any:
        """Additional stream of this GPU, which all callers share."""
        return self.device.create_stream()

    # Memory -------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        """Allocate bytes and return their address. Errors: UsageError gpu.memory."""
        try:
            buffer = self.device.memory_resource.allocate(max(size, 1), stream=self._stream)
        except Exception as error:  # noqa: BLE001 - as above
            if "OUT_OF_MEMORY" not in str(error):
                raise DeviceFault.of(f"the GPU's driver failed: {first_sentence(error)}") from None
            raise UsageError(f"the GPU cannot allocate {size} bytes", code="gpu.memory") from None
        address = int(buffer.handle)
        self._buffers[address] = buffer
        return address

    @property
    def allocations(self) -> list[int]:
        """Addresses of the allocations that have not been freed."""
        return list(self._buffers)

    def free(self, address: int) -> None:
        """Free the allocation at an address, in stream order."""
        self._buffers.pop(address).close(self._stream)

    def upload(self, address: int, data: NDArray[np.uint8]) -> None:
        """Copy the bytes `data` to an address on the GPU, in stream order."""
        if data.size:
            copy = self._driver.cuMemcpyHtoDAsync
            must(self._driver, copy(address, data.ctypes.data, data.size, self._stream.handle))

    def download(self, address: int, data: NDArray[np.uint8]) -> None:
        """Fill `data` with the bytes at an address on the GPU, in stream order, and wait for the copy."""
        if data.size:
            copy = self._driver.cuMemcpyDtoHAsync
            must(self._driver, copy(data.ctypes.data, address, data.size, self._stream.handle))
            must(self._driver, self._driver.cuStreamSynchronize(self._stream.handle))

    def address_of(self, array: object) -> int:
        """Return the address of another library's array. Later launches wait until the array is computed.

        Errors: UsageError gpu.array, gpu.device.
        """
        return self.locate(array, self.stream)

    # Kernels ------------------------------------------------------------------------------------------------

    def kernel(
        self,
        ptx: Source | str | Path,
        name: str,
        *,
        parameters: tuple[Parameter, ...] | None = None,
        assembler: AssemblerName = "driver",
        options: tuple[str, ...] = (),
    ) -> Kernel:
        """Return the kernel `name` of a PTX text, assembled for this GPU.

        If `parameters` are given, the text is not parsed. `assembler` is "driver" or "ptxas". Only ptxas takes
        `options`, such as `-O1`.

        Errors: UsageError gpu.target for another architecture, emulator.kernel; WarploomError gpu.assembler with the
            assembler's messages at their lines; UsageError gpu.driver if the driver cannot load the code.
        """
        source = ptx if isinstance(ptx, Source) else Source(*reversed(text_of(ptx)))
        self._check_target(source)
        if parameters is None:
            signature = read_signature(parse(source.text, source.name), name)
            name, parameters = signature.name, signature.parameters
        made = load(source, self.arch, assembler, options)
        try:
            found = must(self._driver, self._driver.cuLibraryGetKernel(made.handle, name.encode()))
            loaded = self._core.Kernel.from_handle(int(found))
        except Exception as error:  # noqa: BLE001 - as above
            message = f"the GPU's driver cannot load kernel {readable_name(name)}: {first_sentence(error)}"
            raise UsageError(message, code="gpu.driver") from None
        used = resources(made.log).get(name)
        if used is None:  # the log does not state them
            seen = loaded.attributes
            used = Resources(int(seen.num_regs), stack=int(seen.local_size_bytes), shared=int(seen.shared_size_bytes))
        remarks = (*findings(made.log, source), *spills(name, used, source))
        return Kernel(name, parameters, remarks, used, loaded, self)

    def prepare(
        self, kernel: Kernel, geometry: Geometry, tensors: Mapping[str, TensorMap], fixed: Mapping[str, object]
    ) -> Launch:
        """Prepare repeated launches of a kernel. The parameters are those of `Kernel.prepare`."""
        handle = int(kernel.loaded.handle)
        self._allow(handle, geometry)
        name, function, parameters = readable_name(kernel.name), self._driver.CUfunction(handle), kernel.parameters
        return Launch(name, function, parameters, geometry, self._driver, self.locate, self.stream, tensors, fixed)

    def start(self, kernel: Kernel, geometry: Geometry, values: Sequence[bytes]) -> None:
        """Launch a kernel with the bytes of each parameter, in stream order. Errors: UsageError gpu.launch."""
        handle = int(kernel.loaded.handle)
        self._allow(handle, geometry)
        config = geometry.configure(self._driver)
        config.hStream = self._stream.handle
        buffers = [ctypes.create_string_buffer(each, max(len(each), 1)) for each in values]
        table = (ctypes.c_void_p * max(len(values), 1))(*map(ctypes.addressof, buffers))
        status, *_ = self._driver.cuLaunchKernelEx(config, self._driver.CUfunction(handle), ctypes.addressof(table), 0)
        if status:
            raise UsageError(
                f"the GPU cannot launch kernel {readable_name(kernel.name)}: {status_text(self._driver, status)}",
                code="gpu.launch",
            )

    def variable(self, kernel: Kernel, name: str, size: int) -> int:
        """Return the address of a variable of a kernel's module. Errors: UsageError gpu.driver without one."""
        driver = self._driver
        library = must(driver, driver.cuKernelGetLibrary(driver.CUkernel(int(kernel.loaded.handle))))
        status, address, found = driver.cuLibraryGetGlobal(library, name.encode())
        if status or found != size:
            raise UsageError(
                f"the module has no variable {readable_name(name)} of {size} bytes on the GPU", code="gpu.driver"
            )
        return int(address)

    def wait(self, kernel: str = "", stream: object = None) -> None:
        """Wait for the work on a stream. Fault messages name `kernel`.

        Errors: DeviceFault gpu.fault. After a fault, only a new process can use the GPU.
        """
        handle = self._stream.handle if stream is None else self._driver.CUstream(handle_of(stream))
        status, *_ = self._driver.cuStreamSynchronize(handle)
        if status:
            what = f"kernel {kernel}" if kernel else "a kernel"
            raise DeviceFault.of(
                f"the GPU stopped {what}: {status_text(self._driver, status)}",
                'device="cpu" names the instruction, the CTA, the warp and the lane',
            )

    def is_recording(self, stream: object) -> bool:
        """Return True if a graph records the work on a stream."""
        handle = self._driver.CUstream(handle_of(stream))
        return int(must(self._driver, self._driver.cuStreamIsCapturing(handle))) != 0

    def _check_target(self, source: Source) -> None:
        found = _TARGET.search(source.text)
        needed, here = read_target(found[1] if found else ""), read_target(self.arch)
        if needed is not None and here is not None and not here.has(needed):
            raise UsageError(
                f"the kernel is for {found[1] if found else ''}; the GPU, {self.name}, is {self.arch}",
                code="gpu.target",
                hint="build the kernel for this GPU",
            )

    def _allow(self, handle: int, geometry: Geometry) -> None:
        """Allow a kernel the shared memory and cluster size of a launch. Errors: UsageError gpu.launch."""
        attributes = self._driver.CUfunction_attribute
        wanted: list[tuple[Any, int]] = []
        if geometry.shared > self._most_shared.get(handle, 0):
            wanted.append((attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, geometry.shared))
        if geometry.cluster_size > _PORTABLE_CLUSTER:
            wanted.append((attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
        for attribute, value in wanted:
            status, *_ = self._driver.cuKernelSetAttribute(
                attribute, value, self._driver.CUkernel(handle), self._driver.CUdevice(self.number)
            )
            if status:
                raise UsageError(f"the GPU refuses the launch: {status_text(self._driver, status)}", code="gpu.launch")
        self._most_shared[handle] = max(geometry.shared, self._most_shared.get(handle, 0))


def _no_gpu(reason: str) -> UsageError:
    hint = 'device="cpu" runs the kernel without a GPU'
    return UsageError(f"there is no GPU to launch on: {reason}", code="gpu.driver", hint=hint)


def _release(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
