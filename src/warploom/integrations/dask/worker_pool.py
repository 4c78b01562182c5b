"""Pool of Dask workers on this host or at a running scheduler."""

# distributed has no type information of its own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

import logging
import os
import re
import time
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

from warploom.diagnostics import UsageError
from warploom.integrations.dask.compatibility import Requirements, describe_worker, require_compatible
from warploom.integrations.dask.local_cluster import START_TIMEOUT, discard_local_cluster, local_cluster

ANSWER_TIMEOUT = 15.0  # seconds for a running scheduler
_DEAD_WORKER_TIMEOUT = 10.0  # seconds after which a scheduler knows that a worker is dead
_ADDRESS = re.compile(r"(tcp|tls|ucx|ucxx|ws|wss|inproc)://\S+|[\w.\-]+:\d+")
_LOCAL = re.compile(r"dask(?::([1-9]\d{0,3}))?")


def parse_workers(workers: str) -> tuple[str, int]:
    """Parse the name of a Dask cluster: "dask", "dask:N" or the address of a scheduler.

    Return the address and 0 for a scheduler. Otherwise return "" and the number of workers on this host.

    Errors: UsageError dask.workers.
    """
    local = _LOCAL.fullmatch(workers)
    if local is not None:
        return "", int(local[1] or len(os.sched_getaffinity(0)))
    if _ADDRESS.fullmatch(workers) and not workers.startswith("dask"):
        return workers, 0
    raise UsageError(
        f"workers is {workers!r}; expected a number of threads, 'dask', 'dask:N' for N workers on this host, or the "
        "address of a Dask scheduler, such as 'tcp://host:8786'",
        code="dask.workers",
    )


class WorkerPool:
    """Context manager for Dask workers that meet the requirements of the work.

    A cluster on this host keeps running after the end of the pool, for the next pool.
    """

    client: Any = None

    def __init__(self, workers: str, requirements: Requirements | None = None) -> None:
        """Connect to the workers. `parse_workers` describes `workers`.

        Errors: UsageError dask.workers, dask.packages, dask.scheduler, dask.worker.
        """
        self.address, self.count = parse_workers(workers)
        if find_spec("distributed") is None:
            raise UsageError(
                "distributing work needs Dask distributed", code="dask.packages", hint="pip install 'warploom[farm]'"
            )
        self.requirements = requirements or Requirements()
        self._log_levels = _silence_dask()
        try:
            self.connect()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect from a running scheduler, and restore the levels of Dask's loggers."""
        if self.address:
            if self.client is not None:
                self.client.close()
            for name, level in self._log_levels.items():
                logging.getLogger(name).setLevel(level)

    def __str__(self) -> str:
        count = len(self.workers())
        where = f"at {self.address}" if self.address else "on this host"
        link = self.client.dashboard_link if find_spec("bokeh") is not None else ""
        dashboard = f"dashboard at {link}" if link else "no dashboard: bokeh is not installed"
        return f"{count} worker{'s' * (count > 1)} {where}, {dashboard}"

    def connect(self) -> None:
        """Connect to the scheduler, and check the workers.

        Errors: UsageError dask.scheduler, dask.worker.
        """
        timeout = ANSWER_TIMEOUT if self.address else START_TIMEOUT
        try:
            met = self._connect(timeout)
            if self.requirements in met:
                return
            self.client.wait_for_workers(self.count or 1, timeout=timeout)
        except (OSError, TimeoutError, ValueError) as error:
            self.disconnect()
            message = f"{self.count} workers did not start within {START_TIMEOUT:g} seconds: {error}"
            if self.address:
                message = f"there is no scheduler with workers at {self.address}: {error or 'no answer'}"
            raise UsageError(message, code="dask.scheduler") from None
        self.check_workers()
        met.append(self.requirements)

    def _connect(self, timeout: float) -> list[Requirements]:
        from distributed import Client

        if self.address:
            # Other hosts may reach the workers only through the scheduler, which then forwards all data.
            self.client = Client(self.address, timeout=timeout, set_as_default=False, direct_to_workers=False)
            return []
        local = local_cluster(self.count)
        self.client = local.client
        return local.met_requirements

    def disconnect(self) -> None:
        """Close a broken connection. A cluster on this host is also ended."""
        if not self.address:
            discard_local_cluster(self.count)
        elif self.client is not None:
            with suppress(Exception):  # a broken client may raise anything
                self.client.close(timeout=5)

    def workers(self) -> dict[str, Any]:
        """Return the scheduler's information about each worker, by address."""
        found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def check_workers(self) -> None:
        """Refuse workers that are not compatible with this process.

        Errors: UsageError dask.worker.
        """
        answers = self._describe_workers()
        known = self.workers()
        for address, answer in sorted(answers.items()):
            worker = known.get(address, {})
            name, memory_limit = str(worker.get("name", address)), int(worker.get("memory_limit") or 0)
            require_compatible(name, answer, self.requirements, memory_limit)

    def _describe_workers(self) -> dict[str, Any]:
        """Return the result of `describe_worker` on each worker, by address."""
        end = time.monotonic() + _DEAD_WORKER_TIMEOUT
        extras, files = list(self.requirements.extras), list(self.requirements.files)
        while True:
            answers: dict[str, Any] = self.client.run(describe_worker, extras, files, on_error="return")
            alive = {address: found for address, found in answers.items() if not isinstance(found, OSError)}
            if alive and (len(alive) == len(answers) or time.monotonic() > end):
                return alive
            if time.monotonic() > end:
                raise UsageError("no worker answers any more", code="dask.scheduler")
            time.sleep(0.2)  # until the scheduler has removed workers that do not answer


def _silence_dask() -> dict[str, int]:
    """Silence Dask's loggers, and return their previous levels."""
    import_module("distributed")  # it sets the levels
    levels = {name: logging.getLogger(name).level for name in ("distributed", "distributed.client")}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return levels
