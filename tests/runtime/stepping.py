"""Launches under a debugger session that stops often, and launches without one, with all that a launch counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest import mock

from warploom.emulator.batch import Batch
from warploom.emulator.emulator import Emulator
from warploom.emulator.wave_run import WaveRun
from warploom.runtime import cpu
from warploom.runtime.api import Run
from warploom.runtime.arguments import Arguments
from warploom.runtime.debugging.session import DebugSession

NEAR = 12  # instructions to the next stop of `Hops`, at most


class Every:
    """Stops before each instruction that a batch executes."""

    def __init__(self, program_size: int) -> None:
        self.pcs = frozenset(range(program_size))
        self.stopped: list[int] = []

    def reached(self, pc: int, batch: Batch) -> bool:
        assert batch.count
        self.stopped.append(pc)
        return True

    def between_blocks(self) -> bool:
        return False

    def next(self) -> None:
        """Choose the instructions at which the next part of the launch stops."""


class Never(Every):
    """Stops whose instructions are reached, and whose condition is always false."""

    def reached(self, pc: int, batch: Batch) -> bool:
        return not super().reached(pc, batch)


class Hops(Every):
    """Stops before few instructions at a time, at random, so that native code executes all others."""

    def __init__(self, program_size: int) -> None:
        super().__init__(program_size)
        self._size, self._random = program_size, Random(1)

    def next(self) -> None:
        last = self.stopped[-1] if self.stopped else 0
        self.pcs = frozenset({last, min(last + self._random.randint(1, NEAR), self._size - 1)})


class Blocks(Every):
    """Stops after each block that the emulator selects, and after each call of native code."""

    def __init__(self, program_size: int) -> None:
        super().__init__(0)

    def between_blocks(self) -> bool:
        self.stopped.append(-1)
        return True


@dataclass
class Outcome:
    """What a launch counts, apart from times, and the stops of its session."""

    batches: int
    positions: int
    spent: int
    instructions: dict[str, int]
    macs: int
    findings: list[str]
    output: str
    stopped: list[int] = field(compare=False)


@contextmanager
def stepping(make: Callable[[int], Every] | None) -> Iterator[list[Outcome]]:
    """Let `wl.launch` run each launch in a session with the stops that `make` returns, or without a session if None.

    Yield the list to which each launch adds its outcome.
    """
    outcomes: list[Outcome] = []

    def run_on(launch: cpu.EmulatorLaunch, arguments: Arguments, raises: bool, **options: Any) -> Run:
        emulators: list[Emulator] = []
        stopped: list[int] = []
        if make is None:

            def publish(waves: WaveRun) -> None:
                emulators.append(waves.emulator)
                counters.append(waves.emulator.state.counters)

            counters: list[Any] = []
            done = cpu.finish_on(cpu.start(launch, publish=publish, **options), launch, arguments, raises)
        else:
            session = DebugSession(launch, arguments, **options)
            stops = make(len(launch.request.program.steps))
            stops.next()
            while session.run(stops):
                stops.next()
            counters, stopped = [session.state.state.counters], stops.stopped
            done = session.close(raises=raises)
        stats, findings = done.stats, [str(found) for found in done.findings]
        outcomes.append(
            Outcome(
                stats.batches, counters[0].positions, stats.spent, stats.instructions, stats.macs, findings,
                done.output, stopped,
            )
        )  # fmt: skip
        return done

    with mock.patch.object(cpu, "run_on", run_on):
        yield outcomes
