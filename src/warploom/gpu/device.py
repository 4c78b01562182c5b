"""One GPU in use: what it is, its memory, its kernels, launches."""

from __future__ import annotations

import ctypes
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diag import Diagnostic, Severity, Source, Span, UsageError, WarploomError
from warploom.gpu.packages import package

Extents = tuple[int, int, int]

_LOG_LINE = re.compile(r"ptxas (?:[^,;]*, line (\d+); )?(fatal|error|warning)\s*: (.*)")


class DeviceFault(WarploomError):
    """The GPU broke off a kernel. The driver says why, not where."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that the driver has assembled. `code` keeps it loaded."""

    name: str
    handle: Any
    code: Any


class Gpu:
    """A GPU. A context manager: what was allocated is freed at its end.

    Errors: UsageError gpu.packages, gpu.driver where there is none to be had.
    """

    def __init__(self, number: int = 0) -> None:
        self._core, self._driver = package("cuda.core"), package("cuda.bindings.driver")
        try:
            self._device = self._core.Device(number)
            self._device.set_current()
        except Exception as error:  # noqa: BLE001 - the errors of NVIDIA's packages have no base of their own
            raise UsageError(
                f"there is no GPU to launch on: {_first_sentence(error)}",
                code="gpu.driver",
                hint='device="cpu" runs the kernel without one',
            ) from None
        self._stream = self._device.default_stream
        self._buffers: dict[int, Any] = {}

    def __enter__(self) -> Gpu:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for address in list(self._buffers):
            self.free(address)

    @property
    def name(self) -> str:
        """The product's name."""
        return str(self._device.name)

    @property
    def arch(self) -> str:
        """Its target, with every feature: `sm_90a`."""
        major, minor = self._device.compute_capability
        return f"sm_{major}{minor}{'a' if major >= 9 else ''}"

    @property
    def driver(self) -> str:
        """The newest CUDA version that the driver knows."""
        version = self._call(self._driver.cuDriverGetVersion())
        return f"{version // 1000}.{version % 1000 // 10}"

    # Memory -------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        """The address of `size` bytes. Errors: UsageError gpu.memory."""
        try:
            buffer = self._device.memory_resource.allocate(max(size, 1), stream=self._stream)
        except Exception as error:  # noqa: BLE001 - as above
            if "OUT_OF_MEMORY" not in str(error):
                message = f"the GPU's driver failed: {_first_sentence(error)}"
                raise DeviceFault([Diagnostic("gpu.fault", Severity.ERROR, message, None, None)]) from None
            raise UsageError(f"the GPU has no {size} bytes left", code="gpu.memory") from None
        address = int(buffer.handle)
        self._buffers[address] = buffer
        return address

    def free(self, address: int) -> None:
        """Give an allocation back."""
        self._buffers.pop(address).close(self._stream)

    def upload(self, address: int, data: NDArray[np.uint8]) -> None:
        """Copy bytes to the GPU."""
        if data.size:
            self._call(self._driver.cuMemcpyHtoD(address, data.ctypes.data, data.size))

    def download(self, address: int, data: NDArray[np.uint8]) -> None:
        """Copy bytes from the GPU, once what was launched has ended."""
        if data.size:
            self._call(self._driver.cuMemcpyDtoH(data.ctypes.data, address, data.size))

    # Kernels ------------------------------------------------------------------------------------------------

    def kernel(self, source: Source, name: str) -> Kernel:
        """The kernel `name` of a PTX text, assembled for this GPU.

        Errors: WarploomError gpu.assembler with the assembler's words, each at its line.
        """
        log = io.StringIO()
        options = self._core.ProgramOptions(arch=self.arch)
        try:
            program = self._core.Program(source.text, "ptx", options)
            code = program.compile("cubin", logs=log)
            return Kernel(name, code.get_kernel(name).handle, code)
        except Exception as error:  # noqa: BLE001 - as above
            raise WarploomError(_complaints(source, f"{log.getvalue()}\n{error}")) from None

    def run(
        self,
        kernel: Kernel,
        *,
        grid: Extents,
        block: Extents,
        parameters: Sequence[bytes],
        cluster: Extents | None = None,
        shared: int = 0,
    ) -> None:
        """Launch a kernel and wait for its end. `parameters` are the bytes of each parameter.

        Units: `shared` is dynamic shared memory in bytes.
        Errors: UsageError gpu.launch; DeviceFault gpu.fault, after which the GPU can be used by a new
            process alone.
        """
        driver = self._driver
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        config.sharedMemBytes = shared
        config.hStream = driver.CUstream(int(self._stream.handle))
        if cluster is not None:
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = cluster
            config.attrs = [attribute]
            config.numAttrs = 1
        function = driver.CUkernel(int(kernel.handle))
        self._allow(function, shared, cluster)
        # One by one: in the driver's own block, parameters aligned to 64 bytes stand elsewhere than in PTX.
        held = [ctypes.create_string_buffer(parameter, len(parameter)) for parameter in parameters]
        places = (ctypes.c_void_p * max(len(held), 1))(*map(ctypes.addressof, held))
        status, *_ = driver.cuLaunchKernelEx(
            config, driver.CUfunction(int(kernel.handle)), ctypes.addressof(places), 0
        )
        if status:
            raise UsageError(
                f"the GPU does not launch kernel {kernel.name}: {self._words(status)}", code="gpu.launch"
            )
        status, *_ = driver.cuStreamSynchronize(config.hStream)
        if status:
            message = f"the GPU broke off kernel {kernel.name}: {self._words(status)}"
            hint = 'device="cpu" names the instruction, the CTA, the warp and the lane'
            raise DeviceFault([Diagnostic("gpu.fault", Severity.ERROR, message, None, None, hint)])

    def _allow(self, function: Any, shared: int, cluster: Extents | None) -> None:
        """Ask for what a launch must ask for beforehand: much shared memory, large clusters."""
        attributes = self._driver.CUfunction_attribute
        wanted = [(attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)] if shared else []
        if cluster is not None and cluster[0] * cluster[1] * cluster[2] > 8:
            wanted.append((attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
        for attribute, value in wanted:
            status, *_ = self._driver.cuKernelSetAttribute(
                attribute, value, function, self._driver.CUdevice(self._device.device_id)
            )
            if status:
                raise UsageError(f"the GPU refuses the launch: {self._words(status)}", code="gpu.launch")

    # The driver ---------------------------------------------------------------------------------------------

    def _call(self, answer: Any) -> Any:
        status, *values = answer
        if status:
            message = f"the GPU's driver failed: {self._words(status)}"
            raise DeviceFault([Diagnostic("gpu.fault", Severity.ERROR, message, None, None)])
        return values[0] if values else None

    def _words(self, status: Any) -> str:
        _, text = self._driver.cuGetErrorString(status)
        return text.decode() if text else str(status)


def _first_sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text.partition(". ")[0].rstrip(".") or type(error).__name__


def _complaints(source: Source, log: str) -> list[Diagnostic]:
    """What an assembler's log says, each at its line."""
    found: list[Diagnostic] = []
    for line in log.splitlines():
        said = _LOG_LINE.search(line)
        if said is None:
            continue
        severity = Severity.WARNING if said[2] == "warning" else Severity.ERROR
        span = _line_span(source, int(said[1])) if said[1] else None
        found.append(Diagnostic("gpu.assembler", severity, said[3].strip(), source, span))
    if not any(each.severity is Severity.ERROR for each in found):
        words = " ".join(log.split()) or "it does not say why"
        found.append(
            Diagnostic(
                "gpu.assembler", Severity.ERROR, f"the driver does not assemble it: {words}", source, None
            )
        )
    return found


def _line_span(source: Source, line: int) -> Span:
    lines = source.text.splitlines(keepends=True)
    start = sum(len(text) for text in lines[: line - 1])
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    return Span(start + len(shown) - len(shown.lstrip()), start + len(shown.rstrip()))
