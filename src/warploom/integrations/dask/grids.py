"""A launch on many workers: its waves are tasks, and what they leave is put together as if one had run them all."""

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
from warploom.emulator.events import Several, Watcher
from warploom.emulator.execute import Progress, Request, Stats, Waves, execute, waves
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.initial_data import initialise
from warploom.integrations.dask.census import Needs
from warploom.integrations.dask.crew import Crew
from warploom.integrations.dask.estimate import estimate
from warploom.integrations.dask.footprint import Footprint, Speaks, Tracker
from warploom.integrations.dask.merge import conflict, merge
from warploom.integrations.dask.work import Tell, results
from warploom.observe.sanitize.report import Report
from warploom.observe.sanitize.watcher import Sanitizer
from warploom.runtime.spreading import Announce, Ledger, Spread

TASKS = 8  # for each worker, where there are as many waves: so that none waits long for the last one
_OWN = 400_000_000  # bytes that a worker takes for itself
_TRACKED, _SHADOWED = (
    3,
    12,
)  # and for each byte of the arena: contents and flags, with the sanitizer's records


@dataclass(frozen=True, slots=True)
class Job:
    """A launch as workers are given it. `arena` holds what all `waves` start from."""

    request: Request
    waves: Waves
    arena: Arena
    segments: dict[str, int]
    sanitize: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """What came of a part of a grid, or of all of it.

    A part that `speaks` to others was given up. Of the others there is a footprint, of a whole grid the contents of
    the segments that it wrote, by number; `ended` is the trap or the deadlock that no sanitizer took for a finding.
    """

    stats: Stats
    speaks: str = ""
    footprint: Footprint | None = None
    segments: Mapping[int, NDArray[np.uint8]] | None = None
    report: Report | None = None
    ended: Trap | Deadlock | None = None

    @property
    def is_last(self) -> bool:
        """Whether nothing of the grid runs after it."""
        return bool(self.endings)

    @property
    def endings(self) -> list[str]:
        """The rules that ended the run, as an error or to a sanitizer as a finding."""
        if self.ended is not None:
            return [each.code for each in self.ended.diagnostics]
        return [] if self.report is None else self.report.endings

    @property
    def counts(self) -> Mapping[str, int]:
        """What a closing table counts."""
        stats = self.stats
        return {"CTAs": stats.ctas, "warp instructions": sum(stats.instructions.values()), "MACs": stats.macs}


def grid(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    sanitize: bool,
    workers: str,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
) -> tuple[Stats, tuple[Diagnostic, ...], Spread]:
    """Run a grid on the workers of a cluster: what `machine.execute` does, bit for bit.

    Each task runs some waves from the memory that the launch starts from. If what one of them reads could depend on
    what another does, the whole grid runs on one worker instead; the result says why. `announce` is told an estimate
    and where the dashboard is, before the work begins.

    Errors: those of `machine.execute`, and UsageError farm.*.
    """
    started = time.perf_counter()
    initialise(request.program, arena, segments, request.parameters)
    job = Job(request, waves(request.program, request.shape()), arena, segments, sanitize)
    needs = Needs(memory=_OWN + len(arena.bytes) * (_SHADOWED if sanitize else _TRACKED))
    ledger = Ledger()
    with Crew(workers, needs) as crew:
        if announce is not None:
            announce(str(crew))
            announce(estimate(request, job.waves, arena, segments, len(crew.workers())))
        parts = cut(job.waves, len(crew.workers()))
        together = f"its {job.waves.ctas} CTAs are one wave" if len(parts) == 1 else ""
        pieces: list[Piece] = []
        if not together:
            pieces = _collect(crew, job, parts, progress, ledger)
            together = why_together(job, pieces)
        if together:
            pieces = _collect(crew, job, [None], progress, ledger)
    stats, findings = join(job, pieces)
    stats.seconds = time.perf_counter() - started
    return stats, findings, Spread(together, ledger)


def cut(waves: Waves, workers: int) -> list[range]:
    """The numbers of waves as tasks, each some that follow one another."""
    numbers = waves.numbers
    each = -(-len(numbers) // (TASKS * max(workers, 1)))
    return [numbers[at : at + each] for at in range(0, len(numbers), each)]


def work(job: Job, part: range | None, tell: Tell) -> Piece:
    """Run some waves of a grid, or (None) all of them, on a worker."""
    arena = job.arena
    tracker = None if part is None else Tracker()
    sanitizer = Sanitizer() if job.sanitize else None
    watchers: list[Watcher] = [each for each in (sanitizer, tracker) if each is not None]
    watch = Several(watchers) if len(watchers) > 1 else next(iter(watchers), None)
    chosen = job.waves if part is None else replace(job.waves, numbers=part)
    request = replace(job.request, watch=watch, waves=chosen)
    ended: Trap | Deadlock | None = None
    stats, footprint = Stats(), None
    try:
        try:
            stats, _ = execute(request, arena, job.segments, lambda now: tell(astuple(now)))
        except (Trap, Deadlock) as error:
            ended = error
            stats.spent = 0 if tracker is None else tracker.emulator.state.counters.spent
        if tracker is not None:
            footprint = tracker.footprint()
    except Speaks as found:
        return Piece(stats, found.why)
    written = None
    if tracker is None:
        dirty = np.flatnonzero(arena.state == DIRTY).tolist()
        written = {number: arena.view(arena.segments[number]) for number in dirty}
    return Piece(stats, "", footprint, written, None if sanitizer is None else sanitizer.report, ended)


def _collect(
    crew: Crew,
    job: Job,
    parts: Sequence[range | None],
    progress: Callable[[Progress], None] | None,
    ledger: Ledger,
) -> list[Piece]:
    """The pieces of all parts, in order; the last one that came alone, where it speaks."""
    found: dict[int, Piece] = {}
    running: dict[int, Progress] = {}
    started, total = time.perf_counter(), job.waves.ctas

    def hear(number: int, told: Sequence[Any]) -> None:
        running[number] = Progress(*told)
        if progress is not None:
            states = running.values()
            done, macs, instructions = (
                sum(getattr(each, name) for each in states) for name in ("ctas_done", "macs", "instructions")
            )
            progress(Progress(done, total, macs, instructions, time.perf_counter() - started))

    for number, piece in results(crew, work, job, parts, hear, ledger):
        if piece.speaks:
            return [piece]
        found[number] = piece
        stats = piece.stats
        hear(number, (stats.ctas, stats.ctas, stats.macs, sum(stats.instructions.values()), stats.seconds))
    return [found[number] for number in range(len(parts))]


def why_together(job: Job, pieces: Sequence[Piece]) -> str:
    """Why pieces cannot be put together, in words that go after "because"; empty where they can."""
    for piece in pieces:
        if piece.speaks:
            return piece.speaks
    ran = upto_end(pieces)
    spent = sum(piece.stats.spent for piece in ran)
    if spent > job.request.step_budget or any("emulator.runaway" in piece.endings for piece in ran):
        return "its parts take more than the step budget, which is for all of them"
    prints = [piece.footprint for piece in ran if piece.footprint is not None]
    return conflict(prints, job.arena, job.sanitize)


def upto_end(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """The pieces up to the first one that ended the run."""
    end = next((k for k, piece in enumerate(pieces) if piece.is_last), len(pieces) - 1)
    return pieces[: end + 1]


def join(job: Job, pieces: Sequence[Piece]) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Put pieces together: memory in the job's arena, what was counted, and the findings.

    Errors: Trap and Deadlock that ended the run.
    """
    ran = upto_end(pieces)
    merge([piece.footprint for piece in ran if piece.footprint is not None], job.arena)
    for piece in ran:
        for number, contents in (piece.segments or {}).items():
            job.arena.view(job.arena.segments[number])[:] = contents
            job.arena.state[number] = DIRTY
    if (ended := ran[-1].ended) is not None:
        source = job.request.program.source
        raise type(ended)([replace(each, source=source) for each in ended.diagnostics])
    counts: Counter[str] = Counter()
    for piece in ran:
        counts.update(piece.stats.instructions)
    stats = Stats(
        dict(counts.most_common()),
        sum(piece.stats.macs for piece in ran),
        0.0,
        job.waves.ctas,
        sum(piece.stats.batches for piece in ran),
        sum(piece.stats.spent for piece in ran),
    )
    if not job.sanitize:
        return stats, ()
    report = Report()
    for piece in ran:
        if piece.report is not None:
            report.take(piece.report)
    return stats, report.diagnostics(job.request.program)
