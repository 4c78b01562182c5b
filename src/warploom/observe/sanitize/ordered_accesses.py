# pyright: reportUnknownMemberType=false
"""Order between threads through ordered and volatile accesses to one memory location."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Access, AccessKind, Launch
from warploom.emulator.values import registers_of
from warploom.isa.binding.bind import Binding
from warploom.isa.model import effects
from warploom.isa.model.types import TYPES
from warploom.observe.sanitize.clock_arrays import GPU
from warploom.observe.sanitize.clocks import NOWHERE, Clocks, scope_level, strength_at, to_bits
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.registers import Registers, moves, once_per_program

Array = NDArray[Any]
Key = tuple[str, int, int, int]  # state space, address, scope, owner (see `Clocks.location`)
Thread = tuple[int, int]  # warp, and lanes as bits

_ACQUIRES = frozenset({"acquire", "acq_rel"})
_RELEASES = frozenset({"release", "acq_rel"})


@dataclass(frozen=True, slots=True)
class _Order:
    """Order of a strong access, its scope, and the number of bytes of an element."""

    kind: AccessKind
    acquires: bool
    releases: bool
    level: int
    size: int


@dataclass(slots=True)
class _Location:
    """Releases to one memory location that a read of its present value observes.

    `clocks` has the clocks with these releases, `threads` the releasing threads, and `fences` the number of fences of a
    warp at its last release to a clock.
    """

    clocks: set[Key] = field(default_factory=set["Key"])
    threads: set[Thread] = field(default_factory=set["Thread"])
    fences: dict[tuple[Key, int], int] = field(default_factory=dict[tuple["Key", int], int])


@dataclass(frozen=True, slots=True)
class _Orders:
    """Strengths and orders of the accesses of a program, by program counter.

    `has_relaxed_stores` is set if the program has relaxed stores. Without them, each ordered store of a thread is a
    release. `orders_clusters` is that of `OrderedAccesses`.
    """

    strengths: list[int]
    orders: list[_Order | None]
    orders_clusters: bool
    has_relaxed_stores: bool


class OrderedAccesses:
    """Accesses that synchronise threads.

    `untested` has the program counters of loads whose values no instruction tests. Such a load orders nothing, because
    the thread continues with any value (see `untested_results`). `orders_clusters` is set if the kernel has fences, or
    accesses that acquire or release.
    """

    context: Context
    clocks: Clocks

    def __init__(self, launch: Launch, untested: frozenset[int]) -> None:
        self._untested = untested
        declared = _find_orders(launch)
        self._strengths, self._declared = declared.strengths, declared.orders
        self.orders_clusters, self._has_relaxed_stores = declared.orders_clusters, declared.has_relaxed_stores
        self._earlier: set[tuple[str, int]] = set()  # locations that accesses of earlier waves have released to
        self._waves = 0

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        if self._waves:
            self._earlier |= {key[:2] for key in self.clocks.locations if key[2] == GPU}
        self._waves += 1
        self.context = context
        self.clocks = context.clocks
        self._acquired: dict[tuple[Key, tuple[int, int, bool]], int] = {}  # number of changes at the last acquire
        self._locations: dict[tuple[str, int], _Location] = {}
        self._threads: dict[Thread, int] = {}  # numbers of the threads that have released

    def strength(self, pc: int) -> int:
        """Return the strength of the access at `pc` (see `clock_arrays`)."""
        return self._strengths[pc]

    def strong(self) -> set[int]:
        """Return the program counters of strong accesses."""
        return {pc for pc, strength in enumerate(self._strengths) if strength}

    def access(self, event: Access) -> None:
        """Acquire or release the vector clocks of the locations that strong accesses reach."""
        clocks, pc = self.clocks, event.pc
        order = self._declared[pc]
        if not clocks.ordered or order is None:
            return
        topology, lanes, index = self.context.topology, event.lanes, event.index
        warps = event.location.warp
        live = clocks.live(warps)
        # An access to a vector or to a packed value is an access to each element (PTX ISA 8.2.2, 8.2.3).
        elements = range(0, event.size, order.size)
        for position, warp in enumerate(warps.tolist()):
            owners = (int(topology.cta_of[warp]), int(topology.cluster_of[warp]), 0)
            here = np.array([warp])
            for first in np.unique(index[position][lanes[position]]).tolist():
                bits = to_bits((lanes[position] & (index[position] == first))[None])
                full = bits == live[position]
                for address in (first + offset for offset in elements):
                    keys = [(event.space, address, each, owners[each]) for each in range(order.level + 1)]
                    if event.kind != "write" and pc not in self._untested:
                        for key in keys:
                            self._acquire(key, here, bits, full, order.acquires)
                        if keys[0][:2] in self._earlier:
                            clocks.acquire_earlier_waves(here)
                    if event.kind != "read":
                        self._write(keys, here, bits, full, order)

    def _acquire(self, key: Key, warp: Array, bits: Array, full: Array, acquires: bool) -> None:
        # A clock that is unchanged since the last read of the lanes is not joined again.
        clocks = self.clocks
        if key not in clocks.locations:
            return
        who = int(warp[0]), int(bits[0]) if acquires else 0, acquires
        version = clocks.versions.get(key, 0)
        if self._acquired.get((key, who)) == version:
            return
        self._acquired[key, who] = version
        row = np.array([clocks.location(*key)])
        if acquires:
            clocks.acquire(warp, bits, full, row)
        else:
            clocks.copy(clocks.seen(warp, key[2]), row)

    def _write(self, keys: Sequence[Key], warp: Array, bits: Array, full: Array, order: _Order) -> None:
        """Record a write of lanes to the location with the clocks `keys`.

        An atomic update continues the release patterns of the value that it reads. A store continues only patterns of
        its own thread (PTX ISA 8.8, 8.9.2).
        """
        place = keys[0][:2]
        thread = int(warp[0]), int(bits[0])
        location = self._locations.get(place)
        if order.kind == "write" and location is not None and not location.threads <= {thread}:
            self._replace(location, keys, thread)
        if not order.releases and self.clocks.fences[warp[0]] == 0:
            return
        location = self._locations.setdefault(place, _Location())
        for key in keys:
            self._release(location, key, warp, bits, full, order.releases)

    def _replace(self, location: _Location, keys: Sequence[Key], thread: Thread) -> None:
        """Remove the releases of other threads than `thread`, whose store has the clocks `keys`."""
        clocks = self.clocks
        for key in location.clocks:
            clocks.clear(np.array([clocks.location(*key)]))
            clocks.versions[key] += 1
        location.threads.clear()
        location.fences.clear()
        for key in keys:
            own = self._own(key, thread)
            if own in clocks.locations:
                self._join(location, key, np.array([clocks.location(*own)]), thread)

    def _own(self, key: Key, thread: Thread) -> Key:
        """Return the key of the clock with the releases of one thread to a location."""
        return *key[:3], -1 - self._threads.setdefault(thread, len(self._threads))

    def _release(self, location: _Location, key: Key, warp: Array, bits: Array, full: Array, releases: bool) -> None:
        clocks, thread = self.clocks, (int(warp[0]), int(bits[0]))
        if releases and self._has_relaxed_stores:
            row = np.array([clocks.location(*self._own(key, thread))])
            clocks.release(warp, bits, full, row)
            self._join(location, key, row, thread)
        elif releases:
            clocks.release(warp, bits, full, np.array([clocks.location(*key)]))
            self._join(location, key, np.array([NOWHERE]), thread)
        else:
            fences = int(clocks.fences[warp[0]])
            if location.fences.get((key, thread[0])) != fences:
                location.fences[key, thread[0]] = fences
                self._join(location, key, clocks.fenced(warp, key[2]), thread)

    def _join(self, location: _Location, key: Key, source: Array, thread: Thread) -> None:
        """Join the clock at row `source` into the clock of a location, as a release of `thread`."""
        clocks = self.clocks
        row = np.array([clocks.location(*key)])
        clocks.copy(row, source)
        clocks.versions[key] = clocks.versions.get(key, 0) + 1
        location.clocks.add(key)
        location.threads.add(thread)
        if key[2] == GPU:
            clocks.go_beyond(row)


def strength_of(access: effects.Access, slots: effects.Slots) -> int:
    """Return the strength of an access (see `clock_arrays`)."""
    if not access.is_ordered(slots):
        return 0
    return strength_at(scope_level(effects.word(access.scope, slots)), TYPES[slots["type"]].element_bytes)


def _strength(binding: Binding, optimistic: bool) -> int:
    if optimistic:
        return strength_at(GPU, TYPES[binding.slots["type"]].element_bytes)
    return max((strength_of(each, binding.slots) for each in binding.form.effects_of(effects.Access)), default=0)


@once_per_program
def _find_orders(launch: Launch) -> _Orders:
    # Optimistic loads are strong but order nothing.
    optimistic = _optimistic_loads(launch)
    bindings = [step.binding for step in launch.program.steps]
    forms = {binding.form for binding in bindings}
    declared = [_declared(binding) for binding in bindings]
    orders = [each for each in declared if each is not None]
    fences = any(fence.kind == "memory" for form in forms for fence in form.effects_of(effects.Fence))
    accesses = any(form.effect(effects.Access) for form in forms)
    return _Orders(
        [_strength(binding, pc in optimistic) for pc, binding in enumerate(bindings)],
        declared,
        accesses and (fences or any(each.acquires | each.releases for each in orders)),
        any(each.kind == "write" and not each.releases for each in orders),
    )


def _declared(binding: Binding) -> _Order | None:
    """Return the order of an ordered access, or None for another instruction."""
    slots = binding.slots
    for access in binding.form.effects_of(effects.Access):
        if access.is_ordered(slots):
            order = effects.word(access.order, slots)
            level = scope_level(effects.word(access.scope, slots))
            size = TYPES[slots["type"]].element_bytes
            return _Order(access.kind, order in _ACQUIRES, order in _RELEASES, level, size)
    return None


def _optimistic_loads(launch: Launch) -> frozenset[int]:
    """Return the program counters of weak loads that a compare-and-swap at the same address checks.

    In the memory model such a load races with atomics of other threads. NVIDIA's headers use it, and it is harmless:
    the swap fails unless memory still has the loaded value.
    """
    compared: dict[Registers, set[tuple[int, int]]] = {}
    for pc, access in _accesses(launch):
        if access.compared:
            registers = compared.setdefault(_registers(launch, pc, access.address), set())
            registers.update(_registers(launch, pc, access.compared))
    if not compared:
        return frozenset()
    copies = list(moves(launch))
    for registers in compared.values():
        known = 0
        while known < len(registers):
            known = len(registers)
            registers.update(*(source for _, target, source in copies if target & registers))
    return frozenset(
        pc
        for pc, access in _accesses(launch)
        if access.kind == "read"
        and access.value
        and not access.is_ordered(launch.program.steps[pc].binding.slots)
        and _registers(launch, pc, access.value) & compared.get(_registers(launch, pc, access.address), set())
    )


def _accesses(launch: Launch) -> Iterator[tuple[int, effects.Access]]:
    for pc, step in enumerate(launch.program.steps):
        for access in step.binding.form.effects_of(effects.Access):
            yield pc, access


def _registers(launch: Launch, pc: int, operand: str) -> Registers:
    return registers_of(getattr(launch.instructions[pc].operands, operand))
