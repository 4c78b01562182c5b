"""Distribution of launches and of independent tasks over the workers of a Dask cluster (extra `farm`)."""

from warploom.integrations.dask.grid import run_grid
from warploom.integrations.dask.tasks import map_tasks

__all__ = ["map_tasks", "run_grid"]
