"""Choice of the PTX that the emulator executes, from the device code that a program loads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.diagnostics.symbols import readable_name
from warploom.integrations.cuda_driver.fat_binary import DeviceCode, InvalidImage, PtxEntry, read_image
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.isa.model.availability import Target, read_target

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_MOST_NAMES = 3
_IN_MEMORY = "a module in memory"


class FileImage:
    """Device code of a file. Addresses start at 1, because 0 is the null pointer."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self._data = name, data

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes at an address, with zeros after the end."""
        return self._data[address - 1 : address - 1 + size].ljust(size, b"\0")

    def read_string(self, address: int, limit: int) -> str:
        """Return the string at an address."""
        return self.read(address, min(limit, len(self._data))).partition(b"\0")[0].decode(errors="replace")


def file_image(process: int, name: str) -> FileImage:
    """Return a file of device code. A relative path starts at the folder of the process of a program.

    Errors: DriverError FILE_NOT_FOUND.
    """
    try:
        return FileImage(name, (Path(f"/proc/{process}/cwd") / name).read_bytes())
    except OSError:
        raise DriverError(Status.FILE_NOT_FOUND) from None


def read_ptx(call: DriverCall, address: int, file: FileImage | None = None) -> str:
    """Return the PTX for the device in the device code at an address of the program, or of a file.

    Errors: DriverError INVALID_VALUE, INVALID_IMAGE, INVALID_PTX, NO_BINARY_FOR_GPU. The cause is also reported to the
    user.
    """
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    status = Status.NO_BINARY_FOR_GPU
    try:
        code = read_image(file or call.connection, address)
        if code.ptx and all(entry.is_text or _target(entry.text) is None for entry in code.ptx):
            status = Status.INVALID_PTX
        place = mapped_file(call.program.process, address) if file is None else file.name
        return choose(code, call.program.model.target, place).text
    except InvalidImage as error:
        call.program.log.error(error)
        raise DriverError(Status.INVALID_IMAGE) from None
    except UsageError as error:
        call.program.log.error(error)
        raise DriverError(status) from None


def choose(code: DeviceCode, device: Target, place: str) -> PtxEntry:
    """Return the PTX for the highest target that the device can run.

    `place` is the file that contains the code, or "".

    Errors: UsageError exec.image.
    """
    found = [(target, entry) for entry in code.ptx if (target := _target(entry.text)) is not None]
    fitting = [pair for pair in found if device.has(pair[0])]
    if fitting:
        return max(fitting, key=lambda pair: (pair[0].number, pair[0].suffix))[1]
    virtual = device.name.replace("sm_", "compute_")
    build = f"with PTX, for example with -gencode arch={virtual},code={virtual}"
    if code.ptx:
        names = ", ".join(target.name for target, _ in found) or "an unknown target"
        raise UsageError(
            f"{place or _IN_MEMORY} has PTX for {names}; expected PTX for {device.name}, or for sm_{device.number} or "
            "lower without a suffix",
            code="exec.image",
            hint=f"choose another device (`warploom exec --device`), or build the code {build}",
        )
    hint = f"build {place} {build}" if place else f"compile the kernels to PTX, or build them {build}"
    raise UsageError(
        f"{place or _IN_MEMORY} has GPU code (SASS){_described(code)} and no PTX, which the emulator executes",
        code="exec.image",
        hint=hint,
    )


def _described(code: DeviceCode) -> str:
    """Return the kernels or the targets of GPU code, for messages."""
    names = [readable_name(name) for name in code.kernels]
    if len(names) > _MOST_NAMES:
        names = [*names[:_MOST_NAMES], "…"]
    targets = [f"sm_{number}" for number in sorted(code.targets)]
    return (" of " + ", ".join(names) if names else "") + (" for " + ", ".join(targets) if targets else "")


def mapped_file(process: int, address: int) -> str:
    """Return the path of the file that a process has mapped at an address, or "" for other memory."""
    for line in Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        extent, _, _, _, _, *path = line.split(maxsplit=5)
        start, end = (int(each, 16) for each in extent.split("-"))
        if start <= address < end:
            return path[0] if path and path[0].startswith("/") else ""
    return ""


def _target(text: str) -> Target | None:
    found = _TARGET.search(text)
    return None if found is None else read_target(found[1])
