"""Dask clusters on this host, kept until this process ends."""

# distributed has no type information of its own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

import atexit
import json
import logging
import os
import signal
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from warploom.integrations.dask import parent_watchdog
from warploom.integrations.dask.compatibility import Requirements

START_TIMEOUT, _END_TIMEOUT = 60.0, 2.0  # seconds
_SETTINGS = {
    # This package reports lost workers itself, so Dask's own messages are switched off.
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "PYTHONWARNINGS": "ignore:resource_tracker:UserWarning",
    # With Dask's default intervals, monitoring takes a tenth of a core from the work.
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "2s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "1s",
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING_INTERVAL": "500ms",
    # The watchdog ends schedulers and nannies when this process ends.
    "DASK_DISTRIBUTED__SCHEDULER__PRELOAD": json.dumps([parent_watchdog.__file__]),
    "DASK_DISTRIBUTED__NANNY__PRELOAD": json.dumps([parent_watchdog.__file__]),
}


@dataclass(slots=True)
class LocalCluster:
    """Dask cluster on this host, its client, and requirements that its workers have met."""

    cluster: Any
    client: Any = None
    met_requirements: list[Requirements] = field(default_factory=list[Requirements])


_clusters: dict[int, LocalCluster] = {}


def local_cluster(count: int) -> LocalCluster:
    """Return the local cluster with `count` workers. Start the cluster if it is not running.

    The calling script needs no `if __name__ == "__main__"`.
    """
    # The workers are subprocesses of a new interpreter. Dask restarts workers that die.
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    known = _clusters.get(count)
    if known is not None and known.client is not None and known.client.status == "running":
        return known
    discard_local_cluster(count)
    with _environment({**_SETTINGS, parent_watchdog.PARENT: str(os.getpid())}):
        cluster = SubprocessCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            shutdown_on_close=False,  # `_kill_all` and the watchdog end the processes
        )
    _clusters[count] = started = LocalCluster(cluster)
    started.client = Client(cluster, timeout=START_TIMEOUT, set_as_default=False, direct_to_workers=True)
    return started


def discard_local_cluster(count: int) -> None:
    """End the local cluster with `count` workers, if any. The cluster may have failed."""
    known = _clusters.pop(count, None)
    if known is None:
        return
    processes, end = _kill(known.cluster), time.monotonic() + _END_TIMEOUT
    while any(process.returncode is None for process in processes) and time.monotonic() < end:
        time.sleep(0.01)
    for resource in (known.client, known.cluster):
        with suppress(Exception):  # a broken client or cluster may raise anything
            resource.close(timeout=1)


@contextmanager
def _environment(added: Mapping[str, str]) -> Generator[None]:
    before = dict(os.environ)
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
        os.environ.update(before)


os.register_at_fork(after_in_child=_clusters.clear)  # a connection does not survive a fork


@atexit.register
def _kill_all() -> None:
    for known in _clusters.values():
        _kill(known.cluster)


def _kill(cluster: Any) -> list[Any]:
    """End the scheduler and the nannies of a cluster, and return their processes."""
    owners = (cluster.scheduler, *cluster.workers.values())
    processes = [owner.process for owner in owners if getattr(owner, "process", None) is not None]
    for process in processes:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                # Leaves the exit status to the event loop, unlike `process.kill`. A worker ends with its nanny.
                os.kill(process.pid, signal.SIGKILL)
    return processes
