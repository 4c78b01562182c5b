"""64-bit shared-memory matrix descriptors."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.display import Displayed
from warploom.layout.element_map import read_only
from warploom.layout.maps import TYPE_BITS
from warploom.layout.shared import SharedMap
from warploom.layout.swizzle import swizzle as swizzle_address
from warploom.layout.swizzle import swizzle_text
from warploom.lazy_dataclass import dataclass

_ADDRESS_FIELDS = {"start_address": 0, "leading_byte_offset": 16, "stride_byte_offset": 32}  # name -> lowest bit
_SWIZZLE_CODE = {0: 0, 128: 1, 64: 2, 32: 3}
_SWIZZLE_OF_CODE = {code: mode for mode, code in _SWIZZLE_CODE.items()}
_ADDRESS_LIMIT = 1 << 18

# Fifth generation: (span, atom) of the swizzle in bytes -> code.
_UMMA_CODE = {(0, 16): 0, (128, 32): 1, (128, 16): 2, (64, 16): 4, (32, 16): 6}
_UMMA_OF_CODE = {code: mode for mode, code in _UMMA_CODE.items()}
_UMMA_CONSTANT = 1 << 46
_UMMA_CONSTANT_MASK = 0b1111_1111 << 53 | 0b111 << 46
_UMMA_RESERVED = 0b11 << 14 | 0b11 << 30
_ABSOLUTE = 1 << 52
_SUB_BYTE_FLOATS = {"e2m1": 4, "e2m3": 6, "e3m2": 6}


@dataclass(frozen=True, slots=True)
class Descriptor(Displayed):
    """Matrix descriptor of a warpgroup multiplication (wgmma).

    Bits 13-0 hold the start address, bits 29-16 the leading byte offset, and bits 45-32 the stride byte offset. These
    three are stored divided by 16. Bits 51-49 hold the base offset, and bits 63-62 the swizzle code (0: none, 1: 128,
    2: 64, 3: 32).

    Units: bytes; `swizzle` is the width of the swizzle pattern: 0 (none), 32, 64 or 128.
    Errors: UsageError for a field that does not fit its bits.
    Source: PTX ISA 9.7.15 (matrix descriptor format).
    """

    display_kind: ClassVar[str] = "descriptor"
    _mn_major_elements: ClassVar[str] = "16-bit elements"

    start_address: int
    leading_byte_offset: int
    stride_byte_offset: int
    base_offset: int = 0
    swizzle: int = 0

    def __post_init__(self) -> None:
        for name in _ADDRESS_FIELDS:
            value = getattr(self, name)
            if not 0 <= value < _ADDRESS_LIMIT or value % 16:
                raise UsageError(
                    f"the descriptor's {name.replace('_', ' ')} is {value};"
                    f" expected a multiple of 16 from 0 to {_ADDRESS_LIMIT - 16}"
                )
        if not 0 <= self.base_offset <= 7:
            raise UsageError(f"the descriptor's base offset is {self.base_offset}; expected 0 to 7")
        if self.swizzle not in _SWIZZLE_CODE:
            raise UsageError(f"the descriptor's swizzle is {self.swizzle} bytes; expected 0, 32, 64 or 128")

    def encode(self) -> int:
        """Return the descriptor as a 64-bit value."""
        value = self.base_offset << 49 | _SWIZZLE_CODE[self.swizzle] << 62
        for name, low in _ADDRESS_FIELDS.items():
            value |= getattr(self, name) >> 4 << low
        return value

    @staticmethod
    def decode(value: int) -> Descriptor:
        """Return the descriptor that a 64-bit value encodes. Unused bits are ignored."""
        if not isinstance(value, (int, np.integer)) or not 0 <= value < 1 << 64:
            raise UsageError(f"{value!r} is not a matrix descriptor; expected an unsigned 64-bit value")
        addresses = {name: (value >> low & 0x3FFF) << 4 for name, low in _ADDRESS_FIELDS.items()}
        return Descriptor(**addresses, base_offset=value >> 49 & 7, swizzle=_SWIZZLE_OF_CODE[value >> 62])

    def addresses(self, rows: int, k: int, element_bytes: int, major: str = "K") -> NDArray[np.int32]:
        """Return the shared-memory address of every element of a tile, after the swizzle.

        Shapes: (rows, k); `rows` is M for A and N for B.
        Units: bytes from the start of the CTA's shared memory.
        Errors: UsageError for a major without a canonical layout for this swizzle and element size.
        """
        self._check_major(element_bytes, major)
        offsets = matrix_addresses(
            self.leading_byte_offset, self.stride_byte_offset, self.swizzle,
            rows=rows, k=k, element_bytes=element_bytes, major=major, depth=self.atom_depth,
        )  # fmt: skip
        return self._swizzled(offsets + np.int32(self.start_address))

    def tile(self, rows: int, k: int, element: str, major: str = "K", *, padded: bool = True) -> SharedMap:
        """Return the shared-memory map of the tile at this descriptor.

        `element` is an element type such as "f16", and `major` is "K" or "MN". With `padded`, every 16 elements of 4 or
        6 bits take 16 bytes. Otherwise they are consecutive.

        Shapes: (rows, k); `rows` is M for A and N for B, `k` the number of stored elements of a row.
        Errors: UsageError for an element type or a major without a canonical layout.
        """
        bits = self._element_bits(element)
        if bits >= 8:
            at = 8 * self.addresses(rows, k, bits // 8, major).astype(np.int64)
        elif major == "MN":
            raise UsageError(f"a tile of {element} elements is MN-major; expected {self._mn_major_elements}")
        else:
            item = np.arange(k, dtype=np.int64)
            within = item // 16 * 128 + item % 16 * bits if padded and bits > 1 else item * bits
            byte = self.addresses(rows, (int(within[-1]) + bits + 7) // 8, 1).astype(np.int64)
            at = 8 * byte[:, within >> 3] + (within & 7)
        read_only(at)
        name = f"tile {rows}x{k} {element} from byte {self.start_address}"
        return SharedMap(name, f"({rows},K{k}) -> byte, {major}-major, {self._swizzle_text}", rows, k, bits, at)

    @property
    def atom_depth(self) -> int:
        """Extent of a swizzle atom of an MN-major tile along K. Units: elements."""
        return 8

    @property
    def _swizzle_text(self) -> str:
        return swizzle_text(self.swizzle)

    def _check_major(self, element_bytes: int, major: str) -> None:
        if major == "MN" and element_bytes != 2:
            raise UsageError(
                f"a tile of {8 * element_bytes}-bit elements is MN-major; expected {self._mn_major_elements}"
            )

    def _swizzled(self, addresses: NDArray[np.int32]) -> NDArray[np.int32]:
        return swizzle_address(addresses, self.swizzle, self.base_offset)

    def _element_bits(self, element: str) -> int:
        bits = TYPE_BITS.get(element)
        if bits is None or bits == 4:
            legal = ", ".join(word for word, width in TYPE_BITS.items() if width != 4)
            raise UsageError(f"no descriptor describes a tile of {element!r} elements; expected {legal}")
        return bits


@dataclass(frozen=True, slots=True)
class UmmaDescriptor(Descriptor):
    """Matrix descriptor of a multiplication into tensor memory (tcgen05).

    The fields up to the base offset have the same bits as in `Descriptor`. Bits 48-46 are 0b001. Bits 63-61 hold the
    swizzle code (0: none, 1: 128 with atoms of 32 bytes, 2: 128, 4: 64, 6: 32). `atom` is the number of bytes that the
    swizzle moves together: 32 for MN-major tiles of 32-bit elements, otherwise 16. `absolute` is bit 52: the leading
    byte offset is then the shared address of the chunks that would leave their line of 128 bytes.

    Units: bytes; `swizzle` is the width of the swizzle pattern: 0 (none), 32, 64 or 128.
    Errors: UsageError for a field that does not fit its bits, and for `absolute` without the swizzle of 128 bytes.
    Source: PTX ISA 9.7.16.4.1, 9.7.16.3, 9.7.16.10.6.
    """

    _mn_major_elements: ClassVar[str] = "elements of 8 bits or more"

    atom: int = 16
    absolute: bool = False

    def __post_init__(self) -> None:
        Descriptor.__post_init__(self)
        if (self.swizzle, self.atom) not in _UMMA_CODE:
            raise UsageError(
                f"unknown swizzle of {self.swizzle} bytes in atoms of {self.atom};"
                " expected atoms of 16, or of 32 in 128 bytes"
            )
        if self.absolute and ((self.swizzle, self.atom) != (128, 16) or self.base_offset):
            raise UsageError(
                "the leading offset is an absolute address (bit 52) in a descriptor with a swizzle of"
                f" {self.swizzle} bytes and base offset {self.base_offset}; expected 128 bytes in atoms of 16, and 0"
            )

    def encode(self) -> int:
        """Return the descriptor as a 64-bit value."""
        fields = Descriptor.encode(self) & ~(3 << 62)
        return fields | _UMMA_CONSTANT | _UMMA_CODE[self.swizzle, self.atom] << 61 | _ABSOLUTE * self.absolute

    @staticmethod
    def decode(value: int) -> UmmaDescriptor:
        """Return the descriptor that a 64-bit value encodes.

        Errors: UsageError for wrong constant bits, for bits of no field, for an unknown swizzle, and for an illegal
            absolute address.
        """
        shared = Descriptor.decode(value & ~(3 << 62) if isinstance(value, int) and value >= 0 else value)
        if value & _UMMA_CONSTANT_MASK != _UMMA_CONSTANT:
            raise UsageError(f"{value:#x} is no tcgen05 matrix descriptor; expected 0b001 in bits 48-46 and 0 in 60-53")
        if value & _UMMA_RESERVED:
            raise UsageError(f"{value:#x} is no tcgen05 matrix descriptor; expected 0 in bits 15-14 and 31-30")
        if value >> 61 not in _UMMA_OF_CODE:
            raise UsageError(f"the swizzle in bits 63-61 is {value >> 61}; expected 0, 1, 2, 4 or 6")
        swizzle, atom = _UMMA_OF_CODE[value >> 61]
        addresses = {name: getattr(shared, name) for name in _ADDRESS_FIELDS}
        absolute = bool(value & _ABSOLUTE)
        return UmmaDescriptor(
            **addresses, base_offset=shared.base_offset, swizzle=swizzle, atom=atom, absolute=absolute
        )

    def chunks(self, rows: int, k: int, element: str, major: str = "K", *, padded: bool = True) -> NDArray[np.int64]:
        """Return the offset of each 16-byte chunk of a tile from the start address, before the swizzle.

        The parameters are those of `tile`. Shapes: (rows, chunks) if K-major, or (K, chunks) if MN-major.
        Errors: UsageError for an element type or a major without a canonical layout.
        """
        bits = self._element_bits(element)
        self._check_major(bits // 8 or 1, major)
        if bits < 8:
            if major == "MN":
                raise UsageError(f"a tile of {element} elements is MN-major; expected {self._mn_major_elements}")
            bits = 8 if padded else bits
        rows, k = (rows, k * bits // 128) if major == "K" else (rows * bits // 128, k)
        table = matrix_addresses(
            self.leading_byte_offset, self.stride_byte_offset, self.swizzle,
            rows=rows, k=k, element_bytes=16, major=major, depth=self.atom_depth,
        )  # fmt: skip
        return np.ascontiguousarray(table if major == "K" else table.T, np.int64)

    @property
    def exchange(self) -> tuple[int, int]:
        """Mask and shift of the swizzle.

        The bits `mask` of the number of a 128-byte line are combined by exclusive or with the address bits from `shift`
        on.
        """
        return (3, 5) if self.atom == 32 else ({0: 0, 32: 1, 64: 3, 128: 7}[self.swizzle], 4)

    @staticmethod
    def packed(rows: int, k: int, element: str, *, swizzle: int = 0, major: str = "K") -> UmmaDescriptor:
        """Return the descriptor of a tile at address 0 without gaps between its swizzle atoms.

        Shapes: (rows, k); `rows` is M for A and N for B, `k` the number of stored elements of a row.
        Errors: UsageError for an unknown swizzle.
        """
        has_wide_atoms = major == "MN" and TYPE_BITS.get(element) == 32
        if has_wide_atoms and swizzle != 128:
            raise UsageError(f"the swizzle of an MN-major tile of {element} elements is {swizzle} bytes; expected 128")
        return _packed(UmmaDescriptor(0, 0, 0, 0, swizzle, 32 if has_wide_atoms else 16), rows, k, major)

    @property
    def atom_depth(self) -> int:
        """Extent of a swizzle atom of an MN-major tile along K. Units: elements."""
        return 4 if self.atom == 32 else 8

    @property
    def _swizzle_text(self) -> str:
        return swizzle_text(self.swizzle) + (" in atoms of 32" if self.atom == 32 else "")

    def _check_major(self, element_bytes: int, major: str) -> None:
        has_wide_atoms = self.atom == 32
        if major == "MN" and has_wide_atoms != (element_bytes == 4):
            expected = "128 bytes in atoms of 32" if element_bytes == 4 else "atoms of 16 bytes"
            raise UsageError(
                f"a tile of {8 * element_bytes}-bit elements is MN-major; expected a swizzle of {expected}"
            )
        if major == "K" and has_wide_atoms:
            raise UsageError("the tile is K-major with a swizzle in atoms of 32 bytes; expected an MN-major tile")

    def _swizzled(self, addresses: NDArray[np.int32]) -> NDArray[np.int32]:
        if self.atom == 16:
            return swizzle_address(addresses, self.swizzle, self.base_offset)
        # Bits 6-5 become their exclusive or with bits 8-7.
        return addresses ^ (((addresses >> 7) - self.base_offset & 3) << 5)

    def _element_bits(self, element: str) -> int:
        return _SUB_BYTE_FLOATS.get(element) or Descriptor._element_bits(self, element)


def descriptor(
    rows: int, k: int, element: str, *, swizzle: int = 0, major: str = "K", start_address: int = 0
) -> Descriptor:
    """Return the descriptor of a wgmma tile without gaps between its core matrices.

    Shapes: (rows, k); `rows` is M for A and N for B, `k` the number of stored elements of a row.
    Units: bytes; `swizzle` is the width of the swizzle pattern: 0 (none), 32, 64 or 128.
    Errors: UsageError for a tile without a canonical layout, and for a start address that is no multiple of 16.
    Source: PTX ISA 9.7.15 (strides, canonical layouts).
    """
    found = _packed(Descriptor(start_address, 0, 0, 0, swizzle), rows, k, major)
    found.tile(rows, k, element, major)  # raises if the tile has no canonical layout
    return found


_D = TypeVar("_D", bound=Descriptor)


def _packed(found: _D, rows: int, k: int, major: str) -> _D:
    """Return a copy of the descriptor `found` with the byte offsets of a densely packed tile."""
    # K-major: ((8,m),(span,j)) : ((span,SBO),(1,LBO)), all of m within j.
    # MN-major: ((span,m),(8,k)) : ((1,LBO),(span,SBO)), all of k within m; without a swizzle ((1,SBO),(16,LBO)).
    depth = found.atom_depth
    group = depth * (found.swizzle or 16)
    leading, stride = -(-(rows if major == "K" else k) // depth) * group, group
    if major != "K" and not found.swizzle:
        leading, stride = stride, leading
    return replace(found, leading_byte_offset=leading, stride_byte_offset=stride)


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
    depth: int = 8,
) -> NDArray[np.int32]:
    """Return the byte offset of every element from the start of a tile, before the swizzle.

    The tile has the canonical layout for `major`, "K" or "MN". `depth` is the `atom_depth` of the descriptor. The
    result is read-only.

    Shapes: (rows, k).
    Errors: UsageError for an unknown swizzle or major.
    Source: PTX ISA 9.7.15 (strides, canonical layouts).
    """
    if swizzle not in _SWIZZLE_CODE:
        raise UsageError(f"the descriptor's swizzle is {swizzle} bytes; expected 0, 32, 64 or 128")
    if major not in ("K", "MN"):
        raise UsageError(f"the major of a tile is {major!r}; expected 'K' or 'MN'")
    # Consecutive bytes of a row (K-major), or of a column along M or N (MN-major).
    span = swizzle or 16
    row = np.arange(rows, dtype=np.int32)[:, None]
    at_k = np.arange(k, dtype=np.int32)[None, :]
    if major == "K":
        # (M,K): ((8,m),(span,j)) : ((span,SBO),(1,LBO)), in bytes
        byte, group, along, across = at_k * element_bytes, row, leading_byte_offset, stride_byte_offset
        depth = 8
    else:
        # (MN,K): ((span,m),(depth,k)) : ((1,LBO),(span,SBO)), without a swizzle ((1,SBO),(16,LBO)), in bytes
        byte, group, along, across = row * element_bytes, at_k, leading_byte_offset, stride_byte_offset
        if not swizzle:
            along, across = across, along
    offsets = byte % span + byte // span * along + group % depth * span + group // depth * across
    read_only(offsets)
    return offsets
