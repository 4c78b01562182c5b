"""Watchdog that ends a process of a local cluster when the process that started the cluster ends.

Dask loads this file into the scheduler and the nannies. These processes may not find Warploom, so the file must not
import Warploom.
"""

import os
import time
from threading import Thread

PARENT = "WARPLOOM_CLUSTER_PARENT"
"""Name of the environment variable with the process ID of the parent."""
_INTERVAL = 1.0  # seconds


def dask_setup(_: object) -> None:
    """Start the thread that watches the parent process. Dask calls this function."""
    Thread(target=_watch, args=(int(os.environ[PARENT]),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_INTERVAL)
    os._exit(0)  # a worker ends with its nanny
