# pyright: reportUnknownMemberType=false
"""Order between threads through ordered and volatile accesses to one memory location."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Access, Launch
from warploom.emulator.values import registers_of
from warploom.isa.binding.bind import Binding
from warploom.isa.model import effects
from warploom.observe.sanitize.clocks import GPU, STRENGTH, Clocks, scope_level, to_bits
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.registers import Registers, moves

Array = NDArray[Any]
Key = tuple[str, int, int, int]  # state space, address, scope, and the CTA, the cluster or 0 at that scope

_ACQUIRES = frozenset({"acquire", "acq_rel"})
_RELEASES = frozenset({"release", "acq_rel"})


class OrderedAccesses:
    """Accesses that synchronise threads.

    `untested` has the program counters of loads that order nothing (see `untested_results`). `orders_clusters` is set
    if the kernel has fences, or accesses that acquire or release.
    """

    context: Context
    clocks: Clocks

    def __init__(self, launch: Launch, untested: frozenset[int]) -> None:
        self._untested = untested
        # They are strong but order nothing.
        self.optimistic = _optimistic_loads(launch)
        self._declared = [_declared(step.binding) for step in launch.program.steps]
        forms = {step.binding.form for step in launch.program.steps}
        fences = any(fence.kind == "memory" for form in forms for fence in form.effects_of(effects.Fence))
        orders = any(each is not None and each[0] | each[1] for each in self._declared)
        accesses = any(form.effect(effects.Access) for form in forms)
        self.orders_clusters = accesses and (fences or orders)
        self._earlier: set[tuple[str, int]] = set()  # locations that accesses of earlier waves have released to
        self._waves = 0

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        if self._waves:
            self._earlier |= {key[:2] for key in self.clocks.locations if key[2] == GPU}
        self._waves += 1
        self.context = context
        self.clocks = context.clocks
        self._acquired: dict[tuple[Key, tuple[int, int, bool]], int] = {}  # number of releases at the last acquire
        self._released: dict[tuple[Key, int], int] = {}  # number of fences at the last release

    def strength(self, pc: int) -> int:
        """Return the strength of the access at `pc` (see `clocks`)."""
        declared = self._declared[pc]
        if declared is not None:
            return 1 + declared[2]
        return STRENGTH if pc in self.optimistic else 0

    def access(self, event: Access) -> None:
        """Acquire or release the vector clocks of the locations that strong accesses reach."""
        clocks, pc = self.clocks, event.pc
        if not clocks.ordered or pc in self.optimistic:
            return
        topology, kind, lanes, index = self.context.topology, event.space, event.lanes, event.index
        acquires, releases, level = self._declared[pc] or (False, False, GPU)
        warps = event.location.warp
        live = to_bits(self.context.splits.live[warps])
        for position, warp in enumerate(warps.tolist()):
            owners = (int(topology.cta_of[warp]), int(topology.cluster_of[warp]), 0)
            here = np.array([warp])
            for address in np.unique(index[position][lanes[position]]).tolist():
                bits = to_bits((lanes[position] & (index[position] == address))[None])
                full = bits == live[position]
                keys = [(kind, address, each, owners[each]) for each in range(level + 1)]
                if event.kind != "write" and pc not in self._untested:
                    for key in keys:
                        self._acquire(key, here, bits, full, acquires)
                    if (kind, address) in self._earlier:
                        clocks.acquire_earlier_waves(here)
                if event.kind != "read":
                    for key in keys:
                        self._release(key, here, bits, full, releases)

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

    def _release(self, key: Key, warp: Array, bits: Array, full: Array, releases: bool) -> None:
        clocks = self.clocks
        fenced = clocks.fenced(warp, key[2])
        if not releases:
            fences = int(clocks.fences[warp[0]])
            if fences == 0 or self._released.get((key, int(warp[0]))) == fences:
                return
            self._released[key, int(warp[0])] = fences
        row = np.array([clocks.location(*key)])
        if releases:
            clocks.release(warp, bits, full, row)
        else:
            clocks.copy(row, fenced)
        clocks.versions[key] = clocks.versions.get(key, 0) + 1
        if key[2] == GPU:
            clocks.go_beyond(row)


def strength_of(access: effects.Access, slots: effects.Slots) -> int:
    """Return the strength of an access (see `clocks`)."""
    return 1 + scope_level(effects.word(access.scope, slots)) if access.is_ordered(slots) else 0


def _declared(binding: Binding) -> tuple[bool, bool, int] | None:
    """Return (acquires, releases, scope) for an ordered access, or None for another instruction."""
    for access in binding.form.effects_of(effects.Access):
        if access.is_ordered(binding.slots):
            order = effects.word(access.order, binding.slots)
            level = scope_level(effects.word(access.scope, binding.slots))
            return order in _ACQUIRES, order in _RELEASES, level
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
