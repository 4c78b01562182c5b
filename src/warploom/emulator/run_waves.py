"""Execution of waves of resident CTAs, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable

from warploom.diagnostics import Diagnostic
from warploom.emulator.arena import Arena
from warploom.emulator.emulator import Emulator
from warploom.emulator.faults import RunError
from warploom.emulator.grid_dependencies import Pause, Steps, finish
from warploom.emulator.kept_emulators import acquire, release
from warploom.emulator.pending_clusters import PendingClusters
from warploom.emulator.program import Program
from warploom.emulator.request import Request
from warploom.emulator.state import Counters
from warploom.emulator.stats import Progress, Report, Stats
from warploom.emulator.times import Interpreted, Times
from warploom.emulator.waves import cancels_clusters, inter_cta_communication


def run_waves(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    progress: Report | None = None,
    publish: Callable[[Emulator], None] | None = None,
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run the waves of a request one after the other on the memory `arena`.

    Return statistics, and the findings of the observers. `publish` is called with the emulator before the first wave.
    The other arguments and the errors are those of `execute`.
    """
    return finish(start_waves(request, arena, segments, progress, publish))


def start_waves(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    progress: Report | None = None,
    publish: Callable[[Emulator], None] | None = None,
) -> Steps[tuple[Stats, tuple[Diagnostic, ...]]]:
    """Run waves as `run_waves` does, and pause if the request overlaps with others."""
    started = time.perf_counter()
    program = request.program
    times = Times()
    emulator = acquire(request, arena, segments, times)
    waves = request.waves or emulator.executable.waves
    linked, prepared = time.perf_counter(), times.preparation
    counters, total, done = emulator.state.counters, waves.ctas, 0
    if publish is not None:
        publish(emulator)
    if request.overlap is not None:
        yield Pause.READY
    delays = request.schedule.kind == "lazy" and any(program.analysis(inter_cta_communication))
    ended: RunError | None = None

    def report() -> None:
        if progress is not None:
            emulator.update_counters()
            seconds = time.perf_counter() - started
            finished = done + emulator.ctas_done
            progress(Progress(finished, total, counters.macs, counters.instructions, seconds))

    pending = None
    if program.analysis(cancels_clusters):
        pending = PendingClusters(waves, emulator.state.random if request.schedule.kind == "random" else None)
        emulator.asynchronous.executor.pending = pending
    try:
        for number in waves.numbers:
            if pending is None:
                emulator.start(number, number == waves.numbers[-1])
            elif len(pending):
                ctas = pending.take_wave()
                emulator.start(number, not len(pending), ctas)
            else:
                total = done  # the other clusters were cancelled
                break
            if delays:
                emulator.delay_first_clusters()
            try:
                report()
                while (pause := emulator.run(report)) is not None:
                    yield pause
            except RunError as error:
                emulator.events.stopped(error.diagnostics, emulator.state.pc)
                ended = error
                break
            done += emulator.ctas_done
            emulator.ctas_done = 0
        report()
    except KeyboardInterrupt as stop:
        add_location(stop, emulator)
        raise
    emulator.update_counters()
    families, seconds = dict(counters.by_family.most_common()), time.perf_counter() - started
    stats = Stats(families, counters.macs, seconds, done + emulator.ctas_done, counters.batches, counters.spent, times)
    findings = emulator.events.findings()
    times.native, times.calls = counters.native_seconds, counters.native_calls
    times.instructions = _interpreted(program, counters)
    times.run = time.perf_counter() - linked - (times.preparation - prepared)
    release(emulator)
    if ended is not None:
        ended.stats, ended.findings = stats, findings
        raise ended
    return stats, findings


def add_location(stop: KeyboardInterrupt, emulator: Emulator) -> None:
    """Add a note with the location of the kernel to an interrupt."""
    stop.add_note(f"the run stopped in {emulator.locate()}")


def _interpreted(program: Program, counters: Counters) -> list[Interpreted]:
    """Return the instructions that the interpreter executed."""
    known: dict[int, Interpreted] = program.analyses.setdefault(Interpreted, {})
    for pc in counters.seconds.keys() - known.keys():
        step = program.steps[pc]
        name = "" if program.source is None else program.source.name
        known[pc] = Interpreted(
            pc, name, program.line_of(pc), step.instruction.opcode, step.binding.form.multiplies, 0, 0.0
        )
    return [
        known[pc]._replace(batches=counters.executions[pc], seconds=seconds) for pc, seconds in counters.seconds.items()
    ]
