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
from warploom.author.roles import special
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
    It becomes empty after `consumers` arrivals at its empty mbarrier from each CTA of its row and of its column. A row
    has `cluster` CTAs with consecutive ranks in the cluster, and a column has `across` CTAs, one of each row.
    """

    stages: int
    consumers: int
    full: Shared
    empty: Shared
    cluster: int
    across: int

    @property
    def arrivals(self) -> int:
        """Number of arrivals of a consumer in all CTAs by which it releases a stage."""
        # The CTA itself is in its row and in its column.
        return self.cluster + (self.across if self.across > 1 else 0)

    def start(self) -> None:
        """Initialise the mbarriers. Only one thread may execute this, before a CTA or cluster barrier."""
        for stage in range(self.stages):
            ptx.mbarrier_init(self.full.at(_MBARRIER * stage), 1)
            ptx.mbarrier_init(self.empty.at(_MBARRIER * stage), self.consumers * self.arrivals)
        ptx.fence(op_restrict="mbarrier_init", sem="release", scope="cluster")

    def state(self) -> RingState:
        """Return the state of a producer or consumer that begins with the first stage."""
        place: Register | int = 0
        first: Register | int = 0
        if self.arrivals > 1:
            rank = special("cluster_ctarank")
            # The assembler emits a long division even for a constant power of two.
            is_power = self.cluster & (self.cluster - 1) == 0
            place = rank & (self.cluster - 1) if is_power else rank % self.cluster
            first = rank - place
        state = new("u32", 0), new("u32", 0), self.full.address(), self.empty.address()
        return RingState(self, *state, place, first)


@dataclass(frozen=True, slots=True)
class RingState:
    """State of a producer or consumer: its next stage, and the phase parity of the stage.

    `first` is the rank of the first CTA in the row of this CTA, and `place` the index of this CTA in the row.
    """

    ring: Ring
    stage: Register
    phase: Register
    full: Register
    empty: Register
    place: Register | int
    first: Register | int

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
        """Release the stage with the index `stage` in all CTAs of the row and the column of this CTA.

        `thread` is the index of the executing thread among the threads of the consumer.
        """
        barrier = self.empty + stage * _MBARRIER
        ring = self.ring
        if ring.arrivals == 1:
            with guarded(thread == 0):
                arrive(barrier.at(space="shared::cta"))
            return
        with when(thread < ring.arrivals):
            target = self.first + thread
            if ring.across > 1:
                of_column = self.place + (thread - ring.cluster) * ring.cluster
                target = ptx.selp(target, of_column, thread < ring.cluster, type="u32")
            remote = ptx.mapa(barrier, target, space="shared::cluster", type="u32")
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


def ring(stages: int, *, consumers: int, cluster: int = 1, across: int = 1) -> Ring:
    """Allocate the mbarriers of a ring (see `Ring`) in shared memory. Errors: AuthorError author.ring."""
    if min(stages, consumers, cluster, across) < 1:
        found = f"{stages} stages, {consumers} consumers, rows of {cluster} CTAs and columns of {across} CTAs"
        message = f"a ring has {found}; expected at least 1 of each"
        raise author_error(message, "author.ring")
    full, empty = (shared(_MBARRIER * stages, align=8) for _ in range(2))
    return Ring(stages, consumers, full, empty, cluster, across)
