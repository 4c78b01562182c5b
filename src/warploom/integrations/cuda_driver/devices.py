"""Devices that the driver library reports."""

from __future__ import annotations

import struct
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from warploom.diagnostics import UsageError
from warploom.integrations.cuda_driver.package_data import package_text

if TYPE_CHECKING:
    from warploom.isa.model.availability import Target

DRIVER_VERSION = 13000
"""Version of CUDA that the library implements."""
DEVICES = ("h100", "h200", "b200", "rtx5090", "a100")

_MAJOR, _MINOR, _PROCESSORS = 75, 76, 16
_PCI_BUS, _PCI_DEVICE, _PCI_DOMAIN = 33, 34, 50
UUID = b"Warploom device\0"


def highest_target(capability: tuple[int, int]) -> Target:
    """Return the highest target of PTX that a device runs, such as sm_90a or sm_80."""
    from warploom.isa.model.availability import read_target  # here, because wheels are built without NumPy

    number = 10 * capability[0] + capability[1]
    found = read_target(f"sm_{number}a") or read_target(f"sm_{number}")
    assert found is not None
    return found


class DeviceModel(NamedTuple):
    """Device with its answers to queries.

    `attributes` and `limits` have the numbers of CUdevice_attribute and CUlimit as keys.

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
    def target(self) -> Target:
        """Highest target of PTX that the device runs, such as sm_90a or sm_80."""
        return highest_target(self.capability)

    @property
    def processors(self) -> int:
        """Number of multiprocessors."""
        return self.attributes[_PROCESSORS]


@cache
def read_device(name: str) -> DeviceModel:
    """Return the device with a name of DEVICES.

    Upper and lower case are equal. Errors: UsageError exec.device.
    """
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


def pci_address(model: DeviceModel) -> tuple[int, ...]:
    """Return the domain, bus and device number of a device on the PCI bus."""
    return tuple(model.attributes.get(each, 0) for each in (_PCI_DOMAIN, _PCI_BUS, _PCI_DEVICE))


def identity(model: DeviceModel) -> bytes:
    """Return the bytes that identify the device: its UUID and its PCI address."""
    return UUID + struct.pack("<3i", *pci_address(model))
