"""Interceptors that note the PTX of modules, the handles of kernels, and the fields of tensor maps."""

from __future__ import annotations

import hashlib
import os
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError, WarploomError
from warploom.integrations.cuda_driver.device_code import FileImage, file_image, mapped_file
from warploom.integrations.cuda_driver.fat_binary import DeviceCode, PtxEntry, read_image
from warploom.integrations.cuda_driver.linker import PTX as LINKED_PTX
from warploom.integrations.cuda_driver.recording.driver import after, intercept
from warploom.integrations.cuda_driver.recording.program import LoadedKernel, LoadedModule
from warploom.integrations.cuda_driver.statuses import DriverError
from warploom.integrations.cuda_driver.tensor_maps import TENSOR_MAP_READERS
from warploom.layout.tensormap import TENSOR_MAP_BYTES

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.fat_binary import ProgramMemory
    from warploom.integrations.cuda_driver.recording.driver import Interception

_ELF = b"\x7fELF"
_ELF_TABLES = struct.Struct("<QQ")  # offsets of the tables of segments and sections, at byte 32
_ELF_COUNTS = struct.Struct("<HHHH")  # sizes and numbers of their entries, at byte 54
_ELF_HEADER = 64  # bytes
_LARGEST_TABLE = 1 << 30


# Modules ----------------------------------------------------------------------------------------------------------


def _load(call: Interception, image: ProgramMemory, address: int) -> None:
    """Note the module or library that a call has loaded from an address of an image."""
    arguments = call.arguments
    is_library = "library" in arguments
    handle = call.connection.read_word(arguments["library" if is_library else "module"])
    reason, code = "", DeviceCode([])
    place = image.name if isinstance(image, FileImage) else mapped_file(call.program.process, address)
    try:
        if image.read(address, len(_ELF)) == _ELF and (text := _linked_text(call, image, address)) is not None:
            code = DeviceCode([PtxEntry(0, text)])
        else:
            code = read_image(image, address)
    except UsageError as error:
        reason = error.diagnostics[0].message
    call.program.modules[handle] = LoadedModule(handle, is_library, code, place, reason)


@after(
    "cuModuleLoadData cuModuleLoadFatBinary cuModuleLoadDataEx cuLibraryLoadData runtime_load_module "
    "runtime_load_module_with_options runtime_load_fat_binary"
)
def _load_data(call: Interception) -> None:
    _load(call, call.connection, call.arguments["image"])


@after("cuModuleLoad cuLibraryLoadFromFile")
def _load_file(call: Interception) -> None:
    name = call.connection.read_string(call.arguments["name"])
    with suppress(DriverError):
        _load(call, file_image(call.program.process, name), 1)


@after("cuModuleUnload cuLibraryUnload")
def _unload(call: Interception) -> None:
    (handle,) = call.values
    module = call.program.modules.pop(handle, None)
    for key in [key for key, each in call.program.kernels.items() if each.module is module]:
        del call.program.kernels[key]


@after("cuLibraryGetModule")
def _get_module(call: Interception) -> None:
    library = call.program.modules.get(call.arguments["library"])
    if library is not None:
        handle = call.connection.read_word(call.arguments["module"])
        call.program.modules[handle] = replace(library, handle=handle, is_library=False)


@after("cuModuleGetFunction cuLibraryGetKernel")
def _get_kernel(call: Interception) -> None:
    target, handle, name = call.values
    module = call.program.modules.get(handle)
    if module is not None:
        kernel = LoadedKernel(module, call.connection.read_string(name))
        call.program.kernels[call.connection.read_word(target)] = kernel


@after("cuKernelGetFunction")
def _get_function(call: Interception) -> None:
    target, handle = call.values
    if handle in call.program.kernels:
        call.program.kernels[call.connection.read_word(target)] = call.program.kernels[handle]


def kernel_of(call: Interception, handle: int) -> LoadedKernel | None:
    """Return the kernel with a handle, or None if it is unknown.

    A program may also get handles by a list of all kernels of a module.
    """
    found = call.program.kernels.get(handle)
    if found is None:
        name = call.results("cuFuncGetName", 1, lambda out: (*out, handle))
        owner = call.results("cuFuncGetModule", 1, lambda out: (*out, handle))
        if name and owner and name[0] and owner[0] in call.program.modules:
            found = LoadedKernel(call.program.modules[owner[0]], call.connection.read_string(name[0]))
            call.program.kernels[handle] = found
    return found


# Linked code ------------------------------------------------------------------------------------------------------


@after("cuLinkCreate cuLinkCreate_v2")
def _begin_link(call: Interception) -> None:
    call.program.links[call.connection.read_word(call.words[3])] = []


@after("cuLinkAddData_v2 cuLinkAddData")
def _add_link_input(call: Interception) -> None:
    state, kind, data, size = call.words[:4]
    texts = call.program.links.get(state)
    if texts is not None:
        is_text = kind & 0xFFFF_FFFF == LINKED_PTX
        texts.append(call.connection.read(data, size) if is_text else b"")


@after("cuLinkComplete")
def _end_link(call: Interception) -> None:
    state, code, _ = call.words
    texts = call.program.links.get(state, [])
    image = call.connection.read_word(code)
    if len(texts) == 1 and texts[0] and call.connection.read(image, len(_ELF)) == _ELF:
        call.program.linked[_digest(call.connection, image)] = texts[0].rstrip(b"\0")


@after("cuLinkDestroy")
def _forget_link(call: Interception) -> None:
    call.program.links.pop(call.words[0], None)


def _linked_text(call: Interception, image: ProgramMemory, address: int) -> bytes | None:
    """Return the PTX from which GPU code was made, or None if it is unknown.

    The driver has linked the code from a single PTX text, or Triton has compiled it and keeps the text in its cache.
    """
    digest = _digest(image, address)
    found = call.program.linked.get(digest)
    return _triton_text(digest) if found is None else found


def _digest(image: ProgramMemory, address: int) -> bytes:
    """Return a digest of GPU code in the format ELF."""
    header = image.read(address, _ELF_HEADER)
    segments, sections = _ELF_TABLES.unpack_from(header, 32)
    segment_size, segment_count, section_size, section_count = _ELF_COUNTS.unpack_from(header, 54)
    size = max(segments + segment_size * segment_count, sections + section_size * section_count)
    return hashlib.sha256(image.read(address, min(size, _LARGEST_TABLE))).digest()


_known_files: dict[Path, bytes] = {}


def _triton_text(digest: bytes) -> bytes | None:
    """Return the PTX text beside the GPU code with this digest in Triton's cache, or None."""
    folder = Path(os.environ.get("TRITON_CACHE_DIR") or Path.home() / ".triton" / "cache")
    for path in folder.glob("*/*.cubin"):
        with suppress(OSError, struct.error):
            if path not in _known_files:
                _known_files[path] = _digest(FileImage(str(path), path.read_bytes()), 1)
            if _known_files[path] == digest:
                return path.with_suffix(".ptx").read_bytes()
    return None


# Tensor maps ------------------------------------------------------------------------------------------------------


def _encode(call: Interception) -> int:
    values = call.values
    status = call.forward()
    if not status:
        with suppress(DriverError, WarploomError, ValueError, LookupError):
            fields = TENSOR_MAP_READERS[call.symbol](call.connection, values)
            call.program.tensor_maps[call.connection.read(values[0], TENSOR_MAP_BYTES)] = fields
    return status


intercept(" ".join(TENSOR_MAP_READERS))(_encode)


@intercept("cuTensorMapReplaceAddress")
def _replace_address(call: Interception) -> int:
    target, address = call.words
    before = call.connection.read(target, TENSOR_MAP_BYTES) if target else b""
    status = call.forward()
    fields = call.program.tensor_maps.get(before)
    if not status and fields is not None:
        after_call = call.connection.read(target, TENSOR_MAP_BYTES)
        call.program.tensor_maps[after_call] = replace(fields, global_address=address)
    return status


# Captures of streams ----------------------------------------------------------------------------------------------


@after("cuStreamBeginCapture cuStreamBeginCapture_v2 cuStreamBeginCaptureToGraph")
def _begin_stream_capture(call: Interception) -> None:
    call.program.stream_captures += 1


@intercept("cuStreamEndCapture")
def _end_stream_capture(call: Interception) -> int:
    call.program.stream_captures = max(call.program.stream_captures - 1, 0)
    return call.forward()
