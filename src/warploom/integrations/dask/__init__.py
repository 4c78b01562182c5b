"""Many machines: work that is independent, spread over the workers of a Dask cluster (extra `farm`)."""

from __future__ import annotations

from warploom.integrations.dask.grids import grid as grid
from warploom.integrations.dask.tasks import each as each

__all__ = ["each", "grid"]
