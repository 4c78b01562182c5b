"""Messages between the driver library in a CUDA program and the server.

The library sends a call: the number of a function and its argument words. The server then sends commands that read and
write the memory of the program, and at last the status of the call. Commands without an answer are buffered until a
command that needs an answer, or until the end of the call.
"""

from __future__ import annotations

import array
import socket
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

_MESSAGE = struct.Struct("=IIQQQ")
_WORD = struct.Struct("=Q")
_MOST_STRING = 1 << 16
_MOST_WORDS = 64
_PERMISSION = struct.Struct("=iII")  # process, user and group of a peer


class Kind(IntEnum):
    """Kind of a message. The library `driver.c` has the same numbers."""

    CALL = 1
    REPLY = 2
    RETURN = 3
    READ = 4
    READ_STRING = 5
    WRITE = 6
    TO_DEVICE = 7
    FROM_DEVICE = 8
    MAP = 9
    UNMAP = 10
    CALL_BACK = 11
    PRINT = 12


class Disconnected(Exception):
    """Loss of the connection to a program, which has closed it or has ended."""


class Call(NamedTuple):
    """Call of the function with the number `function`."""

    function: int
    words: tuple[int, ...]


class Connection:
    """Connection with one thread of a CUDA program.

    Addresses are addresses of the program. Errors: Disconnected.
    """

    def __init__(self, peer: socket.socket, memory: int, size: int) -> None:
        """Open a connection by the Unix socket `peer`, and send the memory that both sides share.

        `memory` is the file descriptor of this memory, and `size` its size in bytes.
        """
        self._peer = peer
        self._pending = bytearray()
        rights = array.array("i", [memory])
        hello = _MESSAGE.pack(Kind.REPLY, 0, size, 0, 0)
        try:
            peer.sendmsg([hello], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        except OSError:
            raise Disconnected from None

    def receive(self) -> Call:
        """Return the next call."""
        kind, count, function, _, _ = _MESSAGE.unpack(self._receive(_MESSAGE.size))
        if kind != Kind.CALL or count > _MOST_WORDS:
            raise Disconnected
        return Call(function, struct.unpack(f"={count}Q", self._receive(8 * count)))

    def finish(self, status: int) -> None:
        """End a call with a status."""
        self._add(Kind.RETURN, status)
        self._send()

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of the program."""
        return self.read_all([(address, size)])[0]

    def read_all(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return several ranges of bytes of the program. Each range has an address and a size."""
        for address, size in ranges:
            self._add(Kind.READ, address, size)
        self._send()
        return [self._reply() for _ in ranges]

    def read_string(self, address: int, limit: int = _MOST_STRING) -> str:
        """Return a string of the program, of at most `limit` bytes."""
        self._add(Kind.READ_STRING, address, limit)
        self._send()
        return self._reply().decode(errors="replace")

    def read_word(self, address: int) -> int:
        """Return an unsigned 64-bit integer of the program."""
        return _WORD.unpack(self.read(address, 8))[0]

    def write(self, address: int, data: bytes) -> None:
        """Write bytes to the program."""
        self._add(Kind.WRITE, address, len(data))
        self._pending += data

    def to_device(self, offset: int, address: int, size: int) -> None:
        """Copy bytes from the program to an offset in the device memory."""
        self._add(Kind.TO_DEVICE, offset, address, size)

    def from_device(self, offset: int, address: int, size: int) -> None:
        """Copy bytes from an offset in the device memory to the program."""
        self._add(Kind.FROM_DEVICE, offset, address, size)

    def map(self, offset: int, address: int, size: int) -> bool:
        """Map a range of the device memory at an address of the program.

        Return False if the address is in use.
        """
        self._add(Kind.MAP, offset, address, size)
        self._send()
        return self._reply() == bytes(8)

    def unmap(self, address: int, size: int) -> None:
        """Remove a mapping of the device memory from the program."""
        self._add(Kind.UNMAP, 0, address, size)

    def print(self, text: bytes) -> None:
        """Print a text on the standard output of the program."""
        self._add(Kind.PRINT, len(text))
        self._pending += text

    def call_back(self, function: int, *arguments: int) -> int:
        """Call the function at an address of the program with up to 16 words as arguments. Return its result."""
        return self.call_back_all([(function, arguments)])[0]

    def call_back_all(self, calls: Sequence[tuple[int, Sequence[int]]]) -> list[int]:
        """Call several functions of the program, one after the other, and return their results.

        Each call has an address and its arguments.
        """
        for function, arguments in calls:
            self._add(Kind.CALL_BACK, function, count=len(arguments))
            self._pending += struct.pack(f"={len(arguments)}Q", *arguments)
        self._send()
        return [_WORD.unpack(self._reply())[0] for _ in calls]

    def synchronize(self) -> None:
        """Wait until the program has executed all commands."""
        if self._pending:
            self.read(0, 0)

    def _add(self, kind: Kind, a: int = 0, b: int = 0, c: int = 0, count: int = 0) -> None:
        self._pending += _MESSAGE.pack(kind, count, a, b, c)

    def _send(self) -> None:
        try:
            self._peer.sendall(self._pending)
        except OSError:
            raise Disconnected from None
        self._pending.clear()

    def _reply(self) -> bytes:
        kind, _, size, _, _ = _MESSAGE.unpack(self._receive(_MESSAGE.size))
        if kind != Kind.REPLY:
            raise Disconnected
        return self._receive(size)

    def _receive(self, size: int) -> bytes:
        return _receive(self._peer, size)


def _receive(peer: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        try:
            received = peer.recv_into(view)
        except OSError:
            raise Disconnected from None
        if not received:
            raise Disconnected
        view = view[received:]
    return bytes(data)


def image_of(peer: socket.socket) -> int:
    """Return the first word of a connection, by which a process states which program it executes.

    Errors: Disconnected.
    """
    return _WORD.unpack(_receive(peer, _WORD.size))[0]


def process_of(peer: socket.socket) -> tuple[int, int]:
    """Return the process and the user at the other end of a connection."""
    found = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PERMISSION.size)
    process, user, _ = _PERMISSION.unpack(found)
    return process, user
