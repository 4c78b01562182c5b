"""Arguments of a launch: Python values as kernel parameters."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu
from warploom.isa.model.parameters import Parameter, aligned, argument_error, block_bytes, encode
from warploom.isa.model.signature import Signature
from warploom.layout import TensorMap, strided
from warploom.layout.tensormap import TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES, TensorMapFields
from warploom.runtime.arrays import is_array, is_numpy
from warploom.runtime.device_buffers import DeviceBuffers
from warploom.runtime.sessions.device_array import DeviceArray, check_session
from warploom.runtime.structures import POINTER, Struct, is_table

if TYPE_CHECKING:
    from warploom.emulator.arena import Arena

_SCALARS: tuple[type[object], ...] = (int, float, np.generic)


class _Table:
    """Device buffer with the addresses of several arrays, or with tensor maps or structures.

    `entries` describes each element as a kernel parameter, whose offset counts from the start of the buffer.
    """

    def __init__(self, entries: Sequence[Parameter], values: Sequence[object]) -> None:
        self.entries = entries
        self.values = values
        self.memory = np.zeros(block_bytes(entries), np.uint8)


class Arguments:
    """Arguments of a launch, checked against the kernel's parameters.

    `buffers` has a device buffer for each array in host memory. `gpu_arrays` lists the arrays in the memory of a GPU.
    The arguments of a launch in a `session` have arrays of the session only, and `buffers` has their tables.

    Errors: UsageError launch.arguments for a wrong number of arguments, launch.argument, gpu.array.
    """

    def __init__(self, signature: Signature, values: Sequence[object], *, on_gpu: bool, session: object = None) -> None:
        self.parameters = signature.parameters
        # The check of an abstract class takes longer.
        if not isinstance(values, (list, tuple)) and (
            not isinstance(values, Sequence) or isinstance(values, (str, bytes))
        ):
            raise UsageError(
                f"args is {_kind(values)}; expected a list or tuple with one value for each parameter",
                code="launch.arguments",
                hint=f"the parameters of kernel {signature.name} are: {', '.join(map(str, self.parameters)) or 'none'}",
            )
        if len(values) != len(self.parameters):
            count = len(self.parameters)
            raise UsageError(
                f"kernel {signature.entry.readable_name} takes {count} argument{'' if count == 1 else 's'}; "
                f"{len(values)} were given",
                code="launch.arguments",
                hint=f"its parameters are: {', '.join(map(str, self.parameters)) or 'none'}",
            )
        self.buffers = DeviceBuffers()
        self.gpu_arrays: list[Any] = []
        self._tables: list[tuple[int, _Table]] = []
        self._on_gpu = on_gpu
        self._session = session
        pairs = zip(self.parameters, values, strict=True)
        self.values = [self._adopt(number, parameter, value) for number, (parameter, value) in enumerate(pairs)]

    def _adopt(self, number: int, parameter: Parameter, value: object) -> object:
        """Check an argument or a structure's field, and add device buffers for its arrays.

        In the result, NumPy arrays replace other host arrays, and tables replace lists. `number` is the position of
        the argument.
        """
        if value is None or isinstance(value, _SCALARS):
            return value
        if is_array(value):
            _check_array(number, parameter, value)
            return self._buffer(number, parameter, value, "")
        if parameter.takes_address:
            if isinstance(value, (TensorMap, Struct)):
                return self._table(number, parameter, [value])
            if is_table(value):
                return self._table(number, parameter, value)
            if isinstance(value, (list, tuple)):
                raise argument_error(number, parameter, cast("object", value), _expected(parameter))
        if isinstance(value, TensorMap):
            if parameter.size != TENSOR_MAP_BYTES:
                raise argument_error(number, parameter, value, _expected(parameter))
            array = self._buffer(number, parameter, value.array, "the tensor of ")
            return value if array is value.array else replace(value, array=array)
        if isinstance(value, Struct):
            if not parameter.is_array:
                raise argument_error(number, parameter, value, _expected(parameter))
            if value.background is not None and value.size != parameter.size:
                raise UsageError(
                    f"argument {number} ({parameter}) is a Struct of {value.size} bytes; expected {parameter.size} "
                    "bytes",
                    code="launch.argument",
                )
            if value.background is not None and value.align == TENSOR_MAP_ALIGN < parameter.align:
                raise UsageError(
                    f"argument {number} ({parameter}) is a Struct with an alignment of {value.align} bytes; the "
                    f"parameter has {parameter.align}",
                    code="launch.argument",
                    hint="CUDA 13 aligns tensor maps to 128 bytes: write `alignas(128) CUtensorMap` in the declaration",
                )
            return value.map(lambda part: self._adopt(number, part.parameter(parameter), part.value))
        return value

    def _table(self, number: int, parameter: Parameter, values: Sequence[object]) -> _Table:
        """Add a device buffer for the elements of a list. Its address is the value of `parameter`."""
        name = parameter.readable_name
        entries: list[Parameter] = []
        end = 0
        for k, value in enumerate(values):
            label = f"{name}[{k}]"
            entry = replace(parameter, name=label, type=POINTER, offset=end)
            if isinstance(value, (TensorMap, Struct)):
                is_map = isinstance(value, TensorMap)
                size, align = (TENSOR_MAP_BYTES, TENSOR_MAP_ALIGN) if is_map else (value.size, value.align)
                entry = Parameter(label, "b8", aligned(end, align), aligned(size, align), align, True, False)
            entries.append(entry)
            end = entry.offset + entry.size
        adopted = [self._adopt(number, *pair) for pair in zip(entries, values, strict=True)]
        table = _Table(entries, adopted)
        self.buffers.add(f"the table of argument {number} ({name})", table.memory)
        self._tables.append((number, table))
        return table

    def _buffer(self, number: int, parameter: Parameter, array: Any, prefix: str) -> Any:
        """Add a device buffer for an array in host memory, and return the array as a NumPy array.

        An array on a GPU is returned unchanged. In error messages `prefix` precedes "argument" and `number`.
        """
        if isinstance(array, DeviceArray):
            check_session(array, self._session, f"{prefix}argument {number} ({parameter.readable_name})")
            return array
        if self._session is not None:
            raise UsageError(
                f"{prefix}argument {number} ({parameter.readable_name}) is not in the memory of the session; expected "
                "an array that the method `array` of the session returns",
                code="launch.argument",
            )
        if is_foreign_type(array.__class__):
            if is_on_gpu(array):
                self.gpu_arrays.append(array)
                if not self._on_gpu:
                    raise UsageError(
                        f"argument {number} ({parameter.readable_name}) is on a GPU; expected an array in the host's "
                        "memory",
                        code="launch.argument",
                        hint='pass device="cuda" to run the kernel on this GPU',
                    )
                return array
            array = as_numpy(array)
        self.buffers.add(f"{prefix}argument {number} ({parameter.readable_name})", array)
        return array

    def fill_tables(self, address: Callable[[object], int], tensor_map: Callable[[TensorMapFields], bytes]) -> None:
        """Write the contents of all tables. `address` and `tensor_map` are functions as in `device_value`."""
        for number, table in self._tables:
            for entry, value in zip(table.entries, table.values, strict=True):
                data = _encoded(number, entry, value, address, tensor_map)
                table.memory[entry.offset : entry.offset + len(data)] = np.frombuffer(data, np.uint8)

    def device_value(
        self, number: int, address: Callable[[object], int], tensor_map: Callable[[TensorMapFields], bytes]
    ) -> object:
        """Return the value of argument `number` on the device: a number, an address or bytes.

        `address` returns the device address of an array. `tensor_map` encodes a tensor map as 128 bytes.
        """
        return _resolve(number, self.parameters[number], self.values[number], address, tensor_map)

    def contents(self, arena: Arena) -> tuple[Any, ...]:
        """Return views of the arrays in `arena`, the emulator's memory, in parameter order.

        A list or a Struct becomes a tuple. An argument without an array becomes None.
        """

        def view(value: Any) -> Any:
            match value:
                case TensorMap():
                    return view(value.array)
                case Struct():
                    return tuple(view(field.value) for field in value.fields)
                case _Table():
                    return tuple(map(view, value.values))
                case _:
                    return self.buffers.contents(value, arena) if is_array(value) else None

        return tuple(map(view, self.values))

    def block(self, address: Callable[[object], int], tensor_map: Callable[[TensorMapFields], bytes]) -> bytes:
        """Return the bytes of all parameters of the kernel.

        `address` and `tensor_map` are functions as in `device_value`.

        Errors: UsageError launch.argument.
        """
        block = bytearray(block_bytes(self.parameters) or 1)
        for number, parameter in enumerate(self.parameters):
            data = _encoded(number, parameter, self.values[number], address, tensor_map)
            block[parameter.offset : parameter.offset + len(data)] = data
        return bytes(block)


def _encoded(
    number: int, parameter: Parameter, value: object, address: Callable[[object], int],
    tensor_map: Callable[[TensorMapFields], bytes],
) -> bytes:  # fmt: skip
    """Return the bytes of an argument, a field or an element of a table.

    Errors: UsageError launch.argument.
    """
    found = _resolve(number, parameter, value, address, tensor_map)
    if not parameter.is_array:
        return encode(number, parameter, found)
    if isinstance(found, (bytes, bytearray)) and len(found) == parameter.size:
        return bytes(found)
    raise argument_error(number, parameter, value, _expected(parameter))


def _resolve(
    number: int, parameter: Parameter, value: object, address: Callable[[object], int],
    tensor_map: Callable[[TensorMapFields], bytes],
) -> object:  # fmt: skip
    if value is None or isinstance(value, _SCALARS):
        return value
    if is_array(value):
        return address(value)
    if isinstance(value, TensorMap):
        return tensor_map(value.fields(address(value.array)))
    if isinstance(value, _Table):
        return address(value.memory)
    if not isinstance(value, Struct):
        return value
    block = bytearray(value.background or b"").ljust(parameter.size, b"\0")
    for part in value.fields:
        place, end = part.parameter(parameter), part.offset + part.size
        if end > parameter.size:
            raise argument_error(number, place, part.value, f"a field within the {parameter.size} bytes")
        block[part.offset : end] = _encoded(number, place, part.value, address, tensor_map)
    return bytes(block)


def _kind(value: object) -> str:
    return repr(value) if value is None or isinstance(value, (str, bytes, int, float)) else f"a {type(value).__name__}"


def _expected(parameter: Parameter) -> str:
    if not parameter.is_array:
        addresses = ", an array or None, or a list of arrays, tensor maps or structures"
        return f"a number{addresses if parameter.takes_address else ''}"
    if parameter.size == TENSOR_MAP_BYTES:
        return f"a TensorMap or {TENSOR_MAP_BYTES} bytes"
    return f"a Struct or {parameter.size} bytes"


def _check_array(number: int, parameter: Parameter, array: Any) -> None:
    """Refuse an array that a kernel cannot use. Errors: UsageError launch.argument."""
    if not parameter.takes_address:
        raise argument_error(number, parameter, array, "a TensorMap" if parameter.is_array else "a number")
    # `strided` takes longer than the other checks together.
    found = array if is_numpy(array) else strided(array)
    if hasattr(array, "mask"):
        raise argument_error(number, parameter, array, "an array without a mask")
    if found.dtype.hasobject or found.dtype.kind in "USmM":
        raise argument_error(number, parameter, array, "an array of numbers")
    if not found.dtype.isnative:
        raise argument_error(number, parameter, array, "an array in this machine's byte order")
    if not (array.flags.c_contiguous if is_numpy(array) else strided(array).is_contiguous):
        raise UsageError(
            f"argument {number} ({parameter.readable_name}) is an array of shape {found.shape} that is not contiguous",
            code="launch.argument",
            hint="pass a contiguous copy, or a TensorMap over the view",
        )
