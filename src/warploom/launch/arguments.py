"""From Python values to a kernel's parameter block, and device buffers for the arrays among them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from warploom.diag import UsageError
from warploom.gpu import Gpu
from warploom.isa.types import TYPES
from warploom.layout import TensorMap
from warploom.layout.tensormap import TensorMapFields
from warploom.machine.memory import Arena, Segment
from warploom.machine.program import Parameter, Program

Array = NDArray[Any]
Encoder = Callable[[TensorMapFields], bytes]
Scalar: TypeAlias = "np.generic[Any]"


@dataclass(slots=True)
class _Extent:
    """Host bytes that one or more overlapping arrays cover, and the segment that stands for them."""

    low: int
    high: int
    arrays: list[tuple[str, Array]] = field(default_factory=list[tuple[str, Array]])
    start: int = 0
    segment: Segment | None = None

    @property
    def size(self) -> int:
        """Bytes to allocate."""
        return max(self.high - self.low, 1)

    def image(self, held: NDArray[np.uint8], array: Array) -> Array:
        """The part of the buffer's bytes that an array covers, in its shape."""
        offset = _first(array) - self.low if array.size else 0
        return np.ndarray(array.shape, f"V{array.dtype.itemsize}", held, offset, array.strides)


class Buffers:
    """Device copies of host arrays. Arrays that overlap in memory share one buffer, as on a device."""

    def __init__(self, arrays: Sequence[tuple[str, Array]]) -> None:
        self._extents: list[_Extent] = []
        for name, array in arrays:
            self._add(name, array)

    def _add(self, name: str, array: Array) -> None:
        low, high = byte_bounds(array) if array.size else (id(array), id(array))
        own = _Extent(int(low), int(high), [(name, array)])
        apart: list[_Extent] = []
        for extent in self._extents:
            if extent.low < own.high and own.low < extent.high:
                own = _Extent(
                    min(own.low, extent.low), max(own.high, extent.high), extent.arrays + own.arrays
                )
            else:
                apart.append(extent)
        self._extents = [*apart, own]

    def reserve(self, arena: Arena) -> None:
        """Give each buffer its segment of the abstract machine's memory."""
        for extent in self._extents:
            names = " and ".join(dict.fromkeys(name for name, _ in extent.arrays))
            writable = all(array.flags.writeable for _, array in extent.arrays)
            extent.segment = arena.reserve(names, extent.size, writable)
            extent.start = extent.segment.start

    def upload(self, arena: Arena) -> None:
        """Copy the arrays into their segments."""
        for extent in self._extents:
            assert extent.segment is not None
            _fill(extent, arena.view(extent.segment))

    def download(self, arena: Arena) -> None:
        """Copy the segments that were written back into the arrays."""
        for extent in self._extents:
            assert extent.segment is not None
            if arena.written(extent.segment):
                _empty(extent, arena.view(extent.segment))

    def send(self, gpu: Gpu) -> None:
        """Allocate the buffers on a GPU, and copy the arrays there."""
        for extent in self._extents:
            extent.start = gpu.allocate(extent.size)
            held = np.zeros(extent.size, np.uint8)
            _fill(extent, held)
            gpu.upload(extent.start, held)

    def fetch(self, gpu: Gpu) -> None:
        """Copy the buffers of a GPU back into the arrays that may be written."""
        for extent in self._extents:
            held = np.empty(extent.size, np.uint8)
            gpu.download(extent.start, held)
            _empty(extent, held)

    def address(self, array: Array) -> int:
        """The device address of an array's first element."""
        for extent in self._extents:
            if any(other is array for _, other in extent.arrays):
                return extent.start + (_first(array) - extent.low if array.size else 0)
        raise KeyError("the array has no buffer")


def _fill(extent: _Extent, held: NDArray[np.uint8]) -> None:
    for _, array in extent.arrays:
        extent.image(held, array)[...] = array.view(f"V{array.dtype.itemsize}")


def _empty(extent: _Extent, held: NDArray[np.uint8]) -> None:
    for _, array in extent.arrays:
        if array.flags.writeable:
            array.view(f"V{array.dtype.itemsize}")[...] = extent.image(held, array)


def _first(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _is_array(value: object) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray)


def _is_scalar(value: object) -> TypeGuard[Scalar]:
    return isinstance(value, np.generic)


def _is_truth(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


# Checking and packing ---------------------------------------------------------------------------------------


def collect(program: Program, args: Sequence[object]) -> list[tuple[str, Array]]:
    """The arrays among the arguments, named after their parameters.

    Errors: UsageError launch.arguments for a wrong count, launch.argument for an array that is no buffer.
    """
    expected = program.parameters
    if len(args) != len(expected):
        names = ", ".join(f".{p.type} {p.name}{f'[{p.size}]' if p.is_array else ''}" for p in expected)
        raise UsageError(
            f"kernel {program.kernel.name} takes {_arguments(len(expected))}; {len(args)} were given",
            code="launch.arguments",
            hint=f"its parameters are: {names or 'none'}",
        )
    found: list[tuple[str, Array]] = []
    for number, (parameter, value) in enumerate(zip(expected, args, strict=True)):
        if _is_array(value):
            _check_pointer(number, parameter, value)
            found.append((f"argument {number} ({parameter.name})", value))
        elif isinstance(value, TensorMap):
            found.append((f"the tensor of argument {number} ({parameter.name})", value.array))
    return found


def pack(
    program: Program,
    args: Sequence[object],
    buffers: Buffers,
    encode: Encoder = TensorMapFields.pack,
) -> bytes:
    """The parameter block; `encode` makes the 128 bytes of a tensor map.

    Errors: UsageError launch.argument.
    """
    size = max((p.offset + p.size for p in program.parameters), default=1)
    block = bytearray(size)
    for number, (parameter, value) in enumerate(zip(program.parameters, args, strict=True)):
        data = _encode(number, parameter, value, buffers, encode)
        block[parameter.offset : parameter.offset + len(data)] = data
    return bytes(block)


def _encode(number: int, parameter: Parameter, value: object, buffers: Buffers, encode: Encoder) -> bytes:
    if parameter.is_array:
        return _encode_array(number, parameter, value, buffers, encode)
    if _is_array(value):
        return buffers.address(value).to_bytes(8, "little")
    if value is None and parameter.size == 8:
        return bytes(8)
    if _is_truth(value) or not (_is_scalar(value) or isinstance(value, (int, float))):
        raise _wrong(
            number, parameter, value, "a number" + (", an ndarray or None" if parameter.size == 8 else "")
        )
    if _is_scalar(value):
        return _encode_scalar(number, parameter, value)
    if isinstance(value, float):
        return _encode_float(number, parameter, value)
    assert isinstance(value, int)
    return _encode_integer(number, parameter, value)


def _encode_array(
    number: int, parameter: Parameter, value: object, buffers: Buffers, encode: Encoder
) -> bytes:
    if isinstance(value, TensorMap) and parameter.size == 128:
        return encode(value.fields(buffers.address(value.array)))
    if isinstance(value, (bytes, bytearray)) and len(value) == parameter.size:
        return bytes(value)
    expected = "a TensorMap or 128 bytes" if parameter.size == 128 else f"{parameter.size} bytes"
    raise _wrong(number, parameter, value, expected)


def _encode_scalar(number: int, parameter: Parameter, value: Scalar) -> bytes:
    kind = TYPES[parameter.type]
    fits = value.dtype.itemsize == parameter.size and (
        kind.kind == "bits" or (value.dtype.kind == "f") == (kind.kind == "float" and kind.dtype.kind == "f")
    )
    if not fits:
        raise _wrong(
            number, parameter, value, f"a scalar of type .{parameter.type}, {parameter.size} bytes wide"
        )
    return value.tobytes()


def _encode_float(number: int, parameter: Parameter, value: float) -> bytes:
    kind = TYPES[parameter.type].kind
    if kind not in ("float", "bits") or parameter.size < 4:
        raise _wrong(number, parameter, value, f"an integer for .{parameter.type}")
    try:
        return struct.pack("<f" if parameter.size == 4 else "<d", value)
    except OverflowError:
        raise _wrong(number, parameter, value, f"a number in the range of .{parameter.type}") from None


def _encode_integer(number: int, parameter: Parameter, value: int) -> bytes:
    kind = TYPES[parameter.type]
    if kind.dtype.kind == "f":
        return _encode_float(number, parameter, float(value))
    bits = 8 * parameter.size
    low, high = -(1 << (bits - 1)), (1 << bits) - 1
    if not low <= value <= high:
        raise _wrong(number, parameter, value, f"an integer from {low} to {high}")
    return (value % (1 << bits)).to_bytes(parameter.size, "little")


def _check_pointer(number: int, parameter: Parameter, array: Array) -> None:
    if parameter.is_array or parameter.size != 8 or TYPES[parameter.type].dtype.kind == "f":
        raise _wrong(number, parameter, array, "a TensorMap" if parameter.is_array else "a number")
    if array.dtype.hasobject:
        raise _wrong(number, parameter, array, "an array of numbers")
    if not array.dtype.isnative:
        raise _wrong(number, parameter, array, "an array in this machine's byte order")
    if not array.flags.c_contiguous:
        raise UsageError(
            f"argument {number} ({parameter.name}) is an array of shape {array.shape} that is not contiguous",
            code="launch.argument",
            hint="pass numpy.ascontiguousarray(...), or a TensorMap over the view",
        )


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _wrong(number: int, parameter: Parameter, value: object, expected: str) -> UsageError:
    if _is_array(value):
        found = f"an array of {value.dtype} and shape {value.shape}"
    elif _is_scalar(value):
        found = f"{value.dtype.name} {value}"
    elif isinstance(value, (int, float, str, type(None))):
        found = repr(value)
    else:
        found = f"a {type(value).__name__}"
    what = f".{parameter.type} {parameter.name}{f'[{parameter.size}]' if parameter.is_array else ''}"
    return UsageError(f"argument {number} ({what}) is {found}; expected {expected}", code="launch.argument")
