"""GPU as the device of a session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.gpu.device import Gpu
from warploom.gpu.geometry import Geometry
from warploom.runtime import cuda
from warploom.runtime.arguments import Arguments
from warploom.runtime.kernel import LoadedKernel
from warploom.runtime.run import PendingRun, Run
from warploom.runtime.sessions.device_array import DeviceArray
from warploom.runtime.sessions.devices import SessionDevice

if TYPE_CHECKING:
    from warploom.runtime.kernel import KernelSource


class GpuDevice(SessionDevice):
    """GPU 0 as the device of a session. Its streams are streams of cuda-core, and the points are events."""

    is_gpu = True

    def __init__(self) -> None:
        self._gpu = Gpu()
        self._streams: list[Any] = []
        self._tables: list[int] = []
        self._kernel = ""

    def allocate(self, name: str, size: int) -> int:
        """Allocate memory. Errors: UsageError gpu.memory."""
        address = self._gpu.allocate(size)
        self._gpu.wait()  # the allocation has the order of another stream than the launches
        return address

    def read(self, address: int, data: NDArray[np.uint8]) -> None:
        """Fill `data` with the bytes at an address."""
        self._gpu.download(address, data)

    def write(self, address: int, data: NDArray[np.uint8]) -> None:
        """Copy bytes to an address, and wait for the copy."""
        self._gpu.upload(address, data)
        self._gpu.wait()

    def stream(self) -> Any:
        """Return a new stream, which has no order with the default stream of CUDA."""
        stream = self._gpu.device.create_stream()
        self._streams.append(stream)
        return stream

    def record(self, stream: Any) -> Any:
        """Record an event."""
        return stream.record()

    def wait(self, stream: Any, point: Any) -> None:
        """Let the later launches of a stream wait for an event."""
        stream.wait(point)

    def synchronize(self, stream: Any) -> None:
        """Wait for the launches of a stream, or of all streams if it is None. Errors: DeviceFault gpu.fault."""
        for each in self._streams if stream is None else [stream]:
            self._gpu.wait(self._kernel, each)
        if stream is None:
            for address in self._tables:
                self._gpu.free(address)
            self._tables.clear()

    def launch(
        self, source: KernelSource, loaded: LoadedKernel, geometry: Geometry, arguments: Arguments, stream: Any,
        result: PendingRun, programmatic: bool, cooperative: bool,
    ) -> None:  # fmt: skip
        """Launch a kernel on a stream. Errors: UsageError gpu.*."""
        geometry = replace(geometry, cooperative=cooperative, programmatic=programmatic)
        known = {*self._gpu.allocations}
        kernel = cuda.enqueue(self._gpu, loaded.signature, geometry, arguments, _address, stream)
        self._tables += {*self._gpu.allocations} - known
        self._kernel = loaded.signature.entry.readable_name
        result.run = Run(kernel.findings)

    def close(self) -> None:
        """Free the memory and the streams."""
        self._gpu.__exit__()
        for each in self._streams:
            each.close()


def _address(array: object) -> int:
    assert isinstance(array, DeviceArray)
    return array.address
