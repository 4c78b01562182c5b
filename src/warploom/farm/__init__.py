"""Many machines: work that is independent, spread over the workers of a Dask cluster (extra `farm`)."""

from __future__ import annotations

from warploom.farm.each import each as each
from warploom.farm.grid import grid as grid

__all__ = ["each", "grid"]
