"""Launches in a debugger session that stops often, and without a session, with all that a launch counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple
from unittest import mock
from zlib import crc32

from warploom.emulator.batch import Batch
from warploom.emulator.state import Counters
from warploom.emulator.stops import Stops
from warploom.emulator.wave_run import WaveRun
from warploom.runtime import cpu
from warploom.runtime.api import Run
from warploom.runtime.arguments import Arguments
from warploom.runtime.debugging.session import DebugSession

NEAR = 12  # instructions to the next stop of `Hops`, at most


class Every(Stops):
    """Stops before each instruction that a batch executes."""

    def __init__(self, size: int) -> None:
        self.pcs = frozenset(range(size))

    def reached(self, pc: int, batch: Batch) -> bool:
        return True

    def next(self, pc: int) -> None:
        """Choose the next stops after a stop before the instruction at `pc`."""


class Never(Every):
    """Conditions that are never true, for all instructions."""

    def reached(self, pc: int, batch: Batch) -> bool:
        return False


class Hops(Every):
    """Stops before two instructions at a time, so that native code executes the others."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._size, self._random = size, Random(1)

    def next(self, pc: int) -> None:
        self.pcs = frozenset({pc, min(pc + self._random.randint(1, NEAR), self._size - 1)})


class Blocks(Every):
    """Stops after each block that the emulator selects, and after each call of native code."""

    def __init__(self, size: int) -> None:
        super().__init__(0)

    def between_blocks(self) -> bool:
        return True


class Stop(NamedTuple):
    """Stop of a session. `pc` is -1 between two blocks, and `digest` stands for registers and shared memory."""

    wave: int
    batches: int
    number: int
    pc: int
    digest: int


@dataclass
class Outcome:
    """Counters of a launch and its findings, with the stops of its session."""

    batches: int
    positions: int
    spent: int
    instructions: dict[str, int]
    macs: int
    findings: list[str]
    output: str
    stops: list[Stop] = field(compare=False)


def stop_of(session: DebugSession) -> Stop:
    """Return the stop at which a session is."""
    emulator, counters = session.state, session.state.state.counters
    pc, number = -1, counters.positions
    if (block := emulator.interrupted) is not None:
        pc, number = block.pc, number + block.pc - block.first
    digest = crc32(emulator.memory.shared.bytes)
    for _, file in sorted(emulator.state.files.items()):
        digest = crc32(file.tobytes(), digest)
    return Stop(session.waves.number, counters.batches, number, pc, digest)


@contextmanager
def stepping(make: Callable[[int], Every] | None) -> Iterator[list[Outcome]]:
    """Let each launch run in a session with the stops that `make` returns, or without a session for None.

    Yield the list to which each launch adds its outcome.
    """
    outcomes: list[Outcome] = []

    def run_on(launch: cpu.EmulatorLaunch, arguments: Arguments, raises: bool, **options: Any) -> Run:
        counters: list[Counters] = []
        stopped: list[Stop] = []
        if make is None:

            def publish(waves: WaveRun) -> None:
                counters.append(waves.emulator.state.counters)

            done = cpu.finish_on(cpu.start(launch, publish=publish, **options), launch, arguments, raises)
        else:
            session = DebugSession(launch, arguments, **options)
            stops = make(len(launch.request.program.steps))
            while session.run(stops):
                stopped.append(stop_of(session))
                stops.next(stopped[-1].pc)
            counters.append(session.state.state.counters)
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
