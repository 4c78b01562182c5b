"""Fuzzing in processes that may die."""

from __future__ import annotations

import multiprocessing as mp
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from warploom_lab.fuzz.inputs import Inputs
from warploom_lab.fuzz.trial import Fault, find_fault, time_limit

MEMORY = 1 << 30
_BLOCK = 1_000
_GRACE = 20  # seconds of processor time after which a process that ignores the alarm ends
_KEPT = 100  # faults of one kind that are kept

Progress = Callable[[int], None]


@dataclass(slots=True)
class Outcome:
    """Result of a fuzzing run: the number of inputs, the faults by kind, and the peak memory."""

    tried: int = 0
    faults: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    memory: int = 0  # bytes, of the process with the highest peak

    def add(self, fault: Fault) -> None:
        """Add a fault. A limited number of faults of each kind is kept."""
        known = self.faults.setdefault(fault.kind, [])
        if len(known) < _KEPT:
            known.append(fault)


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    at: Synchronized[int]
    block: range


def fuzz(corpus: Path, seed: int, numbers: range, workers: int = 1, progress: Progress | None = None) -> Outcome:
    """Run the inputs with the given numbers in `workers` processes.

    A process that exceeds its memory or time limit is a fault of its current input.
    """
    outcome = Outcome()
    inputs = Inputs(corpus, seed)
    blocks = iter([range(at, min(at + _BLOCK, numbers.stop)) for at in range(numbers.start, numbers.stop, _BLOCK)])
    context = mp.get_context("spawn")
    running: list[_Worker] = []

    def start(block: range) -> None:
        here, there = context.Pipe()
        at: Synchronized[int] = context.Value("q", block.start)
        process = context.Process(target=_work, args=(corpus, seed, there, at), daemon=True)
        process.start()
        there.close()
        here.send(block)
        running.append(_Worker(process, here, at, block))

    for _, block in zip(range(workers), blocks, strict=False):
        start(block)
    while running:
        for ready in wait([worker.pipe for worker in running]):
            worker = next(worker for worker in running if worker.pipe is ready)
            try:
                faults, memory = worker.pipe.recv()
            except EOFError:
                running.remove(worker)
                worker.process.join()
                number = worker.at.value
                outcome.add(Fault(f"process ended ({worker.process.exitcode})", inputs[number], f"input {number}"))
                start(range(number + 1, worker.block.stop))
                continue
            for fault in faults:
                outcome.add(fault)
            outcome.tried += len(worker.block)
            outcome.memory = max(outcome.memory, memory)
            if progress is not None:
                progress(outcome.tried)
            following = next(blocks, None)
            worker.block = following or range(0)
            worker.pipe.send(following)
            if following is None:
                running.remove(worker)
                worker.process.join()
    return outcome


def _work(corpus: Path, seed: int, pipe: Connection, at: Synchronized[int]) -> None:
    inputs = Inputs(corpus, seed)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while (block := pipe.recv()) is not None:
        pipe.send((list(_faults(inputs, block, at)), _peak()))


def _faults(inputs: Inputs, block: range, at: Synchronized[int]) -> Iterator[Fault]:
    for number in block:
        at.value = number
        text = inputs[number]
        if number % 50 == 0 or len(text) > 10_000:
            _limit_processor_time(time_limit(text) + _GRACE)
        fault = find_fault(text, number)
        if fault is not None:
            yield Fault(fault.kind, text, f"input {number}\n{fault.detail}")


def _limit_processor_time(seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))


def _peak() -> int:
    """Return the peak memory of this process in bytes."""
    # `getrusage` would include the parent's memory.
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))) << 10
