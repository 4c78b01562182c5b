"""Cases of copies."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.structures import DEVICE, HOST, UNIFIED, Copy2D, Copy3D

_DATA = ctypes.create_string_buffer(1 << 16)
_HOST = ctypes.addressof(_DATA)
_ODD = 0x1000  # an address that no allocation has

calls("copies", {
    "nothing": ("cuMemcpy", 0, 0, 0),
    "nothing_to_null": ("cuMemcpyHtoD_v2", 0, _HOST, 0),
    "nothing_from_null": ("cuMemcpyDtoH_v2", _HOST, 0, 0),
    "null_both": ("cuMemcpy", 0, 0, 16),
    "in_to_null": ("cuMemcpyHtoD_v2", 0, _HOST, 16),
    "in_to_unknown": ("cuMemcpyHtoD_v2", _ODD, _HOST, 16),
    "in_to_host": ("cuMemcpyHtoD_v2", _HOST + 64, _HOST, 16),
    "out_from_null": ("cuMemcpyDtoH_v2", _HOST, 0, 16),
    "out_from_unknown": ("cuMemcpyDtoH_v2", _HOST, _ODD, 16),
    "out_from_host": ("cuMemcpyDtoH_v2", _HOST + 64, _HOST, 16),
    "within_null": ("cuMemcpyDtoD_v2", 0, 0, 16),
    "within_host": ("cuMemcpyDtoD_v2", _HOST + 64, _HOST, 16),
    "host_to_host": ("cuMemcpy", _HOST + 64, _HOST, 16),
    "plane_null": ("cuMemcpy2D_v2", None),
    "plane_unaligned_null": ("cuMemcpy2DUnaligned_v2", None),
    "box_null": ("cuMemcpy3D_v2", None),
    "box_peer_null": ("cuMemcpy3DPeer", None),
    "batch_null": ("cuMemcpyBatchAsync_v2", None, None, None, 0, None, None, 0, 0),
    "peer_null_contexts": ("cuMemcpyPeer", _ODD, None, _ODD, None, 16),
})  # fmt: skip


@case
def in_and_out(cuda: Driver) -> None:
    address, back = cuda.allocate(), ctypes.create_string_buffer(8)
    cuda("cuMemcpyHtoD_v2", address + 3, b"abcdefgh", 8)
    cuda("cuMemcpyDtoH_v2", back, address + 3, 8)
    cuda.note("bytes", back.raw.decode())
    cuda("cuMemcpyHtoD_v2", address, None, 8)
    cuda("cuMemcpyDtoH_v2", None, address, 8)
    cuda("cuMemcpyHtoD_v2", address, None, 0)


@case
def beyond_the_end(cuda: Driver) -> None:
    address = cuda.allocate(1 << 21)
    cuda("cuMemcpyDtoD_v2", address, address, 1 << 40)
    cuda("cuMemcpyHtoD_v2", address, _DATA, 1 << 40)
    cuda("cuMemcpyDtoH_v2", _DATA, address, 1 << 40)
    cuda("cuMemcpyDtoH_v2", _DATA, address + (1 << 40), 16)
    cuda("cuMemcpyHtoD_v2", address + (1 << 40), _DATA, 16)
    cuda("cuMemcpyDtoD_v2", address, address + (1 << 40), 16)
    cuda("cuMemcpyDtoD_v2", address, address, (1 << 64) - 1)


@case
def after_free(cuda: Driver) -> None:
    address = cuda.allocate(64 << 20)
    cuda("cuMemFree_v2", address)
    cuda("cuMemcpyHtoD_v2", address, _DATA, 16)
    cuda("cuMemcpyDtoH_v2", _DATA, address, 16)


@case
def across_two_allocations(cuda: Driver) -> None:
    address, other = cuda.allocate(64 << 20), cuda.allocate(64 << 20)
    cuda("cuMemcpyDtoD_v2", min(address, other), max(address, other), (64 << 20) + 16)
    cuda("cuMemFree_v2", address)
    cuda("cuMemFree_v2", other)


@case
def overlapping(cuda: Driver) -> None:
    address = cuda.allocate()
    cuda("cuMemcpyDtoD_v2", address + 8, address, 64)
    cuda("cuMemcpyDtoD_v2", address, address, 64)


@case
def directions(cuda: Driver) -> None:
    device, host = cuda.allocate(), cuda.new("cuMemAllocHost_v2", 4096)
    managed = cuda.new("cuMemAllocManaged", 4096, 1)
    for to in (device, host, managed, _HOST):
        for source in (device, host, managed, _HOST + 4096):
            cuda("cuMemcpy", to, source, 64)
            cuda("cuMemcpyHtoD_v2", to, source, 64)
            cuda("cuMemcpyDtoH_v2", to, source, 64)
            cuda("cuMemcpyDtoD_v2", to, source, 64)
    cuda("cuStreamSynchronize", 0)


@case
def asynchronous(cuda: Driver) -> None:
    device, host, stream = cuda.allocate(), cuda.new("cuMemAllocHost_v2", 4096), cuda.stream()
    cuda("cuMemcpyHtoDAsync_v2", device, host, 64, stream)
    cuda("cuMemcpyHtoDAsync_v2", 0, host, 64, stream)
    cuda("cuMemcpyHtoDAsync_v2", 0, host, 0, stream)
    cuda("cuMemcpyDtoHAsync_v2", host, device, 64, stream)
    cuda("cuMemcpyDtoHAsync_v2", host, _ODD, 64, stream)
    cuda("cuMemcpyDtoHAsync_v2", None, device, 64, stream)
    cuda("cuMemcpyDtoDAsync_v2", device, device + 256, 64, stream)
    cuda("cuMemcpyAsync", device, host, 64, stream)
    cuda("cuMemcpyAsync", device, host, 64, 1)
    cuda("cuMemcpyAsync", device, host, 64, 2)
    cuda("cuMemcpyAsync", device, 0, 64, stream)
    cuda("cuMemcpyDtoDAsync_v2", device, device + (1 << 40), 64, stream)
    cuda("cuStreamSynchronize", stream)


@case
def between_contexts(cuda: Driver) -> None:
    current, address = Word(), cuda.allocate()
    cuda.require("cuCtxGetCurrent", current)
    cuda("cuMemcpyPeer", address, current.value, address + 64, current.value, 64)
    cuda("cuMemcpyPeer", address, None, address + 64, current.value, 64)
    cuda("cuMemcpyPeerAsync", address, current.value, address + 64, current.value, 64, 0)


def _plane(cuda: Driver, address: int, functions: tuple[str, ...] = ("cuMemcpy2D_v2",), **changes: int) -> None:
    """Copy a plane from the host to the device with changed fields, and record the status."""
    fields = {
        "kind": HOST, "host": _HOST, "pitch": 64, "to_kind": DEVICE, "to_device": address, "to_pitch": 128,
        "width": 32, "height": 4,
    } | changes  # fmt: skip
    for function in functions:
        cuda(function, Copy2D(**fields))
    cuda.note("changed", *changes)


@case
def planes(cuda: Driver) -> None:
    address = cuda.allocate(1 << 16)
    both = ("cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2")
    for changes in (
        {}, {"width": 0}, {"height": 0}, {"pitch": 31}, {"to_pitch": 31}, {"pitch": 0}, {"to_pitch": 0},
        {"pitch": 0, "height": 1}, {"x": 32}, {"x": 33}, {"to_x": 96}, {"to_x": 97}, {"kind": 0}, {"kind": 9},
        {"to_kind": 0}, {"to_kind": 9}, {"kind": DEVICE}, {"kind": DEVICE, "device": address},
        {"kind": UNIFIED, "device": address + 4096}, {"kind": UNIFIED, "device": _HOST},
        {"to_kind": UNIFIED, "to_device": address}, {"kind": 3}, {"to_kind": 3}, {"pitch": 1 << 40},
        {"to_pitch": 1 << 31}, {"to_device": 0}, {"host": 0}, {"to_kind": HOST, "to_host": _HOST + 4096},
        {"to_device": address + (1 << 40)}, {"height": 1 << 30, "to_pitch": 4096}, {"y": 2, "to_y": 3},
        {"pitch": 33}, {"to_pitch": 33}, {"width": 32, "pitch": 16, "height": 1}, {"width": 1 << 40},
    ):  # fmt: skip
        if not ({"pitch", "height"} & changes.keys() and max(changes.values()) > 1 << 20):
            _plane(cuda, address, both, **changes)
        else:
            _plane(cuda, address, both[:1], **{**changes, "kind": UNIFIED, "device": address})


@case
def planes_asynchronous(cuda: Driver) -> None:
    address, stream = cuda.allocate(1 << 16), cuda.stream()
    cuda("cuMemcpy2DAsync_v2", None, stream)
    cuda("cuMemcpy2DAsync_v2", Copy2D(kind=HOST, host=_HOST, to_kind=DEVICE, to_device=address, width=8, height=1), 0)
    cuda("cuMemcpy2DAsync_v2", Copy2D(kind=HOST, host=_HOST, to_kind=DEVICE, width=8, height=1), stream)
    cuda("cuMemcpy2DAsync_v2", Copy2D(kind=7, to_kind=DEVICE, to_device=address, width=8, height=1), stream)
    cuda("cuStreamSynchronize", stream)


@case
def boxes(cuda: Driver) -> None:
    address = cuda.allocate(1 << 16)
    for changes in (
        {}, {"width": 0}, {"height": 0}, {"depth": 0}, {"pitch": 15}, {"to_pitch": 15}, {"pitch": 0}, {"to_pitch": 0},
        {"rows": 1}, {"to_rows": 1}, {"rows": 0}, {"to_rows": 0}, {"rows": 0, "depth": 1}, {"to_rows": 0, "depth": 1},
        {"x": 16}, {"x": 17}, {"y": 1}, {"y": 4}, {"z": 1}, {"kind": 0}, {"to_kind": 9}, {"lod": 1}, {"to_lod": 1},
        {"reserved": 1}, {"to_device": 0}, {"host": 0}, {"kind": UNIFIED, "device": address + 8192},
        {"to_z": 1 << 30}, {"kind": 3}, {"to_rows": 1, "depth": 1},
    ):  # fmt: skip
        fields = {
            "kind": HOST, "host": _HOST, "pitch": 32, "rows": 4, "to_kind": DEVICE, "to_device": address,
            "to_pitch": 32, "to_rows": 4, "width": 16, "height": 2, "depth": 2,
        } | changes  # fmt: skip
        cuda("cuMemcpy3D_v2", Copy3D(**fields))
        cuda.note("changed", *changes)
