"""Launch tests run on the abstract machine always, and where a GPU is, there too."""

from __future__ import annotations

from collections.abc import Iterator

import on_gpu
import pytest

import warploom as wl


@pytest.fixture(scope="package", autouse=True)
def _both_machines() -> Iterator[None]:
    """Where a GPU is, every plain launch runs there too, and must leave the same bits."""
    with pytest.MonkeyPatch.context() as patch:
        if on_gpu.arch():
            patch.setattr(wl, "launch", on_gpu.on_both(wl.launch))
        yield
