"""Work in processes of which each may die or hang without harm to the others."""

from __future__ import annotations

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


class Isolated(Generic[Work, Result]):
    """Applies a function to pieces of work, each in a process that lives on to the next unless the result ends it.

    `lasts` says whether a process can go on after a result; `lost` makes the result of work whose process
    ended or did not answer in time. The function and its work must be picklable.

    Units: `patience` in seconds.
    """

    def __init__(
        self,
        function: Callable[[Work], Result],
        *,
        workers: int,
        patience: float,
        lasts: Callable[[Result], bool],
        lost: Callable[[Work], Result],
    ) -> None:
        self._function, self._lasts, self._lost = function, lasts, lost
        self._workers, self._patience = workers, patience
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload([getattr(function, "func", function).__module__])

    def results(self, work: Sequence[Work]) -> Iterator[tuple[int, Result]]:
        """Each result with the number of its work, as they come."""
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
                        lives = self._lasts(result)
                    except (EOFError, OSError):
                        result, lives = self._lost(work[worker.at]), False
                    yield worker.at, result
                    if lives and waiting:
                        self._hand_on(busy, worker, work, waiting.popleft())
                    else:
                        self._end(worker)
                for late in [each for each in busy.values() if monotonic() - each.since > self._patience]:
                    del busy[late.pipe]
                    self._end(late)
                    yield late.at, self._lost(work[late.at])
        finally:
            for worker in busy.values():
                self._end(worker)

    def _start(self, busy: dict[Connection, _Worker], work: Sequence[Work], at: int) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(self._function, theirs), daemon=True)
        process.start()
        theirs.close()
        self._hand_on(busy, _Worker(process, ours, at, 0.0), work, at)

    def _hand_on(
        self, busy: dict[Connection, _Worker], worker: _Worker, work: Sequence[Work], at: int
    ) -> None:
        worker.at, worker.since = at, monotonic()
        busy[worker.pipe] = worker
        try:
            worker.pipe.send(work[at])
        except OSError:
            return  # its process has ended: receiving says so

    def _end(self, worker: _Worker) -> None:
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()


def _serve(function: Callable[[Any], Any], pipe: Connection) -> None:
    """Answer work until there is no more of it."""
    while True:
        try:
            piece = pipe.recv()
        except EOFError:
            return
        pipe.send(function(piece))
