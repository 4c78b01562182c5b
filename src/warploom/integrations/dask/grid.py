"""Run of a grid on several workers: each task runs some waves, and the results are merged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
from warploom.emulator.access import DIRTY
from warploom.emulator.arena import Arena
from warploom.emulator.execute import Progress, Request, Stats, Waves, execute, initialise, waves
from warploom.emulator.faults import Deadlock, Trap
from warploom.integrations.dask.compatibility import Requirements
from warploom.integrations.dask.estimate import estimate
from warploom.integrations.dask.footprint import Footprint, FootprintRecorder, InterCtaCommunication
from warploom.integrations.dask.merge import conflict, merge
from warploom.integrations.dask.tasks import ProgressCallback, run_tasks
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.observe.sanitize.report import Report
from warploom.observe.sanitize.sanitizer import Sanitizer
from warploom.runtime.distribution import Announce, Distribution, WorkReport

TASKS_PER_WORKER = 8  # at most; with several, no worker waits long for the last one
_PROCESS_BYTES = 400_000_000  # memory of a worker process
# Copies of the arena on a worker: contents and flags, and with the sanitizer its records.
_RECORDED_COPIES, _SANITIZED_COPIES = 3, 12


@dataclass(frozen=True, slots=True)
class GridJob:
    """Launch that the workers share. `arena` holds the memory from which all `waves` start."""

    request: Request
    waves: Waves
    arena: Arena
    segments: dict[str, int]
    sanitize: bool


@dataclass(frozen=True, slots=True)
class PartResult:
    """Result of a part of a grid, or of a whole grid.

    A part has a `footprint`; if it has a `communication` reason instead, it was given up. A whole grid has the contents
    of the `segments` that it wrote, by number. `ended` is the trap or the deadlock that the sanitizer did not turn
    into a finding.
    """

    stats: Stats
    communication: str = ""
    footprint: Footprint | None = None
    segments: Mapping[int, NDArray[np.uint8]] | None = None
    report: Report | None = None
    ended: Trap | Deadlock | None = None

    @property
    def endings(self) -> list[str]:
        """Codes of the traps and deadlocks that ended the run, raised or turned into findings."""
        if self.ended is not None:
            return [each.code for each in self.ended.diagnostics]
        return [] if self.report is None else self.report.endings

    @property
    def counts(self) -> Mapping[str, int]:
        """Quantities for the report of the work."""
        stats = self.stats
        return {"CTAs": stats.ctas, "warp instructions": sum(stats.instructions.values()), "MACs": stats.macs}


def run_grid(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    sanitize: bool,
    workers: str,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
) -> tuple[Stats, tuple[Diagnostic, ...], Distribution]:
    """Run a grid on the workers of a cluster, with exactly the results of `emulator.execute`.

    Each task runs some waves from the memory at the start of the launch. If the result of a wave may depend on another
    wave, one worker runs the whole grid instead. `announce` receives the dashboard's address and an estimate.

    Errors: those of `emulator.execute`, and UsageError dask.*.
    """
    started = time.perf_counter()
    initialise(request.program, arena, segments, request.parameters)
    job = GridJob(request, waves(request.program, request.shape()), arena, segments, sanitize)
    copies = _SANITIZED_COPIES if sanitize else _RECORDED_COPIES
    report = WorkReport()
    with WorkerPool(workers, Requirements(memory=_PROCESS_BYTES + len(arena.bytes) * copies)) as pool:
        count = len(pool.workers())
        if announce is not None:
            announce(str(pool))
            announce(estimate(request, job.waves, arena, segments, count))
        parts = split_waves(job.waves, count)
        reason = f"its {job.waves.ctas} CTAs are one wave" if len(parts) == 1 else ""
        results: list[PartResult] = []
        if not reason:
            results = _run_parts(pool, job, parts, progress, report)
            reason = single_worker_reason(job, results)
        if reason:
            results = _run_parts(pool, job, [None], progress, report)
    stats, findings = merge_results(job, results)
    stats.seconds = time.perf_counter() - started
    return stats, findings, Distribution(reason, report)


def split_waves(waves: Waves, workers: int) -> list[range]:
    """Return the numbers of the waves of each task, which are consecutive."""
    numbers = waves.numbers
    each = -(-len(numbers) // (TASKS_PER_WORKER * max(workers, 1)))
    return [numbers[at : at + each] for at in range(0, len(numbers), each)]


def run_part(job: GridJob, part: range | None, progress: ProgressCallback) -> PartResult:
    """Run some waves of a grid on a worker, or the whole grid if `part` is None."""
    arena = job.arena
    recorder = None if part is None else FootprintRecorder()
    sanitizer = Sanitizer() if job.sanitize else None
    observers = tuple(each for each in (sanitizer, recorder) if each is not None)
    chosen = job.waves if part is None else replace(job.waves, numbers=part)
    request = replace(job.request, observers=observers, waves=chosen)
    ended: Trap | Deadlock | None = None
    stats, footprint = Stats(), None
    try:
        try:
            stats, _ = execute(request, arena, job.segments, lambda now: progress(astuple(now)))
        except (Trap, Deadlock) as error:
            ended = error
            stats.spent = 0 if recorder is None else recorder.launch.counters.spent
        if recorder is not None:
            footprint = recorder.footprint()
    except InterCtaCommunication as found:
        return PartResult(stats, found.reason)
    written = None
    if recorder is None:
        dirty = np.flatnonzero(arena.state == DIRTY).tolist()
        written = {number: arena.view(arena.segments[number]) for number in dirty}
    return PartResult(stats, "", footprint, written, None if sanitizer is None else sanitizer.report, ended)


def _run_parts(
    pool: WorkerPool,
    job: GridJob,
    parts: Sequence[range | None],
    progress: Callable[[Progress], None] | None,
    report: WorkReport,
) -> list[PartResult]:
    """Return the results of all parts in order, or only the first result with communication."""
    results: dict[int, PartResult] = {}
    running: dict[int, Progress] = {}
    started, total = time.perf_counter(), job.waves.ctas

    def update(number: int, part_progress: Sequence[Any]) -> None:
        running[number] = Progress(*part_progress)
        if progress is not None:
            sums = (
                sum(getattr(each, name) for each in running.values()) for name in ("ctas_done", "macs", "instructions")
            )
            done, macs, instructions = sums
            progress(Progress(done, total, macs, instructions, time.perf_counter() - started))

    for number, result in run_tasks(pool, run_part, job, parts, update, report):
        if result.communication:
            return [result]
        results[number] = result
        stats = result.stats
        update(number, (stats.ctas, stats.ctas, stats.macs, sum(stats.instructions.values()), stats.seconds))
    return [results[number] for number in range(len(parts))]


def single_worker_reason(job: GridJob, results: Sequence[PartResult]) -> str:
    """Return why the results of parts cannot be merged, in words that follow "because"; "" if they can."""
    for result in results:
        if result.communication:
            return result.communication
    ran = _up_to_end(results)
    spent = sum(result.stats.spent for result in ran)
    if spent > job.request.step_budget or any("emulator.runaway" in result.endings for result in ran):
        return "its parts exceed the step budget, which holds for all of them together"
    footprints = [result.footprint for result in ran if result.footprint is not None]
    return conflict(footprints, job.arena, job.sanitize)


def _up_to_end(results: Sequence[PartResult]) -> Sequence[PartResult]:
    """Return the results up to the first part that ended the run."""
    end = next((k for k, result in enumerate(results) if result.endings), len(results) - 1)
    return results[: end + 1]


def merge_results(job: GridJob, results: Sequence[PartResult]) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Merge the results of parts: the memory into the job's arena, the statistics and the findings.

    Errors: Trap and Deadlock that ended the run.
    """
    ran = _up_to_end(results)
    merge([result.footprint for result in ran if result.footprint is not None], job.arena)
    for result in ran:
        for number, contents in (result.segments or {}).items():
            job.arena.view(job.arena.segments[number])[:] = contents
            job.arena.state[number] = DIRTY
    if (ended := ran[-1].ended) is not None:
        source = job.request.program.source
        raise type(ended)([replace(each, source=source) for each in ended.diagnostics])
    counts: Counter[str] = Counter()
    for result in ran:
        counts.update(result.stats.instructions)
    macs, batches, spent = (sum(getattr(result.stats, name) for result in ran) for name in ("macs", "batches", "spent"))
    stats = Stats(dict(counts.most_common()), macs, 0.0, job.waves.ctas, batches, spent)
    if not job.sanitize:
        return stats, ()
    report = Report()
    for result in ran:
        if result.report is not None:
            report.merge(result.report)
    return stats, report.diagnostics(job.request.program)
