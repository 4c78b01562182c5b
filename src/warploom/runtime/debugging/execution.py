"""Execution on the emulator that a debugger controls, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warploom.diagnostics import UsageError
from warploom.emulator.stops import Stops
from warploom.runtime import cpu
from warploom.runtime.debugging.focus import BETWEEN, Moment, now, number_at, number_of
from warploom.runtime.debugging.history import BUDGET, History
from warploom.runtime.debugging.locations import everywhere

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Emulator
    from warploom.emulator.wave_run import WaveRun
    from warploom.runtime.arguments import Arguments
    from warploom.runtime.run import Run

BATCHES_PER_CALL = 256  # of native code, so that a request to stop takes effect soon


class Execution:
    """Execution of a launch that stops where a debugger wants to inspect it.

    Call `run` for each part of the execution, inspect the `state` after a stop, and call `close` for the rest. The
    order of the execution and its results are those of `wl.launch`. `go_to` continues from an earlier moment, unless
    the launch has observers.
    """

    def __init__(
        self,
        launch: cpu.EmulatorLaunch,
        arguments: Arguments,
        *,
        workers: int = 1,
        history: int = BUDGET,
        **options: Any,
    ) -> None:
        """Prepare to run `launch`, whose buffers belong to `arguments`.

        `history` is the largest size of all snapshots in bytes. `options` are the other keyword arguments of
        `cpu.start`.

        Errors: UsageError debug.workers for more than one worker, and debug.overlap for a launch that may overlap with
            another one.
        """
        if workers != 1:
            raise UsageError(f"workers is {workers!r}; the debugger expects 1", code="debug.workers")
        if launch.request.overlap is not None:
            raise UsageError("the debugger does not support launches that overlap with others", code="debug.overlap")
        self._launch = launch
        self._arguments = arguments
        self._steps = cpu.start(launch, publish=self._receive, **options)
        self._stops: Stops | None = None
        self._waves: WaveRun | None = None
        self._keeps = True  # False for a launch with observers, which have no snapshots
        self.history = History(history)

    def _receive(self, waves: WaveRun) -> None:
        self._waves = waves
        waves.emulator.batches_per_call = BATCHES_PER_CALL
        waves.emulator.stop_at(self._stops)
        self._keeps = not waves.emulator.events.observers
        if self._keeps:
            self.history.take(waves)

    def run(self, stops: Stops) -> bool:
        """Run until a stop, and return True, or until the end of the launch, and return False.

        At the end, the state of the last wave can still be inspected. If a trap or a deadlock has ended the launch,
        it is `waves.error`.

        Errors: Unsupported, and UsageError launch.*, in the first call.
        """
        self._stops = _Recorded(stops, self)
        if self._waves is not None:
            self._waves.emulator.stop_at(self._stops)
        self.history.restart()
        next(self._steps)
        return not self.waves.is_over

    def keep_history(self) -> None:
        """Take a snapshot between two batches if it is time for one."""
        if self._keeps and self.history.is_due():
            self.history.take(self.waves)

    @property
    def waves(self) -> WaveRun:
        """Waves of the launch. Requires a call of `run`."""
        assert self._waves is not None
        return self._waves

    @property
    def state(self) -> Emulator:
        """Emulator with the state of the resident CTAs. Requires a call of `run`."""
        return self.waves.emulator

    @property
    def moment(self) -> Moment:
        """Moment at which the launch has stopped. Requires a call of `run`."""
        return now(self.state, self.waves.number)

    def moment_at(self, pc: int) -> Moment:
        """Return the moment before the batch in execution executes the instruction at `pc`."""
        return Moment(self.waves.number, self.state.state.counters.batches, pc)

    # Other moments ----------------------------------------------------------------------------------------

    @property
    def can_go_back(self) -> bool:
        """True if there are snapshots."""
        return bool(self.history.snapshots)

    def restore(self, index: int) -> None:
        """Return to the moment of a snapshot of `history`.

        Errors: UsageError debug.history if there is none.
        """
        if index < 0 or not self.can_go_back:
            reason = "has observers" if not self._keeps else "does not fit into the history"
            raise UsageError(f"the debugger cannot go back, because the launch {reason}", code="debug.history")
        self.history.snapshots[index].restore(self.waves)

    def go_to(self, moment: Moment) -> None:
        """Continue to a later moment, or from a snapshot to an earlier one.

        Errors: UsageError debug.history for an earlier moment without snapshots.
        """
        if moment < self.moment or self.waves.is_over:
            self.restore(self.history.before(moment))
        batch = moment._replace(pc=BETWEEN)
        for each in (batch, moment):
            if self.moment < each:
                self.replay(each, Passive())

    def go_to_number(self, number: int) -> None:
        """Go to the first instruction with this number or a larger one, if necessary from a snapshot.

        Errors: UsageError debug.history for an earlier moment without snapshots.
        """
        if number < number_of(self.state) or self.waves.is_over:
            self.restore(self.history.before_number(number))
        if self.state.interrupted is None or number_of(self.state) < number:
            near = _NearNumber(self.state, number)
            if not near.between_blocks():
                self.run(near)
            self.run(_AtNumber(self.state, number))
            self.state.batches_per_call = BATCHES_PER_CALL

    def replay(self, until: Moment, observed: Passive) -> None:
        """Continue to a later moment. Meanwhile, `observed` sees the execution."""
        self.run(_Until(self, until, observed))
        self.state.batches_per_call = BATCHES_PER_CALL

    def close(self, *, raises: bool = True) -> Run:
        """Run the rest of the launch, write the results to the arrays, and return the `Run`.

        If `raises` is false, return the part of the run before a trap or a deadlock.

        Errors: Trap and Deadlock, which leave the caller's arrays unchanged.
        """
        self._stops = None
        if self._waves is not None:
            self._waves.emulator.stop_at(None)
        done = cpu.finish_on(self._steps, self._launch, self._arguments, raises)
        if done.error is None:
            self._arguments.buffers.read_from(self._launch.arena)
        return done


class _Recorded(Stops):
    """Stops of a movement, with snapshots between batches."""

    def __init__(self, stops: Stops, execution: Execution) -> None:
        self.pcs = stops.pcs
        self.reached, self.concerns = stops.reached, stops.concerns  # without another call
        self._between_blocks = stops.between_blocks
        self._execution = execution

    def between_blocks(self) -> bool:
        self._execution.keep_history()
        return self._between_blocks()


class Passive(Stops):
    """Observer of a replay, which never stops it.

    `between_blocks` is called at least once for each `most` batches.
    """

    most = BATCHES_PER_CALL


class _Until(Stops):
    """Stop at a moment. Until then, an observer sees the execution."""

    def __init__(self, execution: Execution, moment: Moment, observed: Passive) -> None:
        self._execution, self._moment, self._observed = execution, moment, observed
        self.pcs = observed.pcs | ({moment.pc} - {BETWEEN})
        self._limit()

    def _limit(self) -> bool:
        """Limit the batches of a native call to the moment. Return True if no batch is left."""
        emulator = self._execution.state
        left = self._moment.batch - 1 - emulator.state.counters.batches
        emulator.batches_per_call = max(min(left, self._observed.most), 1)
        return left <= 0

    def reached(self, pc: int, batch: Batch) -> bool:
        if self._execution.moment_at(pc) >= self._moment:
            return True
        self._observed.reached(pc, batch)
        return False

    def between_blocks(self) -> bool:
        self._observed.between_blocks()
        return self._limit() and self._moment.pc == BETWEEN


class _NearNumber(Stops):
    """Stop between two batches before the one that may contain the instruction with a number."""

    def __init__(self, emulator: Emulator, number: int) -> None:
        self._emulator, self._number = emulator, number
        self._longest = max(end - pc for pc, end in enumerate(emulator.program.block_end))

    def between_blocks(self) -> bool:
        left = (self._number - self._emulator.state.counters.positions) // self._longest
        self._emulator.batches_per_call = max(min(left, BATCHES_PER_CALL), 1)
        return left <= 0


class _AtNumber(Stops):
    """Stop before the first instruction with this number or a larger one."""

    def __init__(self, emulator: Emulator, number: int) -> None:
        self.pcs = everywhere(emulator.program)
        self._emulator, self._number = emulator, number

    def reached(self, pc: int, batch: Batch) -> bool:
        return number_at(self._emulator, pc, batch) >= self._number
