"""Geometry of a launch: grid, block, cluster, shared memory and launch attributes."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.lazy_dataclass import dataclass

Extent = int | Sequence[int]
Extents = tuple[int, int, int]


def triple(name: str, value: Extent) -> Extents:
    """Return an extent as (x, y, z) with 1 for missing entries. Errors: UsageError launch.geometry.

    `name` is the name of the extent in messages.
    """
    parts = value if isinstance(value, (tuple, list)) else tuple(value) if isinstance(value, Iterable) else (value,)
    extents = [int(part) for part in parts if isinstance(part, (int, np.integer)) and part is not True and part > 0]
    if len(extents) < len(parts) or not 1 <= len(parts) <= 3:
        raise UsageError(f"{name} is {value!r}; expected one to three integers above 0", code="launch.geometry")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


@dataclass(frozen=True, slots=True)
class Geometry:
    """Geometry and attributes of a launch.

    `cooperative` makes all CTAs resident together. `programmatic` lets the launch start before the previous launch on
    its stream has ended. The kernel itself must then wait for the results of that launch.

    Units: `shared` in bytes of dynamic shared memory. Errors: UsageError launch.shared.
    """

    grid: Extents
    block: Extents
    cluster: Extents | None = None
    shared: int = 0
    cooperative: bool = False
    programmatic: bool = False

    def __post_init__(self) -> None:
        shared = self.shared
        if not isinstance(shared, int) or isinstance(shared, bool) or shared < 0:
            raise UsageError(f"shared is {shared!r}; expected a number of bytes", code="launch.shared")

    @classmethod
    def of(
        cls,
        grid: Extent,
        block: Extent,
        cluster: Extent | None,
        shared: int,
        cooperative: bool = False,
        programmatic: bool = False,
    ) -> Geometry:
        """Return the geometry of a launch. Errors: UsageError launch.geometry, launch.shared."""
        extents = triple("grid", grid), triple("block", block)
        shape = None if cluster is None else triple("cluster", cluster)
        return cls(*extents, shape, shared, cooperative, programmatic)

    @property
    def cluster_size(self) -> int:
        """Number of CTAs of a cluster."""
        return prod(self.cluster or (1,))

    def configure(self, driver: Any) -> Any:
        """Return the CUlaunchConfig of the launch. `driver` is the module cuda.bindings.driver."""
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = self.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = self.block
        config.sharedMemBytes = self.shared
        attributes: list[Any] = []

        def attribute(name: str) -> Any:
            made = driver.CUlaunchAttribute()
            made.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
            attributes.append(made)
            return made.value

        if self.cluster is not None:
            extents = attribute("CLUSTER_DIMENSION").clusterDim
            extents.x, extents.y, extents.z = self.cluster
        if self.cooperative:
            attribute("COOPERATIVE").cooperative = 1
        if self.programmatic:
            attribute("PROGRAMMATIC_STREAM_SERIALIZATION").programmaticStreamSerializationAllowed = 1
        if attributes:
            config.attrs, config.numAttrs = attributes, len(attributes)
        return config
