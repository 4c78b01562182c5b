"""Driver functions that link device code.

The result of a link is the PTX itself, which modules can load.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.device_code import read_ptx
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.memory import text_address
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_CUBIN, PTX, _FAT_BINARY = 0, 1, 2
_KINDS = range(6)


@dataclass(eq=False)
class Link:
    """Link in progress, with its PTX texts."""

    texts: list[str] = field(default_factory=list[str])


@driver("cuLinkCreate_v2", "u32 count, ptr options, ptr values, out ptr state")
def _create(call: DriverCall, count: int, options: int, values: int) -> int:
    _ = call.context
    return call.program.handle_of(Link())


@driver("cuLinkAddData_v2", "ptr state, i32 kind, ptr data, size bytes, ptr name, u32 count, ptr options, ptr values")
def _add_data(call: DriverCall, state: int, kind: int, data: int, size: int, *options: int) -> None:
    link = call.get(Link, state)
    if kind not in _KINDS or not data or not size:
        raise DriverError(Status.INVALID_VALUE)
    if kind not in (PTX, _CUBIN, _FAT_BINARY):
        call.refuse("linking of objects, libraries and NVVM IR")
        raise DriverError(Status.NOT_SUPPORTED)
    if kind == PTX:
        link.texts.append(call.connection.read(data, size).rstrip(b"\0").decode(errors="replace"))
    else:
        link.texts.append(read_ptx(call, data))
    if len(link.texts) > 1:
        call.refuse("linking of several modules")
        raise DriverError(Status.NOT_SUPPORTED)


@driver("cuLinkComplete", "ptr state, out ptr code, out? size bytes")
def _complete(call: DriverCall, state: int) -> tuple[int, int]:
    link = call.get(Link, state)
    if not link.texts:
        raise DriverError(Status.INVALID_VALUE)
    return text_address(call, link.texts[0]), len(link.texts[0].encode()) + 1


@driver("cuLinkDestroy", "ptr state")
def _destroy(call: DriverCall, state: int) -> None:
    call.program.drop(call.get(Link, state))
