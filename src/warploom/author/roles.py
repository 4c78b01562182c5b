"""Who a thread is, and whom it waits for: warps, warpgroups, named barriers, clusters."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.author.building import misuse
from warploom.author.instructions import named
from warploom.author.kernel import special
from warploom.author.values import Register
from warploom.isa.model.capacity import MAX_THREADS

_ALL = -1  # every lane of a warp
_BARRIERS = 16


def warp() -> Register:
    """The number of the thread's warp in its CTA; one value in all lanes, as compilers can see."""
    return _uniform(special("tid.x") >> 5)


def warpgroup() -> Register:
    """The number of the thread's warpgroup in its CTA; one value in all lanes, as compilers can see."""
    return _uniform(special("tid.x") >> 7)


def _uniform(value: Register) -> Register:
    return named("shfl_idx")(value, 0, 31, _ALL).view("u32")


def elected() -> Register:
    """Whether the thread is the one that its warp elects. Every lane of the warp asks."""
    return named("elect")(_ALL)[1]


@dataclass(frozen=True, slots=True)
class Barrier:
    """A named barrier of the CTA for `threads` of its threads."""

    number: Register | int
    threads: int

    def wait(self) -> None:
        """Arrive, and wait for the others."""
        named("bar")(self.number, self.threads)

    def arrive(self) -> None:
        """Arrive, and go on."""
        named("bar_arrive")(self.number, self.threads)


def barrier(number: Register | int, threads: int) -> Barrier:
    """A named barrier; number 0 is that of the whole CTA. Errors: AuthorError author.barrier."""
    outside = isinstance(number, int) and not 0 <= number < _BARRIERS
    if outside or threads % 32 or not 32 <= threads <= MAX_THREADS:
        raise misuse(
            f"barrier {number} of {threads} threads; expected a number from 0 to {_BARRIERS - 1}, and whole warps",
            "author.barrier",
        )
    return Barrier(number, threads)


def cluster_rank() -> Register:
    """The number of the CTA in its cluster."""
    return special("cluster_ctarank")


def cluster_sync() -> None:
    """Wait for all threads of the cluster; what they wrote before is seen."""
    named("barrier_cluster_arrive")()
    named("barrier_cluster_wait")()
