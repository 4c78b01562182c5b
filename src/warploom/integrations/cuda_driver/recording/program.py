"""State of a CUDA program whose launches are recorded."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.symbols import readable_name
from warploom.integrations.cuda_driver.device_code import choose
from warploom.integrations.cuda_driver.devices import highest_target
from warploom.integrations.cuda_driver.fat_binary import DeviceCode
from warploom.integrations.cuda_driver.recording.log import CaptureLog
from warploom.layout.tensormap import TensorMapFields
from warploom.runtime.kernel import load_kernel

if TYPE_CHECKING:
    from warploom.isa.model.signature import Signature

RESULT_BYTES = 64 << 10
"""Size of the shared memory for the results of functions."""
COPY_BYTES = 64 << 20
"""Size of the shared memory for copies."""
SHARED_BYTES = RESULT_BYTES + COPY_BYTES
"""Size of the memory that the program and this process share."""


@dataclass(eq=False)
class LoadedModule:
    """Module or library of a program.

    `handle` is its handle. `code` has its PTX, and `place` is the file that contains it, or "". If the code cannot be
    read, `reason` states why.
    """

    handle: int
    is_library: bool
    code: DeviceCode
    place: str
    reason: str = ""
    _chosen: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def text(self, capability: tuple[int, int]) -> str:
        """Return the PTX for a device. Errors: UsageError exec.image."""
        if self.reason:
            raise UsageError(self.reason, code="exec.image")
        if capability not in self._chosen:
            self._chosen[capability] = choose(self.code, highest_target(capability), self.place).text
        return self._chosen[capability]


@dataclass(eq=False)
class LoadedKernel:
    """Kernel of a program, with its module."""

    module: LoadedModule
    name: str

    def signature(self, capability: tuple[int, int]) -> Signature:
        """Return the signature in the PTX for a device. Errors: WarploomError."""
        return load_kernel(self.module.text(capability), self.name).signature

    @cached_property
    def readable_name(self) -> str:
        """Demangled name."""
        return readable_name(self.name)


@dataclass(eq=False)
class CapturedProgram:
    """CUDA program whose launches are recorded.

    `lock` is held during each intercepted call. `modules` and `kernels` have the loaded modules, libraries and kernels
    by their handles, `linked` the PTX texts of linked code, `links` the PTX texts of links in progress, and
    `tensor_maps` the fields of encoded tensor maps by their bytes. `stream_captures` counts the captures of streams in
    progress.
    """

    process: int
    log: CaptureLog
    lock: RLock = field(default_factory=RLock)
    modules: dict[int, LoadedModule] = field(default_factory=dict[int, "LoadedModule"])
    kernels: dict[int, LoadedKernel] = field(default_factory=dict[int, "LoadedKernel"])
    links: dict[int, list[bytes]] = field(default_factory=dict[int, list[bytes]])
    linked: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    tensor_maps: dict[bytes, TensorMapFields] = field(default_factory=dict[bytes, TensorMapFields])
    stream_captures: int = 0
    addresses: dict[str, int] = field(default_factory=dict[str, int])
    """Addresses of the driver's functions in the program."""

    def __post_init__(self) -> None:
        self.file = os.memfd_create("warploom", os.MFD_CLOEXEC)
        os.ftruncate(self.file, SHARED_BYTES)
        self._mapping = mmap.mmap(self.file, SHARED_BYTES)
        self.shared: NDArray[np.uint8] = np.frombuffer(self._mapping, np.uint8)

    def close(self) -> None:
        """Release the shared memory."""
        os.close(self.file)
