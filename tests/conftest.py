"""Settings every test shares."""

from __future__ import annotations

from collections.abc import Iterator

import on_gpu
import pytest
from hypothesis import settings

import warploom as wl

# The machines that run this vary too much for a deadline; speed is measured in bench/.
settings.register_profile("warploom", deadline=None, print_blob=True)
settings.load_profile("warploom")


@pytest.fixture(scope="session", autouse=True)
def _both_machines() -> Iterator[None]:
    """Where a GPU is, every plain launch runs there too, and must leave the same bits."""
    with pytest.MonkeyPatch.context() as patch:
        if on_gpu.arch():
            patch.setattr(wl, "launch", on_gpu.on_both(wl.launch))
        yield
