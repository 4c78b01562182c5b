"""Execution of a grid on several Dask workers. Each worker runs some waves of CTAs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
from warploom.emulator.access import DIRTY
from warploom.emulator.arena import Arena
from warploom.emulator.execute import execute
from warploom.emulator.faults import RunError
from warploom.emulator.output import Output
from warploom.emulator.request import Request
from warploom.emulator.stats import Progress, Stats
from warploom.emulator.waves import Waves, cancels_clusters, divide, inter_cta_communication
from warploom.integrations.dask.compatibility import Requirements
from warploom.integrations.dask.footprint import Footprint, FootprintRecorder, InterCtaCommunication
from warploom.integrations.dask.merge import conflict, merge
from warploom.integrations.dask.tasks import ProgressCallback, run_tasks
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.observe.sanitize.report import Report
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.sanitizer import Sanitizer
from warploom.runtime.distribution import Announce, Distribution, WorkReport

TASKS_PER_WORKER = 8  # upper limit; several short tasks per worker keep all workers busy until the end
_PROCESS_BYTES = 400_000_000  # memory of a worker process
# Copies of the arena on a worker: contents and flags, and with the sanitizer its records.
_RECORDED_COPIES, _SANITIZED_COPIES = 3, 12
_CLUSTERS = 4  # clusters of the second sample, which gives the cost of a further cluster in a wave
_LONG_SAMPLE = 1.0  # seconds; no second sample is taken if the first one takes longer


@dataclass(frozen=True, slots=True)
class GridJob:
    """Launch of a grid that several workers run. Each task starts from the global memory in `arena`."""

    request: Request
    waves: Waves
    arena: Arena
    segments: dict[str, int]
    sanitize: bool | frozenset[str]  # as in `runtime.cpu.run`


@dataclass(frozen=True, slots=True)
class PartResult:
    """Result of a task, which runs some waves of a grid or the whole grid."""

    stats: Stats
    communication: str = ""  # why the waves depend on the timing of other CTAs; the task has then stopped
    footprint: Footprint | None = None  # of some waves
    # Contents of the written segments, by number, after the whole grid.
    segments: Mapping[int, NDArray[np.uint8]] | None = None
    report: Report | None = None  # findings of the sanitizer
    ended: RunError | None = None
    output: Output = field(default_factory=Output)

    @property
    def counts(self) -> Mapping[str, int]:
        """Numbers of CTAs, warp instructions and multiply-accumulates, for `WorkerShare.counts`."""
        stats = self.stats
        return {"CTAs": stats.ctas, "warp instructions": sum(stats.instructions.values()), "MACs": stats.macs}


def run_grid(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    sanitize: bool | frozenset[str],
    workers: str,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
) -> tuple[Stats, tuple[Diagnostic, ...], Distribution]:
    """Run a grid on the workers of a Dask cluster. The results equal those of `emulator.execute`.

    `workers` is "dask", "dask:N" or the address of a scheduler. `segments` maps the module's variables to their
    addresses. `announce` receives sentences about the cluster and the estimated duration.

    Errors: those of `emulator.execute`, and UsageError dask.*.
    """
    started = time.perf_counter()
    job = GridJob(request, divide(request.program, request.shape()), arena, segments, sanitize)
    copies = _SANITIZED_COPIES if sanitize else _RECORDED_COPIES
    report = WorkReport()
    with WorkerPool(workers, Requirements(memory=_PROCESS_BYTES + len(arena.bytes) * copies)) as pool:
        count = len(pool.workers())
        if announce is not None:
            announce(str(pool))
            announce(estimate(request, job.waves, arena, segments, count))
        parts = split_waves(job.waves, count)
        reason = f"the {job.waves.ctas} CTAs are one wave" if len(parts) == 1 else ""
        if request.program.uses_heap:
            reason = "the CTAs allocate memory from one heap"
        elif request.program.analysis(cancels_clusters):
            reason = "the clusters may cancel each other"
        results: list[PartResult] = []
        if not reason:
            results = _run_parts(pool, job, parts, progress, report)
            reason = single_worker_reason(job, results)
        # If waves may depend on each other, one worker runs the whole grid.
        if reason:
            results = _run_parts(pool, job, [None], progress, report)
    stats, findings = merge_results(job, results)
    stats.seconds = time.perf_counter() - started
    return stats, findings, Distribution(reason, report)


def split_waves(waves: Waves, workers: int) -> list[range]:
    """Divide waves into tasks for a number of workers. Return the wave numbers of each task."""
    numbers = waves.numbers
    each = -(-len(numbers) // (TASKS_PER_WORKER * max(workers, 1)))
    return [numbers[at : at + each] for at in range(0, len(numbers), each)]


def run_part(job: GridJob, part: range | None, progress: ProgressCallback) -> PartResult:
    """Run the waves `part` of a grid on a worker. None stands for the whole grid."""
    arena = job.arena
    recorder = None if part is None else FootprintRecorder()
    sanitizer = Sanitizer(None if job.sanitize is True else job.sanitize) if job.sanitize else None
    observers = tuple(each for each in (sanitizer, recorder) if each is not None)
    chosen = job.waves if part is None else replace(job.waves, numbers=part)
    request = replace(job.request, observers=observers, waves=chosen, output=Output())
    ended: RunError | None = None
    stats, footprint = Stats(), None
    try:
        try:
            stats, _ = execute(request, arena, job.segments, lambda now: progress(astuple(now)))
        except RunError as error:
            ended, stats = error, error.stats
        if recorder is not None:
            footprint = recorder.footprint()
    except InterCtaCommunication as found:
        return PartResult(stats, str(found))
    written = None
    if recorder is None:
        dirty = np.flatnonzero(arena.state[: len(arena.segments)] == DIRTY).tolist()
        written = {number: arena.view(arena.segments[number]) for number in dirty}
    report = None if sanitizer is None else sanitizer.report
    return PartResult(stats, "", footprint, written, report, ended, request.output)


def _run_parts(
    pool: WorkerPool,
    job: GridJob,
    parts: Sequence[range | None],
    progress: Callable[[Progress], None] | None,
    report: WorkReport,
) -> list[PartResult]:
    """Run a task for each range of waves in `parts`. Return the results in the same order.

    If a task finds communication between CTAs, return only the result of this task. A KeyboardInterrupt gets a note
    with the progress of the tasks.
    """
    results: dict[int, PartResult] = {}
    running: dict[int, Progress] = {}
    started, total = time.perf_counter(), job.waves.ctas

    def update(number: int, part_progress: Sequence[Any]) -> None:
        running[number] = Progress(*part_progress)
        if progress is not None:
            done, _, macs, instructions, _ = map(sum, zip(*map(astuple, running.values())))
            progress(Progress(done, total, macs, instructions, time.perf_counter() - started))

    try:
        for number, result in run_tasks(pool, run_part, job, parts, update, report):
            if result.communication:
                return [result]
            results[number] = result
            stats = result.stats
            update(number, (stats.ctas, stats.ctas, stats.macs, sum(stats.instructions.values()), stats.seconds))
    except KeyboardInterrupt as stop:
        done = sum(part.ctas_done for part in running.values())
        instructions = sum(part.instructions for part in running.values())
        name = job.request.program.kernel.readable_name
        stop.add_note(
            f"the run stopped in kernel {name}, after {done} of {total} CTAs and at least {instructions:,} warp "
            f"instructions on the workers"
        )
        raise
    return [results[number] for number in range(len(parts))]


def single_worker_reason(job: GridJob, results: Sequence[PartResult]) -> str:
    """Return the reason why one worker must run the whole grid, or "" if the results can be merged.

    The reason continues a sentence after "because".
    """
    for result in results:
        if result.communication:
            return result.communication
    ran = _up_to_end(results)
    spent = sum(result.stats.spent for result in ran)
    codes = {each.code for result in ran if result.ended is not None for each in result.ended.diagnostics}
    if spent > job.request.step_budget or "emulator.runaway" in codes:
        return "all parts of the launch together exceed the step budget"
    footprints = [result.footprint for result in ran if result.footprint is not None]
    return conflict(footprints, job.arena, bool(job.sanitize))


def _up_to_end(results: Sequence[PartResult]) -> Sequence[PartResult]:
    """Return the results up to the first trap or deadlock, where a run in one process would stop."""
    end = next((k for k, result in enumerate(results) if result.ended is not None), len(results) - 1)
    return results[: end + 1]


def merge_results(job: GridJob, results: Sequence[PartResult]) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Merge the results of all tasks into the job's memory. Return the statistics and the findings.

    Errors: the Trap or the Deadlock that ended the run, with the statistics and the findings.
    """
    ran = _up_to_end(results)
    merge([result.footprint for result in ran if result.footprint is not None], job.arena)
    for result in ran:
        for number, contents in (result.segments or {}).items():
            job.arena.view(job.arena.segments[number])[:] = contents
            job.arena.state[number] = DIRTY
        job.request.output.extend(result.output)
    stats = Stats.total([result.stats for result in ran])
    report, program = Report(frozenset(rules())), job.request.program
    for result in ran:
        if result.report is not None:
            report.merge(result.report)
    findings = report.diagnostics(program)
    if (ended := ran[-1].ended) is not None:
        error = type(ended)([replace(each, source=program.source) for each in ended.diagnostics])
        error.stats, error.findings = stats, findings
        raise error
    return stats, findings


def estimate(request: Request, whole: Waves, arena: Arena, segments: dict[str, int], workers: int) -> str:
    """Return a sentence about the expected duration of a launch and the work of each CTA.

    `whole` has the waves of the grid, and `segments` maps the module's variables to their addresses. A few clusters run
    on a copy of `arena`.
    """
    if any(inter_cta_communication(request.program)):
        return "no estimate, because the CTAs may wait for each other"
    try:
        first = _sample(request, whole, arena, segments, 1)
        if first.seconds < _LONG_SAMPLE:  # the first run also loads compiled code
            first = _sample(request, whole, arena, segments, 1)
        more = _sample(request, whole, arena, segments, _CLUSTERS) if first.seconds < _LONG_SAMPLE else first
    except RunError:
        return "no estimate, because the first CTAs trap or hang"
    size = whole.grid.cluster_size
    each = max(more.seconds - first.seconds, 0.0) / (_CLUSTERS - 1) if more is not first else first.seconds
    wave = first.seconds + each * (whole.resident // size - 1)
    count = len(whole.numbers)
    seconds = wave * -(-count // max(workers, 1))
    instructions, macs = sum(first.instructions.values()) // first.ctas, first.macs // first.ctas
    return (
        f"estimate: {_time(seconds)} on {workers} worker{'' if workers == 1 else 's'}; {instructions:,} warp "
        f"instructions and {macs:,} MACs for each of {whole.ctas:,} CTAs, in {count} wave{'' if count == 1 else 's'}"
    )


def _sample(request: Request, whole: Waves, arena: Arena, segments: dict[str, int], clusters: int) -> Stats:
    waves = Waves(clusters * whole.grid.cluster_size, whole.grid, range(1))
    return execute(replace(request, waves=waves), arena.fork(), segments)[0]


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
