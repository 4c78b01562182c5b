"""Buffers of a launch file: generated contents, or the contents of a `.npy` file."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.wording import os_reason
from warploom.lazy_dataclass import dataclass
from warploom.runtime.dtypes import EXTENSIONS, dtype_named
from warploom.runtime.toml import Table, refuse_file

Array = NDArray[Any]
Refuse = Callable[[str, str, str], NoReturn]

DTYPES = (
    "float64", "float32", "float16", *EXTENSIONS,
    "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8",
)  # fmt: skip
"""Names of the element types in launch files."""
MEMORY_LIMIT = 4 << 30  # bytes

DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "normal": ("seed", "scale"),
    "uniform": ("seed", "low", "high"),
    "integers": ("seed", "low", "high"),
    "zeros": (),
    "ones": (),
    "arange": (),
    "bits": ("seed",),
}
"""Distributions of a generated buffer, each with the keys of a buffer table that apply to it."""


def is_integer(dtype: np.dtype[Any]) -> bool:
    """Return True if the elements of a type are integers."""
    return dtype.kind in "iu"


def integer_range(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the smallest and the largest integer that the distribution "integers" may contain."""
    if not is_integer(dtype):
        # float64 represents all integers up to 2^53 exactly.
        return -(1 << 53), 1 << 53
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


@dataclass(frozen=True, slots=True)
class Generated:
    """Buffer with contents that a distribution and a seed determine.

    - "normal" has mean 0 and standard deviation `scale`.
    - "uniform" lies between `low` and `high`, by default between -1 and 1.
    - "integers" includes `low` and `high`. Their defaults are the range of an integer type, or -8 and 8.
    - "zeros" and "ones" repeat one value. "arange" is 0, 1, 2, … in memory order.
    - "bits" makes all bit patterns of the element type equally likely, including NaN and infinity.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    distribution: str = "zeros"
    seed: int = 0
    scale: float = 1.0
    low: float | None = None
    high: float | None = None

    @property
    def nbytes(self) -> int:
        """Size of the buffer in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def make(self) -> Array:
        """Return a new array with the contents, which are the same on every computer."""
        random = np.random.Generator(np.random.PCG64(self.seed))
        match self.distribution:
            case "normal":
                values = random.standard_normal(self.shape) * self.scale
            case "uniform":
                values = random.uniform(*self.limits(), self.shape)
            case "integers":
                low, high = (int(limit) for limit in self.limits())
                wide = np.uint64 if self.dtype == np.uint64 else np.int64
                values = random.integers(low, high, self.shape, wide, endpoint=True)
            case "ones":
                return np.ones(self.shape, self.dtype)
            case "arange":
                with np.errstate(over="ignore"):
                    return np.arange(math.prod(self.shape)).reshape(self.shape).astype(self.dtype)
            case "bits":
                raw = np.frombuffer(random.bytes(self.nbytes), np.uint8)
                return raw.copy().view(self.dtype).reshape(self.shape)
            case _:
                return np.zeros(self.shape, self.dtype)
        with np.errstate(over="ignore"):
            return values.astype(self.dtype)

    def limits(self) -> tuple[float, float]:
        """Return `low` and `high` with the defaults of the distribution "uniform" or "integers"."""
        low, high = -1.0, 1.0
        if self.distribution == "integers":
            low, high = integer_range(self.dtype) if is_integer(self.dtype) else (-8, 8)
        return low if self.low is None else self.low, high if self.high is None else self.high


@dataclass(frozen=True, slots=True)
class Stored:
    """Buffer with the contents of a `.npy` file."""

    path: Path
    dtype: np.dtype[Any]
    nbytes: int

    def make(self) -> Array:
        """Return the contents as a new array in row-major order."""
        return np.array(np.load(self.path, allow_pickle=False), order="C").view(self.dtype)


Buffer = Generated | Stored


def stored(path: Path, refuse: Refuse, dtype: np.dtype[Any] | None = None) -> Stored:
    """Return the buffer of a `.npy` file. Only the header of the file is read.

    `dtype` is the element type of a file with bfloat16 or float8, which NumPy stores without a type. If the file cannot
    be used, `refuse` is called with a code, a message and a hint, and raises the error.
    """
    try:
        found = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        refuse("missing", f"there is no file {path}", "")
    except OSError as error:
        refuse("unreadable", f"{path} cannot be read: {os_reason(error)}", "")
    except ValueError as error:
        refuse("unreadable", f"{path} is not a .npy file of numbers: {str(error).rstrip('.')}", "")
    kind: np.dtype[Any] = found.dtype if dtype is None else dtype
    if kind.name not in DTYPES or not found.dtype.isnative:
        hint = "dtype states the type of the bytes" if found.dtype.kind == "V" else f"expected {', '.join(DTYPES)}"
        refuse("value", f"{path} holds elements of type {found.dtype}", hint)
    if kind.itemsize != found.dtype.itemsize:
        what = f"{path} holds elements of {found.dtype.itemsize} bytes; expected {kind.itemsize} for {kind.name}"
        refuse("value", what, "")
    return Stored(path, kind, found.nbytes)


def read_stored(table: Table, folder: Path) -> Stored:
    """Return the buffer that the keys `file` and `dtype` of a table describe.

    The file is relative to `folder`.
    """
    return stored(
        folder / table.string("file", "the path of a .npy file"),
        lambda code, message, hint: table.refuse("file", code, message, hint),
        table.optional("dtype", lambda key: dtype_named(table.choice(key, DTYPES))),
    )


def read_buffer(table: Table, folder: Path, position: int) -> Buffer:
    """Return the buffer that a `[buffer.NAME]` table describes.

    Paths are relative to `folder`. `position` is the default seed.
    """
    if "file" in table:
        table.only("file", "dtype")
        return read_stored(table, folder)
    table.only("file", "dtype", "shape", "distribution", "seed", "scale", "low", "high")
    dtype = dtype_named(table.choice("dtype", DTYPES))
    shape = table.integers("shape", lengths=range(1, 9), single=True)
    distribution = table.choice("distribution", DISTRIBUTIONS)
    for option in ("seed", "scale", "low", "high"):
        if option in table and option not in DISTRIBUTIONS[distribution]:
            known = " or ".join(name for name, options in DISTRIBUTIONS.items() if option in options)
            hint = f"{option} is an option of {known}"
            table.refuse(option, "value", f'distribution "{distribution}" has no {option}', hint)
    if distribution in ("normal", "uniform") and is_integer(dtype):
        why = f'"{distribution}" makes fractions; expected "integers" for {dtype.name}'
        table.refuse("distribution", "value", why)

    def limit(key: str) -> float:
        is_exact = distribution == "integers"
        return table.integer(key, None, *integer_range(dtype)) if is_exact else table.number(key)

    buffer = Generated(
        dtype,
        shape,
        distribution,
        seed=table.integer("seed", default=position, low=0),
        scale=table.number("scale", default=1.0, low=0.0),
        low=table.optional("low", limit),
        high=table.optional("high", limit),
    )
    low, high = buffer.limits()
    if low > high:
        table.refuse("low" if "low" in table else "high", "value", f"low is {low}; expected at most high, {high}")
    return buffer


def make_buffers(buffers: Mapping[str, Buffer], limit: int = MEMORY_LIMIT, scratch: int = 0) -> dict[str, Array]:
    """Return a new array for each buffer, by name. Refuse buffers that together exceed `limit`.

    `scratch` is the size of the launch's unnamed buffers, which also count towards the limit.

    Units: `limit` and `scratch` in bytes.
    Errors: launch-file/memory.
    """
    total = scratch + sum(buffer.nbytes for buffer in buffers.values())
    if total > limit:
        sizes = {name: buffer.nbytes for name, buffer in buffers.items()} | {"scratch": scratch}
        largest = max(sizes, key=lambda name: sizes[name])
        refuse_file(
            "memory",
            f"the buffers take {_size(total)}, more than the limit of {_size(limit)}; "
            f"the largest is {largest} with {_size(sizes[largest])}",
            "make the shapes smaller, or raise the limit with --memory",
        )
    return {name: buffer.make() for name, buffer in buffers.items()}


def _size(nbytes: int) -> str:
    return f"{nbytes / (1 << 30):.1f} GiB" if nbytes >= 1 << 30 else f"{nbytes / (1 << 20):.1f} MiB"
