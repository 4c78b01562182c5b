"""Prepared launches. Each launch packs the arguments and makes one call of the driver."""

import ctypes
import struct
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import (
    UNORDERED,
    Locator,
    current_of,
    handle_of,
    is_foreign_type,
    is_torch_type,
    signature,
    type_name,
)
from warploom.gpu.driver import status_text
from warploom.gpu.geometry import Geometry
from warploom.gpu.tensormap import MovingTensorMap, encode_tensor_map
from warploom.isa.model.parameters import Parameter, argument_error, encode, integer_range
from warploom.isa.model.types import TYPES
from warploom.layout import Strided, TensorMap, strided
from warploom.layout.tensormap import TENSOR_MAP_BYTES

Packer = Callable[[object, int], None]

_WHOLE = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
_FLOATING = {4: "<f", 8: "<d"}
_MOST_PACKED = 256  # parameter blocks in the cache


class Launch:
    """Kernel with a geometry. `launch(a, b, 1024)` starts the kernel without waiting for its end.

    Every parameter takes an argument, in order, unless the parameter is in `fixed`. An array on the GPU is passed as
    its address. The caller must keep the array until the kernel has ended. Numbers are as in `wl.launch`, and None is a
    null pointer. A 128-byte parameter takes a TensorMap or bytes. If the parameter is in `tensors`, it takes an array
    with the shape, strides and type of the TensorMap's array, or the address of such an array.

    Without `stream`, the launch uses the current stream of PyTorch or CuPy if an argument is one of their arrays.
    Otherwise the launch uses the stream of the Gpu.

    Errors: UsageError launch.arguments, launch.argument, gpu.array, gpu.device, gpu.stream, gpu.launch. A fault of the
        kernel is raised by the function that waits for the stream.
    """

    def __init__(
        self,
        name: str,
        function: Any,
        parameters: tuple[Parameter, ...],
        geometry: Geometry,
        driver: Any,
        locate: Locator,
        stream: int,
        tensors: Mapping[str, TensorMap],
        fixed: Mapping[str, object],
    ) -> None:
        self._name, self._function = name, function
        self._driver, self._locate, self._stream = driver, locate, stream
        self._enqueue = driver.cuLaunchKernelEx
        self._config = geometry.configure(driver)
        self._handle = -1
        self._block = bytearray(max((p.offset + p.size for p in parameters), default=1))
        # The driver gets one address per parameter, because it would align 64-byte parameters differently from PTX.
        self._memory = ctypes.c_char.from_buffer(self._block)
        start = ctypes.addressof(self._memory)
        self._places = (ctypes.c_void_p * max(len(parameters), 1))(*(start + p.offset for p in parameters))
        self._arguments = ctypes.addressof(self._places)
        unknown = tensors.keys() - {p.name for p in parameters if p.size == TENSOR_MAP_BYTES}
        if unknown:
            raise UsageError(
                f"kernel {name} has no 128-byte parameter {min(unknown)} for a tensor map", code="launch.argument"
            )
        if unknown := fixed.keys() - {p.name for p in parameters}:
            raise UsageError(f"kernel {name} has no parameter {min(unknown)}", code="launch.argument")
        self._parameters = tuple(p for p in parameters if p.name not in fixed)
        for k, p in enumerate(parameters):
            if p.name in fixed:
                self._packer(k, p, None)(fixed[p.name], stream)
        self._packers = [self._packer(k, p, tensors.get(p.name)) for k, p in enumerate(self._parameters)]
        self._packed: dict[tuple[int | float, ...], bytes] = {}
        self._lock = Lock()

    def __call__(self, *args: object, stream: object = None) -> None:
        """Launch the kernel in the order of `stream`, by default the stream of the arguments or of the GPU.

        Several Python threads may launch at the same time.
        """
        if len(args) != len(self._packers):
            raise UsageError(
                f"kernel {self._name} takes {len(self._packers)} arguments; {len(args)} were given",
                code="launch.arguments",
                hint=f"its parameters are: {', '.join(map(str, self._parameters)) or 'none'}",
            )
        handle = self._stream_for(args) if stream is None else handle_of(stream)
        with self._lock:
            for pack, value in zip(self._packers, args):
                pack(value, handle)
            self._launch(handle)

    def at(self, args: tuple[int | float, ...], stream: int) -> None:
        """Launch the kernel with numbers and addresses as arguments. `stream` is the handle of a stream."""
        with self._lock:
            # Equal arguments are packed once.
            packed = self._packed.get(args)
            if packed is None:
                for pack, value in zip(self._packers, args, strict=True):
                    pack(value, stream)
                if len(self._packed) >= _MOST_PACKED:
                    self._packed.clear()
                self._packed[args] = bytes(self._block)
            else:
                self._block[:] = packed
            self._launch(stream)

    def _launch(self, handle: int) -> None:
        if handle != self._handle:
            self._config.hStream = self._driver.CUstream(handle)
            self._handle = handle
        status, *_ = self._enqueue(self._config, self._function, self._arguments, 0)
        if status:
            raise UsageError(
                f"the GPU cannot launch kernel {self._name}: {status_text(self._driver, status)}", code="gpu.launch"
            )

    def _stream_for(self, args: tuple[object, ...]) -> int:
        for value in args:
            array: object = value.array if isinstance(value, TensorMap) else value
            current = current_of(type(array))
            if current is not None:
                return current(array)
        return self._stream

    # Packing functions, one for each parameter ---------------------------------------------------------------

    def _packer(self, number: int, parameter: Parameter, template: TensorMap | None) -> Packer:
        if parameter.is_array and template is not None:
            return self._moving_packer(template, parameter)
        if parameter.is_array:
            return self._bytes_packer(number, parameter)
        if parameter.takes_address:
            return self._address_packer(number, parameter)
        if TYPES[parameter.type].dtype.kind == "f":
            return self._floating_packer(number, parameter)
        return self._whole_packer(number, parameter)

    def _whole_packer(self, number: int, parameter: Parameter) -> Packer:
        block, start, stop = self._block, parameter.offset, parameter.offset + parameter.size
        low, high = integer_range(parameter) if parameter.size in _WHOLE else (1, 0)
        write = struct.Struct(_WHOLE.get(parameter.size, "<Q")).pack_into

        def pack(value: object, _: int) -> None:
            if type(value) is int and low <= value <= high:
                write(block, start, value & high)
            else:
                block[start:stop] = encode(number, parameter, value)

        return pack

    def _floating_packer(self, number: int, parameter: Parameter) -> Packer:
        block, start, stop = self._block, parameter.offset, parameter.offset + parameter.size
        largest = float(np.finfo(TYPES[parameter.type].dtype).max)
        write = struct.Struct(_FLOATING[parameter.size]).pack_into

        def pack(value: object, _: int) -> None:
            if type(value) is float and -largest <= value <= largest:
                write(block, start, value)
            else:
                block[start:stop] = encode(number, parameter, value)

        return pack

    def _address_packer(self, number: int, parameter: Parameter) -> Packer:
        block, start, locate, here = self._block, parameter.offset, self._locate, self._locate.number
        write, plain = struct.Struct("<Q").pack_into, self._whole_packer(number, parameter)

        def pack(value: Any, stream: int) -> None:
            kind = value.__class__
            if is_torch_type(kind) and value.get_device() == here:  # the fast path of `locate`, inlined
                write(block, start, value.data_ptr())
            elif is_foreign_type(kind):
                write(block, start, locate(value, _ordering(value, stream)))
            else:
                plain(value, stream)

        return pack

    def _bytes_packer(self, number: int, parameter: Parameter) -> Packer:
        block, locate = self._block, self._locate
        start, stop = parameter.offset, parameter.offset + parameter.size
        is_map = parameter.size == TENSOR_MAP_BYTES

        def pack(value: object, stream: int) -> None:
            if is_map and isinstance(value, TensorMap):
                value = encode_tensor_map(value.fields(locate(value.array, _ordering(value.array, stream))))
            if not isinstance(value, (bytes, bytearray)) or len(value) != parameter.size:
                expected = f"{'a TensorMap or ' if is_map else ''}{parameter.size} bytes"
                raise argument_error(number, parameter, value, expected)
            block[start:stop] = value

        return pack

    def _moving_packer(self, template: TensorMap, parameter: Parameter) -> Packer:
        block, locate = self._block, self._locate
        start, stop = parameter.offset, parameter.offset + parameter.size
        expected, known = strided(template.array), {signature(template.array)}
        moving = MovingTensorMap(template.fields(locate(template.array)))

        def pack(value: object, stream: int) -> None:
            if type(value) is int:
                block[start:stop] = moving.at(value)
                return
            if signature(value) not in known:
                _check_same(value, expected, parameter)
                known.add(signature(value))
            block[start:stop] = moving.at(locate(value, _ordering(value, stream)))

        return pack


def _ordering(array: object, stream: int) -> int:
    """Return the stream on which later work must wait for `array`, or UNORDERED."""
    # PyTorch and CuPy arrays are launched on their library's current stream.
    return UNORDERED if current_of(type(array)) is not None else stream


def _check_same(array: object, expected: Strided, parameter: Parameter) -> None:
    found = strided(array)
    if found != expected:
        raise UsageError(
            f"{parameter.name} is a {type_name(array)} of shape {found.shape}, strides {found.strides} and"
            f" {found.dtype}; expected shape {expected.shape}, strides {expected.strides} and {expected.dtype}",
            code="launch.argument",
        )
