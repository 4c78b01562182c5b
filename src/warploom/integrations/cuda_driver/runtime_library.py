"""Functions that only NVIDIA's runtime library calls."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.contexts import retain_primary
from warploom.integrations.cuda_driver.devices import DRIVER_VERSION, identity
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import Context, DriverCall

_KEY = bytes.fromhex("146addae53a9a752aa0841360bf55a9f")
_PERMUTATION = bytes.fromhex(
    "292e43c9a2d87c013d3654a1ecf0061362a705f3c0c7738c98932bd9bc4c82ca1e9b573cfdd4e01667426f188a17e512"
    "be4ec4d6da9ede49a0fbf58ebb2fee7aa968799115b2073f94c210890b225f21807f5d9a5a903227353ecce7bff79703"
    "ff1930b348a5b5d1d75e922aac56aac64fb838d296a47db676fc6be29c7404f1459d705964718720865bcf65e62da802"
    "1b6025adaeb0b9f61c46616934407e0f5547a323dd51af3ac35cf9cebac5ea262c530d6e85288409d3dfcdf441814d52"
    "6adc37c86cc1abfa24e17b080cbdb14a7888958be363e86de9cbd5fe3b001d39f2efb70e6658d0e4a67772f8eb754b0a"
    "314450b48fed1f1adb998d339f118314"
)
"""Permutation of the bytes in MD2. Source: RFC 1319."""
_FIXED = {0: (0x3341181C03CB675C, 0x8ED383AA1F4CD1E8), 1: (0x1841181C03CB675C, 0x8ED383AA1F4CD1E8)}
"""Answers to requests whose version ends with the digit 0 or 1."""


def _context(call: DriverCall, handle: int) -> Context:
    return call.context_of(handle) if handle else call.context


@driver("runtime_get_context", "out ptr context, i32 device")
def _primary(call: DriverCall, device: int) -> int:
    call.device(device)
    if call.program.primary.is_destroyed:
        retain_primary(call)
    return call.program.handle_of(call.program.primary)


@driver("runtime_put", "ptr context, ptr key, ptr value, ptr destructor")
def _put(call: DriverCall, context: int, key: int, value: int, destructor: int) -> None:
    _context(call, context).storage[key] = value


@driver("runtime_delete", "ptr context, ptr key")
def _delete(call: DriverCall, context: int, key: int) -> None:
    _context(call, context).storage.pop(key, None)


@driver("runtime_get", "out ptr value, ptr context, ptr key")
def _get(call: DriverCall, context: int, key: int) -> int:
    storage = _context(call, context).storage
    if key not in storage:
        raise DriverError(Status.INVALID_HANDLE)
    return storage[key]


@driver(
    "runtime_check",
    "u32 version, u64 seconds, ptr result, ptr runtime, ptr check, ptr function, u32 process, u32 thread",
)
def _check(
    call: DriverCall, version: int, seconds: int, result: int, runtime: int, check: int, function: int, process: int,
    thread: int,
) -> None:  # fmt: skip
    """Answer the integrity check of the CUDA runtime with a keyed hash.

    The hash covers the version and the time `seconds` that the runtime passes, the numbers of the process and the
    thread, the addresses of the tables `runtime` and `check` and of the function, and the device. It is written to
    `result`.
    """
    words = _FIXED.get(version % 10)
    if words is None:
        state = struct.pack("=4I3QQ", DRIVER_VERSION, version, process, thread, runtime, check, function, seconds)
        digest = _keyed_hash(state + identity(call.program.model))
    else:
        digest = struct.pack("=2Q", *words)
    call.connection.write(result, digest)


def _keyed_hash(data: bytes) -> bytes:
    """Return the HMAC of data with MD2. Source: RFC 1319, RFC 2104."""
    inner = _md2(bytes(byte ^ 0x36 for byte in _KEY) + data)
    return _md2(bytes(byte ^ 0x5C for byte in _KEY) + inner)


def _md2(data: bytes) -> bytes:
    """Return the MD2 digest of data. Source: RFC 1319."""
    padding = 16 - len(data) % 16
    data += bytes([padding]) * padding
    state, checksum, last = bytearray(48), bytearray(16), 0
    for start in range(0, len(data) + 16, 16):
        block = data[start : start + 16] if start < len(data) else bytes(checksum)
        state[16:32] = block
        state[32:48] = bytes(a ^ b for a, b in zip(block, state[:16], strict=True))
        if start < len(data):
            for i, byte in enumerate(block):
                checksum[i] ^= _PERMUTATION[byte ^ last]
                last = checksum[i]
        mixed = 0
        for step in range(18):
            for i in range(48):
                state[i] ^= _PERMUTATION[mixed]
                mixed = state[i]
            mixed = (mixed + step) % 256
    return bytes(state[:16])
