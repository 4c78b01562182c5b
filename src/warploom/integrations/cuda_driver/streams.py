"""Driver functions for streams, events and functions of the host.

Delayed launches end before the next operation that may need their results, so every stream is idle during a call.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import Graph, Node, NodeKind, Operation, do_nothing
from warploom.integrations.cuda_driver.program import CaptureState
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.runtime.sessions.launch_order import Mark, StreamOrder

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import Context, DriverCall

_STREAM_FLAGS = (0, 1)
_EVENT_FLAGS = 7  # blocking synchronization, no timing, interprocess
_NO_TIMING = 2
_INTERPROCESS = 4
DEFAULT_STREAMS = (0, 1, 2)
OWN_DEFAULT_STREAM = 2  # of the calling thread
_LEGACY_STREAMS = (0, 1)
NON_BLOCKING = 1
_EXTERNAL = 1  # flag of a record or a wait that becomes a node of its own
_PRIORITIES = range(-5, 1)
numbers = count(3)  # 1 and 2 are the numbers of the default streams


@dataclass(eq=False, kw_only=True)
class Capture(CaptureState):
    """Capture of operations into a graph.

    `origin` is the stream at which it began. `latest` has the nodes on which the next operation of each stream depends.
    """

    graph: Graph
    origin: Stream
    number: int
    latest: dict[Stream, list[Node]]

    def add_stream(self, stream: Stream, after: list[Node]) -> None:
        """Capture the operations of a stream, of which the next one follows some nodes."""
        stream.capture = self
        self.latest[stream] = after
        self.waits_for_default |= not stream.flags & NON_BLOCKING


@dataclass(eq=False)
class Stream:
    """Stream of the program. `capture` is set while its operations are added to a graph."""

    context: Context
    flags: int
    priority: int
    number: int
    capture: Capture | None = None
    order: StreamOrder = field(default_factory=StreamOrder)


@dataclass(eq=False)
class Event:
    """CUDA event.

    `recorded` is the time of its last record, or None. If the record was captured, `capture` is the capture, and
    `nodes` are the nodes after which the event occurs. `mark` is its point in the order of launches, if this order is
    tracked. Units: seconds.
    """

    context: Context
    flags: int
    recorded: float | None = None
    capture: Capture | None = None
    nodes: tuple[Node, ...] = ()
    mark: Mark | None = None


def check_stream(call: DriverCall, handle: int) -> None:
    """Refuse a handle that names no stream.

    Errors: DriverError INVALID_HANDLE; INVALID_CONTEXT without a context, and for a destroyed stream.
    """
    _ = call.context
    if handle not in DEFAULT_STREAMS:
        call.get(Stream, handle, Status.INVALID_CONTEXT if call.program.has_ended(handle) else Status.INVALID_HANDLE)


def event_of(call: DriverCall, handle: int) -> Event:
    """Return an event. Errors: DriverError INVALID_HANDLE; CONTEXT_IS_DESTROYED for a destroyed event."""
    ended = call.program.has_ended(handle)
    return call.get(Event, handle, Status.CONTEXT_IS_DESTROYED if ended else Status.INVALID_HANDLE)


def capture_of(call: DriverCall, handle: int) -> tuple[Stream, Capture] | None:
    """Return a stream and its capture, or None if the stream's operations are not captured.

    Errors: as `check_stream`.
    """
    check_stream(call, handle)
    if handle in DEFAULT_STREAMS:
        return None
    stream = call.get(Stream, handle)
    return None if stream.capture is None else (stream, stream.capture)


def invalidate(captures: Iterable[CaptureState], status: Status) -> None:
    """Make captures invalid, and fail if there are any. Errors: DriverError with `status`."""
    found = [*captures]
    for capture in found:
        capture.is_valid = False
    if found:
        raise DriverError(status)


def valid_capture_of(call: DriverCall, handle: int) -> tuple[Stream, Capture] | None:
    """Return a stream and its capture, or None, before an operation of the stream.

    Errors: as `check_stream`; DriverError STREAM_CAPTURE_INVALIDATED, and STREAM_CAPTURE_IMPLICIT for the legacy
    default stream while a stream that waits for it is captured.
    """
    found = capture_of(call, handle)
    if handle in _LEGACY_STREAMS:
        refuse_legacy_stream(call)
    if found is not None and not found[1].is_valid:
        raise DriverError(Status.STREAM_CAPTURE_INVALIDATED)
    return found


def refuse_legacy_stream(call: DriverCall) -> None:
    """Refuse the legacy default stream while a stream that waits for it is captured.

    Errors: DriverError STREAM_CAPTURE_IMPLICIT.
    """
    captures = (each for each in call.program.captures if each.waits_for_default)
    invalidate(captures, Status.STREAM_CAPTURE_IMPLICIT)


def enqueue(
    call: DriverCall, handle: int, kind: NodeKind, operation: Operation, detail: object = None,
    now: Operation | None = None,
) -> None:  # fmt: skip
    """Execute an operation of a stream, or add it to the graph into which the stream is captured.

    If the stream is not being captured, `now` is called instead of `operation` if it is given.

    Errors: as `valid_capture_of`, and those of the operation.
    """
    found = valid_capture_of(call, handle)
    if found is None:
        (now or operation)(call)
        return
    stream, capture = found
    capture.latest[stream] = [capture.graph.add(kind, operation, capture.latest[stream], detail)]


def _create(call: DriverCall, flags: int, priority: int) -> int:
    context = call.context
    if flags not in _STREAM_FLAGS:
        raise DriverError(Status.INVALID_VALUE)
    nearest = min(max(priority, _PRIORITIES[0]), _PRIORITIES[-1])
    return call.program.handle_of(Stream(context, flags, nearest, next(numbers)))


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
    """Return a stream. The flags and the priority of the default streams are 0."""
    check_stream(call, handle)
    return Stream(call.context, 0, 0, handle or 1) if handle in DEFAULT_STREAMS else call.get(Stream, handle)


@driver("cuStreamGetFlags", "ptr stream, out u32 flags")
def _stream_flags(call: DriverCall, handle: int) -> int:
    _refuse_capture(call, handle)
    return _stream(call, handle).flags


@driver("cuStreamGetPriority", "ptr stream, out i32 priority")
def _stream_priority(call: DriverCall, handle: int) -> int:
    return _stream(call, handle).priority


@driver("cuStreamGetId", "ptr stream, out u64 number")
def _stream_number(call: DriverCall, handle: int) -> int:
    _refuse_capture(call, handle)
    return _stream(call, handle).number


@driver("cuStreamGetCtx", "ptr stream, out ptr context")
def _stream_context(call: DriverCall, handle: int) -> int:
    return call.program.handle_of(_stream(call, handle).context)


@driver("cuStreamGetDevice", "ptr stream, out i32 device")
def _stream_device(call: DriverCall, handle: int) -> int:
    check_stream(call, handle)
    return 0


@driver("cuStreamSynchronize cuStreamQuery", "ptr stream")
def _synchronize_stream(call: DriverCall, handle: int) -> None:
    _refuse_capture(call, handle)
    valid_capture_of(call, handle)


def _refuse_capture(call: DriverCall, handle: int) -> None:
    """Refuse a captured stream, and make its capture invalid.

    Errors: DriverError STREAM_CAPTURE_UNSUPPORTED.
    """
    found = capture_of(call, handle)
    invalidate(() if found is None else found[1:], Status.STREAM_CAPTURE_UNSUPPORTED)


@driver("cuStreamWaitEvent", "ptr stream, ptr event, u32 flags")
def _wait_event(call: DriverCall, stream: int, event: int, flags: int) -> None:
    capturing, found = valid_capture_of(call, stream), event_of(call, event)
    if flags not in (0, _EXTERNAL):
        raise DriverError(Status.INVALID_VALUE)
    if flags and capturing is None:
        raise DriverError(Status.ILLEGAL_STATE)
    if flags and capturing is not None:
        waiting, capture = capturing
        capture.latest[waiting] = [capture.graph.add(NodeKind.WAIT_EVENT, do_nothing, capture.latest[waiting])]
    elif found.capture is None:
        invalidate(
            () if found.recorded is None or capturing is None else capturing[1:], Status.STREAM_CAPTURE_ISOLATION
        )
    elif found.capture.has_ended:
        raise DriverError(Status.INVALID_VALUE)
    elif stream in DEFAULT_STREAMS:
        raise DriverError(Status.CAPTURED_EVENT)
    elif capturing is not None and capturing[1] is not found.capture:
        invalidate([capturing[1], found.capture], Status.STREAM_CAPTURE_MERGE)
    elif not found.capture.is_valid:
        raise DriverError(Status.STREAM_CAPTURE_INVALIDATED)
    else:
        waiting = call.get(Stream, stream)
        before = found.capture.latest.get(waiting, [])
        found.capture.add_stream(waiting, [*dict.fromkeys([*before, *found.nodes])])


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
    found = valid_capture_of(call, stream)
    if not function or flags:
        raise DriverError(Status.INVALID_VALUE)
    invalidate(() if found is None else found[1:], Status.STREAM_CAPTURE_UNSUPPORTED)
    call.call_back(function, stream, int(Status.SUCCESS), data)


# Events -----------------------------------------------------------------------------------------------------------


@driver("cuEventCreate", "out ptr event, u32 flags")
def _create_event(call: DriverCall, flags: int) -> int:
    context = call.context
    if flags & ~_EVENT_FLAGS or (flags & _INTERPROCESS and not flags & _NO_TIMING):
        raise DriverError(Status.INVALID_VALUE)
    return call.program.handle_of(Event(context, flags))


@driver("cuEventDestroy cuEventDestroy_v2", "ptr event")
def _destroy_event(call: DriverCall, handle: int) -> None:
    call.program.drop(event_of(call, handle))


@driver("cuEventRecord", "ptr event, ptr stream")
def _record(call: DriverCall, handle: int, stream: int) -> None:
    event = event_of(call, handle)
    if _stream(call, stream).context is not event.context:
        raise DriverError(Status.INVALID_HANDLE)
    found = valid_capture_of(call, stream)
    event.capture, event.nodes = (None, ()) if found is None else (found[1], tuple(found[1].latest[found[0]]))
    if found is None:
        record_event(event)


def record_event(event: Event) -> None:
    """Record an event now."""
    event.recorded = time.perf_counter()


@driver("cuEventRecordWithFlags", "ptr event, ptr stream, u32 flags")
def _record_with_flags(call: DriverCall, handle: int, stream: int, flags: int) -> None:
    if flags not in (0, _EXTERNAL):
        raise DriverError(Status.INVALID_VALUE)
    if not flags:
        _record(call, handle, stream)
        return
    event, found = event_of(call, handle), valid_capture_of(call, stream)
    if found is None:
        raise DriverError(Status.ILLEGAL_STATE)
    origin, capture = found
    node = capture.graph.add(NodeKind.RECORD_EVENT, lambda now: record_event(event), capture.latest[origin])
    capture.latest[origin] = [node]


def _uncaptured(call: DriverCall, handle: int) -> Event:
    """Return an event.

    Errors: as `event_of`; DriverError CAPTURED_EVENT if its last record was captured, which makes the capture invalid,
    and INVALID_VALUE if the capture has ended or is invalid.
    """
    event = event_of(call, handle)
    if event.capture is not None:
        if event.capture.has_ended or not event.capture.is_valid:
            raise DriverError(Status.INVALID_VALUE)
        invalidate([event.capture], Status.CAPTURED_EVENT)
    return event


@driver("cuEventQuery cuEventSynchronize", "ptr event")
def _synchronize_event(call: DriverCall, handle: int) -> None:
    _uncaptured(call, handle)


@driver("cuEventElapsedTime cuEventElapsedTime_v2", "ptr milliseconds, ptr start, ptr end")
def _elapsed(call: DriverCall, target: int, start: int, end: int) -> None:
    events = [_uncaptured(call, handle) for handle in (start, end)]
    times = [event.recorded for event in events if not event.flags & _NO_TIMING and event.recorded is not None]
    if len(times) < len(events) or not target:
        raise DriverError(Status.INVALID_HANDLE)
    call.connection.write(target, struct.pack("=f", 1e3 * (times[1] - times[0])))
