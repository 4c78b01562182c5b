"""Device of a session: what a session needs of a device, and the emulator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from warploom.author import Kernel
from warploom.diagnostics import UsageError
from warploom.emulator.arena import Segment
from warploom.emulator.grid_dependencies import Overlap, Steps
from warploom.emulator.program import Program
from warploom.emulator.schedule import Schedule
from warploom.gpu.geometry import Geometry
from warploom.layout import TensorMapFields
from warploom.ptx import Module, is_text, text_of
from warploom.runtime import cpu
from warploom.runtime.api import write_output
from warploom.runtime.arguments import Arguments
from warploom.runtime.kernel import LoadedKernel
from warploom.runtime.run import PendingRun
from warploom.runtime.sessions.device_array import DeviceArray
from warploom.runtime.sessions.device_memory import DeviceMemory
from warploom.runtime.sessions.launch_order import Mark, StreamOrder
from warploom.runtime.sessions.launch_queue import LaunchQueue
from warploom.runtime.sessions.launch_races import LaunchRaces, RecordedLaunch
from warploom.runtime.sessions.modules import SessionModule

if TYPE_CHECKING:
    from warploom.runtime.kernel import KernelSource


class SessionDevice(ABC):
    """Device of a session. The handles of its streams and the points in them have types of their own."""

    is_gpu: ClassVar[bool]

    @abstractmethod
    def allocate(self, name: str, size: int) -> int:
        """Allocate memory, and return its address. Units: `size` in bytes."""

    @abstractmethod
    def read(self, address: int, data: NDArray[np.uint8]) -> None:
        """Fill `data` with the bytes at an address."""

    @abstractmethod
    def write(self, address: int, data: NDArray[np.uint8]) -> None:
        """Copy bytes to an address."""

    @abstractmethod
    def stream(self) -> Any:
        """Return a new stream."""

    @abstractmethod
    def record(self, stream: Any) -> Any:
        """Return the present point of a stream."""

    @abstractmethod
    def wait(self, stream: Any, point: Any) -> None:
        """Let the later launches of a stream wait for a point of another stream."""

    @abstractmethod
    def synchronize(self, stream: Any) -> None:
        """Wait for the launches of a stream, or of all streams if it is None."""

    @abstractmethod
    def launch(
        self, source: KernelSource, loaded: LoadedKernel, geometry: Geometry, arguments: Arguments, stream: Any,
        result: PendingRun, programmatic: bool, cooperative: bool,
    ) -> None:  # fmt: skip
        """Launch a kernel on a stream. `result` gets the result."""

    @abstractmethod
    def close(self) -> None:
        """Free the memory."""


class EmulatorDevice(SessionDevice):
    """Emulator as the device of a session. `Session` describes the arguments."""

    is_gpu = False

    def __init__(
        self, memory: int, arch: str | None, schedule: str, sanitize: bool, step_budget: int | None,
        output: Callable[[str], object] | None,
    ) -> None:  # fmt: skip
        self._schedule = Schedule.parse(schedule)
        self._options: dict[str, Any] = {
            "arch": arch, "schedule": schedule, "sanitize": sanitize, "output": output or write_output,
            "step_budget": cpu.check_step_budget(step_budget),
        }  # fmt: skip
        try:
            self._bytes = np.zeros(memory, np.uint8)  # only the pages that a session uses take memory
        except (MemoryError, ValueError):
            raise UsageError(
                f"memory is {memory} bytes, which the host cannot allocate; expected less", code="launch.memory"
            ) from None
        self._memory = DeviceMemory(self._bytes, self._clear)
        self._queue = LaunchQueue()
        self._races = LaunchRaces(self._memory) if sanitize else None
        self._modules: dict[tuple[str, str], SessionModule] = {}

    def _clear(self, first: int, size: int) -> None:
        self._bytes[first : first + size] = 0

    def allocate(self, name: str, size: int) -> int:
        """Allocate memory. Errors: UsageError launch.memory."""
        return self._memory.allocate(name, size).start

    def read(self, address: int, data: NDArray[np.uint8]) -> None:
        """Fill `data` with the bytes at an address."""
        data[:] = self._memory.view(address, len(data))

    def write(self, address: int, data: NDArray[np.uint8]) -> None:
        """Copy bytes to an address."""
        self._memory.view(address, len(data))[:] = data

    def stream(self) -> StreamOrder:
        """Return a new stream."""
        return StreamOrder()

    def record(self, stream: StreamOrder) -> Mark | None:
        """Return the present point of a stream. Delayed launches end first."""
        self._queue.finish()
        if self._races is None:
            return None
        self._races.order.operation(stream)
        return self._races.order.record(stream)

    def wait(self, stream: StreamOrder, point: Mark | None) -> None:
        """Let the later launches of a stream wait for a point. Delayed launches end first."""
        self._queue.finish()
        if self._races is not None and point is not None:
            self._races.order.wait(stream, point)

    def synchronize(self, stream: StreamOrder | None) -> None:
        """Run the delayed launches. Errors: Trap, Deadlock."""
        self._queue.finish()
        if self._races is not None:
            self._races.synchronize(None if stream is None else self._races.order.record(stream))

    def launch(
        self, source: KernelSource, loaded: LoadedKernel, geometry: Geometry, arguments: Arguments, stream: StreamOrder,
        result: PendingRun, programmatic: bool, cooperative: bool,
    ) -> None:  # fmt: skip
        """Run a launch, or delay it. Errors: those of `SessionKernel.start`."""
        kernel = self._module(source, loaded).kernel(loaded.signature.name)
        geometry = replace(geometry, cooperative=cooperative, programmatic=programmatic)
        triggers = kernel.triggers
        tables = arguments.buffers.place(self._memory)

        def address(array: object) -> int:
            return array.address if isinstance(array, DeviceArray) else arguments.buffers.address(array)

        arguments.fill_tables(address, TensorMapFields.pack)
        arguments.buffers.fill(self._memory)
        parameters = arguments.block(address, TensorMapFields.pack)

        def start(overlap: Overlap | None) -> Steps[None]:
            recorded: RecordedLaunch | None = None
            if self._races is not None:
                recorded = self._races.launch(stream, result.add_findings, programmatic=programmatic)
            try:
                accesses = None if recorded is None else recorded.accesses
                result.run = yield from kernel.start(
                    geometry, parameters, overlap=overlap, accesses=accesses, **self._options
                )
            except BaseException:
                if self._races is not None and recorded is not None:
                    self._races.drop(recorded)
                raise
            finally:
                self._free(tables)
            if self._races is not None and recorded is not None:
                self._races.end(recorded)

        self._queue.run(start, stream, self._schedule, programmatic=programmatic, triggers=triggers)

    def _free(self, tables: list[Segment]) -> None:
        for segment in tables:
            self._memory.free(segment)

    def _module(self, source: KernelSource, loaded: LoadedKernel) -> SessionModule:
        """Return the module of a kernel, whose variables keep their contents."""
        text, name = _text_of(source)
        if (text, name) not in self._modules:
            self._modules[text, name] = SessionModule(self._memory, text, name)
        return self._modules[text, name]

    def close(self) -> None:
        """Drop the memory."""
        self._modules.clear()


def _text_of(source: KernelSource) -> tuple[str, str]:
    """Return the PTX text of a kernel's module, and its name in messages."""
    if isinstance(source, Kernel):
        return source.text, "<ptx>"
    if isinstance(source, Program):
        source = source.module
    if isinstance(source, Module):
        return str(source), "<ptx>" if source.source is None else source.source.name
    return text_of(Path(source) if isinstance(source, str) and not is_text(source) else source)
