"""Execution of the waves of one grid on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING

from warploom.emulator.faults import RunError
from warploom.emulator.program import Program
from warploom.emulator.stats import Progress, Report, Stats
from warploom.emulator.wave_run import WaveRun, add_location, run_waves
from warploom.emulator.waves import WITHIN_CLUSTER, Waves, cancels_clusters, divide, inter_cta_communication
from warploom.isa.model.effects import Access

if TYPE_CHECKING:
    from warploom.diagnostics import Diagnostic
    from warploom.emulator.arena import Arena
    from warploom.emulator.emulator import Emulator
    from warploom.emulator.request import Request
    from warploom.numerics.fused import Workers

_INTERVAL = 0.1  # seconds between two reports of the progress, and after which an interrupt is noticed


def thread_parts(request: Request) -> list[Request]:
    """Divide a request into requests that threads can run at the same time.

    Return an empty list if one thread must run the whole grid. One of these reasons is sufficient:

    - There is only one worker.
    - Observers need the order of all events.
    - CTAs of several clusters may communicate.
    - The program has an atomic operation on global memory.
    - The program allocates memory, whose addresses depend on the order of the CTAs.
    - The program may cancel clusters.
    """
    workers: Workers | None = request.pool
    if workers is None or workers.count < 2 or request.observers or request.waves is not None:
        return []
    program = request.program
    if (
        program.uses_heap
        or program.analysis(cancels_clusters)
        or any(program.analysis(inter_cta_communication))
        or program.analysis(_updates_global_memory)
    ):
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


def _updates_global_memory(program: Program) -> bool:
    """Return True if a program may have an atomic operation on global memory."""
    bindings = [step.binding for step in program.steps]
    return any(
        access.kind == "update" and each.form.operands[access.address].space_word(each.slots) not in WITHIN_CLUSTER
        for each in bindings
        for access in each.form.effects_of(Access)
    )


def run_on_threads(
    parts: Sequence[Request], workers: Workers, arena: Arena, segments: dict[str, int], progress: Report | None
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run the parts of a grid on threads, and return the total statistics.

    The findings are empty, because the parts have no observers. If several parts fail, the error is that of the first
    of them. The other arguments are those of `execute`.
    """
    from concurrent.futures import FIRST_COMPLETED, wait  # a launch on one thread needs no import of `logging`

    latest = [Progress(0, part.waves.ctas if part.waves else 0, 0, 0, 0.0) for part in parts]
    emulators: dict[int, Emulator] = {}
    stop = Event()

    def run(number: int) -> Stats | RunError:
        def publish(run: WaveRun) -> None:
            emulators[number] = run.emulator

        def report(now: Progress) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            latest[number] = now

        try:
            return run_waves(parts[number], arena, segments, report, publish)[0]
        except RunError as error:
            return error

    futures = [workers.pool.submit(run, number) for number in range(len(parts))]
    try:
        running = set(futures)
        while running:
            running = wait(running, _INTERVAL, FIRST_COMPLETED).not_done
            if progress is not None:
                progress(Progress.total(latest))
        found = [future.result() for future in futures]
    except BaseException as error:
        stop.set()
        wait(futures)
        if isinstance(error, KeyboardInterrupt) and emulators and not hasattr(error, "__notes__"):
            add_location(error, emulators[min(emulators)])
        raise
    stats = Stats.total([each.stats if isinstance(each, RunError) else each for each in found])
    for each in found:
        if isinstance(each, RunError):
            each.stats = stats
            raise each
    return stats, ()
