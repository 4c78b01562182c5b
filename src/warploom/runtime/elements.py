"""Comparison of the elements of arrays with the accesses of a kernel."""

from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.layout import strided
from warploom.runtime.arguments import Arguments
from warploom.runtime.arrays import is_array, is_numpy
from warploom.runtime.kernel import LoadedKernel


def check_elements(kernel: LoadedKernel, arguments: Arguments) -> None:
    """Refuse an array of numbers that are larger than every access of the kernel through this argument.

    An array of unsigned integers, Booleans or structures may contain values of any type. Accesses to single bytes may
    be parts of any element, as in C. The check is silent if the size of an access is unknown, for example because the
    kernel passes the address to a function.

    Errors: UsageError launch.argument.
    """
    signature = kernel.signature
    for number, value in enumerate(arguments.values):
        if not is_array(value):
            continue
        dtype = value.dtype if is_numpy(value) else strided(value).dtype
        # The analysis of the uses is left out for other arrays: for a long kernel, it takes half a second.
        if (size := _number_bytes(dtype)) < 2 or (use := kernel.narrow_uses.get(number)) is None or size <= use.widest:
            continue
        parameter = signature.parameters[number]
        kinds = f" ({', '.join(f'.{each}' for each in sorted(use.elements))})" if use.elements else ""
        raise UsageError(
            f"argument {number} ({parameter.name}) is an array of {dtype}, and kernel {signature.name} accesses at "
            f"most {use.widest} bytes at a time through it{kinds}; expected elements of at most {use.widest} bytes",
            code="launch.argument",
            hint=f"convert the array, or pass array.view(np.uint{8 * size}) if the kernel accesses parts of elements",
        )


def _number_bytes(dtype: np.dtype[Any]) -> int:
    """Return the size of an array's numbers in bytes: half of a complex number, 0 for other contents."""
    if dtype.kind in "ub" or dtype.fields is not None or dtype.type is np.void:
        return 0
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)
