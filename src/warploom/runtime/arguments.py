"""From Python values to a kernel's parameter block, and device buffers for the arrays among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.arena import Arena, Segment
from warploom.emulator.program import Program
from warploom.gpu import Gpu
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu
from warploom.isa.model.parameters import Parameter, encode, refused
from warploom.isa.model.types import TYPES
from warploom.layout import TensorMap, strided

Array = NDArray[Any]

_ALIGNED = 16  # bytes: as far as compilers rely on an array's address


@dataclass(frozen=True, slots=True)
class Packed:
    """What fills a structure that is passed by value: at each offset, a value of a PTX type; zeros between them.

    An array stands there as its address, a TensorMap as its 128 bytes.

    Units: offsets in bytes.
    """

    parts: tuple[tuple[int, str, object], ...]

    def encode(self, number: int, parameter: Parameter, address: Callable[[object], object]) -> bytes:
        """The bytes. `address` gives what an array or a map is for the machine: a number, or bytes.

        Errors: UsageError launch.argument.
        """
        block = bytearray(parameter.size)
        for offset, word, value in self.parts:
            size = 128 if isinstance(value, TensorMap) else TYPES[word].bytes
            part = Parameter(
                f"{parameter.name}+{offset}", word, parameter.offset + offset, size, size, False, False
            )
            if offset + size > parameter.size:
                raise refused(number, part, value, f"what ends within the {parameter.size} bytes")
            if _is_array(value) or isinstance(value, TensorMap):
                value = address(value)
            data = value if isinstance(value, bytes) else encode(number, part, value)
            block[offset : offset + size] = data
        return bytes(block)


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
                # Where each begins in the buffer, it is aligned as it is here.
                low = min(own.low, extent.low) // _ALIGNED * _ALIGNED
                own = _Extent(low, max(own.high, extent.high), extent.arrays + own.arrays)
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

    def __bool__(self) -> bool:
        return bool(self._extents)

    def has(self, value: object) -> bool:
        """Whether a value is an array that has a buffer."""
        return any(other is value for extent in self._extents for _, other in extent.arrays)

    def address(self, array: object) -> int:
        """The device address of an array's first element."""
        for extent in self._extents:
            for _, other in extent.arrays:
                if other is array:
                    return extent.start + (_first(other) - extent.low if other.size else 0)
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


def _is_foreign(value: object) -> bool:
    return is_foreign_type(type(value))


# Checking and packing ---------------------------------------------------------------------------------------


def adopt(program: Program, args: Sequence[object], on_gpu: bool) -> list[object]:
    """The arguments, those arrays of other libraries that are in the host's memory as NumPy's over the same.

    Errors: UsageError launch.arguments for a wrong count, launch.argument for an array on a GPU in a launch that
        is on none, gpu.array.
    """
    expected = program.parameters
    if len(args) != len(expected):
        raise UsageError(
            f"kernel {program.kernel.name} takes {_arguments(len(expected))}; {len(args)} were given",
            code="launch.arguments",
            hint=f"its parameters are: {', '.join(map(str, expected)) or 'none'}",
        )
    found: list[object] = []
    for number, (parameter, value) in enumerate(zip(expected, args, strict=True)):
        array = value.array if isinstance(value, TensorMap) else value
        if _is_foreign(array) and not is_on_gpu(array):
            array = as_numpy(array)
            value = replace(value, array=array) if isinstance(value, TensorMap) else array
        elif _is_foreign(array) and not on_gpu:
            raise UsageError(
                f"argument {number} ({parameter.name}) is on a GPU; expected an array in the host's memory",
                code="launch.argument",
                hint='device="cuda" runs the kernel there',
            )
        found.append(value)
    return found


def collect(program: Program, args: Sequence[object]) -> list[tuple[str, Array]]:
    """The NumPy arrays among the arguments, named after their parameters; those on a GPU are where they are to be.

    Errors: UsageError launch.argument for an array that is no buffer.
    """
    found: list[tuple[str, Array]] = []
    for number, (parameter, whole) in enumerate(zip(program.parameters, args, strict=True)):
        if _is_array(whole) or _is_foreign(whole):
            _check_pointer(number, parameter, whole)
        for offset, value in _parts(whole):
            array = value.array if isinstance(value, TensorMap) else value
            if _is_array(array):
                called = f"argument {number} ({parameter.name}{offset})"
                found.append((f"the tensor of {called}" if isinstance(value, TensorMap) else called, array))
    return found


def _parts(value: object) -> Iterator[tuple[str, object]]:
    """An argument, or those that a structure holds, each with where it is in it."""
    if isinstance(value, Packed):
        yield from ((f"+{offset}", part) for offset, _, part in value.parts)
    else:
        yield "", value


def pack(program: Program, args: Sequence[object], buffers: Buffers) -> bytes:
    """The parameter block. Errors: UsageError launch.argument."""
    size = max((p.offset + p.size for p in program.parameters), default=1)
    block = bytearray(size)
    for number, (parameter, value) in enumerate(zip(program.parameters, args, strict=True)):
        data = _encode(number, parameter, value, buffers)
        block[parameter.offset : parameter.offset + len(data)] = data
    return bytes(block)


def _encode(number: int, parameter: Parameter, value: object, buffers: Buffers) -> bytes:
    if parameter.is_array:
        return _encode_array(number, parameter, value, buffers)
    if _is_array(value):
        return buffers.address(value).to_bytes(8, "little")
    return encode(number, parameter, value)


def _encode_array(number: int, parameter: Parameter, value: object, buffers: Buffers) -> bytes:
    if isinstance(value, TensorMap) and parameter.size == 128:
        return _on_the_machine(value, buffers)
    if isinstance(value, Packed):
        return value.encode(
            number,
            parameter,
            lambda part: (
                _on_the_machine(part, buffers) if isinstance(part, TensorMap) else buffers.address(part)
            ),
        )
    if isinstance(value, (bytes, bytearray)) and len(value) == parameter.size:
        return bytes(value)
    expected = "a TensorMap or 128 bytes" if parameter.size == 128 else f"{parameter.size} bytes"
    raise refused(number, parameter, value, expected)


def _on_the_machine(value: TensorMap, buffers: Buffers) -> bytes:
    return value.fields(buffers.address(value.array)).pack()


def _check_pointer(number: int, parameter: Parameter, array: Any) -> None:
    lies = strided(array)
    if not parameter.takes_address:
        raise refused(number, parameter, array, "a TensorMap" if parameter.is_array else "a number")
    if lies.dtype.hasobject:
        raise refused(number, parameter, array, "an array of numbers")
    if not lies.dtype.isnative:
        raise refused(number, parameter, array, "an array in this machine's byte order")
    if not lies.is_contiguous:
        raise UsageError(
            f"argument {number} ({parameter.name}) is an array of shape {lies.shape} that is not contiguous",
            code="launch.argument",
            hint="pass a contiguous copy, or a TensorMap over the view",
        )


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"
