"""Kinds of mutants. Each kind finds its sites by the Forms and the effects of the instructions.

A kind lists the rules that its mutants break. At least one of them must be reported, or the result must be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from warploom.isa.instructions import barrier, mbarrier, tcgen05
from warploom.isa.model.effects import Access, Arrive, Barrier, Commit, Effect, Fence, Issue, Members, Multiply, Wait
from warploom.isa.model.form import Form
from warploom.ptx import Integer, Name
from warploom_lab.mutants.program import Edit, Kernel, Site, registers

Found = Iterator[tuple[Edit, ...]]
WRONG = "wrong result"
"""Outcome of a mutant whose results differ from the reference."""

_ALWAYS = Name("%always")
_LOADS = (tcgen05.LD, tcgen05.LD_SPLIT, tcgen05.LD_RED, tcgen05.LD_RED_SPLIT)
_STORES = (tcgen05.ST, tcgen05.ST_SPLIT)
_TRAP = ("emulator.tensor-memory", "emulator.tensor-allocation")
_UNORDERED = ("sanitize.tensor/commit", "sanitize.tensor/race", "sanitize.tensor/operand", "sanitize.tensor/release")
_EARLY = (*_UNORDERED, "sanitize.unwritten/tensor", "sanitize.copy/destination", "sanitize.mbarrier/parity")
_COUNTS = (
    "sanitize.deadlock",
    "sanitize.mbarrier/invalidated",
    "sanitize.mbarrier/arrivals",
    "sanitize.mbarrier/parity",
    "sanitize.mbarrier/overflow",
)
_BYTES = ("sanitize.deadlock", "sanitize.mbarrier/excess", "sanitize.mbarrier/short", "sanitize.copy/destination")


@dataclass(frozen=True, slots=True)
class MutantKind:
    """Kind of mutants.

    `breaks` lists the codes of which one must be reported. `wrong` is True if a wrong result also counts as found.
    """

    name: str
    summary: str
    breaks: tuple[str, ...]
    wrong: bool
    find: Callable[[Kernel], Found]


KINDS: dict[str, MutantKind] = {}


def _kind(name: str, *breaks: str, wrong: bool = False) -> Callable[[Callable[[Kernel], Found]], None]:
    """Return a decorator that registers a kind. The summary is the docstring of the function."""

    def register(find: Callable[[Kernel], Found]) -> None:
        assert find.__doc__
        KINDS[name] = MutantKind(name, find.__doc__.rstrip("."), breaks, wrong, find)

    return register


def _deletion(
    name: str, what: str, find: Callable[[Kernel], Iterator[Site]], *breaks: str, wrong: bool = False
) -> None:
    """Register the kind that deletes an instruction which `find` yields."""
    KINDS[name] = MutantKind(
        name, f"Delete {what}", breaks, wrong, lambda kernel: (((site, ""),) for site in find(kernel))
    )


def _all(effect: type[Effect], **fields: Any) -> Callable[[Kernel], Iterator[Site]]:
    return lambda kernel: kernel.all(effect, **fields)


def _of(*forms: Form) -> Callable[[Kernel], Iterator[Site]]:
    return lambda kernel: kernel.of(*forms)


# Missing synchronisation ------------------------------------------------------------------------------------


_deletion("no-load-wait", "a wait for loads of tensor memory",
          _all(Wait, on="tensor memory", reads_only="loads"),
          "sanitize.tensor/load-wait", "sanitize.tensor/registers")  # fmt: skip
_deletion("no-store-wait", "a wait for stores to tensor memory",
          _all(Wait, on="tensor memory", reads_only=""), "sanitize.tensor/store-wait")  # fmt: skip
_deletion("no-release-fence", "a fence of tensor memory before a signal",
          _all(Fence, kind="tensor memory", order="release"), "sanitize.tensor/fence")  # fmt: skip
_deletion("no-acquire-fence", "a fence of tensor memory after a wait",
          _all(Fence, kind="tensor memory", order="acquire"), "sanitize.tensor/fence")  # fmt: skip
_deletion("no-proxy-fence", "a fence between the generic and the async proxy",
          _all(Fence, kind="proxy", proxy="async"),
          "sanitize.proxy/async", "sanitize.proxy/refill", wrong=True)  # fmt: skip
_deletion("no-initialisation-fence", "a fence after the initialisation of mbarriers",
          lambda kernel: (site for site in kernel.of(barrier.FENCE_RESTRICTED) if site.binding.slots["op_restrict"]),
          "sanitize.mbarrier/init")  # fmt: skip
_deletion("no-commit", "a commit of multiplications or copies",
          _of(tcgen05.COMMIT), "sanitize.deadlock", "sanitize.tensor/commit", "sanitize.tensor/operand")  # fmt: skip


@_kind("no-mbarrier-wait", *_EARLY, "sanitize.mbarrier/arrivals", "sanitize.mbarrier/excess", "sanitize.race/shared",
       "sanitize.unwritten/shared", "sanitize.mbarrier/invalidated", "sanitize.copy/exit", wrong=True)  # fmt: skip
def _no_mbarrier_wait(kernel: Kernel) -> Found:
    """Replace a wait for a phase by one that ends at once."""
    for site in kernel.all(Wait, on="mbarrier"):
        done = str(site.operand("waitComplete"))
        guard = f"{site.instruction.guard} " if site.instruction.guard else ""
        yield ((site, f"{guard}setp.eq.u32 {done}, 0, 0;"),)


@_kind("no-barrier", "sanitize.race/shared", "sanitize.proxy/async", "sanitize.tensor/race",
       "sanitize.unwritten/tensor", "sanitize.unwritten/shared", wrong=True)  # fmt: skip
def _no_barrier(kernel: Kernel) -> Found:
    """Delete the only barrier between stores and the operations of the tensor cores or copies that read them."""
    barriers = [site for site in kernel.sites if site.has(Barrier, level="cta") and not site.instruction.guard]
    for before, site, after in zip(
        [kernel.sites[0], *barriers], barriers, [*barriers[1:], kernel.sites[-1]], strict=False
    ):
        stores = [each for each in kernel.between(before, site) if _stores(each) and each.region == site.region]
        readers = [each for each in kernel.between(site, after) if _reads(each) and each.region == site.region]
        if stores and readers:
            yield ((site, ""),)


def _stores(site: Site) -> bool:
    """Return True for a store by all threads to shared memory or tensor memory."""
    by_all = not site.instruction.guard and not site.has(Arrive)
    return site.binding.form in _STORES or (by_all and site.stores_to_shared)


def _reads(site: Site) -> bool:
    """Return True for an asynchronous operation that reads shared memory or tensor memory."""
    copies = site.has(Issue) and "srcMem" in site.binding.operands and not site.has(Issue, mbarrier="mbar")
    return site.has(Multiply) or site.binding.form is tcgen05.CP or copies


@_kind("no-barrier-before-release", "sanitize.tensor/release", "sanitize.race/shared", *_TRAP, "sanitize.cluster/exit")
def _no_barrier_before_release(kernel: Kernel) -> Found:
    """Delete all barriers between the last load of tensor memory and the release."""
    for load, release in _last_loads(kernel):
        barriers = [
            site for site in kernel.between(load, release) if site.has(Barrier) and not site.has(Barrier, level="warp")
        ]
        if barriers:
            yield tuple((site, "") for site in barriers)


def _last_loads(kernel: Kernel) -> Iterator[tuple[Site, Site]]:
    """Yield each release of tensor memory and the last load before it in the text, if no other release is between."""
    previous = -1
    for release in kernel.of(tcgen05.DEALLOC):
        loads = [site for site in kernel.of(*_LOADS) if previous < site.number < release.number]
        if loads:
            yield loads[-1], release
        previous = release.number


@_kind("no-cluster-barrier", "sanitize.cluster/start", "sanitize.cluster/exit", "sanitize.tensor/race",
       "sanitize.tensor/release", "sanitize.mbarrier/init", "sanitize.mbarrier/uninitialised", *_TRAP)  # fmt: skip
def _no_cluster_barrier(kernel: Kernel) -> Found:
    """Delete a barrier of the cluster: the arrival and the wait after it."""
    for site in kernel.all(Barrier, level="cluster", waits=False):
        wait = next(
            (each for each in kernel.sites[site.number :] if each.has(Barrier, level="cluster", arrives=False)), None
        )
        if wait is not None:
            yield (site, ""), (wait, "")


_deletion("no-arrival", "an arrival at an mbarrier", lambda kernel: (
    site for site in kernel.all(Arrive, action="arrive") if "txCount" not in site.binding.operands
), *_COUNTS)  # fmt: skip
_deletion("no-bulk-wait", "a wait for bulk copies", _all(Wait, on="bulk"), "sanitize.copy/exit", "sanitize.copy/source")
_deletion("no-bulk-commit", "a commit of bulk copies",
          _all(Commit, group="bulk"), "sanitize.copy/exit", "sanitize.copy/source")  # fmt: skip


# Missing operations -----------------------------------------------------------------------------------------


_deletion("no-mbarrier", "the initialisation of an mbarrier",
          _all(Arrive, action="init"),
          "sanitize.mbarrier/uninitialised", "emulator.mbarrier", "sanitize.deadlock")  # fmt: skip
_deletion("no-release", "a release of tensor memory", _of(tcgen05.DEALLOC), "sanitize.tensor/leak")
_deletion("no-tensor-store", "a store to tensor memory", _of(*_STORES), "sanitize.unwritten/tensor", wrong=True)
_deletion("no-tensor-copy", "a copy to tensor memory", _of(tcgen05.CP), "sanitize.unwritten/tensor", wrong=True)


# Wrong order ------------------------------------------------------------------------------------------------


@_kind("early-commit", *_UNORDERED, wrong=True)
def _early_commit(kernel: Kernel) -> Found:
    """Move a commit ahead of the last multiplication that it must cover."""
    for site in kernel.of(tcgen05.COMMIT):
        before = kernel.sites[: site.number]
        last = next((each for each in reversed(before) if each.has(Multiply)), None)
        if last is None or last.region != site.region:
            continue
        moved = _sources(kernel, last, site)
        if moved is not None:
            text = " ".join(str(each.instruction) for each in (*moved, site, last))
            yield (last, text), *((each, "") for each in (*moved, site))


def _sources(kernel: Kernel, first: Site, last: Site) -> list[Site] | None:
    """Return the instructions between two instructions that compute the registers of the second one.

    Return None if one of them accesses memory or has another effect, so that it cannot run earlier.
    """
    needed, moved = registers(last), list[Site]()
    for site in reversed(kernel.between(first, last)):
        if site.instruction.operands and registers(site, 0) & needed:
            moved.insert(0, site)
            needed |= registers(site)
    return None if any(site.has(Access) or site.has(Members) or site.instruction.guard for site in moved) else moved


@_kind("early-release", "sanitize.tensor/release", "sanitize.tensor/load-wait", *_TRAP)
def _early_release(kernel: Kernel) -> Found:
    """Move the release of tensor memory ahead of the last load."""
    for load, release in _last_loads(kernel):
        moved = _sources(kernel, load, release)
        if moved is not None:
            text = " ".join(str(each.instruction) for each in (*moved, release, load))
            yield (load, text), *((each, "") for each in (*moved, release))


# Wrong operands ---------------------------------------------------------------------------------------------


@_kind("other-mbarrier", *_COUNTS, *_UNORDERED, "sanitize.mbarrier/uninitialised", "emulator.mbarrier",
       "emulator.out-of-bounds", wrong=True)  # fmt: skip
def _other_mbarrier(kernel: Kernel) -> Found:
    """Commit to the mbarrier that follows in memory."""
    return (((site, site.shifted("mbar", 8)),) for site in kernel.of(tcgen05.COMMIT))


@_kind(
    "wrong-parity",
    *_EARLY,
    *_COUNTS,
    "sanitize.mbarrier/excess",
    "sanitize.race/shared",
    "sanitize.unwritten/shared",
    wrong=True,
)
def _wrong_parity(kernel: Kernel) -> Found:
    """Wait for the other phase of an mbarrier."""
    for site in kernel.all(Wait, on="mbarrier"):
        phase = site.operand("phase")
        if isinstance(phase, Integer):
            yield ((site, site.with_operand("phase", Integer(1 - phase.value))),)
        else:
            yield ((site, site.changed("phase", "xor.b32", 1)),)


@_kind("fewer-bytes", *_BYTES)
def _fewer_bytes(kernel: Kernel) -> Found:
    """Expect 16 bytes less than the copies of a stage have."""
    return _expected(kernel, -16)


@_kind("more-bytes", *_BYTES)
def _more_bytes(kernel: Kernel) -> Found:
    """Expect 16 bytes more than the copies of a stage have."""
    return _expected(kernel, 16)


def _expected(kernel: Kernel, change: int) -> Found:
    forms = mbarrier.ARRIVE_EXPECT, mbarrier.ARRIVE_EXPECT_REMOTE, mbarrier.TRANSACTIONS
    return (((site, site.increased("txCount", change)),) for site in kernel.of(*forms))


@_kind("more-arrivals", *_COUNTS)
def _more_arrivals(kernel: Kernel) -> Found:
    """Initialise an mbarrier with one more arrival."""
    return (((site, site.increased("count", 1)),) for site in kernel.all(Arrive, action="init"))


@_kind("other-lanes", *_TRAP)
def _other_lanes(kernel: Kernel) -> Found:
    """Load the lanes of another warp."""
    return (((site, site.changed("taddr", "xor.b32", 32 << 16)),) for site in kernel.of(*_LOADS))


@_kind("beyond-allocation", *_TRAP)
def _beyond_allocation(kernel: Kernel) -> Found:
    """Load columns after the end of the allocation."""
    return (((site, site.shifted("taddr", 512)),) for site in kernel.of(*_LOADS))


@_kind("accumulator-beyond-allocation", *_TRAP)
def _accumulator_beyond_allocation(kernel: Kernel) -> Found:
    """Multiply into columns after the end of the allocation."""
    return (((site, site.shifted("d_tmem", 512)),) for site in kernel.all(Multiply, unit="tensor memory"))


@_kind("accumulate-first", "sanitize.unwritten/tensor", wrong=True)
def _accumulate_first(kernel: Kernel) -> Found:
    """Add the first multiplication of a sum to the accumulators."""
    for site in kernel.all(Multiply, unit="tensor memory"):
        if kernel.is_constant(site.operand("enable_input_d"), site):
            continue
        changed = site.with_operand("enable_input_d", _ALWAYS)
        yield ((site, f"{{ .reg .pred {_ALWAYS}; setp.eq.u32 {_ALWAYS}, 0, 0; {changed} }}"),)


@_kind("shifted-scales", "sanitize.unwritten/tensor", *_TRAP, wrong=True)
def _shifted_scales(kernel: Kernel) -> Found:
    """Read the scale factors of A from the next column."""
    sites = (site for site in kernel.sites if "scale_A_tmem" in site.binding.operands)
    return (((site, site.shifted("scale_A_tmem", 1)),) for site in sites)


@_kind("mixed-groups", "emulator.tensor-pair")
def _mixed_groups(kernel: Kernel) -> Found:
    """Allocate tensor memory with the other CTA group."""
    for site in kernel.of(tcgen05.ALLOC):
        group = site.binding.slots["cta_group"]
        other = f"{group[:-1]}{3 - int(group[-1])}"
        words = [other if word == group else word for word in site.instruction.words]
        yield ((site, str(replace(site.instruction, opcode=".".join(words)))),)


def edits(kernel: Kernel, kind: str, sites: int, executed: frozenset[int]) -> list[tuple[int, tuple[Edit, ...]]]:
    """Return the mutants of a kind as pairs (position among the mutants of the kind, edits).

    `executed` has the lines that threads execute; other lines have no mutants. If there are more than `sites` mutants,
    the result has mutants at equal distances, the first and the last included.
    """
    found = [each for each in enumerate(KINDS[kind].find(kernel)) if {site.line for site, _ in each[1]} <= executed]
    if len(found) <= sites:
        return found
    return [found[round(k * (len(found) - 1) / max(sites - 1, 1))] for k in range(sites)]
