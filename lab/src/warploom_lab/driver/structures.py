"""Structures of the driver API."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from ctypes import c_int, c_size_t, c_ubyte, c_uint, c_uint64
from typing import Any

HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4
"""Kinds of memory."""


class Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = (
        ("x", c_size_t), ("y", c_size_t), ("kind", c_uint), ("host", c_uint64), ("device", c_uint64),
        ("array", c_uint64), ("pitch", c_size_t), ("to_x", c_size_t), ("to_y", c_size_t), ("to_kind", c_uint),
        ("to_host", c_uint64), ("to_device", c_uint64), ("to_array", c_uint64), ("to_pitch", c_size_t),
        ("width", c_size_t), ("height", c_size_t),
    )  # fmt: skip


class Copy3D(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = (
        ("x", c_size_t), ("y", c_size_t), ("z", c_size_t), ("lod", c_size_t), ("kind", c_uint), ("host", c_uint64),
        ("device", c_uint64), ("array", c_uint64), ("reserved", c_uint64), ("pitch", c_size_t), ("rows", c_size_t),
        ("to_x", c_size_t), ("to_y", c_size_t), ("to_z", c_size_t), ("to_lod", c_size_t), ("to_kind", c_uint),
        ("to_host", c_uint64), ("to_device", c_uint64), ("to_array", c_uint64), ("to_reserved", c_uint64),
        ("to_pitch", c_size_t), ("to_rows", c_size_t), ("width", c_size_t), ("height", c_size_t), ("depth", c_size_t),
    )  # fmt: skip


class KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS, second version."""

    _fields_ = (
        ("function", c_uint64), ("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("values", c_uint64),
        ("extra", c_uint64), ("kernel", c_uint64), ("context", c_uint64),
    )  # fmt: skip


class FillNode(ctypes.Structure):
    """CUDA_MEMSET_NODE_PARAMS."""

    _fields_ = (
        ("address", c_uint64), ("pitch", c_size_t), ("value", c_uint), ("element", c_uint), ("width", c_size_t),
        ("height", c_size_t),
    )  # fmt: skip


class HostNode(ctypes.Structure):
    """CUDA_HOST_NODE_PARAMS."""

    _fields_ = (("function", c_uint64), ("data", c_uint64))


class AllocationNode(ctypes.Structure):
    """CUDA_MEM_ALLOC_NODE_PARAMS, which begins with CUmemPoolProps."""

    _fields_ = (
        ("kind", ctypes.c_int), ("handles", ctypes.c_int), ("location", ctypes.c_int), ("device", ctypes.c_int),
        ("security", ctypes.c_void_p), ("largest", ctypes.c_size_t), ("usage", ctypes.c_uint16),
        ("reserved", ctypes.c_uint8 * 54), ("access", ctypes.c_void_p), ("accesses", ctypes.c_size_t),
        ("size", ctypes.c_size_t), ("address", ctypes.c_uint64),
    )  # fmt: skip

    def __init__(
        self, *, kind: int = 1, location: int = 1, size: int = 4096, device: int = 0, handles: int = 0
    ) -> None:  # fmt: skip
        super().__init__(kind=kind, handles=handles, location=location, device=device, size=size)


class Attribute(ctypes.Structure):
    """CUlaunchAttribute."""

    _fields_ = (("id", c_uint), ("padding", c_uint), ("value", c_ubyte * 64))


class Configuration(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("stream", c_uint64), ("attributes", c_uint64),
        ("count", c_uint),
    )  # fmt: skip


class GraphParameters(ctypes.Structure):
    """CUDA_GRAPH_INSTANTIATE_PARAMS."""

    _fields_ = (("flags", c_uint64), ("stream", c_uint64), ("node", c_uint64), ("result", c_int))


class UpdateResult(ctypes.Structure):
    """CUgraphExecUpdateResultInfo."""

    _fields_ = (("result", c_int), ("node", c_uint64), ("from_node", c_uint64))


def host_function(run: Callable[[int | None], object]) -> Any:
    """Return a function that `cuLaunchHostFunc` can call."""
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(run)


def attribute(number: int, *values: int) -> Attribute:
    """Return an attribute of a launch with 32-bit values."""
    data = struct.pack(f"={len(values)}i", *values)
    return Attribute(number, 0, (c_ubyte * 64)(*data))


def configuration(
    grid: tuple[int, int, int] = (1, 1, 1), block: tuple[int, int, int] = (1, 1, 1), *attributes: Attribute,
    shared: int = 0, stream: int = 0,
) -> Configuration:  # fmt: skip
    """Return the configuration of a launch. It keeps its attributes alive."""
    table = (Attribute * len(attributes))(*attributes)
    found = Configuration(
        (c_uint * 3)(*grid), (c_uint * 3)(*block), shared, stream, ctypes.addressof(table) if attributes else 0,
        len(attributes),
    )  # fmt: skip
    found.table = table
    return found


class Values:
    """Table of pointers to the arguments of a kernel. `table` is for the driver, and keeps the arguments alive."""

    def __init__(self, *words: int | None) -> None:
        """Take the words of the arguments. None stands for a null pointer in the table."""
        kept = [c_uint64(word or 0) for word in words]
        addresses = [0 if word is None else ctypes.addressof(each) for word, each in zip(words, kept)]
        self.table = (c_uint64 * max(len(words), 1))(*addresses)
        self.table.kept = kept  # pyright: ignore[reportAttributeAccessIssue]


def kernel_node(
    function: int, values: Values | None = None, *, grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (1, 1, 1), shared: int = 0,
) -> KernelNode:  # fmt: skip
    """Return the parameters of a kernel node. They keep the arguments alive."""
    table = None if values is None else values.table
    address = 0 if table is None else ctypes.addressof(table)
    found = KernelNode(function, (c_uint * 3)(*grid), (c_uint * 3)(*block), shared, address, 0, 0, 0)
    found.table = table
    return found
