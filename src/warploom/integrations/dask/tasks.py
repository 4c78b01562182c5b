"""Execution of independent tasks on a worker pool, even if workers or the scheduler are lost."""

# distributed has no type information of its own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from ctypes import CDLL
from dataclasses import dataclass
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, NoReturn
from uuid import uuid4

from warploom.diagnostics import UsageError
from warploom.integrations.dask.compatibility import describe_worker, require_compatible, source_version
from warploom.integrations.dask.shared_payload import MappedPayload, SharedPayload, mapped, pack
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.runtime.distribution import Announce, WorkReport

LOSS_TIMEOUT = 60.0  # seconds without a scheduler or a worker after which the work is given up
MAX_LOSSES = 5  # losses of the scheduler or of all results in succession without any result between them
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt (malloc.h)
_PROGRESS_INTERVAL = 0.5  # seconds between two progress reports of one task
_POLL_INTERVAL = 1.0  # seconds without an event after which the workers are looked up

ProgressCallback = Callable[[Any], None]
"""Callback that a task calls with its progress. The argument is a tuple of numbers and texts."""
TaskFunction = Callable[[Any, Any, ProgressCallback], Any]
"""Function that does a task. It must be defined at the top level of a module.

Its arguments are a copy of the shared object, the task and a progress callback.
"""


@dataclass(frozen=True, slots=True)
class _Answer:
    """Result of a task, or the error that the task raised."""

    worker: str
    seconds: float  # duration on the worker
    value: Any = None
    error: UsageError | None = None


class _LostError(Exception):
    """Loss of the scheduler, or of results that the scheduler cannot compute again."""


def map_tasks(
    function: TaskFunction, shared: object, tasks: list[Any], workers: str, announce: Announce | None = None
) -> tuple[list[Any], WorkReport]:
    """Run a function for each task on a Dask cluster. Return the results in order, and a report.

    `run_tasks` describes `function` and `shared`. `workers` is "dask", "dask:N" or the address of a scheduler.
    `announce` receives a sentence that describes the cluster.

    Errors: UsageError dask.*.
    """
    report = WorkReport()
    with WorkerPool(workers) as pool:
        if announce is not None:
            announce(str(pool))
        found = dict(run_tasks(pool, function, shared, tasks, None, report))
    return [found[number] for number in range(len(tasks))], report


def run_tasks(
    pool: WorkerPool,
    function: TaskFunction,
    shared: object,
    tasks: Sequence[Any],
    progress: Callable[[int, Any], None] | None = None,
    report: WorkReport | None = None,
) -> Iterator[tuple[int, Any]]:
    """Run a function for each task on a worker pool. Yield the number and result of each ended task.

    `function(shared, task, progress)` does one task. A task may run again if a worker or the scheduler is lost. The
    callback `progress` receives the number of a task and its progress. `report` is updated while the tasks run.

    Errors: UsageError dask.lost, dask.memory, dask.disk, dask.worker; UsageError that a task raises.
    """
    report = WorkReport() if report is None else report
    report.total += len(tasks)
    remaining = dict(enumerate(tasks))
    losses = 0
    while remaining:
        before = len(remaining)
        try:
            for number, value in _submit_and_collect(pool, function, shared, remaining, progress, report):
                del remaining[number]
                report.done += 1
                yield number, value
        except _LostError:
            report.resubmissions += 1
            losses = losses + 1 if len(remaining) == before else 0
            if losses >= MAX_LOSSES:
                _give_up(pool, report, "the workers ended repeatedly, perhaps because they ran out of memory")
            if pool.client.status != "running":
                _reconnect(pool, report)


def _reconnect(pool: WorkerPool, report: WorkReport) -> None:
    pool.disconnect()
    end = time.monotonic() + LOSS_TIMEOUT
    while True:
        try:
            pool.connect()
            return
        except UsageError as error:
            if error.diagnostics[0].code != "dask.scheduler" or time.monotonic() > end:
                _give_up(pool, report, str(error))


def _give_up(pool: WorkerPool, report: WorkReport, reason: str) -> NoReturn:
    where = f"of {pool.address}" if pool.address else "on this host"
    raise UsageError(
        f"the workers {where} did {report.done} of {report.total} tasks and could not continue: {reason}",
        code="dask.lost",
        hint="start the work again when the workers are back",
    )


def _submit_and_collect(
    pool: WorkerPool,
    function: TaskFunction,
    shared: object,
    remaining: dict[int, Any],
    progress: Callable[[int, Any], None] | None,
    report: WorkReport,
) -> Iterator[tuple[int, Any]]:
    """Submit the remaining tasks. Yield the number and the result of each ended task.

    Errors: _LostError; those of `run_tasks`.
    """
    client = pool.client
    events = SimpleQueue[tuple[str, int, Any]]()
    topic = f"warploom-{uuid4().hex}"
    with ExitStack() as stack:
        futures = _submit(pool, function, shared, remaining, topic, stack)
        stack.callback(_cancel, client, futures, topic)

        def receive(event: tuple[float, Any]) -> None:
            events.put(event[1])

        client.subscribe_topic(topic, receive)
        for number, future in futures.items():
            future.add_done_callback(partial(_put_done, events, number))
        started: dict[int, str] = {}
        last_seen = time.monotonic()
        while futures:
            batch = _next_events(events)
            if not batch:
                if client.status != "running":
                    raise _LostError
                if pool.workers():
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > LOSS_TIMEOUT:
                    _give_up(pool, report, "no worker is left")
            for kind, number, value in batch:
                if kind == "started":
                    if number in started:
                        report.restarted += 1
                        report.worker(started[number]).lost += 1
                    started[number] = value
                elif kind == "progress" and progress is not None and number in futures:
                    progress(number, value)
            done = {number: futures.pop(number) for kind, number, _ in batch if kind == "done"}
            for number, answer in zip(done, _answers(client, list(done.values())), strict=True):
                share = report.worker(answer.worker)
                share.tasks += 1
                share.seconds += answer.seconds
                share.counts.update(getattr(answer.value, "counts", {}))
                yield number, answer.value


def _submit(
    pool: WorkerPool, function: TaskFunction, shared: object, remaining: dict[int, Any], topic: str, stack: ExitStack
) -> dict[int, Any]:
    """Submit the remaining tasks, and return their futures by number. Errors: _LostError.

    The shared object stays available until `stack` is closed. `topic` names the Dask events that the tasks send.
    """
    try:
        payload = pack(shared)
        sent: Any = None if pool.address else stack.enter_context(mapped(payload))
        if sent is None:
            sent = pool.client.scatter([payload], broadcast=True, hash=False)[0]
        futures = pool.client.map(
            _run_on_worker,
            list(remaining.values()),
            list(remaining),
            function=function,
            shared=sent,
            topic=topic,
            version=source_version(),
            key=[f"{topic}-{number}" for number in remaining],
            pure=False,
        )
    except (OSError, RuntimeError) as error:
        raise _LostError from error
    return dict(zip(remaining, futures, strict=True))


def _cancel(client: Any, futures: dict[int, Any], topic: str) -> None:
    with suppress(Exception):  # the scheduler may be lost
        client.unsubscribe_topic(topic)
        if futures:
            client.cancel(list(futures.values()))


def _put_done(events: SimpleQueue[tuple[str, int, Any]], number: int, _: object) -> None:
    events.put(("done", number, None))


def _next_events(events: SimpleQueue[tuple[str, int, Any]]) -> list[tuple[str, int, Any]]:
    """Wait for an event, at most for the poll interval. Return all events that have arrived."""
    found: list[tuple[str, int, Any]] = []
    with suppress(Empty):
        found.append(events.get(timeout=_POLL_INTERVAL))
        while True:
            found.append(events.get_nowait())
    return found


def _answers(client: Any, futures: list[Any]) -> list[_Answer]:
    """Return the results of ended tasks, in the order of their futures.

    Errors: _LostError, UsageError.
    """
    from distributed.scheduler import KilledWorker

    try:
        found: list[_Answer] = client.gather(futures)
    except (CancelledError, OSError) as error:
        raise _LostError from error
    except KilledWorker as error:
        number = str(error.task).rpartition("-")[2]
        raise UsageError(
            f"task {number} killed {error.allowed_failures + 1} workers, the last one {error.last_worker}",
            code="dask.memory",
            hint="the system ends processes that run out of memory: start fewer workers, or with more memory",
        ) from None
    except ModuleNotFoundError as error:
        require_compatible("that was given a task", error)
        raise
    for answer in found:
        if answer.error is not None:
            raise answer.error
    return found


# On a worker -------------------------------------------------------------------------------------------------


def _run_on_worker(
    task: Any, number: int, *, function: TaskFunction, shared: SharedPayload | MappedPayload, topic: str, version: str
) -> _Answer:
    """Do task `number` on a worker, and return its result or a UsageError.

    `topic` names the Dask events that carry the progress. `version` is the `source_version` of the submitting process.
    """
    from distributed import get_worker

    _keep_freed_memory()
    worker = get_worker()
    name = f"{worker.address}, process {os.getpid()}"
    last = started = time.monotonic()

    def progress(value: Any) -> None:
        nonlocal last
        if time.monotonic() - last > _PROGRESS_INTERVAL:
            last = time.monotonic()
            worker.log_event(topic, ("progress", number, value))

    try:
        # The worker may have joined after the others were checked.
        require_compatible(name, describe_worker((), ()), version=version)
        worker.log_event(topic, ("started", number, name))
        value = function(shared.unpack(), task, progress)
        return _Answer(name, time.monotonic() - started, value)
    except UsageError as error:
        refusal = error  # returned, because Dask logs raised exceptions
    except MemoryError:
        refusal = UsageError(
            f"the worker {name} ran out of memory in task {number}",
            code="dask.memory",
            hint="start fewer workers, or workers with more memory",
        )
    except OSError as error:
        refusal = UsageError(
            f"the worker {name} failed in task {number}: {error}",
            code="dask.disk",
            hint="free some space there" if error.errno == errno.ENOSPC else "",
        )
    return _Answer(name, time.monotonic() - started, error=refusal)


@cache
def _keep_freed_memory() -> None:
    """Make the C library reuse freed memory. With Dask's settings, each new array would get new pages."""
    libc = CDLL(None)
    # Other libraries than glibc have no such settings.
    if hasattr(libc, "mallopt") and hasattr(libc, "gnu_get_libc_version"):
        libc.mallopt(_TRIM_THRESHOLD, 256 << 20)
        libc.mallopt(_MMAP_THRESHOLD, 32 << 20)
