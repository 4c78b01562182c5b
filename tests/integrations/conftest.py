"""What all tests of the adapters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _settled_triton() -> Iterator[None]:
    """Triton 3.9 warns of a default that will change, unless it is set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
        yield
