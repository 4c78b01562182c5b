"""Settings every test shares."""

from __future__ import annotations

from dask_cluster import scheduler
from hypothesis import settings

# The machines that run this vary too much for a deadline; speed is measured in bench/.
settings.register_profile("warploom", deadline=None, print_blob=True)
settings.load_profile("warploom")

__all__ = ["scheduler"]
