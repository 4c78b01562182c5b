"""Driver library of a server in the same process, for tests that call driver functions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warploom.diagnostics import Diagnostic
from warploom.integrations.cuda_driver.build import library_folder
from warploom.integrations.cuda_driver.devices import read_device
from warploom.integrations.cuda_driver.launch_log import LaunchLog, LaunchOptions
from warploom.integrations.cuda_driver.server import Server
from warploom.integrations.cuda_driver.statuses import Status
from warploom.runtime.run import Run

SCALE = """
.version 8.0
.target sm_90
.address_size 64

.global .align 4 .u32 counter = 5;
.const .align 4 .u32 factor = 2;

.visible .entry scale(.param .u64 values, .param .u32 addend)
{
    .reg .b64 %address;
    .reg .b32 %index, %value, %addend, %factor, %old;
    ld.param.u64 %address, [values];
    ld.param.u32 %addend, [addend];
    mov.u32 %index, %tid.x;
    mad.wide.u32 %address, %index, 4, %address;
    ld.global.u32 %value, [%address];
    ld.const.u32 %factor, [factor];
    mad.lo.u32 %value, %value, %factor, %addend;
    st.global.u32 [%address], %value;
    mov.u64 %address, counter;
    atom.global.add.u32 %old, [%address], 1;
    ret;
}
"""


class TestLog:
    """Sentences, diagnostics and reports of a server."""

    __test__ = False

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.diagnostics: list[Diagnostic] = []
        self.reports: list[Path] = []

    def log(self, options: LaunchOptions) -> LaunchLog:
        """Return a launch log that writes here."""
        return LaunchLog(options, self.sentences.append, self.diagnostics.extend, self._report)

    def _report(self, run: Run, path: Path) -> None:
        self.reports.append(path)


class Driver:
    """Functions of the driver library. Each call of a method returns a status."""

    def __init__(self, options: LaunchOptions, device: str = "h100") -> None:
        self.seen = TestLog()
        self.server = Server(read_device(device), self.seen.log(options))
        os.environ["WARPLOOM_EXEC"] = self.server.name
        self._library = ctypes.CDLL(str(library_folder() / "libcuda.so.1"))

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)
        function.restype = Status
        return function

    def forget_failure(self) -> None:
        """Forget the failure of a kernel, which lasts until the end of a program. The tests share one process."""
        for program in self.server._programs.values():  # pyright: ignore[reportPrivateUsage]
            program.failure = None

    def expect(self, name: str, *arguments: object) -> None:
        """Call a function that must succeed."""
        status = getattr(self, name)(*arguments)
        assert status is Status.SUCCESS, f"{name}: {status.symbol}"

    def value(self, name: str, kind: type[Any], *arguments: object) -> Any:
        """Return the result of a function that writes it to its first argument."""
        result = kind()
        self.expect(name, ctypes.byref(result), *arguments)
        return result.value

    def value_after(self, name: str, *arguments: object) -> int:
        """Return the integer that a function writes to its last argument."""
        result = ctypes.c_int()
        self.expect(name, *arguments, ctypes.byref(result))
        return result.value

    def allocate(self, size: int) -> int:
        """Allocate device memory, and return its address."""
        return self.value("cuMemAlloc_v2", ctypes.c_uint64, ctypes.c_size_t(size))

    def module(self, text: str) -> ctypes.c_void_p:
        """Load a PTX text, and return the handle of the module."""
        return ctypes.c_void_p(self.value("cuModuleLoadData", ctypes.c_void_p, text.encode()))

    def function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        """Return the handle of a kernel."""
        return ctypes.c_void_p(self.value("cuModuleGetFunction", ctypes.c_void_p, module, name.encode()))

    def launch(
        self, function: ctypes.c_void_p, arguments: Sequence[Any], grid: int = 1, block: int = 32, stream: Any = None
    ) -> Status:  # fmt: skip
        """Launch a kernel with ctypes values as arguments, and return the status."""
        table = (ctypes.c_void_p * max(len(arguments), 1))(*(ctypes.addressof(each) for each in arguments))
        return self.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, table, None)

    def upload(self, address: int, data: bytes) -> None:
        """Copy bytes to the device."""
        self.expect("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def download(self, address: int, size: int) -> bytes:
        """Return bytes of the device."""
        buffer = ctypes.create_string_buffer(size)
        self.expect("cuMemcpyDtoH_v2", buffer, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return buffer.raw
