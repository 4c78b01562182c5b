"""Many machines: work that is independent, spread over the workers of a Dask cluster (extra `farm`)."""

from __future__ import annotations

from warploom.farm.grids import grid as grid
from warploom.farm.tasks import each as each

__all__ = ["each", "grid"]
