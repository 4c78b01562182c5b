"""Driver functions that capture the operations of streams into graphs.

Source: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import Graph, Node
from warploom.integrations.cuda_driver.graph_memory import release
from warploom.integrations.cuda_driver.memory import data_address
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.integrations.cuda_driver.streams import (
    DEFAULT_STREAMS,
    Capture,
    Stream,
    capture_of,
    check_stream,
    invalidate,
    numbers,
    refuse_legacy_stream,
    valid_capture_of,
)

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import CaptureState, DriverCall

_NOT_CAPTURING, _CAPTURING, _INVALID = 0, 1, 2
_GLOBAL, _THREAD, _RELAXED = 0, 1, 2
_MODES = (_GLOBAL, _THREAD, _RELAXED)
_SYNCHRONOUS = frozenset({
    "cuMemcpy", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoD_v2", "cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2",
    "cuMemcpy3D_v2", "cuMemcpyPeer", "cuMemsetD8_v2", "cuMemsetD16_v2", "cuMemsetD32_v2", "cuMemsetD2D8_v2",
    "cuMemsetD2D16_v2", "cuMemsetD2D32_v2",
})  # fmt: skip
"""Functions that use the legacy default stream and wait for it."""
_UNSAFE = frozenset(
    {
        "cuCtxSetLimit",
        "cuMemAlloc_v2",
        "cuMemAllocPitch_v2",
        "cuMemAllocHost_v2",
        "cuMemAllocManaged",
        "cuMemHostAlloc",
        "cuMemFree_v2",
        "cuMemFreeHost",
        "cuMemHostRegister_v2",
        "cuMemHostUnregister",
        "cuEventQuery",
        "cuEventSynchronize",
        "cuStreamQuery",
        "cuStreamSynchronize",
    }
)
"""Functions that may wait for other work. A capture that is not relaxed forbids them."""


def check_captures(call: DriverCall, symbol: str) -> None:
    """Refuse a function that is not permitted during the captures of the program.

    Errors: DriverError STREAM_CAPTURE_UNSUPPORTED, STREAM_CAPTURE_IMPLICIT. The captures become invalid.
    """
    captures = call.program.captures
    if symbol in {"cuCtxSynchronize", "cuCtxSynchronize_v2"}:
        invalidate(captures, Status.STREAM_CAPTURE_UNSUPPORTED)
    if symbol in _SYNCHRONOUS:
        refuse_legacy_stream(call)
    if symbol in _UNSAFE:
        invalidate((each for each in captures if _forbids(each, call)), Status.STREAM_CAPTURE_UNSUPPORTED)


def captured_work(call: DriverCall, symbol: str, stream: int | None) -> CaptureState | None:
    """Return the capture to which a function adds an operation of a stream, or None.

    Errors: as `valid_capture_of`.
    """
    if not stream or not symbol.startswith(("cuLaunch", "cuMemcpy", "cuMemset")):
        return None
    found = valid_capture_of(call, stream)
    return None if found is None else found[1]


def _forbids(capture: CaptureState, call: DriverCall) -> bool:
    """Return True if a capture forbids unsafe functions in the calling thread."""
    if capture.thread is call.thread:
        return _RELAXED not in {capture.mode, call.thread.capture_mode}
    return {capture.mode, call.thread.capture_mode} == {_GLOBAL}


@driver("cuStreamBeginCapture_v2", "ptr stream, i32 mode")
def _begin_capture(call: DriverCall, handle: int, mode: int) -> None:
    check_stream(call, handle)
    if handle in DEFAULT_STREAMS:
        raise DriverError(Status.STREAM_CAPTURE_UNSUPPORTED)
    stream = call.get(Stream, handle)
    if mode not in _MODES:
        raise DriverError(Status.INVALID_VALUE)
    if stream.capture is not None:
        raise DriverError(Status.ILLEGAL_STATE)
    capture = Capture(mode=mode, thread=call.thread, graph=Graph(), origin=stream, number=next(numbers), latest={})
    capture.add_stream(stream, [])
    call.program.captures.append(capture)


@driver("cuStreamEndCapture", "ptr stream, ptr graph")
def _end_capture(call: DriverCall, handle: int, target: int) -> None:
    found = capture_of(call, handle)
    if found is None:
        raise DriverError(Status.ILLEGAL_STATE)
    stream, capture = found
    if target:
        call.connection.write(target, bytes(8))
    if stream is not capture.origin:
        invalidate([capture], Status.STREAM_CAPTURE_UNMATCHED)
    if capture.mode != _RELAXED and capture.thread is not call.thread:
        invalidate([capture], Status.STREAM_CAPTURE_WRONG_THREAD)
    reached = _predecessors(capture.latest[stream])
    for other in capture.latest:
        other.capture = None
    capture.has_ended = True
    call.program.captures.remove(capture)
    is_joined = all(reached.issuperset(nodes) for nodes in capture.latest.values())
    graph = call.program.handle_of(capture.graph) if capture.is_valid and is_joined else 0
    if target:
        call.connection.write(target, graph.to_bytes(8, "little"))
    if not graph:
        release(call.program, capture.graph.nodes)
        raise DriverError(Status.STREAM_CAPTURE_UNJOINED if capture.is_valid else Status.STREAM_CAPTURE_INVALIDATED)


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
    return _capture_info(call, handle)[0]


def _capture_info(call: DriverCall, handle: int) -> tuple[int, int, int]:
    """Return the state of a stream's capture, its number and the handle of its graph."""
    found = capture_of(call, handle)
    if found is None:
        return _NOT_CAPTURING, 0, 0
    if not found[1].is_valid:
        return _INVALID, 0, 0
    return _CAPTURING, found[1].number, call.program.handle_of(found[1].graph)


@driver("cuStreamGetCaptureInfo_v2", "ptr stream, out i32 state, out? u64 id, out? ptr graph, ptr nodes, ptr count")
def _get_capture(call: DriverCall, handle: int, nodes: int, count: int) -> tuple[int, int, int]:
    found = capture_of(call, handle)
    latest = [] if found is None else [call.program.handle_of(node) for node in found[1].latest[found[0]]]
    if nodes:
        table = data_address(call, struct.pack(f"={len(latest)}Q", *latest)) if latest else 0
        call.connection.write(nodes, struct.pack("=Q", table))
    if count:
        call.connection.write(count, struct.pack("=Q", len(latest)))
    return _capture_info(call, handle)


@driver(
    "cuStreamGetCaptureInfo_v3",
    "ptr stream, out i32 state, out? u64 id, out? ptr graph, ptr nodes, ptr edges, ptr count",
)
def _get_capture_3(call: DriverCall, handle: int, nodes: int, edges: int, count: int) -> tuple[int, int, int]:
    if edges:
        call.connection.write(edges, bytes(8))
    return _get_capture(call, handle, nodes, count)


@driver("cuThreadExchangeStreamCaptureMode", "ptr mode")
def _exchange_mode(call: DriverCall, address: int) -> None:
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    mode = int.from_bytes(call.connection.read(address, 4), "little")
    call.connection.write(address, call.thread.capture_mode.to_bytes(4, "little"))
    call.thread.capture_mode = mode
