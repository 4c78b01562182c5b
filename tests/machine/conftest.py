"""A hang is a failure here, soon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _budget() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPLOOM_STEP_BUDGET", "400000")
        yield
