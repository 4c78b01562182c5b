"""Settings that every test shares: Hypothesis, the tiers of the suite, and a Dask cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from dask_cluster import scheduler
from hypothesis import settings
from tiers import markers

# Test machines vary too much for a deadline; bench/ measures speed.
settings.register_profile("warploom", deadline=None, print_blob=True)
settings.load_profile("warploom")

__all__ = ["scheduler"]

_TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Assign the markers of the tiers, which `tiers.py` lists."""
    for item in items:
        name = item.nodeid.partition("::")[2]
        identifier = f"{item.path.relative_to(_TESTS).as_posix()}::{name}"
        for marker in markers(identifier, set(getattr(item, "fixturenames", ()))):
            item.add_marker(marker)
