"""Processes that run one task at a time. The crash of one process does not affect the others."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any, Generic, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


@dataclass(slots=True)
class _Worker:
    process: Any
    pipe: Connection
    at: int
    since: float


class IsolatedProcesses(Generic[Work, Result]):
    """Pool of processes that apply a function to tasks. Function and tasks must be picklable.

    A process has the environment variables that the caller has when the process starts.

    `is_reusable(result)` is True if the process that returned the result can run another task. `on_loss` makes the
    result of a task if its process has ended, or if the task takes longer than `timeout`.

    Units: `timeout` in seconds.
    """

    def __init__(
        self,
        function: Callable[[Work], Result],
        *,
        workers: int,
        timeout: float,
        is_reusable: Callable[[Result], bool],
        on_loss: Callable[[Work], Result],
    ) -> None:
        self._function, self._is_reusable, self._on_loss = function, is_reusable, on_loss
        self._workers, self._timeout = workers, timeout
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload([getattr(function, "func", function).__module__])

    def results(self, work: Sequence[Work]) -> Iterator[tuple[int, Result]]:
        """Run tasks in the processes. Yield (index of the task, result) as the tasks finish."""
        waiting = deque(range(len(work)))
        busy: dict[Connection, _Worker] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < self._workers:
                    self._start(busy, work, waiting.popleft())
                for ready in wait(list(busy), timeout=1):
                    assert isinstance(ready, Connection)
                    worker = busy.pop(ready)
                    try:
                        result: Result = ready.recv()
                        reusable = self._is_reusable(result)
                    except (EOFError, OSError):
                        result, reusable = self._on_loss(work[worker.at]), False
                    yield worker.at, result
                    if reusable and waiting:
                        self._send(busy, worker, work, waiting.popleft())
                    else:
                        self._end(worker)
                for late in [each for each in busy.values() if monotonic() - each.since > self._timeout]:
                    del busy[late.pipe]
                    self._end(late)
                    yield late.at, self._on_loss(work[late.at])
        finally:
            for worker in busy.values():
                self._end(worker)

    def _start(self, busy: dict[Connection, _Worker], work: Sequence[Work], at: int) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(self._function, dict(os.environ), theirs), daemon=True)
        process.start()
        theirs.close()
        self._send(busy, _Worker(process, ours, at, 0.0), work, at)

    def _send(self, busy: dict[Connection, _Worker], worker: _Worker, work: Sequence[Work], at: int) -> None:
        worker.at, worker.since = at, monotonic()
        busy[worker.pipe] = worker
        try:
            worker.pipe.send(work[at])
        except OSError:
            return  # the process has ended; recv() reports that

    def _end(self, worker: _Worker) -> None:
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()


def _serve(function: Callable[[Any], Any], environment: dict[str, str], pipe: Connection) -> None:
    """Apply the function to each task from the pipe, until the pipe closes."""
    os.environ.clear()  # the fork server has the variables from the time of its own start
    os.environ.update(environment)
    while True:
        try:
            piece = pipe.recv()
        except EOFError:
            return
        pipe.send(function(piece))
