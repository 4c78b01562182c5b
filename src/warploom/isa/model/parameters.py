"""Parameters of a kernel: positions in the parameter block, and encoding of scalar arguments.

The parameter block is the memory that passes all arguments of a launch to the kernel.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from warploom.diagnostics import UsageError
from warploom.diagnostics.symbols import readable_name
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from warploom.ptx import Variable

Scalar: TypeAlias = "np.generic[Any]"


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a kernel.

    `type` is its PTX type without a dot. `is_pointer` is True if the parameter is declared with `.ptr`.

    Units: `offset` (in the parameter block), `size` and `align` are bytes.
    """

    name: str
    type: str
    offset: int
    size: int
    align: int
    is_array: bool
    is_pointer: bool

    @property
    def takes_address(self) -> bool:
        """True if the parameter can hold an address."""
        return not self.is_array and self.size == 8 and TYPES[self.type].dtype.kind != "f"

    @property
    def readable_name(self) -> str:
        """Name for messages. A mangled name is demangled and shortened."""
        return readable_name(self.name)

    def __str__(self) -> str:
        return f".{self.type} {self.readable_name}{f'[{self.size}]' if self.is_array else ''}"


def size_of(variable: Variable) -> int | None:
    """Return the size of a variable in bytes, or None for an array of unknown extent."""
    element = TYPES[variable.type].bytes if variable.type in TYPES else 8
    total = element * variable.vector
    for extent in variable.shape:
        if extent is None:
            return None
        total *= extent
    return total


def aligned(offset: int, align: int) -> int:
    """Return the smallest multiple of `align` that is at least `offset`."""
    return -(-offset // align) * align


def parameter_block(variables: Iterable[Variable]) -> tuple[Parameter, ...]:
    """Return the parameters that a kernel declares, with their offsets in the parameter block."""
    placed: list[Parameter] = []
    end = 0
    for variable in variables:
        element = TYPES[variable.type].bytes if variable.type in TYPES else 8
        align = max(variable.align or 1, element if not variable.shape else variable.align or element)
        end = aligned(end, align)
        size = size_of(variable) or element
        is_pointer = any(attribute.startswith(".ptr") for attribute in variable.attributes)
        placed.append(Parameter(variable.name, variable.type, end, size, align, bool(variable.shape), is_pointer))
        end += size
    return tuple(placed)


def block_bytes(parameters: Sequence[Parameter]) -> int:
    """Return the size of the parameter block in bytes."""
    return parameters[-1].offset + parameters[-1].size if parameters else 0


def encode(number: int, parameter: Parameter, value: object) -> bytes:
    """Return the bytes of a scalar argument for a parameter. None is encoded as a null pointer.

    `number` is the position of the argument in the argument list, for messages.

    Errors: UsageError with the code launch.argument for a value that does not fit the parameter.
    """
    if type(value) is not int:  # most arguments are integers, or addresses of arrays
        if value is None and parameter.size == 8:
            return bytes(8)
        if _is_truth(value) or not (is_scalar(value) or isinstance(value, (int, float))):
            expected = "a number" + (", an array or None" if parameter.size == 8 else "")
            raise argument_error(number, parameter, value, expected)
        if is_scalar(value):
            return _encode_scalar(number, parameter, value)
        if isinstance(value, float):
            return _encode_float(number, parameter, value)
    assert isinstance(value, int)
    if TYPES[parameter.type].dtype.kind == "f":
        return _encode_float(number, parameter, float(value))
    low, high = integer_range(parameter)
    if not low <= value <= high:
        raise argument_error(number, parameter, value, f"an integer from {low} to {high}")
    return (value % (1 << 8 * parameter.size)).to_bytes(parameter.size, "little")


def integer_range(parameter: Parameter) -> tuple[int, int]:
    """Return the smallest signed and the largest unsigned integer that fit in a parameter."""
    bits = 8 * parameter.size
    return -(1 << (bits - 1)), (1 << bits) - 1


def is_scalar(value: object) -> TypeGuard[Scalar]:
    """Return True if a value is a NumPy scalar."""
    return isinstance(value, np.generic)


def argument_error(number: int, parameter: Parameter, value: object, expected: str) -> UsageError:
    """Return the UsageError for an argument of a launch that does not fit its parameter.

    `number` is the position of the argument. `expected` describes legal arguments. The code is launch.argument.
    """
    if _is_array(value):
        found = f"an array of type {value.dtype} and shape {value.shape}"
    elif is_scalar(value):
        found = f"{value.dtype.name} {value}"
    elif isinstance(value, (int, float, str, type(None))):
        found = repr(value)
    else:
        found = f"a {type(value).__name__}"
    return UsageError(f"argument {number} ({parameter}) is {found}; expected {expected}", code="launch.argument")


def _is_array(value: object) -> TypeGuard[NDArray[Any]]:
    return isinstance(value, np.ndarray)


def _is_truth(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


def _encode_scalar(number: int, parameter: Parameter, value: Scalar) -> bytes:
    kind = TYPES[parameter.type]
    fits = value.dtype.itemsize == parameter.size and (
        kind.kind == "bits" or (value.dtype.kind == "f") == (kind.kind == "float" and kind.dtype.kind == "f")
    )
    if not fits:
        expected = f"a scalar of type .{parameter.type}, {parameter.size} bytes wide"
        raise argument_error(number, parameter, value, expected)
    return value.tobytes()


def _encode_float(number: int, parameter: Parameter, value: float) -> bytes:
    kind = TYPES[parameter.type].kind
    if kind not in ("float", "bits") or parameter.size < 4:
        raise argument_error(number, parameter, value, f"an integer for .{parameter.type}")
    try:
        return struct.pack("<f" if parameter.size == 4 else "<d", value)
    except OverflowError:
        raise argument_error(number, parameter, value, f"a number in the range of .{parameter.type}") from None
