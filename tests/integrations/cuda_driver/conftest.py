"""Driver library for the tests of a process."""

import os
from collections.abc import Iterator

import pytest
from integrations.cuda_driver.driver import Driver

from warploom.integrations.cuda_driver.launch_log import LaunchOptions


@pytest.fixture(scope="session")
def loaded_driver() -> Iterator[Driver]:
    """Driver library with a server. A process can use one server only."""
    before = os.environ.get("WARPLOOM_EXEC")
    yield Driver(LaunchOptions("sm_90a"))
    if before is None:
        os.environ.pop("WARPLOOM_EXEC", None)


@pytest.fixture
def driver(loaded_driver: Driver) -> Iterator[Driver]:
    """Driver whose primary context is current, without objects of earlier tests."""
    import ctypes

    loaded_driver.expect("cuInit", 0)
    context = ctypes.c_void_p(loaded_driver.value("cuDevicePrimaryCtxRetain", ctypes.c_void_p, 0))
    loaded_driver.expect("cuCtxSetCurrent", context)
    loaded_driver.seen.sentences.clear()
    loaded_driver.seen.diagnostics.clear()
    yield loaded_driver
    loaded_driver.expect("cuDevicePrimaryCtxReset_v2", 0)
    loaded_driver.forget_failure()
