"""The 64-bit shared-memory matrix descriptor and the addresses it stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from warploom.diagnostics import UsageError
from warploom.display import Displayed
from warploom.layout.maps import TYPE_BITS
from warploom.layout.shared import SharedMap, swizzle_words
from warploom.layout.swizzle import swizzle as swizzle_address

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SWIZZLE_CODE = {0: 0, 128: 1, 64: 2, 32: 3}
_SWIZZLE_OF_CODE = {code: mode for mode, code in _SWIZZLE_CODE.items()}
_REACH = 1 << 18

# Of the fifth generation: span and atom of the swizzle, both in bytes.
_UMMA_CODE = {(0, 16): 0, (128, 32): 1, (128, 16): 2, (64, 16): 4, (32, 16): 6}
_UMMA_OF_CODE = {code: mode for mode, code in _UMMA_CODE.items()}
_UMMA_MARK = 1 << 46
_UMMA_FIXED = 0b1111_1111 << 53 | 0b111 << 46
_ABSOLUTE = 1 << 52
_WIDTHS = {"e2m1": 4, "e2m3": 6, "e3m2": 6}


@dataclass(frozen=True, slots=True)
class Descriptor(Displayed):
    """A matrix descriptor, field by field.

    Bits 13-0 hold the start address, 29-16 the leading byte offset and 45-32 the stride byte offset, each
    divided by 16; 51-49 the base offset; 63-62 the swizzle (0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes).

    Units: bytes; ``swizzle`` is the span, 0, 32, 64 or 128.
    Errors: UsageError when a field does not fit its bits.
    Source: PTX ISA 9.7.15 (matrix descriptor format).
    """

    display_kind: ClassVar[str] = "descriptor"

    start_address: int
    leading_byte_offset: int
    stride_byte_offset: int
    base_offset: int = 0
    swizzle: int = 0

    def __post_init__(self) -> None:
        for name in ("start_address", "leading_byte_offset", "stride_byte_offset"):
            value = getattr(self, name)
            if not 0 <= value < _REACH or value % 16:
                raise UsageError(
                    f"the descriptor's {name.replace('_', ' ')} is {value};"
                    f" expected a multiple of 16 from 0 to {_REACH - 16}"
                )
        if not 0 <= self.base_offset <= 7:
            raise UsageError(f"the descriptor's base offset is {self.base_offset}; expected 0 to 7")
        if self.swizzle not in _SWIZZLE_CODE:
            raise UsageError(f"the descriptor's swizzle is {self.swizzle} bytes; expected 0, 32, 64 or 128")

    def encode(self) -> int:
        """The 64-bit value."""
        return (
            self.start_address >> 4
            | self.leading_byte_offset >> 4 << 16
            | self.stride_byte_offset >> 4 << 32
            | self.base_offset << 49
            | _SWIZZLE_CODE[self.swizzle] << 62
        )

    @staticmethod
    def decode(value: int) -> Descriptor:
        """The fields of a 64-bit value; bits that belong to no field are ignored, as the hardware does."""
        if not 0 <= value < 1 << 64:
            raise UsageError(f"{value} is not a matrix descriptor; expected an unsigned 64-bit value")
        return Descriptor(
            (value & 0x3FFF) << 4,
            (value >> 16 & 0x3FFF) << 4,
            (value >> 32 & 0x3FFF) << 4,
            value >> 49 & 7,
            _SWIZZLE_OF_CODE[value >> 62],
        )

    def addresses(self, rows: int, k: int, element_bytes: int, major: str = "K") -> NDArray[np.int32]:
        """The shared-memory address of every element of a tile, swizzle and all.

        Shapes: (rows, k); ``rows`` is M for A and N for B.
        Units: bytes from the start of the CTA's shared memory.
        """
        offsets = matrix_addresses(
            self.leading_byte_offset,
            self.stride_byte_offset,
            self.swizzle,
            rows=rows,
            k=k,
            element_bytes=element_bytes,
            major=major,
        )
        return swizzle_address(offsets + np.int32(self.start_address), self.swizzle, self.base_offset)

    def tile(self, rows: int, k: int, element: str, major: str = "K") -> SharedMap:
        """What is read of shared memory: the place of every element of a tile.

        Shapes: (rows, k); ``rows`` is M for A and N for B, ``k`` the elements of a row as they are stored.
        Errors: UsageError for an element type or a major that has no canonical layout.
        """
        bits = _bits_of(element)
        if bits >= 8:
            byte = self.addresses(rows, k, bits // 8, major)
        elif major == "MN":
            raise UsageError(f"a tile of {bits}-bit elements is MN-major; expected 16-bit elements")
        else:
            byte = self.addresses(rows, k * bits // 8, 1, major).repeat(8 // bits, axis=1)
        within = np.arange(k, dtype=np.int64) * bits % 8 if bits < 8 else 0
        at = 8 * byte.astype(np.int64) + within
        at.flags.writeable = False
        words = f"{major}-major, {swizzle_words(self.swizzle)}"
        name = f"tile {rows}x{k} {element} from byte {self.start_address}"
        return SharedMap(name, f"({rows},K{k}) -> byte, {words}", rows, k, bits, at)


@dataclass(frozen=True, slots=True)
class UmmaDescriptor(Descriptor):
    """A matrix descriptor of the fifth generation, field by field.

    The offsets and the base offset are where they are in a ``Descriptor``; bits 48-46 are 0b001, and 63-61 hold
    the swizzle (0 none, 1 128 bytes in atoms of 32, 2 128 bytes, 4 64 bytes, 6 32 bytes). ``atom`` is what a
    swizzle moves as a whole: 16 bytes, or 32 for MN-major tiles of 32-bit elements.

    Units: bytes; ``swizzle`` is the span, 0, 32, 64 or 128.
    Errors: UsageError when a field does not fit its bits.
    Source: PTX ISA 9.7.16.4.1, 9.7.16.3, 9.7.16.10.6.
    """

    atom: int = 16

    def __post_init__(self) -> None:
        Descriptor.__post_init__(self)
        if (self.swizzle, self.atom) not in _UMMA_CODE:
            raise UsageError(
                f"there is no swizzle of {self.swizzle} bytes in atoms of {self.atom};"
                " expected atoms of 16, or of 32 in 128 bytes"
            )

    def encode(self) -> int:
        """The 64-bit value."""
        fields = Descriptor.encode(self) & ~(3 << 62)
        return fields | _UMMA_MARK | _UMMA_CODE[self.swizzle, self.atom] << 61

    @staticmethod
    def decode(value: int) -> UmmaDescriptor:
        """The fields of a 64-bit value.

        Errors: UsageError for bits that are not what they always are, an absolute leading offset and a swizzle
            that there is not.
        """
        shared = Descriptor.decode(value & ~(3 << 62) if value >= 0 else value)
        if value & _UMMA_FIXED != _UMMA_MARK:
            raise UsageError(
                f"{value:#x} is no descriptor of the fifth generation; expected 0b001 in bits 48-46 and 0 in 60-53"
            )
        if value & _ABSOLUTE:
            raise UsageError(
                f"{value:#x} has an absolute address for its leading offset (bit 52); expected a relative one"
            )
        if value >> 61 not in _UMMA_OF_CODE:
            raise UsageError(f"the swizzle in bits 63-61 is {value >> 61}; expected 0, 1, 2, 4 or 6")
        swizzle, atom = _UMMA_OF_CODE[value >> 61]
        return UmmaDescriptor(
            shared.start_address,
            shared.leading_byte_offset,
            shared.stride_byte_offset,
            shared.base_offset,
            swizzle,
            atom,
        )

    @staticmethod
    def packed(rows: int, k: int, element: str, *, swizzle: int = 0, major: str = "K") -> UmmaDescriptor:
        """The descriptor of a tile at address 0 without gaps between its atoms.

        MN-major tiles of 32-bit elements are in atoms of 32 bytes.

        Shapes: (rows, k); ``rows`` is M for A and N for B, ``k`` the elements of a row as they are stored.
        Errors: UsageError for a swizzle that there is not.
        """
        is_coarse = major == "MN" and TYPE_BITS.get(element) == 32
        if is_coarse and swizzle != 128:
            raise UsageError(
                f"an MN-major tile of {element} elements is swizzled by 128 bytes; the swizzle is {swizzle}"
            )
        made = UmmaDescriptor(0, 0, 0, 0, swizzle, 32 if is_coarse else 16)
        leading, stride = _packed_offsets(rows, k, swizzle, major, depth=4 if is_coarse else 8)
        return replace(made, leading_byte_offset=leading, stride_byte_offset=stride)

    def addresses(self, rows: int, k: int, element_bytes: int, major: str = "K") -> NDArray[np.int32]:
        """The shared-memory address of every element of a tile, swizzle and all.

        Shapes: (rows, k); ``rows`` is M for A and N for B.
        Units: bytes from the start of the CTA's shared memory.
        Errors: UsageError for a major that the swizzle or the size of the elements does not go with.
        """
        is_coarse = self.atom == 32
        if major == "MN" and is_coarse != (element_bytes == 4):
            expected = "128 bytes in atoms of 32" if element_bytes == 4 else "atoms of 16 bytes"
            raise UsageError(
                f"a tile of {8 * element_bytes}-bit elements is MN-major; expected a swizzle of {expected}"
            )
        if major == "K" and is_coarse:
            raise UsageError("a swizzle in atoms of 32 bytes is for MN-major tiles; this one is K-major")
        offsets = _offsets(
            self.leading_byte_offset,
            self.stride_byte_offset,
            self.swizzle,
            rows=rows,
            k=k,
            element_bytes=element_bytes,
            major=major,
            depth=4 if is_coarse else 8,
        )
        placed = offsets + np.int32(self.start_address)
        if is_coarse:
            # Bits 6-5 become themselves xor bits 8-7.
            return placed ^ (((placed >> 7) - self.base_offset & 3) << 5)
        return swizzle_address(placed, self.swizzle, self.base_offset)

    def tile(self, rows: int, k: int, element: str, major: str = "K", *, padded: bool = True) -> SharedMap:
        """What is read of shared memory: the place of every element of a tile.

        ``padded`` floats of 6 and 4 bits lie side by side in sixteens, each of which fills 16 bytes.

        Shapes: (rows, k); ``rows`` is M for A and N for B, ``k`` the elements of a row as they are stored.
        Errors: UsageError for an element type or a major that has no canonical layout.
        """
        bits = _WIDTHS.get(element) or _bits_of(element)
        if major == "MN":
            if bits < 8:
                raise UsageError(
                    f"a tile of {element} elements is MN-major; expected elements of 8 bits or more"
                )
            at = 8 * self.addresses(rows, k, bits // 8, major).astype(np.int64)
        else:
            item = np.arange(k, dtype=np.int64)
            within = item // 16 * 128 + item % 16 * bits if padded and bits < 8 else item * bits
            byte = self.addresses(rows, (int(within[-1]) + bits + 7) // 8, 1, major).astype(np.int64)
            at = 8 * byte[:, within >> 3] + (within & 7)
        at.flags.writeable = False
        words = f"{major}-major, {swizzle_words(self.swizzle)}" + (
            " in atoms of 32" if self.atom == 32 else ""
        )
        name = f"tile {rows}x{k} {element} from byte {self.start_address}"
        return SharedMap(name, f"({rows},K{k}) -> byte, {words}", rows, k, bits, at)


def descriptor(
    rows: int, k: int, element: str, *, swizzle: int = 0, major: str = "K", start_address: int = 0
) -> Descriptor:
    """The descriptor of a tile that is packed without gaps between its core matrices.

    K-major, all rows of the first span come first, then those of the next; MN-major all k of the first span.

    Shapes: (rows, k); ``rows`` is M for A and N for B, ``k`` the elements of a row as they are stored.
    Units: bytes; ``swizzle`` is the span, 0, 32, 64 or 128.
    Errors: UsageError for what has no canonical layout, and for a start address that is no multiple of 16.
    Source: PTX ISA 9.7.15 (strides, canonical layouts).
    """
    made = Descriptor(start_address, 0, 0, 0, swizzle)
    leading, stride = _packed_offsets(rows, k, swizzle, major)
    placed = replace(made, leading_byte_offset=leading, stride_byte_offset=stride)
    placed.tile(rows, k, element, major)  # refuses what has no layout
    return placed


def _packed_offsets(rows: int, k: int, swizzle: int, major: str, depth: int = 8) -> tuple[int, int]:
    """The leading and the stride byte offset of a tile without gaps, whose atoms are `depth` spans."""
    # K-major: ((8,m),(span,j)) : ((span,SBO),(1,LBO)), all of m within j.
    # MN-major: ((span,m),(8,k)) : ((1,LBO),(span,SBO)), all of k within m; without a swizzle ((1,SBO),(16,LBO)).
    group = depth * (swizzle or 16)
    if major == "K":
        return -(-rows // depth) * group, group
    beyond = -(-k // depth) * group
    return (beyond, group) if swizzle else (group, beyond)


def _bits_of(element: str) -> int:
    bits = TYPE_BITS.get(element)
    if bits is None or bits == 4:
        legal = ", ".join(word for word, width in TYPE_BITS.items() if width != 4)
        raise UsageError(f"no descriptor is of a tile of {element!r} elements; expected {legal}")
    return bits


@cache
def matrix_addresses(
    leading_byte_offset: int,
    stride_byte_offset: int,
    swizzle: int,
    *,
    rows: int,
    k: int,
    element_bytes: int,
    major: str = "K",
) -> NDArray[np.int32]:
    """Unswizzled byte offsets, from a descriptor's start address, of the elements of a canonical tile.

    K-major: core matrices of 8 rows by 16 bytes. Rows lie one span apart (16 bytes without a swizzle), groups
    of 8 rows one stride byte offset apart; 16-byte chunks along K lie side by side within a span and one
    leading byte offset apart beyond it (always so without a swizzle).
    MN-major (16-bit elements): spans along MN, one leading byte offset apart; k lie one span apart in groups
    of 8, the groups one stride byte offset apart. Without a swizzle the two offsets change places.

    The swizzle is applied after the start address is added (``swizzle.swizzle``). The result is shared and
    read-only.

    Shapes: (rows, k).
    Errors: UsageError for a swizzle, an element size or a major that has no canonical layout.
    Source: PTX ISA 9.7.15 (strides, canonical layouts).
    """
    if swizzle not in _SWIZZLE_CODE:
        raise UsageError(f"the descriptor's swizzle is {swizzle} bytes; expected 0, 32, 64 or 128")
    if major == "MN" and element_bytes != 2:
        raise UsageError(f"a tile of {8 * element_bytes}-bit elements is MN-major; expected 16-bit elements")
    offsets = _offsets(
        leading_byte_offset,
        stride_byte_offset,
        swizzle,
        rows=rows,
        k=k,
        element_bytes=element_bytes,
        major=major,
    )
    offsets.flags.writeable = False
    return offsets


def _offsets(
    leading_byte_offset: int,
    stride_byte_offset: int,
    swizzle: int,
    *,
    rows: int,
    k: int,
    element_bytes: int,
    major: str,
    depth: int = 8,
) -> NDArray[np.int32]:
    """Unswizzled byte offsets of a canonical tile, MN-major in atoms of `depth` k."""
    span = swizzle or 16
    row = np.arange(rows, dtype=np.int32)[:, None]
    at_k = np.arange(k, dtype=np.int32)[None, :]
    if major == "K":
        # (M,K): ((8,m),(span,j)) : ((span,SBO),(1,LBO)), in bytes
        byte = at_k * element_bytes
        return (
            row % 8 * span + row // 8 * stride_byte_offset + byte % span + byte // span * leading_byte_offset
        )
    if major == "MN":
        # (MN,K): ((span,m),(8,k)) : ((1,LBO),(span,SBO)), without a swizzle ((1,SBO),(16,LBO)), in bytes
        along, across = (
            (leading_byte_offset, stride_byte_offset)
            if swizzle
            else (stride_byte_offset, leading_byte_offset)
        )
        byte = row * element_bytes
        return byte % span + byte // span * along + at_k % depth * span + at_k // depth * across
    raise UsageError(f"the major of a tile is {major!r}; expected 'K' or 'MN'")
