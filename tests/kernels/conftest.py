"""The machines that multiplications are tested on: the abstract one, and the GPU where one is."""

from __future__ import annotations

import pytest

from warploom.diagnostics import UsageError
from warploom.gpu import Gpu


def _machines() -> list[str]:
    try:
        with Gpu() as gpu:
            return ["cpu", "cuda"] if gpu.arch == "sm_90a" else ["cpu"]
    except UsageError:
        return ["cpu"]


@pytest.fixture(params=_machines())
def device(request: pytest.FixtureRequest) -> str:
    """Where a multiplication is done."""
    return request.param
