"""Sequences of launches on streams, which share device memory."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warploom.diagnostics import Diagnostic, UsageError
from warploom.gpu.geometry import Extent
from warploom.isa.model.availability import read_target
from warploom.runtime.arguments import Arguments
from warploom.runtime.elements import check_elements
from warploom.runtime.kernel import load_kernel
from warploom.runtime.limits import read_geometry
from warploom.runtime.options import check_device, check_memory, check_switches
from warploom.runtime.run import PendingRun, Run
from warploom.runtime.sessions.device_array import DeviceArray, check_session

if TYPE_CHECKING:
    from warploom.runtime.kernel import KernelSource
    from warploom.runtime.sessions.devices import SessionDevice

__all__ = ["DeviceArray", "Session", "SessionEvent", "SessionLaunch", "SessionStream"]

MEMORY_BYTES = 4 << 30
LEAST_MEMORY = 16 << 20
"""Least memory of a session: 8 MiB are for the heap of device functions. Units: bytes."""


class SessionEvent:
    """Point in a stream, for which other streams can wait. `SessionStream.record` returns it."""

    def __init__(self, session: Session, point: object) -> None:
        self.session = session
        self.point = point


class SessionStream:
    """Stream of a session. Its launches run in order; launches on different streams have no order."""

    def __init__(self, session: Session, handle: object) -> None:
        self.session = session
        self.handle = handle

    def record(self) -> SessionEvent:
        """Return an event that occurs when all launches on the stream so far have ended."""
        with self.session.lock:
            return SessionEvent(self.session, self.session.device_for(self).record(self.handle))

    def wait(self, other: SessionEvent | SessionStream) -> None:
        """Let later launches on this stream wait for an event, or for the launches on another stream so far.

        Errors: UsageError launch.session for an object of another session.
        """
        device = self.session.device_for(self)
        event = other.record() if isinstance(other, SessionStream) else other
        if not isinstance(event, SessionEvent) or event.session is not self.session:
            raise UsageError(
                f"a stream cannot wait for {other!r}; expected an event or a stream of its session",
                code="launch.session",
            )
        with self.session.lock:
            device.wait(self.handle, event.point)

    def synchronize(self) -> None:
        """Wait for the end of all launches on the stream. Errors: as `Session.synchronize`."""
        with self.session.lock:
            self.session.device_for(self).synchronize(self.handle)


class SessionLaunch:
    """Launch of a session, whose kernel may not have ended."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.pending = PendingRun()

    @property
    def run(self) -> Run:
        """Result of the launch. The first use waits for all launches of the session.

        Errors: as `Session.synchronize`; UsageError launch.session if the launch did not end because of an error.
        """
        if self.pending.run is None:
            self._session.synchronize()
        if self.pending.run is None:
            raise UsageError(
                "the launch did not run to its end, because an earlier launch of its session failed",
                code="launch.session",
            )
        return self.pending.run


class Session:
    """Sequence of launches on streams that share device memory, on the emulator or on a GPU.

        with wl.Session(sanitize=True, schedule="lazy") as session:
            x = session.array(np.arange(1024, dtype=np.float32))
            session.launch("first.ptx", grid=4, block=256, args=[x])
            session.launch("second.ptx", grid=4, block=256, args=[x], programmatic=True)
            print(x.numpy(), session.findings)

    `device` is "cpu" for the emulator or "cuda" for GPU 0. The arguments `arch`, `schedule`, `sanitize`, `step_budget`
    and `output` are options of the emulator, as in `wl.launch`. They apply to all launches. With `sanitize`, the
    session also reports conflicting accesses of two launches that may overlap. `memory` is the size of the emulator's
    device memory.

    Threads may share a session; their operations execute one after the other.

    Units: `memory` in bytes, at least 16 MiB.
    Errors: UsageError launch.arch, launch.budget, launch.device, launch.memory, launch.option, launch.schedule; on a
        GPU also UsageError gpu.*.
    """

    def __init__(
        self,
        *,
        device: Literal["cpu", "cuda"] = "cpu",
        arch: str | None = None,
        schedule: str = "eager",
        sanitize: bool = False,
        step_budget: int | None = None,
        output: Callable[[str], object] | None = None,
        memory: int = MEMORY_BYTES,
    ) -> None:
        check_device(device)
        check_switches({"sanitize": sanitize})
        check_memory(memory, LEAST_MEMORY)
        if arch is not None and (not isinstance(arch, str) or read_target(arch) is None):
            raise UsageError(f"arch is {arch!r}; expected a target such as 'sm_90a'", code="launch.arch")
        if output is not None and not callable(output):
            raise UsageError(f"output is {output!r}; expected a function of a text", code="launch.option")
        self.lock = RLock()
        self._launches: list[SessionLaunch] = []
        self._names = 0
        self._device: SessionDevice | None
        if device == "cpu":
            from warploom.runtime.sessions.devices import EmulatorDevice

            self._device = EmulatorDevice(memory, arch, schedule, sanitize, step_budget, output)
        else:
            options = {
                "arch": arch is not None, "schedule": schedule != "eager", "sanitize": sanitize,
                "step_budget": step_budget is not None, "output": output is not None, "memory": memory != MEMORY_BYTES,
            }  # fmt: skip
            for option in (each for each, is_set in options.items() if is_set):
                raise UsageError(
                    f"device='cuda' does not support {option}; expected device='cpu'", code="launch.device"
                )
            from warploom.runtime.sessions.gpu import GpuDevice

            self._device = GpuDevice()
        self._stream = SessionStream(self, self._device.stream())

    def __enter__(self) -> Session:
        _ = self._open
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for all launches, unless an error ends the block, and free the memory of the session."""
        try:
            if error is None and self._device is not None:
                self.synchronize()
        finally:
            self.close()

    def close(self) -> None:
        """Free the memory of the session. Delayed launches do not run."""
        device, self._device = self._device, None
        if device is not None:
            device.close()

    def device_for(self, stream: SessionStream) -> SessionDevice:
        """Return the device for an operation of a stream. Errors: UsageError launch.session."""
        if not isinstance(stream, SessionStream) or stream.session is not self:
            raise UsageError(
                f"stream is {stream!r}; expected a stream that the method `stream` of this session returns",
                code="launch.session",
            )
        return self._open

    @property
    def _open(self) -> SessionDevice:
        if self._device is None:
            raise UsageError("the session is closed; expected an open session", code="launch.session")
        return self._device

    # Memory and streams -----------------------------------------------------------------------------------

    def array(self, contents: ArrayLike, name: str = "") -> DeviceArray:
        """Return a new array in device memory with a copy of `contents`. Messages call it `name`.

        Errors: UsageError launch.memory, gpu.memory; launch.argument for contents that are no numbers.
        """
        if not isinstance(name, str):
            raise UsageError(f"name is {name!r}; expected a text", code="launch.argument")
        values = _array_of(contents)
        if values.dtype.hasobject or values.dtype.kind not in "biufcV" or not values.dtype.isnative:
            raise UsageError(
                f"an array of {values.dtype} has no numbers for a kernel; expected integers, floating-point numbers or "
                "booleans",
                code="launch.argument",
            )
        name = name or f"array {self._names}"
        self._names += 1
        with self.lock:
            address = self._open.allocate(name, values.nbytes)
            self._open.write(address, np.ascontiguousarray(values).reshape(-1).view(np.uint8))
        return DeviceArray(self, name, values.shape, values.dtype, address)

    def read(self, array: DeviceArray) -> NDArray[Any]:
        """Return a copy of an array. See `DeviceArray.numpy`."""
        check_session(array, self, "the array")
        data = np.empty(array.nbytes, np.uint8)
        with self.lock:
            self.synchronize()
            self._open.read(array.address, data)
        return data.view(array.dtype).reshape(array.shape)

    def write(self, array: DeviceArray, values: ArrayLike) -> None:
        """Set the contents of an array. See `DeviceArray.write`."""
        check_session(array, self, "the array")
        host = _array_of(values)
        if host.shape != array.shape or host.dtype != array.dtype:
            raise UsageError(
                f"the values have shape {host.shape} and type {host.dtype}; expected shape {array.shape} and "
                f"type {array.dtype}",
                code="launch.argument",
            )
        with self.lock:
            self.synchronize()
            self._open.write(array.address, np.ascontiguousarray(host).reshape(-1).view(np.uint8))

    def stream(self) -> SessionStream:
        """Return a new stream. Launches without a stream use a stream of their own, the same for all of them."""
        with self.lock:
            return SessionStream(self, self._open.stream())

    # Launches ---------------------------------------------------------------------------------------------

    def launch(
        self,
        kernel: KernelSource,
        name: str | None = None,
        *,
        grid: Extent,
        block: Extent | None = None,
        args: Sequence[object],
        cluster: Extent = (1, 1, 1),
        shared: int | None = None,
        stream: SessionStream | None = None,
        programmatic: bool = False,
        cooperative: bool = False,
    ) -> SessionLaunch:
        """Launch a kernel on a stream, by default the stream of the session.

        With `programmatic`, the kernel may start when all CTAs of the previous launch on the stream have triggered
        dependent grids, or have ended. `wl.launch` describes the other arguments, but the arrays in `args` are those
        that the method `array` returns. The variables of a module keep their contents between launches.

        On the emulator, the launch runs at once if the schedule is "eager". Under the other schedules, a launch that
        may trigger a dependent grid is delayed until the next operation, so its errors occur there.

        Errors: as `wl.launch`; UsageError launch.session.
        """
        check_switches({"programmatic": programmatic, "cooperative": cooperative})
        stream = self._stream if stream is None else stream
        device = self.device_for(stream)
        loaded = load_kernel(kernel, name)
        block, shared = loaded.block if block is None else block, loaded.shared if shared is None else shared
        geometry = read_geometry(loaded.signature, grid, block, cluster, shared)
        arguments = Arguments(loaded.signature, args, on_gpu=device.is_gpu, session=self)
        check_elements(loaded, arguments)
        launch = SessionLaunch(self)
        with self.lock:
            device.launch(kernel, loaded, geometry, arguments, stream.handle, launch.pending, programmatic, cooperative)
            self._launches.append(launch)
        return launch

    def synchronize(self) -> None:
        """Wait for the end of all launches.

        Errors: Trap and Deadlock of a delayed launch; DeviceFault.
        """
        with self.lock:
            self._open.synchronize(None)

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Findings of all launches. Each cause is listed once. Errors: as `synchronize`."""
        self.synchronize()
        runs = (launch.pending.run for launch in self._launches)
        found = (each for run in runs if run is not None for each in run.findings)
        return tuple({(each.code, each.place, (each.data or {}).get("other_kernel")): each for each in found}.values())


def _array_of(values: ArrayLike) -> NDArray[Any]:
    """Return values as an array.

    Errors: UsageError launch.argument for lists whose rows have several lengths.
    """
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise UsageError(f"the values are not an array: {error}", code="launch.argument") from None
