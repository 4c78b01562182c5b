"""Fixtures for the tests of the integrations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _triton_environment() -> Iterator[None]:
    """Set an option of Triton: version 3.9 warns that its default will change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
        yield
