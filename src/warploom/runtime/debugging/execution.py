"""Execution on the emulator that a debugger controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warploom.diagnostics import UsageError
from warploom.runtime import cpu

if TYPE_CHECKING:
    from warploom.emulator.emulator import Emulator
    from warploom.emulator.stops import Stops
    from warploom.emulator.wave_run import WaveRun
    from warploom.runtime.arguments import Arguments
    from warploom.runtime.run import Run

BATCHES_PER_CALL = 256  # of native code, so that a request to stop takes effect soon


class Execution:
    """Execution of a launch that stops where a debugger wants to inspect it.

    Call `run` for each part of the execution, inspect the `state` after a stop, and call `close` for the rest. The
    order of the execution and its results are those of `wl.launch`.
    """

    def __init__(self, launch: cpu.EmulatorLaunch, arguments: Arguments, *, workers: int = 1, **options: Any) -> None:
        """Prepare to run `launch`, whose buffers belong to `arguments`.

        `options` are the other keyword arguments of `cpu.start`.

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

    def _receive(self, waves: WaveRun) -> None:
        self._waves = waves
        waves.emulator.batches_per_call = BATCHES_PER_CALL
        waves.emulator.stop_at(self._stops)

    def run(self, stops: Stops) -> bool:
        """Run until a stop, and return True, or until the end of the launch, and return False.

        At the end, the state of the last wave can still be inspected. If a trap or a deadlock has ended the launch,
        it is `waves.error`.

        Errors: Unsupported, and UsageError launch.*, in the first call.
        """
        self._stops = stops
        if self._waves is not None:
            self._waves.emulator.stop_at(stops)
        next(self._steps)
        return not self.waves.is_over

    @property
    def waves(self) -> WaveRun:
        """Waves of the launch. Requires a call of `run`."""
        assert self._waves is not None
        return self._waves

    @property
    def state(self) -> Emulator:
        """Emulator with the state of the resident CTAs. Requires a call of `run`."""
        return self.waves.emulator

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
