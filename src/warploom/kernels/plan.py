"""Plan of a GEMM kernel: the types, layouts and epilogue for which the kernel is built.

Each plan has its own PTX. Sizes, addresses and factors are arguments of a launch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from warploom.diagnostics import UsageError
from warploom.isa.model.types import TYPES
from warploom.kernels.ptx import ptx

ACCUMULATORS = {
    **dict.fromkeys([("f16", "f16")], ("f32", "f16")),
    **dict.fromkeys([("bf16", "bf16"), ("tf32", "tf32")], ("f32",)),
    **dict.fromkeys([(a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")], ("f32", "f16")),
    **dict.fromkeys([(a, b) for a in ("s8", "u8") for b in ("s8", "u8")], ("s32",)),
}
"""Accumulator types by the types of A and B, the widest first."""


class BlockFormat(NamedTuple):
    """Types of elements, type of scale factors, and number of elements of K that share a factor."""

    elements: tuple[str, ...]
    scale: str
    block: int


BLOCK_FORMATS = {
    "mxfp8": BlockFormat(("e4m3", "e5m2"), "ue8m0", 32),
    "mxfp4": BlockFormat(("e2m1",), "ue8m0", 32),
    "nvfp4": BlockFormat(("e2m1",), "ue4m3", 16),
}
"""Formats with a scale factor for each block of elements along K."""
RESULTS = {"f32": ("f32", "bf16", "f16", "e4m3", "e5m2"), "f16": ("f16",), "s32": ("s32", "f32", "bf16", "f16")}
"""Types that D may have, by accumulator type."""
DTYPES: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "s32": np.dtype(np.int32),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
}
"""NumPy types by PTX types of D."""
ACTIVATIONS = ("", "relu", "gelu", "silu")
ALIGNMENT = 16
"""Alignment of matrix rows in global memory. Units: bytes."""
CHUNK = 16
"""Bytes that a thread copies at once, and that a swizzle moves together."""
BLOCK = 64
"""16-bit elements in a shared-memory row of 128 bytes, for operands contiguous along M or N."""


def bits_of(type_word: str) -> int:
    """Return the size of an element of A or B. Units: bits. Two elements of e2m1 share a byte."""
    return 4 if type_word == "e2m1" else 8 * size_of(type_word)


def size_of(type_word: str) -> int:
    """Return the size in memory of an element of the type `type_word`. Units: bytes."""
    return 4 if type_word == "tf32" else TYPES[type_word].bytes


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Computation `D = activation(scale * accumulator + beta * C + bias)`.

    The scale is a product of up to three factors: alpha if `scaled`, a factor for each row if `row_scales`, and a
    factor for each column if `column_scales`. `addend` is the type of C, or "" without C. `bias` is "row" for one f32
    for each row, "column" for one f32 for each column, or "".
    """

    scaled: bool = False
    row_scales: bool = False
    column_scales: bool = False
    addend: str = ""
    bias: str = ""
    activation: str = ""

    @property
    def is_identity(self) -> bool:
        """True if D is the accumulator, rounded to the type of D."""
        return self == Epilogue()


@dataclass(frozen=True, slots=True)
class GemmPlan:
    """Plan without the properties of one architecture.

    `a`, `b`, `accumulator` and `d` are types. `a_major` ("k" or "m") and `b_major` ("k" or "n") name the axis along
    which elements are contiguous. If `unaligned`, rows of D or C do not end at a multiple of 16 bytes. `scaling` is the
    name of a block format in `BLOCK_FORMATS`, or "".
    """

    a: str = "bf16"
    b: str = "bf16"
    accumulator: str = "f32"
    d: str = "bf16"
    a_major: str = "k"
    b_major: str = "k"
    unaligned: bool = False
    epilogue: Epilogue = field(default_factory=Epilogue)
    scaling: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        for message in self.errors():
            raise UsageError(message, code="kernels.plan")

    def errors(self) -> Iterator[str]:
        """Yield a message for each property of the plan that no kernel supports."""
        if self.scaling:
            elements = BLOCK_FORMATS[self.scaling].elements
            if self.accumulator != "f32" or not {self.a, self.b} <= set(elements):
                yield f"{self.scaling} is {self.a} by {self.b} with {self.accumulator} accumulators; expected f32"
        elif self.accumulator not in ACCUMULATORS.get((self.a, self.b), ()):
            have = "; ".join(f"{a} by {b}: {', '.join(s)}" for (a, b), s in ACCUMULATORS.items())
            yield f"there is no {self.accumulator} accumulator for {self.a} by {self.b}; expected one of {have}"
        if self.d not in RESULTS.get(self.accumulator, (self.d,)):
            expected = ", ".join(RESULTS[self.accumulator])
            yield f"an accumulator in {self.accumulator} gives no result in {self.d}; expected {expected}"
        for name, major, across in (("a_major", self.a_major, "m"), ("b_major", self.b_major, "n")):
            if major not in ("k", across):
                yield f"{name} is '{major}'; expected 'k' or '{across}'"
        if (self.a_major, self.b_major) != ("k", "k") and self.a in TYPES and size_of(self.a) != 2:
            name, element = ("A", self.a) if self.a_major != "k" else ("B", self.b)
            yield f"{name} has elements of {element} and is not contiguous along K; only elements of 16 bits may be"
        if self.epilogue.activation not in ACTIVATIONS:
            yield f"unknown activation '{self.epilogue.activation}'; expected relu, gelu or silu"
        if self.d == "s32" and not self.epilogue.is_identity:
            yield "an s32 result has no epilogue; expected a result in f32, bf16 or f16"

    @property
    def register_type(self) -> str:
        """Type of an accumulator register. A register holds two f16 accumulators, or one of another type."""
        return "b32" if self.accumulator == "f16" else self.accumulator


def tile_errors(tile: Any) -> Iterator[str]:
    """Yield a message for each field of a tile that is not a positive integer."""
    for each in fields(tile):
        value = getattr(tile, each.name)
        if type(each.default) is int and (not isinstance(value, int) or value < 1):
            yield f"{each.name} of a tile is {value!r}; expected an integer above 0"


def swizzle_mask(row: Any, span: int) -> Any:
    """Return the swizzle mask of row number `row` in shared memory. Chunk i is stored at `i ^ mask`.

    A row has `span` bytes, and a chunk 16 bytes.
    """
    shift = (128 // span).bit_length() - 1  # rows in the same 128 bytes, a line of all banks, have the same mask
    # In eight consecutive rows, the chunks of one column are stored in different banks.
    return (row >> shift if shift else row) & (span // CHUNK - 1)


def tile_position(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any, Any]:
    """Return the tile row, the tile column and the batch of tile number `tile`.

    Tiles are numbered down `group` tile rows, then down the same rows of the next tile column.
    """
    plane = m_tiles * n_tiles
    batch = tile // plane
    return *position_in_plane(tile - batch * plane, m_tiles, n_tiles, group), batch


def position_in_plane(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any]:
    """Return the tile row and column of tile `tile` of a batch. `tile_position` describes `group`."""
    per_group = n_tiles * group
    first = tile // per_group * group
    rest, height = tile % per_group, ptx.min(m_tiles - first, group, type="u32")
    return first + rest % height, rest // height
