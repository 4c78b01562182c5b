"""A fake GPU for the tests of this folder."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from gpu.nvidia import Fake, View

from warploom.gpu import assemble, driver
from warploom.runtime import cuda


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A GPU of which nothing is known from the test before."""
    made = Fake()
    modules: dict[str, Any] = {}

    def find(name: str) -> Any:
        modules.update({} if modules else made.modules())
        return modules[name]

    monkeypatch.setattr(driver, "import_module", find)
    for library in ("torch", "cupy"):  # the ones that are here know nothing of its streams
        monkeypatch.delitem(sys.modules, library, raising=False)
    cuda._assembled.cache_clear()
    assemble.find_ptxas.cache_clear()
    View.seen.clear()
    return made
