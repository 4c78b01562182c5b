"""A hang is a failure here, soon."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", "400000")
