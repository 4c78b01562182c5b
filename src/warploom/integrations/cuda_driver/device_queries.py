"""Driver functions that initialise the driver and describe its device."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.devices import DRIVER_VERSION, UUID, pci_address
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_BUS = re.compile(r"(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})(?:\.[0-7])?")


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


@driver("cuDeviceGetName", "ptr name, u32 length, i32 device")
def _name(call: DriverCall, address: int, length: int, device: int) -> None:
    if not address or not length:
        raise DriverError(Status.INVALID_VALUE)
    call.device(device)
    name = call.program.model.name.encode()[: length - 1]
    call.connection.write(address, name + b"\0")


@driver("cuDeviceGetUuid cuDeviceGetUuid_v2", "ptr uuid, i32 device")
def _uuid(call: DriverCall, address: int, device: int) -> None:
    call.device(device)
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    call.connection.write(address, UUID)


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
    text = "{:04X}:{:02X}:{:02X}.0".format(*pci_address(call.program.model)).encode() + b"\0"
    if not address or length < len(text):
        raise DriverError(Status.INVALID_VALUE)
    call.connection.write(address, text)


@driver("cuDeviceGetByPCIBusId", "out i32 device, str text")
def _by_bus(call: DriverCall, text: str) -> int:
    found = _BUS.fullmatch(text)
    if found is None:
        raise DriverError(Status.INVALID_VALUE)
    if tuple(int(part or "0", 16) for part in found.groups()) != pci_address(call.program.model):
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
    return 0
