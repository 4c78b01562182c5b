"""Arrays in the device memory of a session."""

from __future__ import annotations

from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warploom.diagnostics import UsageError


class Owner(Protocol):
    """Session to which an array belongs."""

    def read(self, array: DeviceArray) -> NDArray[Any]:
        """Return a copy of an array."""
        ...

    def write(self, array: DeviceArray, values: ArrayLike) -> None:
        """Set the contents of an array."""


class DeviceArray:
    """Array in the device memory of a `Session`, which launches of the session take as an argument.

    `shape` and `dtype` are as in NumPy. The elements are contiguous, and the last axis varies fastest. `address` is the
    device address of the first element.
    """

    def __init__(self, session: Owner, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], address: int) -> None:
        self.session = session
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.address = address

    @property
    def nbytes(self) -> int:
        """Size of the array. Units: bytes."""
        return prod(self.shape) * self.dtype.itemsize

    def numpy(self) -> NDArray[Any]:
        """Wait for all launches of the session, and return a copy of the array in the host's memory.

        Errors: as `Session.synchronize`.
        """
        return self.session.read(self)

    def write(self, values: ArrayLike) -> None:
        """Wait for all launches of the session, and set the array to `values`, which have its shape and type.

        Errors: as `Session.synchronize`; UsageError launch.argument for values of another shape or type.
        """
        self.session.write(self, values)

    def reshape(self, *shape: int) -> DeviceArray:
        """Return an array with another shape that uses the same memory.

        Errors: UsageError launch.argument for a shape with another number of elements.
        """
        if any(each.__class__ is not int for each in shape):
            raise UsageError(f"the shape is {shape}; expected integers", code="launch.argument")
        if prod(shape) != prod(self.shape) or min(shape, default=0) < 0:
            raise UsageError(
                f"an array of shape {self.shape} has no shape {shape}; expected {prod(self.shape)} elements",
                code="launch.argument",
            )
        return DeviceArray(self.session, self.name, shape, self.dtype, self.address)

    def __repr__(self) -> str:
        return f"DeviceArray({self.name}, shape={self.shape}, dtype={self.dtype}, address={self.address:#x})"


def check_session(array: DeviceArray, session: object, what: str) -> None:
    """Refuse an array of another session. `what` names the argument. Errors: UsageError launch.argument."""
    if array.session is session:
        return
    where = "this session" if session is not None else "the host's memory"
    hint = "" if session is not None else "use the method `launch` of the session"
    raise UsageError(
        f"{what} is an array of {'another' if session is not None else 'a'} session; expected an array in {where}",
        code="launch.argument",
        hint=hint,
    )
