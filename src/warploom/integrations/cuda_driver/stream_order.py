"""Order of the launches of a program, from streams, events, default streams and waits of the host.

The order is tracked only if the sanitizer compares launches with each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.streams import (
    DEFAULT_STREAMS,
    NON_BLOCKING,
    OWN_DEFAULT_STREAM,
    Event,
    Stream,
    event_of,
)

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall
    from warploom.runtime.sessions.launch_order import StreamOrder

BETWEEN_LAUNCHES = (
    "cuLaunchKernel", "cuCtxGet", "cuCtxSetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuDeviceGet",
    "cuDevicePrimaryCtxGetState", "cuFuncGet", "cuFuncSet", "cuFuncIsLoaded", "cuFuncLoad", "cuKernelGet",
    "cuKernelSet",
    "cuLibraryGetKernel", "cuLibraryGetModule", "cuModuleGetFunction", "cuOccupancy", "cuPointerGet",
    "cuStreamGetCaptureInfo", "cuStreamIsCapturing", "cuTensorMapEncode", "cuThreadExchangeStreamCaptureMode",
    "runtime_get",
)  # fmt: skip
"""First parts of the names of functions that need no results of delayed launches."""
_WAIT_FOR_DEVICE = (
    "cuCtxSynchronize", "cuCtxDestroy", "cuDevicePrimaryCtxRe", "cuMemFree_v2", "cuMemFreeHost", "cuMemHostUnregister",
    "cuModuleUnload", "cuLibraryUnload",
)  # fmt: skip
_WAIT_FOR_STREAM = ("cuStreamSynchronize", "cuStreamQuery", "cuLaunchHostFunc", "cuStreamAddCallback")
_WAIT_FOR_EVENTS = ("cuEventSynchronize", "cuEventQuery", "cuEventElapsedTime")
_ASYNC = "Async"


def order_of(call: DriverCall, handle: int) -> StreamOrder:
    """Return the order of a stream before its next operation. The stream exists."""
    program = call.program
    if handle == 0 and call.has_own_default:
        handle = OWN_DEFAULT_STREAM
    if handle in DEFAULT_STREAMS and handle != OWN_DEFAULT_STREAM:
        for each in program.blocking:
            _join(program.legacy, each.ended)
        return program.legacy
    stream = None if handle in DEFAULT_STREAMS else call.get(Stream, handle)
    order = call.thread.order if stream is None else stream.order
    if stream is None or not stream.flags & NON_BLOCKING:
        _join(order, program.legacy.ended)
        if not any(order is each for each in program.blocking):
            program.blocking.append(order)
    return order


def _join(order: StreamOrder, ended: int) -> None:
    """Let the next operation of a stream follow the launches `ended`."""
    if ended & ~order.ended:
        order.ended |= ended
        order.last = None


def follow_call(call: DriverCall, symbol: str, words: tuple[int, ...], stream: int | None) -> None:
    """Record the order that a successful call establishes.

    `stream` is the stream among its arguments, or None.
    """
    races = call.program.races
    if races is None or symbol.startswith(BETWEEN_LAUNCHES):
        return
    if symbol.startswith(_WAIT_FOR_DEVICE):
        races.synchronize()
    elif symbol.startswith(_WAIT_FOR_EVENTS):
        for word in words:
            if isinstance(found := call.program.find(word), Event) and found.mark is not None:
                races.synchronize(found.mark)
    elif symbol.startswith(("cuMemcpy", "cuMemset")) and _ASYNC not in symbol:
        races.order.operation(order := order_of(call, 0))
        races.synchronize(races.order.record(order))
    elif stream is None or not (stream in DEFAULT_STREAMS or isinstance(call.program.find(stream), Stream)):
        return  # no stream, or one that the call has destroyed
    elif symbol.startswith(_WAIT_FOR_STREAM):
        races.synchronize(races.order.record(order_of(call, stream)))
    elif symbol.startswith("cuEventRecord"):
        record(call, event_of(call, words[0]), stream)
    elif symbol.startswith("cuStreamWaitEvent"):
        event = event_of(call, words[1])
        if event.mark is not None and event.capture is None:
            races.order.wait(order_of(call, stream), event.mark)
    else:
        races.order.operation(order_of(call, stream))


def record(call: DriverCall, event: Event, stream: int, *, trigger: bool = False) -> None:
    """Record an event in the order of a stream.

    With `trigger`, the event occurs at the trigger of the last launch.
    """
    races = call.program.races
    if races is not None and event.capture is None:
        order = order_of(call, stream)
        event.mark = races.order.record(order, trigger=trigger)
        if not trigger:
            races.order.operation(order)
