"""Caches on disk, in one folder of the user."""

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

_DIGEST = 32
_WRITABLE_BY_OTHERS = 0o022


def cache_directory() -> Path:
    """Return the folder of Warploom's caches: WARPLOOM_CACHE, or `warploom` in the user's cache folder."""
    if chosen := os.environ.get("WARPLOOM_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "warploom"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "warploom"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "warploom"


class Store:
    """Cache of byte strings in the folder `name` of `cache_directory`.

    The oldest entries are deleted if the cache exceeds `capacity` bytes. Several processes may use the cache at the
    same time. A folder that does not exist and cannot be created, or in which other users can write, holds no entries.
    """

    def __init__(self, name: str, capacity: int) -> None:
        self.name = name
        self.capacity = capacity

    def read(self, key: str) -> bytes | None:
        """Return the entry for a key, or None if the entry is missing or damaged."""
        with suppress(OSError, RuntimeError):  # a user without a home folder
            data = (self._folder() / key).read_bytes()
            content = data[_DIGEST:]
            if hashlib.sha256(content).digest() == data[:_DIGEST]:
                return content
        return None

    def write(self, key: str, content: bytes) -> None:
        """Store an entry for a key, if the folder can be written."""
        with suppress(OSError, RuntimeError):
            folder = self._folder()
            handle, temporary = tempfile.mkstemp(dir=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(content).digest() + content)
                Path(temporary).replace(folder / key)
            except BaseException:
                Path(temporary).unlink()
                raise
            self._limit(folder)

    def _folder(self) -> Path:
        folder = cache_directory() / self.name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name == "posix":
            status = folder.stat()
            if status.st_uid != os.getuid() or status.st_mode & _WRITABLE_BY_OTHERS:
                raise PermissionError(f"other users can write in {folder}")
        return folder

    def _limit(self, folder: Path) -> None:
        """Delete the oldest entries beyond the capacity."""
        entries = sorted((each.stat().st_mtime_ns, each.stat().st_size, each) for each in folder.iterdir())
        excess = sum(size for _, size, _ in entries) - self.capacity
        for _, size, entry in entries:
            if excess <= 0:
                return
            entry.unlink()
            excess -= size
