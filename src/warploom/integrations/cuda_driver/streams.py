"""Driver functions for streams, events and functions of the host.

A kernel has ended when its launch returns, so every stream is idle between two calls.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import Graph, Node, NodeKind, Operation
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_STREAM_FLAGS = (0, 1)
_EVENT_FLAGS = 7  # blocking synchronization, no timing, interprocess
_NO_TIMING = 2
_INTERPROCESS = 4
_DEFAULT_STREAMS = (0, 1, 2)
_NOT_CAPTURING, _CAPTURING = 0, 1
_CAPTURE_MODES = (0, 1, 2)
_PRIORITIES = range(-5, 1)
_numbers = count(1)


@dataclass(eq=False)
class Capture:
    """Capture of operations into a graph.

    `origin` is the stream at which it began. `latest` has the nodes that the next operation of each stream follows.
    `is_valid` is False after an operation that cannot be captured. `has_ended` is True after the end of the capture.
    """

    graph: Graph
    origin: Stream
    number: int
    latest: dict[Stream, list[Node]]
    is_valid: bool = True
    has_ended: bool = False


@dataclass(eq=False)
class Stream:
    """Stream of the program. `capture` is set while its operations are added to a graph."""

    flags: int
    priority: int
    number: int
    capture: Capture | None = None


@dataclass(eq=False)
class Event:
    """Event.

    `recorded` is the time of its last record, or None. If the record was captured, `capture` is the capture, and
    `nodes` are the nodes after which the event occurs. Units: seconds.
    """

    flags: int
    recorded: float | None = None
    capture: Capture | None = None
    nodes: tuple[Node, ...] = ()


def check_stream(call: DriverCall, handle: int) -> None:
    """Refuse a handle that names no stream. Errors: DriverError INVALID_HANDLE, INVALID_CONTEXT."""
    _ = call.context
    if handle not in _DEFAULT_STREAMS:
        call.get(Stream, handle)


def capture_of(call: DriverCall, handle: int) -> tuple[Stream, Capture] | None:
    """Return a stream and its capture, or None if the stream's operations are not captured.

    Errors: as `check_stream`.
    """
    check_stream(call, handle)
    if handle in _DEFAULT_STREAMS:
        return None
    stream = call.get(Stream, handle)
    return None if stream.capture is None else (stream, stream.capture)


def enqueue(call: DriverCall, handle: int, kind: NodeKind, operation: Operation, detail: object = None) -> None:
    """Execute an operation of a stream, or add it to the graph into which the stream is captured.

    Errors: as `check_stream`, and those of the operation.
    """
    found = capture_of(call, handle)
    if found is None:
        operation(call)
        return
    stream, capture = found
    capture.latest[stream] = [capture.graph.add(kind, operation, capture.latest[stream], detail)]


def _create(call: DriverCall, flags: int, priority: int) -> int:
    _ = call.context
    if flags not in _STREAM_FLAGS:
        raise DriverError(Status.INVALID_VALUE)
    nearest = min(max(priority, _PRIORITIES[0]), _PRIORITIES[-1])
    return call.program.handle_of(Stream(flags, nearest, next(_numbers)))


@driver("cuStreamCreate", "out ptr stream, u32 flags")
def _create_stream(call: DriverCall, flags: int) -> int:
    return _create(call, flags, 0)


@driver("cuStreamCreateWithPriority", "out ptr stream, u32 flags, i32 priority")
def _create_stream_with_priority(call: DriverCall, flags: int, priority: int) -> int:
    return _create(call, flags, priority)


@driver("cuStreamDestroy cuStreamDestroy_v2", "ptr stream")
def _destroy_stream(call: DriverCall, handle: int) -> None:
    call.program.drop(call.get(Stream, handle))


def _stream(call: DriverCall, handle: int) -> Stream:
    """Return a stream. The default streams have flags and a priority of 0."""
    check_stream(call, handle)
    return Stream(0, 0, handle) if handle in _DEFAULT_STREAMS else call.get(Stream, handle)


@driver("cuStreamGetFlags", "ptr stream, out u32 flags")
def _stream_flags(call: DriverCall, handle: int) -> int:
    return _stream(call, handle).flags


@driver("cuStreamGetPriority", "ptr stream, out i32 priority")
def _stream_priority(call: DriverCall, handle: int) -> int:
    return _stream(call, handle).priority


@driver("cuStreamGetId", "ptr stream, out u64 number")
def _stream_number(call: DriverCall, handle: int) -> int:
    return _stream(call, handle).number


@driver("cuStreamGetCtx", "ptr stream, out ptr context")
def _stream_context(call: DriverCall, handle: int) -> int:
    check_stream(call, handle)
    return call.program.handle_of(call.context)


@driver("cuStreamGetDevice", "ptr stream, out i32 device")
def _stream_device(call: DriverCall, handle: int) -> int:
    check_stream(call, handle)
    return 0


@driver("cuStreamSynchronize cuStreamQuery", "ptr stream")
def _synchronize_stream(call: DriverCall, handle: int) -> None:
    if (found := capture_of(call, handle)) is not None:
        found[1].is_valid = False
        raise DriverError(Status.STREAM_CAPTURE_UNSUPPORTED)


@driver("cuStreamWaitEvent", "ptr stream, ptr event, u32 flags")
def _wait_event(call: DriverCall, stream: int, event: int, flags: int) -> None:
    check_stream(call, stream)
    found = call.get(Event, event)
    if found.capture is None:
        return
    if found.capture.has_ended:
        raise DriverError(Status.INVALID_VALUE)
    waiting = Stream(0, 0, 0) if stream in _DEFAULT_STREAMS else call.get(Stream, stream)
    if waiting.capture is None:
        waiting.capture = found.capture
    elif waiting.capture is not found.capture:
        raise DriverError(Status.STREAM_CAPTURE_MERGE)
    before = found.capture.latest.get(waiting, [])
    found.capture.latest[waiting] = [*dict.fromkeys([*before, *found.nodes])]


# Captures ---------------------------------------------------------------------------------------------------------


@driver("cuStreamBeginCapture_v2", "ptr stream, i32 mode")
def _begin_capture(call: DriverCall, handle: int, mode: int) -> None:
    check_stream(call, handle)
    if handle in _DEFAULT_STREAMS:
        raise DriverError(Status.STREAM_CAPTURE_UNSUPPORTED)
    stream = call.get(Stream, handle)
    if mode not in _CAPTURE_MODES:
        raise DriverError(Status.INVALID_VALUE)
    if stream.capture is not None:
        raise DriverError(Status.ILLEGAL_STATE)
    stream.capture = Capture(Graph(), stream, next(_numbers), {stream: []})


@driver("cuStreamEndCapture", "ptr stream, out ptr graph")
def _end_capture(call: DriverCall, handle: int) -> int:
    found = capture_of(call, handle)
    if found is None:
        raise DriverError(Status.ILLEGAL_STATE)
    stream, capture = found
    if stream is not capture.origin:
        raise DriverError(Status.STREAM_CAPTURE_UNMATCHED)
    reached = _predecessors(capture.latest[stream])
    capture.has_ended = True
    for other in capture.latest:
        other.capture = None
    if not capture.is_valid:
        raise DriverError(Status.STREAM_CAPTURE_INVALIDATED)
    if not all(reached.issuperset(nodes) for nodes in capture.latest.values()):
        raise DriverError(Status.STREAM_CAPTURE_UNJOINED)
    return call.program.handle_of(capture.graph)


def _predecessors(nodes: Iterable[Node]) -> set[Node]:
    """Return nodes and all nodes on which they depend."""
    found, pending = set[Node](), [*nodes]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += node.dependencies
    return found


@driver("cuStreamIsCapturing", "ptr stream, out i32 state")
def _is_capturing(call: DriverCall, handle: int) -> int:
    return _NOT_CAPTURING if capture_of(call, handle) is None else _CAPTURING


def _capture_info(call: DriverCall, handle: int) -> tuple[int, int, int]:
    """Return the state of a stream's capture, its number and the handle of its graph."""
    found = capture_of(call, handle)
    if found is None:
        return _NOT_CAPTURING, 0, 0
    return _CAPTURING, found[1].number, call.program.handle_of(found[1].graph)


@driver("cuStreamGetCaptureInfo_v2", "ptr stream, out i32 state, out? u64 id, out? ptr graph, ptr nodes, ptr count")
def _get_capture(call: DriverCall, handle: int, nodes: int, count: int) -> tuple[int, int, int]:
    return _capture_info(call, handle)


@driver(
    "cuStreamGetCaptureInfo_v3",
    "ptr stream, out i32 state, out? u64 id, out? ptr graph, ptr nodes, ptr edges, ptr count",
)
def _get_capture_3(call: DriverCall, handle: int, nodes: int, edges: int, count: int) -> tuple[int, int, int]:
    return _capture_info(call, handle)


@driver("cuThreadExchangeStreamCaptureMode", "ptr mode")
def _exchange_mode(call: DriverCall, address: int) -> None:
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    mode = int.from_bytes(call.connection.read(address, 4), "little")
    call.connection.write(address, call.thread.capture_mode.to_bytes(4, "little"))
    call.thread.capture_mode = mode


@driver("cuStreamAttachMemAsync", "ptr stream, u64 address, size bytes, u32 flags")
def _attach(call: DriverCall, stream: int, address: int, size: int, flags: int) -> None:
    check_stream(call, stream)


# Functions of the host --------------------------------------------------------------------------------------------


@driver("cuLaunchHostFunc", "ptr stream, ptr function, ptr data")
def _launch_host(call: DriverCall, stream: int, function: int, data: int) -> None:
    if not function:
        raise DriverError(Status.INVALID_VALUE)
    enqueue(call, stream, NodeKind.HOST, lambda now: call_host(now, function, data), (function, data))


def call_host(call: DriverCall, function: int, data: int) -> None:
    """Call a function of the program with the address of its data."""
    call.call_back(function, data)


@driver("cuStreamAddCallback", "ptr stream, ptr function, ptr data, u32 flags")
def _add_callback(call: DriverCall, stream: int, function: int, data: int, flags: int) -> None:
    check_stream(call, stream)
    if not function or flags:
        raise DriverError(Status.INVALID_VALUE)
    call.call_back(function, stream, int(Status.SUCCESS), data)


# Events -----------------------------------------------------------------------------------------------------------


@driver("cuEventCreate", "out ptr event, u32 flags")
def _create_event(call: DriverCall, flags: int) -> int:
    _ = call.context
    if flags & ~_EVENT_FLAGS or (flags & _INTERPROCESS and not flags & _NO_TIMING):
        raise DriverError(Status.INVALID_VALUE)
    return call.program.handle_of(Event(flags))


@driver("cuEventDestroy cuEventDestroy_v2", "ptr event")
def _destroy_event(call: DriverCall, handle: int) -> None:
    call.program.drop(call.get(Event, handle))


@driver("cuEventRecord", "ptr event, ptr stream")
def _record(call: DriverCall, handle: int, stream: int) -> None:
    event = call.get(Event, handle)
    found = capture_of(call, stream)
    event.capture, event.nodes = (None, ()) if found is None else (found[1], tuple(found[1].latest[found[0]]))
    if found is None:
        record_event(event)


def check_event(call: DriverCall, handle: int) -> Event:
    """Return an event of which the program may ask whether it has occurred.

    Errors: DriverError INVALID_HANDLE; CAPTURED_EVENT if its last record belongs to a capture, which becomes invalid;
    INVALID_VALUE if this capture has ended.
    """
    event = call.get(Event, handle)
    if event.capture is not None:
        if event.capture.has_ended:
            raise DriverError(Status.INVALID_VALUE)
        event.capture.is_valid = False
        raise DriverError(Status.CAPTURED_EVENT)
    return event


def record_event(event: Event) -> None:
    """Record an event now."""
    event.recorded = time.perf_counter()


@driver("cuEventRecordWithFlags", "ptr event, ptr stream, u32 flags")
def _record_with_flags(call: DriverCall, handle: int, stream: int, flags: int) -> None:
    _record(call, handle, stream)


@driver("cuEventQuery cuEventSynchronize", "ptr event")
def _synchronize_event(call: DriverCall, handle: int) -> None:
    check_event(call, handle)


@driver("cuEventElapsedTime cuEventElapsedTime_v2", "out f32 milliseconds, ptr start, ptr end")
def _elapsed(call: DriverCall, start: int, end: int) -> float:
    events = [call.get(Event, handle) for handle in (start, end)]
    times = [event.recorded for event in events if not event.flags & _NO_TIMING and event.recorded is not None]
    if len(times) < len(events):
        raise DriverError(Status.INVALID_HANDLE)
    return 1e3 * (times[1] - times[0])
