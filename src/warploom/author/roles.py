"""Identity and synchronisation of threads: special registers, warps, named barriers, clusters."""

from dataclasses import dataclass
from typing import Any

from warploom.author import ptx
from warploom.author.errors import author_error
from warploom.author.values import Register
from warploom.diagnostics.wording import did_you_mean
from warploom.isa.model.capacity import MAX_THREADS
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.ptx import Symbol

_ALL_LANES = -1
_BARRIERS = 16


def special(name: str) -> Register:
    """Read a special register, such as "tid.x" for `%tid.x`. Errors: AuthorError author.special."""
    known = SPECIAL_REGISTERS.get(f"%{name}")
    if known is None:
        hint = did_you_mean(name, (each[1:] for each in SPECIAL_REGISTERS), "'")
        raise author_error(f"unknown special register '%{name}'", "author.special", hint)
    type_word: Any = known.type
    return ptx.mov(Symbol(known.name), type=type_word)


def warp() -> Register:
    """Return the index of the warp in its CTA, as a value that compilers treat as uniform."""
    return _uniform(special("tid.x") >> 5)


def warpgroup() -> Register:
    """Return the index of the warpgroup in its CTA, as a value that compilers treat as uniform."""
    return _uniform(special("tid.x") >> 7)


def _uniform(value: Register) -> Register:
    return ptx.shfl_idx(value, 0, 31, _ALL_LANES).view("u32")


def elected() -> Register:
    """Return a predicate that is true in one lane of the warp. All lanes must execute the election."""
    return ptx.elect(_ALL_LANES)[1]


@dataclass(frozen=True, slots=True)
class Barrier:
    """Named barrier for `threads` threads of the CTA."""

    number: Register | int
    threads: int

    def wait(self) -> None:
        """Arrive at the barrier, and wait for all threads of the barrier."""
        ptx.bar(self.number, self.threads)

    def arrive(self) -> None:
        """Arrive at the barrier without waiting."""
        ptx.bar_arrive(self.number, self.threads)


def barrier(number: Register | int, threads: int) -> Barrier:
    """Return the named barrier `number` for `threads` threads. Errors: AuthorError author.barrier."""
    outside = isinstance(number, int) and not 0 <= number < _BARRIERS
    if outside or threads % 32 or not 32 <= threads <= MAX_THREADS:
        raise author_error(
            f"barrier {number} has {threads} threads; expected a barrier from 0 to {_BARRIERS - 1}, "
            f"and a multiple of 32 threads up to {MAX_THREADS}",
            "author.barrier",
        )
    return Barrier(number, threads)


def cluster_rank() -> Register:
    """Return the rank of the CTA in its cluster."""
    return special("cluster_ctarank")


def cluster_sync() -> None:
    """Synchronise all threads of the cluster. Earlier writes of each thread become visible to all."""
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
