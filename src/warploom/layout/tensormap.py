"""Tensor maps: their fields, the rules for the fields, and tensor maps over arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.display import Displayed
from warploom.layout.strided import Strided, strided
from warploom.lazy_dataclass import dataclass

TENSOR_MAP_BYTES = 128
TENSOR_MAP_ALIGN = 64
"""Alignment of a tensor map in memory. Units: bytes."""

ELEMENT_TYPES = (
    ("u8", 8, 8), ("u16", 16, 16), ("u32", 32, 32), ("s32", 32, 32), ("u64", 64, 64), ("s64", 64, 64),
    ("f16", 16, 16), ("f32", 32, 32), ("f32.ftz", 32, 32), ("f64", 64, 64), ("bf16", 16, 16), ("tf32", 32, 32),
    ("tf32.ftz", 32, 32), ("b4x16", 4, 4), ("b4x16_p64", 4, 8), ("b6x16_p32", 6, 8),
)  # fmt: skip
"""Element types with their bits in global memory and in shared memory. The index is the code."""
INTERLEAVES = (0, 16, 32)
SWIZZLE_SPANS = (0, 32, 64, 128, 96)
SWIZZLE_ATOMICITIES = ("16B", "32B", "32B with 8B flip", "64B")
FILLS = ("zero", "nan")
L2_PROMOTIONS = (0, 64, 128, 256)

# Number of codes of each field that holds one.
_CODES = {
    "elemtype": len(ELEMENT_TYPES),
    "interleave": len(INTERLEAVES),
    "swizzle": len(SWIZZLE_SPANS),
    "swizzle_atomicity": len(SWIZZLE_ATOMICITIES),
    "fill": len(FILLS),
    "l2_promotion": len(L2_PROMOTIONS),
}
# Layout of the 128 bytes in the emulator. The layout of the hardware is not published, so programs cannot rely on one.
# All zeros are an empty map of rank 1.
PACKED = np.dtype(
    [
        ("global_address", "<u8"),
        ("global_dim", "<u8", 5),
        ("global_stride", "<u8", 4),
        ("box", "<u4", 5),
        ("element_stride", "u1", 5),
        *((name, "u1") for name in ("rank_minus_one", *_CODES)),
        ("im2col_lower", "<i2", 3),
        ("im2col_upper", "<i2", 3),
        ("channels_per_pixel", "<u2"),
        ("pixels_per_column", "<u2"),
    ]
)
_FLOATS = ("f16", "f32", "f32.ftz", "f64", "bf16", "tf32", "tf32.ftz")
_LARGEST_BOX = 228 * 1024  # the shared memory of an SM
_PADDED = ("b4x16_p64", "b6x16_p32")
_OFFSET_BITS = {3: 16, 4: 8, 5: 5}
"""Width in bits of a corner of the bounding box and of a filter offset of an im2col map, by rank."""


# Field that a kernel can replace -> field of `TensorMapFields`, and the number of values that fit.
_REPLACEABLE = {
    "global_address": ("global_address", 1 << 64),
    "rank": ("rank", 5),
    "box_dim": ("box", 1 << 32),
    "global_dim": ("global_dim", 1 << 32),
    "global_stride": ("global_stride", 1 << 64),
    "element_stride": ("element_stride", 256),
    "elemtype": ("elemtype", _CODES["elemtype"]),
    "interleave_layout": ("interleave", _CODES["interleave"]),
    "swizzle_mode": ("swizzle", _CODES["swizzle"]),
    "swizzle_atomicity": ("swizzle_atomicity", _CODES["swizzle_atomicity"]),
    "fill_mode": ("fill", _CODES["fill"]),
}


@dataclass(frozen=True, slots=True)
class TensorMapFields:
    """Fields of a tensor map. Tuples list the dimensions from the innermost to the outermost.

    `elemtype`, `interleave`, `swizzle`, `swizzle_atomicity`, `fill` and `l2_promotion` are indices into the tables of
    this module. `box` belongs to a tiled map. `im2col_lower`, `im2col_upper`, `channels_per_pixel` and
    `pixels_per_column` belong to an im2col map.

    Units: `global_address` and `global_stride` in bytes, where `global_stride[i]` is the stride of dimension i + 1.
        `global_dim` and `box` in elements.
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

    @property
    def element_type(self) -> str:
        """Name of the element type."""
        return ELEMENT_TYPES[self.elemtype][0]

    @property
    def element_bits(self) -> int:
        """Width of an element in global memory. Units: bits."""
        return ELEMENT_TYPES[self.elemtype][1]

    @property
    def shared_bits(self) -> int:
        """Width of an element in shared memory, with its padding. Units: bits."""
        return ELEMENT_TYPES[self.elemtype][2]

    @property
    def swizzle_span(self) -> int:
        """Span of the swizzle in bytes, 0 without a swizzle."""
        return SWIZZLE_SPANS[self.swizzle]

    @property
    def is_im2col(self) -> bool:
        """True for an im2col map."""
        return self.pixels_per_column > 0

    @property
    def spatial_axes(self) -> range:
        """Numbers of the spatial dimensions of an im2col map, W first."""
        # Dimension 0 has the channels, unless the tensor is interleaved.
        first = 0 if self.interleave else 1
        return range(first, first + self.rank - 2)

    @property
    def offset_bits(self) -> int:
        """Width of one im2col corner entry or filter offset. Units: bits."""
        return _OFFSET_BITS[max(self.rank, 3)]

    def pack(self) -> bytes:
        """Return the map as 128 bytes for the emulator."""
        packed = np.zeros((), PACKED)
        for name in PACKED.names or ():
            packed[name] = self.rank - 1 if name == "rank_minus_one" else getattr(self, name)
        return packed.tobytes()

    @staticmethod
    def unpack(data: bytes | bytearray | memoryview | NDArray[np.uint8]) -> TensorMapFields:
        """Return the fields in 128 bytes from `pack`.

        Errors: UsageError for another number of bytes, and for an unknown code.
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
        for name, end in {"rank": 6, **_CODES}.items():
            if values[name] >= end:
                raise UsageError(f"the 128 bytes are not a tensor map: their {name} is {values[name]}")
        return TensorMapFields(**values)

    def replace(self, field: str, value: int, ordinal: int | None = None) -> TensorMapFields:
        """Return the map with one field replaced.

        `field` and `value` are as in the PTX instruction that replaces a field. The value for `rank` is the rank minus
        one. `ordinal` is the index of the replaced entry in `box_dim`, `global_dim`, `global_stride` or
        `element_stride`.

        Errors: UsageError for an unknown field, for a missing or illegal ordinal, and for a value that does not fit.
        """
        if field not in _REPLACEABLE:
            legal = ", ".join(_REPLACEABLE)
            raise UsageError(f"a tensor map has no field {field!r}; expected {legal}")
        name, end = _REPLACEABLE[field]
        if not 0 <= value < end:
            raise UsageError(f"{field} of a tensor map cannot be {value}; expected 0 to {end - 1}")
        before: object = getattr(self, name)
        if not isinstance(before, tuple):
            if ordinal is not None:
                raise UsageError(f"{field} of a tensor map takes no ordinal; found {ordinal}")
            return replace(self, **{name: value + 1 if name == "rank" else value})
        entries: list[int] = list(getattr(self, name))
        if ordinal is None or not 0 <= ordinal < len(entries):
            raise UsageError(f"{field} of a tensor map takes an ordinal from 0 to {len(entries) - 1}; found {ordinal}")
        entries[ordinal] = value
        return replace(self, **{name: tuple(entries)})

    def validate(self) -> tuple[str, ...]:
        """Return one sentence for each rule that the map violates.

        Source: CUDA driver API, cuTensorMapEncodeTiled.
        """
        return tuple(_errors(self))


def _errors(fields: TensorMapFields) -> list[str]:
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
        _check_im2col(fields, rank, expect)
    else:
        for axis, extent in enumerate(fields.box[:rank]):
            expect(1 <= extent <= 256, f"the box has {extent} elements along {_dimension(axis)}", "1 to 256")
    for axis, stride in enumerate(fields.element_stride[:rank]):
        expect(1 <= stride <= 8, f"the element stride of {_dimension(axis)} is {stride}", "1 to 8")
    atomicity = SWIZZLE_ATOMICITIES[fields.swizzle_atomicity]
    what = f"the swizzle atomicity is {atomicity} with a swizzle of {span} bytes"
    expect(fields.swizzle_atomicity == 0 or span == 128, what, "16B")
    row = fields.channels_per_pixel if fields.is_im2col else fields.box[0]
    what = "a pixel" if fields.is_im2col else "the box"
    along = "" if fields.is_im2col else f" along {_dimension(0)}"
    inner_bits = row * fields.shared_bits
    if word in _PADDED:
        expect(row == 128, f"{what} has {row} elements of {word}{along}", "128")
    # The driver divides the box by the element strides, rounded down.
    counts = (max(extent // max(step, 1), 1) for extent, step in zip(fields.box, fields.element_stride[:rank]))
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


def _check_im2col(fields: TensorMapFields, rank: int, expect: Callable[[bool, str, str], None]) -> None:
    expect(rank >= 3, f"the rank of an im2col map is {rank}", "3 to 5")
    axes, half = fields.spatial_axes, 1 << (fields.offset_bits - 1)
    for name, corners in (("lower", fields.im2col_lower), ("upper", fields.im2col_upper)):
        for axis, corner in zip(axes, corners):
            what = f"the {name} corner of the bounding box is {corner} along {_dimension(axis)}"
            expect(-half <= corner < half, what, f"{-half} to {half - 1}")
    for axis, low, high in zip(axes, fields.im2col_lower, fields.im2col_upper):
        end = fields.global_dim[axis] % (1 << 32) + high  # the arithmetic of the driver
        expect(low < end, f"the bounding box is {low} to {end} along {_dimension(axis)}", "at least one pixel")
    expect(1 <= fields.channels_per_pixel <= 256, f"a pixel has {fields.channels_per_pixel} channels", "1 to 256")
    expect(1 <= fields.pixels_per_column <= 1024, f"a column has {fields.pixels_per_column} pixels", "1 to 1024")


def _dimension(axis: int) -> str:
    return f"dimension {axis}{' (the innermost)' if axis == 0 else ''}"


_TYPE_OF_DTYPE = {
    "bool": "u8", "int8": "u8", "uint8": "u8", "int16": "u16", "uint16": "u16", "int32": "s32", "uint32": "u32",
    "int64": "s64", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16",
}  # fmt: skip
TYPE_BITS = {word: bits for word, bits, _ in ELEMENT_TYPES}
_SUB_BYTE_TYPES = tuple(word for word, bits in TYPE_BITS.items() if bits % 8)


@dataclass(frozen=True, eq=False)
class TensorMap(Displayed):
    """Tensor map over an array: a launch argument for a 128-byte parameter.

    `TensorMap.tiled` and `TensorMap.im2col` create a map. `template` has all fields except the address. A launch adds
    the address of `array`.

    Source: PTX ISA 5.5 (tensors), CUDA driver API (cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col).
    """

    display_kind: ClassVar[str] = "tensor map"

    array: Any
    template: TensorMapFields

    @staticmethod
    def tiled(
        array: Any,
        box: Sequence[int],
        *,
        element_strides: Sequence[int] | None = None,
        interleave: int = 0,
        swizzle: int = 0,
        swizzle_atomicity: str = "16B",
        oob_fill: str = "zero",
        l2_promotion: str | int = "none",
        dtype: str | None = None,
    ) -> TensorMap:
        """Return a tensor map that copies boxes of an array of NumPy, PyTorch, CuPy or JAX.

        The last axis of the array must be contiguous. `box` and `element_strides` have one entry for each axis,
        outermost first. Elements out of bounds read as `oob_fill`, "zero" or "nan". `l2_promotion` is "none", 64, 128
        or 256. `dtype` selects another element type of the same width, such as "tf32" for an array of float32. An array
        of bytes may contain packed elements: "b4x16", or "b4x16_p64" and "b6x16_p32", which a load pads to 16 bytes for
        each 16 elements. `swizzle_atomicity` is "16B", or "32B", "32B with 8B flip" or "64B" with a swizzle of 128
        bytes.

        An interleaved array has the axes (N, slices, D, H, W, channels). D, or D and H, may be missing. The channels of
        a slice take `interleave` bytes. `box` and `element_strides` have no entry for the last axis. A box has one
        slice, so its entry for slices is ignored.

        Units: `box` in elements; `interleave` (0, 16, 32), `swizzle` (0, 32, 64, 96, 128) and `l2_promotion` in bytes.
        Errors: UsageError for everything that cuTensorMapEncodeTiled refuses.
        """
        source = _Source.of(array, interleave)
        own = {"box": pad_to_five(_entries("box", box, source.rank)[::-1])}
        return TensorMap(
            array, source.fields(element_strides, (swizzle, swizzle_atomicity), oob_fill, l2_promotion, dtype, own)
        )

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
        swizzle_atomicity: str = "16B",
        oob_fill: str = "zero",
        l2_promotion: str | int = "none",
        dtype: str | None = None,
    ) -> TensorMap:
        """Return a tensor map that copies columns of pixels of a batch of images, for convolutions.

        A column has `pixels_per_column` pixels with `channels_per_pixel` channels each. The axes of the array are (N,
        D, H, W, C). D, or D and H, may be missing. The two corners bound the pixels at which a column may begin. They
        have one entry for each of D, H and W: `lower_corner` counts from the first position of the axis, `upper_corner`
        from the last. `tiled` describes the keyword arguments.

        Errors: UsageError for everything that cuTensorMapEncodeIm2col refuses.
        """
        source = _Source.of(array, interleave)
        rank = source.rank
        if rank < 3:
            raise UsageError(f"the tensor of an im2col map has {rank} dimensions; expected 3 to 5")
        corners = {"im2col_lower": lower_corner, "im2col_upper": upper_corner}
        for name, given in (("lower_corner", lower_corner), ("upper_corner", upper_corner)):
            if len(given) != rank - 2:
                raise UsageError(
                    f"{name} has {len(given)} entries for images of {rank - 2} dimensions; expected {rank - 2}"
                )
        if pixels_per_column < 1:
            raise UsageError(f"pixels_per_column is {pixels_per_column}; expected 1 to 1024")
        own: dict[str, Any] = {name: pad_to_five(given[::-1])[:3] for name, given in corners.items()}
        own |= {"channels_per_pixel": channels_per_pixel, "pixels_per_column": pixels_per_column}
        return TensorMap(
            array, source.fields(element_strides, (swizzle, swizzle_atomicity), oob_fill, l2_promotion, dtype, own)
        )

    def fields(self, global_address: int) -> TensorMapFields:
        """Return the fields of the map for an array at the device address `global_address`.

        Errors: UsageError if the address does not have the alignment that the map requires.
        """
        found = replace(self.template, global_address=global_address)
        if errors := found.validate():
            raise UsageError(f"the tensor map cannot be placed: {errors[0]}")
        return found


@dataclass(frozen=True, slots=True)
class _Source:
    """Array under a tensor map. `rank` is the number of dimensions of the map."""

    array: Strided
    interleave: int  # the code
    rank: int

    @staticmethod
    def of(array: Any, interleave: int) -> _Source:
        code = _code("interleave", interleave, INTERLEAVES)
        found = strided(array)
        if not code:
            if not 1 <= found.ndim <= 5:
                raise UsageError(f"the array of a tensor map has {found.ndim} axes; expected 1 to 5")
            return _Source(found, code, found.ndim)
        if not 4 <= found.ndim <= 6:
            raise UsageError(f"an interleaved array has {found.ndim} axes; expected 4 to 6 with the channels last")
        width = found.shape[-1] * found.itemsize
        if width != interleave:
            raise UsageError(
                f"the last axis of an array interleaved by {interleave} bytes is {width} bytes; expected {interleave}"
            )
        # The last axis, a slice of channels, is no dimension of the map.
        return _Source(found, code, found.ndim - 1)

    def fields(
        self,
        element_strides: Sequence[int] | None,
        swizzle: tuple[int, str],
        oob_fill: str,
        l2_promotion: str | int,
        dtype: str | None,
        own: dict[str, Any],
    ) -> TensorMapFields:
        """Return the fields of a map without an address.

        `swizzle` is its span and atomicity, and `own` has the fields of the tiled or im2col mode.
        """
        rank = self.rank
        steps = [1] * rank if element_strides is None else _entries("element_strides", element_strides, rank)
        promotion = 0 if l2_promotion == "none" else l2_promotion
        element = _element_type(self.array.dtype, dtype)
        extents = [*self.array.shape[rank - 1 :: -1]]
        if element in _SUB_BYTE_TYPES:  # the array has bytes
            extents[0] = extents[0] * 8 // TYPE_BITS[element]
        found = TensorMapFields(
            rank=rank,
            global_dim=pad_to_five(extents),
            global_stride=pad_to_five(self.outer_strides())[:4],
            element_stride=pad_to_five(steps[::-1]),
            elemtype=[name for name, _, _ in ELEMENT_TYPES].index(element),
            interleave=self.interleave,
            swizzle=_code("swizzle", swizzle[0], SWIZZLE_SPANS),
            swizzle_atomicity=_code("swizzle_atomicity", swizzle[1], SWIZZLE_ATOMICITIES),
            fill=_code("oob_fill", oob_fill, FILLS),
            l2_promotion=_code("l2_promotion", promotion, L2_PROMOTIONS, ("'none'", 64, 128, 256)),
            **own,
        )
        if errors := found.validate():
            raise UsageError(f"the tensor map cannot be made: {errors[0]}")
        return found

    def outer_strides(self) -> list[int]:
        """Return the strides of all dimensions except the innermost, innermost first. Units: bytes."""
        array = self.array
        if array.size == 0:
            raise UsageError(f"the array of a tensor map has shape {array.shape}; expected at least one element")
        pitch = array.itemsize
        for axis in range(array.ndim - 1, self.rank - 2, -1):
            if array.shape[axis] > 1 and array.strides[axis] != pitch:
                name = "last axis" if axis == array.ndim - 1 else "axis before the slices"
                raise UsageError(
                    f"the array's {name} has a stride of {array.strides[axis]} bytes;"
                    f" expected a contiguous {name} ({pitch} bytes)"
                )
            pitch *= array.shape[axis]
        outer: list[int] = []
        for axis in range(self.rank - 2, -1, -1):
            stride = array.strides[axis]
            if stride < 0:
                raise UsageError(f"axis {axis} of the array has a stride of {stride} bytes; expected at least 0")
            # A map never steps along an axis of one element, so its stride is rounded up to a legal one.
            outer.append(-(-stride // 32) * 32 if array.shape[axis] == 1 else stride)
        return outer


def _entries(what: str, given: object, rank: int) -> list[int]:
    entries: list[Any] = list(cast("Iterable[Any]", given)) if isinstance(given, Iterable) else [None]
    if not all(isinstance(entry, (int, np.integer)) for entry in entries):
        raise UsageError(f"{what} is {given!r}; expected a sequence of integers")
    if len(entries) != rank:
        raise UsageError(f"{what} has {len(entries)} entries for {rank} axes; expected {rank}")
    if not all(0 <= entry < 1 << 32 for entry in entries):
        raise UsageError(f"{what} is {tuple(entries)}; expected positive extents")
    return entries


def _element_type(array_dtype: np.dtype[Any], requested: str | None) -> str:
    own = _TYPE_OF_DTYPE.get(array_dtype.name)
    if own is None and array_dtype.itemsize == 1 and array_dtype.kind not in "SU" and array_dtype.names is None:
        own = "u8"
    if requested is None and own is not None:
        return own
    if requested is None:
        legal = ", ".join(_TYPE_OF_DTYPE)
        raise UsageError(f"the array of a tensor map has elements of {array_dtype}; expected {legal} or 8-bit elements")
    if requested not in TYPE_BITS:
        raise UsageError(f"dtype is {requested!r}; expected {', '.join(TYPE_BITS)}")
    bits = 8 if requested in _SUB_BYTE_TYPES else TYPE_BITS[requested]
    if bits != 8 * array_dtype.itemsize:
        raise UsageError(
            f"dtype {requested!r} has {bits // 8} bytes, but the array's type {array_dtype} has {array_dtype.itemsize};"
            " expected the same width"
        )
    return requested


def pad_to_five(values: Sequence[int]) -> tuple[int, ...]:
    """Return `values`, padded with zeros to five entries."""
    return (*(int(value) for value in values), *[0] * (5 - len(values)))


def _code(name: str, value: object, table: tuple[object, ...], shown: tuple[object, ...] = ()) -> int:
    if value not in table:
        legal = ", ".join(str(entry) for entry in shown or table)
        raise UsageError(f"{name} is {value!r}; expected {legal}")
    return table.index(value)
