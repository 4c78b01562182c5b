"""Work for a crew: independent tasks, each done once as far as anyone can tell, whatever happens to workers."""

# distributed has no type information of its own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from ctypes import CDLL
from dataclasses import dataclass
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, NoReturn, Protocol, runtime_checkable
from uuid import uuid4

from warploom.diagnostics import UsageError
from warploom.integrations.dask.compatibility import (
    Requirements,
    describe_worker,
    incompatibility,
    source_version,
)
from warploom.integrations.dask.shared_payload import MappedPayload, SharedPayload, mapped, pack
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.runtime.distribution import Announce, WorkReport

PATIENCE = 60.0  # seconds that a scheduler, or the last worker, may be gone before the work is given up
ROUNDS = 5  # times in a row that everything may be lost with nothing done in between
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt (malloc.h)
_TOLD = 0.5  # seconds between two reports of one task
_LOOK = 1.0  # seconds after which nothing heard means a look at who is left

Hear = Callable[[int, Any], None]
ProgressCallback = Callable[[Any], None]
"""Told how far a task is: plain data, numbers and texts in tuples."""
TaskFunction = Callable[[Any, Any, ProgressCallback], Any]
"""What a worker does, a function of a module: given a copy of what all tasks share, a task, and whom to tell how far
it is.
"""


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a task could not be done."""

    error: UsageError


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came of a task, and who did it."""

    value: Any
    worker: str
    seconds: float


@runtime_checkable
class Counted(Protocol):
    """A result that says what is to be counted of it."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How much of what."""
        ...


def map_tasks(
    function: TaskFunction, shared: object, tasks: list[Any], workers: str, announce: Announce | None = None
) -> tuple[list[Any], WorkReport]:
    """Return the result of a function for each task, in the order of the tasks, and the report of the work.

    Errors: UsageError dask.*.
    """
    report = WorkReport()
    with WorkerPool(workers) as pool:
        if announce is not None:
            announce(str(pool))
        found = dict(run_tasks(pool, function, shared, tasks, None, report))
    return [found[number] for number in range(len(tasks))], report


class _Lost(Exception):
    """What the scheduler knew is gone, or a part of it that it cannot make again."""


def run_tasks(
    crew: WorkerPool,
    job: TaskFunction,
    shared: Any,
    tasks: Sequence[Any],
    hear: Hear | None = None,
    report: WorkReport | None = None,
) -> Iterator[tuple[int, Any]]:
    """Each task's number and what `job` made of it, in the order in which they are done; every one once.

    What all tasks share goes to each worker once. A task whose worker dies is done by another one; with the
    scheduler gone, what has not come back is begun anew by the next one. `hear` is told what tasks tell.

    Errors: UsageError dask.lost, dask.memory, dask.disk, dask.worker; UsageError that a task raises.
    """
    report = WorkReport() if report is None else report
    report.total += len(tasks)
    left = dict(enumerate(tasks))
    idle = 0
    while left:
        before = len(left)
        try:
            for number, value in _round(crew, job, shared, left, hear, report):
                del left[number]
                report.done += 1
                yield number, value
        except _Lost:
            report.resubmissions += 1
            idle = idle + 1 if len(left) == before else 0
            if idle >= ROUNDS:
                why = "the workers ended time and again, as processes that take more memory than there is do"
                _give_up(crew, report, why)
            if crew.client.status != "running":
                _reconnect(crew, report)


def _reconnect(crew: WorkerPool, report: WorkReport) -> None:
    crew.forget()
    end = time.monotonic() + PATIENCE
    while True:
        try:
            crew.connect()
            return
        except UsageError as error:
            if error.diagnostics[0].code != "dask.scheduler" or time.monotonic() > end:
                _give_up(crew, report, str(error))


def _give_up(crew: WorkerPool, report: WorkReport, why: str) -> NoReturn:
    place = f"the workers of {crew.address}" if crew.address else "the workers here"
    raise UsageError(
        f"{place} did {report.done} of {report.total} tasks, then the work could not go on: {why}",
        code="dask.lost",
        hint="start it again once the workers are back",
    )


def _round(
    crew: WorkerPool,
    job: TaskFunction,
    shared: Any,
    left: dict[int, Any],
    hear: Hear | None,
    report: WorkReport,
) -> Iterator[tuple[int, Any]]:
    """Submit what is left, and hand on what comes back. Errors: _Lost."""
    client, heard = crew.client, SimpleQueue[tuple[str, Any]]()
    topic = f"warploom-{uuid4().hex}"

    def told_of(event: tuple[float, Any]) -> None:
        heard.put(("told", event[1]))

    with ExitStack() as stack:
        futures = _submit(crew, job, shared, left, topic, stack)
        stack.callback(_drop, client, futures, topic)
        client.subscribe_topic(topic, told_of)
        for number, future in futures.items():
            future.add_done_callback(partial(_done, heard, number))
        begun: dict[int, str] = {}
        seen = time.monotonic()
        while futures:
            messages = _messages(heard)
            if not messages:
                if client.status != "running":
                    raise _Lost
                if crew.workers():
                    seen = time.monotonic()
                elif time.monotonic() - seen > PATIENCE:
                    _give_up(crew, report, "no worker is left")
            for number, worker, told in (what for kind, what in messages if kind == "told"):
                if told is None:  # it begins
                    if number in begun:
                        report.restarted += 1
                        report.worker(begun[number]).lost += 1
                    begun[number] = worker
                elif hear is not None and number in futures:
                    hear(number, told)
            done = [what for kind, what in messages if kind == "done"]
            answers = _answers(client, {number: futures[number] for number in done})
            for number, answer in zip(done, answers, strict=True):
                del futures[number]
                share = report.worker(answer.worker)
                share.tasks += 1
                share.seconds += answer.seconds
                if isinstance(answer.value, Counted):
                    share.counts.update(answer.value.counts)
                yield number, answer.value


def _drop(client: Any, futures: dict[int, Any], topic: str) -> None:
    """Have nobody do any more what nobody waits for."""
    with suppress(Exception):  # the scheduler may be gone, and with it all there is to drop
        client.unsubscribe_topic(topic)
        if futures:
            client.cancel(list(futures.values()))


def _messages(heard: SimpleQueue[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """What has been heard; after a while of nothing, none."""
    found: list[tuple[str, Any]] = []
    with suppress(Empty):
        found.append(heard.get(timeout=_LOOK))
        while True:
            found.append(heard.get_nowait())
    return found


def _done(heard: SimpleQueue[tuple[str, Any]], number: int, future: Any) -> None:
    heard.put(("done", number))


def _submit(
    crew: WorkerPool, job: TaskFunction, shared: Any, left: dict[int, Any], topic: str, stack: ExitStack
) -> dict[int, Any]:
    """The tasks as futures, the first ones first. Errors: _Lost."""
    try:
        parcel = pack(shared)
        everywhere: Any = None if crew.address else stack.enter_context(mapped(parcel))
        if everywhere is None:
            everywhere = crew.client.scatter([parcel], broadcast=True, hash=False)[0]
        futures = crew.client.map(
            _do,
            list(left.values()),
            list(left),
            job=job,
            shared=everywhere,
            topic=topic,
            expected=source_version(),
            key=[f"{topic}-{number}" for number in left],
            pure=False,
        )
    except (OSError, RuntimeError) as error:
        raise _Lost from error
    return dict(zip(left, futures, strict=True))


def _answers(client: Any, futures: dict[int, Any]) -> list[_Answer]:
    """The answers of tasks that are done. Errors: as `_answer`."""
    if len(futures) > 1 and all(future.status == "finished" for future in futures.values()):
        with suppress(Exception):  # what is wrong comes out when they are asked for one by one
            found = client.gather(list(futures.values()))
            if all(isinstance(answer, _Answer) for answer in found):
                return found
    return [_answer(future, number) for number, future in futures.items()]


def _answer(future: Any, number: int) -> _Answer:
    """The answer of a task that is done. Errors: _Lost, UsageError."""
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    try:
        found = future.result()
    except (CancelledError, OSError) as error:
        raise _Lost from error
    except KilledWorker as error:
        raise UsageError(
            f"task {number} ended {error.allowed_failures + 1} workers, the last one {error.last_worker}",
            code="dask.memory",
            hint="a system ends processes that take more memory than there is: start fewer workers, or with more",
        ) from None
    except ModuleNotFoundError as error:
        why, hint = incompatibility("that was given a task", error, Requirements(), 0)
        raise UsageError(why, code="dask.worker", hint=hint) from None
    if isinstance(found, _Failure):
        raise found.error
    return found


# On a worker -------------------------------------------------------------------------------------------------


def _do(
    task: Any,
    number: int,
    *,
    job: TaskFunction,
    shared: SharedPayload | MappedPayload,
    topic: str,
    expected: str,
) -> _Answer | _Failure:
    """Do a task, on a worker."""
    from distributed import get_worker

    _keep_memory()
    worker = get_worker()
    name = f"{worker.address}, process {os.getpid()}"
    if source_version() != expected:  # it came after the others were looked at
        why, hint = incompatibility(name, describe_worker((), ()), Requirements(), 0, expected)
        return _Failure(UsageError(why, code="dask.worker", hint=hint))
    worker.log_event(topic, (number, name, None))
    last = started = time.monotonic()

    def tell(what: Any) -> None:
        nonlocal last
        if time.monotonic() - last > _TOLD:
            last = time.monotonic()
            worker.log_event(topic, (number, name, what))

    try:
        return _Answer(job(shared.unpack(), task, tell), name, time.monotonic() - started)
    except UsageError as error:
        return _Failure(error)
    except MemoryError:
        why = f"the worker {name} has not the memory for task {number}"
        hint = "start fewer workers, or workers with more memory"
        return _Failure(UsageError(why, code="dask.memory", hint=hint))
    except OSError as error:
        why = f"the worker {name} could not do task {number}: {error}"
        hint = "free some space there" if error.errno == errno.ENOSPC else ""
        return _Failure(UsageError(why, code="dask.disk", hint=hint))


@cache
def _keep_memory() -> None:
    """Have the C library keep what is freed: Dask has it given back at once, so that every array is new pages.

    Elsewhere than on glibc nothing is done.
    """
    libc = CDLL(None)
    if hasattr(libc, "mallopt") and hasattr(libc, "gnu_get_libc_version"):
        libc.mallopt(_TRIM_THRESHOLD, 256 << 20)
        libc.mallopt(_MMAP_THRESHOLD, 32 << 20)
