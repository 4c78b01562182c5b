"""Devices that the driver library reports, and the functions that describe them."""

from __future__ import annotations

import re
import struct
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from warploom.diagnostics import UsageError
from warploom.integrations.cuda_driver.functions import driver, package_text
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

DRIVER_VERSION = 13000
"""Version of CUDA that the library implements."""
DEVICES = ("h100", "h200", "b200", "rtx5090", "a100")

_MAJOR, _MINOR, _PROCESSORS = 75, 76, 16
_PCI_BUS, _PCI_DEVICE, _PCI_DOMAIN = 33, 34, 50
_BUS = re.compile(r"(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})(?:\.[0-7])?")
_UUID = b"Warploom device\0"


class DeviceModel(NamedTuple):
    """Device with its answers to queries.

    `attributes` and `limits` are by the numbers of `cuDeviceGetAttribute` and `cuCtxGetLimit`.

    Units: `memory` in bytes.
    """

    name: str
    memory: int
    attributes: dict[int, int]
    limits: dict[int, int]

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability, as (major, minor)."""
        return self.attributes[_MAJOR], self.attributes[_MINOR]

    @property
    def processors(self) -> int:
        """Number of multiprocessors."""
        return self.attributes[_PROCESSORS]


@cache
def read_device(name: str) -> DeviceModel:
    """Return the device with a name of DEVICES, in any case. Errors: UsageError exec.device."""
    if name.lower() not in DEVICES:
        raise UsageError(f"unknown device '{name}'; expected one of {', '.join(DEVICES)}", code="exec.device")
    table = _read_table(name.lower())
    base = _read_table(table["like"]) if "like" in table else table
    attributes, limits = (
        {int(key): value for key, value in (base[part] | table.get(part, {})).items()}
        for part in ("attributes", "limits")
    )
    return DeviceModel(table["name"], table["memory"], attributes, limits)


def _read_table(name: str) -> dict[str, Any]:
    return tomllib.loads(package_text(f"devices/{name}.toml"))


@driver("cuInit", "u32 flags")
def _initialise(call: DriverCall, flags: int) -> None:
    if flags:
        raise DriverError(Status.INVALID_VALUE)
    call.program.is_initialised = True


@driver("cuDriverGetVersion", "out i32 version")
def _version(call: DriverCall) -> int:
    return DRIVER_VERSION


@driver("cuDeviceGetCount", "out i32 count")
def _count(call: DriverCall) -> int:
    return 1


@driver("cuDeviceGet", "out i32 device, i32 ordinal")
def _get(call: DriverCall, ordinal: int) -> int:
    return call.device(ordinal)


@driver("cuDeviceGetName", "ptr name, i32 length, i32 device")
def _name(call: DriverCall, address: int, length: int, device: int) -> None:
    call.device(device)
    if not address or length <= 0:
        raise DriverError(Status.INVALID_VALUE)
    name = call.program.model.name.encode()[: length - 1]
    call.connection.write(address, name + b"\0")


@driver("cuDeviceGetUuid cuDeviceGetUuid_v2", "ptr uuid, i32 device")
def _uuid(call: DriverCall, address: int, device: int) -> None:
    call.device(device)
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    call.connection.write(address, _UUID)


@driver("cuDeviceTotalMem_v2", "out size bytes, i32 device")
def _total_memory(call: DriverCall, device: int) -> int:
    call.device(device)
    return call.program.model.memory


@driver("cuDeviceGetAttribute", "out i32 value, i32 attribute, i32 device")
def _attribute(call: DriverCall, attribute: int, device: int) -> int:
    call.device(device)
    found = call.program.model.attributes.get(attribute)
    if found is None:
        raise DriverError(Status.INVALID_VALUE)
    return found


@driver("cuDeviceComputeCapability", "out i32 major, out i32 minor, i32 device")
def _capability(call: DriverCall, device: int) -> tuple[int, int]:
    call.device(device)
    return call.program.model.capability


@driver("cuDeviceGetPCIBusId", "ptr text, i32 length, i32 device")
def _bus(call: DriverCall, address: int, length: int, device: int) -> None:
    call.device(device)
    text = "{:04X}:{:02X}:{:02X}.0".format(*_place(call.program.model)).encode() + b"\0"
    if not address or length < len(text):
        raise DriverError(Status.INVALID_VALUE)
    call.connection.write(address, text)


def _place(model: DeviceModel) -> tuple[int, ...]:
    """Return the domain, bus and device number of a device on the PCI bus."""
    return tuple(model.attributes.get(each, 0) for each in (_PCI_DOMAIN, _PCI_BUS, _PCI_DEVICE))


@driver("cuDeviceGetByPCIBusId", "out i32 device, str text")
def _by_bus(call: DriverCall, text: str) -> int:
    found = _BUS.fullmatch(text)
    if found is None:
        raise DriverError(Status.INVALID_VALUE)
    if tuple(int(part or "0", 16) for part in found.groups()) != _place(call.program.model):
        raise DriverError(Status.INVALID_DEVICE)
    return 0


@driver("cuDeviceCanAccessPeer", "out i32 can, i32 device, i32 peer")
def _can_access_peer(call: DriverCall, device: int, peer: int) -> int:
    call.device(device)
    call.device(peer)
    return 0


@driver("cuDeviceGetExecAffinitySupport", "out i32 supported, i32 kind, i32 device")
def _affinity(call: DriverCall, kind: int, device: int) -> int:
    call.device(device)
    if kind != 0:
        raise DriverError(Status.INVALID_VALUE)
    return 0


def identity(model: DeviceModel) -> bytes:
    """Return the bytes that identify the device: its UUID and its place on the bus."""
    return _UUID + struct.pack("<3i", *_place(model))
