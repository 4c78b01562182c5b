"""Driver functions that launch kernels, and those that compute the occupancy of the device."""

from __future__ import annotations

import struct
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from warploom.diagnostics import UsageError
from warploom.emulator.faults import Deadlock, Trap, Unsupported
from warploom.emulator.grid_dependencies import Overlap, Steps
from warploom.emulator.schedule import Schedule
from warploom.gpu.geometry import Geometry
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import NodeKind
from warploom.integrations.cuda_driver.modules import NON_PORTABLE, Function, most_threads, registers, static_shared
from warploom.integrations.cuda_driver.statuses import DriverError, KernelFailure, Status
from warploom.integrations.cuda_driver.stream_order import order_of, record
from warploom.integrations.cuda_driver.streams import capture_of, check_stream, enqueue, event_of, record_event
from warploom.isa.model.parameters import block_bytes
from warploom.runtime.limits import ClusterError, read_geometry

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from warploom.integrations.cuda_driver.program import CudaProgram, DriverCall
    from warploom.integrations.cuda_driver.protocol import Connection
    from warploom.isa.model.parameters import Parameter
    from warploom.runtime.sessions.launch_order import StreamOrder
    from warploom.runtime.sessions.launch_races import RecordedLaunch

_CONFIGURATION = struct.Struct("=7I4xQQI4x")
_ATTRIBUTE = struct.Struct("=I4x64s")
_COOPERATIVE, _CLUSTER, _PROGRAMMATIC, _PROGRAMMATIC_EVENT = 2, 4, 6, 7
_KNOWN_ATTRIBUTES: dict[int, range | None] = dict.fromkeys((0, 1, 2, 4, 6, 7, 8, 10, 11, 12, 13, 16)) | {
    5: range(3), 9: range(2), 14: range(101),
}  # fmt: skip
"""Attributes of a launch, with their values if these are limited.

These are the scheduling of clusters, the memory domain, and the carveout.
"""
_MOST_ATTRIBUTES = 64
_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16
_BUFFER, _BUFFER_SIZE, _END = 1, 2, 0

_FAILURES = {
    "emulator.out-of-bounds": Status.ILLEGAL_ADDRESS,
    "emulator.read-only": Status.ILLEGAL_ADDRESS,
    "emulator.use-after-free": Status.ILLEGAL_ADDRESS,
    "emulator.misaligned": Status.MISALIGNED_ADDRESS,
    "emulator.assert": Status.ASSERT,
    "emulator.runaway": Status.LAUNCH_TIMEOUT,
    "emulator.deadlock": Status.LAUNCH_TIMEOUT,
}
"""Status after a failed kernel by the code of the error. Other errors lead to LAUNCH_FAILED."""


class Shape(NamedTuple):
    """Shape of a launch and its attributes.

    `event` is the handle of an event that occurs when the launch triggers dependent grids, or 0.

    Units: `shared` in bytes of dynamic shared memory.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    cluster: tuple[int, int, int] | None = None
    is_cooperative: bool = False
    is_programmatic: bool = False
    event: int = 0


@driver(
    "cuLaunchKernel",
    "ptr function, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, ptr stream, ptr values, ptr extra",
)
def _launch(
    call: DriverCall, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int,
    values: int, extra: int,
) -> None:  # fmt: skip
    _enqueue(call, function, Shape((gx, gy, gz), (bx, by, bz), shared), stream, values, extra)


@driver(
    "cuLaunchCooperativeKernel",
    "ptr function, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, ptr stream, ptr values",
)
def _launch_cooperative(
    call: DriverCall, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int,
    values: int,
) -> None:  # fmt: skip
    _enqueue(call, function, Shape((gx, gy, gz), (bx, by, bz), shared, is_cooperative=True), stream, values, 0)


@driver("cuLaunchKernelEx", "ptr configuration, ptr function, ptr values, ptr extra")
def _launch_configured(call: DriverCall, configuration: int, function: int, values: int, extra: int) -> None:
    shape, stream = read_configuration(call.connection, configuration)
    _enqueue(call, function, shape, stream, values, 0 if values else extra)


def read_configuration(connection: Connection, configuration: int) -> tuple[Shape, int]:
    """Return the shape and the stream that a CUlaunchConfig describes. Errors: DriverError INVALID_VALUE."""
    if not configuration:
        raise DriverError(Status.INVALID_VALUE)
    *numbers, stream, attributes, count = _CONFIGURATION.unpack(connection.read(configuration, _CONFIGURATION.size))
    if count > _MOST_ATTRIBUTES or (count and not attributes):
        raise DriverError(Status.INVALID_VALUE)
    cluster, is_cooperative, is_programmatic, event = None, False, False, 0
    data = connection.read(attributes, count * _ATTRIBUTE.size) if count else b""
    for number, value in _ATTRIBUTE.iter_unpack(data):
        allowed, (first,) = _KNOWN_ATTRIBUTES.get(number, range(0)), struct.unpack_from("=i", value)
        if allowed is not None and first not in allowed:
            raise DriverError(Status.INVALID_VALUE)
        if number == _CLUSTER:
            sizes = struct.unpack_from("=3I", value)
            cluster = sizes if any(sizes) else None
        elif number == _COOPERATIVE:
            is_cooperative = first != 0
        elif number == _PROGRAMMATIC:
            is_programmatic = first != 0
        elif number == _PROGRAMMATIC_EVENT:
            (event,) = struct.unpack_from("=Q", value)
    grid, block, shared = tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6]
    return Shape(grid, block, shared, cluster, is_cooperative, is_programmatic, event), stream


@contextmanager
def _refusals(program: CudaProgram) -> Generator[None]:
    """Report refusals of a launch to the user, and replace them by statuses.

    Errors: DriverError NOT_SUPPORTED, INVALID_CLUSTER_SIZE, INVALID_VALUE.
    """
    try:
        yield
    except (Unsupported, UsageError) as error:
        program.log.error(error)
        kinds = {Unsupported: Status.NOT_SUPPORTED, ClusterError: Status.INVALID_CLUSTER_SIZE}
        found = (status for kind, status in kinds.items() if isinstance(error, kind))
        raise DriverError(next(found, Status.INVALID_VALUE)) from None


class Launch(NamedTuple):
    """Launch of a kernel with its parameters."""

    function: Function
    geometry: Geometry
    parameters: bytes

    def __call__(self, call: DriverCall) -> None:
        """Run the kernel as a node of a graph. Errors: as `run`."""
        self.run(call, call.graph_stream)

    def run(self, call: DriverCall, stream: int) -> None:
        """Run the kernel in the order of a stream, or delay it if the next launch may overlap with it.

        Errors: DriverError; KernelFailure, whose status is also that of all later calls.
        """
        program, kernel = call.program, self.function.kernel
        call.connection.synchronize()  # copies of the same call to the device
        order = order_of(call, stream)
        with _refusals(program):
            schedule, triggers = Schedule.parse(program.log.schedule_of(kernel)), kernel.triggers
            program.launches.run(
                lambda overlap: self._start(program, order, overlap), order, schedule,
                programmatic=self.geometry.programmatic, triggers=triggers,
            )  # fmt: skip

    def _start(self, program: CudaProgram, order: StreamOrder, overlap: Overlap | None) -> Steps[None]:
        """Run the kernel, and pause if it overlaps with others.

        Errors: Unsupported; UsageError; KernelFailure.
        """
        kernel, log, races = self.function.kernel, program.log, program.races
        recorded: RecordedLaunch | None = None
        if races is not None:
            recorded = races.launch(
                order, log.found, programmatic=self.geometry.programmatic, is_recorded=log.is_observed(kernel)
            )
        try:
            yield from log.start(
                kernel, self.geometry, self.parameters, program.print, overlap, recorded and recorded.accesses
            )
        except BaseException as error:
            if races is not None and recorded is not None:
                races.drop(recorded)
            if not isinstance(error, (Trap, Deadlock)):
                raise
            log.error(error)
            code = error.diagnostics[0].code if error.diagnostics else ""
            program.failure = _FAILURES.get(code, Status.LAUNCH_FAILED)
            raise KernelFailure(program.failure) from None
        if races is not None and recorded is not None:
            races.end(recorded)


def prepare_launch(call: DriverCall, handle: int, shape: Shape, values: int, extra: int) -> Launch:
    """Return a launch of the function with a handle.

    `values` and `extra` are the addresses of the arguments `kernelParams` and `extra` of cuLaunchKernel.

    Errors: DriverError.
    """
    function = call.get(Function, handle)
    if function.module.context not in (None, call.context):
        raise DriverError(Status.INVALID_HANDLE)
    if values and extra:
        raise DriverError(Status.INVALID_VALUE)
    with _refusals(call.program):
        signature = function.kernel.loaded.signature
        cluster, required = shape.cluster or function.cluster, signature.extents(".reqnctapercluster")
        if cluster is not None and not all(cluster):
            raise ClusterError(f"cluster is {cluster}; expected integers above 0", code="launch.geometry")
        if shape.cluster and required and shape.cluster != required:
            raise ClusterError(
                f"cluster is {shape.cluster}; the kernel's .reqnctapercluster requires exactly {required}",
                code="launch.geometry",
            )
        geometry = read_geometry(signature, shape.grid, shape.block, cluster, shape.shared)
        geometry = replace(geometry, cooperative=shape.is_cooperative, programmatic=shape.is_programmatic)
        _check(call, function, geometry)
    return Launch(function, geometry, read_parameters(call.connection, signature.parameters, values, extra))


def _enqueue(call: DriverCall, handle: int, shape: Shape, stream: int, values: int, extra: int) -> None:
    """Launch a kernel in the order of a stream. `prepare_launch` describes the arguments and errors."""
    check_stream(call, stream)
    ready = prepare_launch(call, handle, shape, values, extra)
    event = event_of(call, shape.event) if shape.event else None
    enqueue(call, stream, NodeKind.KERNEL, ready, ready, lambda now: ready.run(now, stream))
    if event is not None and capture_of(call, stream) is None:
        record_event(event)
        record(call, event, stream, trigger=True)


def _check(call: DriverCall, function: Function, geometry: Geometry) -> None:
    """Refuse a launch that the device cannot execute.

    Errors: UsageError launch.shared, launch.geometry; DriverError COOPERATIVE_LAUNCH_TOO_LARGE.
    """
    if geometry.cooperative:
        each = _resident(call, function, prod(geometry.block), geometry.shared)
        most = each * call.program.model.processors
        if prod(geometry.grid) > most:
            text = (
                f"expected at most {most} CTAs in a cooperative launch of kernel {function.readable_name}, got "
                f"{prod(geometry.grid)}"
            )
            call.program.log.error(UsageError(text, code="launch.geometry"))
            raise DriverError(Status.COOPERATIVE_LAUNCH_TOO_LARGE)
    if geometry.shared > function.dynamic_shared:
        raise UsageError(
            f"expected at most {function.dynamic_shared} bytes of dynamic shared memory for kernel "
            f"{function.readable_name}, got {geometry.shared}",
            code="launch.shared",
            hint="set cudaFuncAttributeMaxDynamicSharedMemorySize before the launch",
        )
    if geometry.cluster_size > _PORTABLE_CLUSTER and not function.settings.get(NON_PORTABLE):
        raise ClusterError(
            f"a cluster has {geometry.cluster_size} CTAs; the kernel allows {_PORTABLE_CLUSTER}",
            code="launch.geometry",
            hint="set the attribute NON_PORTABLE_CLUSTER_SIZE_ALLOWED of the kernel before the launch",
        )


def read_parameters(connection: Connection, parameters: Sequence[Parameter], values: int, extra: int) -> bytes:
    """Return the bytes of a kernel's parameters.

    Errors: DriverError INVALID_VALUE, LAUNCH_OUT_OF_RESOURCES.
    """
    size = block_bytes(parameters) if parameters else 0
    if extra:
        return _buffer(connection, extra, size)
    if not parameters:
        return b""
    if not values:
        raise DriverError(Status.INVALID_VALUE)
    table = connection.read(values, 8 * len(parameters))
    pointers = struct.unpack(f"={len(parameters)}Q", table)
    if not all(pointers):
        raise DriverError(Status.INVALID_VALUE)
    block = bytearray(size)
    ranges = [(pointer, each.size) for pointer, each in zip(pointers, parameters, strict=True)]
    for parameter, data in zip(parameters, connection.read_all(ranges), strict=True):
        block[parameter.offset : parameter.offset + parameter.size] = data
    return bytes(block)


def _buffer(connection: Connection, extra: int, size: int) -> bytes:
    """Return the buffer of arguments that a list names, with zeros for missing bytes.

    Errors: DriverError INVALID_VALUE; LAUNCH_OUT_OF_RESOURCES for more bytes than the kernel has.
    """
    address = length = 0
    while (key := connection.read_word(extra)) != _END:
        value = connection.read_word(extra + 8)
        if key == _BUFFER:
            address = value
        elif key == _BUFFER_SIZE:
            length = connection.read_word(value)
        else:
            raise DriverError(Status.INVALID_VALUE)
        extra += 16
    if length > size:
        raise DriverError(Status.LAUNCH_OUT_OF_RESOURCES)
    if size and not (address and length):
        raise DriverError(Status.INVALID_VALUE)
    return connection.read(address, length).ljust(size, b"\0") if length else b""


# Occupancy --------------------------------------------------------------------------------------------------------

_THREADS_PER_PROCESSOR, _REGISTERS_PER_PROCESSOR, _SHARED_PER_PROCESSOR, _CTAS_PER_PROCESSOR = 39, 82, 81, 106
_RESERVED_SHARED = 111
_THREADS_PER_CTA = 1
_WARP = 32
_SHARED_STEP = 128  # bytes: granularity of shared memory


def _resident(call: DriverCall, function: Function, threads: int, shared: int) -> int:
    """Return the number of CTAs that one multiprocessor can hold."""
    attributes = call.program.model.attributes
    warps = -(-threads // _WARP)
    if not 0 < threads <= attributes[_THREADS_PER_CTA] or shared > function.dynamic_shared:
        return 0
    bytes_per_cta = static_shared(function) + shared + attributes[_RESERVED_SHARED]
    bytes_per_cta = -(-bytes_per_cta // _SHARED_STEP) * _SHARED_STEP
    return min(
        attributes[_CTAS_PER_PROCESSOR],
        attributes[_THREADS_PER_PROCESSOR] // (warps * _WARP),
        attributes[_REGISTERS_PER_PROCESSOR] // (warps * _WARP * registers(function)),
        attributes[_SHARED_PER_PROCESSOR] // bytes_per_cta,
    )


def _check_flags(flags: int) -> None:
    """Refuse unknown flags. Errors: DriverError INVALID_VALUE."""
    if flags not in (0, 1):
        raise DriverError(Status.INVALID_VALUE)


@driver("cuOccupancyMaxActiveBlocksPerMultiprocessor", "out i32 count, ptr function, i32 threads, u32 shared")
def _occupancy(call: DriverCall, handle: int, threads: int, shared: int) -> int:
    if threads <= 0:
        raise DriverError(Status.INVALID_VALUE)
    return _resident(call, call.get(Function, handle), threads, shared)


@driver(
    "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "out i32 count, ptr function, i32 threads, u32 shared, u32 flags",
)
def _occupancy_with_flags(call: DriverCall, handle: int, threads: int, shared: int, flags: int) -> int:
    _check_flags(flags)
    return _occupancy(call, handle, threads, shared)


@driver(
    "cuOccupancyMaxPotentialBlockSize",
    "out i32 grid, out i32 block, ptr function, ptr callback, size shared, i32 limit",
)
def _best_block(
    call: DriverCall, handle: int, callback: int, shared: int, limit: int
) -> tuple[int, int]:  # fmt: skip
    function = call.get(Function, handle)
    if limit < 0:
        raise DriverError(Status.INVALID_VALUE)
    most = min(most_threads(function), limit or most_threads(function))
    best = (0, 0, 0)
    for threads in range(most // _WARP * _WARP or most, 0, -_WARP):
        size = call.call_back(callback, threads) if callback else shared
        resident = _resident(call, function, threads, size)
        best = max(best, (resident * threads, threads, resident) if resident else best)
    return best[2] * call.program.model.processors, best[1]


@driver(
    "cuOccupancyMaxPotentialBlockSizeWithFlags",
    "out i32 grid, out i32 block, ptr function, ptr callback, size shared, i32 limit, u32 flags",
)
def _best_block_with_flags(
    call: DriverCall, handle: int, callback: int, shared: int, limit: int, flags: int
) -> tuple[int, int]:  # fmt: skip
    _check_flags(flags)
    return _best_block(call, handle, callback, shared, limit)


@driver("cuOccupancyAvailableDynamicSMemPerBlock", "out size bytes, ptr function, i32 ctas, i32 threads")
def _available_shared(call: DriverCall, handle: int, ctas: int, threads: int) -> int:
    function = call.get(Function, handle)
    if ctas <= 0 or not 0 < threads <= most_threads(function):
        raise DriverError(Status.INVALID_VALUE)
    attributes = call.program.model.attributes
    each = attributes[_SHARED_PER_PROCESSOR] // ctas - attributes[_RESERVED_SHARED] - static_shared(function)
    return max(each, 0)


def _largest(function: Function) -> int:
    """Return the largest number of CTAs in a cluster of a kernel."""
    return _LARGEST_CLUSTER if function.settings.get(NON_PORTABLE) else _PORTABLE_CLUSTER


@driver("cuOccupancyMaxPotentialClusterSize", "out i32 size, ptr function, ptr configuration")
def _largest_cluster(call: DriverCall, handle: int, configuration: int) -> int:
    function = call.get(Function, handle, Status.INVALID_VALUE)
    shape, _ = read_configuration(call.connection, configuration)
    if not all((*shape.grid, *shape.block)):
        raise DriverError(Status.INVALID_VALUE)
    if not _resident(call, function, prod(shape.block), shape.shared):
        return 0
    return _largest(function)


@driver("cuOccupancyMaxActiveClusters", "out i32 count, ptr function, ptr configuration")
def _active_clusters(call: DriverCall, handle: int, configuration: int) -> int:
    function = call.get(Function, handle, Status.INVALID_VALUE)
    shape, _ = read_configuration(call.connection, configuration)
    if not all((*shape.grid, *shape.block)):
        raise DriverError(Status.INVALID_VALUE)
    size = prod(shape.cluster or (1,))
    if not 0 < size <= _largest(function):
        raise DriverError(Status.INVALID_CLUSTER_SIZE)
    return _resident(call, function, prod(shape.block), shape.shared) * call.program.model.processors // size
