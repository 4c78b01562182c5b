"""Deadlock report: the waits-for graph of the warps that cannot continue.

The nodes are groups of warp splits that wait at one instruction for the same event. An edge from group A to group B
means that B can reach an instruction that releases A.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, TypeVar

import numpy as np

from warploom.diagnostics import Diagnostic, Note
from warploom.emulator.endless import LOOP, MEMORY, EndlessLoops
from warploom.emulator.faults import Awaited, Deadlock, diagnostic
from warploom.emulator.link import Linked
from warploom.emulator.program import Program
from warploom.emulator.state import State
from warploom.emulator.values import Constant, PerWarp
from warploom.emulator.waiting import MEETINGS, Waiting
from warploom.emulator.warp_splits import Status
from warploom.isa.model import effects
from warploom.lazy_dataclass import dataclass

EffectType = TypeVar("EffectType", bound=effects.Effect)

_NAMED = 3  # most groups that the notes name
_LISTED = 64  # most warps of a group in the JSON output
_SHARED = ("mbarrier", "cluster barrier", "peer CTA")  # objects that all CTAs of a cluster can use


@dataclass(eq=False, slots=True)
class _Group:
    """Warp splits that wait at one program counter for the same event."""

    pc: int
    awaited: Awaited
    slots: list[int] = field(default_factory=list[int])  # indices in `WarpSplits`
    # Groups that could release this group, each with the program counter of the releasing instruction.
    releases: list[tuple[_Group, int]] = field(default_factory=list["tuple[_Group, int]"])


@dataclass(eq=False)
class DeadlockReport:
    """Waits-for graph of all warp splits that wait."""

    state: State
    program: Program
    linked: Sequence[Linked]
    waiting: Waiting
    loops: EndlessLoops | None  # None if all warp splits are suspended

    def __post_init__(self) -> None:
        self.groups: list[_Group] = []
        self.waves = self._waves()
        status = self.state.splits.status
        for slot in np.flatnonzero(status != Status.DONE):
            self._add(int(slot))
        self.sites = {id(group): self._sites(group) for group in self.groups}
        self.groups.sort(key=lambda group: group.awaited.kind not in (LOOP, MEMORY))  # causes before their effects
        for group in self.groups:
            for other in self.groups:
                site = self._release(group, other)
                if site >= 0:
                    group.releases.append((other, site))

    def error(self) -> Deadlock:
        """Return the exception, with one diagnostic for each group of waiting warp splits."""
        reported: set[int] = set()  # groups of cycles that a diagnostic describes
        return Deadlock([self._diagnose(group, reported) for group in self.groups])

    def _waves(self) -> list[Note]:
        """Return a note if CTAs of the grid are not resident."""
        resident, all_ctas = len(self.state.placement.coordinates), self.state.grid.ctas
        if resident == all_ctas:
            return []
        return [Note(f"the emulator runs {resident} of {all_ctas} CTAs at a time; no CTA of a later wave has started")]

    # Groups and edges -------------------------------------------------------------------------------------

    def _add(self, slot: int) -> None:
        looping = None if self.loops is None else self.loops.awaited(slot)
        found = looping or self.waiting.of(slot)
        if found is not None:
            self._join(slot, *found)

    def _join(self, slot: int, pc: int, awaited: Awaited) -> None:
        group = next((g for g in self.groups if g.pc == pc and g.awaited == awaited), None)
        if group is None:
            group = _Group(pc, awaited)
            self.groups.append(group)
        group.slots.append(slot)

    def _sites(self, group: _Group) -> list[int]:
        """Return the program counters of the instructions that could release a group."""
        kind, state = group.awaited.kind, dict(group.awaited.state)
        if kind == "mbarrier" and not state["arrivals"]:
            issues = [(pc, each.mbarrier) for pc, each in self._having(effects.Issue) if each.mbarrier]
            return [pc for pc, mbarrier in issues if self._operand(pc, mbarrier) is not None]
        if kind == "mbarrier":
            actions = self._having(effects.Arrive)
            arrivals = [(pc, each) for pc, each in actions if self._word(pc, each.action).startswith("arrive")]
            possible = [pc for pc, each in arrivals if _may_reach(self._operand(pc, each.address), state["offset"])]
            return self.waiting.mbarriers.arrivals(group.slots) or possible
        if kind == "barrier":
            barriers = [(pc, each) for pc, each in self._having(effects.Barrier) if each.level == "cta"]
            return [pc for pc, each in barriers if _may_be(self._operand(pc, each.number), state["number"])]
        if kind == "cluster barrier":
            return [pc for pc, each in self._having(effects.Barrier) if each.level == "cluster" and each.arrives]
        if kind == "registers":
            pools = [(pc, each) for pc, each in self._having(effects.Allocate) if each.resource == "registers"]
            return [pc for pc, each in pools if self._word(pc, each.action) == "release"]
        if kind in ("tensor memory", "peer CTA"):
            return self._tensor_sites(group)
        return [group.pc] if kind in MEETINGS else []

    def _tensor_sites(self, group: _Group) -> list[int]:
        """Return the releases of tensor memory, or the instructions that the peer CTA must execute."""
        pools = [(pc, each) for pc, each in self._having(effects.Allocate) if each.resource == "tensor memory"]
        wanted = "release"
        if group.awaited.kind == "peer CTA":
            wanted = next(self._word(pc, each.action) for pc, each in pools if pc == group.pc)
        return [pc for pc, each in pools if self._word(pc, each.action) == wanted]

    def _having(self, kind: type[EffectType]) -> Iterator[tuple[int, EffectType]]:
        for pc, step in enumerate(self.program.steps):
            effect = step.binding.form.effect(kind)
            if effect is not None:
                yield pc, effect

    def _word(self, pc: int, rule: effects.Rule) -> str:
        return effects.word(rule, self.program.steps[pc].binding.slots)

    def _operand(self, pc: int, name: str) -> Any:
        return getattr(self.linked[pc].operands, name)

    def _release(self, group: _Group, other: _Group) -> int:
        """Return the program counter at which `other` could release `group`, or -1."""
        kind = group.awaited.kind
        if kind in (LOOP, MEMORY):
            return -1
        if other is group and kind not in ("mbarrier", "registers", "tensor memory"):
            return -1
        if kind in ("barrier", "cluster barrier") and group.awaited == other.awaited:
            return -1
        # The groups need a common cluster, CTA, warpgroup or warp, depending on the kind of the wait.
        if not self._scope(group, kind) & self._scope(other, kind):
            return -1
        if kind in MEETINGS:
            return group.pc
        sites = set(self.sites[id(group)])
        return next((pc for pc in self._ahead(other) if pc in sites), -1)

    def _scope(self, group: _Group, kind: str) -> set[int]:
        topology = self.state.topology
        warps = self.state.splits.warp[group.slots]
        if kind == "warps":
            return set(topology.warpgroup_of[warps].tolist())
        if kind == "lanes":
            return set(warps.tolist())
        return set((topology.cluster_of if kind in _SHARED else topology.cta_of)[warps].tolist())

    def _ahead(self, group: _Group) -> Iterator[int]:
        """Yield the program counters that a group could reach later, nearest first."""
        program = self.program
        entries = [function.entry for function in program.functions.values()]
        calls = {site + 1 for slot in group.slots for site in self.state.splits.call_stack(slot)}
        pending = [*program.following[group.pc], *sorted(calls)]
        seen: set[int] = set()
        for pc in pending:
            if pc in seen or not 0 <= pc < len(program.steps):
                continue
            seen.add(pc)
            yield pc
            pending.extend(program.following[pc])
            if program.steps[pc].binding.form.control == "call":
                pending.extend(entries)

    # Diagnostics ------------------------------------------------------------------------------------------

    def _diagnose(self, group: _Group, reported: set[int]) -> Diagnostic:
        awaited = group.awaited
        notes = list(self._notes(group))
        cycle = [] if id(group) in reported else self._cycle(group)
        reported.update(id(each) for each in cycle)
        if len(cycle) > 1:
            parts = [f"{self._place(each.pc)} waits for {each.awaited.name}" for each in cycle]
            notes.append(Note(f"these lines wait for each other: {', '.join(parts)}"))
        verb = {LOOP: "repeat", MEMORY: "poll"}.get(awaited.kind, "wait")
        does = f"{verb}s" if len(self._warps(group)) == 1 else verb
        target = {LOOP: " ", MEMORY: f" {awaited.name}"}.get(awaited.kind, f" for {awaited.name}")
        title, code = ("endless loop", "emulator.endless") if verb != "wait" else ("deadlock", "emulator.deadlock")
        message = (
            f"{title}: kernel {self.program.kernel.readable_name}, {self._who(group)} {does}{target}{awaited.rest}"
        )
        found = diagnostic(code, message, self.program.source, self.program.span_of(group.pc))
        return replace(found, notes=tuple(notes), data=self._data(group, cycle))

    def _notes(self, group: _Group) -> Iterator[Note]:
        kind, state = group.awaited.kind, dict(group.awaited.state)
        if kind in (LOOP, MEMORY):
            yield from self.waves
            return
        verb = {
            "registers": "releases registers",
            "tensor memory": "releases tensor memory",
            "peer CTA": "does so",
        }.get(kind, "arrives there")
        if kind == "mbarrier" and not state["arrivals"]:
            verb = "brings bytes to an mbarrier"
            lacks = f"no copy in flight brings the {state['bytes']} bytes"
            yield Note(lacks if state["bytes"] > 0 else f"copies brought {-state['bytes']} bytes too many")
        for other, site in group.releases[:_NAMED]:
            span = self.program.span_of(site)
            there = f"{self._place(other.pc)} for {other.awaited.name}"
            if kind in MEETINGS:
                yield Note(f"others wait at {there}", self.program.span_of(other.pc))
            elif other is group:
                yield Note(f"{self._place(site)} {verb}, but comes after this wait", span)
            else:
                wait = "waits" if len(self._warps(other)) == 1 else "wait"
                who = f"{self._who(other)} can reach it, but {wait} at {there}"
                yield Note(f"{self._place(site)} {verb}: {who}", span)
        if not group.releases:
            yield self._no_release(group, verb)

    def _no_release(self, group: _Group, verb: str) -> Note:
        sites = self.sites[id(group)]
        if group.awaited.kind in MEETINGS:
            return Note(f"the other {MEETINGS[group.awaited.kind]} have exited or do not exist")
        if not sites:
            return Note(f"no instruction of the kernel {verb}")
        several = len({self._line(pc) for pc in sites}) > 1
        named = self.program.places_of(sorted(sites, key=self._line))
        plural = verb.replace("s ", " ", 1) if several else verb
        span = self.program.span_of(sites[0])
        return Note(f"{named} {plural}, but no remaining warp can reach {'them' if several else 'it'}", span)

    def _cycle(self, start: _Group) -> list[_Group]:
        """Return a shortest cycle of waiting groups that contains `start`, or an empty list."""
        before: dict[int, _Group | None] = {id(start): None}
        pending = [start]
        for group in pending:
            for other, _ in group.releases:
                if other is start and group is not start:
                    path = [group]
                    while (last := before[id(path[-1])]) is not None:
                        path.append(last)
                    return path[::-1]
                if id(other) not in before:
                    before[id(other)] = group
                    pending.append(other)
        return [start] if any(other is start for other, _ in start.releases) else []

    def _data(self, group: _Group, cycle: Iterable[_Group]) -> dict[str, Any]:
        return {
            "waits": self._node(group),
            "for": {"kind": group.awaited.kind, "name": group.awaited.name} | dict(group.awaited.state),
            "arrivals_at": sorted({self._line(pc) for pc in self.sites[id(group)]}),
            "released_by": [self.program.data_of(site) | {"by": self._node(other)} for other, site in group.releases],
            "cycle": [self._line(each.pc) for each in cycle],
        }

    def _node(self, group: _Group) -> dict[str, Any]:
        topology, coordinates = self.state.topology, self.state.placement.coordinates
        warps = [
            {"cta": coordinates[topology.cta_of[warp]].tolist(), "warp": int(topology.warp_in_cta[warp])}
            for warp in self._warps(group)[:_LISTED]
        ]
        return self.program.data_of(group.pc) | {"warps": warps, "count": len(self._warps(group))}

    def _warps(self, group: _Group) -> list[int]:
        return sorted(set(self.state.splits.warp[group.slots].tolist()))

    def _who(self, group: _Group) -> str:
        warps = self._warps(group)
        count = len(warps) - 1
        others = f" and {count} more warp{'s' if count > 1 else ''}" if count else ""
        return f"{self.state.placement.describe_warp(warps[0])}{others}"

    def _line(self, pc: int) -> int:
        return self.program.line_of(pc)

    def _place(self, pc: int) -> str:
        return self.program.place_of(pc)


def _may_reach(address: Any, offset: int) -> bool:
    match address.base:
        case Constant(array=held) | PerWarp(table=held):
            return bool((held.astype(np.uint64) + address.offset & np.uint64(0xFF_FFFF) == offset).any())
        case _:
            return True


def _may_be(value: Any, number: int) -> bool:
    return not isinstance(value, Constant) or int(value.array.reshape(-1)[0]) == number
