"""Device code in the formats that CUDA programs contain: PTX texts, fat binaries and GPU code."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

from warploom.diagnostics import UsageError

_WRAPPER, _FAT_BINARY, _ELF = 0x466243B1, 0xBA55ED50, 0x464C457F
_HEADER = struct.Struct("<IHHQ")
_WRAPPED = struct.Struct("<IIQQ")
_ENTRY = struct.Struct("<HHIIIIIIIIIQQQ")
_PTX = 1
_PLAIN_WRAPPER = 1
_LZ4, _ZSTD = 0x2000, 0x8000
_LARGEST = 1 << 30  # bytes
_MACHINE_OFFSET, _CUDA_MACHINE = 18, 190  # field of the header of an ELF file, and its value for GPU code
BUILD_HINT = "build the program with PTX, for example with -gencode arch=compute_90a,code=compute_90a"


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


def read_image(program: ProgramMemory, address: int) -> list[PtxEntry]:
    """Return the PTX entries of the device code at an address of the program.

    The device code is a PTX text, which gives one entry, a fat binary, or the wrapper of a fat binary.

    Errors: UsageError exec.image for code without PTX; InvalidImage for other data.
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
        return [*_ptx_entries(program, address + size, length)]
    if magic == _ELF:
        if struct.unpack("<H", program.read(address + _MACHINE_OFFSET, 2)) != (_CUDA_MACHINE,):
            raise InvalidImage("a module is an ELF file of another machine", code="exec.image")
        raise UsageError("a module contains GPU code (SASS) and no PTX", code="exec.image", hint=BUILD_HINT)
    text = program.read_string(address, _LARGEST)
    if ".version" not in text:
        raise InvalidImage("a module is neither PTX nor a fat binary", code="exec.image")
    return [PtxEntry(0, text.encode())]


def _ptx_entries(program: ProgramMemory, first: int, length: int) -> Iterator[PtxEntry]:
    """Yield the PTX entries of a fat binary whose entries are `length` bytes from an address on."""
    position = 0
    while position + _ENTRY.size <= length:
        found = _ENTRY.unpack(program.read(first + position, _ENTRY.size))
        kind, _, header, size, _, compressed, _, _, number, _, _, flags, _, plain = found
        start = position + header
        if not header:
            raise UsageError("a fat binary is damaged: an entry has no header", code="exec.image")
        if kind == _PTX:
            if plain > _LARGEST:
                raise UsageError(
                    f"PTX of a fat binary has {plain} bytes; expected at most {_LARGEST}", code="exec.image"
                )
            end = min(start + (compressed or size), length)
            yield PtxEntry(number, program.read(first + start, max(end - start, 0)), flags, plain)
        position = start + size


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
