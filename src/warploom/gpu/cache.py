"""Assembled kernels on disk, so that each is assembled once for each assembler.

An entry is the digest, the log and the code, under a key of everything that the code depends on. A cache that
cannot be read or written is none, and an entry that is not whole is not there.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom.gpu.packages import package

_LARGEST = 1 << 30
_DIGEST = 32
_LENGTH = 8


def cache_directory() -> Path:
    """Where this machine keeps what can be made again: WARPLOOM_CACHE, or the user's cache folder."""
    if chosen := os.environ.get("WARPLOOM_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "warploom"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "warploom"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "warploom"


@dataclass(frozen=True, slots=True)
class Assembled:
    """What an assembler made of a module: the code, and its log."""

    code: bytes
    log: str


class Cubins:
    """The cache of a machine. cuda-core's, which writes an entry whole or not at all."""

    def __init__(self) -> None:
        self._entries: Any = None
        try:
            made = package("cuda.core.utils").FileStreamProgramCache
            self._entries = made(cache_directory() / "cubins", max_size_bytes=_LARGEST)
        except OSError:
            return

    def get(self, key: bytes) -> Assembled | None:
        """An entry; None where there is none that is whole."""
        if self._entries is None:
            return None
        try:
            held = self._entries.get(key)
        except OSError:
            return None
        if held is None or held[:_DIGEST] != hashlib.sha256(held[_DIGEST:]).digest():
            return None
        start = _DIGEST + _LENGTH
        end = start + int.from_bytes(held[_DIGEST:start], "little")
        return Assembled(held[end:], held[start:end].decode())

    def put(self, key: bytes, made: Assembled) -> None:
        """Keep an entry, where that can be done."""
        if self._entries is None:
            return
        log = made.log.encode()
        body = len(log).to_bytes(_LENGTH, "little") + log + made.code
        try:
            self._entries[key] = hashlib.sha256(body).digest() + body
        except OSError:
            return


def key_of(*parts: str) -> bytes:
    """The key of an entry: a digest of everything that it depends on."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()
