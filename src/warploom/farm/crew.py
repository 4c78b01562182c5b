"""The workers: a cluster that starts here, or one that runs already, once it is known that it can do the work."""

# distributed has no type information of its own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import atexit
import json
import logging
import os
import re
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from warploom.diag import UsageError
from warploom.farm import lifeline
from warploom.farm.census import Needs, census, complaint

START, ANSWER = 60.0, 15.0  # seconds for workers to start, and for a scheduler elsewhere to answer
_QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "PYTHONWARNINGS": "ignore:resource_tracker:UserWarning",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "2s",
}
"""What keeps processes that start here from talking, as what ends the work is said by who waits for it; and from
looking at themselves all the time, which takes a tenth of a core from the work.
"""
_DYING = 10.0  # seconds that a scheduler may take to see that a worker is gone
_ADDRESS = re.compile(r"(tcp|tls|ucx|ucxx|ws|wss|inproc)://\S+|[\w.\-]+:\d+")
_LOCAL = re.compile(r"dask(?::([1-9]\d{0,3}))?")


def parse(workers: str) -> tuple[str, int]:
    """A scheduler's address, or "" and how many workers to start here.

    Errors: UsageError farm.workers.
    """
    local = _LOCAL.fullmatch(workers)
    if local is not None:
        return "", int(local[1] or len(os.sched_getaffinity(0)))
    if _ADDRESS.fullmatch(workers) and not workers.startswith("dask"):
        return workers, 0
    raise UsageError(
        f"workers is {workers!r}; expected a number of threads, 'dask', 'dask:N' for N workers here, or the address of "
        "a Dask scheduler, such as 'tcp://host:8786'",
        code="farm.workers",
    )


class Crew:
    """Workers that can do the work. A context manager; a cluster that was started here is kept for the next crew."""

    client: Any

    def __init__(self, workers: str, needs: Needs | None = None) -> None:
        """Errors: UsageError farm.workers, farm.packages, farm.scheduler, farm.worker."""
        self.address, self.count = parse(workers)
        if find_spec("distributed") is None:
            raise UsageError(
                "spreading work over machines needs Dask distributed",
                code="farm.packages",
                hint="pip install 'warploom[farm]'",
            )
        self.needs = needs or Needs()
        self.connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.client.close()

    def __str__(self) -> str:
        count = len(self.workers())
        where = f"at {self.address}" if self.address else "here"
        watched = f"watched at {self.dashboard}" if self.dashboard else "not watched: bokeh is not installed"
        return f"{count} worker{'s' * (count > 1)} {where}, {watched}"

    @property
    def dashboard(self) -> str:
        """Where Dask's dashboard is; empty where there is none."""
        return str(self.client.dashboard_link or "") if find_spec("bokeh") is not None else ""

    def connect(self) -> None:
        """Find the scheduler, again where it was lost, and see that its workers can do the work."""
        from distributed import Client

        address = self.address or _local(self.count)
        patience = ANSWER if self.address else START
        client = None
        try:
            # Workers elsewhere may be out of reach but for their scheduler, which hands on all they get and give.
            self.client = client = Client(
                address, timeout=patience, set_as_default=False, direct_to_workers=not self.address
            )
            client.wait_for_workers(self.count or 1, timeout=patience)
        except (OSError, TimeoutError, ValueError) as error:
            if client is not None:
                client.close()
            if self.address:
                message = f"there is no scheduler with workers at {self.address}: {error or 'no answer'}"
                raise UsageError(message, code="farm.scheduler") from None
            message = f"{self.count} workers did not start within {START:g} seconds: {error}"
            raise UsageError(message, code="farm.scheduler") from None
        try:
            self.inspect()
        except UsageError:
            self.client.close()
            raise

    def workers(self) -> dict[str, Any]:
        """What the scheduler knows of each worker, by address; none where the scheduler is not there."""
        found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def inspect(self) -> None:
        """Refuse workers that would do something else than this process, or cannot do it.

        Errors: UsageError farm.worker.
        """
        answers = self._answers()
        known = self.workers()
        for address, answer in sorted(answers.items()):
            told = known.get(address, {})
            why, hint = complaint(
                str(told.get("name", address)), answer, self.needs, int(told.get("memory_limit") or 0)
            )
            if why:
                raise UsageError(why, code="farm.worker", hint=hint)

    def _answers(self) -> dict[str, Any]:
        """What each worker says it is. One that has just died is asked no more once the scheduler knows it."""
        end = time.monotonic() + _DYING
        while True:
            answers: dict[str, Any] = self.client.run(
                census, list(self.needs.extras), list(self.needs.files), on_error="return"
            )
            there = {address: said for address, said in answers.items() if not isinstance(said, OSError)}
            if there and (len(there) == len(answers) or time.monotonic() > end):
                return there
            if time.monotonic() > end:
                raise UsageError("no worker answers any more", code="farm.scheduler")
            time.sleep(0.2)


# Clusters that were started here -----------------------------------------------------------------------------

_clusters: dict[int, Any] = {}


def _local(count: int) -> Any:
    """A cluster of so many workers here: one for the whole process, as starting it takes seconds.

    Workers are processes of their own, started anew if they die; a script needs no guard against being imported.
    """
    from distributed.deploy.subprocess import SubprocessCluster

    known = _clusters.get(count)
    if known is not None and known.status.name == "running":
        return known
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with _environment({**_QUIET, **_ours()}):
        cluster = SubprocessCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            shutdown_on_close=False,  # at the end of this process: its processes end with it
        )
    _clusters[count] = cluster
    return cluster


def _ours() -> dict[str, str]:
    """What lets processes that start here end with this one, even where it is killed."""
    watch = json.dumps([lifeline.__file__])
    return {
        "DASK_DISTRIBUTED__SCHEDULER__PRELOAD": watch,
        "DASK_DISTRIBUTED__NANNY__PRELOAD": watch,
        lifeline.PARENT: str(os.getpid()),
    }


@contextmanager
def _environment(added: Mapping[str, str]) -> Generator[None]:
    """Variables that processes started meanwhile have besides."""
    before = dict(os.environ)
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
        os.environ.update(before)


def forget_local(count: int) -> None:
    """End a cluster that was started here, or what is left of it."""
    cluster = _clusters.pop(count, None)
    if cluster is None:
        return
    _kill(cluster)
    with suppress(Exception):  # it may be broken in any way
        cluster.close(timeout=1)


@atexit.register
def _kill_all() -> None:
    for cluster in _clusters.values():
        _kill(cluster)


def _kill(cluster: Any) -> None:
    """End a cluster's processes: the scheduler, and what looks after the workers, with which these end."""
    for each in (cluster.scheduler, *cluster.workers.values()):
        with suppress(ProcessLookupError, AttributeError):
            each.process.kill()
