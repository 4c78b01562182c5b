"""A ring of stages between a producer and its consumers, each with two mbarriers: full, and empty again."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.author.building import misuse
from warploom.author.flow import forever, guarded, when
from warploom.author.instructions import named, new
from warploom.author.memory import Shared, shared
from warploom.author.values import Location, Register

_OBJECT = 8  # bytes of an mbarrier


def wait(barrier: Location, parity: Register | int) -> None:
    """Wait until the phase of an mbarrier with this parity is complete."""
    with forever() as turn:
        turn.leave(named("mbarrier_try_wait")(barrier, parity, parity=True))


def arrive(barrier: Location) -> None:
    """Arrive at an mbarrier, once."""
    named("mbarrier_arrive")(barrier)


@dataclass(frozen=True, slots=True)
class Ring:
    """`stages` slots of shared memory. A slot is full after one arrival and the bytes it announces, and empty
    after `consumers` arrivals, which come from every CTA of a cluster of `cluster` CTAs.
    """

    stages: int
    consumers: int
    full: Shared
    empty: Shared
    cluster: int

    def start(self) -> None:
        """Initialise the mbarriers. One thread does it, and a barrier of the CTA or cluster follows."""
        for stage in range(self.stages):
            named("mbarrier_init")(self.full.at(_OBJECT * stage), 1)
            named("mbarrier_init")(self.empty.at(_OBJECT * stage), self.consumers * self.cluster)
        named("fence")(op_restrict="mbarrier_init", sem="release", scope="cluster")

    def place(self) -> Place:
        """A place in the ring for one role, at its begin."""
        return Place(self, new("u32", 0), new("u32", 0), self.full.address(), self.empty.address())


@dataclass(frozen=True, slots=True)
class Place:
    """Where a role stands in the ring: its stage, and the parity of its turn around."""

    ring: Ring
    stage: Register
    phase: Register
    full: Register
    empty: Register

    def barrier(self, space: str = "shared::cta") -> Location:
        """The mbarrier that says that the stage is full."""
        return (self.full + self.stage * _OBJECT).at(space=space)

    def wait_empty(self) -> None:
        """Wait until the consumers have given the stage back; at once in the first turn."""
        wait((self.empty + self.stage * _OBJECT).at(space="shared::cta"), self.phase ^ 1)

    def wait_full(self) -> None:
        """Wait until what the producer announced is there."""
        wait(self.barrier(), self.phase)

    def release(self, stage: Register, thread: Register) -> None:
        """Give a stage back. `thread` counts the threads of the consumer: as many tell the CTAs of the cluster."""
        place = self.empty + stage * _OBJECT
        if self.ring.cluster == 1:
            with guarded(thread == 0):
                arrive(place.at(space="shared::cta"))
            return
        with when(thread < self.ring.cluster):
            remote = named("mapa")(place, thread, space="shared::cluster", type="u32")
            arrive(remote.at(space="shared::cluster"))

    def advance(self) -> None:
        """Go on to the next stage."""
        named("add")(self.stage, 1, type="u32", out=self.stage)
        around = self.stage == self.ring.stages
        with guarded(around):
            self.stage.set(0)
        with guarded(around):
            named("xor")(self.phase, 1, type="b32", out=self.phase)

    def skip(self, count: Register) -> None:
        """Go on by several stages, which another consumer has."""
        total = self.stage + count
        around = total // self.ring.stages
        self.stage.set(total - around * self.ring.stages)
        named("xor")(self.phase, around & 1, type="b32", out=self.phase)


def ring(stages: int, *, consumers: int, cluster: int = 1) -> Ring:
    """A ring of stages. Errors: AuthorError author.ring."""
    if stages < 1 or consumers < 1 or cluster < 1:
        raise misuse(
            f"a ring of {stages} stages, {consumers} consumers and {cluster} CTAs; expected some of each",
            "author.ring",
        )
    return Ring(
        stages, consumers, shared(_OBJECT * stages, align=8), shared(_OBJECT * stages, align=8), cluster
    )
