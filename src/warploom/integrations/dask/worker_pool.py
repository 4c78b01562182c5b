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
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from warploom.diagnostics import UsageError
from warploom.integrations.dask import parent_watchdog
from warploom.integrations.dask.compatibility import Requirements, describe_worker, incompatibility

START, ANSWER = 60.0, 15.0  # seconds for workers to start, and for a scheduler elsewhere to answer
_QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "PYTHONWARNINGS": "ignore:resource_tracker:UserWarning",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "2s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "1s",
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING_INTERVAL": "500ms",
}
"""What keeps processes that start here from talking, as what ends the work is said by who waits for it; and from
looking at themselves all the time, which takes a tenth of a core from the work.
"""
_DYING = 10.0  # seconds that a scheduler may take to see that a worker is gone
_ADDRESS = re.compile(r"(tcp|tls|ucx|ucxx|ws|wss|inproc)://\S+|[\w.\-]+:\d+")
_LOCAL = re.compile(r"dask(?::([1-9]\d{0,3}))?")


def parse_workers(workers: str) -> tuple[str, int]:
    """A scheduler's address, or "" and how many workers to start here.

    Errors: UsageError dask.workers.
    """
    local = _LOCAL.fullmatch(workers)
    if local is not None:
        return "", int(local[1] or len(os.sched_getaffinity(0)))
    if _ADDRESS.fullmatch(workers) and not workers.startswith("dask"):
        return workers, 0
    raise UsageError(
        f"workers is {workers!r}; expected a number of threads, 'dask', 'dask:N' for N workers here, or the address of "
        "a Dask scheduler, such as 'tcp://host:8786'",
        code="dask.workers",
    )


class WorkerPool:
    """Workers that can do the work. A context manager; a cluster that was started here is kept for the next crew, and
    with it the connection to it.
    """

    client: Any = None

    def __init__(self, workers: str, needs: Requirements | None = None) -> None:
        """Errors: UsageError dask.workers, dask.packages, dask.scheduler, dask.worker."""
        self.address, self.count = parse_workers(workers)
        if find_spec("distributed") is None:
            raise UsageError(
                "spreading work over machines needs Dask distributed",
                code="dask.packages",
                hint="pip install 'warploom[farm]'",
            )
        self.needs = needs or Requirements()
        self._levels = _hush()
        try:
            self.connect()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave a scheduler elsewhere, and let Dask talk again."""
        if self.address:
            if self.client is not None:
                self.client.close()
            for name, level in self._levels.items():
                logging.getLogger(name).setLevel(level)

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
        patience = ANSWER if self.address else START
        try:
            met = self._find(patience)
            if self.needs in met:
                return
            self.client.wait_for_workers(self.count or 1, timeout=patience)
        except (OSError, TimeoutError, ValueError) as error:
            self.forget()
            if self.address:
                message = f"there is no scheduler with workers at {self.address}: {error or 'no answer'}"
                raise UsageError(message, code="dask.scheduler") from None
            message = f"{self.count} workers did not start within {START:g} seconds: {error}"
            raise UsageError(message, code="dask.scheduler") from None
        self.check_workers()
        met.append(self.needs)

    def _find(self, patience: float) -> list[Requirements]:
        """Connect to the scheduler; returns the needs that its workers are known to meet."""
        from distributed import Client

        if self.address:
            # Workers elsewhere may be out of reach but for their scheduler, which hands on all they get and give.
            self.client = Client(
                self.address, timeout=patience, set_as_default=False, direct_to_workers=False
            )
            return []
        here = _local(self.count)
        self.client = here.client
        return here.met

    def forget(self) -> None:
        """Give up the scheduler, and what is left of a cluster that was started here."""
        if not self.address:
            forget_local(self.count)
        elif self.client is not None:
            with suppress(Exception):  # it may be broken in any way
                self.client.close(timeout=5)

    def workers(self) -> dict[str, Any]:
        """What the scheduler knows of each worker, by address; none where the scheduler is not there."""
        found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def check_workers(self) -> None:
        """Refuse workers that would do something else than this process, or cannot do it.

        Errors: UsageError dask.worker.
        """
        answers = self._answers()
        known = self.workers()
        for address, answer in sorted(answers.items()):
            told = known.get(address, {})
            why, hint = incompatibility(
                str(told.get("name", address)), answer, self.needs, int(told.get("memory_limit") or 0)
            )
            if why:
                raise UsageError(why, code="dask.worker", hint=hint)

    def _answers(self) -> dict[str, Any]:
        """What each worker says it is. One that has just died is asked no more once the scheduler knows it."""
        end = time.monotonic() + _DYING
        while True:
            answers: dict[str, Any] = self.client.run(
                describe_worker, list(self.needs.extras), list(self.needs.files), on_error="return"
            )
            there = {address: said for address, said in answers.items() if not isinstance(said, OSError)}
            if there and (len(there) == len(answers) or time.monotonic() > end):
                return there
            if time.monotonic() > end:
                raise UsageError("no worker answers any more", code="dask.scheduler")
            time.sleep(0.2)


def _hush() -> dict[str, int]:
    """Keep Dask from talking of what whoever waits for the work will say; returns the levels of its loggers before."""
    import_module("distributed")  # gives them their levels
    levels = {name: logging.getLogger(name).level for name in ("distributed", "distributed.client")}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return levels


# Clusters that were started here -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Local:
    """A cluster that was started here, the connection to it, and the needs that its workers are known to meet."""

    cluster: Any
    client: Any = None
    met: list[Requirements] = field(default_factory=list[Requirements])


_locals: dict[int, _Local] = {}


def _local(count: int) -> _Local:
    """A cluster of so many workers here: one for the whole process, as starting it takes seconds.

    Workers are processes of their own, started anew if they die; a script needs no guard against being imported.
    """
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    known = _locals.get(count)
    if known is not None and known.client is not None and known.client.status == "running":
        return known
    forget_local(count)
    with _environment({**_QUIET, **_ours()}):
        cluster = SubprocessCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            shutdown_on_close=False,  # at the end of this process: its processes end with it
        )
    _locals[count] = made = _Local(cluster)
    made.client = Client(cluster, timeout=START, set_as_default=False, direct_to_workers=True)
    return made


def _ours() -> dict[str, str]:
    """What lets processes that start here end with this one, even where it is killed."""
    watch = json.dumps([parent_watchdog.__file__])
    return {
        "DASK_DISTRIBUTED__SCHEDULER__PRELOAD": watch,
        "DASK_DISTRIBUTED__NANNY__PRELOAD": watch,
        parent_watchdog.PARENT: str(os.getpid()),
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
    known = _locals.pop(count, None)
    if known is None:
        return
    _kill(known.cluster)
    for each in (known.client, known.cluster):
        with suppress(Exception):  # they may be broken in any way
            each.close(timeout=1)


os.register_at_fork(after_in_child=_locals.clear)  # a connection does not outlive a fork


@atexit.register
def _kill_all() -> None:
    for known in _locals.values():
        _kill(known.cluster)


def _kill(cluster: Any) -> None:
    """End a cluster's processes: the scheduler, and what looks after the workers, with which these end."""
    for each in (cluster.scheduler, *cluster.workers.values()):
        with suppress(ProcessLookupError, AttributeError):
            each.process.kill()
