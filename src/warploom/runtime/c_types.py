"""Layouts of C types, as gcc and nvcc choose them on 64-bit hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from warploom.diagnostics import UsageError
from warploom.isa.model.parameters import aligned
from warploom.layout.tensormap import TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES
from warploom.lazy_dataclass import dataclass
from warploom.runtime.dtypes import INSTALLED, dtype_named

LARGEST = 32764
"""Bytes of the largest parameter block of a kernel."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """Number type. `name` is its name in messages. Units: bytes."""

    name: str
    dtype: np.dtype[Any]
    align: int

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Pointer:
    """Pointer, or an address of 64 bits. `name` is the name of the type in messages."""

    name: str = "void *"
    size: int = 8
    align: int = 8


@dataclass(frozen=True, slots=True)
class Opaque:
    """Bytes without a known structure, such as a tensor map. Units: bytes."""

    name: str
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class Array:
    """Array of `count` elements."""

    element: CType
    count: int

    @property
    def name(self) -> str:
        """Name in messages, such as `float[2][3]`."""
        return f"{_innermost(self).name}{''.join(f'[{n}]' for n in _extents(self))}"

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.count * self.element.size

    @property
    def align(self) -> int:
        """Alignment in bytes."""
        return self.element.align


@dataclass(frozen=True, slots=True)
class Member:
    """Member of a structure or a union. An anonymous structure or union has the name "".

    Units: `offset` in bytes.
    """

    name: str
    type: CType
    offset: int


@dataclass(frozen=True, slots=True)
class Record:
    """Structure or union. Units: `size` and `align` in bytes."""

    name: str
    members: tuple[Member, ...]
    size: int
    align: int
    is_union: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the members. The names in an anonymous member replace it."""
        return [name for name, _ in members_of(self)]


CType: TypeAlias = Scalar | Pointer | Opaque | Array | Record


def members_of(kind: Record) -> Iterator[tuple[str, CType]]:
    """Yield the names and types of the members. The members of an anonymous member replace it."""
    for member in kind.members:
        if member.name:
            yield member.name, member.type
        elif isinstance(member.type, Record):
            yield from members_of(member.type)


def names_of(member: Member) -> Iterator[str]:
    """Yield the name of a member, or the names inside an anonymous member."""
    if member.name:
        yield member.name
    elif isinstance(member.type, Record):
        yield from member.type.names


def _innermost(kind: CType) -> CType:
    while isinstance(kind, Array):
        kind = kind.element
    return kind


def _extents(kind: CType) -> Iterator[int]:
    while isinstance(kind, Array):
        yield kind.count
        kind = kind.element


class TooLarge(UsageError):
    """Refusal of a type that is larger than the parameters of a kernel can be."""


def array_of(element: CType, extents: Sequence[int]) -> CType:
    """Return an array type. `extents` are outermost first. Errors: TooLarge."""
    for count in reversed(extents):
        if count * element.size > LARGEST:
            raise TooLarge(
                f"an array of {count} elements of {element.size} bytes is larger than the parameters of a kernel; "
                f"expected at most {LARGEST} bytes",
                code="launch.argument",
            )
        element = Array(element, count)
    return element


def record(name: str, members: Iterable[tuple[str, CType, int]], *, is_union: bool = False, align: int = 1) -> Record:
    """Return a structure or union with the layout of gcc.

    Each member is a name, a type and the alignment of the member. `align` is the least alignment of the whole.

    Errors: TooLarge.
    """
    placed: list[Member] = []
    end = size = 0
    for label, kind, own in members:
        start = 0 if is_union else aligned(end, own)
        placed.append(Member(label, kind, start))
        end, align = start + kind.size, max(align, own)
        size = max(size, end)
    size = aligned(size, align)
    if size > LARGEST:
        raise TooLarge(
            f"{name} has {size} bytes; the parameters of a kernel have at most {LARGEST} bytes", code="launch.argument"
        )
    return Record(name, tuple(placed), size, align, is_union)


# Named types ------------------------------------------------------------------------------------------------------


def _scalar(name: str, dtype: object) -> Scalar:
    found: np.dtype[Any] = np.dtype(dtype)  # type: ignore[call-overload]
    return Scalar(name, found, found.itemsize)


_WORDS = {
    "bool": "?", "char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2",
    "int": "i4", "unsigned int": "u4", "long": "i8", "unsigned long": "u8", "long long": "i8",
    "unsigned long long": "u8", "float": "f4", "double": "f8",
}  # fmt: skip
_EXTENSIONS = {
    "nv_bfloat16": "bfloat16", "__nv_bfloat16": "bfloat16", "bfloat16_t": "bfloat16", "__bf16": "bfloat16",
    "__nv_fp8_e4m3": "float8_e4m3fn", "float_e4m3_t": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2", "float_e5m2_t": "float8_e5m2",
}  # fmt: skip
_NAMES: dict[str, object] = {
    **{f"{'u' * (kind == 'u')}int{8 * size}_t": f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)},
    "size_t": "u8", "ssize_t": "i8", "ptrdiff_t": "i8", "intptr_t": "i8", "uintptr_t": "u8", "uint": "u4",
    "cuuint32_t": "u4", "cuuint64_t": "u8", "CUdeviceptr": "u8", "cudaTextureObject_t": "u8", "CUtexObject": "u8",
    "cudaSurfaceObject_t": "u8", "half": "f2", "__half": "f2", "half_t": "f2", "_Float16": "f2",
    "tfloat32_t": "f4",
    **{name: dtype_named(element) for name, element in _EXTENSIONS.items() if INSTALLED},
}  # fmt: skip
_VECTORS = {
    "char": "char", "uchar": "unsigned char", "short": "short", "ushort": "unsigned short", "int": "int",
    "uint": "unsigned int", "long": "long", "ulong": "unsigned long", "longlong": "long long",
    "ulonglong": "unsigned long long", "float": "float", "double": "double",
}  # fmt: skip


def _vector(name: str, element: Scalar, axes: str, align: int) -> Record:
    return record(name, [(axis, element, element.align) for axis in axes], align=align)


def _vectors() -> Iterator[Record]:
    for word, base in _VECTORS.items():
        element = _scalar(base, _WORDS[base])
        for count in range(1, 5):
            align = element.size * (count if count in (2, 4) else 1)
            yield _vector(f"{word}{count}", element, "xyzw"[:count], min(align, 16))
    yield _vector("dim3", _scalar("unsigned int", "u4"), "xyz", 4)
    for base in ("half", "__half", "nv_bfloat16", "__nv_bfloat16"):
        if base in _NAMES:
            yield _vector(f"{base}2", _scalar(base, _NAMES[base]), "xy", 4)


BASIC: dict[str, CType] = {name: _scalar(name, dtype) for name, dtype in _WORDS.items()}
"""Types that keywords of C name, by their keywords in the usual order."""
NAMED: dict[str, CType] = {
    **{name: _scalar(name, dtype) for name, dtype in _NAMES.items()},
    **{vector.name: vector for vector in _vectors()},
    "CUtensorMap": Opaque("CUtensorMap", TENSOR_MAP_BYTES, TENSOR_MAP_ALIGN),
}
"""Types by the names that C and CUDA headers give them."""
