"""Loading of a kernel from a text, a file, a module, or a kernel written in Python."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.garbage import paused_collection
from warploom.gpu.geometry import Extent
from warploom.isa.model.signature import Signature, kernel_name, read_signature
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Module, is_text, parse, text_of
from warploom.ptx.outline import read_outline

if TYPE_CHECKING:
    from warploom.author import Kernel
    from warploom.emulator.program import Program
    from warploom.runtime.uses import Use, Uses

    KernelSource = str | Path | Module | Kernel | Program

_RESOLUTION = 2_000_000_000
"""Coarsest resolution of the time stamps of a file system. Units: nanoseconds."""


@dataclass(eq=False)
class LoadedKernel:
    """Kernel with its signature and its program for the emulator.

    `block` and `shared` are defaults: the shape of a CTA and the bytes of dynamic shared memory.
    """

    signature: Signature
    shared: int = 0
    block: Extent | None = None

    @cached_property
    def program(self) -> Program:
        """Program of the emulator.

        Errors: Unsupported, also for what the target or the PTX version of the module lacks.
        """
        from warploom.emulator.loader import load
        from warploom.runtime.availability import check_availability

        with paused_collection():
            program = load(self.signature.module, self.signature.name)
            check_availability(program)
            return program

    @cached_property
    def uses(self) -> Uses:
        """Uses of the kernel's parameters."""
        from warploom.runtime.uses import uses_of

        return uses_of(self.signature.entry)

    @cached_property
    def narrow_uses(self) -> dict[int, Use]:
        """Uses of parameters with accesses of 2 to 15 bytes, by the position of the parameter.

        Parameters with accesses of unknown size are left out.
        """
        from warploom.runtime.uses import Part

        uses = self.uses
        parts = [uses.parts.get(Part(parameter.name)) for parameter in self.signature.parameters]
        return {
            number: use
            for number, use in enumerate(parts)
            if use is not None and 1 < use.widest < 16 and not (use.is_hidden or use.is_passed or uses.unknown)
        }


def load_kernel(source: KernelSource, name: str | None, file: str = "") -> LoadedKernel:
    """Return the kernel `name` of a source, or the only kernel if `name` is None.

    If `source` is a text, `file` is its name in messages; the default is "<ptx>".

    Errors: UsageError emulator.kernel, ptx.file, ptx.text; PtxSyntaxError.
    """
    if isinstance(source, (str, Path)):
        is_path = isinstance(source, Path) or not is_text(source)
        if is_path:
            return _load_file(str(source), name)
        text, unnamed = text_of(source)
        return _load_text(text, file or unnamed, name)
    if isinstance(source, Module):
        return LoadedKernel(read_signature(source, name))
    from warploom.author import Kernel

    if isinstance(source, Kernel):
        block: Extent | None = getattr(source, "block", None)
        return _load_text(source.text, "<ptx>", name, source.built.shared_bytes, block)
    from warploom.emulator.program import Program

    if isinstance(source, Program):
        loaded = LoadedKernel(Signature(source.module, source.kernel, source.parameters))
        loaded.program = source
        return loaded
    return _load_text(*text_of(source), name)


@lru_cache(maxsize=16)
def _load_text(text: str, file: str, name: str | None, shared: int = 0, block: Extent | None = None) -> LoadedKernel:
    with paused_collection():
        return LoadedKernel(_read_kernel(text, file, name), shared, block)


def _load_file(path: str, name: str | None) -> LoadedKernel:
    version = _version(path)
    return _load_text(*text_of(Path(path)), name) if version is None else _load_version(path, name, version)


@lru_cache(maxsize=16)
def _load_version(path: str, name: str | None, version: tuple[int, ...]) -> LoadedKernel:
    return _load_text(*text_of(Path(path)), name)


def _version(path: str) -> tuple[int, ...] | None:
    """Return numbers that differ after each change of a file. Return None if the last change is recent.

    Two changes in quick succession may have the same time stamps.
    """
    try:
        if not S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a Path takes longer than the call
            return None
        # Opening the file makes the client of a network file system ask for the present attributes.
        file = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):  # `text_of` reports the error
        return None
    try:
        found = os.fstat(file)
    finally:
        os.close(file)
    is_older = time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > _RESOLUTION
    version = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return version if is_older else None


def _read_kernel(text: str, file: str, name: str | None) -> Signature:
    """Return the signature of a kernel, in a module without the functions that the kernel cannot reach."""
    outline = _outline(text, file)
    with suppress(UsageError):
        if outline is not None and (module := outline.module(chosen := kernel_name(outline.kernels, name))) is not None:
            return read_signature(module, chosen)
    # An error may be a consequence of a syntax error, and the parser of the whole text reports all syntax errors.
    return read_signature(parse(text, file), name)


_outline = lru_cache(maxsize=16)(read_outline)
