"""A cluster that was started here ends with the process that started it, however that ends.

Dask loads this file into the scheduler and into what looks after each worker, where this package need not be found.
"""

from __future__ import annotations

import os
import time
from threading import Thread

PARENT = "WARPLOOM_CLUSTER_OF"
"""The variable that says whose cluster it is: the number of a process."""
_LOOK = 1.0  # seconds between two looks


def dask_setup(_: object) -> None:
    """Watch the parent, as Dask has it of a module that it loads first."""
    Thread(target=_watch, args=(int(os.environ[PARENT]),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(0)  # workers end with what looks after them
