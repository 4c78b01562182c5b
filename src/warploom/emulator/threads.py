"""Execution of the waves of one grid on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING

from warploom.emulator.faults import RunError
from warploom.emulator.program import Program, Step
from warploom.emulator.run_waves import run_waves
from warploom.emulator.stats import Progress, Report, Stats
from warploom.emulator.waves import WITHIN_CLUSTER, Waves, divide, inter_cta_communication
from warploom.isa.model.effects import Access

if TYPE_CHECKING:
    from warploom.diagnostics import Diagnostic
    from warploom.emulator.arena import Arena
    from warploom.emulator.request import Request
    from warploom.numerics.fused import Workers


def thread_parts(request: Request) -> list[Request]:
    """Divide a request into requests that threads can run at the same time.

    The list is empty if one thread must run the whole grid: if there is only one worker, if observers need the order of
    all events, or if CTAs of several clusters communicate or update the same memory.
    """
    workers: Workers | None = request.pool
    if workers is None or workers.count < 2 or request.observers or request.waves is not None:
        return []
    if any(request.program.analysis(inter_cta_communication)) or any(request.program.analysis(_updates)):
        return []
    whole = divide(request.program, request.shape())
    size = whole.grid.cluster_size
    clusters = whole.grid.ctas // size
    each = min(whole.resident // size, -(-clusters // workers.count))
    count = -(-clusters // each)
    edges = [count * i // workers.count for i in range(workers.count + 1)]
    return [
        replace(request, pool=None, waves=Waves(each * size, whole.grid, range(first, end)))
        for first, end in pairwise(edges)
        if first < end
    ]


def _updates(program: Program) -> list[bool]:
    """Return, for each instruction, True if it may update memory that CTAs of several clusters share."""
    return [any(map(_is_shared_update, _spaces_of_updates(step))) for step in program.steps]


def _spaces_of_updates(step: Step) -> list[str]:
    form, slots = step.binding.form, step.binding.slots
    updates = [access for access in form.effects_of(Access) if access.kind == "update"]
    return [form.operands[access.address].space_word(slots) for access in updates]


def _is_shared_update(space: str) -> bool:
    return space not in WITHIN_CLUSTER


def run_on_threads(
    parts: Sequence[Request], workers: Workers, arena: Arena, segments: dict[str, int], progress: Report | None
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run the parts of a grid on threads, and return the total statistics.

    The findings are empty, because the parts have no observers. If several parts fail, the error is that of the first
    of them. The other arguments are those of `execute`.
    """
    total = _Total(parts, progress)

    def run(number: int) -> Stats | RunError:
        try:
            return run_waves(parts[number], arena, segments, lambda now: total.report(number, now))[0]
        except RunError as error:
            return error

    futures = [workers.pool.submit(run, number) for number in range(len(parts))]
    try:
        found = [future.result() for future in futures]
    except BaseException as error:
        total.stop.set()
        ends = [future.exception() for future in futures]
        if error not in ends:  # an interrupt of this thread; the threads state where the kernel was
            for note in _notes(ends):
                error.add_note(note)
        raise
    stats = Stats.total([each.stats if isinstance(each, RunError) else each for each in found])
    for each in found:
        if isinstance(each, RunError):
            each.stats = stats
            raise each
    return stats, ()


def _notes(ends: Sequence[BaseException | None]) -> list[str]:
    """Return the notes of the first exception that has any."""
    found: list[list[str]] = [getattr(each, "__notes__", []) for each in ends]
    return next((notes for notes in found if notes), list[str]())


class _Total:
    """Progress of all parts of a grid."""

    def __init__(self, parts: Sequence[Request], progress: Report | None) -> None:
        self.stop = Event()  # set if the parts must end early
        self._progress = progress
        self._lock = Lock()
        self._latest = [Progress(0, part.waves.ctas if part.waves else 0, 0, 0, 0.0) for part in parts]

    def report(self, number: int, now: Progress) -> None:
        """Report the progress of all parts after a report of one part.

        Errors: KeyboardInterrupt if the part must end.
        """
        if self.stop.is_set():
            raise KeyboardInterrupt
        self._latest[number] = now
        if self._progress is not None:
            with self._lock:
                self._progress(Progress.total(self._latest))
