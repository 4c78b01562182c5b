"""Arguments of a launch: Python values as kernel parameters."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu
from warploom.isa.model.parameters import Parameter, aligned, argument_error, block_bytes, encode, is_scalar
from warploom.isa.model.signature import Signature
from warploom.isa.model.types import TYPES
from warploom.layout import TensorMap, strided
from warploom.layout.tensormap import TENSOR_MAP_BYTES, TensorMapFields
from warploom.runtime.device_buffers import DeviceBuffers

if TYPE_CHECKING:
    from warploom.emulator.arena import Arena

_POINTER = "u64"
_SCALARS: tuple[type[object], ...] = (int, float, np.generic)


class _Field(NamedTuple):
    """Field of a structure. Units: `offset`, `size` and `align` in bytes."""

    offset: int
    type: str
    value: object
    size: int
    align: int

    def parameter(self, whole: Parameter) -> Parameter:
        """Return this field as a kernel parameter. The structure fills the parameter `whole`."""
        is_array = isinstance(self.value, (Struct, TensorMap, bytes))
        name, offset = f"{whole.name}+{self.offset}", whole.offset + self.offset
        return Parameter(name, self.type, offset, self.size, self.align, is_array, False)


class Struct:
    """Structure that a kernel takes by value, with the layout of a C structure.

    Each field is aligned to its size. Unused bytes are zero. A field is one of these values:

    - An array, passed as its 64-bit address.
    - A list of arrays, passed as the address of a table of their addresses.
    - None, a null pointer.
    - A NumPy scalar, or a pair of a PTX type and a number such as `("f32", 0.5)`.
    - A TensorMap, bytes, or another Struct.

        wl.Struct(x, np.int32(n), ("f32", 0.5))

    Errors: UsageError launch.argument.
    """

    def __init__(self, *fields: object) -> None:
        self.fields: tuple[_Field, ...] = ()
        self.size, self.align = 0, 1
        for value in fields:
            self._append(value)
        self.size = aligned(self.size, self.align)

    @classmethod
    def at(cls, fields: Mapping[int, object]) -> Struct:
        """Return a structure with the given fields. The keys are byte offsets."""
        made = cls()
        for offset in fields:
            if not isinstance(offset, int) or offset < 0:
                raise UsageError(
                    f"a field of a Struct is at {offset!r}; expected an offset of 0 bytes or more",
                    code="launch.argument",
                )
        for offset in sorted(fields):
            made._append(fields[offset], offset)
        return made

    def _append(self, value: object, offset: int | None = None) -> None:
        word, value, size, align = _field(value)
        start = aligned(self.size, align) if offset is None else offset
        if start < self.size:
            raise UsageError(f"two fields of a Struct overlap at byte {start}", code="launch.argument")
        self.fields = (*self.fields, _Field(start, word, value, size, align))
        self.size, self.align = start + size, max(self.align, align)

    def __repr__(self) -> str:
        return f"<Struct of {self.size} bytes>"

    def map(self, change: Callable[[_Field], object]) -> Struct:
        """Return a copy in which the value of each field is `change(field)`."""
        made = Struct()
        made.fields = tuple(field._replace(value=change(field)) for field in self.fields)
        made.size, made.align = self.size, self.align
        return made


def _field(value: object) -> tuple[str, object, int, int]:
    """Return the PTX type, value, size and alignment (in bytes) of a field of a structure."""
    if isinstance(value, TensorMap):
        return "b8", value, TENSOR_MAP_BYTES, 64
    if isinstance(value, Struct):
        return "b8", value, value.size, value.align
    if isinstance(value, (bytes, bytearray)):
        return "b8", bytes(value), len(value), 1
    if is_scalar(value):
        return f"b{8 * value.itemsize}", value, value.itemsize, value.itemsize
    if value is None or is_array(value) or _is_array_list(value):
        return _POINTER, value, 8, 8
    pair = cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()
    if len(pair) == 2 and (known := TYPES.get(str(pair[0]))) is not None and known.bytes:
        return known.name, pair[1], known.bytes, known.bytes
    raise UsageError(
        f"a field of a Struct is {value!r}; expected an array, None, a NumPy scalar, a TensorMap, bytes, "
        "another Struct, or a PTX type with a number, such as ('u32', 5)",
        code="launch.argument",
    )


class _PointerTable:
    """Device buffer with the addresses of several arrays."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays = arrays
        self.table = np.zeros(len(arrays), np.uint64)


class Arguments:
    """Arguments of a launch, checked against the kernel's parameters.

    `buffers` has a device buffer for each array in host memory. `gpu_arrays` lists the arrays in the memory of a GPU.

    Errors: UsageError launch.arguments for a wrong number of arguments, launch.argument, gpu.array.
    """

    def __init__(self, signature: Signature, values: Sequence[object], *, on_gpu: bool) -> None:
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
        self._tables: list[_PointerTable] = []
        self._on_gpu = on_gpu
        pairs = zip(self.parameters, values, strict=True)
        self.values = [self._adopt(number, parameter, value) for number, (parameter, value) in enumerate(pairs)]

    def _adopt(self, number: int, parameter: Parameter, value: object) -> object:
        """Check an argument or a structure's field, and add device buffers for its arrays.

        In the result, NumPy arrays replace other host arrays, and pointer tables replace lists of arrays. `number` is
        the position of the argument.
        """
        if value is None or isinstance(value, _SCALARS):
            return value
        if is_array(value):
            _check_array(number, parameter, value)
            return self._buffer(number, parameter, value, "")
        if isinstance(value, TensorMap):
            if parameter.size != TENSOR_MAP_BYTES:
                raise argument_error(number, parameter, value, _expected(parameter))
            array = self._buffer(number, parameter, value.array, "the tensor of ")
            return value if array is value.array else replace(value, array=array)
        if isinstance(value, Struct):
            if not parameter.is_array:
                raise argument_error(number, parameter, value, _expected(parameter))
            return value.map(lambda part: self._adopt(number, part.parameter(parameter), part.value))
        if _is_array_list(value):
            if not parameter.takes_address:
                raise argument_error(number, parameter, value, _expected(parameter))
            name = parameter.readable_name
            entries = [replace(parameter, name=f"{name}[{k}]", type=_POINTER) for k in range(len(value))]
            table = _PointerTable([self._adopt(number, *pair) for pair in zip(entries, value, strict=True)])
            self.buffers.add(f"the table of argument {number} ({name})", table.table)
            self._tables.append(table)
            return table
        return value

    def _buffer(self, number: int, parameter: Parameter, array: Any, prefix: str) -> Any:
        """Add a device buffer for an array in host memory, and return the array as a NumPy array.

        An array on a GPU is returned unchanged. In error messages `prefix` precedes "argument" and `number`.
        """
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

    def fill_tables(self, address: Callable[[object], int]) -> None:
        """Write device addresses to all tables of pointers. `address` returns the address of an array."""
        for table in self._tables:
            table.table[:] = [address(array) for array in table.arrays]

    def device_value(
        self, number: int, address: Callable[[object], int], tensor_map: Callable[[TensorMapFields], bytes]
    ) -> object:
        """Return the value of argument `number` on the device: a number, an address or bytes.

        `address` returns the device address of an array. `tensor_map` encodes a tensor map as 128 bytes.
        """
        return _resolve(number, self.parameters[number], self.values[number], address, tensor_map)

    def contents(self, arena: Arena) -> tuple[Any, ...]:
        """Return views of the arrays in `arena`, the emulator's memory, in parameter order.

        A list of arrays or a Struct becomes a tuple. An argument without an array becomes None.
        """

        def view(value: Any) -> Any:
            match value:
                case TensorMap():
                    return view(value.array)
                case Struct():
                    return tuple(view(field.value) for field in value.fields)
                case _PointerTable():
                    return tuple(map(view, value.arrays))
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
            value = _resolve(number, parameter, self.values[number], address, tensor_map)
            if not parameter.is_array:
                data = encode(number, parameter, value)
            elif isinstance(value, (bytes, bytearray)) and len(value) == parameter.size:
                data = value
            else:
                raise argument_error(number, parameter, self.values[number], _expected(parameter))
            block[parameter.offset : parameter.offset + len(data)] = data
        return bytes(block)


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
    if isinstance(value, _PointerTable):
        return address(value.table)
    if not isinstance(value, Struct):
        return value
    block = bytearray(parameter.size)
    for part in value.fields:
        place, end = part.parameter(parameter), part.offset + part.size
        if end > parameter.size:
            raise argument_error(number, place, part.value, f"a field within the {parameter.size} bytes")
        found = _resolve(number, place, part.value, address, tensor_map)
        block[part.offset : end] = found if isinstance(found, bytes) else encode(number, place, found)
    return bytes(block)


def _kind(value: object) -> str:
    return repr(value) if value is None or isinstance(value, (str, bytes, int, float)) else f"a {type(value).__name__}"


def _expected(parameter: Parameter) -> str:
    if not parameter.is_array:
        return "a number, an array or None" if parameter.takes_address else "a number"
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


def is_array(value: object) -> TypeGuard[Any]:
    """Return True if a value is an array of NumPy, PyTorch, CuPy or JAX."""
    return isinstance(value, np.ndarray) or is_foreign_type(type(value))


def is_numpy(value: object) -> TypeGuard[NDArray[Any]]:
    """Return True if a value is an array of NumPy."""
    return isinstance(value, np.ndarray)


def _is_array_list(value: object) -> TypeGuard[Sequence[Any]]:
    if not isinstance(value, (list, tuple)):
        return False
    items = cast("Sequence[object]", value)
    return bool(items) and all(map(is_array, items))
