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


class WaveRun:
    """Execution of a launch in waves of resident CTAs, one after the other.

    Call `advance` until it returns None, and then `result`. The emulator keeps the state of the launch until `result`.

    `number` is the number of the last wave that has started, and `is_resident` is True until its end. `is_over` is True
    after the last wave, and after a trap or a deadlock, which is then `error`. `pending` are the clusters that have not
    started, if running clusters may cancel them.
    """

    STATE = ("number", "is_over", "error", "is_resident", "_total", "_done")

    def __init__(
        self, request: Request, arena: Arena, segments: dict[str, int], progress: Report | None = None
    ) -> None:
        """Prepare an emulator. The arguments and the errors are those of `execute.execute`."""
        self._started = time.perf_counter()
        self._progress = progress
        self._times = Times()
        self.program = program = request.program
        self.emulator = emulator = acquire(request, arena, segments, self._times)
        self.waves = request.waves or emulator.executable.waves
        self._linked, self._prepared = time.perf_counter(), self._times.preparation
        self.number = self.waves.numbers.start - 1
        self.is_over = False
        self.error: RunError | None = None
        self.is_resident = False
        self._total, self._done = self.waves.ctas, 0  # numbers of CTAs; `_done` counts those of earlier waves
        self._delays = request.schedule.kind == "lazy" and any(program.analysis(inter_cta_communication))
        self.pending: PendingClusters | None = None
        if program.analysis(cancels_clusters):
            random = emulator.state.random if request.schedule.kind == "random" else None
            self.pending = emulator.asynchronous.executor.pending = PendingClusters(self.waves, random)

    def advance(self) -> Pause | None:
        """Run until the launch pauses or ends. Return the reason of the pause, or None after the end.

        While the emulator has stops, the launch stops at its end.

        Errors: a KeyboardInterrupt gets a note with the location of the kernel.
        """
        if not self.is_over:
            try:
                if (pause := self._run()) is not None:
                    return pause
                self._report()
            except KeyboardInterrupt as stop:
                add_location(stop, self.emulator)
                raise
            self.is_over = True
        return None if self.emulator.stops is None else Pause.STOPPED

    def _run(self) -> Pause | None:
        """Run until the launch pauses, or return None at the end of the last wave or after an error."""
        emulator = self.emulator
        while self.is_resident or self.start_wave():
            try:
                if (pause := emulator.run(self._report)) is not None:
                    return pause
            except RunError as error:
                emulator.events.stopped(error.diagnostics, emulator.state.pc)
                self.error = error
                break
            self._done += emulator.ctas_done
            emulator.ctas_done = 0
            self.is_resident = False
        return None

    def start_wave(self) -> bool:
        """Make the CTAs of the next wave resident. Return False if there is none."""
        pending, numbers = self.pending, self.waves.numbers
        if self.number + 1 == numbers.stop:
            return False
        if pending is not None and not len(pending):
            self._total = self._done  # the other clusters were cancelled
            return False
        self.number += 1
        if pending is None:
            self.emulator.start(self.number, self.number == numbers[-1])
        else:
            ctas = pending.take_wave()
            self.emulator.start(self.number, not len(pending), ctas)
        if self._delays:
            self.emulator.delay_first_clusters()
        self.is_resident = True
        self._report()
        return True

    def _report(self) -> None:
        if self._progress is not None:
            self.emulator.update_counters()
            counters, seconds = self.emulator.state.counters, time.perf_counter() - self._started
            finished = self._done + self.emulator.ctas_done
            self._progress(Progress(finished, self._total, counters.macs, counters.instructions, seconds))

    def result(self) -> tuple[Stats, tuple[Diagnostic, ...]]:
        """Release the emulator. Return statistics, and the findings of the observers.

        Errors: the trap or the deadlock that ended the launch, with the statistics and the findings up to this point.
        """
        emulator, times, counters = self.emulator, self._times, self.emulator.state.counters
        emulator.update_counters()
        families, seconds = dict(counters.by_family.most_common()), time.perf_counter() - self._started
        done = self._done + emulator.ctas_done
        stats = Stats(families, counters.macs, seconds, done, counters.batches, counters.spent, times)
        findings = emulator.events.findings()
        times.native, times.calls = counters.native_seconds, counters.native_calls
        times.instructions = _interpreted(self.program, counters)
        times.run = time.perf_counter() - self._linked - (times.preparation - self._prepared)
        release(emulator)
        if self.error is not None:
            self.error.stats, self.error.findings = stats, findings
            raise self.error
        return stats, findings


def run_waves(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    progress: Report | None = None,
    publish: Callable[[WaveRun], None] | None = None,
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run the waves of a request one after the other on the memory `arena`.

    Return statistics, and the findings of the observers. `publish` is called before the first wave. The other arguments
    and the errors are those of `execute`.
    """
    return finish(start_waves(request, arena, segments, progress, publish))


def start_waves(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    progress: Report | None = None,
    publish: Callable[[WaveRun], None] | None = None,
) -> Steps[tuple[Stats, tuple[Diagnostic, ...]]]:
    """Run waves as `run_waves` does. Pause for overlapping launches, and at stops of the emulator."""
    run = WaveRun(request, arena, segments, progress)
    if publish is not None:
        publish(run)
    if request.overlap is not None:
        yield Pause.READY
    while (pause := run.advance()) is not None:
        yield pause
    return run.result()


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
