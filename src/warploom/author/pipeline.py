"""Ring of stages between a producer and its consumers.

A stage is a part of shared memory. The producer waits until the stage is empty, and fills it. The consumers wait until
it is full, use its contents and release it. Each stage has an mbarrier for "full" and one for "empty".
"""

from __future__ import annotations

from dataclasses import dataclass

from warploom.author import ptx
from warploom.author.control_flow import forever, guarded, when
from warploom.author.errors import author_error
from warploom.author.instructions import new
from warploom.author.tiles import Shared, shared
from warploom.author.values import Location, Register

_MBARRIER = 8  # bytes


def wait(barrier: Location, parity: Register | int) -> None:
    """Wait until an mbarrier completes the phase with the parity `parity`."""
    with forever() as loop:
        loop.leave(ptx.mbarrier_try_wait(barrier, parity, parity=True))


def arrive(barrier: Location) -> None:
    """Arrive at an mbarrier once."""
    ptx.mbarrier_arrive(barrier)


@dataclass(frozen=True, slots=True)
class Ring:
    """Mbarriers of a ring of stages.

    A stage becomes full after one arrival at its full mbarrier and the transfer of the bytes that the arrival expects.
    It becomes empty after `consumers` arrivals at its empty mbarrier from each of `cluster` CTAs.
    """

    stages: int
    consumers: int
    full: Shared
    empty: Shared
    cluster: int

    def start(self) -> None:
        """Initialise the mbarriers. Only one thread may execute this, before a CTA or cluster barrier."""
        for stage in range(self.stages):
            ptx.mbarrier_init(self.full.at(_MBARRIER * stage), 1)
            ptx.mbarrier_init(self.empty.at(_MBARRIER * stage), self.consumers * self.cluster)
        ptx.fence(op_restrict="mbarrier_init", sem="release", scope="cluster")

    def state(self) -> RingState:
        """Return the state of a producer or consumer that begins with the first stage."""
        return RingState(self, new("u32", 0), new("u32", 0), self.full.address(), self.empty.address())


@dataclass(frozen=True, slots=True)
class RingState:
    """State of a producer or consumer: its next stage, and the phase parity of the stage."""

    ring: Ring
    stage: Register
    phase: Register
    full: Register
    empty: Register

    def barrier(self, space: str = "shared::cta", *, empty: bool = False) -> Location:
        """Return the location of the stage's full (or empty) mbarrier in the state space `space`."""
        return ((self.empty if empty else self.full) + self.stage * _MBARRIER).at(space=space)

    def wait_empty(self) -> None:
        """Wait until the stage is empty. In the first pass through the ring, all stages are empty."""
        wait(self.barrier(empty=True), self.phase ^ 1)

    def wait_full(self) -> None:
        """Wait until the stage is full."""
        wait(self.barrier(), self.phase)

    def release(self, stage: Register, thread: Register) -> None:
        """Release the stage with the index `stage` in all CTAs of the cluster.

        `thread` is the index of the executing thread among the threads of the consumer.
        """
        barrier = self.empty + stage * _MBARRIER
        if self.ring.cluster == 1:
            with guarded(thread == 0):
                arrive(barrier.at(space="shared::cta"))
            return
        with when(thread < self.ring.cluster):
            remote = ptx.mapa(barrier, thread, space="shared::cluster", type="u32")
            arrive(remote.at(space="shared::cluster"))

    def advance(self) -> None:
        """Advance to the next stage."""
        ptx.add(self.stage, 1, type="u32", out=self.stage)
        wraps = self.stage == self.ring.stages
        with guarded(wraps):
            self.stage.set(0)
        with guarded(wraps):
            ptx.xor(self.phase, 1, type="b32", out=self.phase)

    def skip(self, count: Register) -> None:
        """Advance by `count` stages."""
        total = self.stage + count
        rounds = total // self.ring.stages
        self.stage.set(total - rounds * self.ring.stages)
        ptx.xor(self.phase, rounds & 1, type="b32", out=self.phase)


def ring(stages: int, *, consumers: int, cluster: int = 1) -> Ring:
    """Allocate the mbarriers of a ring (see `Ring`) in shared memory. Errors: AuthorError author.ring."""
    if stages < 1 or consumers < 1 or cluster < 1:
        message = f"a ring has {stages} stages, {consumers} consumers and {cluster} CTAs; expected at least 1 of each"
        raise author_error(message, "author.ring")
    full, empty = (shared(_MBARRIER * stages, align=8) for _ in range(2))
    return Ring(stages, consumers, full, empty, cluster)
