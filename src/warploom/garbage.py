"""Pause of Python's cyclic garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Generator[None]:
    """Pause the cyclic garbage collector while many objects are made that stay in use.

    Without the pause, the collector visits all new objects repeatedly. This takes up to a quarter of the time to parse
    and link a long kernel.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
