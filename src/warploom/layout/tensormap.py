"""The 128-byte tensor map: its fields, their rules, and the map a launch argument makes of an array."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from warploom.diagnostics import UsageError
from warploom.display import Displayed
from warploom.layout.im2col import OFFSET_BITS, spatial_axes
from warploom.layout.strided import Strided, strided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TENSOR_MAP_BYTES = 128

# Word, bits of an element in global memory, bits of it in shared memory; the code is the index.
ELEMENT_TYPES = (
    ("u8", 8, 8),
    ("u16", 16, 16),
    ("u32", 32, 32),
    ("s32", 32, 32),
    ("u64", 64, 64),
    ("s64", 64, 64),
    ("f16", 16, 16),
    ("f32", 32, 32),
    ("f32.ftz", 32, 32),
    ("f64", 64, 64),
    ("bf16", 16, 16),
    ("tf32", 32, 32),
    ("tf32.ftz", 32, 32),
    ("b4x16", 4, 4),
    ("b4x16_p64", 4, 8),
    ("b6x16_p32", 6, 8),
)
INTERLEAVES = (0, 16, 32)
SWIZZLE_SPANS = (0, 32, 64, 128, 96)
SWIZZLE_ATOMICITIES = ("16B", "32B", "32B with 8B flip", "64B")
FILLS = ("zero", "nan")
L2_PROMOTIONS = (0, 64, 128, 256)

# The abstract machine's own layout of the 128 bytes: the hardware's is not published, and programs may rely
# on none. All zeros is a map of rank 1 that nobody has filled in.
PACKED = np.dtype(
    [
        ("global_address", "<u8"),
        ("global_dim", "<u8", 5),
        ("global_stride", "<u8", 4),
        ("box", "<u4", 5),
        ("element_stride", "u1", 5),
        ("rank_minus_one", "u1"),
        ("elemtype", "u1"),
        ("interleave", "u1"),
        ("swizzle", "u1"),
        ("swizzle_atomicity", "u1"),
        ("fill", "u1"),
        ("l2_promotion", "u1"),
        ("im2col_lower", "<i2", 3),
        ("im2col_upper", "<i2", 3),
        ("channels_per_pixel", "<u2"),
        ("pixels_per_column", "<u2"),
    ]
)
_FLOATS = ("f16", "f32", "f32.ftz", "f64", "bf16", "tf32", "tf32.ftz")
_LARGEST_BOX = 228 * 1024  # all shared memory of an SM
_PADDED = ("b4x16_p64", "b6x16_p32")


@dataclass(frozen=True, slots=True)
class TensorMapFields:
    """The fields of a tensor map, innermost dimension first.

    Units: addresses and strides in bytes (``global_stride[i]`` is that of dimension i + 1), dimensions and
        box in elements; ``elemtype``, ``interleave``, ``swizzle``, ``swizzle_atomicity``, ``fill`` and
        ``l2_promotion`` are the codes of the manual's tables, indices into this module's.
    Source: PTX ISA 5.5 (tensors), 9.7.9 (tensor map replacement).
    """

    global_address: int = 0
    rank: int = 1
    global_dim: tuple[int, ...] = (0, 0, 0, 0, 0)
    global_stride: tuple[int, ...] = (0, 0, 0, 0)
    box: tuple[int, ...] = (0, 0, 0, 0, 0)
    element_stride: tuple[int, ...] = (0, 0, 0, 0, 0)
    elemtype: int = 0
    interleave: int = 0
    swizzle: int = 0
    swizzle_atomicity: int = 0
    fill: int = 0
    l2_promotion: int = 0
    im2col_lower: tuple[int, ...] = (0, 0, 0)
    im2col_upper: tuple[int, ...] = (0, 0, 0)
    channels_per_pixel: int = 0
    pixels_per_column: int = 0

    # What one replacement may write: the manual's field name -> our name, and the values that fit.
    _REPLACEABLE: ClassVar[dict[str, tuple[str, int]]] = {
        "global_address": ("global_address", 1 << 64),
        "rank": ("rank", 5),
        "box_dim": ("box", 1 << 32),
        "global_dim": ("global_dim", 1 << 32),
        "global_stride": ("global_stride", 1 << 64),
        "element_stride": ("element_stride", 256),
        "elemtype": ("elemtype", len(ELEMENT_TYPES)),
        "interleave_layout": ("interleave", len(INTERLEAVES)),
        "swizzle_mode": ("swizzle", len(SWIZZLE_SPANS)),
        "swizzle_atomicity": ("swizzle_atomicity", len(SWIZZLE_ATOMICITIES)),
        "fill_mode": ("fill", len(FILLS)),
    }

    @property
    def element_type(self) -> str:
        """The element type's word."""
        return ELEMENT_TYPES[self.elemtype][0]

    @property
    def element_bits(self) -> int:
        """Bits of an element in global memory."""
        return ELEMENT_TYPES[self.elemtype][1]

    @property
    def shared_bits(self) -> int:
        """Bits of an element in shared memory, padding counted."""
        return ELEMENT_TYPES[self.elemtype][2]

    @property
    def swizzle_span(self) -> int:
        """The swizzle's span in bytes; 0 without one."""
        return SWIZZLE_SPANS[self.swizzle]

    @property
    def is_im2col(self) -> bool:
        """Whether the map is one for convolutions."""
        return self.pixels_per_column > 0

    def pack(self) -> bytes:
        """The 128 bytes."""
        packed = np.zeros((), PACKED)
        for name in PACKED.names or ():
            packed[name] = self.rank - 1 if name == "rank_minus_one" else getattr(self, name)
        return packed.tobytes()

    @staticmethod
    def unpack(data: bytes | bytearray | memoryview | NDArray[np.uint8]) -> TensorMapFields:
        """The fields in 128 bytes.

        Errors: UsageError when there are not 128 bytes, or a code among them means nothing.
        """
        raw = bytes(data)
        if len(raw) != TENSOR_MAP_BYTES:
            raise UsageError(f"a tensor map is 128 bytes; found {len(raw)}")
        record = np.frombuffer(raw, PACKED)[0]
        values: dict[str, Any] = {
            name: tuple(record[name].tolist()) if record[name].ndim else int(record[name])
            for name in PACKED.names or ()
        }
        values["rank"] = values.pop("rank_minus_one") + 1
        codes = {
            "rank": 6,
            "elemtype": len(ELEMENT_TYPES),
            "interleave": len(INTERLEAVES),
            "swizzle": len(SWIZZLE_SPANS),
            "swizzle_atomicity": len(SWIZZLE_ATOMICITIES),
            "fill": len(FILLS),
            "l2_promotion": len(L2_PROMOTIONS),
        }
        for name, end in codes.items():
            if values[name] >= end:
                raise UsageError(
                    f"these 128 bytes are not a tensor map: the {name} in them is {values[name]}"
                )
        return TensorMapFields(**values)

    def replace(self, field: str, value: int, ordinal: int | None = None) -> TensorMapFields:
        """The map with one field replaced, by the manual's field names and encodings.

        ``rank`` is given minus one; ``box_dim``, ``global_dim``, ``global_stride`` and ``element_stride``
        take the ordinal of the dimension (of the stride) they write.

        Errors: UsageError for another field, a missing or illegal ordinal, or a value that does not fit.
        """
        if field not in self._REPLACEABLE:
            legal = ", ".join(self._REPLACEABLE)
            raise UsageError(f"a tensor map has no field {field!r}; expected {legal}")
        name, end = self._REPLACEABLE[field]
        if not 0 <= value < end:
            raise UsageError(f"{field} of a tensor map cannot be {value}; expected 0 to {end - 1}")
        before: object = getattr(self, name)
        if not isinstance(before, tuple):
            if ordinal is not None:
                raise UsageError(f"{field} of a tensor map takes no ordinal; found {ordinal}")
            return replace(self, **{name: value + 1 if name == "rank" else value})
        entries: list[int] = list(getattr(self, name))
        if ordinal is None or not 0 <= ordinal < len(entries):
            raise UsageError(
                f"{field} of a tensor map takes an ordinal from 0 to {len(entries) - 1}; found {ordinal}"
            )
        entries[ordinal] = value
        return replace(self, **{name: tuple(entries)})

    def validate(self) -> tuple[str, ...]:
        """What is wrong with the map, one sentence each; empty when it can be used.

        Source: CUDA driver API, cuTensorMapEncodeTiled.
        """
        return tuple(_complaints(self))

    def lacking(self, architecture: int) -> tuple[str, ...]:
        """What a GPU of an architecture, 90 for sm_90, lacks to use the map; empty when it can.

        Source: what the driver refuses to make on an H200.
        """
        if self.element_bits < 8 and architecture < 100:
            return (f"elements of {self.element_type} on sm_{architecture}; expected sm_100 or newer",)
        return ()


def _complaints(fields: TensorMapFields) -> list[str]:
    found: list[str] = []

    def expect(holds: bool, what: str, expected: str) -> None:
        if not holds:
            found.append(f"{what}; expected {expected}")

    rank, word, interleave = fields.rank, fields.element_type, INTERLEAVES[fields.interleave]
    expect(1 <= rank <= 5, f"the rank is {rank}", "1 to 5")
    rank = min(max(rank, 1), 5)
    unit = 32 if interleave == 32 or word in _PADDED else 16
    address, span = fields.global_address, fields.swizzle_span
    expect(address % unit == 0, f"the global address is {address:#x}", f"a multiple of {unit}")
    for axis, extent in enumerate(fields.global_dim[:rank]):
        expect(1 <= extent <= 1 << 32, f"{_dimension(axis)} has {extent} elements", "1 to 2^32")
    inner = fields.global_dim[0]
    if word in _PADDED:
        expect(inner % 128 == 0, f"{_dimension(0)} has {inner} elements of {word}", "a multiple of 128")
    elif word == "b4x16":
        expect(inner % 2 == 0, f"{_dimension(0)} has {inner} elements of {word}", "a multiple of 2")
    for axis, stride in enumerate(fields.global_stride[: rank - 1], start=1):
        expect(
            stride % unit == 0 and stride < 1 << 40,
            f"the stride of {_dimension(axis)} is {stride} bytes",
            f"a multiple of {unit} below 2^40",
        )
    if fields.is_im2col:
        found += _column_complaints(fields, rank)
    else:
        for axis, extent in enumerate(fields.box[:rank]):
            expect(1 <= extent <= 256, f"the box has {extent} elements along {_dimension(axis)}", "1 to 256")
    for axis, stride in enumerate(fields.element_stride[:rank]):
        expect(1 <= stride <= 8, f"the element stride of {_dimension(axis)} is {stride}", "1 to 8")
    row = fields.channels_per_pixel if fields.is_im2col else fields.box[0]
    what = "a pixel" if fields.is_im2col else "the box"
    along = "" if fields.is_im2col else f" along {_dimension(0)}"
    inner_bits = row * fields.shared_bits
    if word in _PADDED:
        expect(row == 128, f"{what} has {row} elements of {word}{along}", "128")
    # The driver counts what the strides leave, rounded down.
    counts = (
        max(extent // max(step, 1), 1) for extent, step in zip(fields.box, fields.element_stride[:rank])
    )
    whole = (row * fields.pixels_per_column if fields.is_im2col else prod(counts)) * fields.shared_bits // 8
    all_of = "a column" if fields.is_im2col else "the box"
    expect(whole <= _LARGEST_BOX, f"{all_of} is {whole} bytes", f"at most {_LARGEST_BOX}")
    expect(inner_bits % 128 == 0, f"{what} is {inner_bits / 8:g} bytes{along}", "a multiple of 16")
    if interleave == 0:
        expect(
            span == 0 or inner_bits <= 8 * span,
            f"{what} is {inner_bits / 8:g} bytes{along} with a swizzle of {span} bytes",
            f"at most {span}",
        )
    else:
        expect(rank >= 3, f"the rank is {rank} with an interleave of {interleave} bytes", "3 to 5")
    expect(
        fields.fill == 0 or word in _FLOATS,
        f"elements out of bounds are filled with NaN and are of type {word}",
        f"a type with NaN ({', '.join(_FLOATS)})",
    )
    return found


def _column_complaints(fields: TensorMapFields, rank: int) -> list[str]:
    """What is wrong with the fields that a map for convolutions has and others have not."""
    found: list[str] = []
    if rank < 3:
        found.append(f"the rank of a map for convolutions is {rank}; expected 3 to 5")
    axes = spatial_axes(fields)
    half = 1 << (OFFSET_BITS[max(rank, 3)] - 1)
    for name, corners in (("lower", fields.im2col_lower), ("upper", fields.im2col_upper)):
        found += [
            f"the {name} corner of the pixels is {corner} along {_dimension(axis)}; expected {-half} to {half - 1}"
            for axis, corner in zip(axes, corners)
            if not -half <= corner < half
        ]
    for axis, low, high in zip(axes, fields.im2col_lower, fields.im2col_upper):
        end = fields.global_dim[axis] % (1 << 32) + high  # the driver's own arithmetic
        if low >= end:
            found.append(
                f"the box of pixels reaches from {low} to {end} along {_dimension(axis)}; expected some pixel"
            )
    if not 1 <= fields.channels_per_pixel <= 256:
        found.append(f"a pixel has {fields.channels_per_pixel} channels; expected 1 to 256")
    if not 1 <= fields.pixels_per_column <= 1024:
        found.append(f"a column has {fields.pixels_per_column} pixels; expected 1 to 1024")
    return found


def _dimension(axis: int) -> str:
    return f"dimension {axis}{' (the innermost)' if axis == 0 else ''}"


_WORD_OF_DTYPE = {
    "bool": "u8",
    "int8": "u8",
    "uint8": "u8",
    "int16": "u16",
    "uint16": "u16",
    "int32": "s32",
    "uint32": "u32",
    "int64": "s64",
    "uint64": "u64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bfloat16": "bf16",
}
_WHOLE_BYTE_WORDS = tuple(word for word, bits, _ in ELEMENT_TYPES if bits % 8 == 0)


@dataclass(frozen=True, eq=False)
class TensorMap(Displayed):
    """A tensor map over an array, to be passed to a kernel as its 128-byte parameter.

    Built by ``TensorMap.tiled`` and ``TensorMap.im2col``. It holds the array, so that a launch can place it and
    fill in its address.

    Source: PTX ISA 5.5 (tensors), CUDA driver API (cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col).
    """

    display_kind: ClassVar[str] = "tensor map"

    array: Any
    unplaced: TensorMapFields

    @staticmethod
    def tiled(
        array: Any,
        box: Sequence[int],
        *,
        element_strides: Sequence[int] | None = None,
        interleave: int = 0,
        swizzle: int = 0,
        oob_fill: str = "zero",
        l2_promotion: str | int = "none",
        dtype: str | None = None,
    ) -> TensorMap:
        """A map that copies boxes of an array: NumPy's or, for a launch on a GPU, PyTorch's, CuPy's or JAX's.

        Sizes and strides are the array's own; a strided view will do as long as its last axis is contiguous.
        ``box`` and ``element_strides`` are in the array's axis order, outermost first. ``dtype`` names an
        element type other than the array's own, of the same width ("tf32" over float32).

        An interleaved array has axes (N, C/8, D, H, W, 8), D or D and H left out at will: the last one, of
        ``interleave`` bytes, is a slice of the channels and no dimension of the map, so that ``box`` and
        ``element_strides`` have an entry less. A box has one slice, whatever its entry for them.

        Units: ``box`` in elements, ``interleave`` (0, 16, 32) and ``swizzle`` (0, 32, 64, 128) in bytes;
            ``oob_fill`` is "zero" or "nan", ``l2_promotion`` "none", 64, 128 or 256.
        Errors: UsageError for everything that cuTensorMapEncodeTiled refuses.
        """
        slices = _code("interleave", interleave, INTERLEAVES)
        lies = strided(array)
        rank = _rank_of(lies, slices)
        own = {"box": five(_entries("box", box, rank)[::-1])}
        made = _fields_of(lies, slices, element_strides, swizzle, oob_fill, l2_promotion, dtype, own)
        return TensorMap(array, made)

    @staticmethod
    def im2col(
        array: Any,
        lower_corner: Sequence[int],
        upper_corner: Sequence[int],
        channels_per_pixel: int,
        pixels_per_column: int,
        *,
        element_strides: Sequence[int] | None = None,
        interleave: int = 0,
        swizzle: int = 0,
        oob_fill: str = "zero",
        l2_promotion: str | int = "none",
        dtype: str | None = None,
    ) -> TensorMap:
        """A map that copies columns of pixels of a batch of images, for convolutions.

        The array has axes (N, D, H, W, C), D or D and H left out at will, or if it is interleaved those of
        ``tiled``. The corners, in the array's axis order, move the box of the pixels that a column runs
        through: the lower one from the first position of each axis of an image, the upper one from its last.

        Units: as ``tiled``.
        Errors: UsageError for everything that cuTensorMapEncodeIm2col refuses.
        """
        slices = _code("interleave", interleave, INTERLEAVES)
        lies = strided(array)
        rank = _rank_of(lies, slices)
        if rank < 3:
            raise UsageError(f"a map for convolutions over a tensor of {rank} dimensions; expected 3 to 5")
        corners = {"im2col_lower": lower_corner, "im2col_upper": upper_corner}
        for name, given in (("lower_corner", lower_corner), ("upper_corner", upper_corner)):
            if len(given) != rank - 2:
                raise UsageError(
                    f"{name} has {len(given)} entries for images of {rank - 2} dimensions; expected {rank - 2}"
                )
        if pixels_per_column < 1:
            raise UsageError(f"pixels_per_column is {pixels_per_column}; expected 1 to 1024")
        own: dict[str, Any] = {name: five(given[::-1])[:3] for name, given in corners.items()}
        own |= {"channels_per_pixel": channels_per_pixel, "pixels_per_column": pixels_per_column}
        made = _fields_of(lies, slices, element_strides, swizzle, oob_fill, l2_promotion, dtype, own)
        return TensorMap(array, made)

    def fields(self, global_address: int) -> TensorMapFields:
        """The map once the array's first element has an address.

        Errors: UsageError when the address is not aligned as the map asks.
        """
        placed = replace(self.unplaced, global_address=global_address)
        complaints = placed.validate()
        if complaints:
            raise UsageError(f"the tensor map cannot be placed: {complaints[0]}")
        return placed


def _rank_of(array: Strided, slices: int) -> int:
    """The dimensions of a map over an array, in which slices of channels are no dimension."""
    if not slices:
        if not 1 <= array.ndim <= 5:
            raise UsageError(f"a tensor map over an array of {array.ndim} axes; expected 1 to 5")
        return array.ndim
    if not 4 <= array.ndim <= 6:
        raise UsageError(
            f"a tensor map over an interleaved array of {array.ndim} axes; expected 4 to 6, slices last"
        )
    own, wanted = array.shape[-1] * array.itemsize, INTERLEAVES[slices]
    if own != wanted:
        raise UsageError(
            f"the slices of an array interleaved by {wanted} bytes, its last axis, are {own} bytes"
        )
    return array.ndim - 1


def _entries(what: str, given: Sequence[int], rank: int) -> list[int]:
    if len(given) != rank:
        raise UsageError(f"{what} has {len(given)} entries for {rank} axes; expected {rank}")
    if not all(0 <= entry < 1 << 32 for entry in given):
        raise UsageError(f"{what} is {tuple(given)}; expected positive extents")
    return list(given)


def _fields_of(
    array: Strided,
    slices: int,
    element_strides: Sequence[int] | None,
    swizzle: int,
    oob_fill: str,
    l2_promotion: str | int,
    dtype: str | None,
    own: dict[str, Any],
) -> TensorMapFields:
    """The fields of a map that is not placed yet, `own` being the fields that its mode alone has."""
    rank = _rank_of(array, slices)
    steps = [1] * rank if element_strides is None else _entries("element_strides", element_strides, rank)
    promotion = 0 if l2_promotion == "none" else l2_promotion
    unplaced = TensorMapFields(
        rank=rank,
        global_dim=five(array.shape[rank - 1 :: -1]),
        global_stride=five(_outer_strides(array, rank))[:4],
        element_stride=five(steps[::-1]),
        elemtype=[name for name, _, _ in ELEMENT_TYPES].index(_element_word(array.dtype, dtype)),
        interleave=slices,
        swizzle=_code("swizzle", swizzle, SWIZZLE_SPANS[:4]),
        fill=_code("oob_fill", oob_fill, FILLS),
        l2_promotion=_code("l2_promotion", promotion, L2_PROMOTIONS, ("'none'", 64, 128, 256)),
        **own,
    )
    complaints = unplaced.validate()
    if complaints:
        raise UsageError(f"the tensor map cannot be made: {complaints[0]}")
    return unplaced


def _element_word(array_dtype: np.dtype[Any], asked: str | None) -> str:
    own = _WORD_OF_DTYPE.get(array_dtype.name)
    if (
        own is None
        and array_dtype.itemsize == 1
        and array_dtype.kind not in "SU"
        and array_dtype.names is None
    ):
        own = "u8"
    if own is None and asked is None:
        legal = ", ".join(_WORD_OF_DTYPE)
        raise UsageError(f"a tensor map over elements of {array_dtype}; expected {legal} or 8-bit elements")
    if asked is None:
        return own or ""
    if asked not in _WHOLE_BYTE_WORDS:
        raise UsageError(f"dtype is {asked!r}; expected {', '.join(_WHOLE_BYTE_WORDS)}")
    bits = next(bits for word, bits, _ in ELEMENT_TYPES if word == asked)
    if bits != 8 * array_dtype.itemsize:
        raise UsageError(
            f"dtype is {asked!r}, {bits // 8} bytes wide, over an array of {array_dtype},"
            f" {array_dtype.itemsize} bytes wide; expected the same width"
        )
    return asked


def _outer_strides(array: Strided, rank: int) -> list[int]:
    """Byte strides of every axis that is a dimension of the map but the innermost, innermost first."""
    if array.size == 0:
        raise UsageError(f"a tensor map over an empty array of shape {array.shape}; expected some element")
    pitch = array.itemsize
    for axis in range(array.ndim - 1, rank - 2, -1):
        if array.shape[axis] > 1 and array.strides[axis] != pitch:
            name = "last axis" if axis == array.ndim - 1 else "axis before the slices"
            raise UsageError(
                f"the array's {name} has a stride of {array.strides[axis]} bytes;"
                f" expected a contiguous {name} ({pitch} bytes)"
            )
        pitch *= array.shape[axis]
    outer: list[int] = []
    for axis in range(rank - 2, -1, -1):
        stride = array.strides[axis]
        if stride < 0:
            raise UsageError(
                f"axis {axis} of the array has a stride of {stride} bytes; expected none below 0"
            )
        # An axis of one element is never stepped along, so any legal stride says the same.
        outer.append(-(-stride // 32) * 32 if array.shape[axis] == 1 else stride)
    return outer


def five(values: Sequence[int]) -> tuple[int, ...]:
    """Entries of a field for each dimension, those of dimensions that a map has not 0."""
    return (*(int(value) for value in values), *[0] * (5 - len(values)))


def _code(name: str, value: object, table: tuple[object, ...], shown: tuple[object, ...] = ()) -> int:
    if value not in table:
        legal = ", ".join(str(entry) for entry in shown or table)
        raise UsageError(f"{name} is {value!r}; expected {legal}")
    return table.index(value)
