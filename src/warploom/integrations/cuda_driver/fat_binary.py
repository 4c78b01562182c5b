"""Device code in the formats that CUDA programs contain: PTX texts, fat binaries and GPU code."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from warploom.diagnostics import UsageError

_WRAPPER, _FAT_BINARY, _ELF = 0x466243B1, 0xBA55ED50, 0x464C457F
_HEADER = struct.Struct("<IHHQ")
_WRAPPED = struct.Struct("<IIQQ")
_ENTRY = struct.Struct("<HHIIIIIIIIIQQQ")
_PTX, _GPU_CODE = 1, 2
_PLAIN_WRAPPER = 1
_LZ4, _ZSTD = 0x2000, 0x8000
_LARGEST = 1 << 30  # bytes
_MACHINE_OFFSET, _CUDA_MACHINE = 18, 190  # field of the header of an ELF file, and its value for GPU code
_SECTIONS_OFFSET, _SECTIONS = 40, struct.Struct("<6xHHH")  # fields of the header of an ELF file
_SECTION = struct.Struct("<IIQQQQ24x")
_KERNEL_SECTION = b".text."


class ProgramMemory(Protocol):
    """Memory of a CUDA program."""

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes at an address."""
        ...

    def read_string(self, address: int, limit: int) -> str:
        """Return the string at an address, of at most `limit` bytes."""
        ...


class InvalidImage(UsageError):
    """Refusal of data that is not device code."""


@dataclass
class PtxEntry:
    """PTX of a fat binary.

    `number` is 10 times the compute capability of its target, such as 90, without a suffix. It is 0 for a PTX text
    outside of a fat binary. `content` is compressed as `flags` state, and has `size` bytes without compression.
    """

    number: int
    content: bytes
    flags: int = 0
    size: int = 0

    @property
    def is_text(self) -> bool:
        """True for a PTX text outside of a fat binary."""
        return not self.number

    @cached_property
    def text(self) -> str:
        """PTX text. Errors: UsageError exec.image."""
        return _decompressed(self.content, self.flags, self.size).rstrip(b"\0").decode(errors="replace")


class _Section(NamedTuple):
    """Section of an ELF file. `name` is the position of its name in the section of names."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int


class DeviceCode(NamedTuple):
    """PTX of a module, and a description of its GPU code.

    `targets` are 10 times the compute capabilities of the GPU code of a fat binary. `kernels` are the kernels of GPU
    code outside of a fat binary.
    """

    ptx: list[PtxEntry]
    targets: frozenset[int] = frozenset()
    kernels: tuple[str, ...] = ()


def read_image(program: ProgramMemory, address: int) -> DeviceCode:
    """Return the device code at an address of the program.

    The device code is a PTX text, a fat binary, the wrapper of a fat binary, or GPU code.

    Errors: UsageError exec.image for code of several files and for damaged code; InvalidImage for other data.
    """
    (magic,) = struct.unpack("<I", program.read(address, 4))
    if magic == _WRAPPER:
        _, version, data, _ = _WRAPPED.unpack(program.read(address, _WRAPPED.size))
        if version != _PLAIN_WRAPPER:
            raise UsageError(
                "the program contains code that its linker combined from several files (-rdc=true), which is not "
                "implemented",
                code="exec.image",
            )
        (magic,) = struct.unpack("<I", program.read(data, 4))
        if magic != _FAT_BINARY:
            raise InvalidImage("the wrapper of a fat binary contains no fat binary", code="exec.image")
        return read_image(program, data)
    if magic == _FAT_BINARY:
        _, _, size, length = _HEADER.unpack(program.read(address, _HEADER.size))
        if length > _LARGEST:
            raise UsageError(f"a fat binary has {length} bytes; expected at most {_LARGEST}", code="exec.image")
        return _read_entries(program, address + size, length)
    if magic == _ELF:
        if struct.unpack("<H", program.read(address + _MACHINE_OFFSET, 2)) != (_CUDA_MACHINE,):
            raise InvalidImage("a module is an ELF file of another machine", code="exec.image")
        return DeviceCode([], kernels=tuple(_kernels(program, address)))
    text = program.read_string(address, _LARGEST)
    if ".version" not in text:
        raise InvalidImage("a module is neither PTX nor a fat binary", code="exec.image")
    return DeviceCode([PtxEntry(0, text.encode())])


def _kernels(program: ProgramMemory, address: int) -> Iterator[str]:
    """Yield the names of the kernels of GPU code."""
    (offset,) = struct.unpack("<Q", program.read(address + _SECTIONS_OFFSET, 8))
    size, count, names = _SECTIONS.unpack(program.read(address + _SECTIONS_OFFSET + 12, _SECTIONS.size))
    if size != _SECTION.size or names >= count:
        return
    data = program.read(address + offset, size * count)
    sections = [_Section._make(each) for each in _SECTION.iter_unpack(data)]
    strings = sections[int(names)]
    text = program.read(address + strings.offset, min(strings.size, _LARGEST))
    for section in sections:
        found = text[section.name :].partition(b"\0")[0]
        if found.startswith(_KERNEL_SECTION):
            yield found.removeprefix(_KERNEL_SECTION).decode(errors="replace")


def _read_entries(program: ProgramMemory, first: int, length: int) -> DeviceCode:
    """Return the code of a fat binary whose entries are `length` bytes from an address on."""
    ptx: list[PtxEntry] = []
    targets: set[int] = set()
    position = 0
    while position + _ENTRY.size <= length:
        found = _ENTRY.unpack(program.read(first + position, _ENTRY.size))
        kind, _, header, size, _, compressed, _, _, number, _, _, flags, _, plain = found
        start = position + header
        if not header:
            raise UsageError("a fat binary is damaged: an entry has no header", code="exec.image")
        if kind == _GPU_CODE:
            targets.add(number)
        if kind == _PTX:
            if plain > _LARGEST:
                raise UsageError(
                    f"PTX of a fat binary has {plain} bytes; expected at most {_LARGEST}", code="exec.image"
                )
            end = min(start + (compressed or size), length)
            ptx.append(PtxEntry(number, program.read(first + start, max(end - start, 0)), flags, plain))
        position = start + size
    return DeviceCode(ptx, frozenset(targets))


def _decompressed(content: bytes, flags: int, size: int) -> bytes:
    if not flags & (_LZ4 | _ZSTD):
        return content
    try:
        if flags & _ZSTD:
            import zstandard

            return zstandard.ZstdDecompressor().decompress(content, max_output_size=size)
        block: Any = import_module("lz4.block")
        return block.decompress(content, uncompressed_size=size)
    except ImportError as error:
        raise UsageError(
            f"the PTX of the program is compressed; expected the Python package {error.name}",
            code="exec.image",
            hint="pip install 'warploom[exec]'",
        ) from None
    except Exception as error:  # noqa: BLE001 -- each package has its own class of errors
        raise UsageError(f"compressed PTX of a fat binary is damaged: {error}", code="exec.image") from None
