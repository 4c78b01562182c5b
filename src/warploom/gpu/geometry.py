"""How a kernel is launched: how many threads in what order, and what the launch asks for besides."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError

Extent = int | Sequence[int]
Extents = tuple[int, int, int]


def triple(name: str, value: Extent) -> Extents:
    """A launch extent as (x, y, z). Errors: UsageError launch.geometry."""
    parts = tuple(value) if isinstance(value, Iterable) else (value,)
    whole = all(
        isinstance(part, (int, np.integer)) and not isinstance(part, bool) and part > 0 for part in parts
    )
    if not whole or not 1 <= len(parts) <= 3:
        raise UsageError(
            f"{name} is {value!r}; expected one to three integers above 0", code="launch.geometry"
        )
    x, y, z = (*(int(part) for part in parts), 1, 1)[:3]
    return x, y, z


@dataclass(frozen=True, slots=True)
class Geometry:
    """How a kernel is launched.

    `cooperative` has all CTAs there at once. `programmatic` lets the launch begin before the one before it on
    its stream has ended: the kernel waits itself for what that one writes.

    Units: `shared` is dynamic shared memory in bytes.
    """

    grid: Extents
    block: Extents
    cluster: Extents | None = None
    shared: int = 0
    cooperative: bool = False
    programmatic: bool = False

    @classmethod
    def of(
        cls,
        grid: Extent,
        block: Extent,
        cluster: Extent | None,
        shared: int,
        cooperative: bool,
        programmatic: bool,
    ) -> Geometry:
        """From what a caller gives. Errors: UsageError launch.geometry, launch.shared."""
        if not isinstance(shared, int) or isinstance(shared, bool) or shared < 0:
            raise UsageError(f"shared is {shared!r}; expected a number of bytes", code="launch.shared")
        together = None if cluster is None else triple("cluster", cluster)
        extents = triple("grid", grid), triple("block", block)
        return cls(*extents, together, shared, cooperative, programmatic)

    @property
    def cluster_size(self) -> int:
        """CTAs of a cluster."""
        x, y, z = self.cluster or (1, 1, 1)
        return x * y * z

    def configure(self, driver: Any) -> Any:
        """The driver's own description of it."""
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = self.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = self.block
        config.sharedMemBytes = self.shared
        kinds = driver.CUlaunchAttributeID
        attributes: list[Any] = []
        if self.cluster is not None:
            attribute = driver.CUlaunchAttribute()
            attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            extents = attribute.value.clusterDim
            extents.x, extents.y, extents.z = self.cluster
            attributes.append(attribute)
        if self.cooperative:
            attribute = driver.CUlaunchAttribute()
            attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            attribute.value.cooperative = 1
            attributes.append(attribute)
        if self.programmatic:
            attribute = driver.CUlaunchAttribute()
            attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            attributes.append(attribute)
        if attributes:
            config.attrs = attributes
            config.numAttrs = len(attributes)
        return config
