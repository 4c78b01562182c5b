"""Cache of assembled kernels on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from warploom.caches import cache_directory
from warploom.gpu.driver import package

_CAPACITY = 1 << 30
_DIGEST = 32
_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Assembled:
    """Code and log of an assembled module."""

    code: bytes
    log: str

    @classmethod
    def unpack(cls, entry: bytes) -> Assembled | None:
        """Return the code and log in a cache entry, or None for a damaged entry."""
        if entry[:_DIGEST] != hashlib.sha256(entry[_DIGEST:]).digest():
            return None
        start = _DIGEST + _LENGTH
        end = start + int.from_bytes(entry[_DIGEST:start], "little")
        return cls(entry[end:], entry[start:end].decode())

    def pack(self) -> bytes:
        """Return the code and log as a cache entry."""
        log = self.log.encode()
        body = len(log).to_bytes(_LENGTH, "little") + log + self.code
        # The digest reveals a damaged entry.
        return hashlib.sha256(body).digest() + body


def cached(key: bytes, make: Callable[[], Assembled]) -> Assembled:
    """Return the cached code for a key. Without a cache entry, call `make` and store its result."""
    # Without a usable cache, every kernel is assembled again.
    cache = None
    with suppress(OSError):
        files = package("cuda.core.utils").FileStreamProgramCache
        cache = files(cache_directory() / "cubins", max_size_bytes=_CAPACITY)
        entry = cache.get(key)
        if entry is not None and (known := Assembled.unpack(entry)) is not None:
            return known
    made = make()
    with suppress(OSError):
        if cache is not None:
            cache[key] = made.pack()
    return made


def key_of(*parts: str) -> bytes:
    """Return a cache key: a digest of all texts that determine the code."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()
